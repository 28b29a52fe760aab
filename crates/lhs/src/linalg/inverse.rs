//! The inverse of a small matrix.

use faer::linalg::solvers::DenseSolveCore;

use super::Mat;
use super::tall::Small;

/// `A⁻¹` of a square matrix, worked out in `f64`: `O(n³)`, for sizes such as the number of classes.
///
/// # Panics
/// When the matrix is not square.
pub fn inverse(mat: &Mat) -> Mat {
    assert_eq!(mat.rows(), mat.cols(), "only square matrices have an inverse");
    if mat.rows() == 0 {
        return mat.clone();
    }
    let wide = Small::from_fn(mat.rows(), mat.cols(), |row, col| f64::from(mat.get(row, col)));
    let inverse = wide.partial_piv_lu().inverse();
    Mat::from_fn(mat.rows(), mat.cols(), |row, col| inverse[(row, col)] as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;

    #[test]
    fn a_matrix_times_its_inverse_is_the_identity() {
        for size in [0, 1, 2, 7, 40] {
            let mat =
                Mat::from_fn(size, size, |r, c| ((r * 5 + c * 3) as f32).sin() + 9.0 * f32::from(r == c));
            let product = matmul(&mat, &inverse(&mat));
            for row in 0..size {
                for (col, &found) in product.row(row).iter().enumerate() {
                    assert!((found - f32::from(row == col)).abs() < 1e-5, "{product:?}");
                }
            }
        }
    }
}
