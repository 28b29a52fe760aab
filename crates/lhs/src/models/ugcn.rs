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

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, Sizes};
use super::parts::{Make, Take, attention, knn, side_by_side};
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::random::derive;
use crate::linalg::{Pattern, SparseMat};
use crate::training::{Auto, Input, MemoKey, Parameters, Session, TrainingConfig, dropout_before};

/// The given graph, the two-hop graph, the graph of similar features.
const BRANCHES: usize = 3;

/// Settings of the universal network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ugcn {
    /// Width of each head of the first layer, 1 or more.
    pub hidden: usize,
    /// Heads of the first layer, 1 or more.
    pub heads: usize,
    /// Width of the embeddings that are fused, 1 or more.
    pub embedding: usize,
    /// Nearest nodes by features that a node is joined with, 1 or more.
    pub neighbours: usize,
    /// Most nodes at two hops that a node looks at, 1 or more; of those that tie for the last place, none.
    pub two_hop_limit: usize,
    /// Share of the inputs, hidden units and attention weights dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for Ugcn {
    fn default() -> Self {
        Ugcn {
            hidden: 16,
            heads: 8,
            embedding: 16,
            neighbours: 3,
            two_hop_limit: 128,
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
}

/// A graph as the network reads it.
pub struct Reading {
    input: Input,
    graphs: Arc<[Arc<Pattern>; BRANCHES]>,
}

impl Architecture for Ugcn {
    type Reading = Reading;

    fn check(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("heads", self.heads)?;
        settings::at_least_one("embedding", self.embedding)?;
        settings::at_least_one("neighbours", self.neighbours)?;
        settings::at_least_one("two_hop_limit", self.two_hop_limit)?;
        settings::share_below_one("dropout", self.dropout)
    }

    fn training(&self) -> &TrainingConfig {
        &self.training
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        for branch in 0..BRANCHES {
            for head in 0..self.heads {
                make_attention(&mut make, &format!("branch{branch}.head{head}"), sizes.features, self.hidden);
            }
            let name = format!("branch{branch}.out");
            make_attention(&mut make, &name, self.heads * self.hidden, self.embedding);
        }
        make.linear("fusion", self.embedding, self.embedding);
        make.weight("fusion.query", self.embedding, 1);
        make.linear("head", self.embedding, sizes.classes);
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Reading> {
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
        Ok(Reading { input: Input::scaled(features, self.normalise_features), graphs })
    }

    fn scores(&self, reading: &Reading, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut take = Take::from(parameters);
        let mut embeddings = Vec::with_capacity(BRANCHES); // each [n, embedding]
        for (branch, graph) in reading.graphs.iter().enumerate() {
            let seed = dropout_seed.map(|seed| derive(seed, &[branch as u64]));
            embeddings.push(self.branch(graph, &reading.input, &mut take, seed));
        }
        let fused = fuse(&embeddings, &mut take);
        take.linear(&fused)
    }
}

impl Ugcn {
    /// Two layers of attention over one graph, `[n, embedding]`.
    fn branch(&self, graph: &Arc<Pattern>, input: &Input, take: &mut Take<'_>, seed: Option<u64>) -> Var {
        let (rate, dropped) = dropout_before(0, self.dropout, seed);
        let input = input.dropout(rate, dropped);
        let first = Heads::take(self.heads, take);
        let hidden = first.attend(graph, &input.matmul(&first.weight), dropout_before(2, self.dropout, seed));
        let (rate, dropped) = dropout_before(1, self.dropout, seed);
        let last = Heads::take(1, take);
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
    /// Takes the parameters head by head, as they were made.
    fn take(heads: usize, take: &mut Take<'_>) -> Self {
        let mut parts = [const { Vec::new() }; 3];
        for _ in 0..heads {
            parts.iter_mut().for_each(|part| part.push(take.one()));
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
fn make_attention(make: &mut Make, name: &str, from: usize, to: usize) {
    make.weight(&format!("{name}.weight"), from, to);
    make.weight(&format!("{name}.to"), to, 1);
    make.weight(&format!("{name}.from"), to, 1);
}

/// Embeddings of the same nodes, weighted node by node.
fn fuse(embeddings: &[Var], take: &mut Take<'_>) -> Var {
    let (weight, bias, query) = (take.one(), take.one(), take.one());
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

impl ModelInfo for Ugcn {
    const NAME: &'static str = "ugcn";
    const SUMMARY: &'static str =
        "universal network: attention over edges, two hops and similar features (Jin et al. 2021, U-GCN)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([8, 16, 64], [("neighbours", SearchSpace::choice([3, 5, 7]))])
    }
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
        let mut make = Make::new(1);
        make.linear("fusion", 2, 2);
        make.weight("query", 2, 1);
        let parameters = make.done().constants();
        let fused = fuse(&[z.clone(), z.clone(), z.clone()], &mut Take::from(&parameters));
        for (a, b) in fused.value().as_slice().iter().zip(z.value().as_slice()) {
            assert!((a - b).abs() < 1e-5);
        }
    }
}
