//! Whether the given graph deserves a channel, told by the training labels alone.
//!
//! The channel of the given edges is also the door through which an attack on the edges comes in. It is opened
//! only if it pays: a ridge classifier on what a node and its latent neighbours look like is compared with one
//! that also sees one and two hops over the given graph, by leave-one-out accuracy at the training nodes, which
//! the hat matrix gives exactly: `ŷ₋ᵢ = (Hat Y - h Y)ᵢ / (1 - hᵢ)`.
//! Cost: one factorisation with a few hundred columns each, `O(n_train d²)`.

use serde::Serialize;

use crate::graph::{Graph, Labelled, normalise};
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::structure::Structure;
use crate::training::argmax;

/// Leading columns of each view that the comparison looks at.
const COLUMNS: usize = 64;
/// Penalty of the classifiers.
const PENALTY: f32 = 1.0;
/// What the given graph must add to the share of the training nodes that are right.
const WORTH_OPENING: f32 = 0.005;

/// Leave-one-out accuracy at the training nodes, 0..=1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trust {
    /// Without the given graph.
    pub without: f32,
    /// With it.
    pub with: f32,
}

impl Trust {
    /// Measures it.
    pub fn measure(graph: &Graph, structure: &Structure, train: &Labelled, num_classes: usize) -> Self {
        let own = leading_columns(&[&structure.inputs.features, &structure.inputs.profiles]);
        let latent = normalise::row_stochastic(structure.latent()).apply(&own);
        let given = normalise::row_stochastic(&graph.to_undirected());
        let (one, two) = (given.apply(&own), given.apply(&given.apply(&own)));
        let accuracy = |parts: &[&Mat]| {
            let rows: Vec<Mat> = parts.iter().map(|part| part.select_rows(&train.nodes)).collect();
            leave_one_out_accuracy(&Mat::side_by_side(&rows), &train.classes, num_classes)
        };
        Trust { without: accuracy(&[&own, &latent]), with: accuracy(&[&own, &latent, &one, &two]) }
    }

    /// Whether the channel is worth its risk.
    pub fn is_deserved(&self) -> bool {
        self.with > self.without + WORTH_OPENING
    }
}

fn leading_columns(parts: &[&Mat]) -> Mat {
    let cut = |part: &&Mat| {
        let columns = part.cols().min(COLUMNS);
        Mat::from_fn(part.rows(), columns, |row, col| part.get(row, col))
    };
    Mat::side_by_side(&parts.iter().map(cut).collect::<Vec<_>>())
}

/// Share of the rows whose class the ridge classifier of all other rows finds.
fn leave_one_out_accuracy(rows: &Mat, classes: &[u32], num_classes: usize) -> f32 {
    let targets =
        Mat::from_fn(
            rows.rows(),
            num_classes,
            |row, class| {
                if classes[row] as usize == class { 1.0 } else { 0.0 }
            },
        );
    let ridge = Ridge::new(rows, PENALTY);
    let (fitted, leverage) = (ridge.apply_hat(&targets), ridge.hat_diagonal());
    // Dividing by 1 - h changes no argmax.
    let right = |row: &usize| {
        let own = |class: usize| fitted.get(*row, class) - leverage[*row] * targets.get(*row, class);
        argmax(&(0..num_classes).map(own).collect::<Vec<_>>()) == classes[*row] as usize
    };
    (0..rows.rows()).filter(right).count() as f32 / rows.rows().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_does_not_vote_for_itself() {
        // Every row has a column of its own: perfect memory, and nothing learned from the others.
        let own_columns = Mat::from_fn(12, 12, |row, col| if row == col { 1.0 } else { 0.0 });
        let classes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        assert!(leave_one_out_accuracy(&own_columns, &classes, 2) <= 0.5);
        let telling = Mat::from_fn(12, 2, |row, col| if row % 2 == col { 1.0 } else { 0.0 });
        assert_eq!(leave_one_out_accuracy(&telling, &classes, 2), 1.0);
    }
}
