//! Dropout whose mask is a hash of the position: nothing is stored, and any thread finds the same mask.

use super::super::Var;
use crate::linalg::Mat;
use crate::linalg::elementwise::map_indexed;
use crate::linalg::random::Mask;

impl Var {
    /// Sets a share `rate` of the entries to zero and scales the others by `1 / (1 - rate)`.
    pub fn dropout(&self, rate: f32, seed: u64) -> Var {
        if rate <= 0.0 {
            return self.clone();
        }
        let mask = Mask::new(rate, seed);
        let value = map_indexed(self.value(), move |position, a| mask.apply(position, a));
        Var::from_op(value, [self], [Box::new(move |g, _, _| g.dropout(rate, seed))])
    }

    /// Sets whole columns to zero, a share `rate` of them, without rescaling: a corrupted view.
    pub fn drop_columns(&self, rate: f32, seed: u64) -> Var {
        if rate <= 0.0 {
            return self.clone();
        }
        let mask = Mask::new(rate, seed);
        let keep = Mat::from_fn(1, self.cols(), |_, col| f32::from(mask.keeps(col as u32)));
        self.mul_row(&Var::constant(keep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        check("dropout", &[(5, 6)], |v| v[0].dropout(0.4, 3));
        check("drop_columns", &[(5, 6)], |v| v[0].drop_columns(0.4, 3));
    }

    #[test]
    fn the_share_and_the_mean_are_kept() {
        let x = Var::constant(Mat::full(1000, 100, 1.0));
        let y = x.dropout(0.3, 1);
        let zeros = y.value().as_slice().iter().filter(|v| **v == 0.0).count();
        assert!((29_000..31_000).contains(&zeros), "{zeros}");
        assert!((y.mean().scalar() - 1.0).abs() < 0.02);
        assert_ne!(y.value(), x.dropout(0.3, 2).value());
    }
}
