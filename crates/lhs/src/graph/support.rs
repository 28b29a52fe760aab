//! How well the rest of a graph supports each of its edges.
//!
//! Real edges close paths: whoever `i` and `j` are joined to are joined to each other, too. With `c` the number of
//! paths of two edges from `i` to `j`, `(A²)ᵢⱼ`, and `w` that of three beside the edge itself,
//! `(A³)ᵢⱼ - dᵢ - dⱼ + 1`, the support of an edge is `(1 + c) (1 + w)^½ / (dᵢ dⱼ)^½`; an edge that somebody added for its
//! ends' sake has little. (On Chameleon paths of three tell added edges better, on Squirrel paths of two.)
//!
//! Some nodes may be marked: those whose labels an attacker knows, and joins to others on purpose. Of a node's
//! neighbours about as many should be marked as of all nodes. With `e` the share of its marked neighbours that are more
//! than that and one standard deviation, every edge between it and a marked node loses support by `exp(-4 e)`. Labels and
//! features play no part.
//! Cost: `O(Σ d²)` time, `O(n)` memory per thread; the counts are whole numbers, so any order gives the same bits.

use rayon::prelude::*;

use super::Graph;
use crate::error::Result;

/// How much an excess of marked neighbours weighs.
const SUSPICION: f32 = 4.0;

/// The support of every stored entry of an undirected graph's adjacency, in its order, 0 or above; weights are
/// ignored. `marked` has an entry for each node.
pub fn edge_support(graph: &Graph, marked: &[bool]) -> Vec<f32> {
    let num_nodes = graph.num_nodes();
    let excess = excess_of_marked(graph, marked);
    let suspicion = |node: usize, other: usize| {
        let towards = |from: usize, to: usize| if marked[from] { excess[to] } else { 0.0 };
        (-SUSPICION * (towards(node, other) + towards(other, node))).exp()
    };
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
                    let paths = (1 + two) as f32 * ((1 + three) as f32).sqrt();
                    suspicion(node, other) * paths / ((here * there) as f32).sqrt()
                });
                let found = found.collect();
                walk(&mut |end| two_steps[end] = 0);
                found
            },
        )
        .collect();
    rows.concat()
}

/// For each node, the share of its marked neighbours that chance does not explain, 0..1.
fn excess_of_marked(graph: &Graph, marked: &[bool]) -> Vec<f32> {
    let share = marked.iter().filter(|&&marked| marked).count() as f32 / marked.len().max(1) as f32;
    let excess = |node: usize| {
        let degree = graph.degree(node) as f32;
        let here = graph.neighbours(node).iter().filter(|&&other| marked[other as usize]).count() as f32;
        let expected = share * degree + (share * (1.0 - share) * degree).sqrt();
        // Added ones raise the degree, and with it what is expected, too.
        if here > expected { (here - expected) / ((1.0 - share) * here) } else { 0.0 }
    };
    (0..graph.num_nodes()).map(excess).collect()
}

/// An undirected graph without the edges whose support is below `least`.
pub fn supported(graph: &Graph, marked: &[bool], least: f32) -> Result<Graph> {
    let support = edge_support(graph, marked);
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
        let support = edge_support(&graph, &[false; 8]);
        // From 0 to 1: 0-2-1 and 0-3-1; 0-2-3-1 and 0-3-2-1.
        assert!((support[place(&graph, 0, 1)] - 3.0 * 3f32.sqrt() / 3.0).abs() < 1e-5, "{support:?}");
        assert_eq!(support[place(&graph, 3, 4)], 1.0 / 4.0, "nothing else joins the two sides");
    }

    /// Where an edge stands.
    fn place(graph: &Graph, node: usize, other: u32) -> usize {
        let before = graph.neighbours(node).iter().position(|&n| n == other).unwrap();
        graph.adjacency().row_range(node).start + before
    }

    #[test]
    fn a_node_that_marked_ones_crowd_around_loses_their_support_and_no_other() {
        // 0 is joined to 1..=6, all marked; 7 to 8..=13, of which half are.
        let edges: Vec<(u32, u32)> = (1..7).map(|n| (0, n)).chain((8..14).map(|n| (7, n))).collect();
        let graph = Graph::from_edges(14, &edges).unwrap().0;
        let marked: Vec<bool> = (0..14).map(|n| (1..7).contains(&n) || n == 8).collect();
        let (with, without) = (edge_support(&graph, &marked), edge_support(&graph, &[false; 14]));
        let kept =
            |node: usize, other: u32| with[place(&graph, node, other)] / without[place(&graph, node, other)];
        assert!(kept(0, 1) < 0.2, "{}", kept(0, 1));
        assert_eq!(kept(0, 1), kept(1, 0));
        assert_eq!((kept(7, 8), kept(7, 9)), (1.0, 1.0));
        assert_eq!(edge_support(&graph, &[true; 14]), without, "where all are marked, nobody stands out");
    }

    #[test]
    fn an_edge_without_support_goes_and_the_rest_stays() {
        let graph = two_cliques();
        let trimmed = supported(&graph, &[false; 8], 0.5).unwrap();
        assert_eq!(trimmed.num_edges(), graph.num_edges() - 1);
        assert!(!trimmed.has_edge(3, 4));
        assert_eq!(&supported(&graph, &[false; 8], 0.0).unwrap(), &graph);
    }
}
