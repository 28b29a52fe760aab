//! Graph convolution network: each layer averages over the neighbours (Kipf and Welling 2017).
//!
//! `softmax(Â relu(Â X W₁ + b₁) W₂ + b₂)` with `Â = D^-1/2 (A + I) D^-1/2`; two layers by default.
//! Strong where neighbours share a class, and the model that attacks on the edges are made for.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden)`.

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Fitted, Sizes};
use super::mlp::{layered_parameters, layered_search};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::{Input, Parameters, Session, TrainingConfig, dropout_before};

/// Settings of the graph convolution network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gcn {
    /// Width of the hidden layers, 1 or more.
    pub hidden: usize,
    /// Number of convolutions, 1 or more.
    pub layers: usize,
    /// Share of the inputs and hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for Gcn {
    fn default() -> Self {
        Gcn {
            hidden: 64,
            layers: 2,
            dropout: 0.5,
            normalise_features: true,
            training: TrainingConfig::default(),
        }
    }
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    propagation: Sparse,
}

impl Architecture for Gcn {
    type Reading = Reading;

    fn check(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers)?;
        settings::share_below_one("dropout", self.dropout)
    }

    fn training(&self) -> &TrainingConfig {
        &self.training
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        layered_parameters(sizes.features, self.hidden, sizes.classes, self.layers, seed)
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
        Ok(self.over(Sparse::constant(&propagation), features))
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.scores_by(&reading.input, parameters, dropout_seed, |x| reading.propagation.matmul(x))
    }
}

impl Gcn {
    /// Class scores `[n,C]` over any way to propagate the rows of a matrix.
    pub(super) fn scores_by(
        &self,
        input: &Input,
        parameters: &[Var],
        dropout_seed: Option<u64>,
        propagate: impl Fn(&Var) -> Var,
    ) -> Var {
        let (rate, seed) = dropout_before(0, self.dropout, dropout_seed);
        let transformed = input.dropout(rate, seed).matmul(&parameters[0]);
        let mut hidden = propagate(&transformed).add_row(&parameters[1]);
        for layer in 1..self.layers {
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            let (weight, bias) = (&parameters[2 * layer], &parameters[2 * layer + 1]);
            let transformed = hidden.relu().dropout(rate, seed).matmul(weight);
            hidden = propagate(&transformed).add_row(bias);
        }
        hidden // [n, classes]
    }

    fn over(&self, propagation: Sparse, features: &Features) -> Reading {
        Reading { input: Input::scaled(features, self.normalise_features), propagation }
    }
}

impl Fitted<Gcn> {
    /// Class scores `[n,C]` over any propagation, which gradients may flow into.
    pub(crate) fn scores_over(&self, propagation: Sparse, features: &Features) -> Var {
        let reading = self.architecture.over(propagation, features);
        self.architecture.scores(&reading, &self.parameters.constants(), None)
    }
}

impl ModelInfo for Gcn {
    const NAME: &'static str = "gcn";
    const SUMMARY: &'static str = "graph convolution network (Kipf and Welling 2017)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        layered_search([32, 64, 128, 256])
    }
}
