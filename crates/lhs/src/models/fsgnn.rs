//! FSGNN, feature selection: features of many distances, each judged for itself (Maurya et al. 2022).
//!
//! `X`, `Aᵏ X` and `Ãᵏ X` for `k = 1..=hops`, with `A` the graph and `Ã` the graph with self loops, both scaled
//! as `D^-1/2 A D^-1/2`. Each is mapped by its own weights, `Aᵏ (X W) + b`, its rows scaled to length 1 and
//! weighed by a learned softmax over the distances; all side by side, ReLU, dropout, a linear layer. Reads the
//! direction of edges: a node sees those that it points to. Mapping comes before the hops, which is the same
//! and keeps `X` sparse.
//! Cost per epoch: `O(hops nnz(X) hidden + hops² edges hidden)`.
//! Departs from the paper: one learning rate and one weight decay for all weights, none for the softmax.

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use crate::training::{Input, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of FSGNN.
    pub struct Fsgnn {
        /// The farthest distance, 0 (features alone) or more.
        pub hops: usize = 3,
        /// Scale each distance's rows to length 1.
        pub normalise_hops: bool = true,
    }
    shared {
        /// Width for each distance, 1 or more.
        hidden: 64,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig { epochs: 1500, ..TrainingConfig::default() },
    }
}

impl ModelInfo for Fsgnn {
    const NAME: &'static str = "fsgnn";
    const SUMMARY: &'static str = "features of many distances, selected (Maurya et al. 2022)";
    const READS_DIRECTION: bool = true;

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

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// Without and with self loops.
    propagations: [Sparse; 2],
}

impl Architecture for Fsgnn {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        let parts = 1 + 2 * self.hops;
        builder.free("share", Mat::full(1, parts, 1.0));
        for part in 0..parts {
            builder.directed(&format!("part{part}"), sizes.features, self.hidden);
        }
        builder.linear("output", parts * self.hidden, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let parts = Count::from(self.hops) * 2usize + 1usize;
        let width = parts * self.hidden;
        Amounts {
            prepared: sizes.propagation() * 2usize + sizes.input(),
            parameters: width * sizes.features + width * sizes.classes,
            activations: width * product([sizes.nodes, TAPE_COPIES])
                + width * product([self.hops, sizes.nodes]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let (without, with) = (normalise::symmetric(graph), normalise::symmetric_with_self_loops(graph));
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            propagations: [Sparse::constant(&without), Sparse::constant(&with)],
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let shares = reader.one().softmax(); // [1, parts]
        let parts: Vec<Var> = self
            .walks(prepared)
            .enumerate()
            .map(|(part, (propagation, hops))| {
                let mapped = prepared.input.matmul(reader.one());
                let arrived = (0..hops).fold(mapped, |far, _| propagation.matmul(&far)).add_row(reader.one());
                let rows = if self.normalise_hops { arrived.unit_rows() } else { arrived };
                rows.mul_row(&shares.slice_cols(part, 1).repeat_col(self.hidden)) // [n, hidden]
            })
            .collect();
        let all = Var::concat_cols(&parts.iter().collect::<Vec<_>>()).relu();
        reader.linear(&Dropout::new(self.dropout, dropout_seed).of(&all))
    }
}

impl Fsgnn {
    /// Which propagation each part walks over, and how often: the features themselves, then distance by distance.
    fn walks<'a>(&self, prepared: &'a Prepared) -> impl Iterator<Item = (&'a Sparse, usize)> {
        let both = |hops: usize| prepared.propagations.iter().map(move |propagation| (propagation, hops));
        both(0).take(1).chain((1..=self.hops).flat_map(both))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(directed: bool) -> Prepared {
        let (graph, _) = Graph::build(3, &[(0, 1), (1, 2)], None, directed).unwrap();
        let features = Features::Dense(Mat::column(&[1.0, 2.0, 4.0]));
        Fsgnn::default().prepare(&graph, &features, &mut Session::default()).unwrap()
    }

    #[test]
    fn the_parts_are_the_features_and_each_distance_without_and_with_self_loops() {
        let prepared = prepared(false);
        let config = Fsgnn { hops: 2, ..Fsgnn::default() };
        let walks: Vec<(usize, usize)> =
            config.walks(&prepared).map(|(propagation, hops)| (propagation.pattern.nnz(), hops)).collect();
        assert_eq!(walks[0].1, 0);
        assert_eq!(walks[1..], [(4, 1), (7, 1), (4, 2), (7, 2)]);
    }

    #[test]
    fn a_node_sees_those_that_it_points_to() {
        let x = Var::constant(Mat::column(&[1.0, 2.0, 4.0]));
        let [without, _] = &prepared(true).propagations;
        // The last node points to nobody, and is seen by the one before it with full weight.
        assert_eq!(without.matmul(&x).value().as_slice(), [2.0, 4.0, 0.0]);
    }
}
