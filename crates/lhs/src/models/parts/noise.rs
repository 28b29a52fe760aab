//! Random matrices whose entries depend on the seed and their place alone.

use crate::linalg::Mat;
use crate::linalg::random::{derive, hash};

/// Evenly between 0 and 1, neither of which is met.
pub fn uniform(rows: usize, cols: usize, seed: u64) -> Mat {
    let mut position = 0u32;
    Mat::from_fn(rows, cols, |_, _| {
        let drawn = hash(seed, position);
        position = position.wrapping_add(1);
        // 23 bits and a half: exact, and away from both ends.
        ((drawn >> 9) as f32 + 0.5) / (1u32 << 23) as f32
    })
}

/// Normal with mean 0 and variance 1 (Box and Muller 1958).
pub fn normal(rows: usize, cols: usize, seed: u64) -> Mat {
    let mut out = uniform(rows, cols, seed);
    let angles = uniform(rows, cols, derive(seed, &[1]));
    for (out, angle) in out.as_mut_slice().iter_mut().zip(angles.as_slice()) {
        *out = (-2.0 * out.ln()).sqrt() * (std::f32::consts::TAU * angle).cos();
    }
    out
}

/// Logistic: the difference of two Gumbel variables, as relaxed coin flips need it.
pub fn logistic(rows: usize, cols: usize, seed: u64) -> Mat {
    let mut out = uniform(rows, cols, seed);
    out.as_mut_slice().iter_mut().for_each(|u| *u = u.ln() - (1.0 - *u).ln());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_right() {
        let moments = |mat: &Mat| {
            let count = mat.len() as f64;
            let mean = mat.as_slice().iter().map(|&x| f64::from(x)).sum::<f64>() / count;
            let square = mat.as_slice().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / count;
            (mean, square - mean * mean)
        };
        let close = |mat: &Mat, mean: f64, variance: f64| {
            let found = moments(mat);
            assert!((found.0 - mean).abs() < 0.02, "mean {}", found.0);
            assert!((found.1 / variance - 1.0).abs() < 0.03, "variance {}", found.1);
        };
        close(&uniform(300, 200, 1), 0.5, 1.0 / 12.0);
        close(&normal(300, 200, 2), 0.0, 1.0);
        close(&logistic(300, 200, 3), 0.0, std::f64::consts::PI.powi(2) / 3.0);
    }
}
