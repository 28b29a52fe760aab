//! How many pairs of nodes an attack on the edges may flip, and which it still may.

use std::collections::HashSet;

use crate::error::Error;
use crate::graph::Graph;
pub(super) use crate::graph::flips::{arrow, flip};
pub(super) use crate::graph::mimicry::per_neighbour;

/// Flips that a share of the edges makes; rounded down, as published attacks do.
pub(super) fn share_of_edges(rate: f64, graph: &Graph) -> usize {
    // 0.15 * 20 is a hair below 3, which must not become 2.
    (rate * graph.num_edges() as f64 * (1.0 + 1e-12)) as usize
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
    fn edits_leave_nobody_alone_unless_it_may() {
        let (graph, _) = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap();
        let mut edits = EdgeEdits::new(&graph, false);
        assert!(!edits.flip(0, 1) && !edits.flip(2, 2) && edits.flip(2, 1) && !edits.flip(1, 2));
        assert!(edits.flip(0, 3) && !edits.flip(0, 1));
        assert_eq!(edits.into_flips(), [(0, 3), (1, 2)]);
        assert!(EdgeEdits::new(&graph, true).flip(0, 1));
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
