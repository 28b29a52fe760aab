//! What the inducer looks at: one row per node, from its features or from whom it is joined to.
//!
//! Each view is reduced to its leading principal components, `U S` of a truncated SVD: the self-expression
//! costs `O(n d²)`, and the penalty hardly matters afterwards. Sparse input is never written out.

use serde::{Deserialize, Serialize};

use crate::graph::{Features, Graph, normalise};
use crate::linalg::{EigenOptions, LinearMap, Mat, truncated_svd};

/// One way of looking at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Its own features.
    Features,
    /// Its adjacency profile: its row of `D^-1/2 A D^-1/2`. Two nodes with the same neighbours look alike,
    /// whether or not those neighbours share their class.
    Adjacency,
}

impl View {
    /// One row per node, `[n, at most components]`.
    pub fn rows(self, graph: &Graph, features: &Features, components: usize) -> Mat {
        match self {
            View::Adjacency => principal(&normalise::symmetric(&graph.to_undirected()), components),
            View::Features => match normalise::row_normalised(features) {
                Features::Dense(mat) => principal(&mat, components),
                Features::Sparse(mat) => principal(&mat, components),
            },
        }
    }
}

fn principal(matrix: &dyn LinearMap, components: usize) -> Mat {
    let rank = components.min(matrix.rows()).min(matrix.cols());
    if rank == 0 {
        return Mat::zeros(matrix.rows(), 0);
    }
    let svd = truncated_svd(matrix, rank, &EigenOptions::default());
    let mut rows = svd.left;
    for row in 0..rows.rows() {
        rows.row_mut(row).iter_mut().zip(&svd.values).for_each(|(entry, value)| *entry *= value);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul_nt;

    #[test]
    fn all_components_keep_all_inner_products() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (3, 4), (0, 5), (2, 5)]).unwrap();
        let rows = View::Adjacency.rows(&graph, &Features::none(6), 6);
        let adjacency = normalise::symmetric(&graph).to_dense();
        let (found, expected) = (matmul_nt(&rows, &rows), matmul_nt(&adjacency, &adjacency));
        for (found, expected) in found.as_slice().iter().zip(expected.as_slice()) {
            assert!((found - expected).abs() < 1e-4);
        }
    }

    #[test]
    fn no_features_give_rows_without_columns() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1)]).unwrap();
        assert_eq!(View::Features.rows(&graph, &Features::none(3), 8).shape(), (3, 0));
    }
}
