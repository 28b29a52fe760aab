//! The latent graph: nodes joined by the cosine of their directions.
//!
//! `s_ij = max(0, <l_i, l_j>)` for unit rows; kept where it reaches the threshold and is among the `top_k` of
//! either end, with its weight. An exact all-pairs search in tiles: `O(n² r)` multiply-adds, `O(n top_k)` memory.
//! The result is an ordinary weighted [`Graph`], so all that works on graphs works on it.

use crate::error::Result;
use crate::graph::{Graph, Labels};
use crate::linalg::{Mat, neighbours};

/// Joins unit rows whose cosine is at least `threshold`, up to `top_k` from each node.
pub fn latent_graph(directions: &Mat, threshold: f32, top_k: Option<usize>) -> Result<Graph> {
    // A cosine of 0 says nothing: without this floor a threshold of 0 would join everybody.
    let found = neighbours(directions, threshold.max(f32::MIN_POSITIVE), top_k);
    let (mut edges, mut weights) =
        (Vec::with_capacity(found.values.len()), Vec::with_capacity(found.values.len()));
    for node in 0..found.rows() {
        for (other, weight) in found.row(node) {
            edges.push((node as u32, other));
            // Rounding can lift the cosine of equal rows above 1.
            weights.push(weight.min(1.0));
        }
    }
    Ok(Graph::build(directions.rows(), &edges, Some(&weights), false)?.0)
}

/// `share * given + (1 - share) * latent`: the bootstrap of the refinement rounds. An edge of weight 0 is no edge.
pub fn blend(given: &Graph, latent: &Graph, share: f32) -> Result<Graph> {
    let given = given.to_undirected();
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for node in 0..latent.num_nodes() {
        let mut row: Vec<(u32, f32)> = Vec::new();
        for (graph, factor) in [(&given, share), (latent, 1.0 - share)] {
            let all = graph.weights();
            let range = graph.adjacency().row_range(node);
            let others = graph.neighbours(node).iter().zip(range);
            let above = others.filter(|(other, _)| **other as usize > node);
            row.extend(
                above.map(|(&other, place)| (other, factor * all.map_or(1.0, |weights| weights[place]))),
            );
        }
        row.sort_by_key(|(other, _)| *other);
        for part in row.chunk_by(|a, b| a.0 == b.0) {
            let weight: f32 = part.iter().map(|(_, weight)| weight).sum();
            if weight > 0.0 {
                edges.push((node as u32, part[0].0));
                weights.push(weight);
            }
        }
    }
    Ok(Graph::build(latent.num_nodes(), &edges, Some(&weights), false)?.0)
}

/// Share of the weight at some nodes that leads to their own class; `None` when they have no edges to
/// labelled nodes.
pub fn weighted_homophily(
    graph: &Graph,
    labels: &Labels,
    nodes: impl IntoIterator<Item = u32>,
) -> Option<f32> {
    let (mut same, mut all) = (0f64, 0f64);
    for node in nodes {
        let Some(own) = labels.get(node as usize) else { continue };
        let range = graph.adjacency().row_range(node as usize);
        for (&other, place) in graph.neighbours(node as usize).iter().zip(range) {
            if let Some(class) = labels.get(other as usize) {
                let weight = graph.weights().map_or(1.0, |weights| f64::from(weights[place]));
                all += weight;
                same += if class == own { weight } else { 0.0 };
            }
        }
    }
    (all > 0.0).then(|| (same / all) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::normalise::adjacency;

    #[test]
    fn edges_are_symmetric_weighted_and_thresholded() {
        let half = 0.5f32.sqrt();
        let rows = Mat::from_slice(4, 2, &[1.0, 0.0, half, half, 0.0, 1.0, -1.0, 0.0]);
        let latent = latent_graph(&rows, 0.5, Some(2)).unwrap();
        assert_eq!(latent.num_edges(), 2);
        let dense = adjacency(&latent).to_dense();
        assert_eq!(dense, dense.transposed());
        assert!((dense.get(0, 1) - half).abs() < 1e-6 && dense.get(0, 2) == 0.0);
        let labels = Labels::from_numbers(&[0, 0, 1, 1]).unwrap();
        let homophily = weighted_homophily(&latent, &labels, 0..4).unwrap();
        assert!((homophily - 0.5).abs() < 1e-6);
        assert_eq!(weighted_homophily(&latent, &labels, [3]), None);
    }

    #[test]
    fn all_similarities_below_the_threshold_give_an_empty_graph() {
        let rows = Mat::from_fn(3, 3, |r, c| if r == c { 1.0 } else { 0.0 });
        assert_eq!(latent_graph(&rows, 0.8, Some(5)).unwrap().num_edges(), 0);
    }

    #[test]
    fn a_blend_holds_both_graphs() {
        let (given, _) = Graph::from_edges(4, &[(0, 1), (2, 3)]).unwrap();
        let (latent, _) = Graph::build(4, &[(0, 1), (1, 2)], Some(&[0.9, 0.8]), false).unwrap();
        let blended = blend(&given, &latent, 0.25).unwrap();
        let found: Vec<_> = blended.weighted_edges().collect();
        let expected = [(0, 1, 0.25 + 0.75 * 0.9), (1, 2, 0.75 * 0.8), (2, 3, 0.25)];
        assert_eq!(found.len(), 3);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.0, found.1) == (expected.0, expected.1) && (found.2 - expected.2).abs() < 1e-6);
        }
        assert_eq!(blend(&given, &latent, 0.0).unwrap().num_edges(), 2);
    }
}
