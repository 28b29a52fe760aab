//! Attacks at chosen nodes: who is attacked, and how many edges each may cost.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::edges::{Draft, flip, per_neighbour};
use super::{Change, Scene, in_range};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Graph, Split};
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

/// A node under attack, and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub node: u32,
    pub class: u32,
}

impl TargetedConfig {
    pub(super) fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 10.0)
    }

    /// Flips allowed at a node.
    fn flips_at(&self, dataset: &Dataset, node: u32) -> usize {
        // A node can be joined to all others at most.
        let most = dataset.num_nodes().saturating_sub(1);
        per_neighbour(self.rate, dataset.graph().degree(node as usize)).min(most)
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

    /// Attacks the nodes one after the other, flip by flip, on a graph that stays changed; `choose` names the other end of
    /// the best pair at a node of some class. Only the nodes attacked are scored.
    pub(super) fn strike(
        &self,
        scene: &Scene<'_>,
        nodes: Vec<u32>,
        mut choose: impl FnMut(&Graph, Target, &Draft<'_>) -> Option<u32>,
    ) -> Result<Change> {
        let dataset = scene.dataset;
        let mut draft = Draft::new(dataset.graph(), self.may_isolate);
        let mut graph = dataset.graph().clone();
        for (done, &node) in nodes.iter().enumerate() {
            scene.watch.step(done, nodes.len())?;
            let class = dataset.labels().get(node as usize).ok_or_else(|| {
                Error::data(format!("node {node} has no label"), "attack nodes that have one")
            })?;
            for _ in 0..self.flips_at(dataset, node) {
                let Some(other) = choose(&graph, Target { node, class }, &draft) else { break };
                draft.flip(node, other);
                graph = flip(&graph, &[(node, other)])?.graph;
            }
        }
        Ok(Change { flips: draft.into_flips(), test: Some(nodes), ..Change::default() })
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
