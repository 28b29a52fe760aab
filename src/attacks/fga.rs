//! FGA: the fast gradient attack at chosen nodes (Chen et al. 2018).
//!
//! For each node in turn, flip by flip: of all pairs with the node at one end, the one with the largest gradient of the
//! surrogate's loss at that node is flipped. The graph stays changed for the nodes that follow. Only the nodes attacked
//! are scored. Cost: one gradient, `O(m h)`, per flip.

use serde::{Deserialize, Serialize};

use super::edges::flip;
use super::surrogate::Surrogate;
use super::targets::TargetedConfig;
use super::{Attack, AttackKind, Change, Scene, registry};
use crate::error::Result;
use crate::graph::{Dataset, Graph, Split};
use crate::linalg::random::derive;

/// Settings of the attack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FgaConfig(pub TargetedConfig);

impl Attack for FgaConfig {
    fn validate(&self) -> Result<()> {
        self.0.validate()
    }

    fn rate(&self) -> f64 {
        self.0.rate
    }

    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        if self.0.rate == 0.0 { 0 } else { self.0.budget(dataset, split) }
    }

    fn strike(&self, scene: &Scene<'_>, seed: u64) -> Result<Change> {
        if self.0.rate == 0.0 {
            return Ok(Change::default());
        }
        let nodes = self.0.nodes(scene, derive(seed, &[0]))?;
        let mut surrogate = Surrogate::train(scene, &nodes, derive(seed, &[1]))?;
        let (mut graph, mut flips) = (scene.dataset.graph().clone(), Vec::new());
        for (done, &node) in nodes.iter().enumerate() {
            scene.watch.step(done, nodes.len())?;
            surrogate.aim_at(node)?;
            for _ in 0..self.0.flips_at(scene.dataset, node) {
                let Some(pair) = best(&surrogate, &graph, node, &flips, self.0.may_isolate) else { break };
                graph = flip(&graph, &[pair])?.graph;
                flips.push(pair);
            }
        }
        Ok(Change { flips, test: Some(nodes), ..Change::default() })
    }
}

/// The pair at a node whose flip raises the loss most; none if all lower it.
fn best(
    surrogate: &Surrogate<'_>,
    graph: &Graph,
    node: u32,
    flipped: &[(u32, u32)],
    may_isolate: bool,
) -> Option<(u32, u32)> {
    let pairs: Vec<(u32, u32)> = (0..graph.num_nodes() as u32)
        .filter(|&other| other != node)
        .map(|other| (node.min(other), node.max(other)))
        .collect();
    let gradient = surrogate.gradient(graph, &pairs, &vec![0.0; pairs.len()]);
    let last = |a: u32| graph.degree(a as usize) <= 1;
    let allowed = |&(a, b): &(u32, u32)| {
        !flipped.contains(&(a, b)) && (may_isolate || !graph.has_edge(a, b) || !(last(a) || last(b)))
    };
    let scored = pairs.into_iter().zip(gradient).filter(|(pair, score)| *score > 0.0 && allowed(pair));
    scored.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(pair, _)| pair)
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "fga",
    summary: "flips the pair with the largest gradient, at chosen nodes",
    random: true,
    defaults: registry::defaults::<FgaConfig>,
    build: registry::build::<FgaConfig>,
};
