//! One job: a model trained once, and every cell that needs it attacked and scored.

use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::grid::{Cell, Grid, Job, Strike};
use super::store::Store;
use crate::attacks::{Attacked, Crafted, Record, Scene, Watch};
use crate::cluster::{self, Fit};
use crate::error::Result;
use crate::eval::audit::{AuditConfig, Trained, Version};
use crate::eval::experiment::split_seed;
use crate::eval::robustness::attack_seed;
use crate::eval::scores::Scores;
use crate::eval::{fingerprint, memory};
use crate::graph::{Dataset, Split};
use crate::models::NodeClassifier;
use crate::training::{EpochRecord, Memo, MemoKey, Session, Task};

/// Bins of the histograms of heterophily.
const BINS: usize = 20;
/// Epochs of a curve that are kept, at most.
const EPOCHS: usize = 100;

/// What was found in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How many nodes are right, in percent.
    #[serde(flatten)]
    pub scores: Scores,
    /// Time to train the model, which other cells may share.
    pub train_seconds: f64,
    /// Epochs of all its stages.
    pub epochs: usize,
    /// The most memory that the process had needed until then.
    pub peak_memory_bytes: Option<u64>,
    /// What the attack did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack: Option<Record>,
    /// How well clusters fit the classes, if that is what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Fit>,
    /// How training went, in some of its epochs; kept for the first split of a suite, on clean data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<EpochRecord>,
    /// How heterophilic the parts are: `given`, `round 0`, … by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heterophily: Vec<Heterophily>,
}

/// The heterophily of the nodes of a part in a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heterophily {
    /// `given`, or `round 0` and so on.
    pub graph: String,
    /// `train`, `val` or `test`.
    pub part: String,
    /// Their mean; none where nobody has neighbours with a label.
    pub mean: Option<f64>,
    /// How much farther to the right the mean lies than that of the training nodes in the clean given graph.
    pub mean_shift: Option<f64>,
    /// How many nodes fall into each of equal bins over [0, 1].
    pub histogram: Vec<usize>,
}

/// What jobs share.
pub struct Shared<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// Where attacks are kept.
    pub store: &'a Store,
    /// Attacks in memory.
    pub crafted: &'a Memo,
    /// What trainings share.
    pub memo: &'a Memo,
    /// Who may stop it.
    pub watch: Watch<'a>,
}

/// What a job learned.
pub struct Learned {
    found: Found,
    /// The data that it was learned from, if that was attacked.
    poisoned: Option<Attacked>,
    seconds: f64,
    curve: Vec<EpochRecord>,
}

enum Found {
    Model(Box<dyn NodeClassifier>),
    /// The cluster of each node.
    Clusters(Vec<u32>),
}

impl Learned {
    /// What is known without an attack.
    fn measured(&self, scores: Scores) -> Measured {
        Measured {
            scores,
            train_seconds: self.seconds,
            epochs: self.curve.len(),
            peak_memory_bytes: memory::peak_bytes(),
            attack: None,
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
            test_accuracy: fit.test.accuracy,
            test_macro_f1: 0.0,
        };
        Ok(Measured { clusters: Some(fit), ..self.measured(scores) })
    }
}

impl Shared<'_> {
    /// Trains the model of a job.
    pub fn learn(&self, job: &Job) -> Result<Learned> {
        let clean = &self.grid.data[job.data].dataset;
        let poisoned =
            job.poison.map(|place| self.attacked(job, &self.grid.strikes[place], None)).transpose()?;
        let (dataset, split) = match &poisoned {
            Some(attacked) => (&attacked.dataset, &attacked.split),
            None => (clean, &clean.splits()[job.split]),
        };
        let mut curve = Vec::new();
        let mut on_epoch = |record: &EpochRecord| curve.push(record.clone());
        let mut session = Session {
            stop: self.watch.stop,
            on_epoch: Some(&mut on_epoch),
            memo: Some(self.memo),
            ..Session::default()
        };
        let started = std::time::Instant::now();
        let seed = split_seed(job.seed, job.split);
        let found = match job.contender {
            Contender::Model(kind) => {
                let config = (kind.build)(&job.settings)?;
                Found::Model(config.fit_with(&Task::new(dataset, split)?, seed, &mut session)?)
            }
            Contender::Clustering(way) => {
                Found::Clusters(cluster::cluster(dataset, split, way.method, way.by, seed, &mut session)?)
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Learned { found, poisoned, seconds, curve })
    }

    /// Scores a model in one of the cells of its job.
    pub fn measure(&self, job: &Job, cell: &Cell, learned: &Learned) -> Result<Measured> {
        let clean = &self.grid.data[job.data].dataset;
        let clean_split = &clean.splits()[job.split];
        let model = match &learned.found {
            Found::Model(model) => model.as_ref(),
            Found::Clusters(clusters) => return learned.clustered(clean, clean_split, clusters),
        };
        let evaded = match (&learned.poisoned, cell.strike) {
            (None, Some(place)) => Some(self.attacked(job, &self.grid.strikes[place], Some(model))?),
            _ => None,
        };
        let attacked = learned.poisoned.as_ref().or(evaded.as_ref());
        let (dataset, split) = attacked.map_or((clean, clean_split), |a| (&a.dataset, &a.split));
        let heterophily = if self.grid.measure_shift {
            heterophily(&[(clean, clean_split), (dataset, split)], model)?
        } else {
            Vec::new()
        };
        Ok(Measured {
            attack: attacked.map(|attacked| attacked.record.clone()),
            curve: if self.grid.keeps_curve(job, cell) { thinned(&learned.curve) } else { Vec::new() },
            heterophily,
            ..learned.measured(Scores::of(model, dataset, clean.labels().names(), split)?)
        })
    }

    /// The data of a job under an attack, which is crafted once for all cells that can share it.
    fn attacked(&self, job: &Job, strike: &Strike, victim: Option<&dyn NodeClassifier>) -> Result<Attacked> {
        let data = &self.grid.data[job.data];
        let split = &data.dataset.splits()[job.split];
        let seed = attack_seed(job.seed.wrapping_add(strike.id.repeat), job.split);
        let scene = Scene { dataset: &data.dataset, split, victim, watch: self.watch };
        if victim.is_some() && strike.attack.looks_at_victim() {
            return strike.attack.perturb(&scene, seed);
        }
        let depends_on = serde_json::json!([
            env!("CARGO_PKG_VERSION"),
            data.fingerprint,
            strike.id.name,
            strike.settings,
            job.split,
            seed,
        ]);
        let key = fingerprint::of_text(&depends_on.to_string());
        let craft = || -> Result<Crafted> {
            if let Some(kept) = self.store.crafted(&key)? {
                return Ok(kept);
            }
            let crafted = strike.attack.craft(&scene, seed)?;
            self.store.keep_crafted(&key, &crafted)?;
            Ok(crafted)
        };
        self.crafted.get(MemoKey::new(&key), craft)?.carried_out(&data.dataset, split)
    }
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
