//! Logistic regression over several classes, to its minimum.
//!
//! `W [C, d]` minimises `sum_i -log softmax(W x_i)_(y_i) + penalty/2 |W|²` over the rows of `X [n, d]`, by L-BFGS (Nocedal
//! 1980): steps along the gradient, bent by what the last few steps taught of the curvature.
//! Cost: `O(n d C)` per step, of which there are at most [`STEPS`]; memory `O(d C)`.

use crate::linalg::{Mat, matmul_nt, simd};
use crate::training::argmax;

/// Most steps to the minimum.
const STEPS: usize = 100;
/// How many of the last steps are remembered.
const MEMORY: usize = 10;
/// Done when the gradient is this short, relative to what it was without weights.
const SHORT: f64 = 1e-2;
/// Share of the descent that a straight slope promises, with which a step is content.
const ENOUGH: f64 = 1e-4;

/// Rows and their classes.
pub(super) struct Examples<'a> {
    pub rows: Mat,
    pub classes: &'a [u32],
}

/// A step that was taken, and how the gradient changed along it.
struct Step {
    moved: Mat,
    turned: Mat,
    /// One over their inner product.
    inverse: f64,
}

impl Examples<'_> {
    /// The best weights `[C, d]`, looked for from `start`.
    pub fn minimum(&self, start: Mat, penalty: f32) -> Mat {
        let mut weights = start;
        let (mut value, mut gradient) = self.slope(&weights, penalty);
        let (_, at_zero) = self.slope(&Mat::zeros(weights.rows(), weights.cols()), penalty);
        let short = SHORT * dot(&at_zero, &at_zero).sqrt();
        let mut memory: Vec<Step> = Vec::new();
        for _ in 0..STEPS {
            if dot(&gradient, &gradient).sqrt() <= short {
                break;
            }
            let mut direction = bent(&gradient, &memory);
            let mut descent = dot(&direction, &gradient);
            if descent <= 0.0 {
                // Rounding has spoilt the memory.
                memory.clear();
                direction = gradient.clone();
                descent = dot(&gradient, &gradient);
            }
            let mut length = if memory.is_empty() { 1.0 / descent.sqrt().max(1.0) } else { 1.0 };
            let found = loop {
                let mut there = weights.clone();
                add(&mut there, -length, &direction);
                let (lower, slope) = self.slope(&there, penalty);
                if lower <= value - ENOUGH * length * descent {
                    break Some((there, lower, slope));
                }
                length *= 0.5;
                if length < 1e-6 {
                    break None;
                }
            };
            let Some((there, lower, slope)) = found else { break };
            let (moved, turned) = (difference(&there, &weights), difference(&slope, &gradient));
            let along = dot(&moved, &turned);
            if along > 0.0 {
                if memory.len() == MEMORY {
                    memory.remove(0);
                }
                memory.push(Step { moved, turned, inverse: 1.0 / along });
            }
            (weights, value, gradient) = (there, lower, slope);
        }
        weights
    }

    /// What is minimised, and its gradient `[C, d]`.
    fn slope(&self, weights: &Mat, penalty: f32) -> (f64, Mat) {
        let mut loss = 0.5 * f64::from(penalty) * dot(weights, weights);
        let mut gradient = Mat::zeros(weights.rows(), weights.cols());
        let mut shares = vec![0.0; weights.rows()];
        // A few classes make products too narrow for the general kernel.
        simd::vectorised(
            #[inline(always)]
            || {
                simd::axpy(gradient.as_mut_slice(), penalty, weights.as_slice());
                for (row, &class) in self.classes.iter().enumerate() {
                    let row = self.rows.row(row);
                    for (share, weights) in shares.iter_mut().zip(weights.as_slice().chunks_exact(row.len()))
                    {
                        *share = simd::dot(row, weights);
                    }
                    loss += f64::from(to_shares(&mut shares, class as usize));
                    shares[class as usize] -= 1.0;
                    for (share, gradient) in
                        shares.iter().zip(gradient.as_mut_slice().chunks_exact_mut(row.len()))
                    {
                        simd::axpy(gradient, *share, row);
                    }
                }
            },
        );
        (loss, gradient)
    }

    /// How many rows the weights tell right, the sum of their cross-entropies, and the probabilities `[n, C]`.
    pub fn judged(&self, weights: &Mat) -> (usize, f64, Mat) {
        let mut scores = matmul_nt(&self.rows, weights);
        let (mut right, mut loss) = (0, 0.0);
        for (row, &class) in self.classes.iter().enumerate() {
            right += usize::from(argmax(scores.row(row)) == class as usize);
            loss += f64::from(to_shares(scores.row_mut(row), class as usize));
        }
        (right, loss, scores)
    }
}

/// Softmax in place; gives the cross-entropy of a class.
#[inline(always)]
fn to_shares(scores: &mut [f32], class: usize) -> f32 {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let own = scores[class] - largest;
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    sum.ln() - own
}

/// The gradient times the inverse of the curvature that the remembered steps show.
fn bent(gradient: &Mat, memory: &[Step]) -> Mat {
    let mut direction = gradient.clone();
    let mut shares = vec![0.0; memory.len()];
    for (share, step) in shares.iter_mut().zip(memory).rev() {
        *share = step.inverse * dot(&step.moved, &direction);
        add(&mut direction, -*share, &step.turned);
    }
    if let Some(last) = memory.last() {
        let scale = 1.0 / (last.inverse * dot(&last.turned, &last.turned));
        direction.as_mut_slice().iter_mut().for_each(|entry| *entry *= scale as f32);
    }
    for (share, step) in shares.iter().zip(memory) {
        let back = step.inverse * dot(&step.turned, &direction);
        add(&mut direction, share - back, &step.moved);
    }
    direction
}

/// `to += factor * from`.
fn add(to: &mut Mat, factor: f64, from: &Mat) {
    simd::vectorised(
        #[inline(always)]
        || simd::axpy(to.as_mut_slice(), factor as f32, from.as_slice()),
    );
}

fn dot(a: &Mat, b: &Mat) -> f64 {
    f64::from(simd::vectorised(
        #[inline(always)]
        || simd::dot(a.as_slice(), b.as_slice()),
    ))
}

fn difference(a: &Mat, b: &Mat) -> Mat {
    let mut out = a.clone();
    add(&mut out, -1.0, b);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Examples<'static> {
        let rows = Mat::from_fn(6, 3, |row, col| if col == 2 { 1.0 } else { ((row * 2 + col) as f32).sin() });
        Examples { rows, classes: &[0, 1, 2, 0, 1, 2] }
    }

    #[test]
    fn nothing_is_left_to_descend_at_the_minimum() {
        let examples = examples();
        for penalty in [10.0, 0.1, 1e-3] {
            let weights = examples.minimum(Mat::zeros(3, 3), penalty);
            let (value, gradient) = examples.slope(&weights, penalty);
            let (start, steep) = examples.slope(&Mat::zeros(3, 3), penalty);
            assert!(value < start);
            assert!(dot(&gradient, &gradient).sqrt() < 2.0 * SHORT * dot(&steep, &steep).sqrt());
        }
    }

    #[test]
    fn the_slope_is_that_of_what_is_minimised() {
        let examples = examples();
        let at = Mat::from_fn(3, 3, |row, col| (row as f32 - col as f32) * 0.3);
        let (_, gradient) = examples.slope(&at, 0.5);
        for place in 0..9 {
            let beside = |by: f32| {
                let mut at = at.clone();
                at.as_mut_slice()[place] += by;
                examples.slope(&at, 0.5).0
            };
            let expected = (beside(1e-2) - beside(-1e-2)) / 2e-2;
            assert!((f64::from(gradient.as_slice()[place]) - expected).abs() < 1e-3);
        }
    }
}
