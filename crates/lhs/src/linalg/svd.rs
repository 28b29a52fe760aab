//! Truncated singular value decomposition `M ≈ U diag(s) Vᵀ` of a dense or sparse `M [n, d]`.
//!
//! The leading eigenvectors of the smaller of `MᵀM [d, d]` and `MMᵀ [n, n]`, applied as two products and
//! never formed, span the singular subspace of that side, say `B [d, r]`. Squaring costs digits of the small
//! singular values, so they are taken from `C = M B [n, r]` instead: with `CᵀC = Y diag(s²) Yᵀ` in `f64`,
//! `U = C Y diag(1/s)` and `V = B Y`.
//!
//! Cost: one product with `M` and one with `Mᵀ` per column that the eigenvalue solver applies (a few times
//! `r` in all), plus its orthogonalisation, `O(min(n, d) r²)`. A sparse matrix stays sparse.

use rayon::prelude::*;

use super::eigen::{Ritz, fix_signs};
use super::tall::{Small, gram, product, times, transposed_times, view};
use super::{EigenOptions, Mat, SparseMat, SymmetricOperator, leading_eigenpairs};

/// Singular values below this, relative to the largest, are rounding errors of `f32`.
const NOISE: f64 = 1e-6;
/// Rows of a sparse product per unit of parallel work.
const CHUNK: usize = 256;

/// A matrix `M [rows, cols]`, known by its products and those of its transpose.
pub trait LinearMap {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn cols(&self) -> usize;

    /// `M · block`: `[cols, b]` to `[rows, b]`.
    fn apply(&self, block: &Mat) -> Mat;

    /// `Mᵀ · block`: `[rows, b]` to `[cols, b]`.
    fn apply_transposed(&self, block: &Mat) -> Mat;
}

/// The leading singular triplets of a matrix `[n, d]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd {
    /// Left singular vectors as columns `[n, r]`.
    pub left: Mat,
    /// Singular values, descending.
    pub values: Vec<f32>,
    /// Right singular vectors as columns `[d, r]`.
    pub right: Mat,
    /// Whether the eigenvalue solver reached its tolerance, which is relative to the largest `s²`.
    pub converged: bool,
}

/// The `rank` leading singular triplets of `matrix`, as many as `min(n, d)` at the most.
///
/// Where the matrix has a lower rank the values are 0; the vectors stay orthonormal on the side that has
/// fewer rows and are zero on the other. The largest component of each vector of the smaller side is
/// positive.
pub fn truncated_svd(matrix: &dyn LinearMap, rank: usize, options: &EigenOptions) -> Svd {
    if matrix.cols() <= matrix.rows() {
        return of_tall(matrix, rank, options);
    }
    let svd = of_tall(&Transposed(matrix), rank, options);
    Svd { left: svd.right, right: svd.left, ..svd }
}

/// For a matrix with at least as many rows as columns.
fn of_tall(matrix: &dyn LinearMap, rank: usize, options: &EigenOptions) -> Svd {
    let pairs = leading_eigenpairs(&GramOperator(matrix), rank, options);
    let image = matrix.apply(&pairs.vectors); // C = M B [n, r]
    let Some(ritz) = Ritz::of(gram(&image).as_ref()) else {
        let left = Mat::zeros(matrix.rows(), pairs.values.len());
        return Svd { left, values: pairs.values, right: pairs.vectors, converged: false };
    };
    let lengths: Vec<f64> = ritz.values.iter().map(|square| square.max(0.0).sqrt()).collect();
    let floor = NOISE * lengths.first().copied().unwrap_or(0.0);
    let values: Vec<f64> = lengths.into_iter().map(|s| if s > floor { s } else { 0.0 }).collect();

    let mut right = times(view(&pairs.vectors), ritz.vectors.as_ref()); // B Y [d, r]
    let signs = fix_signs(&mut right);
    let scale = |col: usize| if values[col] > 0.0 { f64::from(signs[col]) / values[col] } else { 0.0 };
    let shape = ritz.vectors.shape();
    let rotation = Small::from_fn(shape.0, shape.1, |row, col| ritz.vectors[(row, col)] * scale(col));
    let left = times(view(&image), rotation.as_ref()); // C Y / s [n, r]
    Svd { left, values: values.iter().map(|&s| s as f32).collect(), right, converged: pairs.converged }
}

/// `MᵀM`.
struct GramOperator<'a>(&'a dyn LinearMap);

impl SymmetricOperator for GramOperator<'_> {
    fn dim(&self) -> usize {
        self.0.cols()
    }

    fn apply(&self, block: &Mat) -> Mat {
        self.0.apply_transposed(&self.0.apply(block))
    }
}

/// `Mᵀ`.
struct Transposed<'a>(&'a dyn LinearMap);

impl LinearMap for Transposed<'_> {
    fn rows(&self) -> usize {
        self.0.cols()
    }

    fn cols(&self) -> usize {
        self.0.rows()
    }

    fn apply(&self, block: &Mat) -> Mat {
        self.0.apply_transposed(block)
    }

    fn apply_transposed(&self, block: &Mat) -> Mat {
        self.0.apply(block)
    }
}

impl LinearMap for Mat {
    fn rows(&self) -> usize {
        Mat::rows(self)
    }

    fn cols(&self) -> usize {
        Mat::cols(self)
    }

    fn apply(&self, block: &Mat) -> Mat {
        product(view(self), view(block))
    }

    fn apply_transposed(&self, block: &Mat) -> Mat {
        let out = transposed_times(view(self), view(block));
        Mat::from_fn(out.nrows(), out.ncols(), |row, col| out[(row, col)] as f32)
    }
}

impl LinearMap for SparseMat {
    fn rows(&self) -> usize {
        SparseMat::rows(self)
    }

    fn cols(&self) -> usize {
        SparseMat::cols(self)
    }

    fn apply(&self, block: &Mat) -> Mat {
        gather(self.rows(), block, |row| self.row(row))
    }

    fn apply_transposed(&self, block: &Mat) -> Mat {
        let by_column = self.pattern.transpose();
        gather(self.cols(), block, |col| {
            let range = by_column.indptr[col]..by_column.indptr[col + 1];
            let values = by_column.entry[range.clone()].iter().map(|&entry| self.values[entry as usize]);
            by_column.indices[range].iter().copied().zip(values)
        })
    }
}

/// Row `i` of the result is the sum of `value · block[j]` over the entries `(j, value)` of row `i`.
fn gather<Entries>(rows: usize, block: &Mat, entries: impl Fn(usize) -> Entries + Sync) -> Mat
where
    Entries: Iterator<Item = (u32, f32)>,
{
    let cols = block.cols();
    let mut out = Mat::zeros(rows, cols);
    out.as_mut_slice().par_chunks_mut(CHUNK * cols.max(1)).enumerate().for_each(|(chunk, out)| {
        for (row, out) in (chunk * CHUNK..).zip(out.chunks_exact_mut(cols)) {
            pulp::Arch::new().dispatch(AddRows { out, block, entries: entries(row) });
        }
    });
    out
}

/// Adds the rows of `block` that `entries` names to `out`. A type and not a closure, because only what is
/// inlined into the dispatch is compiled for the vector unit at hand.
struct AddRows<'a, Entries> {
    out: &'a mut [f32],
    block: &'a Mat,
    entries: Entries,
}

impl<Entries: Iterator<Item = (u32, f32)>> pulp::NullaryFnOnce for AddRows<'_, Entries> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (from, value) in self.entries {
            for (out, &x) in self.out.iter_mut().zip(self.block.row(from as usize)) {
                *out += value * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Non-zero pattern and values from two waves; about one entry in `thinning` is stored.
    fn sparse(rows: usize, cols: usize, thinning: usize) -> SparseMat {
        let entry = |r: usize, c: usize| (r * r * 7 + c * 13 + r * c).is_multiple_of(thinning);
        let triplets = (0..rows)
            .flat_map(|r| (0..cols).filter(move |&c| entry(r, c)).map(move |c| (r, c)))
            .map(|(r, c)| (r as u32, c as u32, 1.0 + ((r * 3 + c * 5) as f32).sin()))
            .collect();
        SparseMat::from_triplets(rows, cols, triplets)
    }

    fn exact_values(dense: &Mat, rank: usize) -> Vec<f64> {
        let wide = Small::from_fn(dense.rows(), dense.cols(), |row, col| f64::from(dense.get(row, col)));
        wide.singular_values().unwrap().into_iter().take(rank).collect()
    }

    /// `M V = U S`, `Mᵀ U = V S` within `tolerance` of the largest value; both sides orthonormal.
    fn check(matrix: &dyn LinearMap, svd: &Svd, tolerance: f32) {
        assert!(svd.converged && svd.values.is_sorted_by(|a, b| a >= b), "{:?}", svd.values);
        let allowed = tolerance * svd.values.first().copied().unwrap_or(0.0);
        let forward = (matrix.apply(&svd.right), &svd.left);
        let backward = (matrix.apply_transposed(&svd.left), &svd.right);
        for (image, vectors) in [forward, backward] {
            for row in 0..image.rows() {
                for (col, &s) in svd.values.iter().enumerate() {
                    assert!((image.get(row, col) - s * vectors.get(row, col)).abs() <= allowed);
                }
            }
        }
        for side in [gram(&svd.left), gram(&svd.right)] {
            for row in 0..side.nrows() {
                for col in 0..side.ncols() {
                    let nothing = svd.values[row] == 0.0 || svd.values[col] == 0.0;
                    let expected = f64::from(u8::from(row == col));
                    assert!(nothing || (side[(row, col)] - expected).abs() < 1e-4, "{}", side[(row, col)]);
                }
            }
        }
    }

    fn assert_values(svd: &Svd, dense: &Mat) {
        let exact = exact_values(dense, svd.values.len());
        for (&found, &exact_value) in svd.values.iter().zip(&exact) {
            assert!((f64::from(found) - exact_value).abs() < 1e-3 * exact[0], "{:?} {exact:?}", svd.values);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn small_matrices(rows in 0usize..40, cols in 0usize..40, rank in 0usize..45, thinning in 1usize..5) {
            let matrix = sparse(rows, cols, thinning);
            let dense = matrix.to_dense();
            for svd in [
                truncated_svd(&matrix, rank, &EigenOptions::default()),
                truncated_svd(&dense, rank, &EigenOptions::default()),
            ] {
                prop_assert_eq!(svd.values.len(), rank.min(rows).min(cols));
                check(&dense, &svd, 1e-4);
                assert_values(&svd, &dense);
            }
        }
    }

    #[test]
    fn tall_and_wide_sparse_matrices() {
        for (rows, cols) in [(900, 420), (420, 900)] {
            let matrix = sparse(rows, cols, 11);
            let svd = truncated_svd(&matrix, 20, &EigenOptions::default());
            check(&matrix, &svd, 1e-3);
            assert_values(&svd, &matrix.to_dense());
        }
    }

    #[test]
    fn a_matrix_of_low_rank_is_reconstructed() {
        let matrix = Mat::from_fn(600, 350, |r, c| (r as f32 * 0.1).sin() * (c as f32 * 0.2).cos() + 0.5);
        let svd = truncated_svd(&matrix, 10, &EigenOptions::default());
        check(&matrix, &svd, 1e-4);
        assert!(svd.values[1] > 1.0 && svd.values[2] < 1e-3);
        for row in (0..600).step_by(7) {
            for col in 0..350 {
                let part = |k: usize| svd.left.get(row, k) * svd.values[k] * svd.right.get(col, k);
                assert!(((0..10).map(part).sum::<f32>() - matrix.get(row, col)).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn the_zero_matrix_has_zero_values() {
        let svd = truncated_svd(&Mat::zeros(500, 400), 5, &EigenOptions::default());
        assert_eq!((svd.values, svd.left), (vec![0.0; 5], Mat::zeros(500, 5)));
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let matrix = sparse(1500, 700, 9);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| truncated_svd(&matrix, 12, &EigenOptions::default()))
        };
        assert_eq!(run(1), run(2));
    }
}
