//! Leading eigenpairs of a symmetric operator that is only known by its products with a block of vectors.
//!
//! Block Lanczos with full reorthogonalisation and thick restart. The space `V [n, m]`, orthonormal, grows
//! by what the image of its last block adds to it:
//! `A V = V T + R Eᵀ`, `T = Vᵀ A V [m, m]`, `R [n, b]` orthogonal to `V`, `E` the last block's columns.
//! With `T y = θ y` the Ritz pair `(θ, V y)` has the residual `‖A V y − θ V y‖ = ‖R Eᵀ y‖`. When `V` is full
//! it is replaced by its leading Ritz vectors, which keep the relation, and goes on growing from `R`.
//!
//! Cost per step: one product of the operator with `b` columns and about `8 n m b` flops; memory `n m`
//! floats. Tall matrices are `f32`; everything of size `m` is `f64`. The result has the same bits on any
//! number of threads.
//!
//! By hand although faer 0.24 has matrix-free solvers (`matrix_free::eigen`): they are no substitute yet.
//! Measured by `benches/eigenpairs.rs` on 18 self-expressions of made-up rows (n 2277, 5201, 19717; d 128, 256;
//! r 41, 25, 17), tolerance 1e-4, one thread, on two cores that others were using (November 2026):
//! - ours: 0.1 to 2.9 s, every pair within the tolerance, and none of theirs was larger than ours in its place;
//! - `partial_eigen`: stopped after 15 s (45 s or more for the largest n) in all six cases with r = 41; 0.8 to 2.6
//!   times our time in the other twelve, two of which lack an eigenvalue (off by 1.8e-3 and 2.4e-4 of the first);
//! - `partial_self_adjoint_eigen`: ended in four of those twelve, 0.9 to 2.4 times our time, two of them lacking one
//!   (1.1e-3 and 7e-4).
//!
//! What ended had residuals within 1e-4 and the same bits on one thread and two. What did not was seen, in the second
//! solver, in a loop without a limit that orthogonalises until the products are below a rounding error it assumes; the
//! first has the same loop. Two threads showed no gain for anybody on the busy machine.

use faer::{MatRef, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Mat;
use super::tall::{Small, gram, subtract_times, times, times_in_place, transposed_times, view};

/// Operators up to this dimension are written out and decomposed densely: that is faster and exact.
const DENSE_DIM: usize = 300;
/// Image parts smaller than this, relative to the largest eigenvalue, are rounding errors of `f32`.
const NOISE: f64 = 1e-6;

/// Squared length, relative to the block's, of a direction in which rounding of `f32` is all there is.
const DEPENDENT: f64 = 1e-12;

/// A symmetric matrix `A [n, n]`, known by its products.
pub trait SymmetricOperator {
    /// The number of rows and columns, `n`.
    fn dim(&self) -> usize;

    /// `A · block`, both `[n, b]`.
    fn apply(&self, block: &Mat) -> Mat;
}

/// When [`leading_eigenpairs`] may stop, and how it goes there.
#[derive(Clone, Debug, PartialEq)]
pub struct EigenOptions {
    /// A pair counts as found once `‖Av − λv‖ ≤ tolerance · |λ₁|`; below 1e-6 `f32` cannot follow. A loose
    /// tolerance may accept small pairs before larger ones were met: of 128 eigenvalues of a sparse Gram
    /// matrix, the last one 0.009 of the first, 1e-3 returned that one 16 % too small, 1e-4 0.01 %.
    pub tolerance: f32,
    /// Columns per product with the operator, at least 1. Eigenvalues of a higher multiplicity than this
    /// may be missed as long as others are there to be found.
    pub block: usize,
    /// Products with a block before giving up.
    pub max_iterations: usize,
    /// Seed of the random start.
    pub seed: u64,
}

impl Default for EigenOptions {
    fn default() -> Self {
        EigenOptions { tolerance: 1e-4, block: 16, max_iterations: 300, seed: 0 }
    }
}

/// Eigenvalues of largest magnitude with their vectors, and how far they were followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenpairs {
    /// Eigenvalues, by descending magnitude.
    pub values: Vec<f32>,
    /// Orthonormal eigenvectors as columns `[n, count]`, the largest component of each positive.
    pub vectors: Mat,
    /// `‖Av − λv‖` of each pair.
    pub residuals: Vec<f32>,
    /// Whether every residual is within the tolerance.
    pub converged: bool,
    /// Products with a block that were needed.
    pub iterations: usize,
}

/// The `count` eigenpairs of largest `|eigenvalue|` (all `n` of them when there are fewer).
///
/// Never fails: pairs that did not reach the tolerance are returned as they are, with
/// [`Eigenpairs::converged`] false. An operator that yields NaN or infinity ends with NaN eigenvalues.
pub fn leading_eigenpairs(op: &dyn SymmetricOperator, count: usize, options: &EigenOptions) -> Eigenpairs {
    let count = count.min(op.dim());
    if op.dim() <= DENSE_DIM || capacity(count, options.block) >= op.dim() {
        dense(op, count, options)
    } else {
        lanczos(op, count, options)
    }
}

/// Columns of the space before it is restarted.
fn capacity(count: usize, block: usize) -> usize {
    (2 * count).max(count + 6 * block.max(1)) + block.max(1)
}

fn lanczos(op: &dyn SymmetricOperator, count: usize, options: &EigenOptions) -> Eigenpairs {
    let width = options.block.clamp(1, op.dim());
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut space = Space::new(op.dim(), capacity(count, width));
    let mut block = space.extension(random(op.dim(), width, &mut rng), 0.0);
    let mut iterations = 0;
    loop {
        iterations += 1;
        let rest = space.grow(&block, op.apply(&block)); // [n, b], orthogonal to the space
        let Some(ritz) = Ritz::of(space.projection()) else { return failed(op.dim(), count, iterations) };
        let residuals = residuals(&ritz, &rest, count);
        let largest = ritz.largest();
        let found = space.used >= count && within(&residuals, options.tolerance, largest);
        if space.used >= count && (found || iterations >= options.max_iterations) {
            let vectors = times(space.basis(), ritz.vectors.as_ref().subcols(0, count));
            let values = ritz.values[..count].to_vec();
            return finish(values, vectors, residuals, found, iterations);
        }
        if space.used + width > space.basis.cols() {
            space.restart(&ritz, (count + space.used) / 2);
        }
        block = space.extension(rest, NOISE * largest);
        if block.cols() == 0 {
            // The space is invariant: what is still missing lies in its complement.
            block = space.extension(random(op.dim(), width, &mut rng), 0.0);
        }
    }
}

/// The orthonormal space and the operator's projection onto it.
struct Space {
    /// `V`, the first `used` columns of `[n, capacity]`.
    basis: Mat,
    used: usize,
    /// `T = Vᵀ A V`, the leading `[used, used]` of `[capacity, capacity]`.
    projected: Small,
}

impl Space {
    fn new(dim: usize, capacity: usize) -> Self {
        Space { basis: Mat::zeros(dim, capacity), used: 0, projected: Small::zeros(capacity, capacity) }
    }

    fn basis(&self) -> MatRef<'_, f32> {
        view(&self.basis).subcols(0, self.used)
    }

    fn projection(&self) -> MatRef<'_, f64> {
        self.projected.as_ref().submatrix(0, 0, self.used, self.used)
    }

    /// Appends an orthonormal block with its image; returns what of the image lies outside of the space.
    fn grow(&mut self, block: &Mat, mut image: Mat) -> Mat {
        let before = self.used;
        self.append(block);
        let inside = transposed_times(self.basis(), view(&image)); // Vᵀ A W [used, b]
        for col in 0..block.cols() {
            for row in 0..self.used {
                // Rounding leaves the corner of the new block slightly unsymmetric.
                let mirror = if row < before { (row, col) } else { (before + col, row - before) };
                let value = 0.5 * (inside[(row, col)] + inside[mirror]);
                self.projected[(row, before + col)] = value;
                self.projected[(before + col, row)] = value;
            }
        }
        subtract_times(&mut image, self.basis(), &inside);
        image
    }

    fn append(&mut self, block: &Mat) {
        let (from, to) = (self.used, self.used + block.cols());
        for row in 0..block.rows() {
            self.basis.row_mut(row)[from..to].copy_from_slice(block.row(row));
        }
        self.used = to;
    }

    /// Shrinks the space to its `keep` leading Ritz vectors.
    fn restart(&mut self, ritz: &Ritz, keep: usize) {
        times_in_place(&mut self.basis, self.used, ritz.vectors.as_ref().subcols(0, keep));
        self.used = keep;
        self.projected.fill(0.0);
        for (place, &value) in ritz.values[..keep].iter().enumerate() {
            self.projected[(place, place)] = value;
        }
    }

    /// An orthonormal basis of what `block` adds to the space: up to as many columns, none when all of it
    /// is shorter than `floor`. Each pass divides by small lengths and so uncovers rounding errors inside of
    /// the space, which it removes; usually the second one finds nothing left to do.
    fn extension(&self, mut block: Mat, mut floor: f64) -> Mat {
        for _ in 0..4 {
            let gram = gram(&block);
            if is_identity(&gram) {
                break;
            }
            block = times(view(&block), whitening(&gram, floor).as_ref());
            let inside = transposed_times(self.basis(), view(&block));
            subtract_times(&mut block, self.basis(), &inside);
            // Of unit length before the projection and nearly gone after it: that was inside the space.
            floor = 0.1;
        }
        block
    }
}

/// Eigenpairs of a small matrix (the projected operator), by descending magnitude.
pub(super) struct Ritz {
    pub values: Vec<f64>,
    pub vectors: Small,
}

impl Ritz {
    /// `None` when the matrix is not finite.
    pub fn of(matrix: MatRef<'_, f64>) -> Option<Self> {
        if !matrix.is_all_finite() {
            return None;
        }
        if matrix.nrows() == 0 {
            return Some(Ritz { values: Vec::new(), vectors: Small::zeros(0, 0) });
        }
        let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
        let values = eigen.S().column_vector();
        let mut order: Vec<usize> = (0..matrix.nrows()).collect();
        order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
        let vectors = Small::from_fn(order.len(), order.len(), |row, col| eigen.U()[(row, order[col])]);
        Some(Ritz { values: order.iter().map(|&place| values[place]).collect(), vectors })
    }

    fn largest(&self) -> f64 {
        self.values.first().map_or(0.0, |value| value.abs())
    }
}

/// `‖R Eᵀ y‖` for the leading Ritz pairs.
fn residuals(ritz: &Ritz, rest: &Mat, count: usize) -> Vec<f64> {
    let gram = gram(rest); // [b, b]
    let last = ritz.vectors.nrows() - gram.nrows();
    let square = |pair: usize| {
        let y = ritz.vectors.as_ref().col(pair).subrows(last, gram.nrows());
        y.transpose() * &gram * y
    };
    (0..count.min(ritz.values.len())).map(|pair| square(pair).max(0.0).sqrt()).collect()
}

fn within(residuals: &[f64], tolerance: f32, largest: f64) -> bool {
    residuals.iter().all(|&residual| residual <= f64::from(tolerance) * largest)
}

/// A transformation that makes columns with this Gram matrix orthonormal; columns shorter than `floor` and
/// directions that depend on others are left out (Stathopoulos and Wu 2002, "SVQB").
fn whitening(gram: &Small, floor: f64) -> Small {
    let size = gram.nrows();
    let scale: Vec<f64> = (0..size)
        .map(|col| gram[(col, col)].sqrt())
        .map(|length| if length > floor { 1.0 / length } else { 0.0 })
        .collect();
    let scaled = Small::from_fn(size, size, |row, col| gram[(row, col)] * scale[row] * scale[col]);
    let Some(eigen) = Ritz::of(scaled.as_ref()) else { return Small::zeros(size, 0) };
    let kept = eigen.values.iter().filter(|&&value| value > DEPENDENT).count();
    Small::from_fn(size, kept, |row, col| scale[row] * eigen.vectors[(row, col)] / eigen.values[col].sqrt())
}

fn is_identity(gram: &Small) -> bool {
    let off = |row: usize, col: usize| (gram[(row, col)] - f64::from(u8::from(row == col))).abs();
    (0..gram.ncols()).all(|col| (0..gram.nrows()).all(|row| off(row, col) < 1e-6))
}

fn random(rows: usize, cols: usize, rng: &mut ChaCha8Rng) -> Mat {
    Mat::from_fn(rows, cols, |_, _| rng.random::<f32>() - 0.5)
}

/// Writes the operator out and decomposes it.
fn dense(op: &dyn SymmetricOperator, count: usize, options: &EigenOptions) -> Eigenpairs {
    let dim = op.dim();
    let image = op.apply(&Mat::from_fn(dim, dim, |row, col| f32::from(u8::from(row == col))));
    let half = |row, col| 0.5 * (f64::from(image.get(row, col)) + f64::from(image.get(col, row)));
    let matrix = Small::from_fn(dim, dim, half);
    let Some(ritz) = Ritz::of(matrix.as_ref()) else { return failed(dim, count, 1) };
    let leading = ritz.vectors.as_ref().subcols(0, count);
    let images = &matrix * leading;
    let residuals: Vec<f64> = (0..count)
        .map(|pair| (images.col(pair) - leading.col(pair) * faer::Scale(ritz.values[pair])).norm_l2())
        .collect();
    let found = within(&residuals, options.tolerance, ritz.largest());
    let vectors = Mat::from_fn(dim, count, |row, col| leading[(row, col)] as f32);
    finish(ritz.values[..count].to_vec(), vectors, residuals, found, 1)
}

fn finish(
    values: Vec<f64>,
    mut vectors: Mat,
    residuals: Vec<f64>,
    converged: bool,
    iterations: usize,
) -> Eigenpairs {
    fix_signs(&mut vectors);
    let rounded = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect();
    Eigenpairs { values: rounded(values), vectors, residuals: rounded(residuals), converged, iterations }
}

fn failed(dim: usize, count: usize, iterations: usize) -> Eigenpairs {
    Eigenpairs {
        values: vec![f32::NAN; count],
        vectors: Mat::zeros(dim, count),
        residuals: vec![f32::INFINITY; count],
        converged: false,
        iterations,
    }
}

/// Makes the component of largest magnitude of every column positive (the first one of equals); returns the
/// factors, 1 or −1.
pub(super) fn fix_signs(vectors: &mut Mat) -> Vec<f32> {
    let mut extreme = vec![0.0f32; vectors.cols()];
    for row in 0..vectors.rows() {
        for (extreme, &value) in extreme.iter_mut().zip(vectors.row(row)) {
            if value.abs() > extreme.abs() {
                *extreme = value;
            }
        }
    }
    let signs: Vec<f32> = extreme.into_iter().map(|value| 1f32.copysign(value)).collect();
    for row in 0..vectors.rows() {
        vectors.row_mut(row).iter_mut().zip(&signs).for_each(|(value, sign)| *value *= sign);
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `diag(diagonal) + F diag(weights) Fᵀ`.
    struct DiagonalPlusLowRank {
        diagonal: Vec<f32>,
        factor: Mat,
        weights: Vec<f32>,
    }

    impl SymmetricOperator for DiagonalPlusLowRank {
        fn dim(&self) -> usize {
            self.diagonal.len()
        }

        fn apply(&self, block: &Mat) -> Mat {
            let inner = transposed_times(view(&self.factor), view(block));
            let inner = Small::from_fn(inner.nrows(), inner.ncols(), |row, col| {
                f64::from(self.weights[row]) * inner[(row, col)]
            });
            let mut out = times(view(&self.factor), inner.as_ref());
            for row in 0..block.rows() {
                let diagonal = self.diagonal[row];
                out.row_mut(row).iter_mut().zip(block.row(row)).for_each(|(out, x)| *out += diagonal * x);
            }
            out
        }
    }

    fn diagonal(values: Vec<f32>) -> DiagonalPlusLowRank {
        DiagonalPlusLowRank { factor: Mat::zeros(values.len(), 0), weights: Vec::new(), diagonal: values }
    }

    fn low_rank(dim: usize, weights: Vec<f32>, seed: u64) -> DiagonalPlusLowRank {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let factor = Space::new(dim, 0).extension(random(dim, weights.len(), &mut rng), 0.0);
        DiagonalPlusLowRank { diagonal: vec![0.0; dim], factor, weights }
    }

    /// What every result must fulfil, measured by applying the operator again.
    fn check(op: &dyn SymmetricOperator, pairs: &Eigenpairs, options: &EigenOptions) {
        assert!(pairs.converged, "{:?}", pairs.residuals);
        assert!(pairs.values.is_sorted_by(|a, b| a.abs() >= b.abs()), "{:?}", pairs.values);
        let image = op.apply(&pairs.vectors);
        let largest = pairs.values.first().map_or(0.0, |value| value.abs());
        for (col, &value) in pairs.values.iter().enumerate() {
            let part = |row| f64::from(image.get(row, col) - value * pairs.vectors.get(row, col));
            let residual = (0..op.dim()).map(|row| part(row).powi(2)).sum::<f64>().sqrt();
            // The operator itself rounds, and so does this check.
            let allowed = f64::from(options.tolerance.max(1e-5) * largest) + 1e-9;
            assert!(residual <= 1.1 * allowed, "pair {col}: {residual} > {allowed}");
            let extreme = (0..op.dim())
                .map(|row| pairs.vectors.get(row, col))
                .fold(0.0f32, |best, value| if value.abs() > best.abs() { value } else { best });
            assert!(extreme > 0.0);
        }
        let gram = gram(&pairs.vectors);
        for row in 0..gram.nrows() {
            for col in 0..gram.ncols() {
                let expected = if row == col { 1.0 } else { 0.0 };
                assert!((gram[(row, col)] - expected).abs() < 1e-5, "({row}, {col}) {}", gram[(row, col)]);
            }
        }
    }

    fn close(values: &[f32], expected: &[f32], within: f32) {
        assert_eq!(values.len(), expected.len());
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() <= within, "{values:?} {expected:?}");
        }
    }

    #[test]
    fn finds_the_ends_of_a_dense_spectrum() {
        // 2000 eigenvalues evenly spread over [-0.9, 1]: the gaps are 1e-3 of the largest.
        let options = EigenOptions::default();
        let op = diagonal((0..2000).map(|i| 1.0 - 1.9 * i as f32 / 1999.0).collect());
        let pairs = leading_eigenpairs(&op, 12, &options);
        check(&op, &pairs, &options);
        close(&pairs.values, &op.diagonal[..12], 1e-5);
    }

    #[test]
    fn orders_by_magnitude_and_keeps_the_sign() {
        let weights = vec![-5.0, 4.0, -3.0, 2.0, 1.0];
        let op = low_rank(1000, weights.clone(), 3);
        let pairs = leading_eigenpairs(&op, 4, &EigenOptions::default());
        check(&op, &pairs, &EigenOptions::default());
        close(&pairs.values, &weights[..4], 1e-4);
    }

    #[test]
    fn more_pairs_than_the_rank_end_with_zeros() {
        let op = low_rank(900, vec![3.0, -2.0, 1.0], 4);
        let pairs = leading_eigenpairs(&op, 40, &EigenOptions::default());
        check(&op, &pairs, &EigenOptions::default());
        close(&pairs.values[..3], &[3.0, -2.0, 1.0], 1e-5);
        close(&pairs.values[3..], &[0.0; 37], 1e-5);
    }

    #[test]
    fn repeated_eigenvalues_are_found_as_often_as_they_occur() {
        let identity = diagonal(vec![1.0; 700]);
        let pairs = leading_eigenpairs(&identity, 35, &EigenOptions::default());
        check(&identity, &pairs, &EigenOptions::default());
        close(&pairs.values, &[1.0; 35], 1e-5);

        let mut weights = vec![2.0; 10];
        weights.extend([1.0; 10]);
        let op = low_rank(1200, weights.clone(), 5);
        let pairs = leading_eigenpairs(&op, 20, &EigenOptions::default());
        check(&op, &pairs, &EigenOptions::default());
        close(&pairs.values, &weights, 1e-4);
    }

    #[test]
    fn the_zero_operator_has_zero_eigenvalues() {
        for dim in [0, 1, 40, 800] {
            let op = diagonal(vec![0.0; dim]);
            let pairs = leading_eigenpairs(&op, 21, &EigenOptions::default());
            check(&op, &pairs, &EigenOptions::default());
            assert_eq!(pairs.values, vec![0.0; dim.min(21)]);
        }
    }

    #[test]
    fn restarts_do_not_change_the_answer() {
        let mut op = low_rank(3000, (0..60).map(|i| 1.0 / (1.0 + 0.02 * i as f32)).collect(), 6);
        op.diagonal = (0..3000).map(|i| 0.3 * (i as f32 * 0.37).sin()).collect();
        let options = EigenOptions { block: 4, ..EigenOptions::default() };
        let small = leading_eigenpairs(&op, 10, &options);
        assert!(small.iterations * options.block > capacity(10, 4), "the case must restart");
        check(&op, &small, &options);
        let large = leading_eigenpairs(&op, 10, &EigenOptions { block: 64, ..EigenOptions::default() });
        close(&small.values, &large.values, 1e-5);
    }

    #[test]
    fn giving_up_is_reported() {
        let op = diagonal((0..5000).map(|i| 1.0 - 1e-5 * i as f32).collect());
        let options = EigenOptions { max_iterations: 3, tolerance: 1e-6, ..EigenOptions::default() };
        let pairs = leading_eigenpairs(&op, 20, &options);
        assert!(!pairs.converged && pairs.iterations == 3);
        assert_eq!((pairs.values.len(), pairs.vectors.shape()), (20, (5000, 20)));

        for dim in [50, 500] {
            let pairs = leading_eigenpairs(&diagonal(vec![f32::NAN; dim]), 5, &EigenOptions::default());
            assert!(!pairs.converged && pairs.values.iter().all(|value| value.is_nan()));
        }
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let mut op = low_rank(2500, (0..30).map(|i| 0.9f32.powi(i)).collect(), 7);
        op.diagonal = (0..2500).map(|i| 0.2 * (i as f32 * 0.11).cos()).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| leading_eigenpairs_of(&op))
        };
        assert_eq!(run(1), run(2));
    }

    fn leading_eigenpairs_of(op: &(dyn SymmetricOperator + Sync)) -> Eigenpairs {
        leading_eigenpairs(op, 9, &EigenOptions::default())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn dense_and_lanczos_agree(
            dim in 310usize..420,
            weights in proptest::collection::vec(-3.0f32..3.0, 1..12),
            count in 1usize..20,
            seed in any::<u64>(),
        ) {
            let op = low_rank(dim, weights, seed);
            let options = EigenOptions { block: 8, seed, ..EigenOptions::default() };
            let found = lanczos(&op, count, &options);
            check(&op, &found, &options);
            let exact = dense(&op, count, &options);
            check(&op, &exact, &options);
            let magnitude = |pairs: &Eigenpairs| pairs.values.iter().map(|v| v.abs()).collect::<Vec<_>>();
            close(&magnitude(&found), &magnitude(&exact), 1e-3);
        }
    }
}
