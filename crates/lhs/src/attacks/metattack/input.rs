//! Products with the features `X [N, F]`, sparse or dense, that never write `X` out.

use std::sync::Arc;

use crate::graph::Features;
use crate::linalg::parallel::fill_rows;
use crate::linalg::simd::{self, vectorised};
use crate::linalg::{Mat, Pattern, SparseMat, matmul, matmul_tn, spmm, spmm_t, transposed_values};

/// The features, ready to be multiplied from either side.
pub(super) struct Input<'a> {
    features: &'a Features,
    /// The values of sparse features in the order of the transpose.
    by_column: Vec<f32>,
}

impl<'a> Input<'a> {
    pub(super) fn new(features: &'a Features) -> Self {
        let by_column = match features {
            Features::Sparse(mat) => transposed_values(&mat.pattern, &mat.values),
            Features::Dense(_) => Vec::new(),
        };
        Input { features, by_column }
    }

    /// Number of columns.
    pub(super) fn dim(&self) -> usize {
        self.features.dim()
    }

    /// `X W`: `[N,F] x [F,k] -> [N,k]`.
    pub(super) fn times(&self, right: &Mat) -> Mat {
        match self.features {
            Features::Sparse(mat) => spmm(&mat.pattern, &mat.values, right),
            Features::Dense(mat) => matmul(mat, right),
        }
    }

    /// `Xᵀ V`: `[N,F]ᵀ x [N,k] -> [F,k]`.
    pub(super) fn transposed_times(&self, right: &Mat) -> Mat {
        match self.features {
            Features::Sparse(mat) => spmm_t(&mat.pattern, &self.by_column, right),
            Features::Dense(mat) => matmul_tn(mat, right),
        }
    }

    /// `S X`: `[m,N] x [N,F] -> [m,F]`, written out.
    pub(super) fn after(&self, left: &SparseMat) -> Mat {
        let mat = match self.features {
            Features::Dense(mat) => return spmm(&left.pattern, &left.values, mat),
            Features::Sparse(mat) => mat,
        };
        let cols = mat.cols();
        let mut out = Mat::zeros(left.rows(), cols);
        let row_work =
            (left.pattern.nnz() / left.rows().max(1) + 1) * (mat.pattern.nnz() / mat.rows().max(1) + 1);
        fill_rows(out.as_mut_slice(), cols, row_work, |first, part| {
            for (offset, out) in part.chunks_exact_mut(cols).enumerate() {
                for (node, weight) in left.row(first + offset) {
                    for (col, value) in mat.row(node as usize) {
                        out[col as usize] += weight * value;
                    }
                }
            }
        });
        out
    }
}

/// The rows named of a sparse matrix, in that order.
pub(super) fn sparse_rows(mat: &SparseMat, rows: &[u32]) -> SparseMat {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for &row in rows {
        let range = mat.pattern.row_range(row as usize);
        indices.extend_from_slice(&mat.pattern.indices()[range.clone()]);
        values.extend_from_slice(&mat.values[range]);
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(rows.len(), mat.cols(), indptr, indices)), values)
}

/// `S X` of a sparse and a dense matrix.
pub(super) fn product(left: &SparseMat, right: &Mat) -> Mat {
    spmm(&left.pattern, &left.values, right)
}

/// `to += factor * from`.
pub(super) fn add_scaled(to: &mut Mat, factor: f32, from: &Mat) {
    let (to, from) = (to.as_mut_slice(), from.as_slice());
    vectorised(
        #[inline(always)]
        || simd::axpy(to, factor, from),
    );
}

/// `to = factor * to + from`.
pub(super) fn decay_and_add(to: &mut Mat, factor: f32, from: &Mat) {
    let (to, from) = (to.as_mut_slice(), from.as_slice());
    vectorised(
        #[inline(always)]
        move || {
            for (to, from) in to.iter_mut().zip(from) {
                *to = factor.mul_add(*to, *from);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_and_dense_features_give_the_same_products() {
        let dense = Mat::from_fn(9, 12, |r, c| if (r * 5 + c) % 7 == 0 { (r + 2 * c) as f32 } else { 0.0 });
        let sparse = Features::from_dense(dense.clone());
        assert!(matches!(sparse, Features::Sparse(_)));
        let dense = Features::Dense(dense);
        let (sparse, dense) = (Input::new(&sparse), Input::new(&dense));
        let (w, v) =
            (Mat::from_fn(12, 3, |r, c| (r * 3 + c) as f32), Mat::from_fn(9, 2, |r, c| (r + c) as f32));
        assert_eq!(sparse.times(&w), dense.times(&w));
        assert_eq!(sparse.transposed_times(&v), dense.transposed_times(&v));
        let left = SparseMat::from_triplets(2, 9, vec![(0, 3, 2.0), (0, 7, 1.0), (1, 0, -1.0)]);
        assert_eq!(sparse.after(&left), dense.after(&left));
        assert_eq!(sparse_rows(&left, &[1]).to_dense().row(0)[0], -1.0);
    }
}
