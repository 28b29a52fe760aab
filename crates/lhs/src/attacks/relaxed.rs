//! A graph in which some pairs are flipped a little: what gradients with respect to edges are taken of.
//!
//! Each candidate pair has a share `p` in 0..=1 of being flipped: an edge of weight `w` weighs `w (1 - p)`, a pair
//! without an edge weighs `p` times the mean weight. The propagation `D^-1/2 (A(p) + I) D^-1/2` is differentiable in
//! `p`, degrees included; the gradient of a loss is then the score of flipping.
//! Cost: `O(m + candidates)` per propagation, and sorting them once.

use std::rc::Rc;
use std::sync::Arc;

use crate::autograd::{Sparse, Var};
use crate::graph::Graph;
use crate::linalg::{Mat, Pattern};

/// A graph with candidates for flipping.
pub(super) struct Relaxed {
    pattern: Arc<Pattern>,
    /// Weight of each entry when nothing is flipped.
    base: Var,
    /// What a full flip adds to each entry.
    effect: Var,
    /// The candidate that each entry belongs to; the number of candidates if to none.
    candidate: Rc<[u32]>,
    rows: Rc<[u32]>,
    cols: Rc<[u32]>,
}

/// One stored entry: `(row, column, candidate, base, effect)`.
type Entry = (u32, u32, u32, f32, f32);

impl Relaxed {
    /// Candidates are distinct pairs `(low, high)`.
    pub(super) fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Self {
        let nodes = graph.num_nodes();
        let none = candidates.len() as u32;
        let weight = graph.mean_weight();
        let mut entries: Vec<Entry> = (0..nodes as u32).map(|node| (node, node, none, 1.0, 0.0)).collect();
        for (a, b, weight) in graph.weighted_edges() {
            entries.push((a, b, none, weight, 0.0));
            entries.push((b, a, none, weight, 0.0));
        }
        for (number, &(a, b)) in (0u32..).zip(candidates) {
            entries.push((a, b, number, 0.0, weight));
            entries.push((b, a, number, 0.0, weight));
        }
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1, entry.2));
        // A candidate that is an edge comes before the edge itself: the two become one entry.
        entries.dedup_by(|edge, candidate| {
            let same = (edge.0, edge.1) == (candidate.0, candidate.1);
            if same {
                (candidate.3, candidate.4) = (edge.3, -edge.3);
            }
            same
        });
        Self::of_entries(nodes, &entries)
    }

    fn of_entries(nodes: usize, entries: &[Entry]) -> Self {
        let mut indptr = vec![0; nodes + 1];
        entries.iter().for_each(|entry| indptr[entry.0 as usize + 1] += 1);
        for node in 0..nodes {
            indptr[node + 1] += indptr[node];
        }
        let column =
            |of: fn(&Entry) -> f32| Var::constant(Mat::column(&entries.iter().map(of).collect::<Vec<f32>>()));
        let indices = |of: fn(&Entry) -> u32| entries.iter().map(of).collect::<Vec<u32>>();
        Relaxed {
            pattern: Arc::new(Pattern::new(nodes, nodes, indptr, indices(|entry| entry.1))),
            base: column(|entry| entry.3),
            effect: column(|entry| entry.4),
            candidate: indices(|entry| entry.2).into(),
            rows: indices(|entry| entry.0).into(),
            cols: indices(|entry| entry.1).into(),
        }
    }

    /// The propagation when each candidate is flipped by its share, `[candidates,1]`.
    pub(super) fn propagation(&self, shares: &Var) -> Sparse {
        let padded = shares.stack_rows(&Var::constant(Mat::zeros(1, 1)));
        let weights = self.base.add(&padded.gather_rows(&self.candidate).mul(&self.effect));
        let scale = Sparse::new(self.pattern.clone(), weights.clone()).sum_rows().pow(-0.5); // [n,1]
        let scaled = weights.mul(&scale.gather_rows(&self.rows)).mul(&scale.gather_rows(&self.cols));
        Sparse::new(self.pattern.clone(), scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::edges::flip;
    use crate::autograd::check::check;
    use crate::graph::normalise::symmetric_with_self_loops;
    use crate::linalg::LinearMap;

    #[test]
    fn whole_flips_are_flips_and_gradients_equal_finite_differences() {
        let (graph, _) =
            Graph::build(5, &[(0, 1), (1, 2), (2, 3), (3, 4)], Some(&[1.0, 2.0, 1.0, 4.0]), false).unwrap();
        let candidates = [(0, 1), (0, 4), (1, 3)];
        let relaxed = Relaxed::new(&graph, &candidates);
        let signal = Mat::from_fn(5, 2, |row, col| (row * 2 + col) as f32 - 3.0);
        let of = |shares: &[f32]| {
            let propagation = relaxed.propagation(&Var::constant(Mat::column(shares)));
            propagation.matmul(&Var::constant(signal.clone())).value().clone()
        };
        let close =
            |a: &Mat, b: &Mat| a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(close(&of(&[0.0; 3]), &symmetric_with_self_loops(&graph).apply(&signal)));
        let flipped = flip(&graph, &candidates).unwrap().graph;
        assert!(close(&of(&[1.0; 3]), &symmetric_with_self_loops(&flipped).apply(&signal)));
        check("relaxed", &[(3, 1)], |v| {
            let shares = v[0].mul(&v[0]).scale(0.1);
            relaxed.propagation(&shares).matmul(&Var::constant(signal.clone())).tanh()
        });
    }
}
