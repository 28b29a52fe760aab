//! FGA: the fast gradient attack at chosen nodes (Chen et al. 2018).
//!
//! For each node in turn, flip by flip: of all pairs with the node at one end, the one with the largest gradient of the
//! surrogate's loss at that node is flipped. The graph stays changed for the nodes that follow. Only the nodes attacked
//! are scored. Cost: one gradient, `O(m h)`, per flip.

use serde::{Deserialize, Serialize};

use super::edges::EdgeEdits;
use super::surrogate::{Surrogate, labelled};
use super::targets::{Target, TargetedConfig};
use super::{Attack, AttackContext, AttackKind, Change, registry};
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
        self.0.budget(dataset, split)
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        if self.0.rate == 0.0 {
            return Ok(Change::default());
        }
        let nodes = self.0.nodes(context, derive(seed, &[0]))?;
        labelled(context, &nodes)?;
        let surrogate = Surrogate::train(context, derive(seed, &[1]))?;
        self.0.plan(context, nodes, |graph, target, edits| best(&surrogate, graph, target, edits))
    }
}

/// The other end of the pair at a node whose flip raises the loss most; none if all lower it.
fn best(surrogate: &Surrogate<'_>, graph: &Graph, target: Target, edits: &EdgeEdits<'_>) -> Option<u32> {
    let node = target.node;
    let others: Vec<u32> = (0..graph.num_nodes() as u32).filter(|&other| other != node).collect();
    let pairs: Vec<(u32, u32)> = others.iter().map(|&other| (node.min(other), node.max(other))).collect();
    let gradient = surrogate.gradient_at(target, graph, &pairs);
    let scored = others.into_iter().zip(gradient);
    let allowed = scored.filter(|(other, score)| *score > 0.0 && edits.may_flip(node, *other));
    allowed.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(other, _)| other)
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "fga",
    summary: "flips the pair with the largest gradient, at chosen nodes",
    defaults: registry::defaults::<FgaConfig>,
    build: registry::build::<FgaConfig>,
};
