//! A cheap and fair judge of what is known of the nodes: ridge classifiers.
//!
//! They learn at the training nodes and are asked there, each node left out, which the hat matrix gives exactly,
//! `ŷ₋ᵢ = (Hat Y - h Y)ᵢ / (1 - hᵢ)`, and at the validation nodes. Training nodes are believed only as far as the validation
//! nodes bear them out: whoever poisons edges knows the training labels, and arranges the edges of training nodes. Where one
//! class has nearly all nodes, classes count alike, and scores are seen against the share of their class.
//! Cost: one factorisation, `O(n_train d²)`.

use crate::graph::Labelled;
use crate::linalg::{LinearMap, Mat, Ridge};
use crate::training::{Task, argmax};

/// Penalty of the classifiers.
const PENALTY: f32 = 1.0;
/// Standard errors by which training nodes may look better than validation nodes.
const BELIEVED: f32 = 2.0;
/// Training nodes that classifiers learn from, at most, and half as many validation nodes that they are asked about: enough to tell
/// half a percent.
const MOST_LEARNED: usize = 20_000;
/// From this share of the largest class on, classes count alike.
const ONE_SIDED: f32 = 0.75;

/// Knows the labels to learn from and to ask for.
pub(super) struct Judge {
    num_classes: usize,
    train: Labelled,
    val: Labelled,
    /// Scores are divided by the share of their class where classes count alike.
    shares: Vec<f32>,
    alike: bool,
}

impl Judge {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let train = task.train.at_most(MOST_LEARNED).into_owned();
        let val = task.val.at_most(MOST_LEARNED / 2).into_owned();
        let mut shares = vec![0f32; task.num_classes];
        let each = 1.0 / train.nodes.len().max(1) as f32;
        train.classes.iter().for_each(|&class| shares[class as usize] += each);
        let alike = shares.iter().any(|share| *share >= ONE_SIDED);
        Judge { num_classes: task.num_classes, train, val, shares, alike }
    }

    /// The nodes whose rows are wanted: training nodes, then validation nodes.
    pub(super) fn nodes(&self) -> Vec<u32> {
        [self.train.nodes.as_slice(), &self.val.nodes].concat()
    }

    /// How much a classifier of these rows, one for each of [`Judge::nodes`], gets right, 0..=1.
    pub(super) fn score(&self, rows: &Mat) -> f32 {
        let (train, val) = (&self.train, &self.val);
        let count = train.nodes.len();
        let place = |range: std::ops::Range<usize>| range.map(|row| row as u32).collect::<Vec<_>>();
        let targets = class_targets(&train.classes, self.num_classes);
        let ridge = Ridge::new(&rows.select_rows(&place(0..count)), PENALTY);
        let (mut left_out, leverage) = (ridge.apply_hat(&targets), ridge.hat_diagonal());
        // Dividing by 1 - h changes no order.
        for (row, leverage) in leverage.iter().enumerate() {
            let own = targets.row(row).to_vec();
            left_out.row_mut(row).iter_mut().zip(own).for_each(|(score, target)| *score -= leverage * target);
        }
        let at_training = self.right(&left_out, &train.classes);
        if val.nodes.is_empty() {
            return at_training;
        }
        let asked = rows.select_rows(&place(count..rows.rows()));
        let at_validation = self.right(&asked.apply(&ridge.solve(&targets)), &val.classes);
        let (train, val) = (count as f32, val.nodes.len() as f32);
        let most = at_validation + BELIEVED * (at_validation * (1.0 - at_validation) / val).sqrt();
        (train * at_training.min(most) + val * at_validation) / (train + val)
    }

    /// Share of the rows whose class has the highest score, or the mean of these shares over the classes.
    fn right(&self, scores: &Mat, classes: &[u32]) -> f32 {
        let (mut right, mut all) = (vec![0f32; self.shares.len()], vec![0f32; self.shares.len()]);
        for (row, &class) in classes.iter().enumerate() {
            let mut found = scores.row(row).to_vec();
            if self.alike {
                found.iter_mut().zip(&self.shares).for_each(|(score, share)| *score /= share.max(1e-6));
            }
            all[class as usize] += 1.0;
            right[class as usize] += f32::from(u8::from(argmax(&found) == class as usize));
        }
        if !self.alike {
            return right.iter().sum::<f32>() / all.iter().sum::<f32>().max(1.0);
        }
        let there = all.iter().zip(&right).filter(|(all, _)| **all > 0.0);
        let (sum, count) =
            there.fold((0.0, 0.0f32), |(sum, count), (all, right)| (sum + right / all, count + 1.0));
        sum / count.max(1.0)
    }
}

/// One column per class, 1 where it is the row's.
fn class_targets(classes: &[u32], num_classes: usize) -> Mat {
    let own = |row: usize, class: usize| f32::from(u8::from(classes[row] as usize == class));
    Mat::from_fn(classes.len(), num_classes, own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Features, Graph};

    /// The score of rows whose first ones are those of training nodes, under these classes.
    fn score(rows: &Mat, train: &[u32], val: &[u32]) -> f32 {
        let (graph, features) = (Graph::from_edges(rows.rows(), &[]).unwrap().0, Features::none(rows.rows()));
        let labelled = |first: usize, classes: &[u32]| Labelled {
            nodes: (first as u32..(first + classes.len()) as u32).collect(),
            classes: classes.to_vec(),
        };
        let task = Task {
            graph: &graph,
            features: &features,
            num_classes: 2,
            train: labelled(0, train),
            val: labelled(train.len(), val),
            class_names: &[],
            positive_class: None,
            copies: Default::default(),
        };
        Judge::new(&task).score(rows)
    }

    #[test]
    fn a_row_does_not_vote_for_itself() {
        // Every row has a column of its own: perfect memory, and nothing learned from the others.
        let own_columns = Mat::from_fn(12, 12, |row, col| if row == col { 1.0 } else { 0.0 });
        let classes: Vec<u32> = (0..12).map(|row| row % 2).collect();
        assert!(score(&own_columns, &classes, &[]) <= 0.5);
        let telling = Mat::from_fn(12, 2, |row, col| if row % 2 == col { 1.0 } else { 0.0 });
        assert_eq!(score(&telling, &classes, &[]), 1.0);
    }

    #[test]
    fn what_holds_at_training_nodes_alone_is_not_believed() {
        let telling_in_training = |row: usize| if row < 50 { row % 2 } else { (row / 2) % 2 };
        let rows = Mat::from_fn(100, 2, |row, col| f32::from(u8::from(telling_in_training(row) == col)));
        let classes: Vec<u32> = (0..100).map(|row| row % 2).collect();
        let found = score(&rows, &classes[..50], &classes[50..]);
        assert!(found < 0.65, "{found}");
    }

    #[test]
    fn a_rare_class_counts_as_much_as_the_common_one() {
        let class = |row: usize| u32::from(row.is_multiple_of(10));
        let classes: Vec<u32> = (0..100).map(class).collect();
        let blind = Mat::full(100, 1, 1.0);
        assert!(score(&blind, &classes, &[]) <= 0.5);
        let telling = Mat::from_fn(100, 2, |row, col| 1.0 + f32::from(u8::from(class(row) as usize == col)));
        assert!(score(&telling, &classes, &[]) > 0.9);
    }
}
