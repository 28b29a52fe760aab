//! InfoNCE between two views, over all pairs, without an N×N buffer.
//!
//! Rows `z_i` of view 1 and `z'_i` of view 2 are positives of each other; every other row of both views is a
//! negative. With cosines `s` and temperature `t`, stacked into `m = 2N` unit rows:
//! `mean_i [ -s(i, pos(i)) / t + log sum_{j != i} exp(s(i, j) / t) ]`.
//! Cost `O(m²d)` time, `O(md)` memory; see `linalg::contrast`.

use super::super::Var;
use crate::linalg::contrast::{exp_sums, weighted_sums};
use crate::linalg::{Mat, simd};

/// Settings of the contrastive loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InfoNce {
    /// Divides the cosines; 0.05..=2. Smaller means that only the nearest negatives count.
    pub temperature: f32,
}

impl InfoNce {
    /// The loss between two views `[n,d]` of the same nodes, `-> [1,1]`.
    pub fn loss(&self, first: &Var, second: &Var) -> Var {
        assert_eq!(first.shape(), second.shape(), "two views of the same nodes");
        self.of_unit_rows(&first.unit_rows().stack_rows(&second.unit_rows()))
    }

    fn of_unit_rows(&self, stacked: &Var) -> Var {
        let (rows, temperature) = (stacked.value(), self.temperature);
        let sums = exp_sums(rows, temperature);
        let total: f64 = (0..rows.rows())
            .map(|row| {
                let positive = simd::dot(rows.row(row), rows.row(partner(row, rows.rows())));
                f64::from(sums[row].ln() + (1.0 - positive) / temperature)
            })
            .sum();
        let value = Mat::full(1, 1, (total / rows.rows().max(1) as f64) as f32);
        let settings = *self;
        Var::from_op(
            value,
            [stacked],
            [Box::new(move |g, p, _| {
                if p[0].needs_gradient() || g.needs_gradient() {
                    settings.gradient_in_ops(&p[0], g)
                } else {
                    settings.fused_gradient(p[0].value(), &sums, g.scalar())
                }
            })],
        )
    }

    fn fused_gradient(&self, rows: &Mat, sums: &[f32], factor: f32) -> Var {
        let mut gradient = weighted_sums(rows, self.temperature, sums);
        let factor = factor / (rows.rows() as f32 * self.temperature);
        for row in 0..rows.rows() {
            let positive = rows.row(partner(row, rows.rows()));
            for (g, positive) in gradient.row_mut(row).iter_mut().zip(positive) {
                *g = factor * (*g - 2.0 * positive);
            }
        }
        Var::constant(gradient)
    }

    /// The same in ops over a dense `m x m` matrix, so that it can be differentiated again. For small inputs:
    /// nothing on the training path asks for it.
    fn gradient_in_ops(&self, stacked: &Var, g: &Var) -> Var {
        let (rows, cols) = stacked.shape();
        let off_diagonal = Mat::from_fn(rows, rows, |i, j| if i == j { 0.0 } else { 1.0 });
        let similarities = stacked.matmul_nt(stacked).add_scalar(-1.0).scale(1.0 / self.temperature);
        let exponentials = similarities.exp().mul(&Var::constant(off_diagonal));
        let inverse = exponentials.sum_rows().pow(-1.0);
        let forward = exponentials.matmul(stacked).mul_col(&inverse);
        let backward = exponentials.matmul(&stacked.mul_col(&inverse));
        let half = rows / 2;
        let positives = stacked.slice_rows(half, half).stack_rows(&stacked.slice_rows(0, half));
        let total = forward.add(&backward).sub(&positives.scale(2.0));
        total.scale(1.0 / (rows as f32 * self.temperature)).mul(&g.spread(rows, cols))
    }
}

fn partner(row: usize, rows: usize) -> usize {
    (row + rows / 2) % rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        let settings = InfoNce { temperature: 0.7 };
        check("info_nce", &[(4, 3), (4, 3)], |v| settings.loss(&v[0].add_scalar(0.3), &v[1]));
    }

    #[test]
    fn equal_views_of_orthogonal_rows_have_a_known_loss() {
        let eye = Var::constant(Mat::from_fn(5, 5, |r, c| if r == c { 1.0 } else { 0.0 }));
        let loss = InfoNce { temperature: 0.5 }.loss(&eye, &eye).scalar();
        // Positive cosine 1; eight negatives of cosine 0.
        let expected = ((2f32).exp() + 8.0).ln() - 2.0;
        assert!((loss - expected).abs() < 1e-5, "{loss} {expected}");
    }
}
