//! A graph in which some pairs are flipped a little: what gradients with respect to edges are taken of.
//!
//! Each candidate pair has a share `p` in 0..=1 of being flipped: an edge of weight `w` weighs `w (1 - p)`, a pair
//! without an edge weighs `p` times the mean weight. What networks make of a graph, such as the propagation
//! `D^-1/2 (A(p) + I) D^-1/2`, is differentiable in `p`, degrees included; the gradient of a loss is then the score of
//! flipping. Where edges have a direction, a candidate is an arrow.
//! Cost: `O(m + candidates)` per propagation, and sorting them once.

use std::rc::Rc;
use std::sync::Arc;

use crate::autograd::{Order, Sparse, Var, gradients};
use crate::graph::{Features, Graph, Labelled};
use crate::linalg::{Mat, Pattern};

/// A graph with candidates for flipping.
pub(crate) struct Relaxed {
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

/// Candidates, and the graph that they change as a network is to see it.
pub struct Flips<'a> {
    /// The graph as it is.
    pub graph: &'a Graph,
    /// Its features.
    pub features: &'a Features,
    /// Distinct pairs `(low, high)`; arrows, where edges have a direction.
    pub candidates: &'a [(u32, u32)],
    /// By how much each is flipped, `[candidates,1]`.
    pub shares: &'a Var,
}

impl Flips<'_> {
    /// The graph whose edges have no direction, with self loops.
    pub(crate) fn with_loops(&self) -> Relaxed {
        Relaxed::new(&self.graph.to_undirected(), self.candidates)
    }

    /// The graph without self loops.
    pub(crate) fn without_loops(&self) -> Relaxed {
        let weight = self.graph.mean_weight();
        Relaxed::without_loops(self.graph, self.candidates, &vec![weight; self.candidates.len()])
    }
}

impl Relaxed {
    /// With a self loop of weight 1 at each node. Candidates are distinct pairs `(low, high)`.
    pub(crate) fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Self {
        let nodes = graph.num_nodes();
        let none = candidates.len() as u32;
        let mut entries: Vec<Entry> = (0..nodes as u32).map(|node| (node, node, none, 1.0, 0.0)).collect();
        let weight = graph.mean_weight();
        entries.extend(Self::entries(graph, candidates, &vec![weight; candidates.len()]));
        Self::of_entries(nodes, nodes, entries)
    }

    /// Without self loops; a candidate that is no edge would weigh so much as an edge.
    pub(crate) fn without_loops(graph: &Graph, candidates: &[(u32, u32)], weights: &[f32]) -> Self {
        let nodes = graph.num_nodes();
        Self::of_entries(nodes, nodes, Self::entries(graph, candidates, weights))
    }

    /// The same over the known nodes alone, a column for each of them: `known` says which of them each node is.
    pub(crate) fn over_known(
        graph: &Graph,
        candidates: &[(u32, u32)],
        weights: &[f32],
        (known, num_known): (&[Option<u32>], usize),
    ) -> Self {
        let entries = Self::entries(graph, candidates, weights).into_iter();
        let entries =
            entries.filter_map(|entry| Some((entry.0, known[entry.1 as usize]?, entry.2, entry.3, entry.4)));
        Self::of_entries(graph.num_nodes(), num_known, entries.collect())
    }

    /// Edges and candidates, both ways round unless they have a direction.
    fn entries(graph: &Graph, candidates: &[(u32, u32)], weights: &[f32]) -> Vec<Entry> {
        let none = candidates.len() as u32;
        let mut entries: Vec<Entry> = Vec::new();
        let mut put = |a: u32, b: u32, candidate: u32, base: f32, effect: f32| {
            entries.push((a, b, candidate, base, effect));
            if !graph.is_directed() {
                entries.push((b, a, candidate, base, effect));
            }
        };
        for (a, b, weight) in graph.weighted_edges() {
            put(a, b, none, weight, 0.0);
        }
        for ((number, &(a, b)), &weight) in (0u32..).zip(candidates).zip(weights) {
            put(a, b, number, 0.0, weight);
        }
        entries
    }

    fn of_entries(rows: usize, cols: usize, mut entries: Vec<Entry>) -> Self {
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1, entry.2));
        // A candidate that is an edge comes before the edge itself: the two become one entry.
        entries.dedup_by(|edge, candidate| {
            let same = (edge.0, edge.1) == (candidate.0, candidate.1);
            if same {
                (candidate.3, candidate.4) = (edge.3, -edge.3);
            }
            same
        });
        let mut indptr = vec![0; rows + 1];
        entries.iter().for_each(|entry| indptr[entry.0 as usize + 1] += 1);
        for node in 0..rows {
            indptr[node + 1] += indptr[node];
        }
        let column =
            |of: fn(&Entry) -> f32| Var::constant(Mat::column(&entries.iter().map(of).collect::<Vec<f32>>()));
        let indices = |of: fn(&Entry) -> u32| entries.iter().map(of).collect::<Vec<u32>>();
        Relaxed {
            pattern: Arc::new(Pattern::new(rows, cols, indptr, indices(|entry| entry.1))),
            base: column(|entry| entry.3),
            effect: column(|entry| entry.4),
            candidate: indices(|entry| entry.2).into(),
            rows: indices(|entry| entry.0).into(),
            cols: indices(|entry| entry.1).into(),
        }
    }

    /// The weights when each candidate is flipped by its share, `[candidates,1]`.
    pub(crate) fn weights(&self, shares: &Var) -> Sparse {
        let padded = shares.stack_rows(&Var::constant(Mat::zeros(1, 1)));
        let weights = self.base.add(&padded.gather_rows(&self.candidate).mul(&self.effect));
        Sparse::new(self.pattern.clone(), weights)
    }

    /// `D^-1/2 A D^-1/2`, for graphs with self loops.
    pub(crate) fn propagation(&self, shares: &Var) -> Sparse {
        let Sparse { pattern, values: weights, .. } = self.weights(shares);
        let scale = Sparse::new(pattern.clone(), weights.clone()).sum_rows().pow(-0.5); // [n,1]
        let scaled = weights.mul(&scale.gather_rows(&self.rows)).mul(&scale.gather_rows(&self.cols));
        Sparse::new(pattern, scaled)
    }

    /// `D^-1 A`. A node that has no edge is divided by 1, so that its first edge has a finite gradient.
    pub(crate) fn averaging(&self, shares: &Var) -> Sparse {
        let weights = self.weights(shares);
        let scale = or_one(&weights.sum_rows()).pow(-1.0); // [n,1]
        Sparse::new(self.pattern.clone(), weights.values.mul(&scale.gather_rows(&self.rows)))
    }

    /// `A S^-¼`, with `S` the sum of each column or `at_least`, `[columns,1]`, whichever is larger; weights are in units of
    /// `unit`.
    pub(crate) fn neighbour_rows(&self, shares: &Var, at_least: &Mat, unit: f32) -> Sparse {
        let weights = self.weights(shares).values.scale(1.0 / unit);
        let rows = Sparse::new(self.pattern.clone(), weights.clone());
        let now = rows.matmul_t(&Var::constant(Mat::full(self.pattern.rows(), 1, 1.0))); // [columns,1]
        // Where both are the same, a new edge makes the sum the larger one.
        let grows = |now: f32, then: f32| f32::from(u8::from(now >= then * (1.0 - 1e-6)));
        let values = now.value().as_slice().iter().zip(at_least.as_slice());
        let larger =
            Var::constant(Mat::column(&values.map(|(now, then)| grows(*now, *then)).collect::<Vec<_>>()));
        let rest = larger.scale(-1.0).add_scalar(1.0).mul(&Var::constant(at_least.clone()));
        let scale = or_one(&now.mul(&larger).add(&rest)).pow(-0.25);
        Sparse::new(self.pattern.clone(), weights.mul(&scale.gather_rows(&self.cols)))
    }
}

/// The same with 1 in place of 0.
fn or_one(sums: &Var) -> Var {
    let missing: Vec<f32> =
        sums.value().as_slice().iter().map(|sum| f32::from(u8::from(*sum <= 0.0))).collect();
    sums.add(&Var::constant(Mat::column(&missing)))
}

/// How far the best wrong class is ahead of the true one, `[m,C] -> [m,1]`.
pub(crate) fn leads(scores: &Var, classes: &[u32]) -> Var {
    let mut sides = Mat::zeros(scores.rows(), scores.cols());
    for (row, &class) in classes.iter().enumerate() {
        sides.row_mut(row)[class as usize] = -1.0;
        if let Some(best) = best_wrong(scores.value().row(row), class) {
            sides.row_mut(row)[best] = 1.0;
        }
    }
    scores.mul(&Var::constant(sides)).sum_rows()
}

/// The class of the highest score but for one.
pub(crate) fn best_wrong(scores: &[f32], class: u32) -> Option<usize> {
    let wrong = (0..scores.len()).filter(|&other| other != class as usize);
    wrong.reduce(|best, next| if scores[next] > scores[best] { next } else { best })
}

/// The gradient with respect to shares of the mean of `-ln(1 + e^-lead)` at some nodes: `lead` for nodes that are right, next
/// to nothing for those that are lost. Of scores before the softmax, or of logarithms of probabilities, `[n,C]`.
pub(crate) fn gradient_of_leads(scores: &Var, targets: &Labelled, shares: &Var) -> Vec<f32> {
    let leads = leads(&scores.gather_rows(&Rc::from(targets.nodes.as_slice())), &targets.classes);
    let slope = |lead: &f32| 1.0 / (1.0 + lead.exp());
    // The slope times the gradient of the lead is the gradient.
    let slopes: Vec<f32> = leads.value().as_slice().iter().map(slope).collect();
    let loss = leads.mul(&Var::constant(Mat::column(&slopes))).mean();
    if !loss.needs_gradient() {
        return vec![0.0; shares.rows()];
    }
    gradients(&loss, &[shares], Order::First)[0].value().as_slice().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let (flipped, _) = Graph::build(
            5,
            &[(1, 2), (2, 3), (3, 4), (0, 4), (1, 3)],
            Some(&[2.0, 1.0, 4.0, 2.0, 2.0]),
            false,
        )
        .unwrap();
        assert!(close(&of(&[1.0; 3]), &symmetric_with_self_loops(&flipped).apply(&signal)));
        check("relaxed", &[(3, 1)], |v| {
            let shares = v[0].mul(&v[0]).scale(0.1);
            relaxed.propagation(&shares).matmul(&Var::constant(signal.clone())).tanh()
        });
    }
}
