//! GloGNN: every node is described by all others, near or far (Li et al. 2022).
//!
//! `H₀ = relu(δ (X W_X + b_X) + (1 - δ) (P W_P + b_P)) W + b`, with `P = (D + I)^-1 (A + I)`. Each layer looks
//! for the coefficients `Z [n,n]` that describe all nodes by all nodes best, `min ‖H - (1-γ) Z H - γ H₀‖² +
//! α‖Z‖² + β‖Z - Σₖ λₖ Pᵏ‖²`, and mixes by them, `H' = (1-γ) Z H + γ H₀`. `Z` has a closed form but is never
//! written out: with `S = H ((α+β)/(1-γ) I + (1-γ) HᵀH)⁻¹ [n,c]`, `H' = (1-γ) (H - γ H₀) (HᵀS) + β Σₖ λₖ Pᵏ S +
//! γ H₀`, so only a matrix of classes by classes is inverted. As in the published code, gradients flow through
//! that inverse, and the `λₖ` are learned. `W_P` has a row for each node, so it predicts only on the nodes that
//! it knows. Reads the direction of edges: `P` averages over those that a node points to. Cost per epoch:
//! `O((edges + nnz(X)) hidden + layers (n classes + orders edges) classes)`.
//! Departs from the paper: features as they are, and one set of defaults where it has settings for each
//! dataset.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::memory_plan::{Amounts, DataSizes, product};
use crate::training::{Auto, Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of GloGNN.
    pub struct GloGnn {
        /// How often all nodes are mixed, 0 (a perceptron) or more.
        pub layers: usize = 2,
        /// How far the coefficients may follow the edges (the paper's K), 1 or more.
        pub orders: usize = 4,
        /// Share of the features beside the adjacency rows (the paper's δ), 0..=1.
        pub feature_share: f32 = 0.5,
        /// Share of a node's first scores that each layer keeps (the paper's γ), 0..1.
        pub kept: f32 = 0.8,
        /// Pull of the coefficients towards zero (the paper's α), 0 or above.
        pub shrinkage: f32 = 0.0,
        /// Pull of the coefficients towards the edges (the paper's β), above 0.
        pub edge_pull: f32 = 1000.0,
    }
    shared {
        /// Width of the hidden layer, 1 or more.
        hidden: 64,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: false,
        training: TrainingConfig { weight_decay: Auto::Given(5e-5), ..TrainingConfig::default() },
    }
}

impl ModelInfo for GloGnn {
    const NAME: &'static str = "glognn";
    const SUMMARY: &'static str = "every node described by all others (Li et al. 2022)";
    const READS_DIRECTION: bool = true;
    const TRANSDUCTIVE: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [32, 64, 128],
            [
                ("feature_share", SearchSpace::Uniform(0.0, 1.0)),
                ("kept", SearchSpace::Uniform(0.0, 0.9)),
                ("edge_pull", SearchSpace::LogUniform(1e-2, 1e3)),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    mean: Sparse,
}

impl Architecture for GloGnn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("orders", self.orders)?;
        settings::share("feature_share", self.feature_share)?;
        settings::share_below_one("kept", self.kept)?;
        settings::not_negative("shrinkage", self.shrinkage)?;
        settings::positive("edge_pull", self.edge_pull)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        builder.linear("features", sizes.features, self.hidden);
        builder.linear("adjacency", sizes.nodes, self.hidden);
        builder.linear("output", self.hidden, sizes.classes);
        builder.free("orders", Mat::full(1, self.orders, 1.0 / self.orders as f32));
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let rows = product([sizes.nodes, self.hidden]) + product([sizes.features, self.hidden]);
        let mixed = product([self.layers, self.orders, sizes.nodes, sizes.classes, 4]);
        Amounts {
            prepared: sizes.propagation() + sizes.input(),
            parameters: rows + self.orders,
            activations: product([sizes.nodes, self.hidden, TAPE_COPIES]) + mixed,
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let mean = normalise::row_stochastic_with_self_loops(graph);
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, mean: Sparse::constant(&mean) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let features = reader.linear_of(&prepared.input).scale(self.feature_share);
        let adjacency =
            reader.linear_of(&Input::Sparse(prepared.mean.clone())).scale(1.0 - self.feature_share);
        let hidden = features.add(&adjacency).relu(); // [n, hidden]
        let own = reader.linear(&dropout.of(&hidden)); // [n, classes]
        let orders = reader.one();
        (0..self.layers).fold(own.clone(), |scores, _| self.mixed(&scores, &own, &prepared.mean, orders))
    }
}

impl GloGnn {
    /// One layer: `(1-γ) Z H + γ H₀`, without `Z`.
    fn mixed(&self, scores: &Var, own: &Var, mean: &Sparse, orders: &Var) -> Var {
        let rest = 1.0 - self.kept;
        let classes = scores.cols();
        let diagonal = (self.shrinkage + self.edge_pull) / rest;
        let penalty = Mat::from_fn(classes, classes, |row, col| if row == col { diagonal } else { 0.0 });
        let gram = scores.matmul_tn(scores).scale(rest).add(&Var::constant(penalty)); // [c, c]
        let solved = scores.matmul(&gram.inverse()); // S [n, c]
        let everywhere = scores.sub(&own.scale(self.kept)).matmul(&scores.matmul_tn(&solved)).scale(rest);
        let nearby = along_edges(&solved, mean, orders).scale(self.edge_pull);
        everywhere.add(&nearby).add(&own.scale(self.kept))
    }
}

/// `Σₖ λₖ Pᵏ S` for `k = 1..`, `λ` the row `orders`.
fn along_edges(solved: &Var, mean: &Sparse, orders: &Var) -> Var {
    let mut far = mean.matmul(solved);
    let weighed = |far: &Var, order: usize| {
        far.mul_row(&orders.slice_cols(order, 1).repeat_col(far.cols())) // [n, c]
    };
    let mut sum = weighed(&far, 0);
    for order in 1..orders.cols() {
        far = mean.matmul(&far);
        sum = sum.add(&weighed(&far, order));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{inverse, matmul, matmul_nt};

    #[test]
    fn a_layer_mixes_by_the_coefficients_that_it_never_writes_out() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (1, 4)]).unwrap();
        let mean = normalise::row_stochastic_with_self_loops(&graph);
        let config = GloGnn { kept: 0.3, shrinkage: 0.2, edge_pull: 0.7, ..GloGnn::default() };
        let own = Mat::from_fn(6, 3, |r, c| ((r * 4 + c) as f32).sin());
        let scores = Mat::from_fn(6, 3, |r, c| ((r * 3 + 2 * c) as f32).cos());
        let orders = [0.6, 0.4];

        let dense = mean.to_dense();
        let (twice, outer, crossed) =
            (matmul(&dense, &dense), matmul_nt(&scores, &scores), matmul_nt(&own, &scores));
        let one = |row: usize, col: usize| f32::from(row == col);
        let target = Mat::from_fn(6, 6, |r, c| {
            let edges = orders[0] * dense.get(r, c) + orders[1] * twice.get(r, c);
            0.7 * outer.get(r, c) + 0.7 * edges - 0.3 * 0.7 * crossed.get(r, c)
        });
        let penalised = Mat::from_fn(6, 6, |r, c| 0.49 * outer.get(r, c) + 0.9 * one(r, c));
        let coefficients = matmul(&target, &inverse(&penalised)); // Z [n, n]
        let mixed = matmul(&coefficients, &scores);
        let expected = Mat::from_fn(6, 3, |r, c| 0.7 * mixed.get(r, c) + 0.3 * own.get(r, c));

        let [own, scores] = [own, scores].map(Var::constant);
        let orders = Var::constant(Mat::from_slice(1, 2, &orders));
        let found = config.mixed(&scores, &own, &Sparse::constant(&mean), &orders);
        for (found, expected) in found.value().as_slice().iter().zip(expected.as_slice()) {
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }
}
