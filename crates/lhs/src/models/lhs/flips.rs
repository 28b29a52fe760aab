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
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::models::relaxed::{FlipQuestion, Relaxed};
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
        question: &FlipQuestion<'_>,
    ) -> Result<Vec<f32>> {
        let shares = Var::parameter(Mat::column(question.shares));
        let scores = self.flipped_scores(graph, features, question.candidates, &shares)?;
        Ok(question.gradient(&scores, &shares))
    }

    /// Logarithms of probabilities, but for a number that all classes of a node share, with candidates flipped by some shares.
    fn flipped_scores(
        &self,
        graph: &Graph,
        features: &Features,
        candidates: &[(u32, u32)],
        shares: &Var,
    ) -> Result<Var> {
        let (weighed, structure) = self.prepared(graph, features)?;
        let weights = self.weights_of(graph, features, candidates);
        let flips = Candidates { graph: &weighed, arrows: candidates, weights, shares };
        let scores = |encoder: Encoder<'_>, parameters: &[Var]| encoder.scores(parameters, None);
        let mut answers = Vec::new();
        for member in &self.members {
            let network = member.network(&weighed, features, &structure);
            let network = network.seeing(self.seen_by(&flips, features, &structure));
            answers.push((scores(network, &member.parameters.constants()), member.share));
        }
        Ok(match &answers[..] {
            [(scores, _)] => scores.clone(),
            _ => {
                let shared = answers.iter().map(|(scores, share)| scores.softmax().scale(*share));
                let mean = shared.reduce(|sum, next| sum.add(&next));
                mean.map_or_else(|| Var::constant(Mat::zeros(0, 0)), |mean| mean.add_scalar(LEAST).ln())
            }
        })
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
            let relaxed = Relaxed::over_known(graph, arrows, &flips.weights, flips.shares, known);
            relaxed.neighbour_rows(degrees, unit)
        };
        let average = |graph: &Graph, arrows: &[(u32, u32)]| {
            Relaxed::without_loops(graph, arrows, &flips.weights, flips.shares).averaging()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;
    use crate::graph::{Dataset, Labelled};
    use crate::models::lhs::Lhs;
    use crate::models::{Goal, Model, NodeClassifier};
    use crate::training::{Auto, Task};

    const PAIRS: [(u32, u32); 4] = [(0, 9), (2, 41), (5, 77), (30, 60)];

    fn learned(change: impl Fn(&mut Lhs)) -> (Dataset, FittedLhs) {
        let config = SynthConfig { nodes: 100, homophily: 0.1, mean_degree: 6.0, ..SynthConfig::default() };
        let dataset = config.generate(4).unwrap();
        let mut lhs = Lhs {
            hidden: 8,
            ensemble_size: Auto::Given(1),
            latent_hops: Auto::Given(0),
            given_hops: Auto::Given(2),
            profile: Auto::Given(true),
            latent_layers: Auto::Given(0),
            given_layers: Auto::Given(0),
            trust: Auto::Given(0.0),
            ..Lhs::default()
        };
        lhs.training.epochs = 30;
        change(&mut lhs);
        let fitted = lhs.fit(&Task::new(&dataset, &dataset.splits()[0]).unwrap()).unwrap();
        (dataset, fitted)
    }

    fn scores(dataset: &Dataset, model: &FittedLhs, candidates: &[(u32, u32)], shares: &[f32]) -> Var {
        let shares = Var::constant(Mat::column(shares));
        model.flipped_scores(dataset.graph(), dataset.features(), candidates, &shares).unwrap()
    }

    fn close(a: &Mat, b: &Mat) -> bool {
        a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() < 2e-4)
    }

    #[test]
    fn whole_flips_are_what_is_predicted() {
        let (dataset, model) = learned(|_| ());
        let (graph, features) = (dataset.graph(), dataset.features());
        let first = graph.edges().next().unwrap();
        let strangers = PAIRS.into_iter().filter(|&(a, b)| !graph.has_edge(a, b));
        let candidates: Vec<(u32, u32)> = strangers.chain([first]).collect();
        let at = |share: f32| scores(&dataset, &model, &candidates, &vec![share; candidates.len()]).softmax();
        assert!(close(at(0.0).value(), &model.predict(graph, features).unwrap()));
        let left = graph.edges().filter(|edge| *edge != first);
        let edges: Vec<(u32, u32)> = left.chain(candidates[..candidates.len() - 1].iter().copied()).collect();
        let flipped = Graph::from_edges(100, &edges).unwrap().0;
        assert!(close(at(1.0).value(), &model.predict(&flipped, features).unwrap()));
    }

    #[test]
    fn gradients_equal_finite_differences() {
        let ways: [fn(&mut Lhs); 3] = [
            |_| (),
            |lhs| {
                (lhs.latent_hops, lhs.given_layers) = (Auto::Given(1), Auto::Given(1));
                lhs.ensemble_size = Auto::Given(2);
            },
            |lhs| lhs.trust = Auto::Given(1.0),
        ];
        for (number, way) in ways.into_iter().enumerate() {
            let (dataset, model) = learned(way);
            let graph = dataset.graph();
            let mut candidates: Vec<(u32, u32)> = PAIRS.to_vec();
            candidates.extend(graph.edges().nth(40));
            candidates.sort_unstable();
            candidates.dedup();
            let labels = dataset.labels();
            let nodes: Vec<u32> = candidates.iter().map(|pair| pair.0).collect();
            let classes = nodes.iter().map(|&node| labels.get(node as usize).unwrap()).collect();
            let targets = Labelled { nodes, classes };
            // Every other candidate is flipped in part already.
            let given: Vec<f32> = (0..candidates.len()).map(|place| 0.4 * (place % 2) as f32).collect();
            let question = FlipQuestion {
                candidates: &candidates,
                shares: &given,
                targets: &targets,
                goal: Goal::AtEachNode,
            };
            let slopes = model.gradient_of_flips(graph, dataset.features(), &question);
            let slopes = slopes.unwrap();
            let loss = |shares: &[f32]| {
                let scores = scores(&dataset, &model, &candidates, shares);
                let of_node = |(&node, &class): (&u32, &u32)| {
                    let row = scores.value().row(node as usize);
                    let best = crate::models::relaxed::best_wrong(row, class).unwrap();
                    -f64::from(row[class as usize] - row[best]).exp().ln_1p()
                };
                let sum: f64 = targets.nodes.iter().zip(&targets.classes).map(of_node).sum();
                sum / targets.nodes.len() as f64
            };
            for (place, slope) in slopes.iter().enumerate() {
                const H: f32 = 0.01;
                let at = |share: f32| {
                    let mut shares = given.clone();
                    shares[place] += share;
                    loss(&shares)
                };
                let measured = (4.0 * at(H) - 3.0 * at(0.0) - at(2.0 * H)) / (2.0 * f64::from(H));
                let (slope, pair) = (f64::from(*slope), candidates[place]);
                assert!(
                    (slope - measured).abs() < 2e-3 + 0.03 * measured.abs(),
                    "{number} {pair:?}: {slope} {measured}"
                );
            }
            assert!(slopes.iter().any(|slope| slope.abs() > 1e-3), "{slopes:?}");
        }
    }
}
