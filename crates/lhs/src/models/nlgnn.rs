//! Non-local graph neural network: nodes that a learned score puts side by side are convolved, however far apart they
//! are in the graph (Liu, Wang and Ji 2021).
//!
//! A backbone, perceptron or graph convolutions, gives the local embedding `z = f(X)` `[n, C]`. All nodes are sorted by
//! the score `s = z a + c`; two convolutions run along the sequence `s ⊙ z`; their result, back at the nodes, stands
//! beside the local embedding: `[z | unsort(conv(relu(conv(sort(s ⊙ z)))))] W + b`.
//! Cost per epoch: that of the backbone, `O(nnz(X) * hidden + edges * hidden)`, and `O(n log n + n * kernel * C²)`.
//!
//! Departs from the paper: nodes with the same embedding have no order, so they get the mean of what the convolution
//! gives at their positions.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::order::Order;
use super::parts::{ParamBuilder, ParamReader, conv1d};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::{Auto, Input, Parameters, Session, TrainingConfig, dropout_before};

network_settings! {
    /// Settings of the non-local network.
    pub struct Nlgnn {
        /// What gives the local embedding: `mlp`, which reads no edges, or `gcn`.
        pub backbone: Backbone = Backbone::Mlp,
        /// How many nodes of the sorted sequence a convolution sees, an odd number.
        pub kernel: usize = 5,
        /// Share of the units between the two convolutions dropped while training, 0..1.
        pub sequence_dropout: f32 = 0.0,
    }
    shared {
        /// Width of the hidden layer of the backbone, 1 or more.
        hidden: 48,
        /// Share of the inputs (`mlp` only) and hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig {
            epochs: 3000,
            patience: 1000,
            learning_rate: 0.05,
            weight_decay: Auto::Given(5e-4),
            ..TrainingConfig::default()
        },
    }
}

impl ModelInfo for Nlgnn {
    const NAME: &'static str = "nlgnn";
    const SUMMARY: &'static str =
        "non-local network: convolutions along the nodes sorted by a learned score (Liu et al. 2021)";
    const PUBLISHED: &'static [&'static str] = &[
        "backbone = \"gcn\"\ndropout = 0.0\nnormalise_features = false\ntraining.weight_decay = 0.0",
        "backbone = \"gcn\"\nhidden = 96\ndropout = 0.0\nsequence_dropout = 0.5\nnormalise_features = false\ntraining.weight_decay = 0.0",
        "backbone = \"mlp\"\nnormalise_features = false",
    ];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        let mut space = settings::search(
            [16, 48, 96],
            [
                ("backbone", SearchSpace::choice(["mlp", "gcn"])),
                ("kernel", SearchSpace::choice([3, 5])),
                ("sequence_dropout", SearchSpace::choice([0.0, 0.5])),
            ],
        );
        // Without dropout is a corner that chance hardly finds, and the best on graphs of many edges.
        space.retain(|(key, _)| *key != "dropout");
        space.push(("dropout", SearchSpace::choice([0.0, 0.25, 0.5, 0.75])));
        space
    }
}

/// What gives the local embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backbone {
    /// A perceptron of two layers.
    Mlp,
    /// Two graph convolutions.
    Gcn,
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// Of the graph convolutions; the perceptron has none.
    propagation: Option<Sparse>,
}

impl Architecture for Nlgnn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::odd("kernel", self.kernel)?;
        settings::share_below_one("sequence_dropout", self.sequence_dropout)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let classes = sizes.classes;
        let mut builder = ParamBuilder::new(seed);
        builder.linear("local0", sizes.features, self.hidden);
        builder.linear("local1", self.hidden, classes);
        builder.linear("score", classes, 1);
        builder.linear("sequence0", self.kernel * classes, classes);
        builder.linear("sequence1", self.kernel * classes, classes);
        builder.linear("head", 2 * classes, classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let windows = product([self.kernel, sizes.classes, sizes.nodes, 4]);
        let weights = product([self.kernel, sizes.classes, sizes.classes, 2]);
        Amounts::layered(sizes, self.hidden, 2, TAPE_COPIES).and(Count(0), weights, windows)
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let propagation = (self.backbone == Backbone::Gcn)
            .then(|| Sparse::constant(&normalise::symmetric_with_self_loops(&graph.to_undirected())));
        Ok(Prepared { input: Input::scaled(features, self.normalise_features), propagation })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let local = self.local(prepared, &mut reader, dropout_seed); // [n, classes]
        let score = reader.linear(&local); // [n, 1]
        let order = Order::by(score.value(), local.value());
        let sequence = order.sorted(&local.mul_col(&score));
        let (rate, seed) = dropout_before(2, self.sequence_dropout, dropout_seed);
        let convolved = reader.linear(&conv1d::windows(&sequence, self.kernel)).relu().dropout(rate, seed);
        let convolved = reader.linear(&conv1d::windows(&convolved, self.kernel));
        reader.linear(&Var::concat_cols(&[&local, &order.unsorted(&convolved)]))
    }
}

impl Nlgnn {
    /// The embedding by the backbone, `[n, classes]`.
    fn local(&self, prepared: &Prepared, reader: &mut ParamReader<'_>, dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(1, self.dropout, dropout_seed);
        match &prepared.propagation {
            None => {
                let (input_rate, input_seed) = dropout_before(0, self.dropout, dropout_seed);
                let input = prepared.input.dropout(input_rate, input_seed);
                let hidden = reader.linear_of(&input).relu().dropout(rate, seed);
                reader.linear(&hidden)
            }
            Some(propagation) => {
                let mean = propagation.matmul(&prepared.input.matmul(reader.one()));
                let hidden = mean.add_row(reader.one()).relu().dropout(rate, seed);
                propagation.matmul(&hidden.matmul(reader.one())).add_row(reader.one())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    /// Scores of three nodes with one feature each.
    fn scores(backbone: Backbone, features: [f32; 3]) -> Mat {
        let config = Nlgnn { backbone, normalise_features: false, ..Nlgnn::default() };
        let features = Features::Dense(Mat::column(&features));
        let graph = Graph::from_edges(3, &[(0, 1)]).unwrap().0;
        let parameters = config.parameters(Sizes { features: 1, classes: 6, nodes: 3 }, 4).constants();
        let prepared = config.prepare(&graph, &features, &mut Session::default()).unwrap();
        config.scores(&prepared, &parameters, None).value().clone()
    }

    #[test]
    fn a_change_at_a_node_reaches_nodes_without_a_path_to_it() {
        for backbone in [Backbone::Mlp, Backbone::Gcn] {
            let (before, after) = (scores(backbone, [1.0, 2.0, 3.0]), scores(backbone, [1.0, 2.0, 3.5]));
            assert_ne!(before.row(0), after.row(0), "{backbone:?}");
        }
    }

    #[test]
    fn nodes_that_nothing_tells_apart_get_the_same() {
        let found = scores(Backbone::Mlp, [1.0, 2.0, 1.0]);
        assert_eq!(found.row(0), found.row(2));
        assert_ne!(found.row(0), found.row(1));
    }
}
