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
    /// For a symmetric pattern with self loops.
    pub fn on(pattern: &Pattern) -> Self {
        let (mut bounds, mut others, mut drawn) = (vec![0], Vec::new(), vec![0]);
        let (mut edge_of, mut drawn_of) = (vec![0u32; pattern.nnz()], Vec::with_capacity(pattern.nnz()));
        // The next entry of each row that has not met its edge: rows and columns ascend.
        let mut next: Vec<usize> = pattern.indptr().to_vec();
        for row in 0..pattern.rows() {
            let own = pattern.row_range(row);
            for place in own.clone() {
                let other = pattern.indices()[place] as usize;
                if other > row {
                    edge_of[place] = others.len() as u32;
                    edge_of[next[other]] = others.len() as u32;
                    next[other] += 1;
                    others.push(other as u32);
                }
            }
            bounds.push(others.len());
            let (first, count) = (drawn[row], own.len().min(RANDOM_PAIRS));
            drawn_of.extend((0..own.len()).map(|place| (first + place % count) as u32));
            drawn.push(first + count);
        }
        Compared {
            edges: Arc::new(Pattern::new(pattern.rows(), pattern.cols(), bounds, others)),
            edge_of: edge_of.into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, normalise};

    #[test]
    fn entries_are_compared_with_their_ends_and_with_pairs_of_their_row() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let pattern = normalise::with_self_loops(&graph).pattern;
        let compared = Compared::on(&pattern);
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
