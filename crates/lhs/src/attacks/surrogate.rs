//! The model that gradient attacks are computed on: a small graph convolution network, trained on the clean graph.
//!
//! What is raised is how far the best wrong class is ahead, `tanh(max_{c≠y} z_c - z_y)` on average over some nodes
//! (Geisler et al. 2021): nodes that are lost already, and those that are out of reach, count for little.

use std::rc::Rc;

use super::AttackContext;
use super::targets::Target;
use crate::autograd::{Order, Var, gradients};
use crate::error::{Error, Result};
use crate::graph::{Graph, Labelled};
use crate::linalg::Mat;
use crate::models::architecture::Fitted;
use crate::models::gcn::Gcn;
use crate::models::relaxed::{Relaxed, leads};
use crate::models::{Model, NodeClassifier};
use crate::training::{Session, Task};

/// Width of the surrogate's hidden layer.
const HIDDEN: usize = 16;

/// A trained network.
pub(super) struct Surrogate<'a> {
    context: &'a AttackContext<'a>,
    model: Fitted<Gcn>,
}

impl<'a> Surrogate<'a> {
    /// Trains on the clean data of a context.
    pub(super) fn train(context: &'a AttackContext<'a>, seed: u64) -> Result<Self> {
        context.need_features()?;
        let task = Task::new(context.dataset, context.split)?;
        let mut session = Session::watched_by(context.observer);
        let config = Gcn { hidden: HIDDEN, ..Gcn::default() };
        let model = config.fit_with(&task, seed, &mut session)?;
        Ok(Surrogate { context, model })
    }

    /// The network.
    pub(super) fn model(&self) -> &dyn NodeClassifier {
        &self.model
    }

    /// The gradient of the loss at one node alone with respect to flipping each of some pairs.
    pub(super) fn gradient_at(&self, target: Target, graph: &Graph, pairs: &[(u32, u32)]) -> Vec<f32> {
        let shares = Var::parameter(Mat::zeros(pairs.len(), 1));
        let propagation = Relaxed::new(graph, pairs, &shares).propagation();
        let scores = self.model.scores_over(propagation, self.context.dataset.features());
        let loss = lead(&scores.gather_rows(&Rc::from([target.node].as_slice())), &[target.class]);
        gradients(&loss, &[&shares], Order::First)[0].value().as_slice().to_vec()
    }
}

/// The nodes to be misled that have a label, with their classes.
pub(super) fn labelled(context: &AttackContext<'_>, targets: &[u32]) -> Result<Labelled> {
    let labels = context.dataset.labels();
    let (nodes, classes): (Vec<u32>, Vec<u32>) =
        targets.iter().filter_map(|&node| Some((node, labels.get(node as usize)?))).unzip();
    if nodes.is_empty() {
        return Err(Error::data("none of the nodes to attack has a label", "label some of them"));
    }
    Ok(Labelled { nodes, classes })
}

/// Mean of `tanh` of the lead of the best wrong class, `[m,C] -> [1,1]`.
fn lead(scores: &Var, classes: &[u32]) -> Var {
    leads(scores, classes).tanh().mean()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_is_that_of_the_best_wrong_class() {
        let scores = Var::constant(Mat::from_slice(2, 3, &[1.0, 3.0, 2.0, 5.0, 0.0, 4.0]));
        let expected = ((2.0f32).tanh() + (-1.0f32).tanh()) / 2.0;
        assert!((lead(&scores, &[0, 0]).scalar() - expected).abs() < 1e-6);
    }
}
