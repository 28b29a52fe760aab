//! Reverse mode: gradients of a scalar with respect to any of the variables behind it.

use std::collections::BTreeMap;

use super::Var;
use super::var::Rules;
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
    pull_back(output, Var::constant(Mat::full(rows, cols, 1.0)), inputs, order, Until::Leaves)
}

/// What a fused rule gives, found by ops, so that it can be differentiated again: the gradients of `composed`, made of
/// `parents` alone, when its own is `g`.
pub(super) fn gradients_in_ops(composed: &Var, g: &Var, parents: &[Var]) -> Vec<Var> {
    pull_back(composed, g.clone(), &parents.iter().collect::<Vec<_>>(), Order::Higher, Until::Inputs)
}

/// How far back to go.
#[derive(PartialEq)]
enum Until {
    /// All the way: an input may be made of other inputs.
    Leaves,
    /// An input counts as given, whatever it is made of.
    Inputs,
}

fn pull_back(output: &Var, cotangent: Var, inputs: &[&Var], order: Order, until: Until) -> Vec<Var> {
    // Keyed by number and taken from the largest: every result before its parents, in a fixed order.
    let mut pending: BTreeMap<u64, (Var, Option<Var>)> = BTreeMap::new();
    pending.insert(output.number(), (output.clone(), Some(cotangent)));
    let mut found: Vec<Option<Var>> = vec![None; inputs.len()];
    while let Some((number, (var, gradient))) = pending.pop_last() {
        let Some(gradient) = gradient else { continue };
        for (slot, input) in found.iter_mut().zip(inputs) {
            if input.number() == number {
                *slot = Some(gradient.clone());
            }
        }
        let Some(rules) = var.rules() else { continue };
        if until == Until::Inputs && inputs.iter().any(|input| input.number() == number) {
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
        let mut together = match rules {
            Rules::Joint(rule) => rule(&gradient, parents, &result),
            Rules::Each(_) => Vec::new(),
        }
        .into_iter();
        for (which, parent) in var.parents().iter().enumerate() {
            let found = together.next();
            if !parent.needs_gradient() {
                continue;
            }
            let contribution = match rules {
                Rules::Each(rules) => rules[which](&gradient, parents, &result),
                Rules::Joint(_) => found.expect("a gradient for each parent"),
            };
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
