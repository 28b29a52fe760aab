//! Nonlinearities.

use std::rc::Rc;

use super::super::Var;
use crate::linalg::elementwise::{map, map_rows, zip};
use crate::linalg::{Mat, simd};

impl Var {
    /// `max(a, 0)`.
    pub fn relu(&self) -> Var {
        self.leaky_relu(0.0)
    }

    /// `a` where positive, `slope * a` elsewhere.
    pub fn leaky_relu(&self, slope: f32) -> Var {
        self.gate(&self.shared_value(), slope)
    }

    /// `a` where the sign is positive, `slope * a` elsewhere: linear in `a`, which makes it its own backward.
    fn gate(&self, sign: &Rc<Mat>, slope: f32) -> Var {
        let value = zip(self.value(), sign, move |a, s| if s > 0.0 { a } else { slope * a });
        let sign = Rc::clone(sign);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.gate(&sign, slope))])
    }

    /// `a` where positive, `slope_j * a` elsewhere, with a learned slope per column, `[1,n]`.
    pub fn prelu(&self, slope: &Var) -> Var {
        let positive = self.relu();
        positive.add(&self.sub(&positive).mul_row(slope))
    }

    /// `a` where positive, `e^a - 1` elsewhere.
    pub fn elu(&self) -> Var {
        let value = map(self.value(), |a| if a > 0.0 { a } else { simd::exp(a) - 1.0 });
        Var::from_op(
            value,
            [self],
            [Box::new(|g, p, y| {
                // The slope is 1 where positive and y + 1 elsewhere, that is 1 + min(y, 0).
                let negative = y.sub(&y.gate(&p[0].shared_value(), 0.0));
                g.add(&g.mul(&negative))
            })],
        )
    }

    /// `1 / (1 + e^-a)`.
    pub fn sigmoid(&self) -> Var {
        let value = map(self.value(), simd::sigmoid);
        Var::from_op(value, [self], [Box::new(|g, _, y| g.mul(y).mul(&y.scale(-1.0).add_scalar(1.0)))])
    }

    /// `log(1 / (1 + e^-a))`, without overflow.
    pub fn log_sigmoid(&self) -> Var {
        let value = map(self.value(), |a| a.min(0.0) - simd::exp(-a.abs()).ln_1p());
        Var::from_op(value, [self], [Box::new(|g, p, _| g.mul(&p[0].scale(-1.0).sigmoid()))])
    }

    /// Hyperbolic tangent.
    pub fn tanh(&self) -> Var {
        let value = map(self.value(), simd::tanh);
        Var::from_op(value, [self], [Box::new(|g, _, y| g.sub(&g.mul(y).mul(y)))])
    }

    /// `e^a`.
    pub fn exp(&self) -> Var {
        Var::from_op(map(self.value(), simd::exp), [self], [Box::new(|g, _, y| g.mul(y))])
    }

    /// Natural logarithm of positive entries.
    pub fn ln(&self) -> Var {
        Var::from_op(map(self.value(), f32::ln), [self], [Box::new(|g, p, _| g.div(&p[0]))])
    }

    /// Probabilities: every row exponentiated and divided by its sum.
    pub fn softmax(&self) -> Var {
        let value = map_rows(self.value(), softmax_row);
        Var::from_op(
            value,
            [self],
            [Box::new(|g, _, y| {
                let weighted = g.mul(y);
                weighted.sub(&y.mul_col(&weighted.sum_rows()))
            })],
        )
    }

    /// Logarithm of [`Var::softmax`], without loss of precision.
    pub fn log_softmax(&self) -> Var {
        let value = log_softmax(self.value());
        Var::from_op(value, [self], [Box::new(|g, _, y| g.sub(&y.exp().mul_col(&g.sum_rows())))])
    }
}

/// Logarithm of the softmax of each row. The exponentials are taken of all rows at once: rows are as short as
/// there are classes, and a loop over so few entries does not vectorise.
pub(super) fn log_softmax(x: &Mat) -> Mat {
    let mut shifted = map_rows(x, |x, out| {
        let top = max(x);
        out.iter_mut().zip(x).for_each(|(out, x)| *out = x - top);
    });
    let exponentials = map(&shifted, simd::exp);
    for row in 0..x.rows() {
        let total = exponentials.row(row).iter().sum::<f32>().ln();
        shifted.row_mut(row).iter_mut().for_each(|value| *value -= total);
    }
    shifted
}

#[inline(always)]
fn max(x: &[f32]) -> f32 {
    x.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

#[inline(always)]
fn softmax_row(x: &[f32], out: &mut [f32]) {
    let top = max(x);
    out.iter_mut().zip(x).for_each(|(out, x)| *out = simd::exp(x - top));
    let total: f32 = out.iter().sum();
    out.iter_mut().for_each(|out| *out /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        check("relu", &[(3, 4)], |v| v[0].relu().mul(&v[0]));
        check("leaky_relu", &[(3, 4)], |v| v[0].leaky_relu(0.2).mul(&v[0]));
        check("prelu", &[(3, 4), (1, 4)], |v| v[0].prelu(&v[1]));
        check("elu", &[(3, 4)], |v| v[0].elu());
        check("sigmoid", &[(3, 4)], |v| v[0].sigmoid());
        check("log_sigmoid", &[(3, 4)], |v| v[0].log_sigmoid());
        check("tanh", &[(3, 4)], |v| v[0].tanh());
        check("exp", &[(3, 4)], |v| v[0].exp());
        check("ln", &[(3, 4)], |v| v[0].mul(&v[0]).add_scalar(0.5).ln());
        check("softmax", &[(3, 4)], |v| v[0].softmax());
        check("log_softmax", &[(3, 4)], |v| v[0].log_softmax());
    }

    #[test]
    fn large_arguments_stay_finite() {
        let x = Var::constant(Mat::from_slice(1, 4, &[-1e4, -100.0, 100.0, 1e4]));
        for y in [x.sigmoid(), x.log_sigmoid(), x.tanh(), x.softmax(), x.log_softmax(), x.elu(), x.exp()] {
            assert!(y.value().as_slice().iter().all(|v| v.is_finite()), "{y:?}");
        }
        assert_eq!(x.softmax().value().as_slice(), [0.0, 0.0, 0.0, 1.0]);
    }
}
