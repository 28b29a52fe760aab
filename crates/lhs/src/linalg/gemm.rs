//! Dense products on faer's kernels: `AB`, `ABᵀ`, `AᵀB`.
//!
//! Rows of the result are computed in fixed chunks; `AᵀB`, whose sum runs over the long side, adds fixed
//! blocks of that side in order. Either way the bits do not depend on the number of threads.

use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Mat;

/// About the work of one task, in multiply-adds.
const TASK_WORK: usize = 1 << 19;
/// Below this many multiply-adds a second thread costs more than it brings.
const WORTH_SPLITTING: usize = 3 * TASK_WORK;
/// Rows of one partial sum of `AᵀB`.
const INNER_BLOCK: usize = 4096;

fn view(mat: &Mat) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(mat.as_slice(), mat.rows(), mat.cols())
}

/// `A B`: `[m,k] x [k,n] -> [m,n]`.
pub fn matmul(a: &Mat, b: &Mat) -> Mat {
    assert_eq!(a.cols(), b.rows(), "inner sizes of {:?} x {:?}", a.shape(), b.shape());
    rows_times(a, view(b))
}

/// `A Bᵀ`: `[m,k] x [n,k] -> [m,n]`.
pub fn matmul_nt(a: &Mat, b: &Mat) -> Mat {
    assert_eq!(a.cols(), b.cols(), "inner sizes of {:?} x {:?}ᵀ", a.shape(), b.shape());
    rows_times(a, view(b).transpose())
}

/// `Aᵀ B`: `[k,m] x [k,n] -> [m,n]`.
pub fn matmul_tn(a: &Mat, b: &Mat) -> Mat {
    assert_eq!(a.rows(), b.rows(), "inner sizes of {:?}ᵀ x {:?}", a.shape(), b.shape());
    let (m, n) = (a.cols(), b.cols());
    let partial = |first: usize| {
        let rows = INNER_BLOCK.min(a.rows() - first);
        let mut out = Mat::scratch(m, n);
        let left = view(a).subrows(first, rows).transpose();
        multiply(out.as_mut_slice(), m, n, left, view(b).subrows(first, rows));
        out
    };
    let blocks = a.rows().div_ceil(INNER_BLOCK);
    if blocks == 0 || m * n == 0 {
        return Mat::zeros(m, n);
    }
    if blocks == 1 {
        return partial(0);
    }
    let parts: Vec<Mat> = if rayon::current_num_threads() > 1 && a.rows() * m * n >= WORTH_SPLITTING {
        (0..blocks).into_par_iter().map(|i| partial(i * INNER_BLOCK)).collect()
    } else {
        (0..blocks).map(|i| partial(i * INNER_BLOCK)).collect()
    };
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_else(|| Mat::zeros(m, n));
    for part in parts {
        super::elementwise::add_to(&mut total, &part);
    }
    total
}

fn rows_times(a: &Mat, right: MatRef<'_, f32>) -> Mat {
    let (m, k, n) = (a.rows(), a.cols(), right.ncols());
    let mut out = Mat::scratch(m, n);
    if m * n == 0 || k == 0 {
        out.as_mut_slice().fill(0.0);
        return out;
    }
    let rows = (TASK_WORK / (k * n)).clamp(64, 1 << 14).next_multiple_of(64);
    let fill = |first: usize, part: &mut [f32]| {
        let count = part.len() / n;
        multiply(part, count, n, view(a).subrows(first, count), right);
    };
    let parts = out.as_mut_slice();
    if m * k * n >= WORTH_SPLITTING && rayon::current_num_threads() > 1 {
        parts.par_chunks_mut(rows * n).enumerate().for_each(|(i, part)| fill(i * rows, part));
    } else {
        parts.chunks_mut(rows * n).enumerate().for_each(|(i, part)| fill(i * rows, part));
    }
    out
}

/// Results with fewer columns than this are computed column by column.
const NARROW: usize = 16;

/// One product on this thread, into a row-major buffer.
pub(crate) fn multiply(out: &mut [f32], m: usize, n: usize, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    if n >= NARROW || m < 2 * n {
        let out = MatMut::from_row_major_slice_mut(out, m, n);
        return faer_matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
    }
    // The kernels fill their registers along contiguous entries of the result: with few columns, along a column.
    let mut columns = Mat::scratch(n, m);
    let by_column = MatMut::from_column_major_slice_mut(columns.as_mut_slice(), m, n);
    faer_matmul(by_column, Accum::Replace, left, right, 1.0, Par::Seq);
    for (row, out) in out.chunks_exact_mut(n).enumerate() {
        for (col, out) in out.iter_mut().enumerate() {
            *out = columns.as_slice()[col * m + row];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, cols: usize, seed: u32) -> Mat {
        Mat::from_fn(rows, cols, |r, c| {
            ((r as u32 * 31 + c as u32 * 17 + seed).wrapping_mul(2_654_435_761) >> 8) as f32 / 1e7 - 0.8
        })
    }

    fn naive(a: &Mat, b: &Mat) -> Mat {
        Mat::from_fn(a.rows(), b.cols(), |r, c| {
            (0..a.cols()).map(|k| f64::from(a.get(r, k)) * f64::from(b.get(k, c))).sum::<f64>() as f32
        })
    }

    fn close(a: &Mat, b: &Mat) {
        assert_eq!(a.shape(), b.shape());
        for (x, y) in a.as_slice().iter().zip(b.as_slice()) {
            assert!((x - y).abs() <= 1e-3 * (1.0 + y.abs()), "{x} {y}");
        }
    }

    #[test]
    fn products_equal_the_definition() {
        for (m, k, n) in [(1, 1, 1), (3, 5, 2), (70, 33, 65), (300, 64, 7), (5000, 12, 9)] {
            let (a, b) = (sample(m, k, 1), sample(k, n, 2));
            let expected = naive(&a, &b);
            close(&matmul(&a, &b), &expected);
            close(&matmul_nt(&a, &b.transposed()), &expected);
            close(&matmul_tn(&a.transposed(), &b), &expected);
        }
    }

    #[test]
    fn a_long_inner_side_gives_the_same_bits_on_any_number_of_threads() {
        let (a, b) = (sample(20_000, 40, 1), sample(20_000, 30, 2));
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (matmul_tn(&a, &b), matmul_nt(&a, &a.select_rows(&(0..100).collect::<Vec<_>>()))))
        };
        assert_eq!(on(1), on(2));
    }

    #[test]
    fn empty_sides_give_zeros() {
        assert_eq!(matmul(&Mat::zeros(2, 0), &Mat::zeros(0, 3)), Mat::zeros(2, 3));
        assert_eq!(matmul_tn(&Mat::zeros(0, 2), &Mat::zeros(0, 3)), Mat::zeros(2, 3));
    }
}
