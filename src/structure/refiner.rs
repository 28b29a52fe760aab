//! The dual-view contrastive refiner: embeddings in which a node is nearest to itself, however corrupted,
//! and near to those of its class.
//!
//! Two corrupted copies of `(S, Z)`: a share of the edges dropped, a share of the columns set to zero. A two-layer
//! graph convolution with a skip connection over `Ŝ = D^-½ (S + I) D^-½`,
//! `E = Ŝ prelu(Ŝ Z W₁) W₂ + Z W₃ [n,h]`, embeds both copies (and, when learned, the graph itself) with the same
//! weights. Minimised: InfoNCE between the copies (over all nodes where there are few, over a batch otherwise),
//! plus `pairwise_weight` times the pairwise constraint at sampled training nodes `u`, `v` of one class and `w` of
//! another, `-log σ(cos(u,v)/τ) - log σ(-cos(u,w)/τ)`.
//!
//! Departures from the paper: cosines instead of bare products, since the inducer looks at directions alone; `v`
//! and `w` are drawn among the nearest of `u`, since only there a pair can change who is joined to whom; the
//! skip connection, since a convolution alone keeps every wrong neighbour near; and only a share of the
//! training labels is used, see [`RefinerConfig::label_share`].
//! Cost per epoch: two passes, `O(n d h + edges h)`, and `O(m² h)` for `m` contrasted nodes.

use std::rc::Rc;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::autograd::{InfoNce, Sparse, Var};
use crate::error::{Error, Result};
use crate::graph::{Graph, Labelled, normalise};
use crate::linalg::random::{derive, generator, glorot, hash};
use crate::linalg::{Mat, SparseMat, neighbours};
use crate::training::{Objective, Parameters, Score, Session, Tensors, TrainingConfig, train};

/// Pairs are drawn among so many nearest.
const NEAR: usize = 20;

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
    /// Share of the edges that a corrupted copy lacks, 0..1.
    pub edge_drop: f32,
    /// Share of the columns that a corrupted copy lacks, 0..1.
    pub feature_drop: f32,
    /// Nodes contrasted per step where all would be too many, 2 or more.
    pub batch: usize,
    /// Share of the training labels that pairs are drawn from, 0..=1. Where a label has arranged its own
    /// neighbourhood, the classifier finds it better than it will be at test nodes, and trusts it too much;
    /// the other training nodes keep it honest.
    pub label_share: f32,
    /// Triples of training nodes per step, 1 or more.
    pub pairs: usize,
    /// Up to this many nodes, all are contrasted with all.
    pub exact_up_to: usize,
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
            pairwise_weight: 0.3,
            edge_drop: 0.3,
            feature_drop: 0.5,
            batch: 256,
            label_share: 0.5,
            pairs: 1024,
            exact_up_to: 1000,
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
        if self.hidden == 0 {
            return wrong("hidden", 0.0, "1 or more");
        }
        if self.batch < 2 {
            return wrong("batch", self.batch as f32, "2 or more");
        }
        for (key, value) in [("temperature", self.temperature), ("learning_rate", self.learning_rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return wrong(key, value, "a positive number");
            }
        }
        for (key, value) in
            [("contrastive_weight", self.contrastive_weight), ("pairwise_weight", self.pairwise_weight)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                return wrong(key, value, "0 or a positive number");
            }
        }
        if !(0.0..=1.0).contains(&self.label_share) {
            return wrong("label_share", self.label_share, "a share from 0 to 1");
        }
        for (key, value) in [("edge_drop", self.edge_drop), ("feature_drop", self.feature_drop)] {
            if !(0.0..1.0).contains(&value) {
                return wrong(key, value, "a share from 0 up to, not including, 1");
            }
        }
        self.training().validate(prefix)
    }

    /// The labels that pairs are drawn from.
    pub(super) fn shown(&self, labelled: &Labelled, seed: u64) -> Labelled {
        let below = (f64::from(self.label_share) * 2f64.powi(32)) as u64;
        let pairs = labelled.nodes.iter().copied().zip(labelled.classes.iter().copied());
        let (nodes, classes) = pairs.filter(|(node, _)| u64::from(hash(seed, *node)) < below).unzip();
        Labelled { nodes, classes }
    }

    fn training(&self) -> TrainingConfig {
        TrainingConfig {
            epochs: self.epochs,
            patience: self.epochs,
            learning_rate: self.learning_rate,
            weight_decay: self.weight_decay,
            ..TrainingConfig::default()
        }
    }
}

/// What a refiner learns from.
pub struct Material<'a> {
    /// The structure so far.
    pub structure: &'a Graph,
    /// One row per node, `[n,d]`.
    pub rows: &'a Mat,
    /// The directions that the structure was joined by, `[n,r]`.
    pub directions: &'a Mat,
    /// The labels that pairs are drawn from.
    pub labelled: &'a Labelled,
}

/// A refiner that has learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Refiner {
    parameters: Parameters,
}

impl Refiner {
    /// Learns; `stage` names the training in the curve.
    pub fn fit(
        stage: &str,
        material: &Material<'_>,
        config: &RefinerConfig,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Self> {
        let mut parameters = Self::initial(material.rows.cols(), config.hidden, seed);
        let objective = Refinement {
            config,
            rows: Var::constant(material.rows.clone()),
            loops: normalise::with_self_loops(material.structure),
            pairs: Pairs::new(material.directions, material.labelled),
        };
        train(stage, &objective, &mut parameters, &config.training(), derive(seed, &[1]), session)?;
        Ok(Refiner { parameters })
    }

    fn initial(input: usize, hidden: usize, seed: u64) -> Parameters {
        let mut rng = generator(seed, 0);
        let mut parameters = Parameters::default();
        parameters.weight("first", glorot(&mut rng, input, hidden));
        parameters.bias("slope", Mat::full(1, hidden, 0.25));
        parameters.weight("second", glorot(&mut rng, hidden, hidden));
        parameters.weight("skip", glorot(&mut rng, input, hidden));
        parameters
    }

    /// The embedding `[n,h]` of a structure with its rows.
    pub fn embed(&self, structure: &Graph, rows: &Mat) -> Mat {
        let propagation = Sparse::constant(&normalise::symmetric_with_self_loops(structure));
        embed(&self.parameters.constants(), &propagation, &Var::constant(rows.clone())).value().clone()
    }

    /// What it learned.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Restores a refiner from the tensors of its parameters.
    pub fn from_tensors(tensors: &Tensors) -> Result<Self> {
        let (input, hidden) = tensors.get("first").map_or((0, 0), Mat::shape);
        let mut parameters = Self::initial(input, hidden, 0);
        parameters.restore(tensors)?;
        Ok(Refiner { parameters })
    }
}

fn embed(parameters: &[Var], propagation: &Sparse, rows: &Var) -> Var {
    let hidden = propagation.matmul(&rows.matmul(&parameters[0])).prelu(&parameters[1]); // [n,h]
    propagation.matmul(&hidden.matmul(&parameters[2])).add(&rows.matmul(&parameters[3])) // [n,h]
}

struct Refinement<'a> {
    config: &'a RefinerConfig,
    rows: Var,
    /// `S + I`, to drop edges from.
    loops: SparseMat,
    pairs: Pairs,
}

impl Refinement<'_> {
    fn corrupted(&self, parameters: &[Var], seed: u64) -> Var {
        let rows = self.rows.drop_columns(self.config.feature_drop, derive(seed, &[0]));
        let structure = without_edges(&self.loops, self.config.edge_drop, derive(seed, &[1]));
        embed(parameters, &Sparse::constant(&normalise::symmetrically_scaled(structure)), &rows)
    }

    fn contrast(&self, first: &Var, second: &Var, seed: u64) -> Var {
        let loss = InfoNce { temperature: self.config.temperature };
        if first.rows() <= self.config.exact_up_to {
            return loss.loss(first, second);
        }
        let size = self.config.batch.min(first.rows());
        let sample = rand::seq::index::sample(&mut generator(seed, 0), first.rows(), size);
        let batch: Rc<[u32]> = sample.into_iter().map(|node| node as u32).collect();
        loss.loss(&first.gather_rows(&batch), &second.gather_rows(&batch))
    }

    fn constraint(&self, embedding: &Var, seed: u64) -> Option<Var> {
        let sample = self.pairs.sample(self.config.pairs, seed)?;
        let unit = embedding.unit_rows();
        let (node, like, unlike) = (
            unit.gather_rows(&sample.node),
            unit.gather_rows(&sample.like),
            unit.gather_rows(&sample.unlike),
        );
        let scale = 1.0 / self.config.temperature;
        let near = node.row_dots(&like).scale(scale).log_sigmoid();
        let far = node.row_dots(&unlike).scale(-scale).log_sigmoid();
        Some(near.add(&far).mean().scale(-1.0))
    }
}

impl Objective for Refinement<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let RefinerConfig { contrastive_weight, pairwise_weight, .. } = *self.config;
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
        loss.unwrap_or_else(|| first.sum().scale(0.0))
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

/// Training nodes with those near to them: only there can a pair change who is joined to whom.
struct Pairs {
    /// Nodes with neighbours of their own class and of others.
    near: Vec<Near>,
}

struct Near {
    node: u32,
    like: Vec<u32>,
    unlike: Vec<u32>,
}

struct Sample {
    node: Rc<[u32]>,
    like: Rc<[u32]>,
    unlike: Rc<[u32]>,
}

impl Pairs {
    fn new(directions: &Mat, labelled: &Labelled) -> Self {
        let found = neighbours(&directions.select_rows(&labelled.nodes), f32::MIN_POSITIVE, Some(NEAR));
        let near = (0..labelled.nodes.len()).map(|place| {
            let class = labelled.classes[place];
            let of = |same: bool| {
                let others = found.row(place).map(|(other, _)| other as usize);
                let chosen = others.filter(|&other| (labelled.classes[other] == class) == same);
                chosen.map(|other| labelled.nodes[other]).collect::<Vec<_>>()
            };
            Near { node: labelled.nodes[place], like: of(true), unlike: of(false) }
        });
        Pairs { near: near.filter(|near| !near.like.is_empty() && !near.unlike.is_empty()).collect() }
    }

    /// As many triples; `None` where no node has both kinds of neighbours.
    fn sample(&self, count: usize, seed: u64) -> Option<Sample> {
        if self.near.is_empty() {
            return None;
        }
        let mut rng = generator(seed, 0);
        let (mut node, mut like, mut unlike) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let near = &self.near[rng.random_range(0..self.near.len())];
            node.push(near.node);
            like.push(near.like[rng.random_range(0..near.like.len())]);
            unlike.push(near.unlike[rng.random_range(0..near.unlike.len())]);
        }
        Some(Sample { node: node.into(), like: like.into(), unlike: unlike.into() })
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
    fn pairs_are_of_one_class_and_of_two() {
        let labelled = Labelled { nodes: vec![1, 3, 5, 7, 9], classes: vec![0, 0, 1, 1, 2] };
        let class = |node: u32| labelled.classes[labelled.nodes.iter().position(|n| *n == node).unwrap()];
        let directions = Mat::full(10, 1, 1.0);
        let sample = Pairs::new(&directions, &labelled).sample(64, 3).unwrap();
        for place in 0..64 {
            assert_ne!(sample.node[place], sample.like[place]);
            assert_eq!(class(sample.node[place]), class(sample.like[place]));
            assert_ne!(class(sample.node[place]), class(sample.unlike[place]));
        }
        let alone = Labelled { nodes: vec![1, 2], classes: vec![0, 1] };
        assert!(Pairs::new(&directions, &alone).sample(4, 0).is_none());
    }

    #[test]
    fn about_half_of_the_labels_are_shown() {
        let labelled = Labelled { nodes: (0..1000).collect(), classes: vec![0; 1000] };
        let config = RefinerConfig::default();
        assert!((450..550).contains(&config.shown(&labelled, 1).nodes.len()));
        assert_eq!(RefinerConfig { label_share: 1.0, ..config }.shown(&labelled, 1), labelled);
    }
}
