//! Vectors against matrices: a row vector on every row, a column vector on every column.

use super::super::Var;
use crate::linalg::elementwise::{reduce_rows, sum_columns, zip_col, zip_row};
use crate::linalg::{Mat, simd};

impl Var {
    /// `a_ij + row_j`: a bias, `[m,n] + [1,n]`.
    pub fn add_row(&self, row: &Var) -> Var {
        let value = zip_row(self.value(), row.value(), |a, b| a + b);
        Var::from_op(value, [self, row], [Box::new(|g, _, _| g.clone()), Box::new(|g, _, _| g.sum_columns())])
    }

    /// `a_ij * row_j`, `[m,n] * [1,n]`.
    pub fn mul_row(&self, row: &Var) -> Var {
        let value = zip_row(self.value(), row.value(), |a, b| a * b);
        Var::from_op(
            value,
            [self, row],
            [Box::new(|g, p, _| g.mul_row(&p[1])), Box::new(|g, p, _| g.mul(&p[0]).sum_columns())],
        )
    }

    /// `a_ij * col_i`, `[m,n] * [m,1]`.
    pub fn mul_col(&self, col: &Var) -> Var {
        let value = zip_col(self.value(), col.value(), |a, b| a * b);
        Var::from_op(
            value,
            [self, col],
            [Box::new(|g, p, _| g.mul_col(&p[1])), Box::new(|g, p, _| g.mul(&p[0]).sum_rows())],
        )
    }

    /// Sum of each row, `[m,n] -> [m,1]`.
    pub fn sum_rows(&self) -> Var {
        let cols = self.cols();
        let value = reduce_rows(self.value(), simd::sum);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.repeat_col(cols))])
    }

    /// Sum of each column, `[m,n] -> [1,n]`.
    pub fn sum_columns(&self) -> Var {
        let rows = self.rows();
        Var::from_op(sum_columns(self.value()), [self], [Box::new(move |g, _, _| g.repeat_row(rows))])
    }

    /// A column vector side by side, `[m,1] -> [m,n]`.
    pub fn repeat_col(&self, cols: usize) -> Var {
        let mut value = Mat::scratch(self.rows(), cols);
        for (row, &x) in self.value().as_slice().iter().enumerate() {
            value.row_mut(row).fill(x);
        }
        Var::from_op(value, [self], [Box::new(|g, _, _| g.sum_rows())])
    }

    /// A row vector stacked, `[1,n] -> [m,n]`.
    pub fn repeat_row(&self, rows: usize) -> Var {
        let mut value = Mat::scratch(rows, self.cols());
        for row in 0..rows {
            value.row_mut(row).copy_from_slice(self.value().as_slice());
        }
        Var::from_op(value, [self], [Box::new(|g, _, _| g.sum_columns())])
    }

    /// Every row scaled to length 1 (rows shorter than `1e-6` keep their direction and stay short).
    pub fn unit_rows(&self) -> Var {
        let inverse = self.mul(self).sum_rows().add_scalar(1e-12).pow(-0.5);
        self.mul_col(&inverse)
    }
}

#[cfg(test)]
mod tests {
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        check("add_row", &[(3, 4), (1, 4)], |v| v[0].add_row(&v[1]));
        check("mul_row", &[(3, 4), (1, 4)], |v| v[0].mul_row(&v[1]));
        check("mul_col", &[(3, 4), (3, 1)], |v| v[0].mul_col(&v[1]));
        check("sum_rows", &[(3, 4)], |v| v[0].sum_rows());
        check("sum_columns", &[(3, 4)], |v| v[0].sum_columns());
        check("repeat_col", &[(3, 1)], |v| v[0].repeat_col(5));
        check("repeat_row", &[(1, 3)], |v| v[0].repeat_row(5));
        check("unit_rows", &[(3, 4)], |v| v[0].add_scalar(2.0).unit_rows());
    }
}
