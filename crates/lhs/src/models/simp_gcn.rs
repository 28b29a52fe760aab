//! SimP-GCN: each node chooses between its neighbours, those with similar features, and itself (Jin et al. 2021).
//!
//! Per layer `s ⊙ Â H W + (1 - s) ⊙ Â_f H W + γ D ⊙ H W + b` with `s = sigmoid(H w + c)`, `D = H w' + c'`, and `Â_f` the
//! normalised graph of the `k` nearest by cosine of the features. An auxiliary task keeps the similarity in the first
//! layer: `|h_i - h_j|` has to tell the cosine of the features of `i` and `j`.
//! Cost: `O(n² F)` once for the nearest, then `O(nnz(X) * hidden + (edges + n k) * hidden)` per epoch.
//!
//! Departs from the paper: the dissimilar pairs of the auxiliary task are drawn at random instead of being the least
//! similar ones: among sparse features most pairs have nothing in common and tie.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::rc::Rc;
use std::sync::Arc;

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::knn::nearest;
use super::parts::similarity::Rows;
use super::parts::{ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::random::{derive, generator};
use crate::linalg::{Mat, SparseMat};
use crate::training::{Input, MemoKey, Parameters, Session, TrainingConfig, dropout_before};
use rand::RngExt;

/// Of each node, this many of the nearest and as many others are in the auxiliary task.
const PAIRS_PER_NODE: usize = 5;
/// Pairs of the auxiliary task in one epoch.
const PAIRS_PER_EPOCH: usize = 10_000;

network_settings! {
    /// Settings of SimP-GCN.
    pub struct SimpGcn {
        /// Nearest neighbours by features, 1 or more.
        pub neighbours: usize = 20,
        /// Weight of a node's own row (the paper's γ), 0 or above.
        pub own_weight: f32 = 0.1,
        /// Weight of the auxiliary task (the paper's λ), 0 or above.
        pub similarity_weight: f32 = 1.0,
    }
    shared {
        hidden: 32,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig { learning_rate: 0.05, ..TrainingConfig::default() },
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for SimpGcn {
    const NAME: &'static str = "simp-gcn";
    const SUMMARY: &'static str = "graph convolution that keeps the similarity of features (Jin et al. 2021)";
    const PUBLISHED: &'static [&'static str] = &[
        "hidden = 128\nown_weight = 1.0\nsimilarity_weight = 0.1",
        "hidden = 128\nown_weight = 1.0\nsimilarity_weight = 0.5",
        "hidden = 16\nown_weight = 0.1\nsimilarity_weight = 1.0",
    ];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [16, 32, 64, 128],
            [
                ("own_weight", SearchSpace::choice([0.01, 0.1, 1.0])),
                ("similarity_weight", SearchSpace::choice([0.1, 0.5, 1.0, 5.0])),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    given: Sparse,
    similar: Sparse,
    pairs: Pairs,
}

impl Architecture for SimpGcn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("neighbours", self.neighbours)?;
        settings::not_negative("own_weight", self.own_weight)?;
        settings::not_negative("similarity_weight", self.similarity_weight)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for layer in 0..self.layers {
            let from = if layer == 0 { sizes.features } else { self.hidden };
            builder.linear(&format!("layer{layer}"), from, self.width(layer, sizes.classes) + GATES);
        }
        builder.linear("similarity", self.width(0, sizes.classes), 1);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let near = product([sizes.nodes, self.neighbours.min(sizes.nodes), 6]);
        let usual = Amounts::layered(sizes, self.hidden, self.layers, 2 * TAPE_COPIES);
        usual.and(near, Count(0), Count(0))
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let key = || MemoKey::new("nearest by features").features(features).setting(self.neighbours);
        let nearest: Arc<SparseMat> = session.shared(key, |_| Ok(nearest(features, self.neighbours)))?;
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            given: Sparse::constant(&normalise::symmetric_with_self_loops(&graph.to_undirected())),
            pairs: Pairs::new(features, &nearest),
            similar: Sparse::constant(&normalise::symmetrically_scaled((*nearest).clone())),
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.classified(prepared, self.first(prepared, parameters), parameters, dropout_seed)
    }

    fn training_scores(&self, prepared: &Prepared, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        let first = self.first(prepared, parameters);
        let extra =
            (self.similarity_weight > 0.0).then(|| self.dissimilarity(prepared, &first, parameters, seed));
        (self.classified(prepared, first, parameters, Some(seed)), extra)
    }
}

/// Columns of a layer that say how a node mixes what it hears: `w` and `w'`.
const GATES: usize = 2;

impl SimpGcn {
    fn width(&self, layer: usize, classes: usize) -> usize {
        if layer + 1 == self.layers { classes } else { self.hidden }
    }

    /// What the first layer gives, before its activation.
    fn first(&self, prepared: &Prepared, parameters: &[Var]) -> Var {
        self.mixed(prepared, &prepared.input.matmul(&parameters[0]), &parameters[1])
    }

    /// Class scores from what the first layer gives.
    fn classified(
        &self,
        prepared: &Prepared,
        first: Var,
        parameters: &[Var],
        dropout_seed: Option<u64>,
    ) -> Var {
        let mut reader = ParamReader::from(&parameters[2..]);
        let mut hidden = first;
        for layer in 1..self.layers {
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            let transformed = hidden.relu().dropout(rate, seed).matmul(reader.one());
            hidden = self.mixed(prepared, &transformed, reader.one());
        }
        hidden // [n, classes]
    }

    /// How badly the embeddings tell the cosines of features.
    fn dissimilarity(&self, prepared: &Prepared, first: &Var, parameters: &[Var], seed: u64) -> Var {
        let embedding = first.relu(); // [n, hidden]
        let mut head = ParamReader::from(&parameters[2 * self.layers..]);
        let Drawn { left, right, cosines } = prepared.pairs.draw(derive(seed, &[u64::MAX]));
        let apart = embedding.gather_rows(&left).sub(&embedding.gather_rows(&right)).leaky_relu(-1.0);
        let error = head.linear(&apart).sub(&Var::constant(Mat::column(&cosines))); // [pairs, 1]
        error.mul(&error).mean().scale(self.similarity_weight)
    }

    /// What each node hears from its neighbours, from the nodes most similar to it, and from itself: of
    /// `[H W, H w, H w']` with the biases `[b, c, c']`.
    fn mixed(&self, prepared: &Prepared, transformed: &Var, bias: &Var) -> Var {
        let width = transformed.cols() - GATES;
        let gate = |col: usize| transformed.slice_cols(col, 1).add_row(&bias.slice_cols(col, 1)); // [n, 1]
        let (choice, own) = (gate(width).sigmoid(), gate(width + 1).scale(self.own_weight));
        let rows = transformed.slice_cols(0, width);
        let (given, similar) = (prepared.given.matmul(&rows), prepared.similar.matmul(&rows));
        let heard = similar.add(&given.sub(&similar).mul_col(&choice));
        heard.add(&rows.mul_col(&own)).add_row(&bias.slice_cols(0, width)) // [n, width]
    }
}

/// What the pairs of the auxiliary task are drawn from.
struct Pairs {
    rows: Rows,
    num_nodes: usize,
    nearest: Vec<(u32, u32)>,
}

/// Pairs of nodes and the cosine of their features.
struct Drawn {
    left: Rc<[u32]>,
    right: Rc<[u32]>,
    cosines: Vec<f32>,
}

impl Pairs {
    fn new(features: &Features, nearest: &SparseMat) -> Self {
        let best = |row: usize| {
            let mut found: Vec<(u32, f32)> = nearest.row(row).collect();
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            found.truncate(PAIRS_PER_NODE);
            found.into_iter().map(move |(other, _)| (row as u32, other))
        };
        Pairs {
            rows: Rows::of(features),
            num_nodes: features.num_nodes(),
            nearest: (0..nearest.rows()).flat_map(best).collect(),
        }
    }

    /// As many similar pairs as others.
    fn draw(&self, seed: u64) -> Drawn {
        let mut rng = generator(seed, 0);
        let each = (PAIRS_PER_NODE * self.num_nodes).min(PAIRS_PER_EPOCH / 2);
        let mut pairs = Vec::with_capacity(2 * each);
        for _ in 0..each {
            if !self.nearest.is_empty() {
                pairs.push(self.nearest[rng.random_range(0..self.nearest.len())]);
            }
            let mut anybody = || rng.random_range(0..self.num_nodes as u32);
            pairs.push((anybody(), anybody()));
        }
        Drawn {
            left: pairs.iter().map(|pair| pair.0).collect(),
            right: pairs.iter().map(|pair| pair.1).collect(),
            cosines: pairs.iter().map(|&(a, b)| self.rows.cosine(a, b)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_mixes_what_its_gates_say() {
        let graph = Graph::from_edges(3, &[(0, 1)]).unwrap().0;
        let features = Features::from_dense(Mat::from_slice(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]));
        let config = SimpGcn { own_weight: 0.5, ..SimpGcn::default() };
        let prepared = config.prepare(&graph, &features, &mut Session::default()).unwrap();
        // One column of rows, a gate wide open to the neighbours for node 0, shut for node 1, even for node 2.
        let transformed =
            Var::constant(Mat::from_slice(3, 3, &[2.0, 50.0, 1.0, 4.0, -50.0, 1.0, 6.0, 0.0, 1.0]));
        let found = config.mixed(&prepared, &transformed, &Var::constant(Mat::zeros(1, 3)));
        // Neighbours: 3, 3, 6; most similar (0 and 2): 6, nothing, 2; own halves: 1, 2, 3.
        for (found, expected) in found.value().as_slice().iter().zip([4.0, 2.0, 7.0]) {
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }

    #[test]
    fn half_of_the_pairs_are_near() {
        let features = Features::from_dense(Mat::from_fn(40, 2, |row, col| f32::from(row % 2 == col)));
        let pairs = Pairs::new(&features, &nearest(&features, 8));
        assert_eq!(pairs.nearest.len(), 40 * PAIRS_PER_NODE);
        let drawn = pairs.draw(3);
        assert_eq!((drawn.left.len(), drawn.cosines.len()), (400, 400));
        let near = drawn.cosines.iter().filter(|cosine| **cosine > 0.9).count();
        assert!((250..350).contains(&near), "{near} of 400");
    }
}
