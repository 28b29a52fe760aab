//! Candidates for flipping, each with the share by which it is flipped: all pairs of nodes, or as many as are drawn.
//!
//! Pairs are numbered row by row. A draw of `k` cuts the numbers into `k` stretches of one length and takes one of each, at a
//! place that is a hash of seed and stretch: every pair is as likely as any other, and they come in order, so that nothing has to be
//! sorted or looked up. Cost: `O(n + k)`.

use crate::linalg::random::derive;

/// A share up to this counts as none.
const NOTHING: f32 = 1e-7;

/// Candidates with their shares.
pub(super) struct Block {
    nodes: usize,
    size: usize,
    seed: u64,
    /// How often pairs were drawn.
    draws: u64,
    /// Distinct pairs `(low, high)`, ascending.
    pub(super) pairs: Vec<(u32, u32)>,
    /// 0..=1 each.
    pub(super) shares: Vec<f32>,
}

impl Block {
    /// So many pairs, or all that there are, with shares of 0.
    pub(super) fn new(nodes: usize, size: usize, seed: u64) -> Self {
        let size = size.min(num_pairs(nodes));
        let mut block = Block { nodes, size, seed, draws: 0, pairs: Vec::new(), shares: Vec::new() };
        block.fill();
        block
    }

    /// Draws new pairs, but for those that are there already.
    fn fill(&mut self) {
        let kept = std::mem::take(&mut self.pairs).into_iter().zip(std::mem::take(&mut self.shares));
        let mut kept = kept.peekable();
        let seed = derive(self.seed, &[self.draws]);
        self.draws += 1;
        for pair in drawn(self.nodes, self.size - kept.len(), seed) {
            while let Some((before, share)) = kept.next_if(|(old, _)| *old <= pair) {
                self.pairs.push(before);
                self.shares.push(share);
            }
            if self.pairs.last() != Some(&pair) {
                self.pairs.push(pair);
                self.shares.push(0.0);
            }
        }
        let (pairs, shares): (Vec<_>, Vec<_>) = kept.unzip();
        self.pairs.extend(pairs);
        self.shares.extend(shares);
    }

    /// Replaces the pairs without a share, and at least half of all, by new ones.
    pub(super) fn renew(&mut self) {
        if self.size == num_pairs(self.nodes) {
            return;
        }
        let mut kept = self.shared();
        if kept.len() > self.size / 2 {
            kept.sort_by(|&a, &b| self.shares[b].total_cmp(&self.shares[a]));
            kept.truncate(self.size / 2);
            kept.sort_unstable();
        }
        self.pairs = kept.iter().map(|&place| self.pairs[place]).collect();
        self.shares = kept.iter().map(|&place| self.shares[place]).collect();
        self.fill();
    }

    /// Places of those that have a share.
    fn shared(&self) -> Vec<usize> {
        (0..self.pairs.len()).filter(|&place| self.shares[place] > NOTHING).collect()
    }

    /// A step along the gradient, and back to where shares may be.
    pub(super) fn climb(&mut self, gradient: &[f32], step: f32, budget: usize) {
        self.shares.iter_mut().zip(gradient).for_each(|(share, slope)| *share += step * slope);
        project(&mut self.shares, budget as f64);
    }

    /// The pairs with the largest shares first; those without come last, in an order of chance.
    pub(super) fn by_share(&self) -> impl Iterator<Item = (u32, u32)> {
        self.ranked(derive(self.seed, &[u64::MAX]), |share, _| -share)
    }

    /// The pairs in an order of chance: how likely one is to come early goes by its share. The first few are a sample of that size
    /// (sequential Poisson sampling, Ohlsson 1998).
    pub(super) fn sampled(&self, draw: u64) -> impl Iterator<Item = (u32, u32)> {
        self.ranked(derive(self.seed, &[u64::MAX, draw]), |share, chance| chance / share)
    }

    /// By a key made of a share and a number in 0..1.
    fn ranked(&self, seed: u64, key: impl Fn(f32, f32) -> f32) -> impl Iterator<Item = (u32, u32)> {
        let chance = move |place: usize| (derive(seed, &[place as u64]) >> 40) as f32 / (1 << 24) as f32;
        let keyed = |&place: &usize| (key(self.shares[place], chance(place)), place);
        let mut shared: Vec<(f32, usize)> = self.shared().iter().map(keyed).collect();
        shared.sort_by(|a, b| a.0.total_cmp(&b.0));
        let others = std::iter::once_with(move || {
            let others = (0..self.pairs.len()).filter(|&place| self.shares[place] <= NOTHING);
            let mut others: Vec<usize> = others.collect();
            others.sort_by(|&a, &b| chance(a).total_cmp(&chance(b)));
            others
        });
        shared.into_iter().map(|(_, place)| place).chain(others.flatten()).map(|place| self.pairs[place])
    }
}

/// How many pairs so many nodes make.
pub(super) fn num_pairs(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}

/// So many pairs, ascending: one of each stretch of their numbers. Where a stretch ends between two numbers, the next may draw the same pair
/// again.
fn drawn(nodes: usize, count: usize, seed: u64) -> impl Iterator<Item = (u32, u32)> {
    let number = move |stretch: usize| {
        let place = (stretch as u128) << 32 | u128::from(derive(seed, &[stretch as u64]) >> 32);
        ((place * num_pairs(nodes) as u128 / count as u128) >> 32) as usize
    };
    let (mut low, mut row_ends) = (0, nodes.saturating_sub(1));
    (0..count).map(number).map(move |number| {
        while number >= row_ends {
            low += 1;
            row_ends += nodes - 1 - low;
        }
        (low as u32, (nodes + number - row_ends) as u32)
    })
}

/// The nearest shares in 0..=1 whose sum is at most the budget.
fn project(shares: &mut [f32], budget: f64) {
    // Whoever is not above the shift adds nothing, at a larger one neither.
    let mut above: Vec<f32> = shares.iter().copied().filter(|share| *share > 0.0).collect();
    let sum = |above: &[f32], shift: f32| {
        above.iter().map(|share| f64::from((share - shift).clamp(0.0, 1.0))).sum::<f64>()
    };
    let mut shift = 0.0f32;
    if sum(&above, 0.0) > budget {
        let mut low = 0.0f32;
        shift = above.iter().copied().fold(0.0, f32::max);
        for _ in 0..40 {
            let middle = 0.5 * (low + shift);
            if sum(&above, middle) > budget {
                low = middle;
                above.retain(|share| *share > low);
            } else {
                shift = middle;
            }
        }
    }
    shares.iter_mut().for_each(|share| *share = (*share - shift).clamp(0.0, 1.0));
}

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
    fn all_pairs_are_drawn_where_there_are_no_more_and_alike_often_where_there_are() {
        let all: Vec<(u32, u32)> = (0..9).flat_map(|a| (a + 1..9).map(move |b| (a, b))).collect();
        assert_eq!(Block::new(9, 1000, 3).pairs, all);
        let mut found = vec![0; all.len()];
        for seed in 0..3600 {
            for pair in drawn(9, 7, seed) {
                found[all.binary_search(&pair).unwrap()] += 1;
            }
        }
        assert!(found.iter().all(|times| (620..780).contains(times)), "{found:?}");
    }

    #[test]
    fn a_renewed_block_keeps_what_has_a_share() {
        let mut block = Block::new(40, 100, 1);
        block.shares[17] = 0.5;
        let (kept, others) = (block.pairs[17], block.pairs.clone());
        block.renew();
        let place = block.pairs.binary_search(&kept).unwrap();
        assert_eq!((block.shares[place], block.shares.iter().sum::<f32>()), (0.5, 0.5));
        assert!(block.pairs.is_sorted_by(|a, b| a < b) && block.pairs.len() >= 99, "{:?}", block.pairs);
        assert!(others.iter().filter(|pair| block.pairs.contains(pair)).count() < 30);
        block.shares.fill(0.1);
        block.renew();
        assert_eq!(block.shares.iter().filter(|share| **share > 0.0).count(), 50, "half is new");
    }

    #[test]
    fn samples_go_by_shares() {
        let mut block = Block::new(40, 100, 1);
        block.shares[..4].copy_from_slice(&[0.9, 0.5, 0.1, 1.0]);
        let top: Vec<(u32, u32)> = block.by_share().take(5).collect();
        assert_eq!(top[..4], [3, 0, 1, 2].map(|place| block.pairs[place]));
        assert!(!block.pairs[..4].contains(&top[4]));
        let times = |place: usize| {
            (0..1000)
                .filter(|&draw| block.sampled(draw).take(2).any(|pair| pair == block.pairs[place]))
                .count()
        };
        let times = [0, 1, 2, 3].map(times);
        assert!(times[3] > times[0] && times[0] > times[1] && times[1] > 4 * times[2], "{times:?}");
        assert_eq!(times.iter().sum::<usize>(), 2000, "nothing without a share");
        assert_eq!(block.sampled(7).count(), 100);
    }
}
