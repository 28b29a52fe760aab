//! Learning from labelled nodes: cross-entropy at the training nodes, early stopping at the validation nodes.

use std::rc::Rc;

use super::{ClassLoss, Monitor, Objective, Score, Task, TrainingConfig};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::Labelled;
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::quality::answers::Answers;
use crate::quality::confusion::predicted_classes;

/// A network that gives class scores.
pub trait Network {
    /// Scores before the softmax, one row per node of the graph. `dropout_seed` is `None` when predicting.
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var;

    /// Scores while training, and a term added to the cross-entropy.
    fn training_scores(&self, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        (self.scores(parameters, Some(seed)), None)
    }

    /// [`Network::scores`] of some of the nodes; for networks that can spare what the others cost.
    fn scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.scores(parameters, dropout_seed).gather_rows(nodes)
    }

    /// [`Network::training_scores`] of some of the nodes.
    fn training_scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        let (scores, extra) = self.training_scores(parameters, seed);
        (scores.gather_rows(nodes), extra)
    }
}

/// The objective of a network on a task.
pub struct Supervised<'a, N> {
    network: &'a N,
    train: Target,
    val: Target,
    loss: ClassLoss,
    monitor: Monitor,
    positive: Option<u32>,
}

struct Target {
    nodes: Rc<[u32]>,
    classes: Rc<[u32]>,
}

impl Target {
    fn new(labelled: &Labelled) -> Self {
        Target { nodes: labelled.nodes.clone().into(), classes: labelled.classes.clone().into() }
    }
}

impl<'a, N: Network> Supervised<'a, N> {
    /// Learns from the training nodes of a task as the settings say: with their class weights, watched by their monitor.
    pub fn new(network: &'a N, task: &Task<'_>, config: &TrainingConfig) -> Result<Self> {
        let loss = config.class_weights.resolve(task)?;
        Ok(Self::on(network, &task.train, &task.val).judged(loss, config.monitor, task.positive_class))
    }

    /// Learns from `train`, stops early by `val`; all nodes count the same.
    pub fn on(network: &'a N, train: &Labelled, val: &Labelled) -> Self {
        let (loss, monitor) = (ClassLoss::default(), Monitor::Accuracy);
        Supervised {
            network,
            train: Target::new(train),
            val: Target::new(val),
            loss,
            monitor,
            positive: None,
        }
    }

    /// The same with another loss, and watched by something else.
    pub fn judged(self, loss: ClassLoss, monitor: Monitor, positive: Option<u32>) -> Self {
        Supervised { loss, monitor, positive, ..self }
    }

    /// What the monitor looks at beside accuracy and loss.
    fn value(&self, scores: &Var) -> Option<f32> {
        let metric = self.monitor.metric()?;
        let probabilities = scores.softmax().value().clone();
        let answers = Answers {
            num_classes: probabilities.cols(),
            truth: self.val.classes.to_vec(),
            predicted: predicted_classes(&probabilities),
            probabilities,
            positive: self.positive,
        };
        answers.value(metric).map(|value| value as f32)
    }
}

impl<N: Network> Objective for Supervised<'_, N> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let (scores, extra) = self.network.training_scores_of(&self.train.nodes, parameters, seed);
        let loss = self.loss.of(&scores, &self.train.classes);
        match extra {
            Some(extra) => loss.add(&extra),
            None => loss,
        }
    }

    fn num_examples(&self) -> usize {
        self.train.nodes.len()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        if self.val.nodes.is_empty() {
            return None;
        }
        let scores = self.network.scores_of(&self.val.nodes, parameters, None);
        let right = (0..scores.rows())
            .filter(|&row| argmax(scores.value().row(row)) == self.val.classes[row] as usize)
            .count();
        Some(Score {
            accuracy: right as f32 / scores.rows().max(1) as f32,
            loss: self.loss.of(&scores, &self.val.classes).scalar(),
            value: self.value(&scores),
        })
    }
}

/// The first of the largest entries.
pub(crate) fn argmax(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

/// Rate and seed of the dropout before a layer; a rate of 0 when predicting.
pub fn dropout_before(layer: usize, rate: f32, dropout_seed: Option<u64>) -> (f32, u64) {
    dropout_seed.map_or((0.0, 0), |seed| (rate, derive(seed, &[layer as u64])))
}

/// Class probabilities of a trained network.
pub fn probabilities(network: &impl Network, parameters: &[Var]) -> Mat {
    network.scores(parameters, None).softmax().value().clone()
}
