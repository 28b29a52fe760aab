//! FSGNN, feature selection: features of many distances, each judged for itself (Maurya et al. 2022).
//!
//! `X`, `Aᵏ X` and `Ãᵏ X` for `k = 1..=hops`, with `A` the graph and `Ã` the graph with self loops, both scaled
//! as `D^-1/2 A D^-1/2`. Each is mapped by its own weights, `Aᵏ (X W) + b`, its rows scaled to length 1 and
//! weighed by a learned softmax over the distances; all side by side, ReLU, dropout, a linear layer. Reads the
//! direction of edges: a node sees those that it points to. Mapping comes before the hops, which is the same
//! and keeps `X` sparse.
//! Cost per epoch: `O(hops nnz(X) hidden + hops² edges hidden)`.
//! Departs from the paper: one learning rate and one weight decay for all weights, none for the softmax.

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, Make, Take};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::{Input, Parameters, Session, TrainingConfig};

/// Settings of FSGNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fsgnn {
    /// Width for each distance, 1 or more.
    pub hidden: usize,
    /// The farthest distance, 0 (features alone) or more.
    pub hops: usize,
    /// Scale each distance's rows to length 1.
    pub normalise_hops: bool,
    /// Share of the hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for Fsgnn {
    fn default() -> Self {
        Fsgnn {
            hidden: 64,
            hops: 3,
            normalise_hops: true,
            dropout: 0.5,
            normalise_features: true,
            training: TrainingConfig { epochs: 1500, ..TrainingConfig::default() },
        }
    }
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    /// Without and with self loops.
    propagations: [Sparse; 2],
}

impl Architecture for Fsgnn {
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
        let parts = 1 + 2 * self.hops;
        make.free("share", Mat::full(1, parts, 1.0));
        for part in 0..parts {
            make.directed(&format!("part{part}"), sizes.features, self.hidden);
        }
        make.linear("output", parts * self.hidden, sizes.classes);
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Reading> {
        let (without, with) = (normalise::symmetric(graph), normalise::symmetric_with_self_loops(graph));
        Ok(Reading {
            input: Input::scaled(features, self.normalise_features),
            propagations: [Sparse::constant(&without), Sparse::constant(&with)],
        })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let shares = take.one().softmax(); // [1, parts]
        let parts: Vec<Var> = self
            .walks(reading)
            .enumerate()
            .map(|(part, (propagation, hops))| {
                let mapped = reading.input.matmul(take.one());
                let arrived = (0..hops).fold(mapped, |far, _| propagation.matmul(&far)).add_row(take.one());
                let rows = if self.normalise_hops { arrived.unit_rows() } else { arrived };
                rows.mul_row(&shares.slice_cols(part, 1).repeat_col(self.hidden)) // [n, hidden]
            })
            .collect();
        let all = Var::concat_cols(&parts.iter().collect::<Vec<_>>()).relu();
        take.linear(&Dropout::new(self.dropout, dropout_seed).of(&all))
    }
}

impl Fsgnn {
    /// Which propagation each part walks over, and how often: the features themselves, then distance by distance.
    fn walks<'a>(&self, reading: &'a Reading) -> impl Iterator<Item = (&'a Sparse, usize)> {
        let both = |hops: usize| reading.propagations.iter().map(move |propagation| (propagation, hops));
        both(0).take(1).chain((1..=self.hops).flat_map(both))
    }
}

impl ModelInfo for Fsgnn {
    const NAME: &'static str = "fsgnn";
    const SUMMARY: &'static str = "features of many distances, selected (Maurya et al. 2022)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [32, 64, 128],
            [
                ("hops", SearchSpace::choice([1, 2, 3, 5])),
                ("normalise_hops", SearchSpace::choice([true, false])),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(directed: bool) -> Reading {
        let (graph, _) = Graph::build(3, &[(0, 1), (1, 2)], None, directed).unwrap();
        let features = Features::Dense(Mat::column(&[1.0, 2.0, 4.0]));
        Fsgnn::default().read(&graph, &features, &mut Session::default()).unwrap()
    }

    #[test]
    fn the_parts_are_the_features_and_each_distance_without_and_with_self_loops() {
        let reading = reading(false);
        let config = Fsgnn { hops: 2, ..Fsgnn::default() };
        let walks: Vec<(usize, usize)> =
            config.walks(&reading).map(|(propagation, hops)| (propagation.pattern.nnz(), hops)).collect();
        assert_eq!(walks[0].1, 0);
        assert_eq!(walks[1..], [(4, 1), (7, 1), (4, 2), (7, 2)]);
    }

    #[test]
    fn a_node_sees_those_that_it_points_to() {
        let x = Var::constant(Mat::column(&[1.0, 2.0, 4.0]));
        let [without, _] = &reading(true).propagations;
        // The last node points to nobody, and is seen by the one before it with full weight.
        assert_eq!(without.matmul(&x).value().as_slice(), [2.0, 4.0, 0.0]);
    }
}
