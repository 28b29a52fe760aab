//! The latent graph: nodes joined by the cosine of their directions.
//!
//! `s_ij = max(0, <l_i, l_j>)` for unit rows; kept where it reaches the threshold and is among the `top_k` of
//! either end, with its weight. An exact all-pairs search in tiles: `O(n² r)` multiply-adds, `O(n top_k)` memory; in a large graph a
//! search in inverted lists, whose recall is measured (`linalg::neighbours_in_lists`).
//! The result is an ordinary weighted [`Graph`], so all that works on graphs works on it.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::graph::{Graph, Labels};
use crate::linalg::{Found, Likeness, Mat, SparseMat, neighbours, neighbours_in_lists, neighbours_of};
use crate::training::Auto;

/// Graphs of more nodes are large: what would look at all pairs looks at some.
pub const LARGE: usize = 50_000;

/// How nodes look for those that are like them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Among all.
    Exact,
    /// In inverted lists, which miss a few.
    Ivf,
}

impl Search {
    /// What a setting means for so many nodes.
    pub fn of(setting: Auto<Search>, nodes: usize) -> Self {
        setting.given().unwrap_or(if nodes > LARGE { Search::Ivf } else { Search::Exact })
    }

    /// Joins unit rows, see [`latent_graph`]; with the share of the neighbours that was found, where some were missed.
    pub(super) fn joined(
        self,
        directions: &Mat,
        threshold: f32,
        top_k: Option<usize>,
    ) -> Result<(Graph, Option<f32>)> {
        match self {
            Search::Exact => Ok((latent_graph(directions, threshold, top_k)?, None)),
            Search::Ivf => {
                let nodes = Likeness::from(directions.clone());
                let found = neighbours_in_lists(&nodes, |_| true, floor(threshold), top_k, LISTED_WITH);
                drop(nodes);
                let Found { neighbours, recall, .. } = found;
                Ok((joined(directions.rows(), edges_of(&neighbours))?, Some(recall)))
            }
        }
    }

    /// The same in parts, see [`latent_graph_in_parts`].
    pub(super) fn joined_in_parts(
        self,
        parts: &[Likeness],
        part_of: &[Option<u32>],
        threshold: f32,
        top_k: Option<usize>,
    ) -> Result<(Graph, Option<f32>)> {
        if self == Search::Exact {
            return Ok((latent_graph_in_parts(parts, part_of, threshold, top_k)?, None));
        }
        let mut recalls = Vec::new();
        let graph = in_parts(parts, part_of, |part, base| {
            let asks = |node: u32| part_of[node as usize] == part;
            let found = neighbours_in_lists(base, asks, floor(threshold), top_k, LISTED_WITH);
            recalls.push(found.recall);
            edges_of(&found.neighbours)
        })?;
        Ok((graph, recalls.into_iter().reduce(f32::min)))
    }
}

/// The seed of inverted lists.
const LISTED_WITH: u64 = 0x1157;

/// Joins unit rows whose cosine is at least `threshold`, up to `top_k` from each node.
pub fn latent_graph(directions: &Mat, threshold: f32, top_k: Option<usize>) -> Result<Graph> {
    joined(directions.rows(), edges_of(&neighbours(directions, floor(threshold), top_k)))
}

/// The same where every node looks for its neighbours by a likeness of its own: that of `parts[p]` for a node
/// of part `p`, the mean of all for a node of none. An edge has the larger of the weights that its ends give it.
pub fn latent_graph_in_parts(
    parts: &[Likeness],
    part_of: &[Option<u32>],
    threshold: f32,
    top_k: Option<usize>,
) -> Result<Graph> {
    in_parts(parts, part_of, |part, base| {
        let nodes: Vec<u32> =
            (0..part_of.len() as u32).filter(|&node| part_of[node as usize] == part).collect();
        let found = neighbours_of(&nodes, base, floor(threshold), top_k);
        let of_query = |(query, &node): (usize, &u32)| {
            found.row(query).map(move |(other, weight)| (node, other, weight))
        };
        nodes.iter().enumerate().flat_map(of_query).collect()
    })
}

/// What the nodes of each part find with the likeness of their part, joined.
fn in_parts(
    parts: &[Likeness],
    part_of: &[Option<u32>],
    mut find: impl FnMut(Option<u32>, &Likeness) -> Vec<(u32, u32, f32)>,
) -> Result<Graph> {
    let mut edges = Vec::new();
    for part in 0..parts.len() as u32 {
        edges.extend(find(Some(part), &parts[part as usize]));
    }
    edges.extend(find(None, &Likeness::mean(parts)));
    edges.iter_mut().for_each(|(a, b, _)| (*a, *b) = ((*a).min(*b), (*a).max(*b)));
    // Of an edge that both ends chose, the heavier mention comes first and is kept.
    edges.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
    joined(part_of.len(), edges)
}

/// A cosine of 0 says nothing: without this floor a threshold of 0 would join everybody.
fn floor(threshold: f32) -> f32 {
    threshold.max(f32::MIN_POSITIVE)
}

fn edges_of(found: &SparseMat) -> Vec<(u32, u32, f32)> {
    let of_row = |node: usize| found.row(node).map(move |(other, weight)| (node as u32, other, weight));
    (0..found.rows()).flat_map(of_row).collect()
}

fn joined(num_nodes: usize, edges: Vec<(u32, u32, f32)>) -> Result<Graph> {
    // Rounding can lift the cosine of equal rows above 1.
    let (ends, weights): (Vec<_>, Vec<_>) =
        edges.into_iter().map(|(a, b, weight)| ((a, b), weight.min(1.0))).unzip();
    Ok(Graph::build(num_nodes, &ends, Some(&weights), false)?.0)
}

/// `share * given + (1 - share) * latent`: how refinement rounds keep to the given graph. An edge of weight 0 is no edge.
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
    use crate::linalg::random::{generator, glorot};
    use crate::structure::views::to_unit_rows;

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
    fn parts_that_are_equal_join_like_one() {
        let mut rows = glorot(&mut generator(2, 0), 40, 6);
        to_unit_rows(&mut rows);
        let one = latent_graph(&rows, 0.2, Some(4)).unwrap();
        let part_of: Vec<Option<u32>> = (0..40).map(|node| [None, Some(0), Some(1)][node % 3]).collect();
        let twice = [rows.clone().into(), rows.into()];
        let parts = latent_graph_in_parts(&twice, &part_of, 0.2, Some(4)).unwrap();
        assert_eq!(one.edges().collect::<Vec<_>>(), parts.edges().collect::<Vec<_>>());
        for (a, b) in one.weighted_edges().zip(parts.weighted_edges()) {
            assert!((a.2 - b.2).abs() < 1e-6);
        }
    }

    #[test]
    fn a_node_looks_for_neighbours_in_its_own_part() {
        let first = Mat::from_slice(3, 2, &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        let second = Mat::from_slice(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        let parts = [first.into(), second.into()];
        let join = |part_of: [Option<u32>; 3]| latent_graph_in_parts(&parts, &part_of, 0.9, Some(1)).unwrap();
        assert_eq!(join([Some(0), None, None]).edges().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(join([Some(1), None, None]).edges().collect::<Vec<_>>(), [(0, 2)]);
        assert_eq!(join([None; 3]).num_edges(), 0, "the mean of 1 and 0 is below the threshold");
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
