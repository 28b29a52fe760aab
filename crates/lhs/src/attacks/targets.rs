//! Attacks at chosen nodes: who is attacked, and how many edges each may cost.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::edges::{EdgeEdits, flip, per_neighbour};
use super::{AttackContext, Change, in_range};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Graph, Split};
use crate::linalg::random::generator;

/// Settings that all attacks at chosen nodes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetedConfig {
    /// Flips at a node per edge that it has, 0..=10; at least one if above 0.
    pub rate: f64,
    /// The nodes to attack, by the ids that the data gives them: test nodes of the split. Empty: some drawn at random.
    pub targets: Vec<NodeId>,
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

/// What the user calls a node: ids that look like numbers may be written as such.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NodeId {
    /// A number.
    Number(u64),
    /// Any other name.
    Name(String),
}

impl From<u32> for NodeId {
    fn from(node: u32) -> Self {
        NodeId::Number(node.into())
    }
}

impl NodeId {
    /// The node that is called so in some data.
    fn find(&self, dataset: &Dataset) -> Result<u32> {
        let id = match self {
            NodeId::Number(number) => number.to_string(),
            NodeId::Name(name) => name.clone(),
        };
        dataset.find_node(&id).map(|node| node as u32).ok_or_else(|| {
            let last = dataset.node_id(dataset.num_nodes().saturating_sub(1));
            Error::setting(
                "targets",
                format!("there is no node {id}"),
                format!("the {} nodes are called from {} to {last}", dataset.num_nodes(), dataset.node_id(0)),
            )
        })
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
        let nodes = if self.targets.is_empty() {
            split.test.clone()
        } else {
            self.targets.iter().filter_map(|id| id.find(dataset).ok()).collect()
        };
        let mut flips: Vec<usize> = nodes.iter().map(|&node| self.flips_at(dataset, node)).collect();
        flips.sort_unstable_by(|a, b| b.cmp(a));
        if self.targets.is_empty() {
            flips.truncate(self.count);
        }
        flips.iter().sum()
    }

    /// Attacks the nodes one after the other, flip by flip, on a graph that stays changed; `choose` names the other end of
    /// the best pair at a node of some class. Only the nodes attacked are scored.
    pub(super) fn plan(
        &self,
        context: &AttackContext<'_>,
        nodes: Vec<u32>,
        mut choose: impl FnMut(&Graph, Target, &EdgeEdits<'_>) -> Option<u32>,
    ) -> Result<Change> {
        let dataset = context.dataset;
        let mut edits = EdgeEdits::new(dataset.graph(), self.may_isolate);
        let mut graph = dataset.graph().clone();
        for (done, &node) in nodes.iter().enumerate() {
            context.step(done, nodes.len())?;
            let class = dataset.labels().get(node as usize).ok_or_else(|| {
                let id = dataset.node_id(node as usize);
                Error::data(format!("node {id} has no label"), "attack nodes that have one")
            })?;
            for _ in 0..self.flips_at(dataset, node) {
                let Some(other) = choose(&graph, Target { node, class }, &edits) else { break };
                edits.flip(node, other);
                graph = flip(&graph, &[(node, other)])?.graph;
            }
        }
        Ok(Change { flips: edits.into_flips(), test: Some(nodes), ..Change::default() })
    }

    /// The nodes to attack, ascending.
    pub(super) fn nodes(&self, context: &AttackContext<'_>, seed: u64) -> Result<Vec<u32>> {
        let (dataset, test) = (context.dataset, &context.split.test);
        let mut nodes = self.targets.iter().map(|id| id.find(dataset)).collect::<Result<Vec<u32>>>()?;
        if nodes.is_empty() {
            nodes =
                test.iter().copied().filter(|&node| dataset.labels().get(node as usize).is_some()).collect();
            nodes.shuffle(&mut generator(seed, 0));
            nodes.truncate(self.count);
        }
        nodes.sort_unstable();
        nodes.dedup();
        for node in &nodes {
            if test.binary_search(node).is_err() {
                return Err(Error::setting(
                    "targets",
                    format!("node {} is not a test node of this split", dataset.node_id(*node as usize)),
                    "choose test nodes: the others are not scored",
                ));
            }
        }
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    /// Data whose nodes are called from 10 to 59, and a test node of its first split.
    fn named() -> (Dataset, u32) {
        let dataset = SynthConfig { nodes: 60, ..SynthConfig::default() }.generate(0).unwrap();
        let named = dataset.subset(&(10..60).collect::<Vec<u32>>()).unwrap();
        let test = named.splits()[0].test[0];
        (named, test)
    }

    #[test]
    fn targets_are_named_as_the_data_names_them() {
        let (dataset, test) = named();
        let id: NodeId = toml::Value::from(dataset.node_id(test as usize)).try_into().unwrap();
        let attack = TargetedConfig { targets: vec![id.clone(), id], ..TargetedConfig::default() };
        let context = AttackContext::new(&dataset, &dataset.splits()[0]);
        assert_eq!(attack.nodes(&context, 0).unwrap(), [test], "named twice, attacked once");
        for (wrong, said) in [
            (NodeId::Name("nobody".into()), "no node nobody"),
            (NodeId::from(60), "no node 60"),
            (NodeId::from(dataset.splits()[0].train[0] + 10), "not a test node"),
        ] {
            let attack = TargetedConfig { targets: vec![wrong], ..TargetedConfig::default() };
            let error = attack.nodes(&context, 0).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
