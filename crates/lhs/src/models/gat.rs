//! Graph attention network: each node decides how much it listens to each neighbour (Veličković et al. 2018).
//!
//! A head maps `Z = X W` and gives the edge from `j` to `i` the weight `softmax_j(leaky_relu(Z_i·a + Z_j·b))`,
//! the node itself among its neighbours. Several heads side by side with `elu` make the hidden layer, one more
//! head the class scores; inputs and attention weights are dropped out. Weights of edges are not read:
//! attention takes their place. Cost per epoch: `O(nnz(X) w + edges w)` for the width `w = heads * hidden`.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::sync::Arc;

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader, attention};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of the graph attention network.
    pub struct Gat {
        /// Number of heads of the hidden layer, 1 or more.
        pub heads: usize = 8,
    }
    shared {
        /// Width of each head of the hidden layer, 1 or more.
        hidden: 8,
        /// Share of the inputs, hidden units and attention weights dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig { learning_rate: 0.005, ..TrainingConfig::default() },
    }
}

impl ModelInfo for Gat {
    const NAME: &'static str = "gat";
    const SUMMARY: &'static str = "graph attention network (Veličković et al. 2018)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([4, 8, 16, 32], [("heads", SearchSpace::choice([1, 4, 8]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// Who listens to whom: the edges and every node to itself.
    edges: Arc<Pattern>,
}

impl Architecture for Gat {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("heads", self.heads)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        let width = self.heads * self.hidden;
        let layers =
            [("hidden", sizes.features, self.heads, self.hidden), ("output", width, 1, sizes.classes)];
        for (layer, from, heads, columns) in layers {
            builder.weight(&format!("{layer}.weight"), from, heads * columns);
            builder.weight(&format!("{layer}.to"), columns, heads);
            builder.weight(&format!("{layer}.from"), columns, heads);
            builder.free(&format!("{layer}.bias"), Mat::zeros(1, heads * columns));
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let width = product([self.heads, self.hidden]);
        let nodes = Count::from(sizes.nodes);
        Amounts {
            prepared: sizes.propagation() + sizes.input(),
            parameters: width * sizes.features + width * (sizes.classes + 4),
            activations: width * nodes * TAPE_COPIES + product([sizes.entries, self.heads, 6]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let edges = normalise::with_self_loops(&graph.to_undirected()).pattern;
        Ok(Prepared { input: Input::scaled(features, self.normalise_features), edges })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mapped = dropout.of_input(&prepared.input).matmul(reader.one()); // [n, heads * hidden]
        let hidden = attend(&prepared.edges, &mapped, &mut reader, &mut dropout).elu();
        let mapped = dropout.of(&hidden).matmul(reader.one()); // [n, classes]
        attend(&prepared.edges, &mapped, &mut reader, &mut dropout)
    }
}

/// All heads of a layer side by side: each averages its columns of `mapped` over the edges.
fn attend(edges: &Arc<Pattern>, mapped: &Var, reader: &mut ParamReader<'_>, dropout: &mut Dropout) -> Var {
    let (to, from, bias) = (reader.one(), reader.one(), reader.one());
    attention::additive(edges, mapped, to, from, dropout.draw()).add_row(bias)
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
        let found = attend(&edges, &mapped, &mut ParamReader::from(&parameters), &mut dropout);
        assert_eq!(found.value().as_slice(), [2.0, 20.0, 2.0, 20.0, 5.0, 50.0]);
    }
}
