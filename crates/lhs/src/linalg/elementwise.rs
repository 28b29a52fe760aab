//! Entry by entry: maps, broadcasts and sums.
//!
//! The functions given are moved into the inner loop and should own what they capture (`move`):
//! what is read through a reference might be overwritten by the loop, and would keep it from being vectorised.

use super::Mat;
use super::parallel::{fill_rows, map_chunks};
use super::simd::{self, vectorised};

/// Entries handed to one call of the inner loop; only bounds the size of a task.
const BLOCK: usize = 1 << 12;

/// `f(x)` of every entry.
pub(crate) fn map(x: &Mat, f: impl Fn(f32) -> f32 + Sync + Copy) -> Mat {
    map_indexed(x, move |_, value| f(value))
}

/// `f(a, b)` of every pair of entries.
pub(crate) fn zip(a: &Mat, b: &Mat, f: impl Fn(f32, f32) -> f32 + Sync + Copy) -> Mat {
    assert_eq!(a.shape(), b.shape(), "shapes must agree");
    let mut out = Mat::scratch(a.rows(), a.cols());
    let (left, right) = (a.as_slice(), b.as_slice());
    fill_blocks(out.as_mut_slice(), |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                for ((out, a), b) in part.iter_mut().zip(&left[first..]).zip(&right[first..]) {
                    *out = f(*a, *b);
                }
            },
        )
    });
    out
}

/// `a += b`.
pub(crate) fn add_to(a: &mut Mat, b: &Mat) {
    assert_eq!(a.shape(), b.shape(), "shapes must agree");
    let right = b.as_slice();
    fill_blocks(a.as_mut_slice(), |first, part| {
        vectorised(
            #[inline(always)]
            || {
                for (a, b) in part.iter_mut().zip(&right[first..]) {
                    *a += b;
                }
            },
        )
    });
}

/// `f(index, entry)` of every entry, where `index` counts row-major from 0 (modulo 2^32).
pub(crate) fn map_indexed(x: &Mat, f: impl Fn(u32, f32) -> f32 + Sync + Copy) -> Mat {
    let mut out = Mat::scratch(x.rows(), x.cols());
    let input = x.as_slice();
    fill_blocks(out.as_mut_slice(), |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                // A plain counted loop: the compiler does not vectorise a zip with an open range.
                let input = &input[first..first + part.len()];
                for place in 0..part.len() {
                    part[place] = f((first as u32).wrapping_add(place as u32), input[place]);
                }
            },
        )
    });
    out
}

fn fill_blocks(buffer: &mut [f32], fill: impl Fn(usize, &mut [f32]) + Sync) {
    let whole = buffer.len() / BLOCK * BLOCK;
    let (blocks, rest) = buffer.split_at_mut(whole);
    fill_rows(blocks, BLOCK, BLOCK * 16, |row, part| fill(row * BLOCK, part));
    if !rest.is_empty() {
        fill(whole, rest);
    }
}

/// `f(x_ij, v_j)`: a row vector `[1,n]` against every row.
pub(crate) fn zip_row(x: &Mat, row: &Mat, f: impl Fn(f32, f32) -> f32 + Sync + Copy) -> Mat {
    assert_eq!((1, x.cols()), row.shape(), "a row vector per column of {:?}", x.shape());
    let mut out = Mat::scratch(x.rows(), x.cols());
    let (cols, vector) = (x.cols(), row.as_slice());
    fill_rows(out.as_mut_slice(), cols, cols * 16, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                let input = &x.as_slice()[first * cols..];
                for (out, x) in part.chunks_exact_mut(cols).zip(input.chunks_exact(cols)) {
                    for ((out, x), v) in out.iter_mut().zip(x).zip(vector) {
                        *out = f(*x, *v);
                    }
                }
            },
        )
    });
    out
}

/// `f(x_ij, v_i)`: a column vector `[m,1]` against every column.
pub(crate) fn zip_col(x: &Mat, col: &Mat, f: impl Fn(f32, f32) -> f32 + Sync + Copy) -> Mat {
    assert_eq!((x.rows(), 1), col.shape(), "a column vector per row of {:?}", x.shape());
    let mut out = Mat::scratch(x.rows(), x.cols());
    let (cols, vector) = (x.cols(), col.as_slice());
    fill_rows(out.as_mut_slice(), cols, cols * 16, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                let input = x.as_slice()[first * cols..].chunks_exact(cols);
                for ((out, x), v) in part.chunks_exact_mut(cols).zip(input).zip(&vector[first..]) {
                    for (out, x) in out.iter_mut().zip(x) {
                        *out = f(*x, *v);
                    }
                }
            },
        )
    });
    out
}

/// One number per row: `[m,n] -> [m,1]`.
pub(crate) fn reduce_rows(x: &Mat, f: impl Fn(&[f32]) -> f32 + Sync + Copy) -> Mat {
    let mut out = Mat::scratch(x.rows(), 1);
    let cols = x.cols();
    fill_rows(out.as_mut_slice(), 1, cols / 4 + 1, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                for (offset, out) in part.iter_mut().enumerate() {
                    *out = f(&x.as_slice()[(first + offset) * cols..][..cols]);
                }
            },
        )
    });
    out
}

/// Replaces every row by a function of it.
pub(crate) fn map_rows(x: &Mat, f: impl Fn(&[f32], &mut [f32]) + Sync + Copy) -> Mat {
    let mut out = Mat::scratch(x.rows(), x.cols());
    let cols = x.cols();
    fill_rows(out.as_mut_slice(), cols, cols, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                let input = &x.as_slice()[first * cols..];
                for (out, x) in part.chunks_exact_mut(cols).zip(input.chunks_exact(cols)) {
                    f(x, out);
                }
            },
        )
    });
    out
}

/// Fills each row from the same row of two matrices.
pub(crate) fn fill_from_rows(a: &Mat, b: &Mat, f: impl Fn(&[f32], &[f32], &mut [f32]) + Sync + Copy) -> Mat {
    assert_eq!(a.shape(), b.shape(), "shapes must agree");
    let mut out = Mat::scratch(a.rows(), a.cols());
    let cols = a.cols();
    fill_rows(out.as_mut_slice(), cols, cols, |first, part| {
        vectorised(
            #[inline(always)]
            move || {
                let (a, b) = (&a.as_slice()[first * cols..], &b.as_slice()[first * cols..]);
                for ((out, a), b) in
                    part.chunks_exact_mut(cols).zip(a.chunks_exact(cols)).zip(b.chunks_exact(cols))
                {
                    f(a, b, out);
                }
            },
        )
    });
    out
}

/// Sum of all entries, in double precision over fixed chunks.
pub(crate) fn sum(x: &Mat) -> f32 {
    let blocks = x.len().div_ceil(BLOCK);
    let parts = map_chunks(blocks, BLOCK / 8, |range| {
        let values = &x.as_slice()[range.start * BLOCK..(range.end * BLOCK).min(x.len())];
        vectorised(
            #[inline(always)]
            || values.chunks(BLOCK).map(|block| f64::from(simd::sum(block))).sum::<f64>(),
        )
    });
    parts.into_iter().sum::<f64>() as f32
}

/// Sum over the rows: `[m,n] -> [1,n]`.
pub(crate) fn sum_columns(x: &Mat) -> Mat {
    let cols = x.cols();
    let parts = map_chunks(x.rows(), cols / 8 + 1, |range| {
        let mut sums = Mat::zeros(1, cols);
        let out = sums.as_mut_slice();
        vectorised(
            #[inline(always)]
            || {
                for row in range {
                    simd::axpy(out, 1.0, &x.as_slice()[row * cols..][..cols]);
                }
            },
        );
        sums
    });
    let mut total = Mat::zeros(1, cols);
    for part in &parts {
        add_to(&mut total, part);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_reach_every_entry() {
        for (rows, cols) in [(0, 3), (1, 1), (7, 5), (3000, 7)] {
            let x = Mat::from_fn(rows, cols, |r, c| (r + c) as f32);
            assert_eq!(map(&x, |v| v + 1.0), Mat::from_fn(rows, cols, |r, c| (r + c) as f32 + 1.0));
            let indexed = map_indexed(&x, |i, _| i as f32);
            assert_eq!(indexed, Mat::from_fn(rows, cols, |r, c| (r * cols + c) as f32));
            let total: f64 = x.as_slice().iter().map(|v| f64::from(*v)).sum();
            assert!((f64::from(sum(&x)) - total).abs() < 1e-3);
        }
    }

    #[test]
    fn broadcasts_and_row_reductions() {
        let x = Mat::from_fn(2, 3, |r, c| (r * 3 + c) as f32);
        let row = Mat::from_slice(1, 3, &[1.0, 2.0, 3.0]);
        let col = Mat::column(&[10.0, 20.0]);
        assert_eq!(zip_row(&x, &row, |a, b| a * b).as_slice(), [0.0, 2.0, 6.0, 3.0, 8.0, 15.0]);
        assert_eq!(zip_col(&x, &col, |a, b| a + b).as_slice(), [10.0, 11.0, 12.0, 23.0, 24.0, 25.0]);
        assert_eq!(reduce_rows(&x, simd::sum).as_slice(), [3.0, 12.0]);
        assert_eq!(sum_columns(&x).as_slice(), [3.0, 5.0, 7.0]);
    }
}
