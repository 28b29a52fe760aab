//! Shrinks the singular values of a dense symmetric matrix: the proximal step of the nuclear norm.

use faer::Side;

use super::tall::view;
use super::{Mat, matmul_nt};

/// `V diag(sign(λ) max(|λ| - by, 0)) Vᵀ` of a symmetric `V diag(λ) Vᵀ`, of which only the lower half is read.
///
/// The singular values of a symmetric matrix are the magnitudes of its eigenvalues, and these take a fraction of
/// the time. Cost `O(n³)`, memory four matrices. A matrix that cannot be decomposed (it has a NaN) stays as it is.
pub fn shrink_singular_values(matrix: &Mat, by: f32) -> Mat {
    let size = matrix.rows();
    let Some(eigen) = (size > 0).then(|| view(matrix).self_adjoint_eigen(Side::Lower).ok()).flatten() else {
        return matrix.clone();
    };
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let kept: Vec<usize> = (0..size).filter(|&pair| values[pair].abs() > by).collect();
    let left = Mat::from_fn(size, kept.len(), |row, col| vectors[(row, kept[col])]);
    let mut right = left.clone();
    for row in 0..size {
        for (entry, &pair) in right.row_mut(row).iter_mut().zip(&kept) {
            *entry *= values[pair] - by.copysign(values[pair]);
        }
    }
    matmul_nt(&left, &right)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        close(&shrink_singular_values(&matrix, 0.5), [1.0, 1.5, 1.5, 1.0]);
        close(&shrink_singular_values(&matrix, 2.0), [0.5, 0.5, 0.5, 0.5]);
        close(&shrink_singular_values(&matrix, 9.0), [0.0; 4]);
    }
}
