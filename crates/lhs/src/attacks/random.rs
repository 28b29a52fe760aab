//! Random edges: the least that an attacker can do, and the yardstick for every other attack.
//!
//! `rate` of the edges are flipped: pairs without an edge get one (`add`), edges go (`remove`), or half of the flips
//! each (`flip`). No node loses its last edge unless `may_isolate`. Cost: a constant number of draws per flip.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::edges::{EdgeEdits, share_of_edges, too_few};
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::Result;
use crate::graph::{Dataset, Split};
use crate::linalg::random::generator;

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// What is done: `add`, `remove` or `flip`.
    pub mode: Mode,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

/// What is done to edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// New edges.
    Add,
    /// Edges go.
    Remove,
    /// As many of the one as of the other.
    Flip,
}

impl Default for RandomConfig {
    fn default() -> Self {
        RandomConfig { rate: 0.25, mode: Mode::Flip, may_isolate: false }
    }
}

impl Attack for RandomConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let budget = self.budget(context.dataset, context.split);
        let removals = match self.mode {
            Mode::Add => 0,
            Mode::Remove => budget,
            Mode::Flip => budget / 2,
        };
        let mut edits = EdgeEdits::new(context.dataset.graph(), self.may_isolate);
        remove(&mut edits, |_, _| true, removals, seed)?;
        add(&mut edits, |_, _| true, budget - removals, seed)?;
        Ok(edits.into_flips().into())
    }
}

/// Removes `count` of the edges that `may` go, drawn evenly.
pub(super) fn remove(
    edits: &mut EdgeEdits<'_>,
    may: impl Fn(u32, u32) -> bool,
    count: usize,
    seed: u64,
) -> Result<()> {
    let mut edges: Vec<(u32, u32)> = edits.clean().edges().filter(|&(a, b)| may(a, b)).collect();
    edges.shuffle(&mut generator(seed, 0));
    let before = edits.len();
    for (a, b) in edges {
        if edits.len() - before == count {
            return Ok(());
        }
        edits.flip(a, b);
    }
    let found = edits.len() - before;
    if found < count { Err(too_few(found, count, "of the edges that may go")) } else { Ok(()) }
}

/// Joins `count` of the pairs that `may` be joined, drawn evenly.
pub(super) fn add(
    edits: &mut EdgeEdits<'_>,
    may: impl Fn(u32, u32) -> bool,
    count: usize,
    seed: u64,
) -> Result<()> {
    let graph = edits.clean();
    let nodes = graph.num_nodes() as u32;
    let mut rng = generator(seed, 1);
    let goal = edits.len() + count;
    // Drawing again what is taken is quick until nearly every pair is.
    let mut patience = 100 * (count + 100);
    while edits.len() < goal && patience > 0 {
        let (a, b) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
        if may(a, b) && !graph.has_edge(a, b) {
            edits.flip(a, b);
        }
        patience -= 1;
    }
    if edits.len() == goal {
        return Ok(());
    }
    let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    let mut free: Vec<(u32, u32)> = pairs.filter(|&(a, b)| may(a, b) && !graph.has_edge(a, b)).collect();
    free.shuffle(&mut rng);
    for (a, b) in free {
        if edits.len() == goal {
            return Ok(());
        }
        edits.flip(a, b);
    }
    let found = count - (goal - edits.len());
    if found < count { Err(too_few(found, count, "of the pairs that may be joined")) } else { Ok(()) }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "random",
    summary: "flips pairs at random: mode add, remove or flip",
    defaults: registry::defaults::<RandomConfig>,
    build: registry::build::<RandomConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn modes_add_and_remove_what_they_say() {
        let dataset = SynthConfig { nodes: 120, ..SynthConfig::default() }.generate(0).unwrap();
        let context = AttackContext::new(&dataset, &dataset.splits()[0]);
        let budget = share_of_edges(0.2, dataset.graph());
        for (mode, added, removed) in
            [(Mode::Add, budget, 0), (Mode::Remove, 0, budget), (Mode::Flip, budget - budget / 2, budget / 2)]
        {
            let record =
                RandomConfig { rate: 0.2, mode, may_isolate: false }.perturb(&context, 1).unwrap().record;
            assert_eq!((record.edges_added, record.edges_removed), (added, removed), "{mode:?}");
        }
        let all = RandomConfig { rate: 1.0, mode: Mode::Remove, may_isolate: false };
        let error = all.perturb(&context, 0).unwrap_err().to_string();
        assert!(error.contains("can be flipped"), "{error}");
        let isolated = RandomConfig { may_isolate: true, ..all }.perturb(&context, 0).unwrap();
        assert_eq!(isolated.dataset.graph().num_edges(), 0);
    }

    #[test]
    fn nearly_full_graphs_are_filled_up() {
        let mut pairs: Vec<(u32, u32)> = (0..40).flat_map(|a| (a + 1..40).map(move |b| (a, b))).collect();
        pairs.truncate(600);
        let parts = SynthConfig { nodes: 40, ..SynthConfig::default() }.generate(0).unwrap();
        let graph = crate::graph::Graph::from_edges(40, &pairs).unwrap().0;
        let dataset = parts.with_graph(graph).unwrap();
        let context = AttackContext::new(&dataset, &dataset.splits()[0]);
        let attack = |rate| RandomConfig { rate, mode: Mode::Add, may_isolate: false };
        assert_eq!(attack(0.3).perturb(&context, 0).unwrap().record.edges_added, 180, "all that are free");
        assert!(attack(0.31).perturb(&context, 0).unwrap_err().to_string().contains("only 180"));
    }
}
