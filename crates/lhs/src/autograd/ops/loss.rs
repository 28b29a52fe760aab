//! Losses on labelled rows.

use std::rc::Rc;

use super::super::Var;
use super::activation::log_softmax;
use crate::linalg::elementwise::map;
use crate::linalg::{Mat, simd};

impl Var {
    /// Mean of `-log softmax(row)[class]` over the rows, `[m,C] -> [1,1]`.
    pub fn cross_entropy(&self, classes: &Rc<[u32]>) -> Var {
        assert_eq!(self.rows(), classes.len(), "one class per row");
        let count = classes.len().max(1) as f32;
        let log_probabilities = log_softmax(self.value());
        let total: f64 = classes
            .iter()
            .enumerate()
            .map(|(row, &class)| f64::from(log_probabilities.get(row, class as usize)))
            .sum();
        let value = Mat::full(1, 1, (-total / f64::from(count)) as f32);
        let (rows, cols, classes) = (self.rows(), self.cols(), Rc::clone(classes));
        Var::from_op(
            value,
            [self],
            [Box::new(move |g, p, _| {
                let probabilities = if p[0].needs_gradient() {
                    p[0].softmax()
                } else {
                    Var::constant(map(&log_probabilities, simd::exp))
                };
                let mut target = Mat::zeros(rows, cols);
                for (row, &class) in classes.iter().enumerate() {
                    target.row_mut(row)[class as usize] = 1.0;
                }
                let error = probabilities.sub(&Var::constant(target));
                error.mul(&g.scale(1.0 / count).spread(rows, cols))
            })],
        )
    }

    /// The same with a weight for each row: `sum_i w_i · -log softmax(row_i)[class_i] / m`.
    pub fn weighted_cross_entropy(&self, classes: &Rc<[u32]>, weights: &Rc<[f32]>) -> Var {
        assert_eq!(
            (self.rows(), self.rows()),
            (classes.len(), weights.len()),
            "one class and weight per row"
        );
        let count = classes.len().max(1) as f32;
        let log_probabilities = log_softmax(self.value());
        let cost = |(row, &class): (usize, &u32)| {
            f64::from(weights[row]) * f64::from(log_probabilities.get(row, class as usize))
        };
        let total: f64 = classes.iter().enumerate().map(cost).sum();
        let value = Mat::full(1, 1, (-total / f64::from(count)) as f32);
        let (rows, cols, classes) = (self.rows(), self.cols(), Rc::clone(classes));
        let shares = Mat::from_fn(rows, 1, |row, _| weights[row] / count);
        Var::from_op(
            value,
            [self],
            [Box::new(move |g, p, _| {
                let probabilities = if p[0].needs_gradient() {
                    p[0].softmax()
                } else {
                    Var::constant(map(&log_probabilities, simd::exp))
                };
                let mut target = Mat::zeros(rows, cols);
                for (row, &class) in classes.iter().enumerate() {
                    target.row_mut(row)[class as usize] = 1.0;
                }
                let error = probabilities.sub(&Var::constant(target)).mul_col(&Var::constant(shares.clone()));
                error.mul(&g.spread(rows, cols))
            })],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        let classes: Rc<[u32]> = Rc::from([1, 0, 3]);
        check("cross_entropy", &[(3, 4)], |v| v[0].cross_entropy(&classes));
        let weights: Rc<[f32]> = Rc::from([0.5, 2.0, 0.0]);
        check("weighted_cross_entropy", &[(3, 4)], |v| v[0].weighted_cross_entropy(&classes, &weights));
    }

    #[test]
    fn equal_logits_cost_the_logarithm_of_the_number_of_classes() {
        let logits = Var::constant(Mat::full(3, 4, 7.0));
        let loss = logits.cross_entropy(&Rc::from([1, 0, 3])).scalar();
        assert!((loss - 4f32.ln()).abs() < 1e-6);
    }
}
