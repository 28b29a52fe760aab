//! Flipping pairs of nodes, and how many of them an attack on the edges may flip.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::random::derive;

/// A graph after some pairs were flipped.
pub(super) struct Flipped {
    pub graph: Graph,
    /// `(low, high)`, ascending.
    pub added: Vec<(u32, u32)>,
    pub removed: Vec<(u32, u32)>,
}

/// The graph in which each pair's edge is gone if it was there, and there if it was not.
///
/// Pairs may come in any order and either way round; one that is named twice is flipped once, and a node
/// is never joined to itself. Where edges have weights, a new one weighs as much as the mean of the old
/// ones: an edge that stands out is easily found. Where edges have a direction, those of both directions go, and a new one leads
/// either way, by a hash. Cost: one pass over the edges, and sorting the pairs.
pub(super) fn flip(graph: &Graph, pairs: &[(u32, u32)]) -> Result<Flipped> {
    let mut pairs: Vec<(u32, u32)> =
        pairs.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let is_edge = |a: u32, b: u32| {
        let known = |node: u32| (node as usize) < graph.num_nodes();
        known(a) && known(b) && (graph.has_edge(a, b) || graph.is_directed() && graph.has_edge(b, a))
    };
    let (gone, new): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|&(a, b)| is_edge(a, b));
    let (mut edges, mut weights): (Vec<_>, Vec<_>) = graph
        .weighted_edges()
        .filter(|&(a, b, _)| gone.binary_search(&(a.min(b), a.max(b))).is_err())
        .map(|(a, b, weight)| ((a, b), weight))
        .unzip();
    edges.extend(new.iter().map(|&pair| arrow(graph, pair)));
    weights.resize(edges.len(), graph.mean_weight());
    let weights = graph.weights().map(|_| weights.as_slice());
    let (graph, _) = Graph::build(graph.num_nodes(), &edges, weights, graph.is_directed())?;
    Ok(Flipped { graph, added: new, removed: gone })
}

/// The way that a new edge at a pair `(low, high)` leads.
pub(super) fn arrow(graph: &Graph, (a, b): (u32, u32)) -> (u32, u32) {
    let back = graph.is_directed() && derive(u64::from(a), &[u64::from(b)]) % 2 == 1;
    if back { (b, a) } else { (a, b) }
}

/// Flips that a share of the edges makes; rounded down, as published attacks do.
pub(super) fn share_of_edges(rate: f64, graph: &Graph) -> usize {
    // 0.15 * 20 is a hair below 3, which must not become 2.
    (rate * graph.num_edges() as f64 * (1.0 + 1e-12)) as usize
}

/// Edges at a node of some degree, `rate` for each that it has and at least that of one; rounded up.
pub(super) fn per_neighbour(rate: f64, degree: usize) -> usize {
    // 0.55 * 100 is a hair above 55, which must not become 56.
    (rate * degree.max(1) as f64 * (1.0 - 1e-12)).ceil() as usize
}

/// The error for a budget that the graph has no room for.
pub(super) fn too_few(found: usize, budget: usize, what: &str) -> Error {
    Error::data(
        format!("the budget is {budget} flips, but only {found} {what} can be flipped"),
        "choose a smaller rate",
    )
}

/// A graph while it is being changed: who is joined to whom, and nothing is left without an edge.
pub(super) struct EdgeEdits<'a> {
    graph: &'a Graph,
    flipped: HashSet<(u32, u32)>,
    degrees: Vec<usize>,
    may_isolate: bool,
}

impl<'a> EdgeEdits<'a> {
    /// Nothing is changed yet. Unless it `may_isolate`, no node loses its last edge.
    pub(super) fn new(graph: &'a Graph, may_isolate: bool) -> Self {
        let degrees = (0..graph.num_nodes()).map(|node| graph.degree(node)).collect();
        EdgeEdits { graph, flipped: HashSet::new(), degrees, may_isolate }
    }

    /// The graph as it was.
    pub(super) fn clean(&self) -> &'a Graph {
        self.graph
    }

    /// Whether a pair may be flipped: it was not before, and nobody is left alone who must not be.
    pub(super) fn may_flip(&self, a: u32, b: u32) -> bool {
        let last = |node: u32| self.degrees[node as usize] <= 1;
        let isolates = self.graph.has_edge(a, b) && !self.may_isolate && (last(a) || last(b));
        a != b && !isolates && !self.flipped.contains(&(a.min(b), a.max(b)))
    }

    /// Flips a pair, if it may be flipped; says whether it was.
    pub(super) fn flip(&mut self, a: u32, b: u32) -> bool {
        if !self.may_flip(a, b) {
            return false;
        }
        self.flipped.insert((a.min(b), a.max(b)));
        let gone = self.graph.has_edge(a, b);
        for node in [a as usize, b as usize] {
            self.degrees[node] = if gone { self.degrees[node] - 1 } else { self.degrees[node] + 1 };
        }
        true
    }

    /// How many pairs were flipped.
    pub(super) fn len(&self) -> usize {
        self.flipped.len()
    }

    /// The pairs, ascending.
    pub(super) fn into_flips(self) -> Vec<(u32, u32)> {
        let mut flips: Vec<(u32, u32)> = self.flipped.into_iter().collect();
        flips.sort_unstable();
        flips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_and_go_once_each() {
        let (graph, _) = Graph::from_edges(4, &[(0, 1), (1, 2)]).unwrap();
        let flipped = flip(&graph, &[(1, 0), (3, 1), (1, 3), (2, 2), (0, 3)]).unwrap();
        assert_eq!(flipped.graph.edges().collect::<Vec<_>>(), [(0, 3), (1, 2), (1, 3)]);
        assert_eq!((flipped.added, flipped.removed), (vec![(0, 3), (1, 3)], vec![(0, 1)]));
        assert_eq!(flip(&graph, &[]).unwrap().graph, graph);
        assert!(flip(&graph, &[(7, 9)]).is_err() && flip(&graph, &[(0, 9)]).is_err());
    }

    #[test]
    fn arrows_of_both_directions_go_and_new_ones_lead_either_way() {
        let arrows = [(1, 0), (0, 1), (2, 1), (3, 2)];
        let (graph, _) = Graph::build(60, &arrows, None, true).unwrap();
        let new: Vec<(u32, u32)> = (4..60).map(|node| (0, node)).collect();
        let flipped = flip(&graph, &[&[(0, 1), (1, 2)][..], &new].concat()).unwrap();
        assert!(flipped.graph.is_directed() && flipped.graph.has_edge(3, 2));
        assert_eq!((flipped.removed, flipped.added.len()), (vec![(0, 1), (1, 2)], 56));
        assert_eq!(flipped.graph.num_edges(), 57);
        assert!((10..46).contains(&flipped.graph.degree(0)), "{}", flipped.graph.degree(0));
        assert_eq!(flip(&flipped.graph, &flipped.added).unwrap().graph.num_edges(), 1);
    }

    #[test]
    fn edits_leave_nobody_alone_unless_it_may() {
        let (graph, _) = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap();
        let mut edits = EdgeEdits::new(&graph, false);
        assert!(!edits.flip(0, 1) && !edits.flip(2, 2) && edits.flip(2, 1) && !edits.flip(1, 2));
        assert!(edits.flip(0, 3) && !edits.flip(0, 1));
        assert_eq!(edits.into_flips(), [(0, 3), (1, 2)]);
        assert!(EdgeEdits::new(&graph, true).flip(0, 1));
    }

    #[test]
    fn a_whole_number_per_neighbour_is_not_rounded_up() {
        assert_eq!(
            [(0.55, 100), (0.5, 3), (1.0, 0), (2.0, 7)].map(|(r, d)| per_neighbour(r, d)),
            [55, 2, 1, 14]
        );
        assert_eq!([per_neighbour(0.0, 9), per_neighbour(1e-15, 9)], [0, 1]);
    }

    #[test]
    fn a_share_of_the_edges_is_rounded_down() {
        let pairs: Vec<(u32, u32)> = (0..20).map(|n| (n, n + 1)).collect();
        let (graph, _) = Graph::from_edges(21, &pairs).unwrap();
        assert_eq!([0.0, 0.15, 0.99, 1.0].map(|rate| share_of_edges(rate, &graph)), [0, 3, 19, 20]);
    }

    #[test]
    fn a_new_edge_weighs_as_much_as_the_others_do() {
        let (graph, _) = Graph::build(3, &[(0, 1), (1, 2)], Some(&[1.0, 4.0]), false).unwrap();
        let flipped = flip(&graph, &[(0, 2)]).unwrap().graph;
        assert_eq!(flipped.weighted_edges().collect::<Vec<_>>(), [(0, 1, 1.0), (0, 2, 2.5), (1, 2, 4.0)]);
    }
}
