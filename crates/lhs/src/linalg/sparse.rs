//! Compressed sparse rows: a shared pattern and the values that go with it.
//!
//! The pattern knows its transpose (built once, on first use), so a product with the transposed matrix
//! reads rows too and needs no scatter.

use std::sync::{Arc, OnceLock};

use super::Mat;

/// Which entries of a `rows x cols` matrix are stored, row after row, columns ascending.
#[derive(Debug)]
pub struct Pattern {
    rows: usize,
    cols: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    transpose: OnceLock<Transpose>,
}

/// The same entries sorted by column: `entry[k]` is the place in the pattern of the k-th of them.
#[derive(Debug)]
pub(crate) struct Transpose {
    pub indptr: Vec<usize>,
    pub indices: Vec<u32>,
    pub entry: Vec<u32>,
}

impl Pattern {
    /// Takes finished index arrays: `indptr` has `rows + 1` ascending bounds into `indices`.
    ///
    /// # Panics
    /// When the arrays do not fit each other: that is a bug of the caller, not of the data.
    pub fn new(rows: usize, cols: usize, indptr: Vec<usize>, indices: Vec<u32>) -> Self {
        assert_eq!(indptr.len(), rows + 1, "one bound per row and one more");
        assert_eq!(indptr.last(), Some(&indices.len()), "the last bound closes the indices");
        assert!(indptr.is_sorted(), "bounds ascend");
        assert!(indices.iter().all(|&col| (col as usize) < cols), "column within range");
        assert!(indices.len() < u32::MAX as usize, "at most 2^32 entries");
        Pattern { rows, cols, indptr, indices, transpose: OnceLock::new() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// Bounds of the rows in [`Pattern::indices`].
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Columns, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The columns stored in one row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.indices[self.row_range(row)]
    }

    /// Where a row's entries stand.
    pub fn row_range(&self, row: usize) -> std::ops::Range<usize> {
        self.indptr[row]..self.indptr[row + 1]
    }

    /// The entries by column, built on first use.
    pub(crate) fn transpose(&self) -> &Transpose {
        self.transpose.get_or_init(|| {
            let mut indptr = vec![0usize; self.cols + 1];
            for &col in &self.indices {
                indptr[col as usize + 1] += 1;
            }
            for col in 0..self.cols {
                indptr[col + 1] += indptr[col];
            }
            let mut next = indptr.clone();
            let mut indices = vec![0u32; self.nnz()];
            let mut entry = vec![0u32; self.nnz()];
            for row in 0..self.rows {
                for place in self.row_range(row) {
                    let slot = &mut next[self.indices[place] as usize];
                    indices[*slot] = row as u32;
                    entry[*slot] = place as u32;
                    *slot += 1;
                }
            }
            Transpose { indptr, indices, entry }
        })
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.cols) == (other.rows, other.cols)
            && self.indptr == other.indptr
            && self.indices == other.indices
    }
}

/// A sparse matrix: a pattern, which many matrices may share, and one value per entry.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMat {
    /// Which entries are stored.
    pub pattern: Arc<Pattern>,
    /// Their values, in the order of the pattern.
    pub values: Vec<f32>,
}

impl SparseMat {
    /// A pattern with its values.
    pub fn new(pattern: Arc<Pattern>, values: Vec<f32>) -> Self {
        assert_eq!(pattern.nnz(), values.len(), "one value per stored entry");
        SparseMat { pattern, values }
    }

    /// From `(row, column, value)` in any order; entries named twice are added up, zeros are kept out.
    pub fn from_triplets(rows: usize, cols: usize, mut triplets: Vec<(u32, u32, f32)>) -> Self {
        triplets.sort_by_key(|&(row, col, _)| (row, col));
        triplets.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        triplets.retain(|t| t.2 != 0.0);
        let mut indptr = vec![0usize; rows + 1];
        for t in &triplets {
            indptr[t.0 as usize + 1] += 1;
        }
        for row in 0..rows {
            indptr[row + 1] += indptr[row];
        }
        let indices = triplets.iter().map(|t| t.1).collect();
        let values = triplets.iter().map(|t| t.2).collect();
        Self::new(Arc::new(Pattern::new(rows, cols, indptr, indices)), values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Columns and values of one row.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f32)> + '_ {
        let range = self.pattern.row_range(row);
        let values = &self.values[range];
        self.pattern.row(row).iter().copied().zip(values.iter().copied())
    }

    /// With every entry written out.
    pub fn to_dense(&self) -> Mat {
        let mut out = Mat::zeros(self.rows(), self.cols());
        for row in 0..self.rows() {
            for (col, value) in self.row(row) {
                out.row_mut(row)[col as usize] = value;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_sorted_and_merged() {
        let mat = SparseMat::from_triplets(2, 3, vec![(1, 2, 1.0), (0, 1, 2.0), (1, 2, 3.0), (1, 0, 0.0)]);
        assert_eq!(mat.to_dense().as_slice(), [0.0, 2.0, 0.0, 0.0, 0.0, 4.0]);
        assert_eq!(mat.pattern.nnz(), 2);
    }

    #[test]
    fn the_transpose_lists_the_same_entries() {
        let mat = SparseMat::from_triplets(2, 3, vec![(0, 1, 1.0), (1, 0, 2.0), (1, 1, 3.0)]);
        let t = mat.pattern.transpose();
        assert_eq!(t.indptr, [0, 1, 3, 3]);
        assert_eq!(t.indices, [1, 0, 1]);
        let values: Vec<f32> = t.entry.iter().map(|&e| mat.values[e as usize]).collect();
        assert_eq!(values, [2.0, 1.0, 3.0]);
    }
}
