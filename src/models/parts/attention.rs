//! Attention over the edges of a graph (Veličković et al. 2018), for any number of heads.

use std::sync::Arc;

use crate::autograd::{Sparse, Var, at_columns, at_rows};
use crate::linalg::Pattern;

/// Slope of the attention scores below zero, as published.
const SLOPE: f32 = 0.2;

/// Additive attention: entry `(i,j)` of `pattern` gets `softmax_j(leaky_relu(to_i + from_j))`; `to` and `from` are
/// `[n,1]`. Rows sum to 1, empty rows stay empty.
pub fn additive(pattern: &Arc<Pattern>, to: &Var, from: &Var) -> Sparse {
    Sparse::new(pattern.clone(), sums(pattern, to, from).leaky_relu(SLOPE)).softmax_rows()
}

/// `to_i + from_j` at every entry of a pattern, `[nnz,1]`.
pub fn sums(pattern: &Arc<Pattern>, to: &Var, from: &Var) -> Var {
    at_rows(pattern, to).add(&at_columns(pattern, from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn attention_favours_the_higher_score_and_sums_to_one() {
        let pattern = Arc::new(Pattern::new(3, 3, vec![0, 2, 3, 3], vec![1, 2, 0]));
        let column = |values: &[f32]| Var::constant(Mat::column(values));
        let found = additive(&pattern, &column(&[1.0, 0.0, 0.0]), &column(&[5.0, 0.0, 2f32.ln()]));
        let expected = [1.0 / 3.0, 2.0 / 3.0, 1.0];
        for (found, expected) in found.values.value().as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }
}
