//! Normalised adjacency matrices and features.

use std::sync::Arc;

use super::{Features, Graph};
use crate::linalg::{Pattern, SparseMat};

/// `D^-1/2 (A + I) D^-1/2`, the propagation matrix of a graph convolution (Kipf and Welling 2017).
pub fn symmetric_with_self_loops(graph: &Graph) -> SparseMat {
    symmetrically_scaled(with_self_loops(graph))
}

/// `D^-1/2 A D^-1/2` without self loops; rows of isolated nodes are zero.
pub fn symmetric(graph: &Graph) -> SparseMat {
    symmetrically_scaled(adjacency(graph))
}

/// `D^-1/2 M D^-1/2` of a square matrix with row sums `D`. A sum of 0 counts as 1: with directed edges, a node that
/// leads nowhere can still be led to.
pub fn symmetrically_scaled(mut mat: SparseMat) -> SparseMat {
    let inverse = |sum: f32| if sum > 0.0 { 1.0 / sum.sqrt() } else { 1.0 };
    let scale: Vec<f32> = row_sums(&mat).into_iter().map(inverse).collect();
    scale_entries(&mut mat, |row, col| scale[row] * scale[col]);
    mat
}

/// `D^-1 A`: each row averages over the neighbours.
pub fn row_stochastic(graph: &Graph) -> SparseMat {
    averaging(adjacency(graph))
}

/// `(D + I)^-1 (A + I)`: each row averages over the node itself and its neighbours.
pub fn row_stochastic_with_self_loops(graph: &Graph) -> SparseMat {
    averaging(with_self_loops(graph))
}

/// Every row scaled to sum 1.
pub fn averaging(mut mat: SparseMat) -> SparseMat {
    let sums = row_sums(&mat);
    scale_entries(&mut mat, |row, _| 1.0 / sums[row]);
    mat
}

/// The adjacency matrix with its weights.
pub fn adjacency(graph: &Graph) -> SparseMat {
    let pattern = graph.adjacency();
    let values = graph.weights().map_or_else(|| vec![1.0; pattern.nnz()], <[f32]>::to_vec);
    SparseMat::new(Arc::clone(pattern), values)
}

/// `A + I`, with the weights of the edges.
pub fn with_self_loops(graph: &Graph) -> SparseMat {
    let adjacency = graph.adjacency();
    let num_nodes = graph.num_nodes();
    let mut indptr = Vec::with_capacity(num_nodes + 1);
    let mut indices = Vec::with_capacity(adjacency.nnz() + num_nodes);
    let mut values = Vec::with_capacity(adjacency.nnz() + num_nodes);
    indptr.push(0);
    for node in 0..num_nodes {
        let range = adjacency.row_range(node);
        let before = adjacency.row(node).partition_point(|&n| (n as usize) < node);
        let middle = range.start + before;
        let weight = |place: usize| graph.weights().map_or(1.0, |w| w[place]);
        for place in range.start..middle {
            indices.push(adjacency.indices()[place]);
            values.push(weight(place));
        }
        indices.push(node as u32);
        values.push(1.0);
        for place in middle..range.end {
            indices.push(adjacency.indices()[place]);
            values.push(weight(place));
        }
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(num_nodes, num_nodes, indptr, indices)), values)
}

fn row_sums(mat: &SparseMat) -> Vec<f32> {
    (0..mat.rows()).map(|row| mat.values[mat.pattern.row_range(row)].iter().sum()).collect()
}

fn scale_entries(mat: &mut SparseMat, factor: impl Fn(usize, usize) -> f32) {
    for row in 0..mat.pattern.rows() {
        for place in mat.pattern.row_range(row) {
            mat.values[place] *= factor(row, mat.pattern.indices()[place] as usize);
        }
    }
}

/// Features with every row scaled to sum 1 in absolute value; zero rows stay zero.
pub fn row_normalised(features: &Features) -> Features {
    let scale_row = |row: &mut [f32]| {
        let sum: f32 = row.iter().map(|v| v.abs()).sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|v| *v /= sum);
        }
    };
    let mut out = features.clone();
    match &mut out {
        Features::Dense(mat) => (0..mat.rows()).for_each(|row| scale_row(mat.row_mut(row))),
        Features::Sparse(mat) => {
            for row in 0..mat.pattern.rows() {
                scale_row(&mut mat.values[mat.pattern.row_range(row)]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gcn_matrix_of_a_path() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
        let dense = symmetric_with_self_loops(&graph).to_dense();
        let off = 1.0 / 6f32.sqrt();
        let expected = [0.5, off, 0.0, off, 1.0 / 3.0, off, 0.0, off, 0.5];
        for (found, expected) in dense.as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{dense:?}");
        }
    }

    #[test]
    fn isolated_nodes_stay_finite() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1)]).unwrap();
        for mat in [symmetric(&graph), row_stochastic(&graph), symmetric_with_self_loops(&graph)] {
            assert!(mat.values.iter().all(|v| v.is_finite()));
        }
    }

    #[test]
    fn averages_include_the_node_itself_when_asked() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1)]).unwrap();
        let dense = row_stochastic_with_self_loops(&graph).to_dense();
        assert_eq!(dense.as_slice(), [0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_node_that_leads_nowhere_is_still_led_to() {
        let (graph, _) = Graph::build(2, &[(0, 1)], None, true).unwrap();
        assert_eq!(symmetric(&graph).to_dense().as_slice(), [0.0, 1.0, 0.0, 0.0]);
    }
}
