//! Shrinks the singular values of a dense symmetric matrix: the proximal step of the nuclear norm.
//!
//! `V diag(sign(λ) max(|λ| - by, 0)) Vᵀ` of a symmetric `V diag(λ) Vᵀ`: only pairs with `|λ| > by` matter. A matrix that
//! is shrunk again and again, with small changes in between, keeps few of them, close to the last ones. These are found
//! by subspace iteration from the last ones and some random columns, `Q ← orth(S Q)`, with Rayleigh-Ritz:
//! `T = Qᵀ S Q = W Θ Wᵀ`, pairs `(θ, Q w)`, residuals `R = S Q W - Q W Θ`. Pairs with small residuals are done, and the
//! others go on beside them.
//!
//! Why that is enough: with the kept pairs split off, `S` changes by `√2 ‖R‖`, and the step never enlarges distances, so
//! the result is as far from the right one at the most, as long as the rest of the spectrum is below `by`. That it is,
//! the random columns tell: they turn towards whatever large is left, and must have ended below.
//!
//! Cost of a full decomposition `O(n³)`, about `9 n³`; of a product with `w` columns `2 n² w`, and `8 n w²` around it.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Par, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Mat;
use super::tall::{Small, product, rounded, subtract_times, times, transposed_times, view};

/// From this share of all pairs on, a full decomposition is as fast.
const FEW: f64 = 0.4;
/// Matrices up to this size are always decomposed as a whole: that takes milliseconds.
const SMALL: usize = 256;
/// Random columns beside those of the last step, at least.
const EXTRA: usize = 16;
/// Products that random columns need, before the last one, to turn towards what is large.
const BLIND: usize = 2;
/// Products before giving up.
const PATIENCE: usize = 8;
/// Residuals allowed, all together, relative to the matrix (Frobenius).
const TOLERANCE: f64 = 1e-5;

/// Added to the eigenvalues while iterating, relative to the threshold.
const SHIFT: f32 = 0.01;
/// A column's share outside of those before it, from which on one round makes it orthogonal to them.
const INDEPENDENT: f64 = 0.3;

/// Shrinks a matrix that changes little from step to step.
#[derive(Clone, Debug, Default)]
pub struct Shrinker {
    /// Orthonormal vectors `[n, kept]` of the pairs that the last step left.
    pub kept: Option<Mat>,
}

impl Shrinker {
    /// The matrix with every singular value shrunk; only the lower half is read for sure.
    ///
    /// A matrix that cannot be decomposed (it has a NaN) stays as it is.
    pub fn shrink(&mut self, matrix: &Mat, by: f32) -> Mat {
        let near = self.kept.take().and_then(|kept| partial(matrix, by, &kept));
        let Some((values, vectors)) = near.or_else(|| full(matrix, by)) else { return matrix.clone() };
        let mut right = vectors.clone();
        for row in 0..right.rows() {
            right
                .row_mut(row)
                .iter_mut()
                .zip(&values)
                .for_each(|(entry, value)| *entry *= value - by.copysign(*value));
        }
        let shrunk = product(view(&vectors), view(&right).transpose());
        self.kept = Some(vectors);
        shrunk
    }
}

/// The pairs with `|λ| > by`, of the whole decomposition.
fn full(matrix: &Mat, by: f32) -> Option<(Vec<f32>, Mat)> {
    let size = matrix.rows();
    if size == 0 {
        return None;
    }
    let eigen = view(matrix).self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let kept: Vec<usize> = (0..size).filter(|&pair| values[pair].abs() > by).collect();
    let vectors = Mat::from_fn(size, kept.len(), |row, col| vectors[(row, kept[col])]);
    Some((kept.iter().map(|&pair| values[pair]).collect(), vectors))
}

/// The pairs with `|λ| > by` near those given; `None` where a full decomposition is as fast, or it is not sure.
fn partial(matrix: &Mat, by: f32, near: &Mat) -> Option<(Vec<f32>, Mat)> {
    let size = matrix.rows();
    let extra = EXTRA.max(near.cols() / 16);
    let width = near.cols() + extra;
    if near.rows() != size || size <= SMALL || width as f64 > FEW * size as f64 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(size as u64);
    let mut random = Mat::from_fn(size, extra, |_, _| rng.random::<f32>() - 0.5);
    let inside = transposed_times(view(near), view(&random));
    subtract_times(&mut random, view(near), &inside);
    let mut basis = Mat::side_by_side(&[near.clone(), orthonormal(random)?]);
    let allowed = TOLERANCE * frobenius(matrix);
    // Large pairs are found at once; the more products only serve those near the threshold, and the random columns.
    let mut found = Found { values: Vec::new(), vectors: Mat::zeros(size, 0), square: 0.0 };
    for step in 0..PATIENCE {
        let mut image = product(view(matrix), view(&basis));
        if step > 0 {
            let (values, rotation) = ritz(&basis, &image)?;
            basis = product(view(&basis), rotation.as_ref());
            image = product(view(&image), rotation.as_ref());
            let kept = values.iter().take_while(|value| value.abs() > by).count();
            if kept + EXTRA / 2 > values.len() {
                return None;
            }
            let squares = residuals(&image, &basis, &values[..kept]);
            if step >= BLIND && found.square + squares.iter().sum::<f64>() <= allowed * allowed {
                found.add(&values, &basis, &squares, |_| true);
                return Some((found.values, found.vectors));
            }
            let enough = 0.25 * allowed * allowed / width as f64;
            found.add(&values, &basis, &squares, |square| square <= enough);
            let open: Vec<usize> = (0..values.len())
                .filter(|&pair| squares.get(pair).is_none_or(|&square| square > enough))
                .collect();
            (basis, image) = (columns(&basis, &open), columns(&image, &open));
        }
        // The columns of a matrix of low rank would depend on each other: S + δ has the same vectors and full rank.
        image
            .as_mut_slice()
            .iter_mut()
            .zip(basis.as_slice())
            .for_each(|(image, own)| *image += SHIFT * by * own);
        let inside = transposed_times(view(&found.vectors), view(&image));
        subtract_times(&mut image, view(&found.vectors), &inside);
        basis = orthonormal(image)?;
    }
    None
}

/// Pairs that are known well enough.
struct Found {
    values: Vec<f32>,
    vectors: Mat,
    /// The sum of their squared residuals.
    square: f64,
}

impl Found {
    /// Takes over those of the leading pairs whose squared residual is good enough.
    fn add(&mut self, values: &[f32], vectors: &Mat, squares: &[f64], good: impl Fn(f64) -> bool) {
        let new: Vec<usize> = (0..squares.len()).filter(|&pair| good(squares[pair])).collect();
        self.values.extend(new.iter().map(|&pair| values[pair]));
        self.square += new.iter().map(|&pair| squares[pair]).sum::<f64>();
        self.vectors = Mat::side_by_side(&[
            std::mem::replace(&mut self.vectors, Mat::zeros(0, 0)),
            columns(vectors, &new),
        ]);
    }
}

/// Eigenpairs of `Qᵀ S Q`, by descending magnitude.
fn ritz(basis: &Mat, image: &Mat) -> Option<(Vec<f32>, faer::Mat<f32>)> {
    let projected = rounded(transposed_times(view(basis), view(image)).as_ref());
    if !projected.is_all_finite() {
        return None;
    }
    let eigen = projected.self_adjoint_eigen(Side::Lower).ok()?;
    let values = eigen.S().column_vector();
    let mut order: Vec<usize> = (0..projected.nrows()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    let rotation = faer::Mat::from_fn(order.len(), order.len(), |row, col| eigen.U()[(row, order[col])]);
    Some((order.iter().map(|&pair| values[pair]).collect(), rotation))
}

/// The columns made orthonormal, one after the other (Cholesky of their products); `None` where they depend on each other.
fn orthonormal(mut columns: Mat) -> Option<Mat> {
    for _ in 0..3 {
        let gram = transposed_times(view(&columns), view(&columns));
        let width = gram.nrows();
        let scale: Vec<f64> = (0..width).map(|col| gram[(col, col)].sqrt().recip()).collect();
        let scaled = Small::from_fn(width, width, |row, col| gram[(row, col)] * scale[row] * scale[col]);
        let factor = scaled.is_all_finite().then(|| scaled.llt(Side::Lower).ok()).flatten()?;
        let least = (0..width).map(|col| factor.L()[(col, col)]).fold(1.0, f64::min);
        let mut inverse = Small::identity(width, width);
        solve_lower_triangular_in_place(factor.L(), inverse.as_mut(), Par::Seq);
        let inverse = Small::from_fn(width, width, |row, col| scale[row] * inverse[(col, row)]);
        columns = times(view(&columns), inverse.as_ref());
        // Columns that were nearly dependent have lost digits, and need another round.
        if least > INDEPENDENT {
            return Some(columns);
        }
    }
    None
}

/// The columns named, in that order.
fn columns(from: &Mat, named: &[usize]) -> Mat {
    let mut out = Mat::scratch(from.rows(), named.len());
    for row in 0..from.rows() {
        let all = from.row(row);
        out.row_mut(row).iter_mut().zip(named).for_each(|(entry, &col)| *entry = all[col]);
    }
    out
}

/// `‖S v - θ v‖²` of the leading pairs.
fn residuals(image: &Mat, vectors: &Mat, values: &[f32]) -> Vec<f64> {
    let mut squares = vec![0.0; values.len()];
    for row in 0..image.rows() {
        let pairs = image.row(row).iter().zip(vectors.row(row)).zip(values);
        for (square, ((image, vector), value)) in squares.iter_mut().zip(pairs) {
            *square += f64::from(image - value * vector).powi(2);
        }
    }
    squares
}

fn frobenius(matrix: &Mat) -> f64 {
    let square = |row: usize| f64::from(super::simd::dot(matrix.row(row), matrix.row(row)));
    (0..matrix.rows()).map(square).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul_nt;

    fn shrunk(matrix: &Mat, by: f32) -> Mat {
        Shrinker::default().shrink(matrix, by)
    }

    fn distance(a: &Mat, b: &Mat) -> f64 {
        let squares = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| f64::from(a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// `F diag(values) Fᵀ` with random orthonormal columns.
    fn with_spectrum(size: usize, values: &[f32], seed: u64) -> Mat {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let random = Mat::from_fn(size, values.len(), |_, _| rng.random::<f32>() - 0.5);
        let left = orthonormal(random).unwrap();
        let right = Mat::from_fn(size, values.len(), |row, col| left.get(row, col) * values[col]);
        matmul_nt(&left, &right)
    }

    /// Symmetric, every entry up to `scale`.
    fn noise(size: usize, scale: f32, seed: u64) -> Mat {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let half = Mat::from_fn(size, size, |_, _| scale * (rng.random::<f32>() - 0.5));
        Mat::from_fn(size, size, |row, col| half.get(row, col) + half.get(col, row))
    }

    fn plus(mut a: Mat, b: &Mat) -> Mat {
        super::super::elementwise::add_to(&mut a, b);
        a
    }

    #[test]
    fn each_eigenvalue_moves_towards_zero() {
        // Eigenvalues 3 and -1 with the vectors (1,1) and (1,-1).
        let matrix = Mat::from_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
        let close = |found: &Mat, expected: [f32; 4]| {
            let near = found
                .as_slice()
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-5);
            assert!(near, "{found:?} instead of {expected:?}");
        };
        // 2.5 and -0.5, then 1 and nothing.
        close(&shrunk(&matrix, 0.5), [1.0, 1.5, 1.5, 1.0]);
        close(&shrunk(&matrix, 2.0), [0.5, 0.5, 0.5, 0.5]);
        close(&shrunk(&matrix, 9.0), [0.0; 4]);
    }

    /// Two steps, a small change between them: the second one must have looked near the first, and found the same as
    /// a full decomposition.
    fn follows(first: &Mat, second: &Mat, by: f32) {
        let mut shrinker = Shrinker::default();
        shrinker.shrink(first, by);
        let near = shrinker.kept.clone().unwrap();
        assert!(partial(second, by, &near).is_some(), "{} of {} kept", near.cols(), near.rows());
        let found = shrinker.shrink(second, by);
        let away = distance(&found, &shrunk(second, by));
        assert!(away <= 1.5 * TOLERANCE * frobenius(second), "{away} of {}", frobenius(second));
    }

    #[test]
    fn few_pairs_are_found_near_the_last_ones() {
        // Signs alternate; five magnitudes are within a tenth of the threshold.
        let values: Vec<f32> =
            (0..200).map(|i| 20.0 * 0.9f32.powi(i) * (1.0 - 2.0 * (i % 2) as f32)).collect();
        let first = with_spectrum(600, &values, 1);
        follows(&first, &plus(first.clone(), &noise(600, 1e-3, 2)), 0.15);
        follows(&first, &plus(first.clone(), &with_spectrum(600, &[0.5, -3.0, 0.2], 3)), 0.15);
    }

    #[test]
    fn low_rank_and_noise_are_told_apart() {
        let clean = with_spectrum(500, &[9.0, -4.0, 4.0, 2.0, 2.0, -1.0], 4);
        // The noise has a spectrum of up to 0.4.
        let first = plus(clean.clone(), &noise(500, 0.02, 5));
        follows(&first, &plus(clean.clone(), &noise(500, 0.02, 6)), 0.6);
        // Nothing but the six: less than the columns looked at.
        follows(&clean, &clean, 0.6);
        follows(&clean, &Mat::zeros(500, 500), 0.6);
    }

    #[test]
    fn what_was_not_there_before_is_not_missed() {
        let values: Vec<f32> = (0..60).map(|i| 1.0 + i as f32).collect();
        let (old, new) = (with_spectrum(500, &values[..5], 7), with_spectrum(500, &values, 8));
        let mut shrinker = Shrinker::default();
        shrinker.shrink(&old, 0.5);
        let found = shrinker.shrink(&new, 0.5);
        assert_eq!(shrinker.kept.as_ref().unwrap().cols(), 60);
        assert!(distance(&found, &shrunk(&new, 0.5)) < 1e-4 * frobenius(&new));
    }

    #[test]
    fn what_is_not_a_number_stays() {
        let mut shrinker = Shrinker::default();
        shrinker.shrink(&with_spectrum(400, &[3.0, 1.0], 9), 0.5);
        let broken = Mat::full(400, 400, f32::NAN);
        assert!(shrinker.shrink(&broken, 0.5).as_slice().iter().all(|entry| entry.is_nan()));
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let values: Vec<f32> = (0..90).map(|i| 10.0 * 0.9f32.powi(i)).collect();
        let first = with_spectrum(1100, &values, 10);
        let second = plus(first.clone(), &noise(1100, 1e-3, 11));
        let mut before = Shrinker::default();
        before.shrink(&first, 0.2);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| before.clone().shrink(&second, 0.2))
        };
        assert_eq!(run(1), run(2));
    }
}
