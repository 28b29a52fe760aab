//! Attacks on the edges, one file each, all of the same shape: config, the pairs that it flips, tests.
//!
//! An attack is a plain struct of settings that names pairs of nodes to flip. [`Attack::perturb`] does what
//! all of them have in common: it checks the data, flips the pairs, and keeps a [`Record`] that is counted,
//! not claimed. How strong an attack is, is its `rate`; 0 changes nothing.
//!
//! An attack may use every label, those of the test nodes too: it is the adversary, not a model.
//!
//! ```
//! use lhs::attacks::{Attack, injected::InjectedConfig};
//! use lhs::graph::synth::SynthConfig;
//!
//! # fn main() -> lhs::Result<()> {
//! let dataset = SynthConfig { nodes: 300, homophily: 0.8, ..SynthConfig::default() }.generate(0)?;
//! let attack = InjectedConfig { rate: 0.5, ..InjectedConfig::default() };
//! let attacked = attack.perturb(&dataset, &dataset.splits()[0], 0)?;
//! assert!(attacked.record.edges_added > 0);
//! assert!(attacked.record.heterophily_after > attacked.record.heterophily_before);
//! # Ok(())
//! # }
//! ```

mod flip;
pub mod injected;
mod registry;

pub use registry::{AttackKind, kind, kinds};

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::heterophily::mean_heterophily;
use crate::graph::{Dataset, Graph, Split};

/// The settings of an attack, ready to strike.
pub trait Attack: Send + Sync {
    /// Checks the ranges of the settings.
    fn validate(&self) -> Result<()>;

    /// How strong it is.
    fn rate(&self) -> f64;

    /// How many pairs it may flip at most.
    fn budget(&self, dataset: &Dataset, split: &Split) -> usize;

    /// The pairs to flip: an edge that is there goes, one that is not there comes. Their order does not
    /// matter, and a pair named twice is flipped once. Called by [`Attack::perturb`] after its checks.
    fn flips(&self, dataset: &Dataset, split: &Split, seed: u64) -> Result<Vec<(u32, u32)>>;

    /// Attacks the graph of a dataset under one of its splits. Same data, settings and seed: same graph.
    fn perturb(&self, dataset: &Dataset, split: &Split, seed: u64) -> Result<Attacked> {
        self.validate()?;
        check(dataset, split)?;
        let budget = self.budget(dataset, split);
        let started = Instant::now();
        let flipped = flip::flip(dataset.graph(), &self.flips(dataset, split, seed)?)?;
        let seconds = started.elapsed().as_secs_f64();
        debug_assert!(flipped.added + flipped.removed <= budget, "an attack spent more than its budget");
        let heterophily = |graph| mean_heterophily(graph, dataset.labels(), &split.test);
        let record = Record {
            edges_added: flipped.added,
            edges_removed: flipped.removed,
            budget,
            heterophily_before: heterophily(dataset.graph()),
            heterophily_after: heterophily(&flipped.graph),
            seconds,
        };
        Ok(Attacked { graph: flipped.graph, record })
    }
}

/// What an attack leaves behind.
#[derive(Clone, Debug)]
pub struct Attacked {
    /// The graph after the attack: the same nodes, undirected.
    pub graph: Graph,
    /// What was done to it.
    pub record: Record,
}

/// What was done to a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Edges that were not there before.
    pub edges_added: usize,
    /// Edges that are no longer there.
    pub edges_removed: usize,
    /// How many pairs the attack was allowed to flip.
    pub budget: usize,
    /// Mean node heterophily at the test nodes that have one, 0..=1, before the attack.
    pub heterophily_before: Option<f64>,
    /// The same after the attack.
    pub heterophily_after: Option<f64>,
    /// Time to craft the graph.
    pub seconds: f64,
}

/// Refuses data that cannot be attacked.
fn check(dataset: &Dataset, split: &Split) -> Result<()> {
    dataset.check_trainable()?;
    if dataset.graph().is_directed() {
        return Err(Error::data(
            format!("the edges of {} have a direction", dataset.name()),
            "attacks work on undirected graphs: read the data without --directed",
        ));
    }
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
