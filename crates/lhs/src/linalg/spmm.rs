//! Sparse times dense: `S X`, `Sᵀ X`, and products sampled at the entries of a pattern.
//!
//! These three are closed under differentiation: the gradient of each with respect to the values or the
//! dense side is one of the others. Cost of each: `nnz * cols` multiply-adds.

use super::parallel::fill_rows;
use super::simd::{self, vectorised};
use super::{Mat, Pattern};

/// `S X`: `[m,n] x [n,d] -> [m,d]`, `values` in the order of the pattern.
pub fn spmm(pattern: &Pattern, values: &[f32], x: &Mat) -> Mat {
    assert_eq!(pattern.cols(), x.rows(), "columns of S against rows of X");
    assert_eq!(pattern.nnz(), values.len(), "one value per entry");
    product(pattern.rows(), pattern.indptr(), pattern.indices(), values, x)
}

/// Values in the order of the transpose, for [`spmm_t`].
pub fn transposed_values(pattern: &Pattern, values: &[f32]) -> Vec<f32> {
    pattern.transpose().entry.iter().map(|&entry| values[entry as usize]).collect()
}

/// `Sᵀ X`: `[m,n]ᵀ x [m,d] -> [n,d]`, `values` in the order of the transpose, see [`transposed_values`].
pub fn spmm_t(pattern: &Pattern, values: &[f32], x: &Mat) -> Mat {
    assert_eq!(pattern.rows(), x.rows(), "rows of S against rows of X");
    assert_eq!(pattern.nnz(), values.len(), "one value per entry");
    let t = pattern.transpose();
    product(pattern.cols(), &t.indptr, &t.indices, values, x)
}

/// `<a_row, b_col>` for every entry of the pattern: `[m,d], [n,d] -> [nnz,1]`.
pub fn sddmm(pattern: &Pattern, a: &Mat, b: &Mat) -> Mat {
    assert_eq!((pattern.rows(), pattern.cols()), (a.rows(), b.rows()), "rows of both sides");
    assert_eq!(a.cols(), b.cols(), "columns of both sides");
    let cols = a.cols();
    let mut out = Mat::scratch(pattern.nnz(), 1);
    fill_rows(out.as_mut_slice(), 1, cols, |first, part| {
        let mut row = pattern.indptr().partition_point(|&bound| bound <= first) - 1;
        vectorised(
            #[inline(always)]
            || {
                for (offset, out) in part.iter_mut().enumerate() {
                    let place = first + offset;
                    while pattern.indptr()[row + 1] <= place {
                        row += 1;
                    }
                    let col = pattern.indices()[place] as usize;
                    *out =
                        simd::dot(&a.as_slice()[row * cols..][..cols], &b.as_slice()[col * cols..][..cols]);
                }
            },
        )
    });
    out
}

/// `<a_row, b_col>` for places in any order: `[m,d], [n,d] -> [places,1]`.
pub fn dots_at(rows: &[u32], cols: &[u32], a: &Mat, b: &Mat) -> Mat {
    assert_eq!(rows.len(), cols.len(), "a column for each row");
    assert_eq!(a.cols(), b.cols(), "columns of both sides");
    let width = a.cols();
    let mut out = Mat::scratch(rows.len(), 1);
    fill_rows(out.as_mut_slice(), 1, width, |first, part| {
        vectorised(
            #[inline(always)]
            || {
                for ((out, &row), &col) in part.iter_mut().zip(&rows[first..]).zip(&cols[first..]) {
                    let (row, col) = (row as usize * width, col as usize * width);
                    *out = simd::dot(&a.as_slice()[row..][..width], &b.as_slice()[col..][..width]);
                }
            },
        )
    });
    out
}

fn product(rows: usize, indptr: &[usize], indices: &[u32], values: &[f32], x: &Mat) -> Mat {
    let cols = x.cols();
    let mut out = Mat::scratch(rows, cols);
    // Finding an entry costs about as much as eight columns of it.
    let row_work = (cols + 8) * (indices.len() / rows.max(1) + 1);
    fill_rows(out.as_mut_slice(), cols, row_work, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                for (offset, out) in part.chunks_exact_mut(cols).enumerate() {
                    let places = indptr[first + offset]..indptr[first + offset + 1];
                    combine(out, &indices[places.clone()], &values[places], x.as_slice(), cols);
                }
            },
        )
    });
    out
}

/// `out = sum of values * x[index]`, by blocks of columns that fit the registers.
#[inline(always)]
fn combine(out: &mut [f32], indices: &[u32], values: &[f32], x: &[f32], cols: usize) {
    let mut first = 0;
    macro_rules! blocks {
        ($($width:literal)*) => {$(
            while cols - first >= $width {
                block::<$width>(&mut out[first..], indices, values, x, cols, first);
                first += $width;
            }
        )*};
    }
    blocks!(64 32 16 8 7 6 5 4 3 2 1);
}

#[inline(always)]
fn block<const WIDTH: usize>(
    out: &mut [f32],
    indices: &[u32],
    values: &[f32],
    x: &[f32],
    cols: usize,
    first: usize,
) {
    let mut sums = [0f32; WIDTH];
    for (index, value) in indices.iter().zip(values) {
        let from = &x[*index as usize * cols + first..][..WIDTH];
        for lane in 0..WIDTH {
            sums[lane] = value.mul_add(from[lane], sums[lane]);
        }
    }
    out[..WIDTH].copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{SparseMat, matmul};

    fn sample(rows: usize, cols: usize) -> SparseMat {
        let entry = |i: usize| {
            let hash = (i as u32).wrapping_mul(2_654_435_761);
            (hash >> 8 & 7 == 0).then_some((hash >> 16) as f32 / 65536.0 - 0.4)
        };
        let triplets = (0..rows * cols)
            .filter_map(|i| Some(((i / cols) as u32, (i % cols) as u32, entry(i)?)))
            .collect();
        SparseMat::from_triplets(rows, cols, triplets)
    }

    fn close(a: &Mat, b: &Mat) {
        assert_eq!(a.shape(), b.shape());
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() < 1e-4, "{x} {y}");
        }
    }

    #[test]
    fn sparse_products_equal_dense_ones() {
        let s = sample(40, 60);
        for cols in [1, 5, 7, 16, 64, 100, 131] {
            let x = Mat::from_fn(60, cols, |r, c| ((r * 7 + c * 3) % 11) as f32 - 5.0);
            let z = Mat::from_fn(40, cols, |r, c| ((r * 5 + c * 2) % 13) as f32 - 6.0);
            close(&spmm(&s.pattern, &s.values, &x), &matmul(&s.to_dense(), &x));
            let transposed = transposed_values(&s.pattern, &s.values);
            close(&spmm_t(&s.pattern, &transposed, &z), &matmul(&s.to_dense().transposed(), &z));
            let sampled = sddmm(&s.pattern, &z, &x);
            let full = matmul(&z, &x.transposed());
            for row in 0..40 {
                for place in s.pattern.row_range(row) {
                    let here = [row as u32];
                    let there = &s.pattern.indices()[place..=place];
                    assert_eq!(dots_at(&here, there, &z, &x).as_slice(), &sampled.as_slice()[place..=place]);
                    let expected = full.get(row, s.pattern.indices()[place] as usize);
                    assert!((sampled.as_slice()[place] - expected).abs() < 1e-2);
                }
            }
        }
    }

    #[test]
    fn rows_without_entries_are_zero() {
        let s = SparseMat::from_triplets(3, 2, vec![(2, 1, 4.0)]);
        let x = Mat::full(2, 3, 1.0);
        assert_eq!(spmm(&s.pattern, &s.values, &x).as_slice(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0]);
        assert_eq!(sddmm(&s.pattern, &Mat::full(3, 5, 1.0), &Mat::full(2, 5, 2.0)).as_slice(), [10.0]);
    }
}
