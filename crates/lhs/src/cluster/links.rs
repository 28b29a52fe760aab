//! Predicting edges: some are held out, a structure is learned without them, and asked how likely each was.
//!
//! Nodes that look alike have the same neighbours, whether or not they share a class. So a pair `(i,j)` is as likely as
//! nodes like `i` are joined to `j`, and nodes like `j` to `i`: `(S A + A S)_ij` over the latent graph `S` (rows of sum 1)
//! and what is left of the given one. Beside it, two that need no learning: common neighbours, and the cosine of features.
//! Cost: that of the structure, and `O(degree)` per pair.

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::graph::{Dataset, Features, Graph, Split, normalise};
use crate::linalg::SparseMat;
use crate::linalg::random::{derive, generator};
use crate::structure::StructureConfig;
use crate::training::{Session, Task};

/// How well held-out edges are told from pairs that are none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkScores {
    /// Area under the ROC curve, 0..=1: how often an edge is thought likelier than a pair that is none.
    pub auc: f64,
    /// Average precision, 0..=1.
    pub ap: f64,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Links {
    /// Edges held out; as many pairs that are none stand beside them.
    pub held_out: usize,
    /// By the latent structure.
    pub latent: LinkScores,
    /// By the number of common neighbours.
    pub common_neighbours: LinkScores,
    /// By the cosine of the features.
    pub feature_cosine: LinkScores,
}

/// Holds out a share of the edges and predicts them.
pub fn links(
    dataset: &Dataset,
    split: &Split,
    share: f64,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Links> {
    let given = dataset.graph().to_undirected();
    let (left, edges) = hold_out(&given, share, derive(seed, &[0]))?;
    let others = non_edges(&given, edges.len(), derive(seed, &[1]));
    let without = dataset.clone().with_graph(left)?;
    let task = Task::new(&without, split)?;
    let (_, structure) = StructureConfig::default().fit(&task, derive(seed, &[2]), session)?;
    let alike = normalise::row_stochastic(structure.latent());
    let score = |of: &dyn Fn((u32, u32)) -> f64| {
        let all =
            edges.iter().map(|&pair| (of(pair), true)).chain(others.iter().map(|&pair| (of(pair), false)));
        scores(all.collect())
    };
    let graph = task.graph;
    Ok(Links {
        held_out: edges.len(),
        latent: score(&|pair| by_latent(graph, &alike, pair)),
        common_neighbours: score(&|pair| common(graph, pair)),
        feature_cosine: score(&|pair| cosine(dataset.features(), pair)),
    })
}

/// A graph without some of its edges, none of them a node's last, and these.
fn hold_out(graph: &Graph, share: f64, seed: u64) -> Result<(Graph, Vec<(u32, u32)>)> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::setting(
            "share",
            format!("{share} is out of range"),
            "choose a number between 0 and 1",
        ));
    }
    let mut edges: Vec<(u32, u32)> = graph.edges().collect();
    edges.shuffle(&mut generator(seed, 0));
    let wanted = (share * edges.len() as f64).round() as usize;
    let mut degrees: Vec<usize> = (0..graph.num_nodes()).map(|node| graph.degree(node)).collect();
    let (mut held, mut left) = (Vec::new(), Vec::new());
    for (a, b) in edges {
        if held.len() < wanted && degrees[a as usize] > 1 && degrees[b as usize] > 1 {
            degrees[a as usize] -= 1;
            degrees[b as usize] -= 1;
            held.push((a, b));
        } else {
            left.push((a, b));
        }
    }
    if held.is_empty() {
        return Err(Error::data(
            "there are too few edges to hold some out",
            "choose a graph with more edges",
        ));
    }
    Ok((Graph::from_edges(graph.num_nodes(), &left)?.0, held))
}

fn non_edges(graph: &Graph, count: usize, seed: u64) -> Vec<(u32, u32)> {
    let (n, mut rng) = (graph.num_nodes() as u32, generator(seed, 0));
    let mut found: HashSet<(u32, u32)> = HashSet::new();
    let mut pairs = Vec::new();
    // A nearly complete graph has few such pairs: then fewer are drawn.
    for _ in 0..100 * count {
        let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
        let pair = (a.min(b), a.max(b));
        if a != b && !graph.has_edge(a, b) && found.insert(pair) {
            pairs.push(pair);
        }
        if pairs.len() == count {
            break;
        }
    }
    pairs
}

fn by_latent(graph: &Graph, alike: &SparseMat, (a, b): (u32, u32)) -> f64 {
    let toward = |from: u32, to: u32| -> f64 {
        let joined = alike.row(from as usize).filter(|&(like, _)| graph.has_edge(like, to));
        joined.map(|(_, weight)| f64::from(weight)).sum()
    };
    // Ties, and nodes that nobody is like, are settled by common neighbours.
    toward(a, b) + toward(b, a) + 1e-6 * common(graph, (a, b))
}

fn common(graph: &Graph, (a, b): (u32, u32)) -> f64 {
    graph.neighbours(a as usize).iter().filter(|&&other| graph.has_edge(b, other)).count() as f64
}

fn cosine(features: &Features, (a, b): (u32, u32)) -> f64 {
    let (a, b) = (features.row_nonzeros(a as usize), features.row_nonzeros(b as usize));
    let length = |row: &[(u32, f32)]| row.iter().map(|(_, v)| f64::from(v * v)).sum::<f64>().sqrt();
    let value = |column: u32| b.binary_search_by_key(&column, |(c, _)| *c).map_or(0.0, |place| b[place].1);
    let product: f64 = a.iter().map(|&(column, v)| f64::from(v * value(column))).sum();
    let lengths = length(&a) * length(&b);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

/// AUC and average precision; pairs with the same score share what they are worth.
fn scores(mut scored: Vec<(f64, bool)>) -> LinkScores {
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = scored.iter().filter(|(_, edge)| *edge).count() as f64;
    let negatives = scored.len() as f64 - positives;
    let (mut above, mut seen, mut auc, mut ap) = (0.0, 0.0, 0.0, 0.0);
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let right = tied.iter().filter(|(_, edge)| *edge).count() as f64;
        let wrong = tied.len() as f64 - right;
        auc += wrong * (above + 0.5 * right);
        above += right;
        seen += tied.len() as f64;
        ap += right * above / seen;
    }
    LinkScores { auc: auc / (positives * negatives).max(1.0), ap: ap / positives.max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranking_scores_by_hand() {
        // Edges at ranks 1 and 3 of 4: 3 of 4 pairs in order; precision 1 and 2/3.
        let found = scores(vec![(0.9, true), (0.8, false), (0.7, true), (0.1, false)]);
        assert!((found.auc - 0.75).abs() < 1e-12 && (found.ap - 5.0 / 6.0).abs() < 1e-12, "{found:?}");
        let level = scores(vec![(0.5, true), (0.5, false)]);
        assert_eq!((level.auc, level.ap), (0.5, 0.5), "no opinion is worth a coin");
    }

    #[test]
    fn no_node_loses_its_last_edge() {
        let edges: Vec<(u32, u32)> = (0..20).flat_map(|i| [(i, (i + 1) % 20), (i, (i + 5) % 20)]).collect();
        let graph = Graph::from_edges(21, &edges).unwrap().0;
        let (left, held) = hold_out(&graph, 0.3, 3).unwrap();
        assert_eq!((left.num_edges() + held.len(), held.len()), (40, 12));
        assert!((0..20).all(|node| left.degree(node) > 0));
        assert!(held.iter().all(|&(a, b)| graph.has_edge(a, b) && !left.has_edge(a, b)));
        assert!(non_edges(&graph, 30, 1).iter().all(|&(a, b)| a < b && !graph.has_edge(a, b)));
        assert!(hold_out(&graph, 1.0, 3).is_err());
    }
}
