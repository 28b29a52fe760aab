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

use super::super::trial::Trial;
use super::Lhs;
use super::channel_selection::ChannelSelection;
use super::plausibility::{Plausibility, weighed};
use super::trial::{margin, quality};
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::random::derive;
use crate::structure::{Bases, Structure};
use crate::training::{Session, Task};

/// Degrees of trust that are compared.
const DEGREES: [f32; 4] = [0.0, 1.0, 3.0, 8.0];
/// Standard errors of a share at the validation nodes that trust must add.
const MARGIN: f32 = 0.5;
/// With fewer edges there is nothing to learn plausibility from.
const FEWEST_EDGES: usize = 50;

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

impl Lhs {
    /// How far the plausibility of edges is believed.
    pub(super) fn edge_trust(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<(EdgeTrust, Option<EdgeWeights>)> {
        // In batches trials would take as long as the training itself.
        let nothing_to_decide = self.trust.given() == Some(0.0)
            || (self.trust.given().is_none() && self.batch_size(task).is_some())
            || task.graph.num_edges() < FEWEST_EDGES
            || (self.trust.given().is_none() && task.val.nodes.is_empty());
        if nothing_to_decide {
            return Ok((EdgeTrust::given(0.0), None));
        }
        let bases = self.structure.bases(task, session)?;
        let inputs = self.structure.inputs(task, session)?;
        let plausibility = Plausibility::fit(task.graph, task.features, &inputs, derive(seed, &[3]));
        let weights =
            |trust: f32| EdgeWeights { trust, plausibility: plausibility.clone(), bases: bases.clone() };
        if let Some(trust) = self.trust.given() {
            return Ok((EdgeTrust::given(trust), Some(weights(trust))));
        }
        let marked = task.train.marked_among(task.graph.num_nodes());
        let of_edges = plausibility.of_edges(task.graph, task.features, &inputs, &marked);
        let mut found = EdgeTrust::default();
        let latent = self.structure.induce(task, derive(seed, &[2]), session)?.1;
        let everybody: Vec<Option<u32>> = (0..task.graph.num_nodes() as u32).map(Some).collect();
        for trust in DEGREES {
            let graph = weighed(task.graph, &of_edges, trust)?;
            let inputs = bases.inputs(&graph, task.features, &everybody);
            let structure = Structure { inputs: inputs.into(), rounds: latent.rounds.clone() };
            let task = Task { graph: &graph, ..task.clone() };
            let selection = ChannelSelection::measure(&task, &structure, self.fixed(task.features.dim()));
            found.promising.push((trust, self.channel_set(task.features.dim(), &selection).1));
        }
        let most =
            found.promising.iter().copied().fold((0.0, f32::MIN), |a, b| if b.1 > a.1 { b } else { a });
        if most.0 > 0.0 {
            for weights in [None, Some(weights(most.0))] {
                let right = self.trial(task, &weights, seed, session)?;
                found.trained.push((weights.map_or(0.0, |weights| weights.trust), right));
            }
            let (without, with) = (found.trained[0].1, found.trained[1].1);
            if with - without > margin(without, task.val.nodes.len(), MARGIN) {
                found.trust = most.0;
            }
        }
        let weights = (found.trust > 0.0).then(|| weights(found.trust));
        Ok((found, weights))
    }

    /// Trains one member without refinement, and says what it gets right at the validation nodes, 0..=1.
    fn trial(
        &self,
        task: &Task<'_>,
        edge_weights: &Option<EdgeWeights>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<f32> {
        let observer = Trial(session.observer);
        let session = &mut observer.session(session.memo);
        let graph = weigh(edge_weights, task)?;
        let task = &Task { graph: &graph, ..task.clone() };
        let prepared = self.prepare(task, false, seed, session)?;
        let stage = ("classifier-1", 0);
        let trained = self.hasty().member(task, &prepared, prepared.channels, stage, seed, session)?;
        Ok(quality(trained.1))
    }
}

/// The training graph with its edges weighed.
pub(super) fn weigh<'a>(weights: &Option<EdgeWeights>, task: &Task<'a>) -> Result<Cow<'a, Graph>> {
    let Some(weights) = weights else { return Ok(Cow::Borrowed(task.graph)) };
    let count = task.graph.num_nodes();
    let everybody: Vec<Option<u32>> = (0..count as u32).map(Some).collect();
    weights.weigh(task.graph, task.features, &everybody, &task.train.marked_among(count))
}
