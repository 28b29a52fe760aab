//! Normalised propagation over learned edge weights, on the tape.

use std::sync::Arc;

use crate::autograd::{Sparse, Var, sampled_product};
use crate::linalg::{Mat, Pattern};

/// `D^-1/2 M D^-1/2` with the row sums `D` of `M`, whose values are positive; gradients flow through both.
pub fn symmetric(mat: &Sparse) -> Sparse {
    let inverse = mat.sum_rows().add_scalar(f32::MIN_POSITIVE).pow(-0.5); // [n,1]
    let scale = sampled_product(&mat.pattern, &inverse, &inverse); // [nnz,1]
    Sparse::new(Arc::clone(&mat.pattern), mat.values.mul(&scale))
}

/// 1 at the diagonal entries of a pattern and 0 at all others, `[nnz,1]`.
pub fn diagonal(pattern: &Pattern) -> Mat {
    let mut out = Mat::zeros(pattern.nnz(), 1);
    for row in 0..pattern.rows() {
        for place in pattern.row_range(row) {
            if pattern.indices()[place] as usize == row {
                out.as_mut_slice()[place] = 1.0;
            }
        }
    }
    out
}

/// `mask ⊙ a + (1 - mask) ⊙ b` with a constant mask of zeros and ones.
pub fn where_set(mask: &Var, a: &Var, b: &Var) -> Var {
    b.add(&mask.mul(&a.sub(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, normalise};

    #[test]
    fn constant_weights_scale_as_a_graph_does() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (0, 2)]).unwrap().0;
        let loops = normalise::with_self_loops(&graph);
        let found = symmetric(&Sparse::constant(&loops));
        let expected = normalise::symmetric_with_self_loops(&graph);
        for (found, expected) in found.values.value().as_slice().iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-6);
        }
        assert_eq!(diagonal(&loops.pattern).as_slice().iter().sum::<f32>(), 4.0);
    }
}
