//! ACM-GCN: every node mixes what its surroundings share, what sets it apart, and itself (Luan et al. 2022).
//!
//! A layer has three channels, low-pass `relu(P H W_L)`, high-pass `relu((I - P) H W_H)` and identity `relu(H
//! W_I)`, with `P = (D + I)^-1 (A + I)`. A node's shares of them are the rows of `softmax(sigmoid([H_L a_L, H_H
//! a_H, H_I a_I]) M / 3)`, and the layer gives three times the channels so weighed. Two layers with ReLU and
//! dropout between. Reads the direction of edges: `P` averages over those that a node points to.
//! Cost per epoch: `O(nnz(X) hidden + edges hidden)`.
//! Departs from the paper: settings are not chosen for each dataset; the defaults are among those that it
//! searched.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::memory_plan::{Amounts, DataSizes};
use crate::training::{Auto, Input, Parameters, Session, TrainingConfig};

const CHANNELS: [&str; 3] = ["low", "high", "identity"];

network_settings! {
    /// Settings of ACM-GCN.
    pub struct AcmGcn {}
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig {
            learning_rate: 0.05,
            weight_decay: Auto::Given(1e-4),
            ..TrainingConfig::default()
        },
        layers: 2,
    }
}

impl ModelInfo for AcmGcn {
    const NAME: &'static str = "acm-gcn";
    const SUMMARY: &'static str =
        "low-pass, high-pass and identity channels mixed by each node (Luan et al. 2022)";
    const READS_DIRECTION: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([32, 64, 128], [("layers", SearchSpace::choice([1, 2, 3]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    mean: Sparse,
}

impl Architecture for AcmGcn {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for layer in 0..self.layers {
            let from = if layer == 0 { sizes.features } else { self.hidden };
            let to = if layer + 1 == self.layers { sizes.classes } else { self.hidden };
            for channel in CHANNELS {
                builder.weight(&format!("layer{layer}.{channel}.weight"), from, to);
            }
            for channel in CHANNELS {
                builder.weight(&format!("layer{layer}.{channel}.attention"), to, 1);
            }
            builder.weight(&format!("layer{layer}.mix"), CHANNELS.len(), CHANNELS.len());
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let one = Amounts::layered(sizes, self.hidden, self.layers, 3 * TAPE_COPIES);
        Amounts { parameters: one.parameters * 3usize, ..one }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let mean = normalise::row_stochastic_with_self_loops(graph);
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, mean: Sparse::constant(&mean) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mut hidden = layer(prepared, &dropout.of_input(&prepared.input), &mut reader);
        for _ in 1..self.layers {
            hidden = layer(prepared, &Input::Dense(dropout.of(&hidden)), &mut reader);
        }
        hidden // [n, classes]
    }
}

fn layer(prepared: &Prepared, codes: &Input, reader: &mut ParamReader<'_>) -> Var {
    let channels = filtered(&prepared.mean, [(); 3].map(|()| codes.matmul(reader.one()))).map(|c| c.relu());
    let scores = channels.each_ref().map(|channel| channel.matmul(reader.one())); // [n, 1] each
    let shares = shares(&scores, reader.one());
    let weighed =
        channels.iter().enumerate().map(|(place, channel)| channel.mul_col(&shares.slice_cols(place, 1)));
    let sum = weighed.reduce(|a, b| a.add(&b)).expect("there are three channels");
    sum.scale(CHANNELS.len() as f32)
}

/// What stays of three mapped codes after the low-pass, high-pass and identity filter.
fn filtered(mean: &Sparse, [low, high, identity]: [Var; 3]) -> [Var; 3] {
    let apart = high.sub(&mean.matmul(&high));
    [mean.matmul(&low), apart, identity]
}

/// How much each node takes of each channel, `[n, 3]`; rows sum to 1.
fn shares(scores: &[Var; 3], mix: &Var) -> Var {
    let all = Var::concat_cols(&scores.each_ref());
    all.sigmoid().matmul(mix).scale(1.0 / CHANNELS.len() as f32).softmax()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn low_and_high_pass_are_what_is_shared_and_what_is_not() {
        let (graph, _) = Graph::build(3, &[(0, 1), (1, 2)], None, true).unwrap();
        let mean = Sparse::constant(&normalise::row_stochastic_with_self_loops(&graph));
        let x = Var::constant(Mat::column(&[1.0, 3.0, 7.0]));
        let found = filtered(&mean, [x.clone(), x.clone(), x]).map(|channel| channel.value().clone());
        // The last node points to nobody: its surroundings are itself.
        let expected = [[2.0, 5.0, 7.0], [-1.0, -2.0, 0.0], [1.0, 3.0, 7.0]];
        assert_eq!(found, expected.map(|column| Mat::column(&column)));
    }

    #[test]
    fn channels_that_say_the_same_get_equal_shares() {
        let scores = [(); 3].map(|()| Var::constant(Mat::column(&[0.4, -2.0])));
        let mix = Var::constant(Mat::from_fn(3, 3, |row, col| f32::from(row == col)));
        for &share in shares(&scores, &mix).value().as_slice() {
            assert!((share - 1.0 / 3.0).abs() < 1e-6, "{share}");
        }
    }
}
