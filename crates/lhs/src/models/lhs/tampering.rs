//! Whether the edges around the training nodes look tampered with, and which edges to leave out if so.
//!
//! Whoever poisons a graph knows the training labels, and makes the edges of training nodes tell a story that does not
//! hold elsewhere. The sign: a ridge classifier on adjacency profiles is right at training nodes, each left out of
//! its own classifier, much more often than at validation nodes. Then the edges with the least support
//! ([`crate::graph::support`], the training nodes being marked) are left out, as many as serve the validation nodes best
//! when the model is trained without them. (Cheaper judges, ridge classifiers and nearest neighbours on profiles, were often
//! wrong about that.) Without the sign, nothing is left out and nothing costs.
//! Cost: one factorisation, `O(n_train d²)`; on suspicion one training of one member for each of the candidates.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::channel_selection::{PENALTY, class_targets, leave_one_out_accuracy};
use crate::error::Result;
use crate::graph::support::{edge_support, supported};
use crate::graph::{Graph, Labelled};
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::training::{Task, argmax};

/// How many standard errors the training nodes must be ahead of the validation nodes.
const CLEAR: f32 = 4.0;
/// Shares of the edges that may be left out.
const SHARES: [f32; 5] = [0.05, 0.1, 0.15, 0.2, 0.3];

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tampering {
    /// Edges with less support are left out; 0 keeps all.
    pub least_support: f32,
    /// The sign, if there is one.
    pub sign: Option<Sign>,
}

/// What the edges tell of training nodes and hide of others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

    /// Looks for the sign, and for what to do about it. `profile_directions [n,d]` are those of the whole graph; `trial` trains without
    /// the edges that have less support than it is given, and says how good the validation nodes are then.
    pub fn look(
        task: &Task<'_>,
        profile_directions: &Mat,
        trial: impl FnMut(Tampering) -> Result<f32>,
    ) -> Result<Self> {
        let training = profile_directions.select_rows(&task.train.nodes);
        let sign = Sign {
            at_training: leave_one_out_accuracy(&training, &task.train.classes, task.num_classes),
            at_validation: accuracy(profile_directions, &task.train, &task.val, task.num_classes),
        };
        if !sign.is_clear(task.train.nodes.len(), task.val.nodes.len()) {
            return Ok(Self::given(0.0));
        }
        let least_support = best_of(&candidates(task), trial)?;
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

    /// What to tell the user, if there is anything.
    pub fn diagnosis(&self) -> Option<String> {
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

/// Supports below which edges may be left out, fewest edges first.
fn candidates(task: &Task<'_>) -> Vec<f32> {
    let graph = task.graph.to_undirected();
    let mut sorted = edge_support(&graph, &task.train.marked_among(graph.num_nodes()));
    sorted.sort_unstable_by(f32::total_cmp);
    let at = |share: f32| sorted.get((share * sorted.len() as f32) as usize).copied().unwrap_or(0.0);
    let mut candidates: Vec<f32> = std::iter::once(0.0).chain(SHARES.map(at)).collect();
    candidates.dedup();
    candidates
}

/// The candidate with which the trial is best; of equals the first, which leaves out fewer edges.
fn best_of(candidates: &[f32], mut trial: impl FnMut(Tampering) -> Result<f32>) -> Result<f32> {
    let (mut best, mut most) = (0.0, f32::NEG_INFINITY);
    for &least in candidates {
        let right = trial(Tampering::given(least))?;
        if right > most {
            (best, most) = (least, right);
        }
    }
    Ok(best)
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
    fn the_best_trial_is_taken_and_of_equals_the_one_that_leaves_out_fewer() {
        let right = |found: &[f32]| {
            let mut found = found.iter().copied();
            best_of(&[0.0, 0.1, 0.4], |_| Ok(found.next().unwrap())).unwrap()
        };
        assert_eq!(right(&[0.5, 0.7, 0.6]), 0.1);
        assert_eq!(right(&[0.5, 0.7, 0.7]), 0.1);
        assert_eq!(right(&[0.7, 0.7, 0.6]), 0.0);
    }

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
