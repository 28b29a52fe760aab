//! Graph convolution network: each layer averages over the neighbours (Kipf and Welling 2017).
//!
//! `softmax(Â relu(Â X W₁ + b₁) W₂ + b₂)` with `Â = D^-1/2 (A + I) D^-1/2`; two layers by default.
//! Strong where neighbours share a class, and the model that attacks on the edges are made for.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden)`.

use super::architecture::{Architecture, Fitted, Sizes};
use super::mlp::{layered_parameters, layered_search};
use super::relaxed::Flips;
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::{Input, Parameters, Session, TrainingConfig, dropout_before};

network_settings! {
    /// Settings of the graph convolution network.
    pub struct Gcn {}
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for Gcn {
    const NAME: &'static str = "gcn";
    const SUMMARY: &'static str = "graph convolution network (Kipf and Welling 2017)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        layered_search([32, 64, 128, 256])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    propagation: Sparse,
}

impl Architecture for Gcn {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        layered_parameters(sizes.features, self.hidden, sizes.classes, self.layers, seed)
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
        Ok(self.over(Sparse::constant(&propagation), features))
    }

    fn prepare_flips(&self, flips: &Flips<'_>) -> Option<Prepared> {
        Some(self.over(flips.with_loops().propagation(), flips.features))
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.scores_by(&prepared.input, parameters, dropout_seed, |x| prepared.propagation.matmul(x))
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

    fn over(&self, propagation: Sparse, features: &Features) -> Prepared {
        Prepared { input: Input::scaled(features, self.normalise_features), propagation }
    }
}

impl Fitted<Gcn> {
    /// Class scores `[n,C]` over any propagation, which gradients may flow into.
    pub(crate) fn scores_over(&self, propagation: Sparse, features: &Features) -> Var {
        let prepared = self.architecture.over(propagation, features);
        self.architecture.scores(&prepared, &self.parameters.constants(), None)
    }
}
