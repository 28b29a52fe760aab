//! How far the plausibility of the given edges is believed: from not at all to strictly.
//!
//! Every given edge is weighed by `plausibility ^ trust` ([`super::plausibility`]), so that a trust of 0 leaves the graph as it
//! is. Whether plausible edges are better edges differs from graph to graph, so it is decided for each, at the validation
//! nodes: training labels are what a poisoner used. First closed-form classifiers (`judge`) say which degree of trust is the
//! most promising; where one is, the model is trained with one member with it and without it, and trust must pay a margin,
//! which keeps clean graphs as they are.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::plausibility::{Plausibility, weighed};
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::structure::Bases;

/// Degrees of trust that are compared.
pub(super) const DEGREES: [f32; 4] = [0.0, 1.0, 3.0, 8.0];
/// Standard errors of a share at the validation nodes that trust must add.
pub(super) const MARGIN: f32 = 0.5;
/// With fewer edges there is nothing to learn plausibility from.
pub(super) const FEWEST_EDGES: usize = 50;

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EdgeTrust {
    /// Every edge is weighed by its plausibility to this power; 0 leaves all as they are.
    pub trust: f32,
    /// Degrees of trust that were compared by closed-form classifiers, and what these get right, 0..=1.
    pub promising: Vec<(f32, f32)>,
    /// Degrees of trust that were compared by training, and the share of the validation nodes that were right, 0..=1.
    pub trained: Vec<(f32, f32)>,
}

impl EdgeTrust {
    /// Nothing is looked for.
    pub fn given(trust: f32) -> Self {
        EdgeTrust { trust, ..EdgeTrust::default() }
    }

    /// What to tell the user, if there is anything.
    pub fn diagnosis(&self) -> Option<String> {
        let percent = |(trust, right): &(f32, f32)| format!("{:.1} % with trust {trust}", 100.0 * right);
        let trained = self.trained.iter().map(percent).collect::<Vec<_>>().join(", ");
        match (self.trust > 0.0, self.trained.is_empty()) {
            (true, true) => {
                Some(format!("edges are weighed by their plausibility to the power of {}", self.trust))
            }
            (true, false) => Some(format!(
                "edges are weighed by their plausibility to the power of {}: validation nodes right: {trained}",
                self.trust
            )),
            (false, false) => Some(format!(
                "weighing edges by their plausibility does not pay: validation nodes right: {trained}"
            )),
            (false, true) => None,
        }
    }
}

/// What weighs edges, once trust was decided.
#[derive(Clone, Debug)]
pub(super) struct EdgeWeights {
    pub(super) trust: f32,
    pub(super) plausibility: Plausibility,
    /// Of the graph as it was given in training.
    pub(super) bases: Arc<Bases>,
}

impl EdgeWeights {
    /// A graph with its edges weighed; `known` says which training node each node is, `marked` which were learned from.
    pub(super) fn weigh<'a>(
        &self,
        graph: &'a Graph,
        features: &Features,
        known: &[Option<u32>],
        marked: &[bool],
    ) -> Result<Cow<'a, Graph>> {
        let inputs = self.bases.inputs(graph, features, known);
        let plausibility = self.plausibility.of_edges(graph, features, &inputs, marked);
        weighed(graph, &plausibility, self.trust).map(Cow::Owned)
    }
}
