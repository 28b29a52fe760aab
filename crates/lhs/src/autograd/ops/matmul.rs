//! Dense products and the transpose.

use super::super::Var;
use crate::linalg;

impl Var {
    /// `A B`: `[m,k] x [k,n] -> [m,n]`.
    pub fn matmul(&self, other: &Var) -> Var {
        Var::from_op(
            linalg::matmul(self.value(), other.value()),
            [self, other],
            [Box::new(|g, p, _| g.matmul_nt(&p[1])), Box::new(|g, p, _| p[0].matmul_tn(g))],
        )
    }

    /// `A Bᵀ`: `[m,k] x [n,k] -> [m,n]`.
    pub fn matmul_nt(&self, other: &Var) -> Var {
        Var::from_op(
            linalg::matmul_nt(self.value(), other.value()),
            [self, other],
            [Box::new(|g, p, _| g.matmul(&p[1])), Box::new(|g, p, _| g.matmul_tn(&p[0]))],
        )
    }

    /// `Aᵀ B`: `[k,m] x [k,n] -> [m,n]`.
    pub fn matmul_tn(&self, other: &Var) -> Var {
        Var::from_op(
            linalg::matmul_tn(self.value(), other.value()),
            [self, other],
            [Box::new(|g, p, _| p[1].matmul_nt(g)), Box::new(|g, p, _| p[0].matmul(g))],
        )
    }

    /// `S B` of a large symmetric `S` and few columns. The way back takes `S` again, and not `Sᵀ`.
    pub fn symmetric_matmul(&self, other: &Var) -> Var {
        Var::from_op(
            linalg::matmul_narrow(self.value(), other.value()),
            [self, other],
            [Box::new(|g, p, _| g.matmul_nt(&p[1])), Box::new(|g, p, _| p[0].symmetric_matmul(g))],
        )
    }

    /// `A⁻¹` of a small, well-conditioned square matrix.
    pub fn inverse(&self) -> Var {
        Var::from_op(
            linalg::inverse(self.value()),
            [self],
            [Box::new(|g, _, y| y.matmul_tn(g).matmul_nt(y).scale(-1.0))],
        )
    }

    /// `Aᵀ`.
    pub fn transpose(&self) -> Var {
        Var::from_op(self.value().transposed(), [self], [Box::new(|g, _, _| g.transpose())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;
    use crate::linalg::Mat;

    #[test]
    fn gradients_equal_finite_differences() {
        check("matmul", &[(3, 4), (4, 2)], |v| v[0].matmul(&v[1]));
        check("matmul_nt", &[(3, 4), (2, 4)], |v| v[0].matmul_nt(&v[1]));
        check("matmul_tn", &[(4, 3), (4, 2)], |v| v[0].matmul_tn(&v[1]));
        check("symmetric_matmul", &[(4, 4), (4, 2)], |v| v[0].add(&v[0].transpose()).symmetric_matmul(&v[1]));
        check("inverse", &[(3, 3)], |v| {
            let one = Var::constant(Mat::from_fn(3, 3, |row, col| f32::from(row == col)));
            v[0].matmul_tn(&v[0]).add(&one).add(&v[0].scale(0.3)).inverse()
        });
        check("transpose", &[(3, 4)], |v| v[0].transpose());
    }
}
