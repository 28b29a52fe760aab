//! Products of a large dense matrix with few columns, `[m, k] x [k, w]`, `w` up to 16: as fast as the memory gives the rows.
//!
//! General kernels copy their operands into an order of their own first, which pays when each entry is used often. Here
//! it is used `w` times, and the copy takes as long as the product. Instead, eight rows are read side by side, and
//! `8 x 16` sums are kept in registers along the whole inner side.

use super::Mat;
use super::gemm::matmul;
use super::parallel::fill_rows;
use super::simd::vectorised;

/// Columns of the right side, with zeros up to there.
const LANES: usize = 16;
/// Rows of the left side that are read together.
const ROWS: usize = 8;
/// Entries of a row whose bounds are checked together.
const STEP: usize = 8;

/// `A B`: `[m,k] x [k,w] -> [m,w]`; more than 16 columns are left to the general product.
pub fn matmul_narrow(a: &Mat, b: &Mat) -> Mat {
    assert_eq!(a.cols(), b.rows(), "inner sizes of {:?} x {:?}", a.shape(), b.shape());
    let (inner, width) = b.shape();
    if width > LANES {
        return matmul(a, b);
    }
    let mut padded = Mat::zeros(inner, LANES);
    for row in 0..inner {
        padded.row_mut(row)[..width].copy_from_slice(b.row(row));
    }
    let right = padded.as_slice().as_chunks::<LANES>().0;
    let mut out = Mat::scratch(a.rows(), width);
    fill_rows(out.as_mut_slice(), width, inner * LANES, |first, part| {
        vectorised(
            #[inline(always)]
            || {
                let rows = part.len() / width;
                let whole = rows / ROWS * ROWS;
                for row in (0..whole).step_by(ROWS) {
                    together::<ROWS>(a, first + row, right, &mut part[row * width..][..ROWS * width]);
                }
                for row in whole..rows {
                    together::<1>(a, first + row, right, &mut part[row * width..][..width]);
                }
            },
        )
    });
    out
}

/// The results of `N` rows from `first` on.
#[inline(always)]
fn together<const N: usize>(a: &Mat, first: usize, right: &[[f32; LANES]], out: &mut [f32]) {
    let (inner, width) = (right.len(), out.len() / N);
    let rows: [_; N] =
        std::array::from_fn(|row| a.as_slice()[(first + row) * inner..][..inner].as_chunks::<STEP>());
    let (steps, rest) = right.as_chunks::<STEP>();
    let mut sums = [[0f32; LANES]; N];
    for (step, right) in steps.iter().enumerate() {
        let left: [&[f32; STEP]; N] = std::array::from_fn(|row| &rows[row].0[step]);
        for place in 0..STEP {
            for row in 0..N {
                add(&mut sums[row], left[row][place], right[place]);
            }
        }
    }
    for (place, right) in rest.iter().enumerate() {
        for row in 0..N {
            add(&mut sums[row], rows[row].1[place], *right);
        }
    }
    for (out, sums) in out.chunks_exact_mut(width).zip(&sums) {
        out.copy_from_slice(&sums[..width]);
    }
}

#[inline(always)]
fn add(sums: &mut [f32; LANES], left: f32, right: [f32; LANES]) {
    for lane in 0..LANES {
        sums[lane] = left.mul_add(right[lane], sums[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_general_product() {
        for (rows, inner, width) in
            [(1, 1, 1), (7, 5, 3), (8, 64, 16), (100, 333, 5), (30, 40, 17), (5, 0, 2), (0, 3, 2), (3, 2, 0)]
        {
            let a = Mat::from_fn(rows, inner, |row, col| ((row * 7 + col * 3) % 11) as f32 - 4.0);
            let b = Mat::from_fn(inner, width, |row, col| ((row * 5 + col) % 7) as f32 - 3.0);
            assert_eq!(matmul_narrow(&a, &b), matmul(&a, &b), "{rows} {inner} {width}");
        }
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let a = Mat::from_fn(700, 900, |row, col| ((row * 31 + col * 17) % 101) as f32 / 77.0);
        let b = Mat::from_fn(900, 9, |row, col| ((row * 13 + col) % 89) as f32 / 55.0);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| matmul_narrow(&a, &b))
        };
        assert_eq!(run(1), run(2));
    }
}
