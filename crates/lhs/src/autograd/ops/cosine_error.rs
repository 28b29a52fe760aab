//! Scaled cosine error: how far reconstructed rows point away from their targets.
//!
//! `mean over rows of (1 - cos(x_i, t_i))^gamma`, targets of unit length (zero rows count as cosine 0).
//! Fused: one pass forward, one backward, `O(rows * cols)` each, no intermediate of that size but the result.

use std::rc::Rc;

use super::super::Var;
use crate::linalg::elementwise::fill_from_rows;
use crate::linalg::{Mat, simd};

/// Keeps the length of a zero row away from zero.
const TINY: f32 = 1e-12;

impl Var {
    /// The scaled cosine error against constant unit rows, `[m,n] -> [1,1]`.
    pub fn cosine_error(&self, targets: &Rc<Mat>, gamma: f32) -> Var {
        assert_eq!(self.shape(), targets.shape(), "one target per row");
        let rows = self.rows().max(1) as f32;
        let total: f64 = (0..self.rows())
            .map(|row| {
                let cosine = cosine(self.value().row(row), targets.row(row));
                f64::from((1.0 - cosine).max(0.0).powf(gamma))
            })
            .sum();
        let value = Mat::full(1, 1, (total / f64::from(rows)) as f32);
        let targets = Rc::clone(targets);
        Var::from_op(
            value,
            [self],
            [Box::new(move |g, p, _| {
                if p[0].needs_gradient() || g.needs_gradient() {
                    gradient_in_ops(&p[0], &targets, gamma, g)
                } else {
                    fused_gradient(p[0].value(), &targets, gamma, g.scalar() / rows)
                }
            })],
        )
    }
}

fn cosine(x: &[f32], target: &[f32]) -> f32 {
    simd::vectorised(
        #[inline(always)]
        || simd::dot(x, target) / (simd::dot(x, x) + TINY).sqrt(),
    )
}

/// `-factor * gamma * (1 - c)^(gamma - 1) * (t - c u) / |x|` with `u = x / |x|`, row by row.
fn fused_gradient(x: &Mat, targets: &Mat, gamma: f32, factor: f32) -> Var {
    Var::constant(fill_from_rows(
        x,
        targets,
        #[inline(always)]
        move |x, target, out| {
            let inverse = 1.0 / (simd::dot(x, x) + TINY).sqrt();
            let cosine = simd::dot(x, target) * inverse;
            let slope = -factor * gamma * (1.0 - cosine).max(0.0).powf(gamma - 1.0) * inverse;
            for ((out, x), target) in out.iter_mut().zip(x).zip(target) {
                *out = slope * (target - cosine * inverse * x);
            }
        },
    ))
}

/// The same in ops, so that it can be differentiated again.
fn gradient_in_ops(x: &Var, targets: &Rc<Mat>, gamma: f32, g: &Var) -> Var {
    let (rows, cols) = x.shape();
    let targets = Var::constant(Rc::clone(targets));
    let inverse = x.mul(x).sum_rows().add_scalar(TINY).pow(-0.5);
    let cosine = x.row_dots(&targets).mul(&inverse);
    let slope = cosine.scale(-1.0).add_scalar(1.0).pow(gamma - 1.0).mul(&inverse).scale(-gamma / rows as f32);
    let direction = targets.sub(&x.mul_col(&cosine.mul(&inverse)));
    direction.mul_col(&slope).mul(&g.spread(rows, cols))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        let targets = Rc::new(Mat::from_fn(3, 4, |r, c| if (r + c) % 2 == 0 { 0.5f32.sqrt() } else { 0.0 }));
        for gamma in [1.0, 2.0, 3.0] {
            check("cosine_error", &[(3, 4)], |v| v[0].cosine_error(&targets, gamma));
        }
    }

    #[test]
    fn parallel_rows_cost_nothing_and_zero_rows_stay_finite() {
        let targets = Rc::new(Mat::from_slice(2, 2, &[0.6, 0.8, 1.0, 0.0]));
        let x = Var::parameter(Mat::from_slice(2, 2, &[3.0, 4.0, 0.0, 0.0]));
        let loss = x.cosine_error(&targets, 2.0);
        assert!((loss.scalar() - 0.5).abs() < 1e-6);
        let gradient = &crate::autograd::gradients(&loss, &[&x], crate::autograd::Order::First)[0];
        assert!(gradient.value().as_slice().iter().all(|v| v.is_finite()));
    }
}
