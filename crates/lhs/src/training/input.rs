//! Features as the first layer of a network sees them.

use crate::autograd::{Sparse, Var};
use crate::graph::{Features, normalise};

/// Features on the tape, dense or sparse.
#[derive(Clone, Debug)]
pub enum Input {
    /// `[n,F]`.
    Dense(Var),
    /// Non-zeros only.
    Sparse(Sparse),
}

impl Input {
    /// Features as constants.
    pub fn new(features: &Features) -> Self {
        match features {
            Features::Dense(mat) => Input::Dense(Var::constant(mat.clone())),
            Features::Sparse(mat) => Input::Sparse(Sparse::constant(mat)),
        }
    }

    /// Features as constants, every row scaled to sum 1 if asked.
    pub fn scaled(features: &Features, rows_to_one: bool) -> Self {
        if rows_to_one { Self::new(&normalise::row_normalised(features)) } else { Self::new(features) }
    }

    /// Drops a share of the (non-zero) entries.
    pub fn dropout(&self, rate: f32, seed: u64) -> Self {
        match self {
            _ if rate <= 0.0 => self.clone(),
            Input::Dense(x) => Input::Dense(x.dropout(rate, seed)),
            Input::Sparse(x) => Input::Sparse(Sparse::new(x.pattern.clone(), x.values.dropout(rate, seed))),
        }
    }

    /// `X W`: `[n,F] x [F,d] -> [n,d]`.
    pub fn matmul(&self, weight: &Var) -> Var {
        match self {
            Input::Dense(x) => x.matmul(weight),
            Input::Sparse(x) => x.matmul(weight),
        }
    }
}
