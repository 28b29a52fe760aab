//! Learning on several versions of a graph at once.
//!
//! Beside the graph of a task there may be copies of it: the same nodes in the same order, other edges, such as those an
//! attacker left. The loss of a step is `(1 - w) · the graph's + w · that of one copy`, which is drawn anew each time; early
//! stopping looks at such a mixture, too, of the graph and of the copies that are there to judge by.
//! Cost: two steps instead of one, and a forward pass for each judge.

use super::{Network, Objective, Score, Supervised, Task, TrainingConfig};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::random::hash;

/// Versions of a task's graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copies<'a> {
    /// One of these is learned on in each step.
    pub train: &'a [Graph],
    /// Early stopping looks at all of these.
    pub val: &'a [Graph],
    /// How much copies count in learning, 0..=1; the graph itself counts the rest.
    pub weight: f32,
    /// How much those that early stopping looks at count there, likewise.
    pub val_weight: f32,
}

/// What belongs to each copy, such as a network on it.
#[derive(Clone, Debug)]
pub struct OfCopies<T> {
    /// Of those that are learned on.
    pub train: Vec<T>,
    /// Of those that early stopping looks at.
    pub val: Vec<T>,
    /// How much the first count.
    pub weight: f32,
    /// How much the others count.
    pub val_weight: f32,
}

impl Copies<'_> {
    /// Makes something of each copy.
    pub fn map<T>(&self, mut make: impl FnMut(&Graph) -> Result<T>) -> Result<OfCopies<T>> {
        let mut of = |graphs: &[Graph]| graphs.iter().map(&mut make).collect::<Result<Vec<T>>>();
        let (weight, val_weight) = (self.weight, self.val_weight);
        Ok(OfCopies { train: of(self.train)?, val: of(self.val)?, weight, val_weight })
    }
}

impl<T> OfCopies<T> {
    /// Where there are no copies.
    pub fn none() -> Self {
        OfCopies { train: Vec::new(), val: Vec::new(), weight: 0.0, val_weight: 0.0 }
    }

    /// Makes something else of each.
    pub fn map<'a, U>(&'a self, make: impl Fn(&'a T) -> U) -> OfCopies<U> {
        OfCopies {
            train: self.train.iter().map(&make).collect(),
            val: self.val.iter().map(&make).collect(),
            weight: self.weight,
            val_weight: self.val_weight,
        }
    }

    /// How much the graph itself counts where early stopping looks.
    pub fn weight_of_graph(&self) -> f32 {
        if self.val.is_empty() { 1.0 } else { 1.0 - self.val_weight }
    }

    /// How much each judge counts there; the graph itself counts the rest.
    pub fn weight_of_judge(&self) -> f32 {
        if self.val.is_empty() { 0.0 } else { self.val_weight / self.val.len() as f32 }
    }
}

/// The objective of a network on a graph and on its copies.
pub struct Mixture<'a, N> {
    itself: Supervised<'a, N>,
    copies: OfCopies<Supervised<'a, N>>,
}

impl<'a, N: Network> Mixture<'a, N> {
    /// Learns from the training nodes of a task, in all versions of its graph.
    pub fn new(
        network: &'a N,
        copies: &'a OfCopies<N>,
        task: &Task<'_>,
        config: &TrainingConfig,
    ) -> Result<Self> {
        let of = |networks: &'a [N]| {
            networks.iter().map(|network| Supervised::new(network, task, config)).collect::<Result<Vec<_>>>()
        };
        let (train, val) = (of(&copies.train)?, of(&copies.val)?);
        let copies = OfCopies { train, val, weight: copies.weight, val_weight: copies.val_weight };
        Ok(Mixture { itself: Supervised::new(network, task, config)?, copies })
    }
}

impl<N: Network> Objective for Mixture<'_, N> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let OfCopies { train, weight, .. } = &self.copies;
        if train.is_empty() || *weight == 0.0 {
            return self.itself.loss(parameters, seed);
        }
        let drawn = &train[hash(seed, u32::MAX) as usize % train.len()];
        let of_copy = drawn.loss(parameters, seed);
        if *weight == 1.0 {
            return of_copy;
        }
        self.itself.loss(parameters, seed).scale(1.0 - weight).add(&of_copy.scale(*weight))
    }

    fn num_examples(&self) -> usize {
        self.itself.num_examples()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        let share = self.copies.weight_of_judge();
        let own = self.copies.weight_of_graph();
        if share == 0.0 {
            return self.itself.score(parameters);
        }
        let mut sum: Option<Score> = None;
        let itself = (own > 0.0).then_some((own, &self.itself));
        for (share, judge) in itself.into_iter().chain(self.copies.val.iter().map(|judge| (share, judge))) {
            let score = judge.score(parameters)?;
            let value = |sum: Option<f32>| Some(sum? + share * score.value?);
            sum = Some(match sum {
                None => Score {
                    accuracy: share * score.accuracy,
                    loss: share * score.loss,
                    value: score.value.map(|value| share * value),
                },
                Some(sum) => Score {
                    accuracy: sum.accuracy + share * score.accuracy,
                    loss: sum.loss + share * score.loss,
                    value: value(sum.value),
                },
            });
        }
        sum
    }
}
