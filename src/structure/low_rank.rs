//! The low-rank filter: the leading eigenpairs of the self-expression, as one unit row per node.
//!
//! `Q' ≈ U Σ Uᵀ` with the `r` eigenvalues of largest magnitude; `L = U |Σ|^½`, each row scaled to length 1.
//! Cost: a few dozen products of the operator with 16 columns each, and `O(n r²)`; see `linalg::leading_eigenpairs`.

use crate::linalg::{EigenOptions, Mat, SymmetricOperator, leading_eigenpairs};

/// Rows shorter than this point nowhere: they stay zero, and the node joins nobody.
const SHORTEST: f32 = 1e-12;

/// Unit rows `[n, rank]`; rows without a direction are zero.
pub fn directions(operator: &dyn SymmetricOperator, rank: usize) -> Mat {
    let pairs = leading_eigenpairs(operator, rank, &EigenOptions::default());
    let roots: Vec<f32> = pairs.values.iter().map(|value| value.abs().sqrt()).collect();
    let mut rows = pairs.vectors;
    for row in 0..rows.rows() {
        let row = rows.row_mut(row);
        row.iter_mut().zip(&roots).for_each(|(entry, root)| *entry *= root);
        let length = row.iter().map(|v| v * v).sum::<f32>().sqrt();
        let scale = if length > SHORTEST { 1.0 / length } else { 0.0 };
        row.iter_mut().for_each(|entry| *entry *= scale);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::{generator, glorot};
    use crate::structure::SelfExpression;

    #[test]
    fn rows_have_unit_length() {
        let z = glorot(&mut generator(1, 0), 60, 8);
        let rows = directions(&SelfExpression::new(&z, 0.7), 5);
        assert_eq!(rows.shape(), (60, 5));
        for row in 0..60 {
            let length: f32 = rows.row(row).iter().map(|v| v * v).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
    }
}
