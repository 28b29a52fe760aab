//! LINKX: the adjacency row and the features of a node, each embedded apart, then combined (Lim et al. 2021).
//!
//! `H_A = A W_A + b_A`, `H_X = X W_X + b_X`, `H = relu([H_A, H_X] W + b + H_A + H_X)`, then a perceptron of
//! `layers` layers. Neighbours are never averaged, and `W_A` has a row for each node, so it predicts only on
//! the nodes that it knows. Reads the direction of edges: a node's row names those that it points to.
//! Cost per epoch: `O((edges + nnz(X)) hidden + n hidden²)`.
//! Departs from the paper: full batches, Adam with weight decay in the gradient, no batch normalisation,
//! features as they are.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::relaxed::Flips;
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::memory_plan::{Amounts, DataSizes, product};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of LINKX.
    pub struct Linkx {}
    shared {
        /// Width of the embeddings and the hidden layers, 1 or more.
        hidden: 64,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: false,
        training: TrainingConfig::default(),
        /// Layers after adjacency and features are combined, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for Linkx {
    const NAME: &'static str = "linkx";
    const SUMMARY: &'static str = "adjacency rows and features embedded apart (Lim et al. 2021)";
    const READS_DIRECTION: bool = true;
    const TRANSDUCTIVE: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([16, 32, 64, 128, 256], [("layers", SearchSpace::choice([1, 2, 3]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    adjacency: Input,
}

impl Architecture for Linkx {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        builder.linear("adjacency", sizes.nodes, self.hidden);
        builder.linear("features", sizes.features, self.hidden);
        builder.linear("combined", 2 * self.hidden, self.hidden);
        for layer in 0..self.layers {
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            builder.linear(&format!("layer{layer}"), self.hidden, to);
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let layers = product([self.layers, self.hidden, self.hidden]);
        let rows = product([sizes.nodes, self.hidden]) + product([sizes.features, self.hidden]);
        let deep = self.layers.saturating_add(2);
        Amounts {
            prepared: sizes.propagation() + sizes.input(),
            parameters: rows + layers + product([self.hidden, self.hidden, 2]),
            activations: product([deep, sizes.nodes, self.hidden, TAPE_COPIES / 2]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            adjacency: Input::Sparse(Sparse::constant(&normalise::adjacency(graph))),
        })
    }

    fn prepare_flips(&self, flips: &Flips<'_>) -> Option<Prepared> {
        Some(Prepared {
            input: Input::scaled(flips.features, self.normalise_features),
            adjacency: Input::Sparse(flips.without_loops().weights()),
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let adjacency = reader.linear_of(&prepared.adjacency); // [n, hidden]
        let features = reader.linear_of(&prepared.input); // [n, hidden]
        let combined = reader.linear(&Var::concat_cols(&[&adjacency, &features]));
        let mut hidden = combined.add(&adjacency).add(&features);
        for _ in 0..self.layers {
            hidden = reader.linear(&dropout.of(&hidden.relu()));
        }
        hidden // [n, classes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn a_node_has_the_weights_of_those_that_it_points_to() {
        let (graph, _) = Graph::build(3, &[(0, 1), (0, 2), (2, 1)], None, true).unwrap();
        let config = Linkx::default();
        let prepared = config.prepare(&graph, &Features::none(3), &mut Session::default()).unwrap();
        let weights = Var::constant(Mat::column(&[1.0, 10.0, 100.0]));
        assert_eq!(prepared.adjacency.matmul(&weights).value().as_slice(), [110.0, 0.0, 10.0]);
    }
}
