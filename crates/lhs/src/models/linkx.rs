//! LINKX: the adjacency row and the features of a node, each embedded apart, then combined (Lim et al. 2021).
//!
//! `H_A = A W_A + b_A`, `H_X = X W_X + b_X`, `H = relu([H_A, H_X] W + b + H_A + H_X)`, then a perceptron of
//! `layers` layers. Neighbours are never averaged, and `W_A` has a row for each node, so it predicts only on
//! the nodes that it knows. Reads the direction of edges: a node's row names those that it points to.
//! Cost per epoch: `O((edges + nnz(X)) hidden + n hidden²)`.
//! Departs from the paper: full batches, Adam with weight decay in the gradient, no batch normalisation,
//! features as they are.

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, Make, Take};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::{Input, Parameters, Session, TrainingConfig};

/// Settings of LINKX.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Linkx {
    /// Width of the embeddings and the hidden layers, 1 or more.
    pub hidden: usize,
    /// Layers after adjacency and features are combined, 1 or more.
    pub layers: usize,
    /// Share of the hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for Linkx {
    fn default() -> Self {
        Linkx {
            hidden: 64,
            layers: 2,
            dropout: 0.5,
            normalise_features: false,
            training: TrainingConfig::default(),
        }
    }
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    adjacency: Input,
}

impl Architecture for Linkx {
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
        let mut make = Make::new(seed);
        make.linear("adjacency", sizes.nodes, self.hidden);
        make.linear("features", sizes.features, self.hidden);
        make.linear("combined", 2 * self.hidden, self.hidden);
        for layer in 0..self.layers {
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            make.linear(&format!("layer{layer}"), self.hidden, to);
        }
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        Ok(Reading {
            input: Input::scaled(features, self.normalise_features),
            adjacency: Input::Sparse(Sparse::constant(&normalise::adjacency(graph))),
        })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let adjacency = take.linear_of(&reading.adjacency); // [n, hidden]
        let features = take.linear_of(&reading.input); // [n, hidden]
        let combined = take.linear(&Var::concat_cols(&[&adjacency, &features]));
        let mut hidden = combined.add(&adjacency).add(&features);
        for _ in 0..self.layers {
            hidden = take.linear(&dropout.of(&hidden.relu()));
        }
        hidden // [n, classes]
    }
}

impl ModelInfo for Linkx {
    const NAME: &'static str = "linkx";
    const SUMMARY: &'static str = "adjacency rows and features embedded apart (Lim et al. 2021)";
    const TRANSDUCTIVE: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([16, 32, 64, 128, 256], [("layers", SearchSpace::choice([1, 2, 3]))])
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
        let reading = config.read(&graph, &Features::none(3), &mut Session::default()).unwrap();
        let weights = Var::constant(Mat::column(&[1.0, 10.0, 100.0]));
        assert_eq!(reading.adjacency.matmul(&weights).value().as_slice(), [110.0, 0.0, 10.0]);
    }
}
