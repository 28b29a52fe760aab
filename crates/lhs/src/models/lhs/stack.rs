//! Residual, normalised, non-linear hops, for what no mean of neighbours can tell.
//!
//! A node's own code `H [n,w]` enters as `X = H W + b [n,h]`; each layer adds what it makes of the neighbours and of the node:
//! `X ← X + drop(relu(norm(A X W_a + X W_x + b)))`, with `A` row-stochastic, without self loops, and one `A X W_a` for each
//! direction where edges have one; `norm` scales each row to length `√h`, column by column learned. So the first code travels
//! on through all layers, and depth costs no detail. A linear map of the last `norm(X)` is added to the class scores.
//! Cost per layer: `O(edges h + n h²)`.

use rand_chacha::ChaCha8Rng;

use crate::autograd::{Sparse, Var};
use crate::linalg::Mat;
use crate::linalg::random::glorot;
use crate::training::Parameters;

/// Parameters beside those of the layers.
const ENDS: usize = 4;
/// Parameters of a layer.
const EACH: usize = 3;

/// How many parameters so many layers have.
pub(super) fn num_parameters(layers: usize) -> usize {
    if layers == 0 { 0 } else { ENDS + EACH * layers }
}

/// The sizes of a stack.
pub(super) struct Sizes {
    /// Columns of the own code.
    pub(super) width: usize,
    /// Columns inside.
    pub(super) hidden: usize,
    /// Layers, 1 or more.
    pub(super) layers: usize,
    /// Graphs that each layer looks along.
    pub(super) graphs: usize,
    /// Columns of the scores.
    pub(super) classes: usize,
}

/// Fresh weights.
pub(super) fn add_parameters(parameters: &mut Parameters, name: &str, sizes: &Sizes, rng: &mut ChaCha8Rng) {
    let Sizes { width, hidden, layers, graphs, classes } = *sizes;
    parameters.weight(format!("{name}.enter.weight"), glorot(rng, width, hidden));
    parameters.bias(format!("{name}.enter.bias"), Mat::zeros(1, hidden));
    for layer in 0..layers {
        parameters.weight(format!("{name}.{layer}.weight"), glorot(rng, (graphs + 1) * hidden, hidden));
        parameters.bias(format!("{name}.{layer}.bias"), Mat::zeros(1, hidden));
        parameters.bias(format!("{name}.{layer}.scale"), Mat::full(1, hidden, 1.0));
    }
    parameters.bias(format!("{name}.leave.scale"), Mat::full(1, hidden, 1.0));
    parameters.weight(format!("{name}.leave.weight"), glorot(rng, hidden, classes));
}

/// What a stack leaves of the own codes, `[n,w] -> [n,h]`, before its last weights.
pub(super) fn codes(
    own: &Var,
    graphs: &[&Sparse],
    parameters: &[Var],
    dropout: impl Fn(u64) -> (f32, u64),
) -> Var {
    let layers = (parameters.len() - ENDS) / EACH;
    let mut code = own.matmul(&parameters[0]).add_row(&parameters[1]);
    for (number, layer) in (0u64..).zip(parameters[2..2 + EACH * layers].chunks_exact(EACH)) {
        let mut seen: Vec<Var> = graphs.iter().map(|graph| graph.matmul(&code)).collect();
        seen.push(code.clone());
        let mixed = Var::concat_cols(&seen.iter().collect::<Vec<_>>()).matmul(&layer[0]).add_row(&layer[1]);
        let (rate, seed) = dropout(number);
        code = code.add(&normalised(&mixed, &layer[2]).relu().dropout(rate, seed));
    }
    normalised(&code, &parameters[parameters.len() - 2])
}

/// Class scores of such codes.
pub(super) fn scores(codes: &Var, parameters: &[Var]) -> Var {
    codes.matmul(&parameters[parameters.len() - 1])
}

fn normalised(rows: &Var, scale: &Var) -> Var {
    rows.unit_rows().mul_row(&scale.scale((rows.cols() as f32).sqrt()))
}
