//! A graph in which some pairs are flipped a little: what gradients with respect to edges are taken of.
//!
//! Each candidate pair has a share `p` in 0..=1 of being flipped: an edge of weight `w` weighs `w (1 - p)`, a pair
//! without an edge weighs `p` times the mean weight. What networks make of a graph, such as the propagation
//! `D^-1/2 (A(p) + I) D^-1/2`, is differentiable in `p`, degrees included; the gradient of a loss is then the score of
//! flipping. Where edges have a direction, a candidate is an arrow.
//! Candidates that are not flipped at all, most of those of an attack, are not stored: they change nothing yet, and only the way back
//! knows them ([`Absent`]). Cost: `O(n + m + candidates)`: entries are put into their places by
//! counting, not by comparing.

use std::rc::Rc;
use std::sync::Arc;

use crate::autograd::{Absent, Order, Sparse, Var, gradients};
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
    /// Candidates that are no edges and not flipped at all: they weigh nothing.
    absent: Absent,
    shares: Var,
}

/// One entry: `weight` is what it weighs, or, of a candidate, what it would.
#[derive(Clone, Copy, Default)]
struct Entry {
    row: u32,
    col: u32,
    /// The number of candidates if it is none.
    candidate: u32,
    weight: f32,
}

/// Entries in two places: what is stored, candidates before edges, and what is not.
struct Entries {
    stored: Vec<Entry>,
    absent: Vec<Entry>,
}

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
        Relaxed::new(&self.graph.to_undirected(), self.candidates, self.shares)
    }

    /// The graph without self loops.
    pub(crate) fn without_loops(&self) -> Relaxed {
        let weight = self.graph.mean_weight();
        Relaxed::without_loops(self.graph, self.candidates, &vec![weight; self.candidates.len()], self.shares)
    }
}

impl Relaxed {
    /// With a self loop of weight 1 at each node. Candidates are distinct pairs `(low, high)`, flipped by shares `[candidates,1]`.
    pub(crate) fn new(graph: &Graph, candidates: &[(u32, u32)], shares: &Var) -> Self {
        let nodes = graph.num_nodes();
        let weights = vec![graph.mean_weight(); candidates.len()];
        let candidate = candidates.len() as u32;
        let mut entries = Entries::of(graph, candidates, &weights, shares);
        let loops = (0..nodes as u32).map(|node| Entry { row: node, col: node, candidate, weight: 1.0 });
        entries.stored.extend(loops);
        entries.relaxed(nodes, nodes, shares)
    }

    /// Without self loops; a candidate that is no edge would weigh so much as an edge.
    pub(crate) fn without_loops(
        graph: &Graph,
        candidates: &[(u32, u32)],
        weights: &[f32],
        shares: &Var,
    ) -> Self {
        let nodes = graph.num_nodes();
        Entries::of(graph, candidates, weights, shares).relaxed(nodes, nodes, shares)
    }

    /// The same over the known nodes alone, a column for each of them: `known` says which of them each node is.
    pub(crate) fn over_known(
        graph: &Graph,
        candidates: &[(u32, u32)],
        weights: &[f32],
        shares: &Var,
        (known, num_known): (&[Option<u32>], usize),
    ) -> Self {
        let Entries { stored, absent } = Entries::of(graph, candidates, weights, shares);
        let over = |entry: Entry| Some(Entry { col: known[entry.col as usize]?, ..entry });
        let entries = Entries {
            stored: stored.into_iter().filter_map(over).collect(),
            absent: absent.into_iter().filter_map(over).collect(),
        };
        entries.relaxed(graph.num_nodes(), num_known, shares)
    }

    /// The weights when each candidate is flipped by its share.
    pub(crate) fn weights(&self) -> Sparse {
        let padded = self.shares.stack_rows(&Var::constant(Mat::zeros(1, 1)));
        let weights = self.base.add(&padded.gather_rows(&self.candidate).mul(&self.effect));
        Sparse::new(self.pattern.clone(), weights).with_absent(self.absent.clone())
    }

    /// `D^-1/2 A D^-1/2`, for graphs with self loops.
    pub(crate) fn propagation(&self) -> Sparse {
        let weights = self.weights();
        let scale = weights.sum_rows().pow(-0.5); // [n,1]
        weights.scale_rows(&scale).scale_columns(&scale)
    }

    /// `D^-1 A`. A node that has no edge is divided by 1, so that its first edge has a finite gradient.
    pub(crate) fn averaging(&self) -> Sparse {
        let weights = self.weights();
        weights.scale_rows(&or_one(&weights.sum_rows()).pow(-1.0))
    }

    /// `A S^-¼`, with `S` the sum of each column or `at_least`, `[columns,1]`, whichever is larger; weights are in units of
    /// `unit`.
    pub(crate) fn neighbour_rows(&self, at_least: &Mat, unit: f32) -> Sparse {
        let rows = self.weights().scale(1.0 / unit);
        let now = rows.matmul_t(&Var::constant(Mat::full(self.pattern.rows(), 1, 1.0))); // [columns,1]
        // Where both are the same, a new edge makes the sum the larger one.
        let grows = |now: f32, then: f32| f32::from(u8::from(now >= then * (1.0 - 1e-6)));
        let values = now.value().as_slice().iter().zip(at_least.as_slice());
        let larger =
            Var::constant(Mat::column(&values.map(|(now, then)| grows(*now, *then)).collect::<Vec<_>>()));
        let rest = larger.scale(-1.0).add_scalar(1.0).mul(&Var::constant(at_least.clone()));
        rows.scale_columns(&or_one(&now.mul(&larger).add(&rest)).pow(-0.25))
    }
}

impl Entries {
    /// Edges and candidates, both ways round unless they have a direction.
    fn of(graph: &Graph, candidates: &[(u32, u32)], weights: &[f32], shares: &Var) -> Self {
        let none = candidates.len() as u32;
        let mut entries = Entries { stored: Vec::new(), absent: Vec::new() };
        let put = |entries: &mut Vec<Entry>, (row, col): (u32, u32), candidate: u32, weight: f32| {
            entries.push(Entry { row, col, candidate, weight });
            if !graph.is_directed() {
                entries.push(Entry { row: col, col: row, candidate, weight });
            }
        };
        let shares = shares.value().as_slice();
        for ((number, &pair), (&weight, &share)) in (0u32..).zip(candidates).zip(weights.iter().zip(shares)) {
            let changes_nothing = share == 0.0 && !graph.has_edge(pair.0, pair.1);
            let entries = if changes_nothing { &mut entries.absent } else { &mut entries.stored };
            put(entries, pair, number, weight);
        }
        graph.weighted_edges().for_each(|(a, b, weight)| put(&mut entries.stored, (a, b), none, weight));
        entries
    }

    fn relaxed(self, rows: usize, cols: usize, shares: &Var) -> Relaxed {
        let entries = counted(&self.stored, cols, |entry| entry.col);
        let entries = counted(&entries, rows, |entry| entry.row);
        let (mut base, mut effect) = (Vec::new(), Vec::new());
        let (mut candidate, mut indices) = (Vec::new(), Vec::new());
        let mut indptr = vec![0; rows + 1];
        let mut last = None;
        for entry in &entries {
            // A candidate that is an edge comes before the edge itself: the two become one entry.
            if last.replace((entry.row, entry.col)) == Some((entry.row, entry.col)) {
                let place = base.len() - 1;
                (base[place], effect[place]) = (entry.weight, -entry.weight);
                continue;
            }
            let is_candidate = (entry.candidate as usize) < shares.rows();
            base.push(if is_candidate { 0.0 } else { entry.weight });
            effect.push(if is_candidate { entry.weight } else { 0.0 });
            candidate.push(entry.candidate);
            indices.push(entry.col);
            indptr[entry.row as usize + 1] += 1;
        }
        for row in 0..rows {
            indptr[row + 1] += indptr[row];
        }
        let of = |of: fn(&Entry) -> u32| self.absent.iter().map(of).collect::<Rc<[u32]>>();
        let weights: Vec<f32> = self.absent.iter().map(|entry| entry.weight).collect();
        Relaxed {
            pattern: Arc::new(Pattern::new(rows, cols, indptr, indices)),
            base: Var::constant(Mat::column(&base)),
            effect: Var::constant(Mat::column(&effect)),
            candidate: candidate.into(),
            absent: Absent {
                rows: of(|entry| entry.row),
                cols: of(|entry| entry.col),
                values: shares
                    .gather_rows(&of(|entry| entry.candidate))
                    .mul(&Var::constant(Mat::column(&weights))),
            },
            shares: shares.clone(),
        }
    }
}

/// Entries by a key in `0..keys`, otherwise in the order in which they were.
fn counted(entries: &[Entry], keys: usize, key: impl Fn(&Entry) -> u32) -> Vec<Entry> {
    let mut next = vec![0usize; keys + 1];
    entries.iter().for_each(|entry| next[key(entry) as usize + 1] += 1);
    for bound in 0..keys {
        next[bound + 1] += next[bound];
    }
    let mut sorted = vec![Entry::default(); entries.len()];
    for entry in entries {
        let place = &mut next[key(entry) as usize];
        sorted[*place] = *entry;
        *place += 1;
    }
    sorted
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

/// What a model is asked that tells what flips would do.
#[derive(Clone, Copy)]
pub struct FlipQuestion<'a> {
    /// Distinct pairs `(low, high)`; arrows, where edges have a direction.
    pub candidates: &'a [(u32, u32)],
    /// By how much each is flipped already, 0..=1: an edge weighs `1 - share` of what it did, a new one `share` of what it would.
    pub shares: &'a [f32],
    /// The nodes to be misled, with their true classes.
    pub targets: &'a Labelled,
    /// What is to be raised.
    pub goal: Goal,
}

/// What an attacker raises, the mean over the targets. The lead of a node is the logarithm of the odds of the best wrong class against
/// the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// `-ln(1 + e^-lead)`: all nodes count that are not lost yet. For budgets at each node.
    AtEachNode,
    /// `tanh(lead / 2)`, which is the difference of the two probabilities, by their sum: nodes that are lost count for little, and so do
    /// those that are out of reach. For one budget that all share.
    WithOneBudget,
}

impl FlipQuestion<'_> {
    /// The derivative of the goal with respect to shares, given scores before the softmax, or logarithms of probabilities, `[n,C]`.
    pub(crate) fn gradient(&self, scores: &Var, shares: &Var) -> Vec<f32> {
        let Labelled { nodes, classes } = self.targets;
        let leads = leads(&scores.gather_rows(&Rc::from(nodes.as_slice())), classes);
        let goal = match self.goal {
            Goal::AtEachNode => {
                let slope = |lead: &f32| 1.0 / (1.0 + lead.exp());
                // The slope times the gradient of the lead is the gradient.
                let slopes: Vec<f32> = leads.value().as_slice().iter().map(slope).collect();
                leads.mul(&Var::constant(Mat::column(&slopes)))
            }
            Goal::WithOneBudget => leads.scale(0.5).tanh(),
        };
        let goal = goal.mean();
        if !goal.needs_gradient() {
            return vec![0.0; shares.rows()];
        }
        gradients(&goal, &[shares], Order::First)[0].value().as_slice().to_vec()
    }
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
        let propagation = |shares: &Var| Relaxed::new(&graph, &candidates, shares).propagation();
        let signal = Mat::from_fn(5, 2, |row, col| (row * 2 + col) as f32 - 3.0);
        let of = |shares: &[f32]| {
            let shares = Var::constant(Mat::column(shares));
            propagation(&shares).matmul(&Var::constant(signal.clone())).value().clone()
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
            propagation(&shares).matmul(&Var::constant(signal.clone())).tanh()
        });
    }

    #[test]
    fn candidates_that_are_not_flipped_have_the_gradient_of_those_that_hardly_are() {
        let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4)]).unwrap();
        let candidates = [(0, 1), (0, 4), (1, 3), (2, 5)];
        let signal = Mat::from_fn(6, 2, |row, col| 0.3 * ((row * 7 + col * 5 + row * row) % 11) as f32 - 1.3);
        let ways: [fn(&Relaxed) -> Sparse; 3] =
            [Relaxed::propagation, Relaxed::averaging, |it| it.neighbour_rows(&Mat::full(6, 1, 1.5), 1.0)];
        for way in ways {
            let gradient = |shares: &[f32]| {
                let shares = Var::parameter(Mat::column(shares));
                let relaxed = way(&Relaxed::new(&graph, &candidates, &shares));
                let loss = relaxed.matmul(&Var::constant(signal.clone())).tanh().mean();
                gradients(&loss, &[&shares], Order::First)[0].value().as_slice().to_vec()
            };
            let (none, hardly) = (gradient(&[0.0; 4]), gradient(&[1e-6; 4]));
            assert!(none.iter().zip(&hardly).all(|(a, b)| (a - b).abs() < 1e-4), "{none:?} {hardly:?}");
            assert!(none.iter().filter(|slope| slope.abs() > 1e-4).count() > 2, "{none:?}");
        }
    }
}
