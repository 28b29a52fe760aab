//! A feature matrix that arrives entry by entry and is kept sparse as long as it is sparse.

use std::io::Read;

use crate::error::{Error, Result};
use crate::graph::Features;
use crate::io::npy::Reader;
use crate::linalg::{Mat, Pattern, SparseMat};

/// Reads a dense [nodes, columns] array without ever holding a sparse one densely.
pub(super) fn read<R: Read>(array: Reader<R>, num_nodes: usize) -> Result<Features> {
    array.expect_shape(&[Some(num_nodes), None], "[nodes, columns], with one row per node")?;
    let (dim, fortran) = (array.header().shape[1], array.header().fortran);
    if u32::try_from(dim).is_err() {
        return Err(Error::data(
            format!("{dim} columns are too many"),
            "features have fewer than 2^32 columns",
        ));
    }
    if num_nodes == 0 || dim == 0 {
        array.stream(|_: &[f32]| Ok(()))?;
        return Ok(Features::none(num_nodes));
    }
    // In Fortran order the file holds the rows of the transposed matrix.
    let (rows, cols) = if fortran { (dim, num_nodes) } else { (num_nodes, dim) };
    let mut growing = Growing::new(rows, cols);
    array.stream(|entries| {
        growing.extend(entries);
        Ok(())
    })?;
    let features = growing.finish();
    Ok(if fortran { transposed(&features) } else { features })
}

/// The entries so far: non-zeros only, until a quarter of all entries is known not to be zero. Only then
/// is the dense matrix allocated, so that a header alone can never cause it.
pub(in crate::io) struct Growing {
    rows: usize,
    cols: usize,
    /// Where the next entry goes, counted row after row.
    place: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    dense: Option<Mat>,
}

impl Growing {
    pub fn new(rows: usize, cols: usize) -> Self {
        let (indptr, indices, values) = (vec![0], Vec::new(), Vec::new());
        Growing { rows, cols, place: 0, indptr, indices, values, dense: None }
    }

    /// Adds entries, not more than there is room for.
    pub fn extend(&mut self, entries: &[f32]) {
        if let Some(dense) = &mut self.dense {
            dense.as_mut_slice()[self.place..][..entries.len()].copy_from_slice(entries);
            self.place += entries.len();
            return;
        }
        let mut col = self.place % self.cols;
        for &value in entries {
            if value != 0.0 {
                self.indices.push(col as u32);
                self.values.push(value);
            }
            col += 1;
            if col == self.cols {
                self.indptr.push(self.indices.len());
                col = 0;
            }
        }
        self.place += entries.len();
        if self.values.len() >= self.rows * self.cols / 4 {
            self.dense = Some(self.spread());
        }
    }

    /// What is known so far, densely; the rest is zero.
    fn spread(&mut self) -> Mat {
        self.indptr.resize(self.rows + 1, self.indices.len());
        self.take_sparse().to_dense()
    }

    fn take_sparse(&mut self) -> SparseMat {
        use std::mem::take;
        let pattern = Pattern::new(self.rows, self.cols, take(&mut self.indptr), take(&mut self.indices));
        SparseMat::new(pattern.into(), take(&mut self.values))
    }

    /// What was added, which must be everything.
    pub fn finish(mut self) -> Features {
        match self.dense.take() {
            Some(mat) => Features::from_dense(mat),
            None => Features::from_sparse(self.take_sparse()),
        }
    }
}

fn transposed(features: &Features) -> Features {
    match features {
        Features::Dense(mat) => Features::Dense(mat.transposed()),
        Features::Sparse(mat) => {
            let by_column = mat.pattern.transpose();
            let values = by_column.entry.iter().map(|&entry| mat.values[entry as usize]).collect();
            let (indptr, indices) = (by_column.indptr.clone(), by_column.indices.clone());
            let pattern = Pattern::new(mat.cols(), mat.rows(), indptr, indices);
            Features::Sparse(SparseMat::new(pattern.into(), values))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::npy::{Dtype, Header};

    /// A matrix of which every `step`-th entry is not zero, read in both orders.
    fn check(rows: usize, cols: usize, step: usize) {
        let expected = Mat::from_fn(rows, cols, |r, c| {
            if (r * cols + c).is_multiple_of(step) { (r + c + 1) as f32 } else { 0.0 }
        });
        for (fortran, stored) in [(false, expected.clone()), (true, expected.transposed())] {
            let bytes: Vec<u8> = stored.as_slice().iter().flat_map(|v| v.to_le_bytes()).collect();
            let header = Header::new(Dtype::parse("<f4").unwrap(), fortran, vec![rows, cols]).unwrap();
            let features = read(Reader::bare(header, bytes.as_slice()), rows).unwrap();
            assert_eq!(
                features,
                Features::from_dense(expected.clone()),
                "{rows}x{cols} every {step}, {fortran}"
            );
        }
    }

    #[test]
    fn every_density_and_order_gives_the_same_matrix() {
        // The larger ones take several chunks, so that the change to dense happens half-way.
        for (rows, cols) in [(1, 1), (3, 5), (700, 300), (20_000, 3), (2, 60_000)] {
            for step in [1, 2, 3, 5, 50] {
                check(rows, cols, step);
            }
        }
    }

    #[test]
    fn no_columns_means_no_features() {
        let header = Header::new(Dtype::parse("<f4").unwrap(), false, vec![4, 0]).unwrap();
        assert_eq!(read(Reader::bare(header, &[][..]), 4).unwrap(), Features::none(4));
    }
}
