//! How much each pair of nodes could hurt if it were flipped: gradients through everything that has one.
//!
//! Neighbour rows (the degrees that scale them included), hops and layers over the given graph are differentiated with respect to
//! the weight of each candidate; what comes over the latent graph is, too, as far as codes change, but the latent graph itself is
//! held fixed, and so are the plausibilities by which edges are weighed. A candidate that is not joined yet would weigh as much as its
//! own plausibility lets it. The committee answers with the mean of its members' probabilities, and that is what is differentiated.
//! Cost: that of a prediction and one pass back, per member.

use super::encoder::{Encoder, Seen};
use super::plausibility::worth;
use super::{EdgeWeights, FittedLhs};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, Labelled};
use crate::linalg::Mat;
use crate::models::relaxed::{Relaxed, gradient_of_leads};
use crate::structure::{Bases, Structure};
use crate::training::Network;

/// Keeps the logarithm of a probability finite.
const LEAST: f32 = 1e-30;

/// A graph with candidates, once it is known what each would weigh.
struct Candidates<'a> {
    graph: &'a Graph,
    arrows: &'a [(u32, u32)],
    weights: Vec<f32>,
    shares: &'a Var,
}

impl FittedLhs {
    /// [`crate::models::NodeClassifier::edge_gradient`].
    pub(super) fn gradient_of_flips(
        &self,
        graph: &Graph,
        features: &Features,
        candidates: &[(u32, u32)],
        targets: &Labelled,
    ) -> Result<Vec<f32>> {
        let (weighed, structure) = self.prepared(graph, features)?;
        let shares = Var::parameter(Mat::zeros(candidates.len(), 1));
        let weights = self.weights_of(graph, features, candidates);
        let flips = Candidates { graph: &weighed, arrows: candidates, weights, shares: &shares };
        let scores = |encoder: Encoder<'_>, parameters: &[Var]| encoder.scores(parameters, None);
        let mut answers = Vec::new();
        for member in &self.members {
            let network = member.network(&weighed, features, &structure);
            let network = network.seeing(self.seen_by(&flips, features, &structure));
            answers.push((scores(network, &member.parameters.constants()), member.share));
        }
        let together = match &answers[..] {
            [(scores, _)] => scores.clone(),
            _ => {
                let shared = answers.iter().map(|(scores, share)| scores.softmax().scale(*share));
                let mean = shared.reduce(|sum, next| sum.add(&next));
                mean.map_or_else(|| Var::constant(Mat::zeros(0, 0)), |mean| mean.add_scalar(LEAST).ln())
            }
        };
        Ok(gradient_of_leads(&together, targets, &shares))
    }

    /// What an edge at each candidate would weigh.
    fn weights_of(&self, graph: &Graph, features: &Features, candidates: &[(u32, u32)]) -> Vec<f32> {
        let full = graph.mean_weight();
        let Some(EdgeWeights { trust, plausibility, bases }) = &self.edge_weights else {
            return vec![full; candidates.len()];
        };
        let inputs = bases.inputs(graph, features, &self.structure.known(features));
        let pairs: Vec<(u32, u32)> = candidates.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        let plausible = plausibility.of_pairs(graph, features, &inputs, &pairs);
        plausible.into_iter().map(|plausible| full * worth(plausible, *trust)).collect()
    }

    /// What the encoders see of the graph, with candidates.
    fn seen_by(&self, flips: &Candidates<'_>, features: &Features, structure: &Structure) -> Seen {
        let known = self.structure.known(features);
        let bases: &Bases = self.structure.views();
        let directed = structure.inputs.incoming.is_some();
        let undirected;
        let graph = if directed {
            flips.graph
        } else {
            undirected = flips.graph.to_undirected();
            &undirected
        };
        let unit = if graph.weights().is_some() { graph.mean_weight() } else { 1.0 };
        let rows = |graph: &Graph, arrows: &[(u32, u32)], degrees: &Mat| {
            let known = (known.as_slice(), degrees.rows());
            let relaxed = Relaxed::over_known(graph, arrows, &flips.weights, known);
            relaxed.neighbour_rows(flips.shares, degrees, unit)
        };
        let average = |graph: &Graph, arrows: &[(u32, u32)]| {
            Relaxed::without_loops(graph, arrows, &flips.weights).averaging(flips.shares)
        };
        let (degrees, incoming) = bases.degrees();
        let back = directed.then(|| {
            let arrows: Vec<(u32, u32)> = flips.arrows.iter().map(|&(a, b)| (b, a)).collect();
            (graph.reversed(), arrows)
        });
        Seen {
            profile: rows(graph, flips.arrows, degrees),
            incoming_profile: back
                .as_ref()
                .zip(incoming)
                .map(|((graph, arrows), degrees)| rows(graph, arrows, degrees)),
            given: average(graph, flips.arrows),
            incoming: back.as_ref().map(|(graph, arrows)| average(graph, arrows)),
        }
    }
}
