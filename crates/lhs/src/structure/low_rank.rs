//! The low-rank filter: the leading eigenpairs of the self-expression, as a map from rows to directions.
//!
//! `Q' ≈ U Σ Uᵀ` with the `r` eigenvalues of largest magnitude; `L = U |Σ|^½`. Since `Q' U = U Σ`, a node
//! whose row `z` is expressed by the others with coefficients `q = z (ZᵀZ + λI)⁻¹ Zᵀ` has the direction
//! `l = q U Σ⁻¹ |Σ|^½ = z P` with `P = (ZᵀZ + λI)⁻¹ Zᵀ U Σ⁻¹ |Σ|^½ [d,r]`: a map that serves nodes which were
//! not there when it was found, and changed ones, without solving anything again.
//! Without the filter nothing need be found: `Q'` but for its diagonal and the scale of its rows is the hat matrix, and
//! `L = Z C⁻ᵀ` with `C Cᵀ = ZᵀZ + λI` has exactly that as `L Lᵀ`. Both go when rows are scaled to unit length.
//! Cost: a few dozen products of the operator with 16 columns each, and `O(n r²)`; see
//! `linalg::leading_eigenpairs`. The pairs are found to a residual of 1e-4 of the largest eigenvalue.

use super::SelfExpression;
use super::latent_graph::LARGE;
use super::views::to_unit_rows;
use crate::linalg::{EigenOptions, Mat, SymmetricOperator, leading_eigenpairs, matmul, whitening};

/// Columns that are found together where nodes are many and room is short.
const NARROW_BLOCK: usize = 8;
/// Eigenvalues below this, relative to the largest, are rounding errors.
const NOISE: f32 = 1e-6;

/// From rows to directions.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionMap {
    /// `P [d,r]`.
    map: Mat,
}

impl DirectionMap {
    /// Keeps the `rank` leading directions of a self-expression.
    pub fn fit(expression: &SelfExpression, rank: usize) -> Self {
        let mut options = EigenOptions::default();
        if expression.dim() > LARGE {
            options.block = NARROW_BLOCK;
        }
        let pairs = leading_eigenpairs(expression, rank, &options);
        let floor = NOISE * pairs.values.first().map_or(0.0, |value| value.abs());
        let mut scaled = pairs.vectors; // U Σ⁻¹ |Σ|^½ [n,r]
        for row in 0..scaled.rows() {
            for (entry, value) in scaled.row_mut(row).iter_mut().zip(&pairs.values) {
                *entry *= if value.abs() > floor { value.signum() / value.abs().sqrt() } else { 0.0 };
            }
        }
        DirectionMap { map: expression.weights_for(&scaled) }
    }

    /// The way to directions whose dot products are the whole self-expression of `rows`, nothing filtered out.
    pub fn unfiltered(rows: &Mat, penalty: f32) -> Self {
        DirectionMap { map: whitening(rows, penalty) }
    }

    /// A map from its matrix, as [`DirectionMap::matrix`] gave it.
    pub fn from_matrix(map: Mat) -> Self {
        DirectionMap { map }
    }

    /// `P`.
    pub fn matrix(&self) -> &Mat {
        &self.map
    }

    /// Unit rows `[n,r]` for rows `[n,d]`; zero where a row points nowhere.
    pub fn directions(&self, rows: &Mat) -> Mat {
        let mut directions = matmul(rows, &self.map);
        to_unit_rows(&mut directions);
        directions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::{generator, glorot};

    #[test]
    fn rows_have_unit_length() {
        let z = glorot(&mut generator(1, 0), 60, 8);
        let rows = DirectionMap::fit(&SelfExpression::new(&z, 0.7), 5).directions(&z);
        assert_eq!(rows.shape(), (60, 5));
        for row in 0..60 {
            let length: f32 = rows.row(row).iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn two_groups_of_rows_get_two_directions() {
        let z = Mat::from_fn(40, 3, |row, col| {
            let noise = ((row * 7 + col * 5) % 11) as f32 * 0.01;
            noise + if row % 2 == col { 1.0 } else { 0.0 }
        });
        let rows = DirectionMap::fit(&SelfExpression::new(&z, 0.7), 2).directions(&z);
        let cosine =
            |a: usize, b: usize| rows.row(a).iter().zip(rows.row(b)).map(|(x, y)| x * y).sum::<f32>();
        assert!(cosine(0, 2) > 0.95 && cosine(1, 7) > 0.95 && cosine(0, 1) < 0.3);
    }
}
