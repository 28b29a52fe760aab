//! Attacks, one file each, all of the same shape: config, what it changes, tests.
//!
//! An attack is a plain struct of settings that says what to change in a [`AttackContext`]: pairs of nodes to flip, other
//! features, or which test nodes to score. [`Attack::prepare`] checks the data before it asks, [`PreparedAttack::apply`]
//! makes the change and keeps a [`Record`] that is counted, not claimed; [`Attack::perturb`] does both. How strong an attack is, is its
//! `rate`; 0 changes nothing.
//!
//! Attacks flip pairs of nodes. Where edges have a direction, a pair is flipped with all arrows between its nodes, and a new arrow leads
//! either way, as a hash of its ends decides.
//!
//! An attack may use every label, those of the test nodes too: it is the adversary, not a model.
//!
//! ```
//! use lhs::attacks::{Attack, AttackContext, injected::InjectedConfig};
//! use lhs::graph::synth::SynthConfig;
//!
//! # fn main() -> lhs::Result<()> {
//! let dataset = SynthConfig { nodes: 300, homophily: 0.8, ..SynthConfig::default() }.generate(0)?;
//! let attack = InjectedConfig { rate: 0.5, ..InjectedConfig::default() };
//! let attacked = attack.perturb(&AttackContext::new(&dataset, &dataset.splits()[0]), 0)?;
//! assert!(attacked.record.edges_added > 0);
//! assert!(attacked.record.heterophily_after > attacked.record.heterophily_before);
//! # Ok(())
//! # }
//! ```

pub mod adaptive;
mod block;
mod context;
pub mod dice;
mod edges;
pub mod evolve;
pub mod features;
pub mod fga;
pub mod injected;
pub mod metattack;
mod neighbours;
pub mod nettack;
pub mod ood;
pub mod prbcd;
pub mod random;
mod registry;
mod surrogate;
pub mod targets;
pub mod worst;

pub use context::{AttackContext, Retrain};
pub use registry::{AttackKind, kind, kinds};

use std::time::Instant;

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::error::{Error, Result};
use crate::graph::heterophily::mean_heterophily;
use crate::graph::{Dataset, Features, Graph, Split};

/// The settings of an attack, ready to plan.
pub trait Attack: Send + Sync {
    /// Checks the ranges of the settings.
    fn validate(&self) -> Result<()>;

    /// How strong it is.
    fn rate(&self) -> f64;

    /// How many pairs it may flip at most; 0 for attacks that leave the edges alone.
    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        let _ = (dataset, split);
        0
    }

    /// Whether it looks at the victim of the context: then it must be prepared anew for each.
    fn looks_at_victim(&self) -> bool {
        false
    }

    /// Whether it has the victim learn again where it comes before training: then, too, it must be prepared anew for each.
    fn trains_victim(&self) -> bool {
        self.looks_at_victim()
    }

    /// The attacks of which the worst counts for each node, if it is not one change but several.
    fn parts(&self) -> &[Part] {
        &[]
    }

    /// What to change. Called by [`Attack::prepare`] after its checks.
    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change>;

    /// Finds out what to change. Same data, settings and seed: same result.
    fn prepare(&self, context: &AttackContext<'_>, seed: u64) -> Result<PreparedAttack> {
        self.validate()?;
        check(context.dataset, context.split)?;
        let graph = context.dataset.graph();
        let without_direction;
        let mut context = *context;
        if graph.is_directed() {
            without_direction = context.dataset.clone().with_graph(graph.to_undirected())?;
            context = AttackContext { dataset: &without_direction, directed: Some(graph), ..context };
        }
        let budget = self.budget(context.dataset, context.split);
        let started = Instant::now();
        let change = self.plan(&context, seed)?;
        Ok(PreparedAttack { change, budget, seconds: started.elapsed().as_secs_f64() })
    }

    /// Attacks a dataset under one of its splits.
    fn perturb(&self, context: &AttackContext<'_>, seed: u64) -> Result<Attacked> {
        self.prepare(context, seed)?.apply(context.dataset, context.split)
    }
}

/// One of several attacks of which the worst counts.
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Its settings, complete.
    pub settings: Table,
    /// The attack.
    pub attack: Box<dyn Attack>,
}

/// An attack that has been thought out: on the same data it can be carried out again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreparedAttack {
    /// What to change.
    #[serde(flatten)]
    pub change: Change,
    /// How many pairs it was allowed to flip.
    pub budget: usize,
    /// Time to prepare it.
    pub seconds: f64,
}

impl PreparedAttack {
    /// The data under a split, changed.
    pub fn apply(&self, dataset: &Dataset, split: &Split) -> Result<Attacked> {
        let change = &self.change;
        let flipped = edges::flip(dataset.graph(), &change.flips)?;
        debug_assert!(
            flipped.added.len() + flipped.removed.len() <= self.budget,
            "more than the budget was spent"
        );
        // Whichever way edges lead: both ends are neighbours.
        let mean =
            |graph: &Graph, test: &[u32]| mean_heterophily(&graph.to_undirected(), dataset.labels(), test);
        let heterophily_before = mean(dataset.graph(), &split.test);
        let split = match &change.test {
            Some(test) => Split { test: test.clone(), ..split.clone() },
            None => split.clone(),
        };
        let record = Record {
            edges_added: flipped.added.len(),
            edges_removed: flipped.removed.len(),
            feature_rows_changed: rows_changed(dataset.features(), change.features.as_ref()),
            test_nodes: split.test.len(),
            budget: self.budget,
            heterophily_before,
            heterophily_after: mean(&flipped.graph, &split.test),
            seconds: self.seconds,
        };
        let mut changed = dataset.clone().with_graph(flipped.graph)?;
        if let Some(features) = &change.features {
            changed = changed.with_features(features.clone())?;
        }
        Ok(Attacked { dataset: changed, split, added: flipped.added, removed: flipped.removed, record })
    }
}

/// What an attack wants changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Pairs to flip: an edge that is there goes, one that is not there comes. Their order does not matter, and a pair
    /// named twice is flipped once.
    pub flips: Vec<(u32, u32)>,
    /// Other features for all nodes; not written to files.
    #[serde(skip)]
    pub features: Option<Features>,
    /// Other test nodes, ascending, from among those of the split.
    pub test: Option<Vec<u32>>,
}

impl From<Vec<(u32, u32)>> for Change {
    fn from(flips: Vec<(u32, u32)>) -> Self {
        Change { flips, ..Change::default() }
    }
}

/// What an attack leaves behind.
#[derive(Clone, Debug)]
pub struct Attacked {
    /// The data after the attack: the same nodes and labels; edges have a direction if they had one before.
    pub dataset: Dataset,
    /// The split to score by: that of the context, but for the test nodes, if the attack chose some.
    pub split: Split,
    /// Edges that were not there before, `(low, high)`, ascending.
    pub added: Vec<(u32, u32)>,
    /// Edges that are no longer there, likewise.
    pub removed: Vec<(u32, u32)>,
    /// What was done, in numbers.
    pub record: Record,
}

/// What was done to a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Edges that were not there before.
    pub edges_added: usize,
    /// Edges that are no longer there.
    pub edges_removed: usize,
    /// Nodes whose features differ from before.
    pub feature_rows_changed: usize,
    /// Test nodes to score.
    pub test_nodes: usize,
    /// How many pairs the attack was allowed to flip.
    pub budget: usize,
    /// Mean node heterophily at the test nodes that have one, 0..=1, before the attack.
    pub heterophily_before: Option<f64>,
    /// The same after the attack.
    pub heterophily_after: Option<f64>,
    /// Time to prepare the attack.
    pub seconds: f64,
}

fn rows_changed(before: &Features, after: Option<&Features>) -> usize {
    let Some(after) = after else { return 0 };
    (0..before.num_nodes()).filter(|&node| before.row_nonzeros(node) != after.row_nonzeros(node)).count()
}

/// Refuses data that cannot be attacked.
fn check(dataset: &Dataset, split: &Split) -> Result<()> {
    dataset.check_trainable()?;
    match split.test.iter().find(|&&node| node as usize >= dataset.num_nodes()) {
        None => Ok(()),
        Some(node) => Err(Error::data(
            format!("test node {node} out of range (num_nodes = {})", dataset.num_nodes()),
            "attack the data under one of its own splits",
        )),
    }
}

/// The range of a setting that is a number, such as the `rate` of every attack.
fn in_range(key: &str, value: f64, most: f64) -> Result<()> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::setting(key, format!("{value} is out of range"), format!("choose a number from 0 to {most}")))
}
