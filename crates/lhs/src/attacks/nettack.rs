//! Nettack at chosen nodes, edges only (Zügner et al. 2018).
//!
//! The surrogate is a linear graph convolution, `scores = Â² X W`. With `R = X W [n,C]`, degrees `d` that count the self
//! loop, and `T_w = Σ_{x∈N[w]} R_x / √d_x`, the scores of a node are `d_v^-½ Σ_{w∈N[v]} T_w / d_w`, so what a flip of
//! `(v, u)` does to them is known exactly from a few sums: every pair at the node is tried in `O(C)`. The flip with the
//! largest lead of a wrong class is taken, among those after which the degrees still look like the same power law
//! (likelihood ratio below 0.004, as published). The graph stays changed for the nodes that follow; only the nodes
//! attacked are scored. Cost per flip: `O(m C)`.

use serde::{Deserialize, Serialize};

use super::targets::TargetedConfig;
use super::{Attack, AttackContext, AttackKind, Change, registry};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Dataset, Graph, Split, normalise};
use crate::linalg::Mat;
use crate::linalg::random::{derive, generator, glorot};
use crate::models::relaxed::best_wrong;
use crate::training::{Input, Network, Parameters, Session, Supervised, Task, TrainingConfig, train};

/// The largest likelihood ratio of the degrees before and after.
const CONSPICUOUS: f64 = 0.004;
/// Degrees below this are not part of the power law.
const LEAST_DEGREE: usize = 2;

/// Settings of the attack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NettackConfig(pub TargetedConfig);

impl Attack for NettackConfig {
    fn validate(&self) -> Result<()> {
        self.0.validate()
    }

    fn rate(&self) -> f64 {
        self.0.rate
    }

    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        self.0.budget(dataset, split)
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        if self.0.rate == 0.0 {
            return Ok(Change::default());
        }
        let nodes = self.0.nodes(context, derive(seed, &[0]))?;
        let codes = learned_codes(context, derive(seed, &[1]))?;
        let clean = Degrees::of(context.dataset.graph());
        self.0.plan(context, nodes, |graph, target, edits| {
            let degrees = Degrees::of(graph);
            let inconspicuous = |other: u32| {
                let ends = [target.node, other].map(|end| graph.degree(end as usize));
                clean.ratio(&degrees.after(ends, graph.has_edge(target.node, other))) < CONSPICUOUS
            };
            let allowed = |other: u32| edits.may_flip(target.node, other) && inconspicuous(other);
            Around::new(graph, &codes, target.node).best(target.class, allowed)
        })
    }
}

/// `R = X W` of a linear graph convolution that was trained on the clean graph, `[n,C]`.
fn learned_codes(context: &AttackContext<'_>, seed: u64) -> Result<Mat> {
    context.need_features()?;
    let task = Task::new(context.dataset, context.split)?;
    let propagation = normalise::symmetric_with_self_loops(&task.graph.to_undirected());
    let network = Linear {
        input: Input::new(&normalise::row_normalised(task.features)),
        propagation: Sparse::constant(&propagation),
    };
    let mut parameters = Parameters::default();
    parameters.weight("weight", glorot(&mut generator(seed, 0), task.features.dim(), task.num_classes));
    let mut session = Session::watched_by(context.observer);
    let objective = Supervised::on(&network, &task.train, &task.val);
    train("surrogate", &objective, &mut parameters, &TrainingConfig::default(), seed, &mut session)?;
    Ok(network.input.matmul(&parameters.constants()[0]).value().clone())
}

struct Linear {
    input: Input,
    propagation: Sparse,
}

impl Network for Linear {
    fn scores(&self, parameters: &[Var], _: Option<u64>) -> Var {
        self.propagation.matmul(&self.propagation.matmul(&self.input.matmul(&parameters[0])))
    }
}

/// What the scores of one node depend on.
struct Around<'a> {
    graph: &'a Graph,
    codes: &'a Mat,
    node: u32,
    /// `T [n,C]`.
    sums: Mat,
    /// `Σ T_w / d_w` over the neighbours of the node.
    near: Vec<f32>,
    /// `Σ 1 / d_w` over the neighbours of the node.
    inverse: f32,
    /// For each node, `Σ 1 / d_w` over its common neighbours with the node.
    common: Vec<f32>,
}

fn degree(graph: &Graph, node: u32) -> f32 {
    graph.degree(node as usize) as f32 + 1.0
}

impl<'a> Around<'a> {
    fn new(graph: &'a Graph, codes: &'a Mat, node: u32) -> Self {
        let mut sums = Mat::zeros(codes.rows(), codes.cols());
        for at in 0..graph.num_nodes() as u32 {
            for &from in graph.neighbours(at as usize).iter().chain([&at]) {
                add(sums.row_mut(at as usize), codes.row(from as usize), degree(graph, from).powf(-0.5));
            }
        }
        let (mut near, mut inverse) = (vec![0.0; codes.cols()], 0.0);
        let mut common = vec![0.0; graph.num_nodes()];
        for &neighbour in graph.neighbours(node as usize) {
            let weight = 1.0 / degree(graph, neighbour);
            add(&mut near, sums.row(neighbour as usize), weight);
            inverse += weight;
            graph.neighbours(neighbour as usize).iter().for_each(|&far| common[far as usize] += weight);
        }
        Around { graph, codes, node, sums, near, inverse, common }
    }

    /// The scores of the node after the pair with another node is flipped.
    fn scores_after(&self, other: u32) -> Vec<f32> {
        let gone = self.graph.has_edge(self.node, other);
        let change = if gone { -1.0 } else { 1.0 };
        let (own_before, other_before) = (degree(self.graph, self.node), degree(self.graph, other));
        let (own_after, other_after) = (own_before + change, other_before + change);
        let root = |degree: f32| degree.powf(-0.5);
        let own_moves = root(own_after) - root(own_before);
        let other_moves = root(other_after) - root(other_before);
        let (own_code, other_code) = (self.codes.row(self.node as usize), self.codes.row(other as usize));
        let mut sum = self.near.clone();
        let mut inverse = self.inverse;
        if gone {
            add(&mut sum, self.sums.row(other as usize), -1.0 / other_before);
            inverse -= 1.0 / other_before;
        }
        // The neighbours that stay: both ends now weigh differently in their sums.
        add(&mut sum, own_code, own_moves * inverse);
        add(&mut sum, other_code, other_moves * self.common[other as usize]);
        // The node itself.
        add(&mut sum, self.sums.row(self.node as usize), 1.0 / own_after);
        add(&mut sum, own_code, own_moves / own_after);
        let edge = if gone { -root(other_before) } else { root(other_after) };
        add(&mut sum, other_code, edge / own_after);
        if !gone {
            add(&mut sum, self.sums.row(other as usize), 1.0 / other_after);
            add(&mut sum, other_code, other_moves / other_after);
            add(&mut sum, own_code, root(own_after) / other_after);
        }
        sum.iter_mut().for_each(|score| *score *= root(own_after));
        sum
    }

    /// The other end of the best pair to flip.
    fn best(&self, class: u32, allowed: impl Fn(u32) -> bool) -> Option<u32> {
        let others = (0..self.graph.num_nodes() as u32).filter(|&other| other != self.node && allowed(other));
        let scored = others.map(|other| (lead(&self.scores_after(other), class), other));
        scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, other)| other)
    }
}

fn add(to: &mut [f32], from: &[f32], factor: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

/// How far the best wrong class is ahead.
fn lead(scores: &[f32], class: u32) -> f32 {
    best_wrong(scores, class).map_or(f32::NEG_INFINITY, |best| scores[best]) - scores[class as usize]
}

/// The degrees of a graph as a power law sees them.
#[derive(Clone, Copy, Debug)]
struct Degrees {
    count: f64,
    /// Sum of the logarithms.
    logs: f64,
}

impl Degrees {
    fn of(graph: &Graph) -> Self {
        let degrees = (0..graph.num_nodes()).map(|node| graph.degree(node));
        degrees.fold(Degrees { count: 0.0, logs: 0.0 }, |sum, degree| sum.plus(degree, 1.0))
    }

    fn plus(self, degree: usize, times: f64) -> Self {
        if degree < LEAST_DEGREE {
            return self;
        }
        Degrees { count: self.count + times, logs: self.logs + times * (degree as f64).ln() }
    }

    /// After an edge between nodes of these degrees goes or comes.
    fn after(self, ends: [usize; 2], gone: bool) -> Self {
        ends.into_iter().fold(self, |sum, degree| {
            sum.plus(degree, -1.0).plus(if gone { degree - 1 } else { degree + 1 }, 1.0)
        })
    }

    fn log_likelihood(self) -> f64 {
        let least = LEAST_DEGREE as f64;
        let spread = self.logs - self.count * (least - 0.5).ln();
        if self.count == 0.0 || spread <= 0.0 {
            return 0.0;
        }
        let exponent = 1.0 + self.count / spread;
        self.count * exponent.ln() + self.count * exponent * least.ln() - (exponent + 1.0) * self.logs
    }

    /// How much likelier two laws are than one for both graphs.
    fn ratio(self, other: &Degrees) -> f64 {
        let both = Degrees { count: self.count + other.count, logs: self.logs + other.logs };
        2.0 * (self.log_likelihood() + other.log_likelihood() - both.log_likelihood())
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "nettack",
    summary: "flips the best pair for a linear surrogate, inconspicuously, at chosen nodes",
    defaults: registry::defaults::<NettackConfig>,
    build: registry::build::<NettackConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::edges::flip;
    use crate::graph::normalise::symmetric_with_self_loops;
    use crate::linalg::LinearMap;

    #[test]
    fn scores_after_a_flip_are_exact() {
        let pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (1, 5), (0, 5)];
        let (graph, _) = Graph::from_edges(6, &pairs).unwrap();
        let codes = glorot(&mut generator(1, 0), 6, 3);
        for node in 0..6 {
            let around = Around::new(&graph, &codes, node);
            for other in (0..6).filter(|&other| other != node) {
                let after = flip(&graph, &[(node, other)]).unwrap().graph;
                let propagation = symmetric_with_self_loops(&after);
                let exact = propagation.apply(&propagation.apply(&codes));
                for (found, exact) in around.scores_after(other).iter().zip(exact.row(node as usize)) {
                    assert!((found - exact).abs() < 1e-5, "{node} and {other}: {found} and {exact}");
                }
            }
        }
    }

    #[test]
    fn degrees_after_a_flip_are_those_of_the_flipped_graph() {
        let (graph, _) = Graph::from_edges(5, &[(0, 1), (0, 2), (0, 3), (1, 2), (3, 4)]).unwrap();
        let before = Degrees::of(&graph);
        for pair in [(0, 1), (2, 4)] {
            let gone = graph.has_edge(pair.0, pair.1);
            let ends = [pair.0, pair.1].map(|node| graph.degree(node as usize));
            let (found, exact) =
                (before.after(ends, gone), Degrees::of(&flip(&graph, &[pair]).unwrap().graph));
            assert!((found.count - exact.count).abs() < 1e-9 && (found.logs - exact.logs).abs() < 1e-9);
        }
        assert!(before.ratio(&before).abs() < 1e-9);
        assert!(before.ratio(&Degrees { count: 5.0, logs: 15.0 }) > 0.1);
    }
}
