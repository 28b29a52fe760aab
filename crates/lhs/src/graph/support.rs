//! What the rest of a graph says of each of its edges.
//!
//! Real edges close paths: whoever `i` and `j` are joined to are joined to each other, too, so that many walks of two and
//! three edges lead from one to the other. An edge that somebody added for its ends' sake has few of them.
//!
//! Some nodes may be marked: those whose labels an attacker knows, and joins to others on purpose. Of a node's
//! neighbours about as many should be marked as of all nodes. With `e` the share of its marked neighbours that are more
//! than that and one standard deviation, every edge between it and a marked node keeps `exp(-4 e)` of its worth. Labels and
//! features play no part.
//! Cost: `O(Σ d²)` time, `O(n)` memory per thread; the counts are whole numbers, so any order gives the same bits.

use rayon::prelude::*;

use super::Graph;

/// How much an excess of marked neighbours weighs.
const SUSPICION: f32 = 4.0;

/// Walks between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walks {
    /// Of two edges, `(A²)ᵢⱼ`.
    pub two: u64,
    /// Of three edges, `(A³)ᵢⱼ`; those that use an edge between the two themselves count.
    pub three: u64,
}

/// The walks from each node of an undirected graph to some `others`, one list per node, in their order; weights are ignored.
pub fn walks<'a>(graph: &Graph, others: impl Fn(usize) -> &'a [u32] + Sync) -> Vec<Vec<Walks>> {
    let num_nodes = graph.num_nodes();
    let of_node = |two_steps: &mut Vec<u64>, node: usize| {
        let others = others(node);
        if others.is_empty() {
            return Vec::new();
        }
        let walk = |change: &mut dyn FnMut(usize)| {
            for &middle in graph.neighbours(node) {
                graph.neighbours(middle as usize).iter().for_each(|&end| change(end as usize));
            }
        };
        walk(&mut |end| two_steps[end] += 1);
        let found = others.iter().map(|&other| Walks {
            two: two_steps[other as usize],
            three: graph.neighbours(other as usize).iter().map(|&end| two_steps[end as usize]).sum(),
        });
        let found = found.collect();
        walk(&mut |end| two_steps[end] = 0);
        found
    };
    (0..num_nodes).into_par_iter().map_init(|| vec![0u64; num_nodes], of_node).collect()
}

/// What is left of the worth of every stored entry of an undirected graph's adjacency, in its order, 0..=1, where marked nodes
/// crowd around one: `exp(-4 e)`, see above. `marked` has an entry for each node.
pub fn crowding(graph: &Graph, marked: &[bool]) -> Vec<f32> {
    let excess = excess_of_marked(graph, marked);
    let towards = |from: usize, to: usize| if marked[from] { excess[to] } else { 0.0 };
    let of_node = |node: usize| {
        let others = graph.neighbours(node).iter().map(|&other| other as usize);
        let excess = &towards;
        others.map(move |other| (-SUSPICION * (excess(node, other) + excess(other, node))).exp())
    };
    (0..graph.num_nodes()).flat_map(of_node).collect()
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
    fn walks_of_two_and_three_are_counted() {
        let graph = two_cliques();
        let found = walks(&graph, |node| graph.neighbours(node));
        // From 0 to 1: 0-2-1 and 0-3-1; of three edges 0-2-3-1, 0-3-2-1, and to and fro over the edge itself.
        assert_eq!(found[0][0], Walks { two: 2, three: 2 + 3 + 3 - 1 });
        let bridge = graph.neighbours(3).iter().position(|&other| other == 4).unwrap();
        assert_eq!(found[3][bridge], Walks { two: 0, three: 4 + 4 - 1 }, "nothing else joins the two sides");
        let strangers = walks(&graph, |node| if node == 0 { &[4, 5] } else { &[] });
        // To 4: 0-3-4 has two edges; with three there are 0-1-3-4 and 0-2-3-4. To 5: 0-3-4-5.
        assert_eq!(strangers[0], [Walks { two: 1, three: 2 }, Walks { two: 0, three: 1 }]);
    }

    /// Where an edge stands.
    fn place(graph: &Graph, node: usize, other: u32) -> usize {
        let before = graph.neighbours(node).iter().position(|&n| n == other).unwrap();
        graph.adjacency().row_range(node).start + before
    }

    #[test]
    fn edges_to_marked_ones_that_crowd_around_a_node_lose_worth_and_no_others() {
        // 0 is joined to 1..=6, all marked; 7 to 8..=13, of which half are.
        let edges: Vec<(u32, u32)> = (1..7).map(|n| (0, n)).chain((8..14).map(|n| (7, n))).collect();
        let graph = Graph::from_edges(14, &edges).unwrap().0;
        let marked: Vec<bool> = (0..14).map(|n| (1..7).contains(&n) || n == 8).collect();
        let found = crowding(&graph, &marked);
        let kept = |node: usize, other: u32| found[place(&graph, node, other)];
        assert!(kept(0, 1) < 0.2, "{}", kept(0, 1));
        assert_eq!(kept(0, 1), kept(1, 0));
        assert_eq!((kept(7, 8), kept(7, 9)), (1.0, 1.0));
        assert!(
            crowding(&graph, &[true; 14]).iter().all(|kept| *kept == 1.0),
            "where all are marked, nobody stands out"
        );
    }
}
