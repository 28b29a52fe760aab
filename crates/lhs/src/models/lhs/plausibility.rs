//! How plausible each given edge is, told without labels.
//!
//! Seen of two nodes: the cosine of their features, the cosine in the leading directions of features and of profiles (latent
//! agreement), how many walks of two and three edges join them beside the edge itself, against what their degrees let expect,
//! and their degrees. A logistic model learns to tell edges that are there from pairs of nodes drawn by their degrees that are
//! not joined. There are two of them, each learned from one half of the pairs (dealt by a hash) and applied to the other: no
//! edge vouches for itself. What crowds of training nodes cost ([`crate::graph::support`]) is taken off at the end, since an
//! attacker's edges, too, are there to be learned from.
//! Cost: `O(Σ d²)` for the walks, and a few Newton steps on at most 40,000 pairs of each kind.

use std::collections::HashSet;

use rand::RngExt;
use rayon::prelude::*;

use crate::error::Result;
use crate::graph::support::{Walks, crowding, walks};
use crate::graph::{Features, Graph};
use crate::linalg::random::{derive, generator};
use crate::linalg::{Mat, inverse};
use crate::models::parts::similarity::Rows;
use crate::structure::Inputs;

/// Pairs of each kind that are learned from, at most.
const MOST_PAIRS: usize = 40_000;
/// What is seen of a pair, and 1.
const COLUMNS: usize = 11;
/// Newton steps.
const STEPS: usize = 12;
/// Pulls the weights towards zero, for each pair.
const PENALTY: f64 = 1e-3;
/// Worth less than this, an edge is left out.
const LEAST_WEIGHT: f32 = 0.05;

/// Two models, each applied to the pairs that the other one learned from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plausibility {
    /// `[2, COLUMNS]`: one model per row.
    weights: Mat,
}

impl Plausibility {
    /// Learns from a graph; `inputs` are its views.
    pub fn fit(graph: &Graph, features: &Features, inputs: &Inputs, seed: u64) -> Self {
        let graph = graph.to_undirected();
        let present = drawn_edges(&graph, derive(seed, &[0]));
        let absent = drawn_strangers(&graph, present.len(), derive(seed, &[1]));
        let pairs = Pairs::new(&graph, features, inputs);
        let seen = pairs.seen(&present).into_iter().map(|row| (row, 1.0));
        let seen: Vec<(Row, f64)> =
            seen.chain(pairs.seen(&absent).into_iter().map(|row| (row, 0.0))).collect();
        let part_of: Vec<usize> = present.iter().chain(&absent).map(|&(a, b)| part(a, b)).collect();
        let learned = |of: usize| {
            let own = seen.iter().zip(&part_of).filter(|(_, part)| **part != of);
            logistic(&own.map(|(pair, _)| *pair).collect::<Vec<_>>())
        };
        let weights: Vec<f32> = [learned(0), learned(1)].concat();
        Plausibility { weights: Mat::from_slice(2, COLUMNS, &weights) }
    }

    /// What was learned, `[2, columns]`.
    pub fn weights(&self) -> &Mat {
        &self.weights
    }

    /// What [`Plausibility::weights`] gave; `None` if it cannot have.
    pub fn from_weights(weights: &Mat) -> Option<Self> {
        (weights.shape() == (2, COLUMNS)).then(|| Plausibility { weights: weights.clone() })
    }

    /// Of every edge, in the order of [`Graph::edges`], 0..=1. `marked` says which nodes were learned from.
    pub fn of_edges(&self, graph: &Graph, features: &Features, inputs: &Inputs, marked: &[bool]) -> Vec<f32> {
        let undirected = graph.to_undirected();
        let pairs: Vec<(u32, u32)> = graph.edges().collect();
        let seen = Pairs::new(&undirected, features, inputs).seen(&pairs);
        let crowded = crowding(&undirected, marked);
        let of_pair = |(&(a, b), row): (&(u32, u32), &Row)| {
            let score: f32 = self.weights.row(part(a, b)).iter().zip(row).map(|(weight, x)| weight * x).sum();
            let start = undirected.adjacency().row_range(a as usize).start;
            let place = start + undirected.neighbours(a as usize).partition_point(|&other| other < b);
            crowded[place] / (1.0 + (-score).exp())
        };
        pairs.iter().zip(&seen).map(of_pair).collect()
    }
}

impl Plausibility {
    /// Of pairs that are not joined, as if they were, 0..=1; what crowds cost is left out.
    pub(super) fn of_pairs(
        &self,
        graph: &Graph,
        features: &Features,
        inputs: &Inputs,
        pairs: &[(u32, u32)],
    ) -> Vec<f32> {
        let undirected = graph.to_undirected();
        let seen = Pairs::new(&undirected, features, inputs).seen(pairs);
        let score = |row: &[f32], seen: &Row| row.iter().zip(seen).map(|(weight, x)| weight * x).sum::<f32>();
        let of_pair = |(&(a, b), seen): (&(u32, u32), &Row)| {
            1.0 / (1.0 + (-score(self.weights.row(part(a, b)), seen)).exp())
        };
        pairs.iter().zip(&seen).map(of_pair).collect()
    }
}

/// What is left of an edge of that plausibility: nothing, where that is next to nothing.
pub(super) fn worth(plausibility: f32, trust: f32) -> f32 {
    let worth = plausibility.powf(trust);
    if worth >= LEAST_WEIGHT { worth } else { 0.0 }
}

/// The graph with each edge weighed by its plausibility to the power of `trust`; what is worth next to nothing goes.
pub fn weighed(graph: &Graph, plausibility: &[f32], trust: f32) -> Result<Graph> {
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for ((a, b, weight), plausibility) in graph.weighted_edges().zip(plausibility) {
        let worth = plausibility.powf(trust);
        if worth >= LEAST_WEIGHT {
            edges.push((a, b));
            weights.push(weight * worth);
        }
    }
    Ok(Graph::build(graph.num_nodes(), &edges, Some(&weights), graph.is_directed())?.0)
}

type Row = [f32; COLUMNS];

/// Which half a pair belongs to, whichever end is named first.
fn part(a: u32, b: u32) -> usize {
    (derive(u64::from(a.min(b)), &[u64::from(a.max(b))]) % 2) as usize
}

/// What can be seen of pairs of nodes.
struct Pairs<'a> {
    graph: &'a Graph,
    rows: Rows,
    features: &'a Mat,
    profiles: Mat,
}

impl<'a> Pairs<'a> {
    fn new(graph: &'a Graph, features: &Features, inputs: &'a Inputs) -> Self {
        Pairs {
            graph,
            rows: Rows::of(features),
            features: &inputs.features,
            profiles: inputs.profile_directions(),
        }
    }

    fn seen(&self, pairs: &[(u32, u32)]) -> Vec<Row> {
        let mut by_node = vec![Vec::new(); self.graph.num_nodes()];
        pairs.iter().for_each(|&(a, b)| by_node[a as usize].push(b));
        let found = walks(self.graph, |node| &by_node[node]);
        let mut next = vec![0; by_node.len()];
        let walks: Vec<Walks> = pairs
            .iter()
            .map(|&(a, _)| {
                let place = &mut next[a as usize];
                *place += 1;
                found[a as usize][*place - 1]
            })
            .collect();
        pairs.par_iter().zip(&walks).map(|(&(a, b), walks)| self.row(a, b, *walks)).collect()
    }

    fn row(&self, a: u32, b: u32, walks: Walks) -> Row {
        let joined = u64::from(self.graph.has_edge(a, b));
        let degree = |node: u32| self.graph.degree(node as usize) as u64;
        // The edge itself is no witness.
        let beside = if joined > 0 { walks.three + 1 - degree(a) - degree(b) } else { walks.three };
        let log = |count: u64| ((1 + count) as f32).ln();
        let (here, there) = (log(degree(a) - joined), log(degree(b) - joined));
        let cosines = [
            self.rows.cosine(a, b),
            dot(self.features.row(a as usize), self.features.row(b as usize)),
            dot(self.profiles.row(a as usize), self.profiles.row(b as usize)),
        ];
        let supports = [log(walks.two) - 0.5 * (here + there), 0.5 * (log(beside) - here - there)];
        let [x, f, p] = cosines;
        let [two, three] = supports;
        [1.0, x, x * x, f, f * f, p, p * p, two, three, 0.5 * (here + there), 0.5 * (here - there).abs()]
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Edges of the graph, all or so many drawn at random.
fn drawn_edges(graph: &Graph, seed: u64) -> Vec<(u32, u32)> {
    let all: Vec<(u32, u32)> = graph.edges().collect();
    if all.len() <= MOST_PAIRS {
        return all;
    }
    let mut places = rand::seq::index::sample(&mut generator(seed, 0), all.len(), MOST_PAIRS).into_vec();
    places.sort_unstable();
    places.into_iter().map(|place| all[place]).collect()
}

/// Pairs that are not joined, each end drawn as often as it has edges; fewer where the graph has hardly any.
fn drawn_strangers(graph: &Graph, count: usize, seed: u64) -> Vec<(u32, u32)> {
    let ends = graph.adjacency().indices();
    let mut rng = generator(seed, 0);
    let mut found = HashSet::new();
    let mut strangers = Vec::new();
    for _ in 0..20 * count {
        let (a, b) = (ends[rng.random_range(0..ends.len())], ends[rng.random_range(0..ends.len())]);
        let pair = (a.min(b), a.max(b));
        if a != b && !graph.has_edge(a, b) && found.insert(pair) {
            strangers.push(pair);
            if strangers.len() == count {
                break;
            }
        }
    }
    strangers
}

/// The weights that tell 1 from 0, by Newton's method on standardised columns.
fn logistic(seen: &[(Row, f64)]) -> Vec<f32> {
    let count = seen.len().max(1) as f64;
    let (mut means, mut spreads) = ([0f64; COLUMNS], [1f64; COLUMNS]);
    for column in 1..COLUMNS {
        let values = || seen.iter().map(move |(row, _)| f64::from(row[column]));
        means[column] = values().sum::<f64>() / count;
        let variance = values().map(|value| (value - means[column]).powi(2)).sum::<f64>() / count;
        // A column that says nothing gets no weight.
        spreads[column] = if variance > 1e-12 { variance.sqrt() } else { f64::INFINITY };
    }
    let standardised = |row: &Row| -> [f64; COLUMNS] {
        std::array::from_fn(|column| (f64::from(row[column]) - means[column]) / spreads[column])
    };
    let mut weights = [0f64; COLUMNS];
    for _ in 0..STEPS {
        let mut gradient = [0f64; COLUMNS];
        let mut curvature = [[0f64; COLUMNS]; COLUMNS];
        for (row, target) in seen {
            let row = standardised(row);
            let score: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
            let found = 1.0 / (1.0 + (-score).exp());
            let bend = (found * (1.0 - found)).max(1e-9);
            for i in 0..COLUMNS {
                gradient[i] += (found - target) * row[i] / count;
                (0..=i).for_each(|j| curvature[i][j] += bend * row[i] * row[j] / count);
            }
        }
        for i in 0..COLUMNS {
            gradient[i] += PENALTY * weights[i];
            curvature[i][i] += PENALTY;
        }
        let step = inverse(&Mat::from_fn(COLUMNS, COLUMNS, |i, j| curvature[i.max(j)][i.min(j)] as f32));
        for (i, weight) in weights.iter_mut().enumerate() {
            *weight -= (0..COLUMNS).map(|j| f64::from(step.get(i, j)) * gradient[j]).sum::<f64>();
        }
    }
    // Back to the columns as they are.
    let shift: f64 = (1..COLUMNS).map(|column| weights[column] * means[column] / spreads[column]).sum();
    let scaled = |column: usize| match column {
        0 => weights[0] - shift,
        _ => weights[column] / spreads[column],
    };
    (0..COLUMNS).map(|column| scaled(column) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_finds_what_tells_the_two_kinds_apart() {
        let row = |value: f32| {
            let mut row = [0f32; COLUMNS];
            (row[0], row[1]) = (1.0, value);
            row
        };
        let seen: Vec<(Row, f64)> = (0..200)
            .map(|i| {
                (row(i as f32 / 100.0), f64::from(u8::from(i % 7 != 0 && i >= 100 || i % 7 == 0 && i < 100)))
            })
            .collect();
        let weights = logistic(&seen);
        let score = |value: f32| weights[0] + weights[1] * value;
        assert!(score(1.8) > 1.0 && score(0.2) < -1.0 && score(1.0).abs() < 0.2, "{weights:?}");
        assert_eq!(weights[2..], [0.0; COLUMNS - 2]);
    }

    #[test]
    fn strangers_are_not_joined_and_edges_are_weighed_by_trust() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]).unwrap();
        let strangers = drawn_strangers(&graph, 5, 3);
        assert!(strangers.iter().all(|&(a, b)| a < b && !graph.has_edge(a, b)));
        let found = weighed(&graph, &[1.0, 0.5, 0.1, 0.9, 0.01], 2.0).unwrap();
        let edges: Vec<_> = found.weighted_edges().collect();
        assert_eq!(edges.iter().map(|(a, b, _)| (*a, *b)).collect::<Vec<_>>(), [(0, 1), (1, 2), (3, 4)]);
        assert_eq!((edges[0].2, edges[1].2), (1.0, 0.25));
        assert_eq!(part(3, 9), part(9, 3));
    }
}
