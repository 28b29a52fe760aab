//! Universal graph convolution network: attention over three graphs of the same nodes, fused by attention (Jin et al.
//! 2021, "U-GCN").
//!
//! A graph attention network of two layers runs over the given edges, another over the pairs exactly two hops apart, a
//! third over the nearest by cosine of the features; `Z = Σ_b β_b ⊙ Z_b` with `β = softmax_b(q tanh(Z_b W + w))`, then a
//! linear head. Cost per epoch: `O(nnz(X) * heads * hidden + entries * heads * hidden)`, `entries` those of the three
//! graphs.
//!
//! Departs from the paper: where a node has very many others at two hops, only those with most ways to them are read
//! (`two_hop_limit`); heads are 16 wide where the published ones are 64, which costs four times as much and was no better
//! at validation nodes; `Z` is classified by a linear head, as in the paper, where its published code takes the entries
//! of `Z` for classes.

use crate::training::memory_plan::{Amounts, Count, DataSizes, product};
use std::sync::Arc;

use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{ParamBuilder, ParamReader, attention, knn, side_by_side};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::random::derive;
use crate::linalg::{Pattern, SparseMat};
use crate::training::{Auto, Input, MemoKey, Parameters, Session, TrainingConfig, dropout_before};

/// The given graph, the two-hop graph, the graph of similar features.
const BRANCHES: usize = 3;

network_settings! {
    /// Settings of the universal network.
    pub struct Ugcn {
        /// Heads of the first layer, 1 or more.
        pub heads: usize = 8,
        /// Width of the embeddings that are fused, 1 or more.
        pub embedding: usize = 16,
        /// Nearest nodes by features that a node is joined with, 1 or more.
        pub neighbours: usize = 3,
        /// Most nodes at two hops that a node looks at, 1 or more; of those that tie for the last place, none.
        pub two_hop_limit: usize = 128,
    }
    shared {
        /// Width of each head of the first layer, 1 or more.
        hidden: 16,
        /// Share of the inputs, hidden units and attention weights dropped while training, 0..1.
        dropout: 0.6,
        normalise_features: false,
        training: TrainingConfig {
            epochs: 300,
            learning_rate: 0.005,
            weight_decay: Auto::Given(5e-4),
            ..TrainingConfig::default()
        },
    }
}

impl ModelInfo for Ugcn {
    const NAME: &'static str = "ugcn";
    const SUMMARY: &'static str =
        "universal network: attention over edges, two hops and similar features (Jin et al. 2021, U-GCN)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([8, 16, 64], [("neighbours", SearchSpace::choice([3, 5, 7]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    graphs: Arc<[Arc<Pattern>; BRANCHES]>,
}

impl Architecture for Ugcn {
    type Prepared = Prepared;

    fn check(&self) -> Result<()> {
        settings::at_least_one("heads", self.heads)?;
        settings::at_least_one("embedding", self.embedding)?;
        settings::at_least_one("neighbours", self.neighbours)?;
        settings::at_least_one("two_hop_limit", self.two_hop_limit)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for branch in 0..BRANCHES {
            for head in 0..self.heads {
                build_attention(
                    &mut builder,
                    &format!("branch{branch}.head{head}"),
                    sizes.features,
                    self.hidden,
                );
            }
            let name = format!("branch{branch}.out");
            build_attention(&mut builder, &name, self.heads * self.hidden, self.embedding);
        }
        builder.linear("fusion", self.embedding, self.embedding);
        builder.weight("fusion.query", self.embedding, 1);
        builder.linear("head", self.embedding, sizes.classes);
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let width = product([self.heads, self.hidden]);
        let near = self.neighbours.min(sizes.nodes).saturating_add(self.two_hop_limit.min(sizes.nodes));
        let edges = Count::from(sizes.entries) + product([sizes.nodes, near]);
        let embedding = product([self.embedding, sizes.nodes, 3, TAPE_COPIES]);
        Amounts {
            prepared: sizes.input() + edges * 2usize,
            parameters: (width * sizes.features + width * self.embedding) * 3usize
                + product([self.embedding, self.embedding]),
            activations: width * product([sizes.nodes, 3, TAPE_COPIES])
                + edges * self.heads * 4usize
                + embedding,
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let key = || {
            let key = MemoKey::new("ugcn").graph(graph).features(features);
            key.setting((self.neighbours, self.two_hop_limit))
        };
        let graphs = session.shared(key, |_| {
            let graph = graph.to_undirected();
            let similar = knn::symmetric(&knn::nearest(features, self.neighbours));
            Ok([
                normalise::with_self_loops(&graph).pattern,
                two_hops(&graph, self.two_hop_limit),
                with_self(graph.num_nodes(), |node| similar.pattern.row(node).to_vec()),
            ])
        })?;
        Ok(Prepared { input: Input::scaled(features, self.normalise_features), graphs })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let mut embeddings = Vec::with_capacity(BRANCHES); // each [n, embedding]
        for (branch, graph) in prepared.graphs.iter().enumerate() {
            let seed = dropout_seed.map(|seed| derive(seed, &[branch as u64]));
            embeddings.push(self.branch(graph, &prepared.input, &mut reader, seed));
        }
        let fused = fuse(&embeddings, &mut reader);
        reader.linear(&fused)
    }
}

impl Ugcn {
    /// Two layers of attention over one graph, `[n, embedding]`.
    fn branch(
        &self,
        graph: &Arc<Pattern>,
        input: &Input,
        reader: &mut ParamReader<'_>,
        seed: Option<u64>,
    ) -> Var {
        let (rate, dropped) = dropout_before(0, self.dropout, seed);
        let input = input.dropout(rate, dropped);
        let first = Heads::read(self.heads, reader);
        let hidden = first.attend(graph, &input.matmul(&first.weight), dropout_before(2, self.dropout, seed));
        let (rate, dropped) = dropout_before(1, self.dropout, seed);
        let last = Heads::read(1, reader);
        let projected = hidden.dropout(rate, dropped).matmul(&last.weight);
        last.attend(graph, &projected, dropout_before(3, self.dropout, seed))
    }
}

/// What the heads of a layer learn, side by side.
struct Heads {
    /// `[from, heads * to]`.
    weight: Var,
    /// The two halves of the attention vectors, `[to, heads]`.
    to: Var,
    from: Var,
}

impl Heads {
    /// Reads the parameters head by head, as they were built.
    fn read(heads: usize, reader: &mut ParamReader<'_>) -> Self {
        let mut parts = [const { Vec::new() }; 3];
        for _ in 0..heads {
            parts.iter_mut().for_each(|part| part.push(reader.one()));
        }
        let [weight, to, from] = parts.map(|part| Var::concat_cols(&part));
        Heads { weight, to, from }
    }

    /// The mean of the neighbours, weighted by attention.
    fn attend(&self, graph: &Arc<Pattern>, projected: &Var, dropout: (f32, u64)) -> Var {
        attention::additive(graph, projected, &self.to, &self.from, dropout).elu()
    }
}

/// A projection and the two halves of the attention vector.
fn build_attention(builder: &mut ParamBuilder, name: &str, from: usize, to: usize) {
    builder.weight(&format!("{name}.weight"), from, to);
    builder.weight(&format!("{name}.to"), to, 1);
    builder.weight(&format!("{name}.from"), to, 1);
}

/// Embeddings of the same nodes, weighted node by node.
fn fuse(embeddings: &[Var], reader: &mut ParamReader<'_>) -> Var {
    let (weight, bias, query) = (reader.one(), reader.one(), reader.one());
    let rate = |z: &Var| z.matmul(weight).add_row(bias).tanh().matmul(query);
    let shares = side_by_side(&embeddings.iter().map(rate).collect::<Vec<_>>()).softmax(); // [n, branches]
    let weighted = embeddings.iter().enumerate().map(|(branch, z)| z.mul_col(&shares.slice_cols(branch, 1)));
    weighted.reduce(|a, b| a.add(&b)).expect("there are three branches")
}

/// A pattern of neighbours and the node itself.
fn with_self(num_nodes: usize, neighbours: impl Fn(usize) -> Vec<u32>) -> Arc<Pattern> {
    let entries = (0..num_nodes).flat_map(|node| {
        let own = std::iter::once(node as u32);
        neighbours(node).into_iter().chain(own).map(move |other| (node as u32, other, 1.0))
    });
    SparseMat::from_triplets(num_nodes, num_nodes, entries.collect()).pattern
}

/// For every node, itself and those exactly two hops away. Of more than `limit`, those with most ways to them, a way
/// over a node of many edges counting less; only who is strictly ahead of the first one left out is in.
fn two_hops(graph: &Graph, limit: usize) -> Arc<Pattern> {
    // Whole numbers, because their sum depends on no order, and ties are exact.
    let weight = |node: u32| (1u64 << 32) / graph.degree(node as usize).max(1) as u64;
    let mut ways = vec![0u64; graph.num_nodes()];
    let mut rows = Vec::with_capacity(graph.num_nodes());
    for node in 0..graph.num_nodes() {
        let mut found = Vec::new();
        for &middle in graph.neighbours(node) {
            for &other in graph.neighbours(middle as usize) {
                if ways[other as usize] == 0 {
                    found.push(other);
                }
                ways[other as usize] += weight(middle);
            }
        }
        let rated: Vec<(u64, u32)> = found
            .into_iter()
            .map(|other| (std::mem::take(&mut ways[other as usize]), other))
            .filter(|&(_, other)| other as usize != node && !graph.has_edge(node as u32, other))
            .collect();
        rows.push(ahead(rated, limit));
    }
    with_self(graph.num_nodes(), |node| rows[node].clone())
}

/// Up to `limit` of the best rated, all of them ahead of everybody who is left out.
fn ahead(mut rated: Vec<(u64, u32)>, limit: usize) -> Vec<u32> {
    rated.sort_unstable_by_key(|&(rating, _)| std::cmp::Reverse(rating));
    let bar = rated.get(limit).map_or(0, |&(rating, _)| rating);
    rated.into_iter().take_while(|&(rating, _)| rating > bar).map(|(_, node)| node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn two_hops_are_neither_one_nor_three() {
        let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)]).unwrap().0;
        let found = two_hops(&graph, 9);
        let rows: Vec<&[u32]> = (0..6).map(|node| found.row(node)).collect();
        assert_eq!(rows, [&[0, 3][..], &[1, 3], &[2, 4], &[0, 1, 3], &[2, 4], &[5]]);
    }

    #[test]
    fn the_limit_keeps_those_with_most_ways_and_cuts_no_tie() {
        // From 0: two ways to 4, one each to 5 and 6.
        let graph =
            Graph::from_edges(7, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (2, 5), (3, 6)]).unwrap().0;
        assert_eq!(two_hops(&graph, 3).row(0), [0, 4, 5, 6]);
        assert_eq!(two_hops(&graph, 1).row(0), [0, 4]);
        assert_eq!(ahead(vec![(3, 0), (2, 1), (2, 2)], 2), [0]);
    }

    #[test]
    fn equal_branches_are_fused_to_themselves() {
        let z = Var::constant(Mat::from_fn(4, 2, |r, c| (r + c) as f32));
        let mut builder = ParamBuilder::new(1);
        builder.linear("fusion", 2, 2);
        builder.weight("query", 2, 1);
        let parameters = builder.done().constants();
        let fused = fuse(&[z.clone(), z.clone(), z.clone()], &mut ParamReader::from(&parameters));
        for (a, b) in fused.value().as_slice().iter().zip(z.value().as_slice()) {
            assert!((a - b).abs() < 1e-5);
        }
    }
}
