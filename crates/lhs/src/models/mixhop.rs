//! MixHop: looks at several distances at once, each with its own weights (Abu-El-Haija et al. 2019).
//!
//! A layer puts `Âʲ H Wⱼ` for `j = 0..=hops` side by side, with `Â = D^-1/2 (A + I) D^-1/2`. One such layer
//! with ReLU, then a second one whose parts, as wide as there are classes, are summed with learned softmax
//! weights. So differences between a node and its surroundings can be learned. Cost per epoch: `O(hops nnz(X)
//! hidden + hops² edges hidden)`.
//! Departs from the paper: Adam instead of decaying gradient descent, no batch normalisation, features as they
//! are instead of rows of unit length.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::memory_plan::{Amounts, Count, DataSizes};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of MixHop.
    pub struct MixHop {
        /// The farthest distance, 0 (a perceptron) or more.
        pub hops: usize = 2,
    }
    shared {
        /// Width of the hidden layer for each distance, 1 or more.
        hidden: 64,
        dropout: 0.5,
        normalise_features: false,
        training: TrainingConfig::default(),
    }
}

impl ModelInfo for MixHop {
    const NAME: &'static str = "mixhop";
    const SUMMARY: &'static str = "several distances side by side (Abu-El-Haija et al. 2019)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([16, 32, 64, 128], [("hops", SearchSpace::choice([1, 2, 3]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    propagation: Sparse,
}

impl Architecture for MixHop {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        let distances = self.hops + 1;
        for hop in 0..distances {
            builder.weight(&format!("hidden.hop{hop}"), sizes.features, self.hidden);
        }
        builder.free("hidden.bias", Mat::zeros(1, distances * self.hidden));
        for hop in 0..distances {
            builder.weight(&format!("output.hop{hop}"), distances * self.hidden, sizes.classes);
        }
        builder.free("output.share", Mat::zeros(1, distances));
        builder.free("output.bias", Mat::zeros(1, sizes.classes));
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let distances = Count::from(self.hops) + 1usize;
        let width = distances * self.hidden;
        let on_the_way = width * distances * sizes.nodes;
        Amounts {
            prepared: sizes.propagation() + sizes.input(),
            parameters: width * sizes.features + width * distances * sizes.classes,
            activations: width * sizes.nodes * TAPE_COPIES + on_the_way,
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, propagation: Sparse::constant(&propagation) })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let parts = self.layer(prepared, &dropout.of_input(&prepared.input), &mut reader);
        let hidden = Var::concat_cols(&parts.iter().collect::<Vec<_>>()).add_row(reader.one()).relu();
        let parts = self.layer(prepared, &Input::Dense(dropout.of(&hidden)), &mut reader);
        let shares = reader.one().softmax(); // [1, distances]
        let weighed = parts.iter().enumerate().map(|(hop, part)| {
            part.mul_row(&shares.slice_cols(hop, 1).repeat_col(part.cols())) // [n, classes]
        });
        weighed.reduce(|a, b| a.add(&b)).expect("the node itself is always read").add_row(reader.one())
    }
}

impl MixHop {
    /// `Âʲ H Wⱼ` for every distance `j`.
    fn layer(&self, prepared: &Prepared, codes: &Input, reader: &mut ParamReader<'_>) -> Vec<Var> {
        (0..=self.hops)
            .map(|hop| {
                let mapped = codes.matmul(reader.one());
                (0..hop).fold(mapped, |far, _| prepared.propagation.matmul(&far))
            })
            .collect()
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
        let prepared = config.prepare(&graph, &features, &mut Session::default()).unwrap();
        let weights = [1.0, 10.0, 100.0].map(|weight| Var::constant(Mat::full(1, 1, weight)));
        let parts = config.layer(&prepared, &prepared.input, &mut ParamReader::from(&weights));
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
