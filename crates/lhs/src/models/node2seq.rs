//! Node2Seq: a node's neighbours, sorted by attention, are a sequence with a trained weight for every position (Yuan and
//! Ji 2021).
//!
//! Attention rates the node `i` itself and its neighbours, `e_ij = <q_i, k_j> / √d`. The best rated, `σ(e_ij) h_j` in
//! descending order, make a sequence of fixed length, zeros beyond its end; a convolution runs along it, then a linear
//! layer with a weight for every position. Nodes far away with features like its own come in as
//! `mean_j σ(e_ij) h_j`, so that attention decides how much of them is heard. Both stand side by side; two such layers.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden + n * (length + kernel) * hidden²)`, and a sort of every
//! neighbourhood.
//!
//! There is neither public code nor a list of settings. Left open by the paper's description, and chosen here: attention
//! by inner products; the length, the kernel and the widths; the distant nodes (of the most alike by cosine of the
//! features, those that are no neighbours); sigmoid gates, through which gradients reach the attention, because sorting
//! itself has none.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::rc::Rc;
use std::sync::Arc;

use super::architecture::{Architecture, ForSome, Sizes};
use super::parts::order::by_entries;
use super::parts::{ParamBuilder, ParamReader, knn, row_subset};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var, sampled_product};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{Mat, Pattern, SparseMat};
use crate::training::{Auto, Input, MemoKey, Parameters, Session, TrainingConfig, dropout_before};

network_settings! {
    /// Settings of Node2Seq.
    pub struct Node2Seq {
        /// How many neighbours a sequence holds at most, 1 or more.
        pub length: usize = 16,
        /// How many positions of a sequence the convolution sees, an odd number.
        pub kernel: usize = 3,
        /// Among how many of the most alike nodes distant ones are looked for, 0 (none) or more.
        pub distant: usize = 5,
    }
    shared {
        hidden: 32,
        dropout: 0.2,
        normalise_features: true,
        training: TrainingConfig { weight_decay: Auto::Given(1e-5), ..TrainingConfig::default() },
        /// Number of layers that read sequences, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for Node2Seq {
    const NAME: &'static str = "node2seq";
    const SUMMARY: &'static str =
        "neighbours sorted by attention and convolved as a sequence (Yuan and Ji 2021)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [16, 32, 64],
            [
                ("layers", SearchSpace::choice([1, 2])),
                ("length", SearchSpace::choice([8, 16, 32])),
                ("distant", SearchSpace::choice([0, 5, 10])),
            ],
        )
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    /// Every node and its neighbours.
    local: Arc<Pattern>,
    /// The mean over the distant nodes.
    distant: Arc<SparseMat>,
}

impl Architecture for Node2Seq {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("length", self.length)?;
        settings::odd("kernel", self.kernel)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let hidden = self.hidden;
        let mut builder = ParamBuilder::new(seed);
        builder.linear("input", sizes.features, hidden);
        for layer in 0..self.layers {
            builder.linear(&format!("layer{layer}.query"), hidden, hidden);
            builder.linear(&format!("layer{layer}.key"), hidden, hidden);
            builder.linear(&format!("layer{layer}.convolution"), self.kernel * hidden, hidden);
            builder.linear(&format!("layer{layer}.positions"), (self.length + 1) * hidden, hidden);
        }
        builder.linear("head", hidden, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let square = product([self.hidden, self.hidden]);
        let sequence = Count::from(self.length) + 1usize;
        let layer = (sequence + self.kernel + 2usize) * square;
        let read = sequence * product([sizes.labelled, self.hidden]) * (self.kernel.saturating_add(4));
        Amounts {
            prepared: sizes.propagation()
                + sizes.input()
                + product([sizes.nodes, self.distant.min(sizes.nodes)]),
            parameters: layer * self.layers + product([sizes.features, self.hidden]),
            activations: read * self.layers + product([sizes.nodes, self.hidden, 4]),
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let graph = graph.to_undirected();
        let distant = session.shared(
            || MemoKey::new("node2seq").graph(&graph).features(features).setting(self.distant),
            |_| Ok(distant(&graph, features, self.distant)),
        )?;
        Ok(Prepared {
            input: Input::scaled(features, self.normalise_features),
            local: normalise::with_self_loops(&graph).pattern,
            distant,
        })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let everybody = (0..prepared.local.rows() as u32).collect();
        self.scores_of(&everybody, prepared, parameters, dropout_seed)
    }

    fn for_some(&self) -> Option<&dyn ForSome<Prepared>> {
        Some(self)
    }
}

impl ForSome<Prepared> for Node2Seq {
    fn scores_of(
        &self,
        nodes: &Rc<[u32]>,
        prepared: &Prepared,
        parameters: &[Var],
        dropout_seed: Option<u64>,
    ) -> Var {
        let mut reader = ParamReader::from(parameters);
        let (rate, seed) = dropout_before(0, self.dropout, dropout_seed);
        let mut hidden = reader.linear_of(&prepared.input.dropout(rate, seed)).relu(); // [n, hidden]
        let everybody: Rc<[u32]> = (0..hidden.rows() as u32).collect();
        for layer in 1..=self.layers {
            let (rate, seed) = dropout_before(layer, self.dropout, dropout_seed);
            // What others say in the last layer is not heard by anybody.
            let nodes = if layer == self.layers { nodes } else { &everybody };
            hidden = self.layer(prepared, nodes, &hidden.dropout(rate, seed), &mut reader).relu();
        }
        let (rate, seed) = dropout_before(self.layers + 1, self.dropout, dropout_seed);
        reader.linear(&hidden.dropout(rate, seed))
    }
}

impl Node2Seq {
    /// Neighbours in sequence and distant nodes of some nodes, `[n, hidden] -> [nodes, hidden]`.
    fn layer(&self, prepared: &Prepared, nodes: &Rc<[u32]>, x: &Var, reader: &mut ParamReader<'_>) -> Var {
        let (query, key) = (reader.linear(x), reader.linear(x));
        let query = query.gather_rows(nodes).scale(1.0 / (self.hidden as f32).sqrt());
        let (local, _) = row_subset(&prepared.local, nodes);
        let rating = sampled_product(&local, &query, &key); // [nnz, 1]
        let seen =
            Ranked::by(&rating, &local, x, self.length).convolved(&rating, x, self.kernel, reader).relu();
        let seen = seen.reshaped(nodes.len(), self.length * self.hidden);
        let (distant, entries) = row_subset(&prepared.distant.pattern, nodes);
        let gates = sampled_product(&distant, &query, &key).sigmoid();
        let shares: Vec<f32> = entries.iter().map(|&entry| prepared.distant.values[entry as usize]).collect();
        let far = Sparse::new(distant, gates.mul(&Var::constant(Mat::column(&shares)))).matmul(x);
        let (weight, bias) = (reader.one(), reader.one());
        let near = seen.matmul(&weight.slice_rows(0, seen.cols()));
        near.add(&far.matmul(&weight.slice_rows(seen.cols(), far.cols()))).add_row(bias)
    }
}

/// The best rated entries of every row of a pattern, in descending order.
struct Ranked<'a> {
    pattern: &'a Pattern,
    /// Places in every sequence, filled or not.
    length: usize,
    /// Bounds of the sequences in `entries`.
    bounds: Vec<usize>,
    /// Entries of the pattern, one sequence after the other.
    entries: Vec<u32>,
}

impl<'a> Ranked<'a> {
    fn by(rating: &Var, pattern: &'a Pattern, x: &Var, length: usize) -> Self {
        let (mut bounds, mut entries, mut found) = (vec![0], Vec::new(), Vec::new());
        for row in 0..pattern.rows() {
            best_rated(pattern, row, rating.value(), x.value(), length, &mut found);
            entries.extend_from_slice(&found);
            bounds.push(entries.len());
        }
        Ranked { pattern, length, bounds, entries }
    }

    /// A convolution along every sequence, each node in it weighted by the sigmoid of its rating, zeros beyond both ends:
    /// `[n, from] -> [rows * length, to]`.
    ///
    /// A node adds the same to every sequence that it is at the same offset in, but for the weight. So each is mapped once
    /// for each offset, and the sequences are only sums of what was mapped.
    fn convolved(&self, rating: &Var, x: &Var, kernel: usize, reader: &mut ParamReader<'_>) -> Var {
        let (weight, bias) = (reader.one(), reader.one());
        let mapped = (0..kernel).map(|offset| x.matmul(&weight.slice_rows(offset * x.cols(), x.cols())));
        let mapped = mapped.reduce(|above, below| above.stack_rows(&below)).expect("a kernel is 1 or wider");
        let (windows, entries) = self.windows(kernel);
        let gates = rating.sigmoid().gather_rows(&entries.into());
        Sparse::new(Arc::new(windows), gates).matmul(&mapped).add_row(bias)
    }

    /// Who is seen from each place of the sequences, a node `j` at offset `o` as column `o n + j`, and the entry of the
    /// pattern behind each.
    fn windows(&self, kernel: usize) -> (Pattern, Vec<u32>) {
        let (num_nodes, before) = (self.pattern.cols(), kernel / 2);
        let (mut bounds, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
        for sequence in self.bounds.windows(2).map(|bounds| &self.entries[bounds[0]..bounds[1]]) {
            for place in 0..self.length {
                for offset in 0..kernel {
                    let seen = (place + offset).checked_sub(before).and_then(|seen| sequence.get(seen));
                    if let Some(&entry) = seen {
                        let node = self.pattern.indices()[entry as usize];
                        columns.push((offset * num_nodes) as u32 + node);
                        entries.push(entry);
                    }
                }
                bounds.push(columns.len());
            }
        }
        let rows = self.pattern.rows() * self.length;
        (Pattern::new(rows, kernel * num_nodes, bounds, columns), entries)
    }
}

/// The best entries of a row by descending rating, equal ones by what is known of the nodes.
fn best_rated(pattern: &Pattern, row: usize, rating: &Mat, x: &Mat, length: usize, found: &mut Vec<u32>) {
    let (rating, indices) = (rating.as_slice(), pattern.indices());
    let known = |entry: u32| x.row(indices[entry as usize] as usize);
    let order = |&a: &u32, &b: &u32| {
        rating[b as usize].total_cmp(&rating[a as usize]).then_with(|| by_entries(known(a), known(b)))
    };
    found.clear();
    found.extend(pattern.row_range(row).map(|entry| entry as u32));
    if found.len() > length {
        found.select_nth_unstable_by(length - 1, order);
        found.truncate(length);
    }
    found.sort_by(order);
}

/// For every node, those of the `count` most alike by features that are no neighbours, their shares adding up to 1.
fn distant(graph: &Graph, features: &Features, count: usize) -> SparseMat {
    let alike = knn::nearest(features, count);
    let entries = (0..graph.num_nodes()).flat_map(|node| {
        let far: Vec<u32> = alike
            .row(node)
            .map(|(other, _)| other)
            .filter(|&other| !graph.has_edge(node as u32, other))
            .collect();
        let share = 1.0 / far.len().max(1) as f32;
        far.into_iter().map(move |other| (node as u32, other, share))
    });
    SparseMat::from_triplets(graph.num_nodes(), graph.num_nodes(), entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_convolved_in_descending_order_and_zeros_after_them() {
        let pattern = Pattern::new(3, 3, vec![0, 3, 4, 5], vec![0, 1, 2, 1, 2]);
        let rating = Var::constant(Mat::column(&[0.0, 9.0, -9.0, 9.0, 9.0]));
        let x = Var::constant(Mat::column(&[10.0, 20.0, 30.0]));
        // One before counts 100 times, the place itself once, one after not at all; 1 more everywhere.
        let parameters = [Mat::column(&[100.0, 1.0, 0.0]), Mat::full(1, 1, 1.0)].map(Var::constant);
        let sequences = Ranked::by(&rating, &pattern, &x, 2);
        let found = sequences.convolved(&rating, &x, 3, &mut ParamReader::from(&parameters));
        // 20, 5; 20, nothing; 30, nothing.
        let expected = [21.0, 2006.0, 21.0, 2001.0, 31.0, 3001.0];
        for (found, expected) in found.value().as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 0.5, "{found} instead of {expected}");
        }
    }

    #[test]
    fn some_nodes_have_the_scores_that_they_have_among_all() {
        let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (0, 3)]).unwrap().0;
        let features = Features::Dense(Mat::from_fn(5, 3, |row, col| ((row * 3 + col) as f32).sin()));
        let config = Node2Seq { hidden: 4, length: 2, distant: 1, ..Node2Seq::default() };
        let prepared = config.prepare(&graph, &features, &mut Session::default()).unwrap();
        let parameters = config.parameters(Sizes { features: 3, classes: 2, nodes: 5 }, 1).constants();
        let all = config.scores(&prepared, &parameters, None);
        let some = config.scores_of(&[3, 1].into(), &prepared, &parameters, None);
        for (place, node) in [3, 1].into_iter().enumerate() {
            for (a, b) in some.value().row(place).iter().zip(all.value().row(node)) {
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
    }

    #[test]
    fn distant_nodes_are_alike_and_no_neighbours() {
        let features = Features::Dense(Mat::from_slice(4, 2, &[1.0, 0.0, 1.0, 0.1, 1.0, 0.2, 0.0, 1.0]));
        let graph = Graph::from_edges(4, &[(0, 1)]).unwrap().0;
        let found = distant(&graph, &features, 2);
        assert_eq!(found.row(0).collect::<Vec<_>>(), [(2, 1.0)]);
        assert_eq!(found.row(2).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
    }
}
