//! ALT: splits the graph by learned edge weights in two, and subtracts what one half says from the other (Xu et al. 2023).
//!
//! A high-pass network, two layers of `(ε I - Â) H W`, embeds the nodes; `w_ij = sigmoid(MLP(h_i + h_j))`. With APPNP as
//! the backbone, scores are `APPNP₁(w ⊙ Â, X) - APPNP₂((1 - w) ⊙ Â, X) + c MLP(X) + c' MLP(A)`: whether edges smooth or
//! sharpen is learned edge by edge. `MLP(A)` has weights for each node.
//! Cost per epoch: `O(nnz(X) * hidden + edges * (hidden² + steps * C))`.
//!
//! Departs from the authors' code: dropout before the edges' perceptron acts on nodes, so that both directions of an
//! edge have the same weight.

use crate::training::memory_plan::{Amounts, DataSizes, product};
use std::rc::Rc;
use std::sync::Arc;

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::scaling::{diagonal, symmetric, where_set};
use super::parts::{ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::training::{Input, Parameters, Session, TrainingConfig, dropout_before};

/// Keeps edges of both halves from vanishing.
const LEAST: f32 = 1e-4;

network_settings! {
    /// Settings of ALT.
    pub struct AltGcn {
        /// Steps of propagation, 1 or more.
        pub steps: usize = 5,
        /// Share of a node's own scores in each step, 0..=1.
        pub restart: f32 = 0.1,
        /// What the high-pass network keeps of a node itself (the paper's ε), 0 or above.
        pub sharpness: f32 = 0.5,
        /// Whether the normalised adjacency matrix is split, and not the adjacency matrix, each half to be normalised.
        pub split_normalised: bool = false,
        /// Weight of the perceptron on the features, 0 or above.
        pub features_weight: f32 = 1e-3,
        /// Weight of the perceptron on the rows of the adjacency matrix, 0 or above.
        pub adjacency_weight: f32 = 1e-3,
    }
    shared {
        hidden: 32,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
    }
}

impl ModelInfo for AltGcn {
    const NAME: &'static str = "alt-gcn";
    const SUMMARY: &'static str =
        "the difference between two halves of the graph, split by learned weights (Xu et al. 2023)";
    const PUBLISHED: &'static [&'static str] = &[
        "split_normalised = false\nadjacency_weight = 0.0\nnormalise_features = true\ntraining.learning_rate = 0.1\ntraining.weight_decay = 5e-4",
        "split_normalised = false\nadjacency_weight = 0.1\nnormalise_features = true\ntraining.learning_rate = 0.08\ntraining.weight_decay = 7e-4",
        "split_normalised = true\nadjacency_weight = 0.05\nnormalise_features = true\ntraining.weight_decay = 5e-5",
    ];
    const TRANSDUCTIVE: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [32, 64, 128],
            [
                ("split_normalised", SearchSpace::choice([false, true])),
                ("adjacency_weight", SearchSpace::choice([0.0, 0.001, 0.01, 0.05, 0.1, 1.0])),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    adjacency: Input,
    /// `Â`, with self loops.
    smooth: Sparse,
    /// 1 at the self loops of `Â`.
    loops: Var,
    edges: Edges,
}

impl Architecture for AltGcn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("steps", self.steps)?;
        settings::share("restart", self.restart)?;
        settings::not_negative("sharpness", self.sharpness)?;
        settings::not_negative("features_weight", self.features_weight)?;
        settings::not_negative("adjacency_weight", self.adjacency_weight)
    }

    fn parameters(&self, Sizes { features, classes, nodes }: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        let hidden = self.hidden;
        for (name, from, to) in [
            ("high0", features, hidden),
            ("high1", hidden, hidden),
            ("edge0", hidden, 2 * hidden),
            ("edge1", 2 * hidden, 1),
        ] {
            builder.weight(&format!("{name}.weight"), from, to);
            // So that most edges begin in the first half.
            builder.free(&format!("{name}.bias"), Mat::full(1, to, 1.0));
        }
        for (name, from, width) in [
            ("first", features, hidden),
            ("second", features, hidden),
            ("features", features, 2 * hidden),
            ("adjacency", nodes, 2 * hidden),
        ] {
            builder.linear(&format!("{name}0"), from, width);
            builder.linear(&format!("{name}1"), width, classes);
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let square = product([self.hidden, self.hidden, 3]);
        let rows = product([sizes.features, self.hidden, 5]) + product([sizes.nodes, self.hidden, 2]);
        let steps = product([self.steps, sizes.nodes, sizes.classes, 6]);
        Amounts {
            prepared: sizes.propagation() * 3usize + sizes.input(),
            parameters: square + rows,
            activations: product([sizes.nodes, self.hidden, 4, TAPE_COPIES])
                + steps
                + product([sizes.entries, self.hidden, 5]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, _session: &mut Session<'_>) -> Result<Prepared> {
        let graph = graph.to_undirected();
        let smooth = normalise::symmetric_with_self_loops(&graph);
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            adjacency: Input::Sparse(Sparse::constant(&normalise::adjacency(&graph))),
            loops: Var::constant(diagonal(&smooth.pattern)),
            edges: Edges::of(&smooth.pattern),
            smooth: Sparse::constant(&smooth),
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let first = self.edge_weights(prepared, &mut reader, dropout_seed);
        let second = first.scale(-1.0).add_scalar(1.0);
        let mut half = |weights: &Var, layer: usize| {
            let own = self.perceptron(&prepared.input, &mut reader, Some((layer, dropout_seed)));
            self.propagated(&own, &self.component(prepared, weights))
        };
        let difference = half(&first, 4).sub(&half(&second, 6));
        let features = self.perceptron(&prepared.input, &mut reader, None).scale(self.features_weight);
        let adjacency = self.perceptron(&prepared.adjacency, &mut reader, None).scale(self.adjacency_weight);
        difference.add(&features).add(&adjacency) // [n, classes]
    }
}

impl AltGcn {
    /// `w` at every entry of `Â`, `[nnz, 1]`.
    fn edge_weights(
        &self,
        prepared: &Prepared,
        reader: &mut ParamReader<'_>,
        dropout_seed: Option<u64>,
    ) -> Var {
        let high = |x: &Var| x.scale(self.sharpness).sub(&prepared.smooth.matmul(x));
        let hidden = high(&reader.linear_of(&prepared.input)).elu();
        let hidden = high(&reader.linear(&hidden)); // [n, hidden]
        let drop = |layer: usize, x: &Var| {
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            x.dropout(rate, seed)
        };
        // Linear in the sum of both ends: done once per node.
        let ends = drop(0, &hidden).matmul(reader.one()); // [n, 2 hidden]
        let joined = prepared.edges.sums(&ends).add_row(reader.one()).relu(); // [edges, 2 hidden]
        let weights = reader.linear(&drop(1, &joined)).sigmoid(); // [edges, 1]
        prepared.edges.to_entries(&weights).scale(1.0 - 2.0 * LEAST).add_scalar(LEAST)
    }

    /// The propagation matrix of one half of the graph.
    fn component(&self, prepared: &Prepared, weights: &Var) -> Sparse {
        let pattern = Arc::clone(&prepared.smooth.pattern);
        if self.split_normalised {
            return Sparse::new(pattern, weights.mul(&prepared.smooth.values));
        }
        let ones = Var::constant(Mat::full(weights.rows(), 1, 1.0));
        symmetric(&Sparse::new(pattern, where_set(&prepared.loops, &ones, weights)))
    }

    /// Personalised page rank of the scores, in a few steps.
    fn propagated(&self, own: &Var, component: &Sparse) -> Var {
        let kept = own.scale(self.restart);
        (0..self.steps)
            .fold(own.clone(), |now, _| component.matmul(&now).scale(1.0 - self.restart).add(&kept))
    }

    /// Two layers; dropout before both if a number for its seeds is given.
    fn perceptron(
        &self,
        input: &Input,
        reader: &mut ParamReader<'_>,
        dropout: Option<(usize, Option<u64>)>,
    ) -> Var {
        let drop = |more: usize| match dropout {
            Some((layer, seed)) => dropout_before(layer + more, self.dropout, seed),
            None => (0.0, 0),
        };
        let ((rate, seed), (hidden_rate, hidden_seed)) = (drop(0), drop(1));
        let hidden = reader.linear_of(&input.dropout(rate, seed)).relu().dropout(hidden_rate, hidden_seed);
        reader.linear(&hidden)
    }
}

/// The entries of a symmetric pattern, those of both directions as one edge.
struct Edges {
    /// The lower end of each edge.
    from: Rc<[u32]>,
    /// The higher end of each edge, or the same node for a self loop.
    to: Rc<[u32]>,
    /// The edge of each entry.
    of_entry: Rc<[u32]>,
}

impl Edges {
    fn of(pattern: &Pattern) -> Self {
        let (mut from, mut to, mut of_entry) = (Vec::new(), Vec::new(), vec![0; pattern.nnz()]);
        // Rows ascend, so the entries below the diagonal of a row come in the order of the rows that hold their twins.
        let mut next_below: Vec<usize> =
            (0..pattern.rows()).map(|row| pattern.row_range(row).start).collect();
        for row in 0..pattern.rows() {
            for place in pattern.row_range(row) {
                let other = pattern.indices()[place];
                if (other as usize) < row {
                    continue;
                }
                let edge = from.len() as u32;
                of_entry[place] = edge;
                if other as usize > row {
                    of_entry[next_below[other as usize]] = edge;
                    next_below[other as usize] += 1;
                }
                from.push(row as u32);
                to.push(other);
            }
        }
        Edges { from: from.into(), to: to.into(), of_entry: of_entry.into() }
    }

    /// The sum of the rows of both ends, `[n, d] -> [edges, d]`.
    fn sums(&self, rows: &Var) -> Var {
        rows.gather_rows(&self.from).add(&rows.gather_rows(&self.to))
    }

    /// What belongs to edges at each entry, `[edges, d] -> [nnz, d]`.
    fn to_entries(&self, of_edges: &Var) -> Var {
        of_edges.gather_rows(&self.of_entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(config: &AltGcn) -> Prepared {
        let graph = Graph::from_edges(5, &[(0, 3), (1, 3), (0, 1), (2, 3)]).unwrap().0;
        config.prepare(&graph, &Features::none(5), &mut Session::default()).unwrap()
    }

    #[test]
    fn both_directions_of_an_edge_are_one() {
        let Prepared { smooth, edges, .. } = prepared(&AltGcn::default());
        assert_eq!((edges.from.len(), edges.of_entry.len()), (4 + 5, 2 * 4 + 5));
        for row in 0..5 {
            for place in smooth.pattern.row_range(row) {
                let other = smooth.pattern.indices()[place];
                let edge = edges.of_entry[place] as usize;
                let ends = [row as u32, other];
                assert_eq!([edges.from[edge], edges.to[edge]], [ends[0].min(ends[1]), ends[0].max(ends[1])]);
            }
        }
    }

    #[test]
    fn both_halves_make_the_whole() {
        let config = AltGcn { split_normalised: true, ..AltGcn::default() };
        let prepared = prepared(&config);
        let first = Var::constant(Mat::from_fn(13, 1, |row, _| row as f32 / 13.0));
        let second = first.scale(-1.0).add_scalar(1.0);
        let sum =
            config.component(&prepared, &first).values.add(&config.component(&prepared, &second).values);
        for (found, expected) in sum.value().as_slice().iter().zip(prepared.smooth.values.value().as_slice())
        {
            assert!((found - expected).abs() < 1e-6);
        }
        // Where the adjacency matrix is split, all weights 1 leave the graph as it was.
        let whole = AltGcn { split_normalised: false, ..config };
        let ones = Var::constant(Mat::full(13, 1, 1.0));
        let found = whole.component(&prepared, &ones).values;
        for (found, expected) in
            found.value().as_slice().iter().zip(prepared.smooth.values.value().as_slice())
        {
            assert!((found - expected).abs() < 1e-6);
        }
    }
}
