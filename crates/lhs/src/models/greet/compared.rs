//! Which pairs of nodes the discriminator's loss compares.
//!
//! Every edge with a random pair from one of its ends; the edges of a node share a few random pairs, and both directions
//! of an edge one product. Cost: `O(edges * hidden)`, about half of it for the edges.

use std::rc::Rc;
use std::sync::Arc;

use rand::RngExt;

use crate::autograd::{Var, sampled_product};
use crate::linalg::random::generator;
use crate::linalg::{Mat, Pattern};

/// Random pairs that the edges of a node are compared with, shared where it has more edges.
const RANDOM_PAIRS: usize = 4;

/// What the discriminator's loss compares for each entry of the pattern: both directions of an edge share a product.
pub(super) struct Compared {
    /// Each edge once, from the smaller number.
    edges: Arc<Pattern>,
    /// For each entry, its edge; anyone for a self loop.
    edge_of: Rc<[u32]>,
    /// Bounds of the random pairs of each node.
    drawn: Vec<usize>,
    /// For each entry, its random pair.
    drawn_of: Rc<[u32]>,
}

impl Compared {
    /// For the edges of a graph and a self loop at every node.
    pub fn on(pattern: &Pattern) -> Self {
        let ends = |row: usize| {
            pattern.indices()[pattern.row_range(row)].iter().map(move |&other| pair(row as u32, other))
        };
        let mut pairs: Vec<(u32, u32)> = (0..pattern.rows()).flat_map(ends).filter(|(a, b)| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let bounds =
            (0..=pattern.rows()).map(|row| pairs.partition_point(|&(a, _)| a < row as u32)).collect();
        let others = pairs.iter().map(|&(_, b)| b).collect();
        // A self loop is not found, and any edge will do for it.
        let place = |pair: (u32, u32)| pairs.binary_search(&pair).unwrap_or(0) as u32;
        let edge_of = (0..pattern.rows()).flat_map(ends).map(place).collect();

        let (mut drawn, mut drawn_of) = (vec![0], Vec::with_capacity(pattern.nnz()));
        for row in 0..pattern.rows() {
            let own = pattern.row_range(row).len();
            let (first, count) = (drawn[row], own.min(RANDOM_PAIRS));
            drawn_of.extend((0..own).map(|place| (first + place % count) as u32));
            drawn.push(first + count);
        }
        Compared {
            edges: Arc::new(Pattern::new(pattern.rows(), pattern.cols(), bounds, others)),
            edge_of,
            drawn,
            drawn_of: drawn_of.into(),
        }
    }

    /// Inner products of the rows at both ends of each entry, and of its random pair, `[nnz, 1]` each.
    pub fn products(&self, rows: &Var, seed: u64) -> (Var, Var) {
        let num_nodes = rows.rows();
        // A graph without edges has no products to share.
        let edges = sampled_product(&self.edges, rows, rows).stack_rows(&Var::constant(Mat::zeros(1, 1)));
        let mut rng = generator(seed, 0);
        let pairs = self.drawn.last().copied().unwrap_or(0);
        let others = (0..pairs).map(|_| rng.random_range(0..num_nodes as u32)).collect();
        let random = Arc::new(Pattern::new(num_nodes, num_nodes, self.drawn.clone(), others));
        let random = sampled_product(&random, rows, rows);
        (edges.gather_rows(&self.edge_of), random.gather_rows(&self.drawn_of))
    }
}

/// Two nodes, the smaller number first.
fn pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, normalise};

    #[test]
    fn entries_are_compared_with_their_ends_and_with_pairs_of_their_row() {
        let edges = [(0, 1), (2, 1), (2, 3), (3, 2)];
        for directed in [false, true] {
            assert_compared(&Graph::build(4, &edges, None, directed).unwrap().0);
        }
    }

    fn assert_compared(graph: &Graph) {
        let pattern = normalise::with_self_loops(graph).pattern;
        let compared = Compared::on(&pattern);
        assert_eq!(compared.edges.nnz(), 3, "both directions of an edge share a product");
        let rows = Var::constant(Mat::from_fn(4, 2, |row, col| (row * 3 + col) as f32));
        let (joined, random) = compared.products(&rows, 1);
        let expected = sampled_product(&pattern, &rows, &rows);
        for row in 0..4 {
            for place in pattern.row_range(row) {
                if pattern.indices()[place] as usize != row {
                    assert_eq!(joined.value().get(place, 0), expected.value().get(place, 0));
                }
                let pair = compared.drawn_of[place] as usize;
                assert!((compared.drawn[row]..compared.drawn[row + 1]).contains(&pair));
            }
        }
        assert_eq!(random.rows(), pattern.nnz());
    }
}
