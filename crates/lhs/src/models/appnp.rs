//! APPNP: a perceptron's scores, spread by personalised PageRank (Gasteiger et al. 2019).
//!
//! `Z⁰ = relu(X W₁ + b₁) W₂ + b₂`, then `Zᵏ = (1 - α) Â Zᵏ⁻¹ + α Z⁰` for `k = 1..steps`, with `Â = D^-1/2 (A +
//! I) D^-1/2`: far neighbours count, and a node never forgets itself. While training, edges are dropped anew in
//! each step. Cost per epoch: `O(nnz(X) * hidden + steps * edges * classes)`.
//! Departs from the paper: weight decay pulls on both layers, not on the first alone.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of APPNP.
    pub struct Appnp {
        /// Steps of the walk (the paper's K), 0 (a perceptron) or more.
        pub steps: usize = 10,
        /// Share of a node's own scores that returns in each step (the paper's α), 0..=1.
        pub restart: f32 = 0.1,
    }
    shared {
        /// Width of the hidden layer, 1 or more.
        hidden: 64,
        /// Share of the inputs, hidden units and edges dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
    }
}

impl ModelInfo for Appnp {
    const NAME: &'static str = "appnp";
    const SUMMARY: &'static str = "perceptron spread by personalised PageRank (Gasteiger et al. 2019)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [32, 64, 128, 256],
            [("steps", SearchSpace::choice([2, 5, 10])), ("restart", SearchSpace::Uniform(0.05, 0.95))],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    propagation: Sparse,
}

impl Architecture for Appnp {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::share("restart", self.restart)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        builder.linear("hidden", sizes.features, self.hidden);
        builder.linear("output", self.hidden, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let steps = product([self.steps, sizes.nodes, sizes.classes, 3]);
        let steps = steps + product([self.steps, sizes.entries]);
        Amounts::layered(sizes, self.hidden, 2, TAPE_COPIES).and(Count(0), Count(0), steps)
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, propagation: Sparse::constant(&propagation) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let hidden = reader.linear_of(&dropout.of_input(&prepared.input)).relu();
        let own = reader.linear(&dropout.of(&hidden)); // [n, classes]
        self.spread(&own, &prepared.propagation, &mut dropout)
    }
}

impl Appnp {
    /// Personalised PageRank of the scores.
    fn spread(&self, own: &Var, propagation: &Sparse, dropout: &mut Dropout) -> Var {
        let returned = own.scale(self.restart);
        (0..self.steps).fold(own.clone(), |scores, _| {
            let travelled = dropout.of_entries(propagation).matmul(&scores);
            travelled.scale(1.0 - self.restart).add(&returned)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn many_steps_reach_the_fixed_point() {
        let (graph, _) = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (1, 3)]).unwrap();
        let propagation = Sparse::constant(&normalise::symmetric_with_self_loops(&graph));
        let own = Var::constant(Mat::from_fn(5, 2, |row, col| (row + 2 * col) as f32));
        let config = Appnp { steps: 200, ..Appnp::default() };
        let found = config.spread(&own, &propagation, &mut Dropout::new(0.5, None));
        // Z = (1 - α) Â Z + α Z⁰
        let again = propagation.matmul(&found).scale(0.9).add(&own.scale(0.1));
        for (found, again) in found.value().as_slice().iter().zip(again.value().as_slice()) {
            assert!((found - again).abs() < 1e-4, "{found} {again}");
        }
        // The node without edges keeps its scores.
        assert!((found.value().get(4, 1) - 6.0).abs() < 1e-4);
    }
}
