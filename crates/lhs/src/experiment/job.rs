//! One job: a model trained once, and every cell that needs it attacked and scored.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use toml::Table;

use super::cell::{Cell, CellId, Heterophily, Measured};
use super::checkpoint::{self, Curve, FileCheckpoints, Stopwatch};
use super::inductive::WithoutTest;
use super::method::Method;
use super::parallel::seed_of;
use super::plan::{Job, Plan, PlannedAttack};
use super::run::Artefacts;
use super::runner::Scoring;
use super::store::Store;
use super::{Observer, fingerprint, memory};
use crate::attacks::{Attack, AttackContext, Attacked, PreparedAttack, Record};
use crate::cluster;
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::random::derive;
use crate::metrics::audit::{AuditConfig, Trained, Version};
use crate::metrics::classes::per_class;
use crate::metrics::{Predictions, Scores, Threshold, threshold};
use crate::models::NodeClassifier;
use crate::training::{self, CheckpointStore, EpochRecord, Memo, MemoKey, Session, Task};

/// Bins of the histograms of heterophily.
const BINS: usize = 20;
/// Epochs of a curve that are kept, at most.
const EPOCHS: usize = 100;

/// The seed that a model is trained with on one split.
pub fn split_seed(seed: u64, split: usize) -> u64 {
    seed_of(seed, split as u64)
}

/// The seed that a split is attacked with, apart from that of its training. Repeat `k` of an evaluation with seed `s` uses
/// `attack_seed(s + k, split)`.
pub fn attack_seed(seed: u64, split: usize) -> u64 {
    const ATTACK: u64 = 1;
    derive(split_seed(seed, split), &[ATTACK])
}

/// Loads the model of a job instead of training it.
pub(super) type LoadModel<'a> = dyn Fn(&Job) -> Result<Box<dyn NodeClassifier>> + Sync + 'a;

/// What jobs share.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a Plan,
    /// Where attacks are kept.
    pub(super) store: Option<&'a Store>,
    /// Whether models, curves and predictions are kept there, too.
    pub(super) keep_models: bool,
    /// Where models come from, if they are not trained.
    pub(super) models: Option<&'a LoadModel<'a>>,
    pub(super) scoring: Scoring,
    /// Attacks in memory.
    pub(super) prepared: &'a Memo,
    /// What trainings share.
    pub(super) memo: &'a Memo,
    pub(super) observer: &'a dyn Observer,
}

/// What a job learned.
pub(super) struct Learned {
    found: Found,
    /// The data that it was learned from, if that was attacked.
    poisoned: Option<Attacked>,
    seconds: f64,
    curve: Vec<EpochRecord>,
    /// The class that is looked for.
    positive: Option<u32>,
    /// From which probability on a node is taken for it; none where the likelier class wins.
    threshold: Option<f64>,
}

enum Found {
    Model(Box<dyn NodeClassifier>),
    /// The cluster of each node.
    Clusters(Vec<u32>),
}

/// An attack, by itself or as one of several.
struct Which<'a> {
    name: &'a str,
    settings: &'a Table,
    attack: &'a dyn Attack,
    /// Which of the repeats.
    repeat: u64,
}

impl<'a> Which<'a> {
    fn of(planned: &'a PlannedAttack) -> Self {
        let PlannedAttack { id, settings, attack, .. } = planned;
        Which { name: &id.name, settings, attack: attack.as_ref(), repeat: id.repeat }
    }
}

/// Who is attacked, for attacks that look at that.
#[derive(Clone, Copy)]
enum Victim<'a> {
    /// A model that has learned already.
    Trained(&'a dyn NodeClassifier),
    /// A model that will learn on what the attack leaves.
    Learner,
}

/// Watches one job: keeps its curve, and says which cell an epoch belongs to.
struct JobObserver<'a> {
    outer: &'a dyn Observer,
    cell: &'a CellId,
    curve: &'a Curve,
}

impl training::Observer for JobObserver<'_> {
    fn stopping(&self) -> bool {
        self.outer.stopping()
    }

    fn epoch(&self, record: &EpochRecord) {
        self.curve.push(record.clone());
        self.outer.epoch_of(self.cell, record);
    }

    fn step(&self, done: usize, of: usize) {
        self.outer.step(done, of);
    }
}

impl Learned {
    /// What is known without an attack.
    fn measured(&self, scores: Scores) -> Measured {
        Measured {
            scores,
            train_seconds: self.seconds,
            epochs: self.curve.len(),
            peak_memory_bytes: memory::peak_bytes(),
            summary: match &self.found {
                Found::Model(model) => model.summary(),
                Found::Clusters(_) => Vec::new(),
            },
            diagnostics: match &self.found {
                Found::Model(model) => model.diagnostics(),
                Found::Clusters(_) => Vec::new(),
            },
            attack: None,
            positive_class: None,
            threshold: None,
            classes: Vec::new(),
            clusters: None,
            curve: Vec::new(),
            heterophily: Vec::new(),
        }
    }

    /// The accuracy of clusters is that of the best matching in each part.
    fn clustered(&self, dataset: &Dataset, split: &Split, clusters: &[u32]) -> Result<Measured> {
        let fit = cluster::fit(dataset, split, clusters)?;
        let scores = Scores {
            train_accuracy: fit.train.accuracy,
            val_accuracy: fit.val.accuracy,
            test_accuracy: Some(fit.test.accuracy),
            ..Scores::default()
        };
        Ok(Measured { clusters: Some(fit), ..self.measured(scores) })
    }
}

impl Shared<'_> {
    /// Trains the model of a job, or loads it.
    pub(super) fn learn(&self, job: &Job) -> Result<Learned> {
        let clean = &self.plan.data[job.data].dataset;
        let load = self.models.filter(|_| job.poison.is_none() && !job.inductive);
        let loaded = load.map(|load| load(job)).transpose()?;
        let poison = job.poison.map(|place| &self.plan.attacks[place]);
        let poisoned =
            poison.map(|attack| self.attacked(job, &Which::of(attack), Victim::Learner)).transpose()?;
        if let (Some(model), None, false) = (loaded, &poisoned, job.inductive) {
            let (positive, threshold) = decision(job, model.as_ref(), clean, &job.split.split)?;
            let (found, curve) = (Found::Model(model), Vec::new());
            return Ok(Learned { found, poisoned, seconds: 0.0, curve, positive, threshold });
        }
        let without_test = job.inductive.then(|| without_test(job, clean)).transpose()?;
        let (dataset, split) = match (&poisoned, &without_test) {
            (Some(attacked), _) => (&attacked.dataset, &attacked.split),
            (None, Some(without)) => (&without.dataset, &without.split),
            (None, None) => (clean, &job.split.split),
        };
        let folder = self.folder(job);
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        let (curve, clock) = (Curve::default(), Stopwatch::start());
        let mut checkpoints = folder.as_deref().map(|folder| FileCheckpoints::new(folder, &curve, &clock));
        let observer = JobObserver { outer: self.observer, cell: &job.cells[0].id, curve: &curve };
        let mut session = Session {
            observer: &observer,
            checkpoints: checkpoints.as_mut().map(|store| store as &mut dyn CheckpointStore),
            memo: Some(self.memo),
        };
        let found = find(job, dataset, split, &mut session)?;
        let seconds = clock.seconds();
        let (positive, threshold) = match &found {
            Found::Model(model) => decision(job, model.as_ref(), dataset, split)?,
            Found::Clusters(_) => (None, None),
        };
        let found = match (found, without_test) {
            (Found::Model(model), Some(without)) => Found::Model(Box::new(without.for_all(model))),
            (found, _) => found,
        };
        Ok(Learned { found, poisoned, seconds, curve: curve.into_records(), positive, threshold })
    }

    /// Where what a job makes is kept, if it is.
    fn folder(&self, job: &Job) -> Option<PathBuf> {
        self.store
            .filter(|_| self.keep_models && job.poison.is_none() && !job.inductive)
            .map(|store| store.model_folder(&job.cells[0].id))
    }

    /// Removes the checkpoints of a job that is over.
    pub(super) fn tidy(&self, job: &Job) -> Result<()> {
        self.folder(job)
            .filter(|folder| folder.exists())
            .map_or(Ok(()), |folder| checkpoint::remove_all(&folder))
    }

    /// Scores a model in one of the cells of its job.
    pub(super) fn measure(&self, job: &Job, cell: &Cell, learned: &Learned) -> Result<Measured> {
        let clean = &self.plan.data[job.data].dataset;
        let model = match &learned.found {
            Found::Model(model) => model.as_ref(),
            Found::Clusters(clusters) => return learned.clustered(clean, &job.split.split, clusters),
        };
        let metric = job.judging.shown(clean.num_classes());
        if self.scoring == Scoring::ValidationOnly {
            let seen = Predictions::new(
                clean,
                clean.labels().names(),
                model.predict(clean.graph(), clean.features())?,
            )?;
            let seen = seen.about(learned.positive).decided_at(learned.threshold);
            return Ok(learned.measured(Scores::at_validation(&seen, &job.split.split, metric)));
        }
        let evasion =
            cell.attack.filter(|_| learned.poisoned.is_none()).map(|place| &self.plan.attacks[place]);
        if let Some(planned) = evasion.filter(|planned| !planned.attack.parts().is_empty()) {
            return self.worst(job, planned, learned, model);
        }
        let evaded = evasion
            .map(|planned| self.attacked(job, &Which::of(planned), Victim::Trained(model)))
            .transpose()?;
        let attacked = learned.poisoned.as_ref().or(evaded.as_ref());
        let (dataset, split) = attacked.map_or((clean, &job.split.split), |a| (&a.dataset, &a.split));
        let heterophily = if self.plan.measure_shift {
            heterophily(&[(clean, &job.split.split), (dataset, split)], model)?
        } else {
            Vec::new()
        };
        let probabilities = model.predict(dataset.graph(), dataset.features())?;
        let predictions = Predictions::new(dataset, clean.labels().names(), probabilities)?
            .about(learned.positive)
            .decided_at(learned.threshold);
        let measured = learned.measured(Scores::of_predictions(&predictions, split, metric));
        if let (Some(folder), None, None) = (self.folder(job), cell.attack, self.models) {
            let features = dataset.features();
            Artefacts { model, curve: &learned.curve, predictions: &predictions, split, features }
                .write(&folder)?;
        }
        Ok(Measured {
            attack: attacked.map(|attacked| attacked.record.clone()),
            positive_class: learned.positive.map(|class| clean.labels().names()[class as usize].clone()),
            threshold: learned.threshold,
            classes: per_class(&predictions.confusion(split.test.iter().copied()), predictions.classes()),
            curve: if self.plan.keeps_curve(job, cell) { thinned(&learned.curve) } else { Vec::new() },
            heterophily,
            ..measured
        })
    }

    /// Scores a model under several attacks, of which the worst counts for each test node.
    fn worst(
        &self,
        job: &Job,
        planned: &PlannedAttack,
        learned: &Learned,
        model: &dyn NodeClassifier,
    ) -> Result<Measured> {
        let clean = &self.plan.data[job.data].dataset;
        let split = &job.split.split;
        let mut probabilities = model.predict(clean.graph(), clean.features())?;
        let mut most = vec![f32::NEG_INFINITY; split.test.len()];
        let mut records = Vec::new();
        for part in planned.attack.parts() {
            let which = Which {
                name: part.name,
                settings: &part.settings,
                attack: part.attack.as_ref(),
                repeat: planned.id.repeat,
            };
            let attacked = self.attacked(job, &which, Victim::Trained(model))?;
            if attacked.split != *split {
                return Err(Error::setting(
                    "attacks",
                    format!(
                        "`{}` chooses among the test nodes, so the worst of each node is not known",
                        part.name
                    ),
                    "leave it out",
                ));
            }
            let found = model.predict(attacked.dataset.graph(), attacked.dataset.features())?;
            for (&node, most) in split.test.iter().zip(&mut most) {
                let Some(class) = clean.labels().get(node as usize) else { continue };
                let row = found.row(node as usize);
                let lead = lead(row, class as usize);
                if lead > *most {
                    *most = lead;
                    probabilities.row_mut(node as usize).copy_from_slice(row);
                }
            }
            records.push(attacked.record);
        }
        let metric = job.judging.shown(clean.num_classes());
        let predictions = Predictions::new(clean, clean.labels().names(), probabilities)?
            .about(learned.positive)
            .decided_at(learned.threshold);
        Ok(Measured {
            attack: Some(summed(&records, split)),
            positive_class: learned.positive.map(|class| clean.labels().names()[class as usize].clone()),
            threshold: learned.threshold,
            classes: per_class(&predictions.confusion(split.test.iter().copied()), predictions.classes()),
            ..learned.measured(Scores::of_predictions(&predictions, split, metric))
        })
    }

    /// The data of a job under an attack, which is prepared once for all cells that can share it.
    fn attacked(&self, job: &Job, which: &Which<'_>, victim: Victim<'_>) -> Result<Attacked> {
        let data = &self.plan.data[job.data];
        let split = &job.split.split;
        let seed = attack_seed(job.attack_seed.wrapping_add(which.repeat), job.split.number);
        let observer = Steps(self.observer);
        let context = AttackContext { observer: &observer, ..AttackContext::new(&data.dataset, split) };
        let alone = match victim {
            Victim::Trained(_) => !which.attack.looks_at_victim(),
            Victim::Learner => !which.attack.trains_victim(),
        };
        if !alone {
            let again = |dataset: &Dataset| learned_again(job, dataset, &observer);
            let context = match victim {
                Victim::Trained(model) => AttackContext { victim: Some(model), ..context },
                Victim::Learner => AttackContext { retrain: Some(&again), ..context },
            };
            return which.attack.perturb(&context, seed);
        }
        let depends_on = json!([
            env!("CARGO_PKG_VERSION"),
            data.record.sha256,
            which.name,
            which.settings,
            job.split.number,
            split.test,
            seed,
        ]);
        let key = fingerprint::of_text(&depends_on.to_string());
        let prepare = || -> Result<PreparedAttack> {
            if let Some(kept) = self.store.map(|store| store.prepared_attack(&key)).transpose()?.flatten() {
                return Ok(kept);
            }
            let prepared = which.attack.prepare(&context, seed)?;
            self.store.map(|store| store.keep_prepared_attack(&key, &prepared)).transpose()?;
            Ok(prepared)
        };
        self.prepared.get(MemoKey::new(&key), prepare)?.apply(&data.dataset, split)
    }
}

/// Passes on the steps of an attack; what it trains on the way is nobody's curve.
struct Steps<'a>(&'a dyn Observer);

impl training::Observer for Steps<'_> {
    fn stopping(&self) -> bool {
        self.0.stopping()
    }

    fn step(&self, done: usize, of: usize) {
        self.0.step(done, of);
    }
}

/// Trains, or clusters.
fn find(job: &Job, dataset: &Dataset, split: &Split, session: &mut Session<'_>) -> Result<Found> {
    let seed = split_seed(job.seed, job.split.number);
    match job.method.method {
        Method::Model(kind) => {
            let model = (kind.build)(&job.method.settings)?;
            let task = Task::new(dataset, split).map_err(|error| in_split(error, job.split.number))?;
            model.fit_with(&task, seed, session).map(Found::Model)
        }
        Method::Clustering(way) => {
            cluster::cluster(dataset, split, way.method, way.by, seed, session).map(Found::Clusters)
        }
    }
}

/// The model of a job, trained on other data; nobody keeps it.
fn learned_again(job: &Job, dataset: &Dataset, observer: &Steps<'_>) -> Result<Box<dyn NodeClassifier>> {
    match find(job, dataset, &job.split.split, &mut Session::watched_by(observer))? {
        Found::Model(model) => Ok(model),
        Found::Clusters(_) => Err(Error::data("clusterings are not attacked", "leave the attack out")),
    }
}

/// What a job learns from if the test nodes are not there.
fn without_test(job: &Job, dataset: &Dataset) -> Result<WithoutTest> {
    match job.method.method {
        Method::Model(kind) if kind.transductive => Err(Error::data(
            format!("{} predicts only on the nodes it learned from", kind.name),
            "ask for the transductive protocol",
        )),
        _ => WithoutTest::of(dataset, &job.split.split),
    }
}

/// By how much the best wrong class is likelier than the true one.
fn lead(row: &[f32], class: usize) -> f32 {
    let wrong = (0..row.len()).filter(|&other| other != class).map(|other| row[other]);
    wrong.fold(f32::NEG_INFINITY, f32::max) - row[class]
}

/// What several attacks did, together.
fn summed(records: &[Record], split: &Split) -> Record {
    let sum = |of: fn(&Record) -> usize| records.iter().map(of).sum();
    let after = records.iter().filter_map(|record| record.heterophily_after);
    Record {
        edges_added: sum(|record| record.edges_added),
        edges_removed: sum(|record| record.edges_removed),
        feature_rows_changed: sum(|record| record.feature_rows_changed),
        test_nodes: split.test.len(),
        budget: sum(|record| record.budget),
        heterophily_before: records.first().and_then(|record| record.heterophily_before),
        heterophily_after: after.reduce(f64::max),
        seconds: records.iter().map(|record| record.seconds).sum(),
    }
}

fn in_split(error: Error, number: usize) -> Error {
    match error {
        Error::Data { problem, remedy } => Error::data(format!("split {number}: {problem}"), remedy),
        other => other,
    }
}

/// The class that is looked for, and the threshold to take nodes for it, chosen at the validation nodes if it is to be:
/// on the data that was learned from, so that an attack that comes later does not move it.
fn decision(
    job: &Job,
    model: &dyn NodeClassifier,
    dataset: &Dataset,
    split: &Split,
) -> Result<(Option<u32>, Option<f64>)> {
    let task = Task::new(dataset, split)?;
    let positive = task.positive_class;
    let threshold = match (job.judging.threshold(task.num_classes), positive) {
        (Threshold::At(value), _) => Some(value),
        (Threshold::Auto, Some(positive)) => {
            let probabilities = model.predict(task.graph, task.features)?;
            let asked = task.val.nodes.iter().zip(&task.val.classes);
            let scored: Vec<(f32, bool)> = asked
                .map(|(&node, &class)| {
                    (probabilities.row(node as usize)[positive as usize], class == positive)
                })
                .collect();
            threshold::choose(&scored, job.judging.shown(task.num_classes))
        }
        _ => None,
    };
    Ok((positive, threshold))
}

/// At most about a hundred epochs of each stage.
fn thinned(curve: &[EpochRecord]) -> Vec<EpochRecord> {
    let longest = curve.iter().map(|record| record.epoch + 1).max().unwrap_or(0);
    let step = longest.div_ceil(EPOCHS).max(1);
    curve.iter().filter(|record| record.epoch % step == 0).cloned().collect()
}

/// The heterophily of the second of two versions of the data, the first of which is clean.
fn heterophily(versions: &[(&Dataset, &Split); 2], model: &dyn NodeClassifier) -> Result<Vec<Heterophily>> {
    let named = ["clean", "scored"].into_iter().zip(versions);
    let versions: Vec<Version<'_>> = named
        .map(|(name, &(dataset, split))| Version { name: name.to_string(), dataset, split: split.clone() })
        .collect();
    let classes = versions[0].dataset.labels().names();
    let audit = AuditConfig { hops: 1, bins: BINS }.run(&versions, Some(&Trained { model, classes }))?;
    let scored = audit.samples.into_iter().filter(|sample| sample.data == "scored");
    let described = scored.map(|sample| Heterophily {
        graph: sample.graph,
        part: sample.part.to_string(),
        mean: sample.distribution.mean,
        mean_shift: sample.shift.map(|shift| shift.mean_shift),
        histogram: sample.distribution.histogram,
    });
    Ok(described.collect())
}
