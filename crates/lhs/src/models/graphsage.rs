//! GraphSAGE with the mean aggregator: a node's own code beside the mean of its neighbours' (Hamilton et al. 2017).
//!
//! `H' = relu(H W_own + M H W_neighbours + b)` with `M = D^-1 A`, which is one weight matrix on the two side by
//! side; two layers by default. So what a node is and whom it knows are weighed apart.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden)`.
//! Departs from the paper: all neighbours instead of a sample, and codes are not scaled to unit length.

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, Make, Take};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::{Input, Parameters, Session, TrainingConfig};

/// Settings of GraphSAGE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphSage {
    /// Width of the hidden layers, 1 or more.
    pub hidden: usize,
    /// Number of layers, 1 or more.
    pub layers: usize,
    /// Share of the inputs and hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for GraphSage {
    fn default() -> Self {
        GraphSage {
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
    mean: Sparse,
}

impl Architecture for GraphSage {
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
        for layer in 0..self.layers {
            let from = if layer == 0 { sizes.features } else { self.hidden };
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            make.weight(&format!("layer{layer}.own"), from, to);
            make.weight(&format!("layer{layer}.neighbours"), from, to);
            make.free(&format!("layer{layer}.bias"), Mat::zeros(1, to));
        }
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        let mean = normalise::row_stochastic(&graph.to_undirected());
        let input = Input::scaled(features, self.normalise_features);
        Ok(Reading { input, mean: Sparse::constant(&mean) })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mut hidden = reading.layer(&dropout.of_input(&reading.input), &mut take);
        for _ in 1..self.layers {
            hidden = reading.layer(&Input::Dense(dropout.of(&hidden.relu())), &mut take);
        }
        hidden // [n, classes]
    }
}

impl Reading {
    /// Mapped before it is averaged, which is the same and keeps sparse inputs sparse.
    fn layer(&self, codes: &Input, take: &mut Take<'_>) -> Var {
        let own = codes.matmul(take.one());
        let neighbours = self.mean.matmul(&codes.matmul(take.one()));
        own.add(&neighbours).add_row(take.one())
    }
}

impl ModelInfo for GraphSage {
    const NAME: &'static str = "graphsage";
    const SUMMARY: &'static str =
        "GraphSAGE, own code beside the mean of the neighbours' (Hamilton et al. 2017)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([32, 64, 128, 256], [("layers", SearchSpace::choice([1, 2, 3]))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_adds_the_mean_of_the_neighbours_to_the_node_itself() {
        let (graph, _) = Graph::from_edges(4, &[(0, 1), (0, 2)]).unwrap();
        let features = Features::Dense(Mat::column(&[1.0, 2.0, 6.0, 5.0]));
        let config = GraphSage { normalise_features: false, ..GraphSage::default() };
        let reading = config.read(&graph, &features, &mut Session::default()).unwrap();
        let parameters = [1.0, 10.0, 100.0].map(|weight| Var::constant(Mat::full(1, 1, weight)));
        let found = reading.layer(&reading.input, &mut Take::from(&parameters));
        assert_eq!(found.value().as_slice(), [141.0, 112.0, 116.0, 105.0]);
    }
}
