//! Flipping pairs of nodes: an edge that is there goes, one that is not there comes.

use super::Graph;
use crate::error::Result;
use crate::linalg::random::derive;

/// A graph after some pairs were flipped.
pub struct Flipped {
    /// What came of it.
    pub graph: Graph,
    /// Edges that were not there before, `(low, high)`, ascending.
    pub added: Vec<(u32, u32)>,
    /// Edges that are no longer there, likewise.
    pub removed: Vec<(u32, u32)>,
}

/// The graph in which each pair's edge is gone if it was there, and there if it was not.
///
/// Pairs may come in any order and either way round; one that is named twice is flipped once, and a node
/// is never joined to itself. Where edges have weights, a new one weighs as much as the mean of the old
/// ones: an edge that stands out is easily found. Where edges have a direction, those of both directions go, and a new one leads
/// either way, by a hash. Cost: one pass over the edges, and sorting the pairs.
pub fn flip(graph: &Graph, pairs: &[(u32, u32)]) -> Result<Flipped> {
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
pub fn arrow(graph: &Graph, (a, b): (u32, u32)) -> (u32, u32) {
    let back = graph.is_directed() && derive(u64::from(a), &[u64::from(b)]) % 2 == 1;
    if back { (b, a) } else { (a, b) }
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
}
