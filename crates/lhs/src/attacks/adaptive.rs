//! An attack that knows the defence: test nodes take on the neighbourhoods of other classes.
//!
//! LHS looks at whom a node is joined to, so random foreign neighbours are noise to it, but the neighbours of *one*
//! foreign node are a signal: joined to them, a test node looks like that node, in its adjacency profile and in the
//! latent graph. Each test node of degree `d` may be joined to `ceil(rate * max(d, 1))` nodes: the neighbours of a donor
//! of another class, and of further donors of that class if they do not suffice. The attacker may ask the victim: in
//! each of `queries` rounds all test nodes try a new donor at once, and each keeps the one with which the victim gave
//! its class the least probability. Without a victim, LHS with default settings is trained and asked.
//! Cost: `queries` predictions.

use std::collections::HashSet;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Attack, AttackContext, AttackKind, Change, edges, in_range, registry};
use crate::error::Result;
use crate::graph::{Dataset, Split};
use crate::linalg::random::{derive, generator};
use crate::models::lhs::{FittedLhs, Lhs};
use crate::models::{Model, NodeClassifier};
use crate::training::{Session, Task};

/// Donors tried before a node gives up finding neighbours.
const PATIENCE: usize = 200;

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveConfig {
    /// New neighbours per old one, 0..=100.
    pub rate: f64,
    /// How often the victim is asked; 0 takes the first donor.
    pub queries: usize,
}

impl Default for AdaptiveConfig {
    fn default() -> Self {
        AdaptiveConfig { rate: 1.0, queries: 8 }
    }
}

impl AdaptiveConfig {
    fn edges_at(&self, dataset: &Dataset, node: u32) -> usize {
        let most = dataset.num_nodes().saturating_sub(1 + dataset.graph().degree(node as usize));
        edges::per_neighbour(self.rate, dataset.graph().degree(node as usize)).min(most)
    }

    /// New neighbours for one node: those of nodes of one other class.
    fn mimicry(&self, dataset: &Dataset, node: u32, seed: u64) -> Vec<u32> {
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let Some(own) = labels.get(node as usize) else { return Vec::new() };
        let wanted = self.edges_at(dataset, node);
        let mut rng = generator(seed, u64::from(node));
        let mut taken: HashSet<u32> = graph.neighbours(node as usize).iter().copied().chain([node]).collect();
        let (mut copied, mut class) = (Vec::new(), None);
        for _ in 0..PATIENCE {
            let donor = rng.random_range(0..dataset.num_nodes());
            let Some(other) = labels.get(donor).filter(|&other| other != own) else { continue };
            if *class.get_or_insert(other) != other {
                continue;
            }
            let mut offered = graph.neighbours(donor).to_vec();
            while copied.len() < wanted && !offered.is_empty() {
                let neighbour = offered.swap_remove(rng.random_range(0..offered.len()));
                if taken.insert(neighbour) {
                    copied.push(neighbour);
                }
            }
            if copied.len() == wanted {
                break;
            }
        }
        copied
    }
}

impl Attack for AdaptiveConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 100.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        split.test.iter().map(|&node| self.edges_at(dataset, node)).sum()
    }

    fn looks_at_victim(&self) -> bool {
        true
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        if self.rate == 0.0 {
            return Ok(Change::default());
        }
        let AttackContext { dataset, split, .. } = *context;
        let draw = |query: usize| -> Vec<Vec<u32>> {
            let seed = derive(seed, &[query as u64]);
            split.test.iter().map(|&node| self.mimicry(dataset, node, seed)).collect()
        };
        let mut best = draw(0);
        if self.queries > 0 {
            let trained = if context.victim.is_none() { Some(stand_in(context, seed)?) } else { None };
            let victim = context.victim.or(trained.as_ref().map(|model| model as &dyn NodeClassifier));
            let mut least = vec![f32::INFINITY; split.test.len()];
            for query in 0..self.queries {
                context.step(query, self.queries)?;
                let tried = draw(query);
                let Some(victim) = victim else { break };
                let flipped = edges::flip(context.graph(), &pairs(split, &tried))?.graph;
                let probabilities = victim.predict(&flipped, dataset.features())?;
                for (place, candidate) in tried.into_iter().enumerate() {
                    let node = split.test[place] as usize;
                    let Some(class) = dataset.labels().get(node) else { continue };
                    let own = probabilities.get(node, class as usize);
                    if own < least[place] {
                        (least[place], best[place]) = (own, candidate);
                    }
                }
            }
        }
        Ok(pairs(split, &best).into())
    }
}

/// LHS with default settings, trained on the clean data.
fn stand_in(context: &AttackContext<'_>, seed: u64) -> Result<FittedLhs> {
    let task = Task::new(context.dataset, context.split)?;
    let mut session = Session::watched_by(context.observer);
    Lhs::default().fit_with(&task, derive(seed, &[u64::MAX]), &mut session)
}

fn pairs(split: &Split, neighbours: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let of =
        |(&node, others): (&u32, &Vec<u32>)| others.iter().map(|&other| (node, other)).collect::<Vec<_>>();
    let mut pairs: Vec<(u32, u32)> = split.test.iter().zip(neighbours).flat_map(of).collect();
    // Two test nodes may choose each other: one edge, not an edge that comes and goes.
    pairs.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "adaptive",
    summary: "gives test nodes the neighbours of other classes, and asks the victim which work best",
    defaults: registry::defaults::<AdaptiveConfig>,
    build: registry::build::<AdaptiveConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn a_node_copies_neighbours_of_one_other_class() {
        let dataset =
            SynthConfig { nodes: 200, homophily: 0.1, ..SynthConfig::default() }.generate(0).unwrap();
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let attack = AdaptiveConfig { rate: 0.5, queries: 0 };
        for node in 0..50u32 {
            let copied = attack.mimicry(&dataset, node, 1);
            assert_eq!(copied.len(), attack.edges_at(&dataset, node));
            let donors_of = |class: u32| {
                let shared = |neighbour: &u32| {
                    graph
                        .neighbours(*neighbour as usize)
                        .iter()
                        .any(|&n| labels.get(n as usize) == Some(class))
                };
                copied.iter().all(shared)
            };
            assert!((0..labels.num_classes() as u32).any(donors_of), "node {node}");
        }
    }
}
