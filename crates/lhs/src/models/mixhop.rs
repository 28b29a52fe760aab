//! MixHop: looks at several distances at once, each with its own weights (Abu-El-Haija et al. 2019).
//!
//! A layer puts `Âʲ H Wⱼ` for `j = 0..=hops` side by side, with `Â = D^-1/2 (A + I) D^-1/2`. One such layer
//! with ReLU, then a second one whose parts, as wide as there are classes, are summed with learned softmax
//! weights. So differences between a node and its surroundings can be learned. Cost per epoch: `O(hops nnz(X)
//! hidden + hops² edges hidden)`.
//! Departs from the paper: Adam instead of decaying gradient descent, no batch normalisation, features as they
//! are instead of rows of unit length.

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, Make, Take};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::{Input, Parameters, Session, TrainingConfig};

/// Settings of MixHop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MixHop {
    /// Width of the hidden layer for each distance, 1 or more.
    pub hidden: usize,
    /// The farthest distance, 0 (a perceptron) or more.
    pub hops: usize,
    /// Share of the inputs and hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for MixHop {
    fn default() -> Self {
        MixHop {
            hidden: 64,
            hops: 2,
            dropout: 0.5,
            normalise_features: false,
            training: TrainingConfig::default(),
        }
    }
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    propagation: Sparse,
}

impl Architecture for MixHop {
    type Reading = Reading;

    fn check(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::share_below_one("dropout", self.dropout)
    }

    fn training(&self) -> &TrainingConfig {
        &self.training
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        let distances = self.hops + 1;
        for hop in 0..distances {
            make.weight(&format!("hidden.hop{hop}"), sizes.features, self.hidden);
        }
        make.free("hidden.bias", Mat::zeros(1, distances * self.hidden));
        for hop in 0..distances {
            make.weight(&format!("output.hop{hop}"), distances * self.hidden, sizes.classes);
        }
        make.free("output.share", Mat::zeros(1, distances));
        make.free("output.bias", Mat::zeros(1, sizes.classes));
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
        let input = Input::scaled(features, self.normalise_features);
        Ok(Reading { input, propagation: Sparse::constant(&propagation) })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let parts = self.layer(reading, &dropout.of_input(&reading.input), &mut take);
        let hidden = Var::concat_cols(&parts.iter().collect::<Vec<_>>()).add_row(take.one()).relu();
        let parts = self.layer(reading, &Input::Dense(dropout.of(&hidden)), &mut take);
        let shares = take.one().softmax(); // [1, distances]
        let weighed = parts.iter().enumerate().map(|(hop, part)| {
            part.mul_row(&shares.slice_cols(hop, 1).repeat_col(part.cols())) // [n, classes]
        });
        weighed.reduce(|a, b| a.add(&b)).expect("the node itself is always read").add_row(take.one())
    }
}

impl MixHop {
    /// `Âʲ H Wⱼ` for every distance `j`.
    fn layer(&self, reading: &Reading, codes: &Input, take: &mut Take<'_>) -> Vec<Var> {
        (0..=self.hops)
            .map(|hop| {
                let mapped = codes.matmul(take.one());
                (0..hop).fold(mapped, |far, _| reading.propagation.matmul(&far))
            })
            .collect()
    }
}

impl ModelInfo for MixHop {
    const NAME: &'static str = "mixhop";
    const SUMMARY: &'static str = "several distances side by side (Abu-El-Haija et al. 2019)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([16, 32, 64, 128], [("hops", SearchSpace::choice([1, 2, 3]))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distance_is_a_power_of_the_propagation_with_its_own_weight() {
        let (graph, _) = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap();
        let features = Features::Dense(Mat::column(&[1.0, 0.0, 0.0]));
        let config = MixHop { normalise_features: false, ..MixHop::default() };
        let reading = config.read(&graph, &features, &mut Session::default()).unwrap();
        let weights = [1.0, 10.0, 100.0].map(|weight| Var::constant(Mat::full(1, 1, weight)));
        let parts = config.layer(&reading, &reading.input, &mut Take::from(&weights));
        let off = 1.0 / 6f32.sqrt();
        let once = [0.5, off, 0.0];
        let twice = [0.25 + off * off, 0.5 * off + off / 3.0, off * off];
        let expected = [[1.0, 0.0, 0.0], once.map(|x| 10.0 * x), twice.map(|x| 100.0 * x)];
        for (part, expected) in parts.iter().zip(expected) {
            for (found, expected) in part.value().as_slice().iter().zip(expected) {
                assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
            }
        }
    }
}
