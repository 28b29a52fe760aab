//! Products of tall `f32` matrices `[n, p]`, `p` much smaller than `n`, with each other and with small `f64`
//! ones.
//!
//! `n` is walked in fixed chunks of rows and the chunks' sums are added in order: the same bits on any
//! number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Mat;

/// A matrix whose size does not grow with `n`.
pub(super) type Small = faer::Mat<f64>;

/// Rows per chunk.
const CHUNK: usize = 1024;

/// The matrix as faer sees it.
pub(crate) fn view(mat: &Mat) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(mat.as_slice(), mat.rows(), mat.cols())
}

/// `AᵀB` of two tall matrices `[n, p]`, `[n, q]`: chunks in `f32`, their sum in `f64`.
pub(super) fn transposed_times(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Small {
    let (p, q) = (a.ncols(), b.ncols());
    let partial = by_chunks(a.nrows(), |start, rows| {
        let (a, b) = (a.subrows(start, rows), b.subrows(start, rows));
        // Column-major: `p` is mostly the longer side, and the kernel wants that one contiguous.
        let mut out = Mat::scratch(q, p);
        let view = MatMut::from_column_major_slice_mut(out.as_mut_slice(), p, q);
        matmul(view, Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
        out
    });
    let mut sum = vec![0.0f64; p * q];
    for part in &partial {
        sum.iter_mut().zip(part.as_slice()).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    MatRef::from_column_major_slice(&sum, p, q).to_owned()
}

/// `AᵀA` of a tall matrix `[n, p]`, all in `f64`: its small eigenvalues tell which columns depend on others.
pub(super) fn gram(a: &Mat) -> Small {
    let cols = a.cols();
    let partial = by_chunks(a.rows(), |start, rows| {
        let chunk = Small::from_fn(rows, cols, |row, col| f64::from(a.get(start + row, col)));
        chunk.transpose() * &chunk
    });
    partial.into_iter().fold(Small::zeros(cols, cols), |sum, part| sum + part)
}

/// The results for fixed chunks of `rows` rows, given by start and length, in order.
fn by_chunks<T: Send>(rows: usize, work: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
    starts.into_par_iter().map(|start| work(start, CHUNK.min(rows - start))).collect()
}

/// `A C` of a tall `[n, p]` and a small `[p, q]` matrix.
pub(super) fn times(a: MatRef<'_, f32>, c: MatRef<'_, f64>) -> Mat {
    product(a, rounded(c).as_ref())
}

/// `out − A C`, in place.
pub(super) fn subtract_times(out: &mut Mat, a: MatRef<'_, f32>, c: &Small) {
    accumulate(out, Accum::Add, a, rounded(c.as_ref()).as_ref(), -1.0);
}

/// `A B` of a tall `[n, p]` matrix and any other `[p, q]`.
pub(super) fn product(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Mat {
    let mut out = Mat::scratch(a.nrows(), b.ncols());
    accumulate(&mut out, Accum::Replace, a, b, 1.0);
    out
}

/// A small matrix in single precision.
pub(super) fn rounded(small: MatRef<'_, f64>) -> faer::Mat<f32> {
    faer::Mat::from_fn(small.nrows(), small.ncols(), |row, col| small[(row, col)] as f32)
}

fn accumulate(out: &mut Mat, accum: Accum, a: MatRef<'_, f32>, b: MatRef<'_, f32>, factor: f32) {
    let cols = b.ncols();
    if out.is_empty() {
        return;
    }
    out.as_mut_slice().par_chunks_mut(CHUNK * cols).enumerate().for_each(|(chunk, out)| {
        let rows = out.len() / cols;
        let view = MatMut::from_row_major_slice_mut(out, rows, cols);
        matmul(view, accum, a.subrows(chunk * CHUNK, rows), b, factor, Par::Seq);
    });
}
