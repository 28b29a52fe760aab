//! Projected gradient attacks on the edges: PGD (Xu et al. 2019) over all pairs, and PRBCD (Geisler et al. 2021) over a
//! block of random pairs that is renewed as it goes.
//!
//! Each candidate has a share `p` of being flipped. A step climbs the surrogate's loss, `p ← p + η ∇`, and projects back
//! to `0 ≤ p ≤ 1`, `Σp ≤ budget`. In PRBCD, candidates whose share is back at 0 are then replaced by new random ones, so
//! that nothing of size `n²` is ever stored. In the end the pairs with the largest shares are flipped, as many as the
//! budget says. Cost per step: `O((m + block) h)`.

use std::collections::HashSet;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::edges::{EdgeEdits, share_of_edges, too_few};
use super::surrogate::Surrogate;
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::random::{derive, generator};
use crate::models::relaxed::Relaxed;

/// A share below this counts as none.
const NOTHING: f32 = 1e-7;
/// The length of a step, per flip in the budget and per node.
const STEP: f64 = 1000.0;
/// PGD keeps every pair: more nodes than this need another attack.
const MOST_NODES: usize = 3000;

/// Settings of PRBCD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrbcdConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Pairs that are looked at together, 1 or more.
    pub block: usize,
    /// Steps in which the block is renewed.
    pub steps: usize,
    /// Steps after that.
    pub last_steps: usize,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

/// Settings of PGD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PgdConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Steps.
    pub steps: usize,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

impl Default for PrbcdConfig {
    fn default() -> Self {
        PrbcdConfig { rate: 0.05, block: 250_000, steps: 100, last_steps: 25, may_isolate: false }
    }
}

impl Default for PgdConfig {
    fn default() -> Self {
        PgdConfig { rate: 0.05, steps: 100, may_isolate: false }
    }
}

impl Attack for PrbcdConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        if self.block == 0 {
            return Err(Error::setting("block", "0 is out of range", "choose 1 or more"));
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let budget = self.budget(context.dataset, context.split);
        // Fewer candidates than flips could not spend the budget.
        let size = self.block.max(2 * budget).min(num_pairs(context.dataset.num_nodes()));
        let block = Block::drawn(context.dataset.num_nodes() as u32, size, derive(seed, &[2]));
        let climb = Climb { renewing: self.steps, steps: self.steps + self.last_steps, budget };
        climb.run(context, block, self.may_isolate, seed)
    }
}

impl Attack for PgdConfig {
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
        let nodes = context.dataset.num_nodes();
        if nodes > MOST_NODES {
            return Err(Error::data(
                format!("pgd looks at all pairs of nodes, which is too much for {nodes} nodes"),
                format!("prbcd does the same for more than {MOST_NODES}"),
            ));
        }
        let budget = self.budget(context.dataset, context.split);
        let climb = Climb { renewing: 0, steps: self.steps, budget };
        climb.run(context, Block::of_all(nodes as u32), self.may_isolate, seed)
    }
}

/// Candidates with their shares.
struct Block {
    nodes: u32,
    /// Distinct pairs `(low, high)`.
    pairs: Vec<(u32, u32)>,
    shares: Vec<f32>,
    rng: ChaCha8Rng,
}

impl Block {
    fn of_all(nodes: u32) -> Self {
        let pairs: Vec<(u32, u32)> = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect();
        let shares = vec![0.0; pairs.len()];
        Block { nodes, pairs, shares, rng: generator(0, 0) }
    }

    fn drawn(nodes: u32, size: usize, seed: u64) -> Self {
        if size == num_pairs(nodes as usize) {
            return Self::of_all(nodes);
        }
        let mut block = Block { nodes, pairs: Vec::new(), shares: Vec::new(), rng: generator(seed, 0) };
        block.fill(size);
        block
    }

    /// Draws new pairs until there are `size`.
    fn fill(&mut self, size: usize) {
        let mut known: HashSet<(u32, u32)> = self.pairs.iter().copied().collect();
        while self.pairs.len() < size {
            let (a, b) = (self.rng.random_range(0..self.nodes), self.rng.random_range(0..self.nodes));
            let pair = (a.min(b), a.max(b));
            if a != b && known.insert(pair) {
                self.pairs.push(pair);
            }
        }
        self.shares.resize(size, 0.0);
    }

    /// Replaces the pairs with the smallest shares, at least half of the block, by new ones.
    fn renew(&mut self) {
        let size = self.pairs.len();
        if size == num_pairs(self.nodes as usize) {
            return;
        }
        let order = self.by_share();
        let kept = order.iter().take(size / 2).filter(|&&place| self.shares[place] > NOTHING);
        let kept: Vec<usize> = kept.copied().collect();
        self.pairs = kept.iter().map(|&place| self.pairs[place]).collect();
        self.shares = kept.iter().map(|&place| self.shares[place]).collect();
        self.fill(size);
    }

    /// Places in the block, the largest share first.
    fn by_share(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        order.sort_by(|&a, &b| self.shares[b].total_cmp(&self.shares[a]));
        order
    }

    fn climb(&mut self, gradient: &[f32], step: f32, budget: usize) {
        self.shares.iter_mut().zip(gradient).for_each(|(share, slope)| *share += step * slope);
        project(&mut self.shares, budget as f64);
    }
}

fn num_pairs(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}

/// The nearest shares in 0..=1 whose sum is at most the budget.
fn project(shares: &mut [f32], budget: f64) {
    let sum = |shift: f32| shares.iter().map(|share| f64::from((share - shift).clamp(0.0, 1.0))).sum::<f64>();
    let mut shift = 0.0f32;
    if sum(0.0) > budget {
        let (mut low, mut high) = (0.0f32, shares.iter().copied().fold(0.0, f32::max));
        for _ in 0..40 {
            shift = 0.5 * (low + high);
            if sum(shift) > budget { low = shift } else { high = shift }
        }
        shift = high;
    }
    shares.iter_mut().for_each(|share| *share = (*share - shift).clamp(0.0, 1.0));
}

/// How to climb.
struct Climb {
    /// Steps after which the block is renewed.
    renewing: usize,
    steps: usize,
    budget: usize,
}

impl Climb {
    fn run(
        &self,
        context: &AttackContext<'_>,
        mut block: Block,
        may_isolate: bool,
        seed: u64,
    ) -> Result<Change> {
        if self.budget == 0 {
            return Ok(Change::default());
        }
        let graph = context.dataset.graph();
        let surrogate = Surrogate::train(context, &context.split.test, derive(seed, &[1]))?;
        let per_step = STEP * self.budget as f64 / context.dataset.num_nodes() as f64;
        let mut relaxed = Relaxed::new(graph, &block.pairs);
        for step in 0..self.steps {
            context.step(step, self.steps)?;
            let slow = ((step + 1).saturating_sub(self.renewing).max(1) as f64).sqrt();
            let gradient = surrogate.gradient(&relaxed, &block.shares);
            block.climb(&gradient, (per_step / slow) as f32, self.budget);
            if step < self.renewing {
                block.renew();
                relaxed = Relaxed::new(graph, &block.pairs);
            }
        }
        let mut edits = EdgeEdits::new(graph, may_isolate);
        for place in block.by_share() {
            if edits.len() == self.budget {
                break;
            }
            edits.flip(block.pairs[place].0, block.pairs[place].1);
        }
        if edits.len() < self.budget {
            return Err(too_few(edits.len(), self.budget, "of the candidates"));
        }
        Ok(edits.into_flips().into())
    }
}

/// PRBCD in the list of attacks.
pub const PRBCD: AttackKind = AttackKind {
    name: "prbcd",
    summary: "climbs the loss of a graph convolution over blocks of random pairs",
    defaults: registry::defaults::<PrbcdConfig>,
    build: registry::build::<PrbcdConfig>,
};

/// PGD in the list of attacks.
pub const PGD: AttackKind = AttackKind {
    name: "pgd",
    summary: "climbs the loss of a graph convolution over all pairs (small graphs)",
    defaults: registry::defaults::<PgdConfig>,
    build: registry::build::<PgdConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projection_keeps_the_budget_and_the_order() {
        let mut shares = vec![3.0, 0.9, 0.5, -1.0, 0.2];
        project(&mut shares, 1.5);
        let sum: f32 = shares.iter().sum();
        assert!((sum - 1.5).abs() < 1e-4 && shares[0] == 1.0 && shares[3] == 0.0, "{shares:?}");
        assert!(shares[0] > shares[1] && shares[1] > shares[2]);
        let mut few = vec![0.25, -0.5, 2.0];
        project(&mut few, 5.0);
        assert_eq!(few, [0.25, 0.0, 1.0]);
    }

    #[test]
    fn a_renewed_block_keeps_what_has_a_share() {
        let mut block = Block::drawn(40, 100, 1);
        block.shares[17] = 0.5;
        let kept = block.pairs[17];
        block.renew();
        assert_eq!((block.pairs.len(), block.pairs[0], block.shares[0]), (100, kept, 0.5));
        let distinct: HashSet<_> = block.pairs.iter().collect();
        assert_eq!(distinct.len(), 100);
    }
}
