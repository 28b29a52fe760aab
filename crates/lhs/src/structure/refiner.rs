//! The dual-view contrastive refiner: embeddings in which a node is nearest to itself, however corrupted,
//! and near to those of its class.
//!
//! A node's code `C = relu(X W_x + b_x) ‖ relu(P W_p + b_p) [n,w]` comes from its whole features and its whole neighbour rows
//! (one code for each direction where edges have one). Two corrupted copies of `(S, C)`: a share of the edges dropped, a share
//! of the inputs set to zero. A two-layer graph convolution with a skip connection over `Ŝ = D^-½ (S + I) D^-½`,
//! `E = Ŝ prelu(Ŝ C W₁) W₂ + C W₃ [n,h]`, embeds both copies (and, when learned, the graph itself) with the same
//! weights. Minimised: InfoNCE between the copies (over all nodes where there are few, over a batch otherwise),
//! plus `pairwise_weight` times a constraint at training nodes, plus `class_weight` times the cross-entropy of a linear
//! classifier of `E`, whose answers are the nodes' votes. With cosines `s` and the constraint's temperature `t`:
//! - `pairs`, the paper's: for sampled nodes `u`, `v` of one class and `w` of another,
//!   `-log σ(s(u,v)/t) - log σ(-s(u,w)/t)`;
//! - `vote`, ours: all pairs of a batch at once, `-log Σ_same exp(s(u,v)/t) / Σ_others exp(s(u,v)/t)`, which is the
//!   share of the class in the vote of the neighbours (neighbourhood component analysis, Goldberger et al. 2004).
//!
//! Departures from the paper: cosines instead of bare products, since the inducer looks at directions alone; the
//! skip connection, since a convolution alone keeps every wrong neighbour near; the vote; the classifier, since nodes whose
//! answers differ should not be joined, however alike they are; whole rows instead of leading directions, which know less.
//! Cost per epoch: two passes, `O((nnz(X) + nnz(P)) h + m h² + edges h)`, and `O(b² h)` for `b` contrasted nodes, where `m` is at most
//! [`RefinerConfig::sample`].

use std::rc::Rc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::autograd::{InfoNce, Sparse, Var};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph, Labelled, normalise};
use crate::linalg::random::{derive, generator, glorot, hash};
use crate::linalg::{Mat, SparseMat};
use crate::training::{Auto, Input, Objective, Parameters, Score, Session, Tensors, TrainingConfig, train};

/// Settings of the refiner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RefinerConfig {
    /// Width of the embedding, 1 or more.
    pub hidden: usize,
    /// Steps per round, 1 or more.
    pub epochs: usize,
    /// Step size of Adam, above 0.
    pub learning_rate: f32,
    /// Pulls weights towards zero, 0 or above.
    pub weight_decay: f32,
    /// Divides the cosines (the paper's τ), above 0.
    pub temperature: f32,
    /// Weight of InfoNCE, 0 or above.
    pub contrastive_weight: f32,
    /// Weight of the pairwise constraint (the paper's λ₂), 0 or above.
    pub pairwise_weight: f32,
    /// Weight of the classifier whose answers are the votes, 0 (nodes do not vote) or above.
    pub class_weight: f32,
    /// The form of the constraint: `vote`, or `pairs` as in the paper.
    pub constraint: Constraint,
    /// Divides the cosines in the constraint, above 0.
    pub pairwise_temperature: f32,
    /// Refiners per round, each blind to the labels of one share of the training nodes, for which it then
    /// stands in; 1 shows all labels to one refiner. Where a label has arranged its own neighbourhood, that
    /// looks better than it will at test nodes, and the classifier trusts it too much.
    pub folds: usize,
    /// Share of the edges that a corrupted copy lacks, 0..1.
    pub edge_drop: f32,
    /// Share of the inputs that a corrupted copy lacks, 0..1.
    pub feature_drop: f32,
    /// Nodes contrasted per step where all would be too many, 2 or more.
    pub batch: usize,
    /// Training nodes that vote, or triples of them that are compared, per step, 2 or more.
    pub pairs: usize,
    /// Up to this many nodes, all are contrasted with all.
    pub exact_up_to: usize,
    /// At most this many nodes are learned from, 2 or more; all are embedded.
    pub sample: usize,
}

/// The form of the pairwise constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// The vote of all others in a batch must find the class.
    Vote,
    /// One of the class must be near, one of another far.
    Pairs,
}

impl Default for RefinerConfig {
    fn default() -> Self {
        RefinerConfig {
            hidden: 64,
            epochs: 60,
            learning_rate: 0.005,
            weight_decay: 5e-4,
            temperature: 0.6,
            contrastive_weight: 1.0,
            pairwise_weight: 1.0,
            class_weight: 1.0,
            constraint: Constraint::Vote,
            pairwise_temperature: 0.1,
            folds: 2,
            edge_drop: 0.3,
            feature_drop: 0.5,
            batch: 256,
            pairs: 512,
            exact_up_to: 1000,
            sample: 4096,
        }
    }
}

impl RefinerConfig {
    /// Checks the ranges; `prefix` is the path of these settings.
    pub fn validate(&self, prefix: &str) -> Result<()> {
        let wrong = |key: &str, value: f32, range: &str| {
            Err(Error::setting(
                format!("{prefix}.{key}"),
                format!("{value} is out of range"),
                format!("choose {range}"),
            ))
        };
        let counts = [("hidden", self.hidden, 1), ("folds", self.folds, 1)];
        let more = [("batch", self.batch, 2), ("pairs", self.pairs, 2), ("sample", self.sample, 2)];
        for (key, value, least) in counts.into_iter().chain(more) {
            if value < least {
                return wrong(key, value as f32, &format!("{least} or more"));
            }
        }
        for (key, value) in [
            ("temperature", self.temperature),
            ("pairwise_temperature", self.pairwise_temperature),
            ("learning_rate", self.learning_rate),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return wrong(key, value, "a positive number");
            }
        }
        for (key, value) in [
            ("contrastive_weight", self.contrastive_weight),
            ("pairwise_weight", self.pairwise_weight),
            ("class_weight", self.class_weight),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return wrong(key, value, "0 or a positive number");
            }
        }
        for (key, value) in [("edge_drop", self.edge_drop), ("feature_drop", self.feature_drop)] {
            if !(0.0..1.0).contains(&value) {
                return wrong(key, value, "a share from 0 up to, not including, 1");
            }
        }
        self.training().validate(prefix)
    }

    fn training(&self) -> TrainingConfig {
        TrainingConfig {
            epochs: self.epochs,
            patience: self.epochs,
            learning_rate: self.learning_rate,
            weight_decay: Auto::Given(self.weight_decay),
            ..TrainingConfig::default()
        }
    }
}

/// What a refiner learns from.
pub struct RefinerInput<'a> {
    /// The structure so far.
    pub structure: &'a Graph,
    /// What is known of every node: its features, its neighbour rows.
    pub sights: &'a [Features],
    /// The labels that it may know.
    pub labelled: &'a Labelled,
    /// How many classes there are.
    pub num_classes: usize,
}

/// A refiner that has learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Refiner {
    parameters: Parameters,
}

/// What a refiner says of every node.
pub struct Embedded {
    /// `[n,h]`.
    pub codes: Mat,
    /// `[n,classes]`, rows of sum 1.
    pub votes: Mat,
}

impl Refiner {
    /// Learns; `stage` names the training in the curve.
    pub fn fit(
        stage: &str,
        input: &RefinerInput<'_>,
        config: &RefinerConfig,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Self> {
        let columns: Vec<usize> = input.sights.iter().map(Features::dim).collect();
        let mut parameters = Self::initial(&columns, config.hidden, input.num_classes, seed);
        if config.class_weight == 0.0 {
            // Nobody teaches the classifier: all votes are alike.
            let mut tensors = parameters.tensors();
            tensors.insert(VOTES.into(), Mat::zeros(config.hidden, input.num_classes));
            parameters.restore(&tensors)?;
        }
        let objective = Refinement::new(config, input, derive(seed, &[2]))?;
        train(stage, &objective, &mut parameters, &config.training(), derive(seed, &[1]), session)?;
        Ok(Refiner { parameters })
    }

    fn initial(columns: &[usize], hidden: usize, classes: usize, seed: u64) -> Parameters {
        let mut rng = generator(seed, 0);
        let mut parameters = Parameters::default();
        let width = columns.len() * hidden;
        parameters.weight("first", glorot(&mut rng, width, hidden));
        parameters.bias("slope", Mat::full(1, hidden, 0.25));
        parameters.weight("second", glorot(&mut rng, hidden, hidden));
        parameters.weight("skip", glorot(&mut rng, width, hidden));
        parameters.weight(VOTES, glorot(&mut rng, hidden, classes));
        parameters.bias("votes.bias", Mat::zeros(1, classes));
        for (number, &columns) in columns.iter().enumerate() {
            parameters.weight(format!("sight.{number}.weight"), glorot(&mut rng, columns, hidden));
            parameters.bias(format!("sight.{number}.bias"), Mat::zeros(1, hidden));
        }
        parameters
    }

    /// What it says of the nodes of a structure.
    pub fn embed(&self, structure: &Graph, sights: &[Features]) -> Embedded {
        let propagation = Sparse::constant(&normalise::symmetric_with_self_loops(structure));
        let inputs: Vec<Input> = sights.iter().map(Input::new).collect();
        let parameters = self.parameters.constants();
        let codes = embed(&parameters, &propagation, &inputs);
        let votes = votes(&parameters, &codes).softmax().value().clone();
        Embedded { codes: codes.value().clone(), votes }
    }

    /// What it learned.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Restores a refiner from the tensors of its parameters.
    pub fn from_tensors(tensors: &Tensors) -> Result<Self> {
        let sight = |number: usize| tensors.get(&format!("sight.{number}.weight")).map(Mat::rows);
        let columns: Vec<usize> = (0..).map_while(sight).collect();
        let (hidden, classes) = tensors.get(VOTES).map_or((0, 0), Mat::shape);
        let mut parameters = Self::initial(&columns, hidden, classes, 0);
        parameters.restore(tensors)?;
        Ok(Refiner { parameters })
    }
}

/// The weights of the classifier.
const VOTES: &str = "votes.weight";
/// Parameters beside those of the sights.
const SHARED: usize = 6;

fn embed(parameters: &[Var], propagation: &Sparse, inputs: &[Input]) -> Var {
    let sights = inputs.iter().zip(parameters[SHARED..].chunks_exact(2));
    let codes: Vec<Var> =
        sights.map(|(input, layer)| input.matmul(&layer[0]).add_row(&layer[1]).relu()).collect();
    let code = Var::concat_cols(&codes.iter().collect::<Vec<_>>()); // [n,w]
    let hidden = propagation.matmul(&code.matmul(&parameters[0])).prelu(&parameters[1]); // [n,h]
    propagation.matmul(&hidden.matmul(&parameters[2])).add(&code.matmul(&parameters[3])) // [n,h]
}

fn votes(parameters: &[Var], codes: &Var) -> Var {
    codes.matmul(&parameters[4]).add_row(&parameters[5])
}

struct Refinement<'a> {
    config: &'a RefinerConfig,
    inputs: Vec<Input>,
    num_nodes: usize,
    /// `S + I`, to drop edges from.
    loops: SparseMat,
    /// Of the nodes that are learned from.
    labelled: Labelled,
}

impl<'a> Refinement<'a> {
    fn new(config: &'a RefinerConfig, input: &RefinerInput<'_>, seed: u64) -> Result<Self> {
        let total = input.structure.num_nodes();
        if total <= config.sample {
            return Ok(Refinement {
                config,
                inputs: input.sights.iter().map(Input::new).collect(),
                num_nodes: total,
                loops: normalise::with_self_loops(input.structure),
                labelled: input.labelled.clone(),
            });
        }
        let mut nodes = draw(total, config.sample, seed);
        nodes.sort_unstable();
        let place = |node: u32| nodes.binary_search(&node).ok().map(|place| place as u32);
        let known = input.labelled.nodes.iter().zip(&input.labelled.classes);
        let (labelled, classes) = known.filter_map(|(&node, &class)| Some((place(node)?, class))).unzip();
        Ok(Refinement {
            config,
            inputs: input.sights.iter().map(|sight| Input::new(&sight.select(&nodes))).collect(),
            num_nodes: nodes.len(),
            loops: normalise::with_self_loops(&input.structure.induced(&nodes)?),
            labelled: Labelled { nodes: labelled, classes },
        })
    }

    fn corrupted(&self, parameters: &[Var], seed: u64) -> Var {
        let rate = self.config.feature_drop;
        let corrupt = |(number, input): (u64, &Input)| input.dropout(rate, derive(seed, &[0, number]));
        let inputs: Vec<Input> = (0..).zip(&self.inputs).map(corrupt).collect();
        let structure = without_edges(&self.loops, self.config.edge_drop, derive(seed, &[1]));
        embed(parameters, &Sparse::constant(&normalise::symmetrically_scaled(structure)), &inputs)
    }

    fn cross_entropy(&self, parameters: &[Var], embedding: &Var) -> Option<Var> {
        let Labelled { nodes, classes } = &self.labelled;
        let known = embedding.gather_rows(&nodes.clone().into());
        (!nodes.is_empty()).then(|| votes(parameters, &known).cross_entropy(&classes.clone().into()))
    }

    fn contrast(&self, first: &Var, second: &Var, seed: u64) -> Var {
        let loss = InfoNce { temperature: self.config.temperature };
        if first.rows() <= self.config.exact_up_to {
            return loss.loss(first, second);
        }
        let batch: Rc<[u32]> = draw(first.rows(), self.config.batch.min(first.rows()), seed).into();
        loss.loss(&first.gather_rows(&batch), &second.gather_rows(&batch))
    }

    fn constraint(&self, embedding: &Var, seed: u64) -> Option<Var> {
        match self.config.constraint {
            Constraint::Vote => self.vote(embedding, seed),
            Constraint::Pairs => self.pairs(embedding, seed),
        }
    }

    /// `None` where no two nodes share a class.
    fn vote(&self, embedding: &Var, seed: u64) -> Option<Var> {
        let all = self.labelled.nodes.len();
        let places = draw(all, self.config.pairs.min(all), seed);
        let class = |place: usize| self.labelled.classes[places[place] as usize];
        let count = places.len();
        let others = Mat::from_fn(count, count, |u, v| f32::from(u8::from(u != v)));
        let same = Mat::from_fn(count, count, |u, v| f32::from(u8::from(u != v && class(u) == class(v))));
        let paired: Vec<u32> =
            (0..count as u32).filter(|&u| same.row(u as usize).iter().any(|v| *v > 0.0)).collect();
        if paired.is_empty() {
            return None;
        }
        let nodes: Rc<[u32]> = places.iter().map(|&place| self.labelled.nodes[place as usize]).collect();
        let unit = embedding.gather_rows(&nodes).unit_rows();
        let scale = 1.0 / self.config.pairwise_temperature;
        // At most 1, however small the temperature.
        let near = unit.matmul_nt(&unit).add_scalar(-1.0).scale(scale).exp();
        let paired = paired.into();
        let votes =
            |who: Mat| near.mul(&Var::constant(who)).sum_rows().gather_rows(&paired).add_scalar(1e-30).ln();
        Some(votes(others).sub(&votes(same)).mean())
    }

    /// `None` where no class has two nodes, or there is only one class.
    fn pairs(&self, embedding: &Var, seed: u64) -> Option<Var> {
        let sample = Triples::draw(&self.labelled, self.config.pairs, seed)?;
        let unit = embedding.unit_rows();
        let (node, like, unlike) = (
            unit.gather_rows(&sample.node),
            unit.gather_rows(&sample.like),
            unit.gather_rows(&sample.unlike),
        );
        let scale = 1.0 / self.config.pairwise_temperature;
        let near = node.row_dots(&like).scale(scale).log_sigmoid();
        let far = node.row_dots(&unlike).scale(-scale).log_sigmoid();
        Some(near.add(&far).mean().scale(-1.0))
    }
}

/// So many different numbers below `total`.
fn draw(total: usize, count: usize, seed: u64) -> Vec<u32> {
    rand::seq::index::sample(&mut generator(seed, 0), total, count).into_iter().map(|n| n as u32).collect()
}

impl Objective for Refinement<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let RefinerConfig { contrastive_weight, pairwise_weight, class_weight, .. } = *self.config;
        let first = self.corrupted(parameters, derive(seed, &[0]));
        let mut loss = None;
        if contrastive_weight > 0.0 {
            let second = self.corrupted(parameters, derive(seed, &[1]));
            loss = Some(self.contrast(&first, &second, derive(seed, &[2])).scale(contrastive_weight));
        }
        if pairwise_weight > 0.0
            && let Some(constraint) = self.constraint(&first, derive(seed, &[3]))
        {
            let constraint = constraint.scale(pairwise_weight);
            loss = Some(loss.map_or(constraint.clone(), |loss| loss.add(&constraint)));
        }
        if class_weight > 0.0
            && let Some(entropy) = self.cross_entropy(parameters, &first)
        {
            let entropy = entropy.scale(class_weight);
            loss = Some(loss.map_or(entropy.clone(), |loss| loss.add(&entropy)));
        }
        loss.unwrap_or_else(|| first.sum().scale(0.0))
    }

    fn num_examples(&self) -> usize {
        self.num_nodes
    }

    fn score(&self, _parameters: &[Var]) -> Option<Score> {
        None
    }
}

/// Drops a share of the edges, at both of their ends; the diagonal stays.
fn without_edges(loops: &SparseMat, rate: f32, seed: u64) -> SparseMat {
    if rate <= 0.0 {
        return loops.clone();
    }
    let dropped_below = (f64::from(rate) * 2f64.powi(32)) as u32;
    let mut out = loops.clone();
    for row in 0..loops.rows() {
        let range = loops.pattern.row_range(row);
        for (&col, value) in loops.pattern.row(row).iter().zip(&mut out.values[range]) {
            let (low, high) = (col.min(row as u32), col.max(row as u32));
            if low != high
                && hash(seed ^ u64::from(low).wrapping_mul(0x9E37_79B9_7F4A_7C15), high) < dropped_below
            {
                *value = 0.0;
            }
        }
    }
    out
}

/// Training nodes, each with one of its class and one of another.
struct Triples {
    node: Rc<[u32]>,
    like: Rc<[u32]>,
    unlike: Rc<[u32]>,
}

impl Triples {
    fn draw(labelled: &Labelled, count: usize, seed: u64) -> Option<Self> {
        let Labelled { nodes, classes } = labelled;
        let mut by_class: Vec<Vec<u32>> =
            vec![Vec::new(); classes.iter().max().map_or(0, |&c| c as usize + 1)];
        nodes.iter().zip(classes).for_each(|(&node, &class)| by_class[class as usize].push(node));
        let fits = |place: usize| {
            let size = by_class[classes[place] as usize].len();
            size > 1 && size < nodes.len()
        };
        let places: Vec<usize> = (0..nodes.len()).filter(|&place| fits(place)).collect();
        if places.is_empty() {
            return None;
        }
        let mut rng = generator(seed, 0);
        let (mut node, mut like, mut unlike) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let place = places[rng.random_range(0..places.len())];
            let (own, class) = (nodes[place], classes[place]);
            let mates = &by_class[class as usize];
            let mut until = |good: &dyn Fn(u32, u32) -> bool, from: &[u32], of: &[u32]| loop {
                let index = rng.random_range(0..from.len());
                if good(from[index], of.get(index).copied().unwrap_or(class)) {
                    break from[index];
                }
            };
            node.push(own);
            like.push(until(&|other, _| other != own, mates, &[]));
            unlike.push(until(&|_, other| other != class, nodes, classes));
        }
        Some(Triples { node: node.into(), like: like.into(), unlike: unlike.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn dropped_edges_are_dropped_at_both_ends() {
        let dataset = SynthConfig { nodes: 200, ..SynthConfig::default() }.generate(1).unwrap();
        let loops = normalise::with_self_loops(dataset.graph());
        let fewer = without_edges(&loops, 0.4, 7);
        let dense = fewer.to_dense();
        assert_eq!(dense, dense.transposed());
        assert!((0..200).all(|node| dense.get(node, node) == 1.0));
        let (kept, all) = (fewer.values.iter().filter(|v| **v > 0.0).count() - 200, loops.values.len() - 200);
        assert!((0.5..0.7).contains(&(kept as f32 / all as f32)), "{kept} of {all}");
    }

    #[test]
    fn triples_are_of_one_class_and_of_two() {
        let labelled = Labelled { nodes: vec![1, 3, 5, 7, 9], classes: vec![0, 0, 1, 1, 2] };
        let class = |node: u32| labelled.classes[labelled.nodes.iter().position(|n| *n == node).unwrap()];
        let sample = Triples::draw(&labelled, 64, 3).unwrap();
        for place in 0..64 {
            assert_ne!(sample.node[place], sample.like[place]);
            assert_eq!(class(sample.node[place]), class(sample.like[place]));
            assert_ne!(class(sample.node[place]), class(sample.unlike[place]));
        }
        assert!(Triples::draw(&Labelled { nodes: vec![1, 2], classes: vec![0, 1] }, 4, 0).is_none());
        assert!(Triples::draw(&Labelled { nodes: vec![1, 2], classes: vec![0, 0] }, 4, 0).is_none());
    }

    /// Two classes whose rows differ in one column among noise: the constraint must find it.
    #[test]
    fn either_constraint_brings_classes_together() {
        let dataset = SynthConfig { nodes: 120, classes: 2, ..SynthConfig::default() }.generate(1).unwrap();
        let mut rows = glorot(&mut generator(5, 0), 120, 16);
        let labelled =
            Labelled { nodes: (0..120).collect(), classes: (0..120).map(|node| node % 2).collect() };
        (0..120).for_each(|node| rows.row_mut(node)[3] = if node % 2 == 0 { 0.06 } else { -0.06 });
        let sights = [Features::Dense(rows.clone())];
        let input =
            RefinerInput { structure: dataset.graph(), sights: &sights, labelled: &labelled, num_classes: 2 };
        for constraint in [Constraint::Vote, Constraint::Pairs] {
            let config = RefinerConfig {
                constraint,
                contrastive_weight: 0.0,
                class_weight: 0.0,
                pairwise_temperature: 0.5,
                epochs: 200,
                ..RefinerConfig::default()
            };
            let refiner = Refiner::fit("test", &input, &config, 1, &mut Session::default()).unwrap();
            let vote = |rows: &Mat| {
                let mut unit = rows.clone();
                super::super::views::to_unit_rows(&mut unit);
                super::super::agreement::agreement(&unit, &labelled, 2, Default::default()).nearest
            };
            let (before, after) = (vote(&rows), vote(&refiner.embed(dataset.graph(), &sights).codes));
            assert!(after > before + 0.1, "{constraint:?}: {before} {after}");
        }
    }
}
