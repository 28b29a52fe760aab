//! Flipping pairs of nodes: the one thing that every attack on the edges does to a graph.

use crate::error::Result;
use crate::graph::Graph;

/// A graph after some pairs were flipped.
pub(super) struct Flipped {
    pub graph: Graph,
    pub added: usize,
    pub removed: usize,
}

/// The graph in which each pair's edge is gone if it was there, and there if it was not.
///
/// Pairs may come in any order and either way round; one that is named twice is flipped once, and a node
/// is never joined to itself. Where edges have weights, a new one weighs as much as the mean of the old
/// ones: an edge that stands out is easily found. Cost: one pass over the edges, and sorting the pairs.
pub(super) fn flip(graph: &Graph, pairs: &[(u32, u32)]) -> Result<Flipped> {
    let mut pairs: Vec<(u32, u32)> =
        pairs.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let is_edge = |a: u32, b: u32| (a as usize) < graph.num_nodes() && graph.has_edge(a, b);
    let (gone, new): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|&(a, b)| is_edge(a, b));
    let (mut edges, mut weights): (Vec<_>, Vec<_>) = graph
        .weighted_edges()
        .filter(|&(a, b, _)| gone.binary_search(&(a, b)).is_err())
        .map(|(a, b, weight)| ((a, b), weight))
        .unzip();
    edges.extend_from_slice(&new);
    weights.resize(edges.len(), mean_weight(graph));
    let weights = graph.weights().map(|_| weights.as_slice());
    let (graph, _) = Graph::build(graph.num_nodes(), &edges, weights, false)?;
    Ok(Flipped { graph, added: new.len(), removed: gone.len() })
}

fn mean_weight(graph: &Graph) -> f32 {
    match graph.weights() {
        Some(weights) if !weights.is_empty() => {
            (weights.iter().map(|&w| f64::from(w)).sum::<f64>() / weights.len() as f64) as f32
        }
        _ => 1.0,
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
        assert_eq!((flipped.added, flipped.removed), (2, 1));
        assert_eq!(flip(&graph, &[]).unwrap().graph, graph);
        assert!(flip(&graph, &[(7, 9)]).is_err() && flip(&graph, &[(0, 9)]).is_err());
    }

    #[test]
    fn a_new_edge_weighs_as_much_as_the_others_do() {
        let (graph, _) = Graph::build(3, &[(0, 1), (1, 2)], Some(&[1.0, 4.0]), false).unwrap();
        let flipped = flip(&graph, &[(0, 2)]).unwrap().graph;
        assert_eq!(flipped.weighted_edges().collect::<Vec<_>>(), [(0, 1, 1.0), (0, 2, 2.5), (1, 2, 4.0)]);
    }
}
