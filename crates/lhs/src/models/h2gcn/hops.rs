//! Nodes exactly two steps away.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::{Pattern, SparseMat};

/// The most pairs that are written out, about 4 GB with what training needs beside them.
const MOST_PAIRS: usize = 1 << 28;

/// Joins each node with those at distance 2 exactly, `[n,n]`, values 1: neither itself nor its neighbours.
/// Cost `O(sum of squared degrees)`, memory in proportion to the pairs found.
pub fn exactly_two(graph: &Graph) -> Result<SparseMat> {
    let num_nodes = graph.num_nodes();
    // Counted before they are written: hubs can join nearly all nodes with each other.
    let counts = by_node(graph, <[u32]>::len);
    let total: usize = counts.iter().sum();
    if total > MOST_PAIRS {
        return Err(Error::data(
            format!("{total} pairs of nodes are two steps apart, more than {MOST_PAIRS}"),
            "choose a model that reads direct neighbours only, such as graphsage or appnp",
        ));
    }
    let mut indptr = Vec::with_capacity(num_nodes + 1);
    indptr.push(0);
    indptr.extend(counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    }));
    let mut indices = Vec::with_capacity(total);
    by_node(graph, <[u32]>::to_vec).iter().for_each(|row| indices.extend_from_slice(row));
    Ok(SparseMat::new(Arc::new(Pattern::new(num_nodes, num_nodes, indptr, indices)), vec![1.0; total]))
}

/// What `read` makes of the nodes two steps from each node (ascending), in the order of the nodes.
fn by_node<T: Send>(graph: &Graph, read: impl Fn(&[u32]) -> T + Sync) -> Vec<T> {
    let num_nodes = graph.num_nodes();
    let scratch = || (vec![false; num_nodes], Vec::new());
    (0..num_nodes)
        .into_par_iter()
        .map_init(scratch, |(seen, found), node| {
            found.clear();
            seen[node] = true;
            graph.neighbours(node).iter().for_each(|&near| seen[near as usize] = true);
            for &near in graph.neighbours(node) {
                for &far in graph.neighbours(near as usize) {
                    if !std::mem::replace(&mut seen[far as usize], true) {
                        found.push(far);
                    }
                }
            }
            seen[node] = false;
            graph.neighbours(node).iter().chain(found.iter()).for_each(|&other| seen[other as usize] = false);
            found.sort_unstable();
            read(found)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_the_node_itself_are_not_two_steps_away() {
        // A triangle 0-1-2 with a tail 2-3-4, and 5 alone.
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]).unwrap();
        let found = exactly_two(&graph).unwrap();
        let rows: Vec<&[u32]> = (0..6).map(|node| found.pattern.row(node)).collect();
        assert_eq!(rows, [&[3][..], &[3], &[4], &[0, 1], &[2], &[]]);
        assert!(found.values.iter().all(|&value| value == 1.0));
    }
}
