//! How well the rest of a graph supports each of its edges.
//!
//! Real edges close paths: whoever `i` and `j` are joined to are joined to each other, too. With `c` the number of
//! paths of two edges from `i` to `j`, `(A²)ᵢⱼ`, and `w` that of three beside the edge itself,
//! `(A³)ᵢⱼ - dᵢ - dⱼ + 1`, the support of an edge is `(1 + c)(1 + w) / (dᵢ dⱼ)^¾`; an edge that somebody added for its
//! ends' sake has little. Labels and features play no part. (On Chameleon paths of three tell added edges better, on
//! Squirrel paths of two; the product is near the better one on both.)
//! Cost: `O(Σ d²)` time, `O(n)` memory per thread; the counts are whole numbers, so any order gives the same bits.

use rayon::prelude::*;

use super::Graph;
use crate::error::Result;

/// The support of every stored entry of an undirected graph's adjacency, in its order, 0 or above; weights are
/// ignored.
pub fn edge_support(graph: &Graph) -> Vec<f32> {
    let num_nodes = graph.num_nodes();
    let rows: Vec<Vec<f32>> = (0..num_nodes)
        .into_par_iter()
        .map_init(
            || vec![0u64; num_nodes],
            |two_steps, node| {
                let walk = |change: &mut dyn FnMut(usize)| {
                    for &middle in graph.neighbours(node) {
                        graph.neighbours(middle as usize).iter().for_each(|&end| change(end as usize));
                    }
                };
                walk(&mut |end| two_steps[end] += 1);
                let found = graph.neighbours(node).iter().map(|&other| {
                    let other = other as usize;
                    let walks: u64 = graph.neighbours(other).iter().map(|&end| two_steps[end as usize]).sum();
                    let (here, there) = (graph.degree(node) as u64, graph.degree(other) as u64);
                    let (two, three) = (two_steps[other], walks + 1 - here - there);
                    ((1 + two) * (1 + three)) as f32 / three_quarters((here * there) as f32)
                });
                let found = found.collect();
                walk(&mut |end| two_steps[end] = 0);
                found
            },
        )
        .collect();
    rows.concat()
}

/// `x^¾` by square roots, which are the same bits on any machine.
fn three_quarters(x: f32) -> f32 {
    x.sqrt() * x.sqrt().sqrt()
}

/// An undirected graph without the edges whose support is below `least`.
pub fn supported(graph: &Graph, least: f32) -> Result<Graph> {
    let support = edge_support(graph);
    graph.with_edges_where(|node, other| {
        let place = graph.neighbours(node as usize).partition_point(|&n| n < other);
        support[graph.adjacency().row_range(node as usize).start + place] >= least
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two squares with both diagonals, 0-3 and 4-7, and an edge between them.
    fn two_cliques() -> Graph {
        let clique =
            |first: u32| (first..first + 4).flat_map(move |a| (a + 1..first + 4).map(move |b| (a, b)));
        let edges: Vec<(u32, u32)> = clique(0).chain(clique(4)).chain([(3, 4)]).collect();
        Graph::from_edges(8, &edges).unwrap().0
    }

    #[test]
    fn paths_of_two_and_three_are_counted() {
        let graph = two_cliques();
        let support = edge_support(&graph);
        // From 0 to 1: 0-2-1 and 0-3-1; 0-2-3-1 and 0-3-2-1.
        let place = graph.neighbours(0).iter().position(|&n| n == 1).unwrap();
        assert!((support[place] - 9.0 / three_quarters(9.0)).abs() < 1e-5, "{support:?}");
        let bridge = graph.adjacency().row_range(3).end - 1;
        assert_eq!(support[bridge], 1.0 / 8.0, "nothing else joins the two sides");
    }

    #[test]
    fn an_edge_without_support_goes_and_the_rest_stays() {
        let graph = two_cliques();
        let trimmed = supported(&graph, 0.5).unwrap();
        assert_eq!(trimmed.num_edges(), graph.num_edges() - 1);
        assert!(!trimmed.has_edge(3, 4));
        assert_eq!(&supported(&graph, 0.0).unwrap(), &graph);
    }
}
