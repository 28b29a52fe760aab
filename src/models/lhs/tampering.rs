//! Whether the edges around the training nodes look tampered with, and which edges to leave out if so.
//!
//! Whoever poisons a graph knows the training labels, and makes the edges of training nodes tell a story that does not
//! hold elsewhere. The sign: a ridge classifier on adjacency profiles is right at training nodes, each left out of
//! its own classifier, much more often than at validation nodes. Then the edges with the least support
//! ([`crate::graph::support`], the training nodes being marked) are left out, as many as serve the validation nodes best, by
//! the vote of the nearest training nodes in adjacency profiles. (The ridge classifier is a poor judge of that: it hardly
//! gets better on Squirrel when most of what was added is gone.) Without the sign, nothing is left out and nothing costs.
//! Cost: one factorisation, `O(n_train d²)`; on suspicion one truncated SVD for each of the candidates.

use std::borrow::Cow;

use super::trust::{PENALTY, class_targets, leave_one_out_accuracy};
use super::{LhsConfig, Task};
use crate::error::Result;
use crate::graph::support::{edge_support, supported};
use crate::graph::{Graph, Labelled};
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::structure::agreement::vote_at;
use crate::structure::views::{Basis, View};
use crate::training::argmax;

/// How many standard errors the training nodes must be ahead of the validation nodes.
const CLEAR: f32 = 4.0;
/// Shares of the edges that may be left out.
const SHARES: [f32; 5] = [0.05, 0.1, 0.15, 0.2, 0.3];
/// How many training nodes vote on the class of a validation node; the mean of several votes is a steadier judge than one.
const VOTERS: [usize; 3] = [1, 3, 5];

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tampering {
    /// Edges with less support are left out; 0 keeps all.
    pub least_support: f32,
    /// The sign, if there is one.
    pub sign: Option<Sign>,
}

/// What the edges tell of training nodes and hide of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sign {
    /// Share of the training nodes that are right, each left out, 0..=1.
    pub at_training: f32,
    /// Share of the validation nodes that are right with all edges, 0..=1.
    pub at_validation: f32,
}

impl Tampering {
    /// Nothing is looked for.
    pub fn given(least_support: f32) -> Self {
        Tampering { least_support, sign: None }
    }

    /// Looks for the sign, and for what to do about it. `profiles [n,d]` are those of the whole graph.
    pub fn look(config: &LhsConfig, task: &Task<'_>, profiles: &Mat) -> Result<Self> {
        let training = profiles.select_rows(&task.train.nodes);
        let sign = Sign {
            at_training: leave_one_out_accuracy(&training, &task.train.classes, task.num_classes),
            at_validation: accuracy(profiles, &task.train, &task.val, task.num_classes),
        };
        if !sign.is_clear(task.train.nodes.len(), task.val.nodes.len()) {
            return Ok(Self::given(0.0));
        }
        let least_support = least_support(config, task, profiles)?;
        Ok(Tampering { least_support, sign: Some(sign) })
    }

    /// A graph without the edges to leave out; `learned_from` says which of its nodes were learned from.
    pub fn trimmed<'a>(
        &self,
        graph: &'a Graph,
        learned_from: impl FnOnce() -> Vec<bool>,
    ) -> Result<Cow<'a, Graph>> {
        if self.least_support > 0.0 {
            supported(&graph.to_undirected(), &learned_from(), self.least_support).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(graph))
        }
    }

    /// As [`Tampering::from_numbers`] takes it.
    pub(super) fn to_numbers(self) -> [f32; 3] {
        let (at_training, at_validation) =
            self.sign.map_or((0.0, 0.0), |sign| (sign.at_training, sign.at_validation));
        [self.least_support, at_training, at_validation]
    }

    pub(super) fn from_numbers([least_support, at_training, at_validation]: [f32; 3]) -> Self {
        let sign = (at_training > at_validation).then_some(Sign { at_training, at_validation });
        Tampering { least_support, sign }
    }

    /// What to tell the user, if there is anything.
    pub fn in_words(&self) -> Option<String> {
        let done = if self.least_support > 0.0 {
            format!("edges with support below {:.2} are left out", self.least_support)
        } else {
            "leaving out those with little support does not help".into()
        };
        match self.sign {
            Some(Sign { at_training, at_validation }) => Some(format!(
                "the edges may have been tampered with: they tell the class of {:.1} % of the training nodes, but of \
                 only {:.1} % of the validation nodes; {done}",
                100.0 * at_training,
                100.0 * at_validation,
            )),
            None => (self.least_support > 0.0).then_some(done),
        }
    }
}

impl Sign {
    fn is_clear(&self, num_train: usize, num_val: usize) -> bool {
        let mean = (self.at_training + self.at_validation) / 2.0;
        let variance = mean * (1.0 - mean) * (1.0 / num_train.max(1) as f32 + 1.0 / num_val.max(1) as f32);
        num_val > 0 && self.at_training - self.at_validation > CLEAR * variance.sqrt()
    }
}

/// The least support under which the vote at validation nodes is best; 0 if leaving out does not help.
fn least_support(config: &LhsConfig, task: &Task<'_>, with_all: &Mat) -> Result<f32> {
    let vote = |profiles: &Mat| vote_at(&task.val, profiles, &task.train, task.num_classes, &VOTERS);
    let graph = task.graph.to_undirected();
    let marked = task.train.marked_among(graph.num_nodes());
    let mut sorted = edge_support(&graph, &marked);
    sorted.sort_unstable_by(f32::total_cmp);
    let mut candidates = vec![(0.0, vote(with_all))];
    for share in SHARES {
        let least = sorted.get((share * sorted.len() as f32) as usize).copied().unwrap_or(0.0);
        if least > 0.0 {
            let profiles = profiles(config, &supported(&graph, &marked, least)?, task);
            candidates.push((least, vote(&profiles)));
        }
    }
    // Of equals the first, which leaves out fewer.
    let better = |best: (f32, f32), other: (f32, f32)| if other.1 > best.1 { other } else { best };
    Ok(candidates.into_iter().reduce(better).map_or(0.0, |(least, _)| least))
}

fn profiles(config: &LhsConfig, graph: &Graph, task: &Task<'_>) -> Mat {
    let everybody: Vec<Option<u32>> = (0..graph.num_nodes() as u32).map(Some).collect();
    Basis::fit(View::Adjacency, graph, task.features, config.structure.components).rows(
        graph,
        task.features,
        &everybody,
    )
}

/// Share of the `asked` nodes that a ridge classifier of the `known` ones gets right.
fn accuracy(rows: &Mat, known: &Labelled, asked: &Labelled, num_classes: usize) -> f32 {
    let ridge = Ridge::new(&rows.select_rows(&known.nodes), PENALTY);
    let weights = ridge.solve(&class_targets(&known.classes, num_classes));
    let scores = rows.select_rows(&asked.nodes).apply(&weights);
    let right = (0..scores.rows()).filter(|&row| argmax(scores.row(row)) == asked.classes[row] as usize);
    right.count() as f32 / asked.nodes.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_gap_on_many_nodes_is_a_sign_and_a_small_one_is_not() {
        let gap = |at_training: f32, at_validation: f32| Sign { at_training, at_validation };
        assert!(gap(0.8, 0.5).is_clear(1000, 700));
        assert!(!gap(0.8, 0.5).is_clear(60, 40), "chance can do that with so few nodes");
        assert!(!gap(0.65, 0.62).is_clear(1000, 700));
        assert!(!gap(0.5, 0.8).is_clear(1000, 700));
        assert!(!gap(1.0, 0.0).is_clear(10, 0), "no validation nodes, no sign");
    }
}
