//! Graph attention network: each node decides how much it listens to each neighbour (Veličković et al. 2018).
//!
//! A head maps `Z = X W` and gives the edge from `j` to `i` the weight `softmax_j(leaky_relu(Z_i·a + Z_j·b))`,
//! the node itself among its neighbours. Several heads side by side with `elu` make the hidden layer, one more
//! head the class scores; inputs and attention weights are dropped out. Weights of edges are not read:
//! attention takes their place. Cost per epoch: `O(nnz(X) w + edges w)` for the width `w = heads * hidden`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, Make, Take, attention};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::training::{Input, Parameters, Session, TrainingConfig};

/// Settings of the graph attention network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gat {
    /// Width of each head of the hidden layer, 1 or more.
    pub hidden: usize,
    /// Number of heads of the hidden layer, 1 or more.
    pub heads: usize,
    /// Share of the inputs, hidden units and attention weights dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for Gat {
    fn default() -> Self {
        Gat {
            hidden: 8,
            heads: 8,
            dropout: 0.5,
            normalise_features: true,
            training: TrainingConfig { learning_rate: 0.005, ..TrainingConfig::default() },
        }
    }
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    /// Who listens to whom: the edges and every node to itself.
    edges: Arc<Pattern>,
}

impl Architecture for Gat {
    type Reading = Reading;

    fn check(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("heads", self.heads)?;
        settings::share_below_one("dropout", self.dropout)
    }

    fn training(&self) -> &TrainingConfig {
        &self.training
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        let width = self.heads * self.hidden;
        let layers =
            [("hidden", sizes.features, self.heads, self.hidden), ("output", width, 1, sizes.classes)];
        for (layer, from, heads, columns) in layers {
            make.weight(&format!("{layer}.weight"), from, heads * columns);
            make.weight(&format!("{layer}.to"), columns, heads);
            make.weight(&format!("{layer}.from"), columns, heads);
            make.free(&format!("{layer}.bias"), Mat::zeros(1, heads * columns));
        }
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        let edges = normalise::with_self_loops(&graph.to_undirected()).pattern;
        Ok(Reading { input: Input::scaled(features, self.normalise_features), edges })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mapped = dropout.of_input(&reading.input).matmul(take.one()); // [n, heads * hidden]
        let hidden = attend(&reading.edges, &mapped, &mut take, &mut dropout).elu();
        let mapped = dropout.of(&hidden).matmul(take.one()); // [n, classes]
        attend(&reading.edges, &mapped, &mut take, &mut dropout)
    }
}

/// All heads of a layer side by side: each averages its columns of `mapped` over the edges.
fn attend(edges: &Arc<Pattern>, mapped: &Var, take: &mut Take<'_>, dropout: &mut Dropout) -> Var {
    let (to, from, bias) = (take.one(), take.one(), take.one());
    attention::additive(edges, mapped, to, from, dropout.draw()).add_row(bias)
}

impl ModelInfo for Gat {
    const NAME: &'static str = "gat";
    const SUMMARY: &'static str = "graph attention network (Veličković et al. 2018)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([4, 8, 16, 32], [("heads", SearchSpace::choice([1, 4, 8]))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_without_a_preference_average_over_the_node_and_its_neighbours() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1)]).unwrap();
        let mapped = Var::constant(Mat::from_slice(3, 2, &[1.0, 10.0, 3.0, 30.0, 5.0, 50.0]));
        let indifferent = Var::constant(Mat::zeros(1, 2));
        let parameters = [indifferent.clone(), indifferent.clone(), indifferent];
        let edges = normalise::with_self_loops(&graph).pattern;
        let mut dropout = Dropout::new(0.5, None);
        let found = attend(&edges, &mapped, &mut Take::from(&parameters), &mut dropout);
        assert_eq!(found.value().as_slice(), [2.0, 20.0, 2.0, 20.0, 5.0, 50.0]);
    }
}
