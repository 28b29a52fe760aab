//! Data with a small change: features of one node replaced, edges gone or added.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::SparseMat;

/// What stands for a feature that is not told: the mean of its column, or nothing where most nodes have nothing.
pub(super) enum Fill {
    Zero,
    Means(Vec<f32>),
}

impl Fill {
    pub(super) fn of(features: &Features) -> Self {
        match features {
            Features::Sparse(_) => Fill::Zero,
            Features::Dense(mat) => {
                let mut sums = vec![0.0f64; mat.cols()];
                for row in 0..mat.rows() {
                    sums.iter_mut().zip(mat.row(row)).for_each(|(sum, value)| *sum += f64::from(*value));
                }
                Fill::Means(sums.into_iter().map(|sum| (sum / mat.rows().max(1) as f64) as f32).collect())
            }
        }
    }

    pub(super) fn at(&self, column: u32) -> f32 {
        match self {
            Fill::Zero => 0.0,
            Fill::Means(means) => means[column as usize],
        }
    }
}

/// All features of a node.
pub(super) fn row(features: &Features, node: usize) -> Vec<f32> {
    match features {
        Features::Dense(mat) => mat.row(node).to_vec(),
        Features::Sparse(mat) => {
            let mut row = vec![0.0; mat.cols()];
            mat.row(node).for_each(|(column, value)| row[column as usize] = value);
            row
        }
    }
}

/// The same features, but for some columns of one node.
pub(super) fn without_features(features: &Features, node: usize, columns: &[u32], fill: &Fill) -> Features {
    match features {
        Features::Dense(mat) => {
            let mut mat = mat.clone();
            let row = mat.row_mut(node);
            columns.iter().for_each(|&column| row[column as usize] = fill.at(column));
            Features::Dense(mat)
        }
        Features::Sparse(mat) => {
            let gone: HashSet<u32> = columns.iter().copied().collect();
            let mut values = mat.values.clone();
            for place in mat.pattern.row_range(node) {
                if gone.contains(&mat.pattern.indices()[place]) {
                    values[place] = 0.0;
                }
            }
            Features::Sparse(SparseMat::new(Arc::clone(&mat.pattern), values))
        }
    }
}

/// The same graph without some edges, named as [`Graph::edges`] names them.
pub(super) fn without_edges(graph: &Graph, pairs: &[(u32, u32)]) -> Result<Graph> {
    let gone: HashSet<(u32, u32)> = pairs.iter().copied().collect();
    graph.with_edges_where(|a, b| !gone.contains(&(a, b)))
}

/// The same graph with one more edge, of the usual weight.
pub(super) fn with_edge(graph: &Graph, pair: (u32, u32)) -> Result<Graph> {
    let (mut pairs, mut weights): (Vec<(u32, u32)>, Vec<f32>) =
        graph.weighted_edges().map(|(a, b, weight)| ((a, b), weight)).unzip();
    pairs.push(pair);
    weights.push(graph.mean_weight());
    let weights = graph.weights().map(|_| weights.as_slice());
    Ok(Graph::build(graph.num_nodes(), &pairs, weights, graph.is_directed())?.0)
}
