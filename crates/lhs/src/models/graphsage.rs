//! GraphSAGE with the mean aggregator: a node's own code beside the mean of its neighbours' (Hamilton et al. 2017).
//!
//! `H' = relu(H W_own + M H W_neighbours + b)` with `M = D^-1 A`, which is one weight matrix on the two side by
//! side; two layers by default. So what a node is and whom it knows are weighed apart.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden)`.
//! Departs from the paper: all neighbours instead of a sample, and codes are not scaled to unit length.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::memory_plan::{Amounts, DataSizes};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of GraphSAGE.
    pub struct GraphSage {}
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        layers: 2,
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

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    mean: Sparse,
}

impl Architecture for GraphSage {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for layer in 0..self.layers {
            let from = if layer == 0 { sizes.features } else { self.hidden };
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            builder.weight(&format!("layer{layer}.own"), from, to);
            builder.weight(&format!("layer{layer}.neighbours"), from, to);
            builder.free(&format!("layer{layer}.bias"), Mat::zeros(1, to));
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let one = Amounts::layered(sizes, self.hidden, self.layers, TAPE_COPIES);
        Amounts { parameters: one.parameters * 2usize, ..one }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let mean = normalise::row_stochastic(&graph.to_undirected());
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, mean: Sparse::constant(&mean) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mut hidden = prepared.layer(&dropout.of_input(&prepared.input), &mut reader);
        for _ in 1..self.layers {
            hidden = prepared.layer(&Input::Dense(dropout.of(&hidden.relu())), &mut reader);
        }
        hidden // [n, classes]
    }
}

impl Prepared {
    /// Mapped before it is averaged, which is the same and keeps sparse inputs sparse.
    fn layer(&self, codes: &Input, reader: &mut ParamReader<'_>) -> Var {
        let own = codes.matmul(reader.one());
        let neighbours = self.mean.matmul(&codes.matmul(reader.one()));
        own.add(&neighbours).add_row(reader.one())
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
        let prepared = config.prepare(&graph, &features, &mut Session::default()).unwrap();
        let parameters = [1.0, 10.0, 100.0].map(|weight| Var::constant(Mat::full(1, 1, weight)));
        let found = prepared.layer(&prepared.input, &mut ParamReader::from(&parameters));
        assert_eq!(found.value().as_slice(), [141.0, 112.0, 116.0, 105.0]);
    }
}
