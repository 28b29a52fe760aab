//! Convolution along a sequence: `y_t = Σ_o x_{t+o} W_o + b` for offsets `o` around 0, zeros beyond both ends.
//!
//! What a step of the output sees is laid side by side, so that a convolution is one product with the kernel
//! `[width * from, to]`, built by [`ParamBuilder::linear`](super::ParamBuilder::linear) and read by
//! [`ParamReader::linear`](super::ParamReader::linear).

use super::side_by_side;
use crate::autograd::Var;
use crate::linalg::Mat;

/// What every step of one long sequence sees, its steps the rows of `x`: `[n, from] -> [n, width * from]`.
pub fn windows(x: &Var, width: usize) -> Var {
    let (rows, cols) = x.shape();
    let beyond = Var::constant(Mat::zeros(width / 2, cols));
    let padded = beyond.stack_rows(x).stack_rows(&beyond);
    let shifted: Vec<Var> = (0..width).map(|offset| padded.slice_rows(offset, rows)).collect();
    side_by_side(&shifted)
}

/// What every step sees in a sequence for each node, `steps[t]` holding step `t` of all nodes: each
/// `[n, from] -> [n, width * from]`.
pub fn windows_of_steps(steps: &[Var], width: usize) -> Vec<Var> {
    let Some(first) = steps.first() else { return Vec::new() };
    let beyond = vec![Var::constant(Mat::zeros(first.rows(), first.cols())); width / 2];
    let padded = [&beyond, steps, &beyond].concat();
    padded.windows(width).map(side_by_side).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_sees_its_neighbours_and_zeros_beyond_the_ends() {
        let x = Var::constant(Mat::column(&[1.0, 2.0, 3.0]));
        let seen = windows(&x, 3);
        assert_eq!(seen.value().as_slice(), [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 0.0]);
        assert_eq!(windows(&x, 1).value(), x.value());
    }

    #[test]
    fn sequences_of_nodes_see_what_a_long_one_sees() {
        let steps: Vec<Var> = (1..=4).map(|t| Var::constant(Mat::full(1, 2, t as f32))).collect();
        let long = Var::constant(Mat::from_fn(4, 2, |t, _| (t + 1) as f32));
        let together = windows(&long, 3);
        for (t, step) in windows_of_steps(&steps, 3).iter().enumerate() {
            assert_eq!(step.value().as_slice(), together.value().row(t));
        }
    }
}
