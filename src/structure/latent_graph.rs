//! The latent graph: nodes joined by the cosine of their directions.
//!
//! `s_ij = max(0, <l_i, l_j>)` for unit rows; kept where it reaches the threshold and is among the `top_k` of
//! either end, with its weight. An exact all-pairs search in tiles: `O(n² r)` multiply-adds, `O(n top_k)` memory.

use crate::graph::Labels;
use crate::linalg::{Mat, SparseMat, neighbours};

/// A symmetric weighted graph without self loops, weights in (0, 1].
#[derive(Clone, Debug, PartialEq)]
pub struct LatentGraph {
    /// The weights, at both ends of every edge.
    pub weights: SparseMat,
}

impl LatentGraph {
    /// Joins unit rows whose cosine is at least `threshold`, up to `top_k` from each node.
    pub fn from_directions(rows: &Mat, threshold: f32, top_k: usize) -> Self {
        // A cosine of 0 says nothing: without this floor a threshold of 0 would join everybody.
        let found = neighbours(rows, threshold.max(f32::MIN_POSITIVE), Some(top_k));
        let mut triplets = Vec::with_capacity(2 * found.values.len());
        for node in 0..found.rows() {
            for (other, weight) in found.row(node) {
                // Rounding can lift the cosine of equal rows above 1.
                let weight = weight.min(1.0);
                triplets.push((node as u32, other, weight));
                triplets.push((other, node as u32, weight));
            }
        }
        triplets.sort_unstable_by_key(|&(row, col, _)| (row, col));
        // An edge found from both ends stands there twice, with the same weight.
        triplets.dedup_by_key(|&mut (row, col, _)| (row, col));
        LatentGraph { weights: SparseMat::from_triplets(rows.rows(), rows.rows(), triplets) }
    }

    /// Number of edges, each pair counted once.
    pub fn num_edges(&self) -> usize {
        self.weights.pattern.nnz() / 2
    }

    /// Share of the weight at some nodes that leads to their own class; `None` when they have no edges to
    /// labelled nodes.
    pub fn weighted_homophily(&self, labels: &Labels, nodes: impl IntoIterator<Item = u32>) -> Option<f32> {
        let (mut same, mut all) = (0f64, 0f64);
        for node in nodes {
            let Some(own) = labels.get(node as usize) else { continue };
            for (other, weight) in self.weights.row(node as usize) {
                if let Some(class) = labels.get(other as usize) {
                    all += f64::from(weight);
                    same += if class == own { f64::from(weight) } else { 0.0 };
                }
            }
        }
        (all > 0.0).then(|| (same / all) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_symmetric_weighted_and_thresholded() {
        let half = 0.5f32.sqrt();
        let rows = Mat::from_slice(4, 2, &[1.0, 0.0, half, half, 0.0, 1.0, -1.0, 0.0]);
        let latent = LatentGraph::from_directions(&rows, 0.5, 2);
        assert_eq!(latent.num_edges(), 2);
        let dense = latent.weights.to_dense();
        assert_eq!(dense, dense.transposed());
        assert!((dense.get(0, 1) - half).abs() < 1e-6 && dense.get(0, 2) == 0.0);
        let labels = Labels::from_numbers(&[0, 0, 1, 1]).unwrap();
        let homophily = latent.weighted_homophily(&labels, 0..4).unwrap();
        assert!((homophily - 0.5).abs() < 1e-6);
        assert_eq!(latent.weighted_homophily(&labels, [3]), None);
    }

    #[test]
    fn all_similarities_below_the_threshold_give_an_empty_graph() {
        let rows = Mat::from_fn(3, 3, |r, c| if r == c { 1.0 } else { 0.0 });
        assert_eq!(LatentGraph::from_directions(&rows, 0.8, 5).num_edges(), 0);
    }
}
