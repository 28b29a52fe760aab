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
/// Chunks whose results wait to be added together: so many are held at once, however many there are.
const WINDOW: usize = 64;

/// The matrix as faer sees it.
pub(crate) fn view(mat: &Mat) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(mat.as_slice(), mat.rows(), mat.cols())
}

/// `AᵀB` of two tall matrices `[n, p]`, `[n, q]`: chunks in `f32`, their sum in `f64`.
pub(super) fn transposed_times(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Small {
    let (p, q) = (a.ncols(), b.ncols());
    let work = |start, rows| {
        let (a, b) = (a.subrows(start, rows), b.subrows(start, rows));
        // Column-major: `p` is mostly the longer side, and the kernel wants that one contiguous.
        let mut out = Mat::scratch(q, p);
        let view = MatMut::from_column_major_slice_mut(out.as_mut_slice(), p, q);
        matmul(view, Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
        out
    };
    let sum = by_chunks(a.nrows(), work, vec![0.0f64; p * q], |mut sum, part| {
        sum.iter_mut().zip(part.as_slice()).for_each(|(sum, &value)| *sum += f64::from(value));
        sum
    });
    MatRef::from_column_major_slice(&sum, p, q).to_owned()
}

/// `AᵀA` of a tall matrix `[n, p]`, all in `f64`: its small eigenvalues tell which columns depend on others.
pub(super) fn gram(a: &Mat) -> Small {
    let cols = a.cols();
    let work = |start, rows| {
        let chunk = Small::from_fn(rows, cols, |row, col| f64::from(a.get(start + row, col)));
        chunk.transpose() * &chunk
    };
    by_chunks(a.rows(), work, Small::zeros(cols, cols), |sum, part| sum + part)
}

/// Adds up the results for fixed chunks of `rows` rows, given by start and length, in order.
fn by_chunks<T: Send, S>(
    rows: usize,
    work: impl Fn(usize, usize) -> T + Sync,
    nothing: S,
    mut add: impl FnMut(S, T) -> S,
) -> S {
    let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
    starts.chunks(WINDOW).fold(nothing, |sum, window| {
        let found: Vec<T> = window.par_iter().map(|&start| work(start, CHUNK.min(rows - start))).collect();
        found.into_iter().fold(sum, &mut add)
    })
}

/// `A C` of a tall `[n, p]` and a small `[p, q]` matrix.
pub(super) fn times(a: MatRef<'_, f32>, c: MatRef<'_, f64>) -> Mat {
    product(a, rounded(c).as_ref())
}

/// The first `used` columns of a tall matrix times a small one `[used, q]`, `q` at most `used`, in the place of its first columns.
pub(super) fn times_in_place(a: &mut Mat, used: usize, c: MatRef<'_, f64>) {
    let (cols, width, c) = (a.cols(), c.ncols(), rounded(c));
    a.as_mut_slice().par_chunks_mut(CHUNK * cols.max(1)).for_each(|chunk| {
        let rows = chunk.len() / cols;
        let mut out = Mat::scratch(rows, width);
        let from = MatRef::from_row_major_slice(chunk, rows, cols).subcols(0, used);
        let to = MatMut::from_row_major_slice_mut(out.as_mut_slice(), rows, width);
        matmul(to, Accum::Replace, from, c.as_ref(), 1.0, Par::Seq);
        chunk
            .chunks_exact_mut(cols)
            .enumerate()
            .for_each(|(row, to)| to[..width].copy_from_slice(out.row(row)));
    });
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
