//! Attacks at chosen nodes: who is attacked, and how many edges each may cost.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Scene, in_range};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::random::generator;

/// Settings that all attacks at chosen nodes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetedConfig {
    /// Flips at a node per edge that it has, 0..=10; at least one if above 0.
    pub rate: f64,
    /// The nodes to attack, by number: test nodes of the split. Empty: some drawn at random.
    pub targets: Vec<u32>,
    /// How many nodes are drawn.
    pub count: usize,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

impl Default for TargetedConfig {
    fn default() -> Self {
        TargetedConfig { rate: 1.0, targets: Vec::new(), count: 40, may_isolate: false }
    }
}

impl TargetedConfig {
    pub(super) fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 10.0)
    }

    /// Flips allowed at a node.
    pub(super) fn flips_at(&self, dataset: &Dataset, node: u32) -> usize {
        // A node can be joined to all others at most.
        let most = dataset.num_nodes().saturating_sub(1);
        ((self.rate * dataset.graph().degree(node as usize).max(1) as f64).ceil() as usize).min(most)
    }

    /// The most that all flips can be: those of the nodes that cost most.
    pub(super) fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        let nodes = if self.targets.is_empty() { &split.test } else { &self.targets };
        let existing = nodes.iter().filter(|&&node| (node as usize) < dataset.num_nodes());
        let mut flips: Vec<usize> = existing.map(|&node| self.flips_at(dataset, node)).collect();
        flips.sort_unstable_by(|a, b| b.cmp(a));
        if self.targets.is_empty() {
            flips.truncate(self.count);
        }
        flips.iter().sum()
    }

    /// The nodes to attack, ascending.
    pub(super) fn nodes(&self, scene: &Scene<'_>, seed: u64) -> Result<Vec<u32>> {
        let (dataset, test) = (scene.dataset, &scene.split.test);
        let mut nodes = self.targets.clone();
        if nodes.is_empty() {
            nodes =
                test.iter().copied().filter(|&node| dataset.labels().get(node as usize).is_some()).collect();
            nodes.shuffle(&mut generator(seed, 0));
            nodes.truncate(self.count);
        }
        nodes.sort_unstable();
        nodes.dedup();
        for node in &nodes {
            if *node as usize >= dataset.num_nodes() {
                return Err(Error::setting(
                    "targets",
                    format!("there is no node {node}"),
                    format!("nodes are numbered from 0 to {}", dataset.num_nodes() - 1),
                ));
            }
            if test.binary_search(node).is_err() {
                return Err(Error::setting(
                    "targets",
                    format!("node {node} is not a test node of this split"),
                    "choose test nodes: the others are not scored",
                ));
            }
        }
        Ok(nodes)
    }
}
