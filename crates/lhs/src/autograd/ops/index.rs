//! Picking, placing and joining rows and columns.

use std::rc::Rc;

use super::super::Var;
use crate::linalg::{Mat, simd};

impl Var {
    /// The rows named, in that order; a row may be named more than once.
    pub fn gather_rows(&self, rows: &Rc<[u32]>) -> Var {
        let (index, total) = (Rc::clone(rows), self.rows());
        Var::from_op(
            self.value().select_rows(rows),
            [self],
            [Box::new(move |g, _, _| g.scatter_rows(&index, total))],
        )
    }

    /// Adds each row to the row named for it in a matrix of `total` rows, zero elsewhere.
    pub fn scatter_rows(&self, rows: &Rc<[u32]>, total: usize) -> Var {
        assert_eq!(self.rows(), rows.len(), "one target per row");
        let mut value = Mat::zeros(total, self.cols());
        let from = self.value();
        simd::vectorised(
            #[inline(always)]
            || {
                for (at, &to) in rows.iter().enumerate() {
                    simd::axpy(value.row_mut(to as usize), 1.0, from.row(at));
                }
            },
        );
        let index = Rc::clone(rows);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.gather_rows(&index))])
    }

    /// Columns `first..first + count`.
    pub fn slice_cols(&self, first: usize, count: usize) -> Var {
        let cols = self.cols();
        let mut value = Mat::scratch(self.rows(), count);
        for row in 0..self.rows() {
            value.row_mut(row).copy_from_slice(&self.value().row(row)[first..first + count]);
        }
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.pad_cols(first, cols))])
    }

    /// These columns from column `first` on in a matrix of `total` columns, zero elsewhere.
    fn pad_cols(&self, first: usize, total: usize) -> Var {
        let count = self.cols();
        let mut value = Mat::zeros(self.rows(), total);
        for row in 0..self.rows() {
            value.row_mut(row)[first..first + count].copy_from_slice(self.value().row(row));
        }
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.slice_cols(first, count))])
    }

    /// Matrices side by side.
    pub fn concat_cols(parts: &[&Var]) -> Var {
        let rows = parts.first().map_or(0, |part| part.rows());
        assert!(parts.iter().all(|part| part.rows() == rows), "the same rows side by side");
        let total: usize = parts.iter().map(|part| part.cols()).sum();
        let mut value = Mat::scratch(rows, total);
        let mut rules: Vec<super::super::var::Rule> = Vec::with_capacity(parts.len());
        let mut first = 0;
        for part in parts {
            let count = part.cols();
            for row in 0..rows {
                value.row_mut(row)[first..first + count].copy_from_slice(part.value().row(row));
            }
            rules.push(Box::new(move |g, _, _| g.slice_cols(first, count)));
            first += count;
        }
        Var::from_ops(value, parts, rules)
    }

    /// Rows `first..first + count`.
    pub fn slice_rows(&self, first: usize, count: usize) -> Var {
        let (total, cols) = self.shape();
        let value = Mat::from_slice(count, cols, &self.value().as_slice()[first * cols..][..count * cols]);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.pad_rows(first, total))])
    }

    fn pad_rows(&self, first: usize, total: usize) -> Var {
        let (count, cols) = self.shape();
        let mut value = Mat::zeros(total, cols);
        value.as_mut_slice()[first * cols..][..count * cols].copy_from_slice(self.value().as_slice());
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.slice_rows(first, count))])
    }

    /// The same entries, row after row, under another shape of the same size.
    pub fn reshaped(&self, rows: usize, cols: usize) -> Var {
        let (old_rows, old_cols) = self.shape();
        let value = self.value().clone().reshaped(rows, cols);
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.reshaped(old_rows, old_cols))])
    }

    /// One matrix on top of another.
    pub fn stack_rows(&self, below: &Var) -> Var {
        assert_eq!(self.cols(), below.cols(), "the same columns on top of each other");
        let (top, bottom) = (self.rows(), below.rows());
        let mut value = Mat::scratch(top + bottom, self.cols());
        let (first, second) = value.as_mut_slice().split_at_mut(top * self.cols());
        first.copy_from_slice(self.value().as_slice());
        second.copy_from_slice(below.value().as_slice());
        Var::from_op(
            value,
            [self, below],
            [
                Box::new(move |g, _, _| g.slice_rows(0, top)),
                Box::new(move |g, _, _| g.slice_rows(top, bottom)),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        let rows: Rc<[u32]> = Rc::from([2, 0, 2]);
        check("gather_rows", &[(3, 4)], |v| v[0].gather_rows(&rows));
        check("scatter_rows", &[(3, 4)], |v| v[0].scatter_rows(&rows, 5));
        check("slice_cols", &[(3, 4)], |v| v[0].slice_cols(1, 2));
        check("concat_cols", &[(3, 4), (3, 2)], |v| Var::concat_cols(&[&v[0], &v[1], &v[0]]));
        check("slice_rows", &[(3, 4)], |v| v[0].slice_rows(1, 2));
        check("reshaped", &[(3, 4)], |v| v[0].reshaped(2, 6));
        check("stack_rows", &[(3, 4), (2, 4)], |v| v[0].stack_rows(&v[1]));
    }
}
