//! Reverse mode: gradients of a scalar with respect to any of the variables behind it.

use std::collections::BTreeMap;

use super::Var;
use crate::linalg::Mat;

/// Whether gradients are themselves differentiable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Plain gradients; nothing is recorded, intermediate results are freed at once.
    First,
    /// Gradients that remember how they were made, for gradients of gradients.
    Higher,
}

/// Gradients of `output` (of the sum of its entries, if it has several) with respect to each of `inputs`.
pub fn gradients(output: &Var, inputs: &[&Var], order: Order) -> Vec<Var> {
    let (rows, cols) = output.shape();
    // Keyed by number and taken from the largest: every result before its parents, in a fixed order.
    let mut pending: BTreeMap<u64, (Var, Option<Var>)> = BTreeMap::new();
    pending.insert(output.number(), (output.clone(), Some(Var::constant(Mat::full(rows, cols, 1.0)))));
    let mut found: Vec<Option<Var>> = vec![None; inputs.len()];
    while let Some((number, (var, gradient))) = pending.pop_last() {
        let Some(gradient) = gradient else { continue };
        for (slot, input) in found.iter_mut().zip(inputs) {
            if input.number() == number {
                *slot = Some(gradient.clone());
            }
        }
        if var.parents().is_empty() {
            continue;
        }
        let detached: Vec<Var>;
        let (parents, result) = match order {
            Order::Higher => (var.parents(), var.clone()),
            Order::First => {
                detached = var.parents().iter().map(Var::detach).collect();
                (detached.as_slice(), var.detach())
            }
        };
        for (parent, rule) in var.parents().iter().zip(var.rules()) {
            if !parent.needs_gradient() {
                continue;
            }
            let contribution = rule(&gradient, parents, &result);
            debug_assert_eq!(
                contribution.shape(),
                parent.shape(),
                "a gradient has the shape of its variable"
            );
            let (_, sum) = pending.entry(parent.number()).or_insert_with(|| (parent.clone(), None));
            *sum = Some(match sum.take() {
                Some(sum) => sum.accumulate(&contribution),
                None => contribution,
            });
        }
    }
    found
        .into_iter()
        .zip(inputs)
        .map(|(gradient, input)| {
            gradient.unwrap_or_else(|| Var::constant(Mat::zeros(input.rows(), input.cols())))
        })
        .collect()
}
