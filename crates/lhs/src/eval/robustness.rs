//! Models under attack: after training (evasion), or before it (poisoning), when they learn on what is left.
//!
//! Every victim (a trained model with its split) meets every attack, several times with other seeds. The
//! numbers depend on models, data, attacks and seed, never on the number of threads.

use serde::Serialize;

use super::experiment::split_seed;
use super::predictions::Predictions;
use super::run::RunFolder;
use super::{metrics, parallel};
use crate::attacks::{Attack, Attacked, Record, Scene, Watch};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::random::derive;
use crate::models::{AnyModel, ModelKind, NodeClassifier};
use crate::training::{Session, Task};

/// A trained model and the split that it was trained on.
pub struct Victim {
    /// Number of the split.
    pub number: usize,
    /// Its nodes; the test nodes are attacked and scored.
    pub split: Split,
    /// The model.
    pub model: Box<dyn NodeClassifier>,
}

impl Victim {
    /// The model that a run trained on a split of this data.
    pub fn of_run(run: &RunFolder, kind: &ModelKind, dataset: &Dataset, number: usize) -> Result<Self> {
        Ok(Victim { number, split: run.split(dataset, number)?, model: run.model(kind, number)? })
    }
}

/// When the data is attacked.
#[derive(Clone, Copy)]
pub enum When<'a> {
    /// After training: evasion.
    AfterTraining,
    /// Before it: poisoning. The settings are those that the victims were trained with.
    BeforeTraining {
        /// How to learn again.
        config: &'a AnyModel,
        /// The seed that the victims were trained with.
        seed: u64,
    },
}

/// What to run.
pub struct Robustness<'a> {
    /// The clean data.
    pub dataset: &'a Dataset,
    /// Names of the classes, by the models' numbers.
    pub classes: &'a [String],
    /// Who is attacked: models trained on the clean data.
    pub victims: &'a [Victim],
    /// Whether they meet the attack as they are, or learn again on the attacked data.
    pub when: When<'a>,
    /// The attacks, one for each strength.
    pub attacks: &'a [Box<dyn Attack>],
    /// How often each attack meets each victim, 1 or more.
    pub repeats: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Is told, from several threads, how far each attack is, and may stop it all.
    pub watch: Watch<'a>,
    /// Is told, from several threads, of each cell that is finished.
    pub finished: &'a (dyn Fn(&Cell) + Sync),
}

/// One victim under one attack; accuracy in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Number of the split.
    pub split: usize,
    /// Which of the repeats.
    pub repeat: usize,
    /// At the test nodes, on the attacked data.
    pub test_accuracy: f64,
    /// What was done to the graph.
    #[serde(flatten)]
    pub record: Record,
}

/// All victims under one attack; means and population standard deviations over splits and repeats.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtRate {
    /// How strong the attack is.
    pub rate: f64,
    /// Mean accuracy at the test nodes, in percent.
    pub test_accuracy_mean: f64,
    /// Its spread.
    pub test_accuracy_std: f64,
    /// Mean node heterophily at the test nodes before the attack; `None` if no test node has one.
    pub heterophily_before_mean: Option<f64>,
    /// The same after it.
    pub heterophily_after_mean: Option<f64>,
    /// Edges added, on average.
    pub edges_added_mean: f64,
    /// Edges removed, on average.
    pub edges_removed_mean: f64,
    /// Each victim and repeat, in order.
    pub cells: Vec<Cell>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RobustnessOutcome {
    /// Mean accuracy at the test nodes on the clean graph, in percent.
    pub clean_test_accuracy_mean: f64,
    /// Its spread over the splits.
    pub clean_test_accuracy_std: f64,
    /// Each attack, in order.
    pub rates: Vec<AtRate>,
}

impl Robustness<'_> {
    /// Crafts and scores every cell.
    pub fn run(&self) -> Result<RobustnessOutcome> {
        let (victims, repeats) = (self.victims.len(), self.repeats);
        if victims * repeats == 0 {
            return Err(Error::data(
                format!("{victims} models attacked {repeats} times: there is nothing to score"),
                "give at least one trained model, and at least one repeat",
            ));
        }
        let clean = parallel::map(victims, self.threads, |cell| {
            let victim = &self.victims[cell];
            self.accuracy(victim.model.as_ref(), self.dataset, &victim.split)
        })?;
        let per_attack = victims * repeats;
        let mut cells = parallel::map(self.attacks.len() * per_attack, self.threads, |cell| {
            let (attack, within) = (cell / per_attack, cell % per_attack);
            self.cell(self.attacks[attack].as_ref(), &self.victims[within / repeats], within % repeats)
        })?;
        let rates = self.attacks.iter().map(|attack| summary(attack.rate(), cells.drain(..per_attack)));
        Ok(RobustnessOutcome {
            clean_test_accuracy_mean: metrics::mean(&clean),
            clean_test_accuracy_std: metrics::std(&clean),
            rates: rates.collect(),
        })
    }

    fn cell(&self, attack: &dyn Attack, victim: &Victim, repeat: usize) -> Result<Cell> {
        let seed = attack_seed(self.seed.wrapping_add(repeat as u64), victim.number);
        let scene = Scene {
            dataset: self.dataset,
            split: &victim.split,
            victim: Some(victim.model.as_ref()),
            watch: self.watch,
        };
        let attacked = attack.perturb(&scene, seed)?;
        let learned = self.learned_again(victim.number, &attacked)?;
        let model = learned.as_deref().unwrap_or(victim.model.as_ref());
        let cell = Cell {
            split: victim.number,
            repeat,
            test_accuracy: self.accuracy(model, &attacked.dataset, &attacked.split)?,
            record: attacked.record,
        };
        (self.finished)(&cell);
        Ok(cell)
    }

    /// The model that learned on the attacked data, if that is what is wanted.
    fn learned_again(&self, number: usize, attacked: &Attacked) -> Result<Option<Box<dyn NodeClassifier>>> {
        let When::BeforeTraining { config, seed } = self.when else { return Ok(None) };
        let task = Task::new(&attacked.dataset, &attacked.split)?;
        let mut session = Session { stop: self.watch.stop, ..Session::default() };
        config.fit_with(&task, split_seed(seed, number), &mut session).map(Some).map_err(
            |error| match error {
                Error::Interrupted { .. } => Error::Interrupted { remedy: "nothing was kept".into() },
                other => other,
            },
        )
    }

    fn accuracy(&self, model: &dyn NodeClassifier, dataset: &Dataset, split: &Split) -> Result<f64> {
        let probabilities = model.predict(dataset.graph(), dataset.features())?;
        let predictions = Predictions::new(dataset, self.classes, probabilities)?;
        let accuracy = predictions.confusion(split.test.iter().copied()).accuracy();
        let accuracy =
            accuracy.ok_or_else(|| Error::data("no test node has a label", "label some of them"))?;
        Ok(100.0 * accuracy)
    }
}

/// The seed that a split is attacked with, apart from that of its training. Repeat `k` of an evaluation with
/// seed `s` uses `attack_seed(s + k, split)`; so does `lhs attack --seed s+k --split SPLIT`.
pub fn attack_seed(seed: u64, split: usize) -> u64 {
    const ATTACK: u64 = 1;
    derive(split_seed(seed, split), &[ATTACK])
}

fn summary(rate: f64, cells: impl Iterator<Item = Cell>) -> AtRate {
    let cells: Vec<Cell> = cells.collect();
    let column = |of: fn(&Cell) -> f64| cells.iter().map(of).collect::<Vec<f64>>();
    let defined = |of: fn(&Cell) -> Option<f64>| {
        let values: Vec<f64> = cells.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| metrics::mean(&values))
    };
    let accuracy = column(|cell| cell.test_accuracy);
    AtRate {
        rate,
        test_accuracy_mean: metrics::mean(&accuracy),
        test_accuracy_std: metrics::std(&accuracy),
        heterophily_before_mean: defined(|cell| cell.record.heterophily_before),
        heterophily_after_mean: defined(|cell| cell.record.heterophily_after),
        edges_added_mean: metrics::mean(&column(|cell| cell.record.edges_added as f64)),
        edges_removed_mean: metrics::mean(&column(|cell| cell.record.edges_removed as f64)),
        cells,
    }
}
