//! Entrywise arithmetic.

use super::super::Var;
use crate::linalg::Mat;
use crate::linalg::elementwise::{map, sum, zip};

impl Var {
    /// `a + b`.
    pub fn add(&self, other: &Var) -> Var {
        let value = zip(self.value(), other.value(), |a, b| a + b);
        Var::from_op(value, [self, other], [Box::new(|g, _, _| g.clone()), Box::new(|g, _, _| g.clone())])
    }

    /// `a - b`.
    pub fn sub(&self, other: &Var) -> Var {
        let value = zip(self.value(), other.value(), |a, b| a - b);
        Var::from_op(value, [self, other], [Box::new(|g, _, _| g.clone()), Box::new(|g, _, _| g.scale(-1.0))])
    }

    /// `a * b`, entry by entry.
    pub fn mul(&self, other: &Var) -> Var {
        let value = zip(self.value(), other.value(), |a, b| a * b);
        Var::from_op(
            value,
            [self, other],
            [Box::new(|g, p, _| g.mul(&p[1])), Box::new(|g, p, _| g.mul(&p[0]))],
        )
    }

    /// `a / b`, entry by entry.
    pub fn div(&self, other: &Var) -> Var {
        let value = zip(self.value(), other.value(), |a, b| a / b);
        Var::from_op(
            value,
            [self, other],
            [Box::new(|g, p, _| g.div(&p[1])), Box::new(|g, p, y| g.mul(y).div(&p[1]).scale(-1.0))],
        )
    }

    /// `factor * a`.
    pub fn scale(&self, factor: f32) -> Var {
        let value = map(self.value(), move |a| factor * a);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.scale(factor))])
    }

    /// `a + number`.
    pub fn add_scalar(&self, number: f32) -> Var {
        let value = map(self.value(), move |a| a + number);
        Var::from_op(value, [self], [Box::new(|g, _, _| g.clone())])
    }

    /// `a ^ exponent`, for positive entries when the exponent is not whole.
    pub fn pow(&self, exponent: f32) -> Var {
        let value = if exponent == -0.5 {
            map(self.value(), |a| 1.0 / a.sqrt())
        } else {
            map(self.value(), move |a| a.powf(exponent))
        };
        Var::from_op(
            value,
            [self],
            [Box::new(move |g, p, _| {
                if exponent == 1.0 { g.clone() } else { g.mul(&p[0].pow(exponent - 1.0)).scale(exponent) }
            })],
        )
    }

    /// Sum of all entries, `[m,n] -> [1,1]`.
    pub fn sum(&self) -> Var {
        let (rows, cols) = self.shape();
        let value = Mat::full(1, 1, sum(self.value()));
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.spread(rows, cols))])
    }

    /// Mean of all entries, `[m,n] -> [1,1]`.
    pub fn mean(&self) -> Var {
        self.sum().scale(1.0 / self.value().len().max(1) as f32)
    }

    /// One number everywhere, `[1,1] -> [m,n]`.
    pub fn spread(&self, rows: usize, cols: usize) -> Var {
        let value = Mat::full(rows, cols, self.scalar());
        Var::from_op(value, [self], [Box::new(|g, _, _| g.sum())])
    }
}

#[cfg(test)]
mod tests {
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        check("add", &[(3, 4), (3, 4)], |v| v[0].add(&v[1]));
        check("sub", &[(3, 4), (3, 4)], |v| v[0].sub(&v[1]));
        check("mul", &[(3, 4), (3, 4)], |v| v[0].mul(&v[1]));
        check("div", &[(3, 4), (3, 4)], |v| v[0].div(&v[1].mul(&v[1]).add_scalar(1.0)));
        check("scale", &[(3, 4)], |v| v[0].scale(-1.5).add_scalar(2.0));
        check("pow", &[(3, 4)], |v| v[0].mul(&v[0]).add_scalar(0.5).pow(1.7));
        check("pow -1/2", &[(3, 4)], |v| v[0].mul(&v[0]).add_scalar(0.5).pow(-0.5));
        check("sum", &[(3, 4)], |v| v[0].sum());
        check("mean", &[(3, 4)], |v| v[0].mean());
        check("spread", &[(1, 1)], |v| v[0].spread(2, 3));
    }
}
