//! H2GCN: a node, its neighbours and their neighbours, never mixed (Zhu et al. 2020).
//!
//! `R₀ = relu(X W + b)`; each of `rounds` rounds puts `A₁ R` and `A₂ R` side by side, where `A₁` joins
//! neighbours and `A₂` the nodes exactly two steps apart, both as `D^-1/2 A D^-1/2` without self loops. All
//! rounds side by side, then a linear layer. After the ReLU everything is linear, so the codes are first
//! multiplied by the weights of their place in that long row and then travel as a few columns: the same scores,
//! but an edge costs as much as there are classes.
//! Cost per epoch: `O(nnz(X) hidden + 2^rounds (n hidden + pairs) classes)`; memory in proportion to the pairs.
//! Departs from the paper: dropout falls on a node's own code, once for each place, before it travels and not
//! after.

mod hops;

use super::architecture::{Architecture, Sizes};
use super::parts::{Dropout, ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::training::memory_plan::{Amounts, DataSizes, product};
use crate::training::{Input, MemoKey, Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of H2GCN.
    pub struct H2Gcn {
        /// Rounds over the neighbourhoods (the paper's K), 0..=4: each doubles the places that a code travels to.
        pub rounds: usize = 2,
    }
    shared {
        /// Width of a node's own code, 1 or more.
        hidden: 64,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig { epochs: 2000, patience: 200, ..TrainingConfig::default() },
    }
}

impl ModelInfo for H2Gcn {
    const NAME: &'static str = "h2gcn";
    const SUMMARY: &'static str = "one and two steps away, kept apart (Zhu et al. 2020)";
    const PUBLISHED: &'static [&'static str] = &[
        "rounds = 1\ndropout = 0.5\ntraining.weight_decay = 1e-3",
        "rounds = 1\ndropout = 0.0\ntraining.weight_decay = 2e-5",
        "rounds = 2\ndropout = 0.0\ntraining.weight_decay = 1e-3",
    ];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([32, 64, 128], [("rounds", SearchSpace::choice([1, 2]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// Over one step and over exactly two.
    steps: [Sparse; 2],
}

impl Architecture for H2Gcn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_most("rounds", self.rounds, 4)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let places = (1 << (self.rounds + 1)) - 1;
        let mut builder = ParamBuilder::new(seed);
        builder.linear("code", sizes.features, self.hidden);
        builder.linear("head", places * self.hidden, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let places = (1usize << (self.rounds.min(8) + 1)) - 1;
        let mean = sizes.entries / sizes.nodes.max(1) + 1;
        // Nodes at two steps: as many as neighbours have neighbours, up to all.
        let two = product([sizes.nodes, mean.saturating_mul(mean).min(sizes.nodes)]);
        Amounts {
            prepared: sizes.propagation() + sizes.input() + two * 4usize,
            parameters: product([sizes.features, self.hidden])
                + product([places, self.hidden, sizes.classes]),
            activations: product([places, self.hidden, sizes.nodes]) + product([sizes.nodes, self.hidden, 4]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let graph = graph.to_undirected();
        let two = session.shared(
            || MemoKey::new("exactly two steps, symmetrically scaled").graph(&graph),
            |_| hops::exactly_two(&graph).map(normalise::symmetrically_scaled),
        )?;
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            steps: [Sparse::constant(&normalise::symmetric(&graph)), Sparse::constant(&two)],
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let code = reader.linear_of(&prepared.input).relu(); // [n, hidden]
        let (head, bias) = (reader.one(), reader.one());
        let mut dropout = Dropout::new(self.dropout, dropout_seed);
        let mut first = 0;
        let mut next_place = || {
            let weight = head.slice_rows(first, self.hidden);
            first += self.hidden;
            dropout.of(&code).matmul(&weight) // [n, classes]
        };
        gathered(&prepared.steps, self.rounds, &mut next_place).add_row(bias)
    }
}

/// What arrives at a place: the codes times its weights, and what arrives one round farther on over either step.
fn gathered(steps: &[Sparse; 2], rounds: usize, next_place: &mut impl FnMut() -> Var) -> Var {
    let here = next_place();
    if rounds == 0 {
        return here;
    }
    steps.iter().fold(here, |sum, step| sum.add(&step.matmul(&gathered(steps, rounds - 1, next_place))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    /// The definition: every round written out, all side by side, then the linear layer.
    fn by_definition(prepared: &Prepared, code: &Var, rounds: usize, weight: &Var) -> Var {
        let mut all = vec![code.clone()];
        let mut last = code.clone();
        for _ in 0..rounds {
            let [one, two] = &prepared.steps;
            last = Var::concat_cols(&[&one.matmul(&last), &two.matmul(&last)]);
            all.push(last.clone());
        }
        Var::concat_cols(&all.iter().collect::<Vec<_>>()).matmul(weight)
    }

    #[test]
    fn codes_that_travel_as_scores_arrive_where_the_definition_puts_them() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6)];
        let (graph, _) = Graph::from_edges(7, &edges).unwrap();
        let prepared = H2Gcn::default().prepare(&graph, &Features::none(7), &mut Session::default()).unwrap();
        let (hidden, classes) = (3, 2);
        let code = Var::constant(Mat::from_fn(7, hidden, |r, c| ((r * 3 + c) as f32).sin()));
        let weight =
            |place: usize| Mat::from_fn(hidden, classes, |r, c| ((place * 7 + r * 2 + c) as f32).cos());
        // R, A₁R, A₂R, A₁A₁R, A₁A₂R, A₂A₁R, A₂A₂R: the order of the definition, in the numbers of the recursion,
        // which visits R, A₁R, A₁A₁R, A₁A₂R, A₂R, A₂A₁R, A₂A₂R.
        let order = [0, 1, 4, 2, 3, 5, 6];
        let stacked = order
            .iter()
            .map(|&place| Var::constant(weight(place)))
            .reduce(|above, below| above.stack_rows(&below))
            .unwrap();
        let mut place = 0;
        let found = gathered(&prepared.steps, 2, &mut || {
            place += 1;
            code.matmul(&Var::constant(weight(place - 1)))
        });
        let expected = by_definition(&prepared, &code, 2, &stacked);
        for (found, expected) in found.value().as_slice().iter().zip(expected.value().as_slice()) {
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }
}
