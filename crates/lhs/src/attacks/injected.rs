//! Injected heterophily: every test node gets new neighbours of other classes.
//!
//! A test node of degree `d` in the clean graph draws `ceil(rate * max(d, 1))` distinct nodes evenly among
//! those of another class that are not its neighbours (all of them, if there are fewer), and is joined to
//! each with probability `keep`. Edges are only added, and each has a test node at one end. Nodes without
//! a label are neither attacked nor drawn.
//!
//! Every node draws from a generator of its own, so the order of the nodes does not matter.
//! Cost: a constant number of draws per new edge, and one pass over the labels.

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::edges::per_neighbour;
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::Result;
use crate::graph::{Dataset, Labels, Split};
use crate::linalg::random::generator;

/// A hundred new edges for every old one drown any graph; more is a slip of the finger.
const MOST: f64 = 100.0;

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InjectedConfig {
    /// New neighbours drawn per old one, 0..=100; 1 doubles the degree, or nearly.
    pub rate: f64,
    /// Share of the drawn neighbours that are joined, 0..=1.
    pub keep: f64,
}

impl Default for InjectedConfig {
    fn default() -> Self {
        InjectedConfig { rate: 1.0, keep: 0.9 }
    }
}

impl Attack for InjectedConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, MOST)?;
        in_range("keep", self.keep, 1.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        let labelled = split.test.iter().filter(|&&node| dataset.labels().get(node as usize).is_some());
        labelled.map(|&node| per_neighbour(self.rate, dataset.graph().degree(node as usize))).sum()
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let AttackContext { dataset, split, .. } = context;
        let by_class = ByClass::new(dataset.labels());
        let mut flips = Vec::new();
        for &node in &split.test {
            let Some(class) = dataset.labels().get(node as usize) else { continue };
            let neighbours = dataset.graph().neighbours(node as usize);
            let mut rng = generator(seed, u64::from(node));
            for drawn in
                by_class.draw(class, neighbours, per_neighbour(self.rate, neighbours.len()), &mut rng)
            {
                if rng.random_bool(self.keep) {
                    flips.push((node, drawn));
                }
            }
        }
        Ok(flips.into())
    }
}

/// The labelled nodes ordered by class, so that those of all other classes can be drawn from directly.
struct ByClass {
    nodes: Vec<u32>,
    /// Where each class begins, and after the last one the end.
    starts: Vec<u32>,
}

impl ByClass {
    fn new(labels: &Labels) -> Self {
        let mut starts = vec![0];
        for size in labels.class_sizes() {
            starts.push(starts[starts.len() - 1] + size as u32);
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; starts[starts.len() - 1] as usize];
        for node in 0..labels.len() {
            if let Some(class) = labels.get(node) {
                let place = &mut next[class as usize];
                nodes[*place as usize] = node as u32;
                *place += 1;
            }
        }
        ByClass { nodes, starts }
    }

    /// `number` distinct nodes of any class but one, none of them among `excluded`; fewer if there are not
    /// as many.
    fn draw(&self, class: u32, excluded: &[u32], number: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let (start, end) = (self.starts[class as usize], self.starts[class as usize + 1]);
        let others = self.nodes.len() as u32 - (end - start);
        let other =
            |place: u32| self.nodes[(if place < start { place } else { place + end - start }) as usize];
        let mut taken: HashSet<u32> = excluded.iter().copied().collect();
        // Drawing again what is taken is quick while at least half of the nodes are free.
        if 2 * (number + excluded.len()) > others as usize {
            let mut free: Vec<u32> = (0..others).map(other).filter(|node| !taken.contains(node)).collect();
            let number = number.min(free.len());
            return free.partial_shuffle(rng, number).0.to_vec();
        }
        let mut drawn = Vec::with_capacity(number);
        while drawn.len() < number {
            let node = other(rng.random_range(0..others));
            if taken.insert(node) {
                drawn.push(node);
            }
        }
        drawn
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "injected",
    summary: "joins every test node to random nodes of other classes, `rate` per neighbour",
    defaults: registry::defaults::<InjectedConfig>,
    build: registry::build::<InjectedConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_distinct_whether_many_or_few() {
        // Class 1 has three of ten nodes; node 9 has no label, node 8 is excluded.
        let labels = Labels::from_numbers(&[0, 1, 2, 0, 1, 2, 0, 1, 2, -1]).unwrap();
        let by_class = ByClass::new(&labels);
        for (number, drawn_as) in [(1, "by drawing again"), (3, "from a list")] {
            let mut counts = [0usize; 10];
            for stream in 0..6000 {
                let mut drawn = by_class.draw(1, &[8], number, &mut generator(1, stream));
                drawn.iter().for_each(|&node| counts[node as usize] += 1);
                drawn.sort_unstable();
                drawn.dedup();
                assert_eq!(drawn.len(), number, "{drawn_as}");
            }
            let expected = 6000 * number / 5;
            for node in [0, 2, 3, 5, 6] {
                assert!(counts[node].abs_diff(expected) < expected / 10, "{drawn_as}: {counts:?}");
            }
            assert_eq!([1, 4, 7, 8, 9].map(|node| counts[node]), [0; 5], "{drawn_as}");
        }
        assert_eq!(by_class.draw(1, &[8], 50, &mut generator(1, 0)).len(), 5, "there are no more");
    }
}
