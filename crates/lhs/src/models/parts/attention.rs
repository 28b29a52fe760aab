//! Attention over the edges of a graph (Veličković et al. 2018), for any number of heads.

use std::rc::Rc;
use std::sync::Arc;

use crate::autograd::{Attending, Var, at_columns, at_rows, attend};
use crate::linalg::{Mat, Pattern};

/// Slope of the attention scores below zero, as published.
const SLOPE: f32 = 0.2;

/// Additive attention of all heads side by side: head `h` gives entry `(i,j)` of `pattern` the weight
/// `softmax_j(leaky_relu(x_i·to_h + x_j·from_h))`, drops a share `rate` of the weights, and sums its columns of
/// `x [n, heads * columns]` by them. `to` and `from` are `[columns, heads]`.
pub fn additive(pattern: &Arc<Pattern>, x: &Var, to: &Var, from: &Var, (rate, seed): (f32, u64)) -> Var {
    let heads = to.cols();
    let scores = x.matmul(&Var::concat_cols(&[&by_block(to), &by_block(from)])); // [n, 2 * heads]
    let (to, from) = (scores.slice_cols(0, heads), scores.slice_cols(heads, heads));
    attend(pattern, &to, &from, x, Attending { slope: SLOPE, rate, seed })
}

/// A direction for each head, `[columns, heads]`, as the map from all columns to the heads, `[heads * columns, heads]`:
/// each head reads its own block.
fn by_block(directions: &Var) -> Var {
    let (columns, heads) = directions.shape();
    let rows: Rc<[u32]> = (0..heads).flat_map(|_| 0..columns as u32).collect();
    let own = Mat::from_fn(heads * columns, heads, |row, head| f32::from(row / columns == head));
    directions.gather_rows(&rows).mul(&Var::constant(own))
}

/// `to_i + from_j` at every entry of a pattern, `[nnz,1]`.
pub fn sums(pattern: &Arc<Pattern>, to: &Var, from: &Var) -> Var {
    at_rows(pattern, to).add(&at_columns(pattern, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_scores_and_sums_its_own_columns() {
        let pattern = Arc::new(Pattern::new(2, 2, vec![0, 2, 3], vec![0, 1, 1]));
        let x = Var::constant(Mat::from_slice(2, 4, &[1.0, 0.0, 5.0, 7.0, 0.0, 1.0, 3.0, 9.0]));
        let to = Var::constant(Mat::zeros(2, 2));
        // The first head takes row 1 for twice as good as row 0, the second sees no difference.
        let from = Var::constant(Mat::from_slice(2, 2, &[0.0, 0.0, 2f32.ln(), 0.0]));
        let found = additive(&pattern, &x, &to, &from, (0.0, 0));
        let expected = [1.0 / 3.0, 2.0 / 3.0, 4.0, 8.0, 0.0, 1.0, 3.0, 9.0];
        for (found, expected) in found.value().as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }
}
