//! Dropout masks drawn one after the other.

use crate::autograd::{Sparse, Var};
use crate::linalg::random::derive;
use crate::training::Input;

/// Drops a share of whatever it is given, each time other entries, and nothing when predicting.
pub struct Dropout {
    rate: f32,
    seed: Option<u64>,
    drawn: u64,
}

impl Dropout {
    /// `seed` is `None` when predicting.
    pub fn new(rate: f32, seed: Option<u64>) -> Self {
        Dropout { rate, seed, drawn: 0 }
    }

    /// Drops entries of a matrix.
    pub fn of(&mut self, x: &Var) -> Var {
        let (rate, seed) = self.draw();
        x.dropout(rate, seed)
    }

    /// Drops (non-zero) entries of the features.
    pub fn of_input(&mut self, x: &Input) -> Input {
        let (rate, seed) = self.draw();
        x.dropout(rate, seed)
    }

    /// Drops entries of a sparse matrix, such as edges.
    pub fn of_entries(&mut self, x: &Sparse) -> Sparse {
        let (rate, seed) = self.draw();
        if rate <= 0.0 { x.clone() } else { Sparse::new(x.pattern.clone(), x.values.dropout(rate, seed)) }
    }

    /// Rate and seed of the next mask, for what drops by itself.
    pub fn draw(&mut self) -> (f32, u64) {
        self.drawn += 1;
        self.seed.map_or((0.0, 0), |seed| (self.rate, derive(seed, &[self.drawn])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn each_mask_is_another_and_predictions_are_left_alone() {
        let x = Var::constant(Mat::full(10, 10, 1.0));
        let mut dropout = Dropout::new(0.5, Some(3));
        assert_ne!(dropout.of(&x).value(), dropout.of(&x).value());
        assert_eq!(Dropout::new(0.5, None).of(&x).value(), x.value());
    }
}
