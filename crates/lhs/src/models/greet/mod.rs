//! GREET: tells homophilic from heterophilic edges without labels, and embeds nodes by both (Liu et al. 2023).
//!
//! A discriminator scores each edge by the features and the random-walk returns of its ends,
//! `w_ij = sigmoid(t_i + t_j + noise)`. A low-pass encoder averages over `w`, a high-pass one subtracts over `1 - w`:
//! `H = P^hops relu(X W + b)` with `P = D^-1/2 (w + I) D^-1/2` and `P' = I - α D'^-1/2 (1 - w) D'^-1/2`. The encoders learn
//! to agree (a contrastive loss between two augmented views, nearest nodes by features count as the same); the
//! discriminator learns to call homophilic the edges whose ends are closer than random pairs are, and heterophilic those
//! that are not (a ranking loss). Then logistic regression learns from the embeddings. Reads the direction of edges: an
//! embedding is made of those that a node points to.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden + batch² * hidden)`; once `O(n² F + n * edges)`.
//!
//! As the authors do, the encoders take two steps for one of the discriminator (an epoch here is one step of the encoders,
//! so that the authors' 400 epochs are 800), and the epoch is kept whose embeddings classify the validation nodes best, of
//! those looked at. Departs from the paper: which steps the discriminator takes is drawn; the contrastive loss is taken
//! over 2048 nodes drawn anew for each step; the edges of a node share a few random pairs; random walks go both
//! ways along an edge; embeddings for the classifier are without noise; the classifier's penalty is chosen at the
//! validation nodes; steps are three times as long, which validation accuracy favours on Chameleon and Cora and leaves as
//! it is on Texas, Wisconsin and Cornell.

mod classifier;
mod compared;
mod contrast;
mod encoders;
mod learning;
mod logistic;
mod random_walk;

use crate::training::memory_plan::product;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::classifier::Judge;
use self::learning::Pretraining;
use super::parts::knn::nearest;
use super::parts::{ParamBuilder, ParamReader};
use super::{FittedModel, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, Widths, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::random::derive;
use crate::linalg::{Mat, SparseMat};
use crate::training::{
    Amounts, Auto, DataSizes, MemoKey, MemoryPlan, Network, Parameters, Session, Task, Tensors,
    TrainingConfig, probabilities, train,
};

/// Settings of GREET.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Greet {
    /// Width of each of the two embeddings, 1 or more.
    pub hidden: usize,
    /// Steps of propagation, 1 or more.
    pub hops: usize,
    /// How much the high-pass encoder subtracts (the paper's α), 0 or above.
    pub sharpness: f32,
    /// Layers that lead from an embedding to what the contrastive loss sees, 1 or more.
    pub projection_layers: usize,
    /// Nearest nodes by features that count as the same node in the contrastive loss; 0 for none.
    pub neighbours: usize,
    /// Nodes in one contrastive loss, 2 or more: time grows with its square.
    pub batch: usize,
    /// How much closer than random pairs the ends of a homophilic edge should be, 0 or above.
    pub homophilic_margin: f32,
    /// How much farther than random pairs the ends of a heterophilic edge should be, 0 or above.
    pub heterophilic_margin: f32,
    /// The low-pass view.
    pub low: ViewConfig,
    /// The high-pass view.
    pub high: ViewConfig,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How encoders and discriminator are trained; labels decide which epoch is kept and when to stop.
    pub training: TrainingConfig,
}

/// What is hidden from an encoder while it learns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewConfig {
    /// Share of the feature columns, 0..1.
    pub hide_features: f32,
    /// Share of the edges, 0..1.
    pub hide_edges: f32,
}

impl Default for Greet {
    fn default() -> Self {
        Greet {
            hidden: 128,
            hops: 2,
            sharpness: 0.1,
            projection_layers: 1,
            neighbours: 0,
            batch: 2048,
            homophilic_margin: 0.5,
            heterophilic_margin: 0.5,
            low: ViewConfig { hide_features: 0.1, hide_edges: 0.5 },
            high: ViewConfig { hide_features: 0.5, hide_edges: 0.1 },
            normalise_features: false,
            training: TrainingConfig {
                epochs: 800,
                patience: 200,
                learning_rate: 3e-3,
                weight_decay: Auto::Given(0.0),
                ..TrainingConfig::default()
            },
        }
    }
}

impl ModelInfo for Greet {
    const NAME: &'static str = "greet";
    const SUMMARY: &'static str = "embeddings without labels from homophilic and heterophilic edges, then a linear model (Liu et al. 2023)";
    const READS_DIRECTION: bool = true;
    // The authors' scripts for Texas, Wisconsin, Cornell, Chameleon, Squirrel, Actor, Cora, Citeseer and PubMed, but for
    // how long they train: no search tries that.
    const PUBLISHED: &'static [&'static str] = &[
        "projection_layers = 2\nsharpness = 0.5\nneighbours = 20\nlow.hide_features = 0.5\nlow.hide_edges = 0.1\nhigh.hide_features = 0.1\ntraining.learning_rate = 0.001",
        "projection_layers = 2\nsharpness = 0.5\nneighbours = 25\nlow.hide_edges = 0.1\nhigh.hide_features = 0.1\nhigh.hide_edges = 0.3\ntraining.learning_rate = 0.001",
        "projection_layers = 2\nsharpness = 0.3\nneighbours = 25\nhomophilic_margin = 0.3\nheterophilic_margin = 0.3\ntraining.learning_rate = 0.001",
        "training.learning_rate = 0.001",
        "projection_layers = 2\nhomophilic_margin = 0.1\nheterophilic_margin = 0.3\nlow.hide_edges = 0.1\nhigh.hide_features = 0.1\nhigh.hide_edges = 0.8\nnormalise_features = true\ntraining.learning_rate = 0.001",
        "projection_layers = 2\nneighbours = 20\nhomophilic_margin = 0.1\nhigh.hide_edges = 0.8\ntraining.learning_rate = 0.001",
        "sharpness = 0.5\nneighbours = 20\nlow.hide_features = 0.8\nlow.hide_edges = 0.8\nhigh.hide_features = 0.1\nhigh.hide_edges = 0.8\ntraining.learning_rate = 0.001",
        "projection_layers = 2\nneighbours = 30\nlow.hide_edges = 0.8\nhigh.hide_features = 0.1\ntraining.learning_rate = 0.001",
        "projection_layers = 2\ntraining.learning_rate = 0.001",
    ];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        vec![
            ("sharpness", SearchSpace::choice([0.1, 0.3, 0.5])),
            ("projection_layers", SearchSpace::choice([1, 2])),
            ("neighbours", SearchSpace::choice([0, 20, 25, 30])),
            ("homophilic_margin", SearchSpace::choice([0.1, 0.3, 0.5])),
            ("heterophilic_margin", SearchSpace::choice([0.1, 0.3, 0.5])),
            ("low.hide_features", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("low.hide_edges", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("high.hide_features", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("high.hide_edges", SearchSpace::choice([0.1, 0.3, 0.8])),
            ("normalise_features", SearchSpace::choice([false, true])),
            ("training.learning_rate", SearchSpace::choice([1e-3, 3e-3])),
        ]
    }
}

/// GREET after learning.
#[derive(Clone, Debug)]
pub struct FittedGreet {
    config: Greet,
    encoders: Parameters,
    classifier: Parameters,
}

impl Model for Greet {
    type Fitted = FittedGreet;

    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("hops", self.hops)?;
        settings::not_negative("sharpness", self.sharpness)?;
        settings::at_least_one("projection_layers", self.projection_layers)?;
        settings::at_least_one("batch", self.batch)?;
        settings::not_negative("homophilic_margin", self.homophilic_margin)?;
        settings::not_negative("heterophilic_margin", self.heterophilic_margin)?;
        for (name, view) in [("low", &self.low), ("high", &self.high)] {
            settings::share_below_one(&format!("{name}.hide_features"), view.hide_features)?;
            settings::share_below_one(&format!("{name}.hide_edges"), view.hide_edges)?;
        }
        settings::weighs_no_classes(&self.training)?;
        self.training.validate("training")
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        let batch = self.batch.min(sizes.nodes);
        let near = product([sizes.nodes, self.neighbours.min(sizes.nodes), 2]);
        let layers = product([self.projection_layers, self.hidden, self.hidden, 4]);
        let walks = product([self.hops, 4]) + product([self.projection_layers, 8]) + 16usize;
        let amounts = Amounts {
            prepared: sizes.propagation() * 2usize + sizes.input() + near,
            parameters: product([sizes.features, self.hidden, 3]) + layers,
            activations: walks * product([sizes.nodes, self.hidden])
                + product([batch, batch, 4])
                + product([sizes.entries, 8]),
        };
        MemoryPlan::of(sizes, &amounts)
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedGreet> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        let prepared = self.prepare(task.graph, task.features, session)?;
        let key = || MemoKey::new("nearest by features").features(task.features).setting(self.neighbours);
        let nearest: Arc<SparseMat> = session.shared(key, |_| Ok(nearest(task.features, self.neighbours)))?;
        let mut encoders = self.parameters(task.features.dim(), seed);
        let judge = Judge::new(task, self.training.monitor);
        let objective = Pretraining { config: self, prepared: &prepared, nearest: &nearest, judge };
        train("encoders", &objective, &mut encoders, &self.training, derive(seed, &[2]), session)?;

        let embedding = self.embed(&prepared, &encoders.constants());
        let weights = objective.judge.learn(embedding.value()).weights.transposed(); // [d + 1, C]
        let (dim, classes) = (weights.rows() - 1, weights.cols());
        let mut classifier = self.classifier_parameters(classes);
        let (rows, bias) = weights.as_slice().split_at(dim * classes);
        classifier.restore(&Tensors::from([
            ("classifier.weight".to_string(), Mat::from_slice(dim, classes, rows)),
            ("classifier.bias".to_string(), Mat::from_slice(1, classes, bias)),
        ]))?;
        Ok(FittedGreet { config: self.clone(), encoders, classifier })
    }
}

impl Greet {
    /// The classifier as it is saved, before it has learned.
    fn classifier_parameters(&self, classes: usize) -> Parameters {
        let mut builder = ParamBuilder::new(0);
        builder.linear("classifier", 2 * self.hidden, classes);
        builder.done()
    }
}

impl NodeClassifier for FittedGreet {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.encoders.shape(0).0)?;
        let prepared = self.config.prepare(graph, features, &mut Session::default())?;
        let network = Linear { embedding: self.config.embed(&prepared, &self.encoders.constants()) };
        Ok(probabilities(&network, &self.classifier.constants()))
    }

    fn saved(&self) -> Result<SavedModel> {
        let mut tensors = self.encoders.tensors();
        tensors.extend(self.classifier.tensors());
        let widths = Widths { features: self.encoders.shape(0).0, classes: self.classifier.shape(0).1 };
        SavedModel::new(&self.config, &widths, tensors)
    }
}

impl FittedModel for FittedGreet {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: Greet = saved.settings()?;
        let Widths { features, classes } = saved.state()?;
        let (mut encoders, mut classifier) =
            (config.parameters(features, 0), config.classifier_parameters(classes));
        encoders.restore(&saved.contents.tensors)?;
        classifier.restore(&saved.contents.tensors)?;
        Ok(FittedGreet { config, encoders, classifier })
    }
}

/// The classifier on finished embeddings.
struct Linear {
    embedding: Var,
}

impl Network for Linear {
    fn scores(&self, parameters: &[Var], _dropout_seed: Option<u64>) -> Var {
        ParamReader::from(parameters).linear(&self.embedding) // [n, classes]
    }
}
