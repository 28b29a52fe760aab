//! Node features, kept sparse when they are sparse.

use crate::error::{Error, Result};
use crate::linalg::{Mat, Pattern, SparseMat};

/// Above this share of non-zeros a dense matrix is both smaller and faster.
const SPARSE_BELOW: f64 = 0.25;

/// Node features, one row per node. No columns at all is allowed: a graph without features.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every entry is stored.
    Dense(Mat),
    /// Non-zeros only.
    Sparse(SparseMat),
}

impl Features {
    /// Keeps whichever form suits the share of non-zeros.
    pub fn from_dense(mat: Mat) -> Self {
        let nonzero = mat.as_slice().iter().filter(|v| **v != 0.0).count();
        if nonzero as f64 >= SPARSE_BELOW * mat.len() as f64 {
            return Features::Dense(mat);
        }
        let mut indptr = Vec::with_capacity(mat.rows() + 1);
        indptr.push(0);
        let mut indices = Vec::with_capacity(nonzero);
        let mut values = Vec::with_capacity(nonzero);
        for row in 0..mat.rows() {
            for (col, &value) in mat.row(row).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(col as u32);
                values.push(value);
            }
            indptr.push(indices.len());
        }
        let pattern = Pattern::new(mat.rows(), mat.cols(), indptr, indices);
        Features::Sparse(SparseMat::new(pattern.into(), values))
    }

    /// Keeps whichever form suits the share of non-zeros.
    pub fn from_sparse(mat: SparseMat) -> Self {
        let entries = (mat.rows() * mat.cols()) as f64;
        if mat.pattern.nnz() as f64 >= SPARSE_BELOW * entries && entries > 0.0 {
            Features::Dense(mat.to_dense())
        } else {
            Features::Sparse(mat)
        }
    }

    /// A graph without features.
    pub fn none(num_nodes: usize) -> Self {
        Features::Dense(Mat::zeros(num_nodes, 0))
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        match self {
            Features::Dense(mat) => mat.rows(),
            Features::Sparse(mat) => mat.rows(),
        }
    }

    /// Number of feature columns.
    pub fn dim(&self) -> usize {
        match self {
            Features::Dense(mat) => mat.cols(),
            Features::Sparse(mat) => mat.cols(),
        }
    }

    /// Number of non-zero entries.
    pub fn nonzeros(&self) -> usize {
        self.values().iter().filter(|v| **v != 0.0).count()
    }

    /// The stored entries.
    pub fn values(&self) -> &[f32] {
        match self {
            Features::Dense(mat) => mat.as_slice(),
            Features::Sparse(mat) => &mat.values,
        }
    }

    /// The non-zero entries of one row, columns ascending.
    pub fn row_nonzeros(&self, node: usize) -> Vec<(u32, f32)> {
        match self {
            Features::Dense(mat) => {
                (0u32..).zip(mat.row(node).iter().copied()).filter(|(_, value)| *value != 0.0).collect()
            }
            Features::Sparse(mat) => mat.row(node).filter(|(_, value)| *value != 0.0).collect(),
        }
    }

    /// The rows named, in that order.
    pub fn select(&self, nodes: &[u32]) -> Self {
        match self {
            Features::Dense(mat) => Features::Dense(mat.select_rows(nodes)),
            Features::Sparse(mat) => {
                let mut indptr = Vec::with_capacity(nodes.len() + 1);
                indptr.push(0);
                let mut indices = Vec::new();
                let mut values = Vec::new();
                for &node in nodes {
                    let range = mat.pattern.row_range(node as usize);
                    indices.extend_from_slice(&mat.pattern.indices()[range.clone()]);
                    values.extend_from_slice(&mat.values[range]);
                    indptr.push(indices.len());
                }
                let pattern = Pattern::new(nodes.len(), mat.cols(), indptr, indices);
                Features::Sparse(SparseMat::new(pattern.into(), values))
            }
        }
    }

    /// Refuses NaN and infinite entries, naming the first.
    pub(super) fn check_finite(&self) -> Result<()> {
        let Some(place) = self.values().iter().position(|v| !v.is_finite()) else {
            return Ok(());
        };
        let (node, column) = match self {
            Features::Dense(mat) => (place / mat.cols(), place % mat.cols()),
            Features::Sparse(mat) => {
                let node = mat.pattern.indptr().partition_point(|&bound| bound <= place) - 1;
                (node, mat.pattern.indices()[place] as usize)
            }
        };
        Err(Error::data(
            format!("feature {column} of node {node} is {}", self.values()[place]),
            "features must be finite numbers; replace missing values (by 0 or the column's mean) first",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_data_is_stored_sparse_and_reads_the_same() {
        let dense = Mat::from_fn(4, 8, |r, c| if r == c { 2.0 } else { 0.0 });
        let features = Features::from_dense(dense.clone());
        let Features::Sparse(sparse) = &features else { panic!("should be sparse") };
        assert_eq!(sparse.to_dense(), dense);
        assert_eq!(features.row_nonzeros(2), [(2, 2.0)]);
        assert_eq!(features.select(&[3, 1]).row_nonzeros(0), [(3, 2.0)]);
    }

    #[test]
    fn a_nan_is_found_by_node_and_column() {
        let features =
            Features::from_sparse(SparseMat::from_triplets(3, 9, vec![(0, 1, 1.0), (2, 5, f32::NAN)]));
        let error = features.check_finite().unwrap_err().to_string();
        assert!(error.starts_with("feature 5 of node 2 is NaN"), "{error}");
    }
}
