//! The contrastive loss between two views of some nodes.
//!
//! `-mean over the same of cos / t + log sum over the others of exp(cos / t)`, both ways, where a node's nearest by features
//! count as the same. Cost: `O(batch² * hidden)` time, `O(batch * hidden)` memory.

use std::sync::Arc;

use crate::autograd::{Var, repulsion, sampled_product};
use crate::linalg::{Mat, Pattern, SparseMat};

/// Divides the cosines.
const TEMPERATURE: f32 = 0.2;

/// Which nodes of a batch count as which, `[b, b]`.
pub(super) struct Same(Arc<Pattern>);

impl Same {
    /// Each node of a batch itself, and those of its nearest that are in the batch.
    pub fn among(nodes: &[u32], nearest: &SparseMat) -> Self {
        let mut place = vec![None; nearest.rows()];
        nodes.iter().enumerate().for_each(|(at, &node)| place[node as usize] = Some(at as u32));
        let (mut bounds, mut columns) = (vec![0], Vec::new());
        for (at, &node) in nodes.iter().enumerate() {
            let first = columns.len();
            columns.push(at as u32);
            columns.extend(nearest.row(node as usize).filter_map(|(other, _)| place[other as usize]));
            columns[first..].sort_unstable();
            bounds.push(columns.len());
        }
        Same(Arc::new(Pattern::new(nodes.len(), nodes.len(), bounds, columns)))
    }

    /// One over how many the same of its row are, for each entry, `[nnz, 1]`.
    fn shares(&self) -> Var {
        let share = |row: usize| vec![1.0 / self.0.row(row).len() as f32; self.0.row(row).len()];
        Var::constant(Mat::column(&(0..self.0.rows()).flat_map(share).collect::<Vec<f32>>()))
    }
}

/// The loss of unit rows `[b, d]`, `-> [1, 1]`.
pub(super) fn contrast(first: &Var, second: &Var, same: &Same) -> Var {
    let shares = same.shares();
    let pull = |from: &Var, to: &Var| sampled_product(&same.0, from, to).mul(&shares).sum();
    let attraction = pull(first, second).add(&pull(second, first)).scale(1.0 / TEMPERATURE);
    let apart = repulsion(first, second, &same.0, TEMPERATURE);
    // The op takes the largest possible exponent off, which both logarithms get back.
    apart.sub(&attraction).scale(0.5 / same.0.rows() as f32).add_scalar(1.0 / TEMPERATURE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_that_agree_lose_less() {
        let rows = Var::constant(Mat::from_fn(4, 4, |row, col| f32::from(row == col)));
        let turned = rows.gather_rows(&vec![1, 2, 3, 0].into());
        let same = Same::among(&[0, 1, 2, 3], &SparseMat::from_triplets(4, 4, vec![]));
        // All others at right angles: log 3 - 1 / t.
        let agreeing = contrast(&rows, &rows, &same).scalar();
        assert!((agreeing - (3f32.ln() - 1.0 / TEMPERATURE)).abs() < 1e-4, "{agreeing}");
        assert!(contrast(&rows, &turned, &same).scalar() > agreeing + 1.0);
    }

    #[test]
    fn the_loss_is_that_of_the_definition() {
        // In the batch 5, 2, 7 node 5 counts 7 as itself and nobody outside of the batch; the others only themselves.
        let nearest = SparseMat::from_triplets(8, 8, vec![(5, 1, 1.0), (5, 7, 1.0)]);
        let same = Same::among(&[5, 2, 7], &nearest);
        let view = |turn: f32| {
            let angles = [0.3 + turn, 1.1 - turn, 2.0 + 2.0 * turn];
            Mat::from_fn(3, 2, |row, col| if col == 0 { angles[row].cos() } else { angles[row].sin() })
        };
        let (first, second) = (view(0.0), view(0.4));
        let is_same = [[true, false, true], [false, true, false], [false, false, true]];
        let one_way = |from: &Mat, to: &Mat| -> f32 {
            let cosine = |i: usize, j: usize| {
                (from.row(i)[0] * to.row(j)[0] + from.row(i)[1] * to.row(j)[1]) / TEMPERATURE
            };
            let row = |i: usize| {
                let others: f32 = (0..3).filter(|&j| !is_same[i][j]).map(|j| cosine(i, j).exp()).sum();
                let own: Vec<f32> = (0..3).filter(|&j| is_same[i][j]).map(|j| cosine(i, j)).collect();
                others.ln() - own.iter().sum::<f32>() / own.len() as f32
            };
            (0..3).map(row).sum::<f32>() / 3.0
        };
        let expected = (one_way(&first, &second) + one_way(&second, &first)) / 2.0;
        let found = contrast(&Var::constant(first), &Var::constant(second), &same).scalar();
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}
