//! Ridge regression on the rows of `Z [n, d]`, and its hat matrix without writing it out.
//!
//! `W = (ZᵀZ + λI)⁻¹ Zᵀ Y [d, c]` and `Hat = Z (ZᵀZ + λI)⁻¹ Zᵀ [n, n]`, in one of two equal forms:
//! - `d ≤ n`, primal: `ZᵀZ + λI = L Lᵀ [d, d]` and the whitened rows `P = Z L⁻ᵀ [n, d]`, so that
//!   `Hat = P Pᵀ`, `h_i = ‖P_i‖²` and `W = L⁻ᵀ Pᵀ Y`;
//! - `d > n`, kernel: `ZZᵀ + λI = L Lᵀ [n, n]`, so that `Hat = I − λ (L Lᵀ)⁻¹` and `W = Zᵀ (L Lᵀ)⁻¹ Y`.
//!
//! Cost with `s = min(n, d)`: about `2 n d s` flops in `f64` once, then `4 n s` per column of a product with
//! `Hat`; memory `n s` floats besides the factor. Same bits on any number of threads.

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatRef, Par, Side};
use rayon::prelude::*;

use super::Mat;
use super::tall::{Small, product, rounded, times, transposed_times, view};

/// The smallest penalty in use, relative to the largest diagonal entry of the Gram matrix: about the
/// rounding error of its `f32` entries. A smaller one would fit that error, and not be positive definite.
const PENALTY_FLOOR: f64 = 1e-7;
/// Rows whose triangular systems are solved together, as a unit of parallel work.
const CHUNK: usize = 256;
/// Columns of the Gram matrix per unit of parallel work.
const STRIP: usize = 128;

/// A ridge problem, factorised: ready to be solved for targets and to apply its hat matrix.
pub struct Ridge {
    penalty: f64,
    /// `L`, lower triangular `[s, s]`.
    factor: Small,
    form: Form,
    /// `1 − h`, per row.
    complement: Vec<f64>,
}

enum Form {
    /// `P [n, d]`.
    Primal { whitened: Mat },
    /// `Hat [n, n]`, not larger than `Z [n, d]` itself.
    Kernel { hat: Mat, rows: Mat },
}

impl Ridge {
    /// Factorises the problem for the rows `z [n, d]` and the penalty `lambda` on the squared weights.
    ///
    /// A `lambda` below 1e-7 times the largest diagonal entry of the Gram matrix (zero, for example) is
    /// raised to that: duplicate rows, constant and zero columns are then harmless.
    ///
    /// # Panics
    /// When `z` is not finite.
    pub fn new(z: &Mat, lambda: f32) -> Self {
        Self::of(z.clone(), lambda)
    }

    /// The same, in the place of the rows.
    ///
    /// # Panics
    /// When `z` is not finite.
    pub fn of(z: Mat, lambda: f32) -> Self {
        if z.cols() <= z.rows() { Self::primal(z, lambda) } else { Self::kernel(&z, lambda) }
    }

    fn primal(z: Mat, lambda: f32) -> Self {
        let (penalty, factor) = factorise(view(&z), lambda);
        let d = z.cols();
        let (whitened, complement) = by_rows(z, |_, rows, complement| {
            // Pᵀ = L⁻¹ Zᵀ, for some of the columns [d, chunk].
            let mut columns = Small::from_fn(d, complement.len(), |c, r| f64::from(rows[r * d + c]));
            solve_lower_triangular_in_place(factor.as_ref(), columns.as_mut(), Par::Seq);
            for (place, row) in rows.chunks_exact_mut(d).enumerate() {
                let column = columns.col(place);
                let least = alone(row, penalty);
                row.iter_mut().zip(column.iter()).for_each(|(p, &x)| *p = x as f32);
                complement[place] = (1.0 - column.squared_norm_l2()).clamp(least, 1.0);
            }
        });
        Ridge { penalty, factor, form: Form::Primal { whitened }, complement }
    }

    fn kernel(z: &Mat, lambda: f32) -> Self {
        let (penalty, factor) = factorise(view(z).transpose(), lambda);
        let n = z.rows();
        let (hat, complement) = by_rows(Mat::scratch(n, n), |start, rows, complement| {
            // Some of the columns of (L Lᵀ)⁻¹ [n, chunk]; it is symmetric, so they are written as rows.
            let one = |row, col| f64::from(u8::from(row == start + col));
            let mut columns = Small::from_fn(n, complement.len(), one);
            solve_in_place(&factor, &mut columns);
            for (place, row) in rows.chunks_exact_mut(n).enumerate() {
                let (column, own) = (columns.col(place), start + place);
                row.iter_mut().zip(column.iter()).for_each(|(hat, &x)| *hat = (-penalty * x) as f32);
                let rest = penalty * column[own];
                row[own] = (1.0 - rest) as f32;
                complement[place] = rest.clamp(alone(z.row(own), penalty), 1.0);
            }
        });
        Ridge { penalty, factor, form: Form::Kernel { hat, rows: z.clone() }, complement }
    }

    /// The penalty in use: the one asked for, or the floor when that is larger.
    pub fn lambda(&self) -> f32 {
        self.penalty as f32
    }

    /// The weights `W [d, c]` that fit `targets [n, c]` best: `min ‖Z W − Y‖² + λ ‖W‖²`.
    pub fn solve(&self, targets: &Mat) -> Mat {
        match &self.form {
            Form::Primal { whitened } => {
                let mut weights = transposed_times(view(whitened), view(targets)); // Pᵀ Y [d, c]
                solve_upper_triangular_in_place(self.factor.transpose(), weights.as_mut(), Par::Seq);
                to_mat(weights.as_ref())
            }
            Form::Kernel { rows, .. } => {
                let (n, c) = targets.shape();
                let mut dual = Small::from_fn(n, c, |row, col| f64::from(targets.get(row, col)));
                solve_in_place(&self.factor, &mut dual); // [n, c]
                to_mat(transposed_times(view(rows), rounded(dual.as_ref()).as_ref()).as_ref())
            }
        }
    }

    /// `Hat · block`, both `[n, b]`.
    pub fn apply_hat(&self, block: &Mat) -> Mat {
        match &self.form {
            Form::Primal { whitened } => {
                let inner = transposed_times(view(whitened), view(block)); // Pᵀ B [d, b]
                times(view(whitened), inner.as_ref())
            }
            Form::Kernel { hat, .. } => product(view(hat), view(block)),
        }
    }

    /// The diagonal `h` of the hat matrix, each in `[0, 1)`.
    pub fn hat_diagonal(&self) -> Vec<f32> {
        let below_one = |rest: f64| ((1.0 - rest) as f32).min(1f32.next_down());
        self.complement.iter().map(|&rest| below_one(rest)).collect()
    }

    /// `1 − h`, each in `(0, 1]`: accurate also where `h` is so close to 1 that the difference of the
    /// rounded numbers would not be.
    pub fn hat_complement(&self) -> Vec<f32> {
        self.complement.iter().map(|&rest| rest as f32).collect()
    }
}

/// A matrix `W [d, d]` with `W Wᵀ = (ZᵀZ + λI)⁻¹` for `z [n, d]`: the dot products of the rows of `Z W` are the entries of the
/// hat matrix. See [`Ridge::new`] for small `lambda`.
pub fn whitening(z: &Mat, lambda: f32) -> Mat {
    let (_, factor) = factorise(view(z), lambda);
    let mut inverse = Small::identity(z.cols(), z.cols());
    solve_upper_triangular_in_place(factor.transpose(), inverse.as_mut(), Par::Seq); // L⁻ᵀ
    to_mat(inverse.as_ref())
}

/// The diagonal of `Z (ZᵀZ + λI)⁻¹ Zᵀ` for `z [n, d]`, each in `[0, 1)`; see [`Ridge::new`] for small `lambda`.
pub fn hat_diagonal(z: &Mat, lambda: f32) -> Vec<f32> {
    Ridge::new(z, lambda).hat_diagonal()
}

/// The penalty in use and the Cholesky factor of `AᵀA + λI` for `a [rows, s]`.
fn factorise(a: MatRef<'_, f32>, lambda: f32) -> (f64, Small) {
    let mut gram = lower_gram(a);
    let largest = (0..gram.nrows()).map(|place| gram[(place, place)]).fold(0.0, f64::max);
    let penalty = f64::from(lambda).max(PENALTY_FLOOR * largest).max(f64::from(f32::MIN_POSITIVE));
    for place in 0..gram.nrows() {
        gram[(place, place)] += penalty;
    }
    if gram.nrows() == 0 {
        return (penalty, gram);
    }
    let factor = gram.llt(Side::Lower).expect("finite rows have a positive definite penalised Gram matrix");
    (penalty, factor.L().to_owned())
}

/// The lower triangle of `AᵀA`, accumulated in `f64`, strip of columns by strip of columns.
fn lower_gram(a: MatRef<'_, f32>) -> Small {
    let size = a.ncols();
    let starts: Vec<usize> = (0..size).step_by(STRIP).collect();
    let strips: Vec<Small> = starts.into_par_iter().map(|start| gram_strip(a, start)).collect();
    let mut gram = Small::zeros(size, size);
    for (place, strip) in strips.iter().enumerate() {
        let start = place * STRIP;
        gram.submatrix_mut(start, start, strip.nrows(), strip.ncols()).copy_from(strip);
    }
    gram
}

/// Rows `start..` of the columns `start..start + STRIP` of `AᵀA`.
fn gram_strip(a: MatRef<'_, f32>, start: usize) -> Small {
    let (height, width) = (a.ncols() - start, STRIP.min(a.ncols() - start));
    let mut sum = Small::zeros(height, width);
    for first in (0..a.nrows()).step_by(STRIP) {
        let rows = STRIP.min(a.nrows() - first);
        let part = Small::from_fn(height, rows, |col, row| f64::from(a[(first + row, start + col)]));
        sum += &part * part.subrows(0, width).transpose();
    }
    sum
}

/// `(L Lᵀ)⁻¹ X`, in place.
fn solve_in_place(factor: &Small, x: &mut Small) {
    solve_lower_triangular_in_place(factor.as_ref(), x.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), x.as_mut(), Par::Seq);
}

/// `1 − h` of a row that has no other row to share its direction with. Rounding aside, others can only
/// raise it.
fn alone(row: &[f32], penalty: f64) -> f64 {
    let squared_length: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    penalty / (penalty + squared_length)
}

/// A matrix and `1 − h` for its rows (1 where there are no columns), filled by `fill(start, entries, complement)` for chunks of
/// rows.
fn by_rows(mut out: Mat, fill: impl Fn(usize, &mut [f32], &mut [f64]) + Sync) -> (Mat, Vec<f64>) {
    let (rows, cols) = out.shape();
    let mut complement = vec![1.0; rows];
    let chunks = out.as_mut_slice().par_chunks_mut(CHUNK * cols.max(1));
    chunks
        .zip(complement.par_chunks_mut(CHUNK))
        .enumerate()
        .for_each(|(place, (entries, complement))| fill(place * CHUNK, entries, complement));
    (out, complement)
}

fn to_mat(small: MatRef<'_, f64>) -> Mat {
    Mat::from_fn(small.nrows(), small.ncols(), |row, col| small[(row, col)] as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::linalg::solvers::Solve;
    use proptest::prelude::*;

    fn wave(rows: usize, cols: usize) -> Mat {
        Mat::from_fn(rows, cols, |r, c| ((r * 37 + c * 101 + r * c * 7) as f32 * 0.7).sin())
    }

    fn wide(mat: &Mat) -> Small {
        Small::from_fn(mat.rows(), mat.cols(), |row, col| f64::from(mat.get(row, col)))
    }

    /// Weights and hat matrix, straight from the formula.
    fn by_formula(z: &Mat, y: &Mat, lambda: f64) -> (Small, Small) {
        let z = wide(z);
        let penalised = z.transpose() * &z + Small::identity(z.ncols(), z.ncols()) * faer::Scale(lambda);
        let lu = penalised.partial_piv_lu();
        (lu.solve(z.transpose() * wide(y)), &z * lu.solve(z.transpose()))
    }

    #[test]
    fn whitened_rows_have_the_hat_matrix_as_dot_products() {
        for (n, d) in [(30, 6), (7, 12)] {
            let z = wave(n, d);
            let (_, hat) = by_formula(&z, &Mat::zeros(n, 1), 0.4);
            let rows = crate::linalg::matmul(&z, &whitening(&z, 0.4));
            assert_close(&crate::linalg::matmul_nt(&rows, &rows), &hat, 1e-4);
        }
    }

    fn assert_close(found: &Mat, expected: &Small, within: f64) {
        assert_eq!(found.shape(), (expected.nrows(), expected.ncols()));
        let difference = (wide(found) - expected).norm_max();
        assert!(difference <= within, "off by {difference}");
    }

    fn check(ridge: &Ridge, z: &Mat, y: &Mat) {
        let (weights, hat) = by_formula(z, y, f64::from(ridge.lambda()));
        assert_close(&ridge.solve(y), &weights, 1e-4 * weights.norm_max().max(1.0));
        assert_close(&ridge.apply_hat(y), &(&hat * wide(y)), 1e-4);
        let rest = ridge.hat_complement();
        for (row, &h) in ridge.hat_diagonal().iter().enumerate() {
            assert!((0.0..1.0).contains(&h) && rest[row] > 0.0);
            assert!((f64::from(h) - hat[(row, row)]).abs() < 1e-5, "{h} {}", hat[(row, row)]);
            assert!((f64::from(rest[row]) - (1.0 - hat[(row, row)])).abs() < 1e-5);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn both_forms_equal_the_formula(
            (n, d) in (1usize..40, 1usize..40),
            lambda in prop_oneof![Just(0.05f32), Just(1.0), Just(30.0)],
            entries in proptest::collection::vec(-2.0f32..2.0, 40 * 40),
        ) {
            let z = Mat::from_fn(n, d, |row, col| entries[row * 40 + col]);
            let y = wave(n, 3);
            check(&Ridge::primal(z.clone(), lambda), &z, &y);
            check(&Ridge::kernel(&z, lambda), &z, &y);
        }
    }

    #[test]
    fn several_strips_and_chunks_equal_the_formula() {
        let (tall, flat) = (wave(700, 300), wave(300, 700));
        check(&Ridge::new(&tall, 0.5), &tall, &wave(700, 2));
        check(&Ridge::new(&flat, 0.5), &flat, &wave(300, 2));
    }

    #[test]
    fn degenerate_rows_stay_finite() {
        let duplicates = Mat::from_fn(20, 6, |r, c| ((r / 10 + c) as f32).cos());
        let zero_column = Mat::from_fn(20, 6, |r, c| if c == 3 { 0.0 } else { ((r * c) as f32).sin() });
        let constant_column = Mat::from_fn(20, 6, |r, c| if c < 2 { 1.0 } else { ((r * c) as f32).sin() });
        let large = Mat::from_fn(20, 6, |r, c| 1e12 * ((r + c * c) as f32).sin());
        let small = Mat::from_fn(20, 6, |r, c| 1e-12 * ((r + c * c) as f32).sin());
        for z in [duplicates, zero_column, constant_column, large, small, Mat::zeros(20, 6)] {
            for z in [z.transposed(), z] {
                for lambda in [0.0, 1e-30, 1.0] {
                    let ridge = Ridge::new(&z, lambda);
                    let y = wave(z.rows(), 2);
                    for mat in [ridge.solve(&y), ridge.apply_hat(&y)] {
                        assert!(mat.as_slice().iter().all(|value| value.is_finite()));
                    }
                    assert!(ridge.hat_diagonal().iter().all(|h| (0.0..1.0).contains(h)));
                    assert!(ridge.hat_complement().iter().all(|rest| *rest > 0.0 && *rest <= 1.0));
                }
            }
        }
    }

    #[test]
    fn no_rows_and_no_columns() {
        for (n, d) in [(0, 3), (3, 0), (0, 0)] {
            let ridge = Ridge::new(&Mat::zeros(n, d), 1.0);
            assert_eq!(ridge.solve(&Mat::zeros(n, 2)), Mat::zeros(d, 2));
            assert_eq!(ridge.apply_hat(&Mat::zeros(n, 2)), Mat::zeros(n, 2));
            assert_eq!(ridge.hat_diagonal(), vec![0.0; n]);
        }
    }

    #[test]
    fn the_complement_survives_where_the_diagonal_cannot() {
        // One row per direction: h = 1/(1 + λ), and 1 − h = λ/(1 + λ) is below the spacing of f32 at 1.
        let ridge = Ridge::kernel(&Mat::from_fn(3, 4, |r, c| f32::from(u8::from(r == c))), 0.0);
        assert!((ridge.hat_complement()[0] - 1e-7).abs() < 1e-12);
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        for z in [wave(1300, 140), wave(140, 1300)] {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let ridge = Ridge::new(&z, 0.1);
                    (
                        ridge.hat_diagonal(),
                        ridge.solve(&wave(z.rows(), 3)),
                        ridge.apply_hat(&wave(z.rows(), 3)),
                    )
                })
            };
            assert_eq!(run(1), run(2));
        }
    }
}
