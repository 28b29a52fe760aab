//! Adam with decoupled choice of weight decay.

use serde::{Deserialize, Serialize};

use crate::linalg::Mat;
use crate::linalg::simd::vectorised;

/// Settings of [`Adam`] (Kingma and Ba 2015). Weight decay is added to the gradient, as in the paper's setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamConfig {
    /// Step size, above 0.
    pub learning_rate: f32,
    /// Pulls weights towards zero, 0 or above.
    pub weight_decay: f32,
    /// Memory of the mean gradient, 0..1.
    pub beta1: f32,
    /// Memory of the squared gradient, 0..1.
    pub beta2: f32,
    /// Keeps the step finite, above 0.
    pub epsilon: f32,
}

impl Default for AdamConfig {
    fn default() -> Self {
        AdamConfig { learning_rate: 0.01, weight_decay: 5e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

/// The state of the optimiser: two moments per parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Settings.
    pub config: AdamConfig,
    /// Number of steps taken.
    pub steps: u64,
    /// Mean gradient of each parameter.
    pub first: Vec<Mat>,
    /// Mean squared gradient of each parameter.
    pub second: Vec<Mat>,
}

impl Adam {
    /// Fresh state for parameters of these shapes.
    pub fn new(config: AdamConfig, shapes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let first: Vec<Mat> = shapes.into_iter().map(|(rows, cols)| Mat::zeros(rows, cols)).collect();
        Adam { config, steps: 0, second: first.clone(), first }
    }

    /// Begins a step; follow with [`Adam::update`] for each parameter.
    pub fn next_step(&mut self) {
        self.steps += 1;
    }

    /// Moves one parameter against its gradient. `decays` says whether weight decay applies to it.
    pub fn update(&mut self, index: usize, parameter: &mut Mat, gradient: &Mat, decays: bool) {
        let AdamConfig { learning_rate, weight_decay, beta1, beta2, epsilon } = self.config;
        let decay = if decays { weight_decay } else { 0.0 };
        let steps = self.steps as i32;
        let bias1 = 1.0 - f64::from(beta1).powi(steps);
        let bias2 = 1.0 - f64::from(beta2).powi(steps);
        let rate = (f64::from(learning_rate) / bias1) as f32;
        let scale = (1.0 / bias2.sqrt()) as f32;
        let (first, second) = (&mut self.first[index], &mut self.second[index]);
        assert_eq!(parameter.shape(), gradient.shape(), "a gradient has the shape of its parameter");
        vectorised(
            #[inline(always)]
            || {
                let moments = first.as_mut_slice().iter_mut().zip(second.as_mut_slice());
                let values = parameter.as_mut_slice().iter_mut().zip(gradient.as_slice());
                for ((weight, gradient), (first, second)) in values.zip(moments) {
                    let gradient = decay.mul_add(*weight, *gradient);
                    *first = flushed(beta1.mul_add(*first, (1.0 - beta1) * gradient));
                    *second = flushed(beta2.mul_add(*second, (1.0 - beta2) * gradient * gradient));
                    *weight = flushed(*weight - rate * *first / second.sqrt().mul_add(scale, epsilon));
                }
            },
        );
    }
}

/// Numbers on their way to nothing become 0: below about 1e-38 arithmetic is a hundred times slower, and the
/// moments of a weight that has stopped moving would stay there for the rest of the training.
#[inline(always)]
fn flushed(value: f32) -> f32 {
    if value.abs() < 1e-30 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_size_of_the_learning_rate() {
        let config = AdamConfig { learning_rate: 0.1, weight_decay: 0.0, ..AdamConfig::default() };
        let mut weight = Mat::full(1, 20, 1.0);
        let gradient = Mat::full(1, 20, -3.0);
        let mut adam = Adam::new(config, [weight.shape()]);
        adam.next_step();
        adam.update(0, &mut weight, &gradient, true);
        assert!(weight.as_slice().iter().all(|w| (w - 1.1).abs() < 1e-6));
    }

    #[test]
    fn moments_that_fade_reach_zero() {
        let mut weight = Mat::full(1, 1, 1e-29);
        let mut adam = Adam::new(AdamConfig { weight_decay: 0.0, ..AdamConfig::default() }, [weight.shape()]);
        adam.first = vec![Mat::full(1, 1, 1.5e-30)];
        for _ in 0..10 {
            adam.next_step();
            adam.update(0, &mut weight, &Mat::zeros(1, 1), true);
        }
        assert_eq!((adam.first[0].get(0, 0), adam.second[0].get(0, 0)), (0.0, 0.0));
    }

    #[test]
    fn a_quadratic_is_minimised() {
        let mut weight = Mat::full(1, 1, 5.0);
        let config = AdamConfig { learning_rate: 0.05, weight_decay: 0.0, ..AdamConfig::default() };
        let mut adam = Adam::new(config, [weight.shape()]);
        for _ in 0..2000 {
            let gradient = Mat::full(1, 1, 2.0 * (weight.get(0, 0) - 2.0));
            adam.next_step();
            adam.update(0, &mut weight, &gradient, true);
        }
        assert!((weight.get(0, 0) - 2.0).abs() < 1e-2);
    }
}
