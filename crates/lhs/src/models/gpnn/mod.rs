//! Graph pointer neural network: a pointer network picks, out of all that lies within some hops, the nodes that matter
//! to a node, and ranks them (Yang et al. 2022).
//!
//! Up to `length` nodes within `hops` hops of a node, found breadth first, are read by a recurrent encoder (`e_t`). A
//! recurrent decoder (`d_s`), started at what the encoder keeps and at the node itself, points at one after the other:
//! `a_s = softmax_t(v tanh(W e_t + U d_s))`, what was pointed at most is out of the next round. A convolution runs along the
//! ranked list `r_s = Σ_t a_st h_t`; its result stands beside the node's own embedding and that of two graph convolutions.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden + n * (length + selected) * hidden² + n * length * selected *
//! hidden)`, every step a product over all nodes at once.
//!
//! There is neither public code nor a list of settings. Chosen here: the lengths and widths; the ranked list holds soft
//! mixtures, through which gradients reach the pointer, where the paper picks single nodes; the encoder reads from far to
//! near, so that it remembers the nearest best; and where there are too many nodes, fingerprints of their features decide
//! instead of chance, so that predictions follow a renumbering of the nodes.

mod lstm;

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::rc::Rc;
use std::sync::Arc;

use self::lstm::{Cell, State};
use super::architecture::{Architecture, ForSome, Sizes, TAPE_COPIES};
use super::parts::{ParamBuilder, ParamReader, conv1d, fingerprint, side_by_side};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern};
use crate::training::{Input, MemoKey, Parameters, Session, TrainingConfig, argmax, dropout_before};

/// Added to the score of what may not be pointed at.
const OUT: f32 = -1e9;

network_settings! {
    /// Settings of the pointer network.
    pub struct Gpnn {
        /// How far away nodes may be, in hops, 1 or more.
        pub hops: usize = 2,
        /// How many nodes are read for each node at most, 1 or more.
        pub length: usize = 16,
        /// How many of them are ranked, 1 or more.
        pub selected: usize = 4,
        /// How many places of the ranked list the convolution sees, an odd number.
        pub kernel: usize = 3,
    }
    shared {
        /// Width of all layers, 1 or more.
        hidden: 32,
        dropout: 0.5,
        normalise_features: false,
        training: TrainingConfig { epochs: 2000, ..TrainingConfig::default() },
    }
}

impl ModelInfo for Gpnn {
    const NAME: &'static str = "gpnn";
    const SUMMARY: &'static str =
        "pointer network that picks and ranks the nodes that matter to a node (Yang et al. 2022)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [16, 32, 64],
            [
                ("hops", SearchSpace::choice([1, 2, 3])),
                ("length", SearchSpace::choice([8, 16, 32])),
                ("selected", SearchSpace::choice([4, 8])),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    propagation: Sparse,
    sequences: Sequences,
}

/// Whom each node reads, from far to near. All sequences end together: who has less to read starts later.
struct Sequences {
    length: usize,
    /// One sequence after the other, [`NOBODY`] where there is nobody to read yet.
    places: Rc<[u32]>,
}

/// Stands before the first node of a short sequence.
const NOBODY: u32 = u32::MAX;

impl Sequences {
    fn from_far_to_near(found: &[Vec<u32>], length: usize) -> Self {
        let places = found.iter().flat_map(|found| {
            let nobody = std::iter::repeat_n(NOBODY, length - found.len());
            nobody.chain(found.iter().rev().copied())
        });
        Sequences { length, places: places.collect() }
    }

    /// Those of some nodes.
    fn of(&self, nodes: &[u32]) -> Self {
        let sequence = |&node: &u32| &self.places[node as usize * self.length..][..self.length];
        Sequences { length: self.length, places: nodes.iter().flat_map(sequence).copied().collect() }
    }

    fn count(&self) -> usize {
        self.places.len() / self.length
    }

    /// An entry for each place, in the order of the places: `[sequences, n]`.
    fn pattern(&self, num_nodes: usize) -> Arc<Pattern> {
        let bounds = (0..=self.count()).map(|sequence| sequence * self.length).collect();
        let anybody = |&node: &u32| if node == NOBODY { 0 } else { node };
        Arc::new(Pattern::new(self.count(), num_nodes, bounds, self.places.iter().map(anybody).collect()))
    }
}

impl Architecture for Gpnn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("hops", self.hops)?;
        settings::at_least_one("length", self.length)?;
        settings::at_least_one("selected", self.selected)?;
        settings::odd("kernel", self.kernel)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let hidden = self.hidden;
        let mut builder = ParamBuilder::new(seed);
        builder.linear("own", sizes.features, hidden);
        builder.linear("graph0", sizes.features, hidden);
        builder.linear("graph1", hidden, hidden);
        Cell::build(&mut builder, "encoder", hidden, hidden);
        Cell::build(&mut builder, "decoder", hidden, hidden);
        builder.linear("pointer.read", hidden, hidden);
        builder.weight("pointer.asked", hidden, hidden);
        builder.weight("pointer.score", hidden, 1);
        builder.linear("convolution", self.kernel * hidden, hidden);
        builder.linear("ranks", self.selected * hidden, hidden);
        builder.linear("head", 3 * hidden, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let square = product([self.hidden, self.hidden]);
        let wide = Count::from(self.kernel) + self.selected + 24usize;
        let read = Count::from(self.length) + self.selected;
        Amounts {
            prepared: sizes.propagation()
                + sizes.input()
                + product([sizes.nodes, self.length.min(sizes.nodes), 2]),
            parameters: square * wide + product([sizes.features, self.hidden, 2]),
            activations: read * product([sizes.labelled, self.hidden, 10])
                + product([self.selected, self.kernel, sizes.labelled, self.hidden])
                + product([sizes.nodes, self.hidden, TAPE_COPIES]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let graph = graph.to_undirected();
        let found: Arc<Vec<Vec<u32>>> = session.shared(
            || MemoKey::new("gpnn").graph(&graph).features(features).setting((self.hops, self.length)),
            |_| Ok(surroundings(&graph, features, self.hops, self.length)),
        )?;
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            propagation: Sparse::constant(&normalise::symmetric_with_self_loops(&graph)),
            sequences: Sequences::from_far_to_near(&found, self.length),
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let everybody = (0..prepared.sequences.count() as u32).collect();
        self.scores_of(&everybody, prepared, parameters, dropout_seed)
    }

    fn for_some(&self) -> Option<&dyn ForSome<Prepared>> {
        Some(self)
    }
}

impl ForSome<Prepared> for Gpnn {
    fn scores_of(
        &self,
        nodes: &Rc<[u32]>,
        prepared: &Prepared,
        parameters: &[Var],
        dropout_seed: Option<u64>,
    ) -> Var {
        let mut reader = ParamReader::from(parameters);
        let (rate, seed) = dropout_before(0, self.dropout, dropout_seed);
        let input = prepared.input.dropout(rate, seed);
        let own = reader.linear_of(&input).relu(); // [n, hidden]
        let (rate, seed) = dropout_before(1, self.dropout, dropout_seed);
        let near = convolved(&prepared.propagation, &input, &mut reader, rate, seed).gather_rows(nodes);
        let ranked = self.ranked(&prepared.sequences.of(nodes), nodes, &own, &mut reader);
        let (weight, bias) = (reader.one(), reader.one());
        let convolve = |window: &Var| window.matmul(weight).add_row(bias).relu();
        let seen: Vec<Var> = conv1d::windows_of_steps(&ranked, self.kernel).iter().map(convolve).collect();
        let pointed = reader.linear(&side_by_side(&seen)).relu();
        let (rate, seed) = dropout_before(2, self.dropout, dropout_seed);
        reader.linear(&Var::concat_cols(&[&own.gather_rows(nodes), &near, &pointed]).dropout(rate, seed))
    }
}

/// Two graph convolutions, `[n, hidden]`.
fn convolved(propagation: &Sparse, input: &Input, reader: &mut ParamReader<'_>, rate: f32, seed: u64) -> Var {
    let first = propagation.matmul(&input.matmul(reader.one())).add_row(reader.one());
    let second = first.relu().dropout(rate, seed).matmul(reader.one());
    propagation.matmul(&second).add_row(reader.one()).relu()
}

impl Gpnn {
    /// The ranked lists of some nodes, whose sequences these are: `selected` times `[nodes, hidden]`.
    fn ranked(
        &self,
        sequences: &Sequences,
        nodes: &Rc<[u32]>,
        own: &Var,
        reader: &mut ParamReader<'_>,
    ) -> Vec<Var> {
        let (encoder, decoder) = (Cell::read(reader), Cell::read(reader));
        let (read_weight, read_bias, asked, score) = (reader.one(), reader.one(), reader.one(), reader.one());
        let start = State::empty(nodes.len(), self.hidden);
        let (said, mut state) = encoder.along(&encoder.heard(own), &start, &sequences.places);
        let keys = said.reshaped(sequences.places.len(), self.hidden);
        let keys = keys.matmul(read_weight).add_row(read_bias); // [nodes * length, hidden]
        let pattern = sequences.pattern(own.rows());
        let mut choice = Choice::among(sequences);
        let mut asks = own.gather_rows(nodes);
        (0..self.selected)
            .map(|_| {
                state = decoder.step(&decoder.heard(&asks), &state);
                let scores = keys.answers(&state.hidden.matmul(asked), score); // [nodes, length]
                let shares = choice.point(&scores).reshaped(sequences.places.len(), 1);
                asks = Sparse::new(Arc::clone(&pattern), shares).matmul(own); // [nodes, hidden]
                asks.clone()
            })
            .collect()
    }
}

/// What may still be pointed at.
struct Choice {
    /// 0 for what may be, [`OUT`] for what may not, `[nodes, length]`.
    barred: Mat,
}

impl Choice {
    fn among(sequences: &Sequences) -> Self {
        let bar = |place: usize| if sequences.places[place] == NOBODY { OUT } else { 0.0 };
        let length = sequences.length;
        Choice { barred: Mat::from_fn(sequences.count(), length, |row, col| bar(row * length + col)) }
    }

    /// The shares of attention, `[nodes, length]`, zero where nothing is left to point at; bars the largest of each node.
    fn point(&mut self, scores: &Var) -> Var {
        let left = |node: usize| self.barred.row(node).contains(&0.0);
        let left = Mat::from_fn(scores.rows(), 1, |node, _| f32::from(u8::from(left(node))));
        let shares = scores.add(&Var::constant(self.barred.clone())).softmax().mul_col(&Var::constant(left));
        for node in 0..scores.rows() {
            let largest = argmax(shares.value().row(node));
            self.barred.row_mut(node)[largest] = OUT;
        }
        shares
    }
}

/// Up to `length` others within `hops` hops of each node, nearest first; of those equally near, in an order that does not
/// depend on their numbers.
fn surroundings(graph: &Graph, features: &Features, hops: usize, length: usize) -> Vec<Vec<u32>> {
    let (looks, shape) = (fingerprint::of_features(features), fingerprint::of_shape(graph));
    let mut met = vec![u32::MAX; graph.num_nodes()];
    let mut around = |start: u32| {
        met[start as usize] = start;
        let (mut found, mut ring) = (Vec::new(), vec![start]);
        for _ in 0..hops {
            let mut next = Vec::new();
            for &node in &ring {
                for &other in graph.neighbours(node as usize) {
                    if std::mem::replace(&mut met[other as usize], start) != start {
                        next.push(other);
                    }
                }
            }
            next.sort_by_key(|&node| (looks[node as usize], shape[node as usize]));
            found.extend_from_slice(&next);
            if found.len() >= length {
                break;
            }
            ring = next;
        }
        found.truncate(length);
        found
    };
    (0..graph.num_nodes() as u32).map(&mut around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3)]).unwrap().0
    }

    #[test]
    fn surroundings_are_near_first_and_bounded() {
        let features = Features::none(5);
        let found = surroundings(&path(), &features, 2, 9);
        assert_eq!([&found[0], &found[3], &found[4]], [&vec![1, 2], &vec![2, 1], &vec![]]);
        assert_eq!(surroundings(&path(), &features, 3, 1)[0], [1]);
    }

    #[test]
    fn sequences_end_with_the_nearest() {
        let sequences = Sequences::from_far_to_near(&[vec![1, 2], vec![0], vec![]], 2);
        assert_eq!(*sequences.places, [2, 1, NOBODY, 0, NOBODY, NOBODY]);
        assert_eq!(*sequences.of(&[1, 0]).places, [NOBODY, 0, 2, 1]);
    }

    #[test]
    fn the_pointer_points_at_nobody_twice_and_ends_with_zeros() {
        let mut choice = Choice::among(&Sequences::from_far_to_near(&[vec![1, 2]], 3));
        let scores = Var::constant(Mat::from_slice(1, 3, &[9.0, 1.0, 8.0]));
        let mut shares = |_| choice.point(&scores).value().as_slice().to_vec();
        let rounds: Vec<Vec<f32>> = (0..3).map(&mut shares).collect();
        assert!(rounds[0][0] == 0.0 && rounds[0][2] > 0.99, "{rounds:?}");
        assert_eq!(rounds[1], [0.0, 1.0, 0.0]);
        assert_eq!(rounds[2], [0.0, 0.0, 0.0]);
    }
}
