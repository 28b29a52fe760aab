//! GREET: tells homophilic from heterophilic edges without labels, and embeds nodes by both (Liu et al. 2023).
//!
//! A discriminator scores each edge by the features and the random-walk returns of its ends,
//! `w_ij = sigmoid(t_i + t_j + noise)`. A low-pass encoder averages over `w`, a high-pass one subtracts over `1 - w`:
//! `H = P^hops relu(X W + b)` with `P = D^-1/2 (w + I) D^-1/2` and `P' = I - α D'^-1/2 (1 - w) D'^-1/2`. The encoders learn
//! to agree (a contrastive loss between two augmented views, nearest nodes by features count as the same); the
//! discriminator learns to call homophilic the edges whose ends are closer than random pairs are, and heterophilic those
//! that are not (a ranking loss). Then a linear classifier learns from the embeddings.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden + batch² * hidden)`; once `O(n² F + n * edges)`.
//!
//! As the authors do, the encoders take two steps for one of the discriminator. Departs from the paper: which steps these
//! are is drawn; the contrastive loss is taken over a batch of nodes drawn anew for each step; the edges of a node share a
//! few random pairs; embeddings for the classifier are without noise. As in the authors' code the epoch is kept whose
//! embeddings classify the validation nodes best, of those looked at, here by a linear classifier of least squares, which
//! has a closed form.

mod compared;

use std::rc::Rc;
use std::sync::Arc;

use rand::seq::index;
use serde::{Deserialize, Serialize};

use self::compared::Compared;
use super::parts::knn::nearest;
use super::parts::random_walk::returns;
use super::parts::scaling::{diagonal, symmetric, where_set};
use super::parts::{Make, Take, attention, noise, some_rows};
use super::{ModelConfig, ModelKind, NodeClassifier, SearchSpace, Task, settings};
use crate::autograd::{Sparse, Var};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph, Labelled, normalise};
use crate::linalg::random::{derive, generator};
use crate::linalg::{Mat, Pattern, Ridge, SparseMat, matmul};
use crate::training::{
    Auto, Input, Network, Objective, Parameters, Score, Session, Supervised, Tensors, TrainingConfig, argmax,
    probabilities, train,
};

/// Steps of the random walks that describe a node.
const STEPS: usize = 16;
/// Width of the discriminator's hidden layer.
const DISCRIMINATOR: usize = 128;
/// Divides the cosines of the contrastive loss.
const TEMPERATURE: f32 = 0.2;
/// Penalty of the least squares that judge an embedding.
const PENALTY: f32 = 0.1;
/// Weight decays that are tried for the linear classifier. Rows of length 1 that were averaged may differ so little that only
/// large weights tell them apart, or be so few that only small ones are safe.
const DECAYS: [f32; 4] = [1e-2, 1e-3, 1e-4, 1e-6];
/// Epochs from one look at the validation nodes to the next; the authors look every 20.
const LOOK_EVERY: usize = 5;
/// Keeps logarithms finite.
const TINY: f32 = 1e-12;

/// Settings of GREET.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GreetConfig {
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
    /// Nodes in one contrastive loss, 2 or more: time and memory grow with its square.
    pub batch: usize,
    /// How much closer or farther than random pairs the ends of an edge should be, 0 or above.
    pub margin: f32,
    /// The low-pass view.
    pub low: ViewConfig,
    /// The high-pass view.
    pub high: ViewConfig,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How encoders and discriminator are trained; labels decide which epoch is kept and when to stop.
    pub pretraining: TrainingConfig,
    /// How the linear classifier is trained; a weight decay of `auto` tries several, and the best at the validation nodes
    /// is kept.
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

impl Default for GreetConfig {
    fn default() -> Self {
        GreetConfig {
            hidden: 128,
            hops: 2,
            sharpness: 0.1,
            projection_layers: 1,
            neighbours: 0,
            batch: 512,
            margin: 0.5,
            low: ViewConfig { hide_features: 0.1, hide_edges: 0.5 },
            high: ViewConfig { hide_features: 0.5, hide_edges: 0.1 },
            normalise_features: false,
            pretraining: TrainingConfig {
                epochs: 800,
                patience: 200,
                learning_rate: 1e-3,
                weight_decay: Auto::Given(0.0),
                ..TrainingConfig::default()
            },
            training: TrainingConfig {
                learning_rate: 0.05,
                weight_decay: Auto::CHOOSE,
                ..TrainingConfig::default()
            },
        }
    }
}

/// GREET after learning.
#[derive(Clone, Debug)]
pub struct FittedGreet {
    config: GreetConfig,
    encoders: Parameters,
    classifier: Parameters,
}

/// A graph as the encoders read it.
struct Reading {
    input: Input,
    /// Random-walk returns, `[n, STEPS]`.
    returns: Var,
    /// The edges and a self loop at every node.
    pattern: Arc<Pattern>,
    /// 1 at the self loops.
    loops: Var,
    compared: Compared,
}

/// How likely each edge joins like with like, and both ways to propagate over it.
struct Channels {
    /// `[nnz, 1]`.
    homophilic: Var,
    low: Sparse,
    high: Sparse,
}

impl GreetConfig {
    fn parameters(&self, features: usize, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        make.linear("discriminator.features", features, DISCRIMINATOR);
        make.weight("discriminator.returns", STEPS, DISCRIMINATOR);
        make.linear("discriminator.edge", DISCRIMINATOR, 1);
        for view in ["low", "high"] {
            make.linear(&format!("{view}.encoder"), features, self.hidden);
            for layer in 0..self.projection_layers {
                make.linear(&format!("{view}.projection{layer}"), self.hidden, self.hidden);
            }
        }
        make.done()
    }

    fn classifier_parameters(&self, classes: usize, seed: u64) -> Parameters {
        let mut make = Make::new(seed);
        make.linear("classifier", 2 * self.hidden, classes);
        make.done()
    }

    fn read(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Reading> {
        let returns = session.shared(|| format!("greet, {STEPS} returns"), |_| Ok(returns(graph, STEPS)))?;
        let pattern = normalise::with_self_loops(&graph.to_undirected()).pattern;
        Ok(Reading {
            input: Input::scaled(features, self.normalise_features),
            returns: Var::constant((*returns).clone()),
            loops: Var::constant(diagonal(&pattern)),
            compared: Compared::on(&pattern),
            pattern,
        })
    }

    /// Splits the edges; `noise_seed` is `None` when predicting.
    fn channels(&self, reading: &Reading, take: &mut Take<'_>, noise_seed: Option<u64>) -> Channels {
        let hidden = take.linear_of(&reading.input).add(&reading.returns.matmul(take.one())).relu();
        let ends = take.linear(&hidden); // t [n, 1]
        let mut scores = attention::sums(&reading.pattern, &ends, &ends); // [nnz, 1]
        if let Some(seed) = noise_seed {
            scores = scores.add(&Var::constant(noise::logistic(scores.rows(), 1, seed)));
        }
        let homophilic = scores.sigmoid();
        let ones = Var::constant(Mat::full(scores.rows(), 1, 1.0));
        let scaled = |weights: &Var| {
            symmetric(&Sparse::new(Arc::clone(&reading.pattern), where_set(&reading.loops, &ones, weights)))
        };
        let low = scaled(&homophilic);
        let high = scaled(&ones.sub(&homophilic)).values.scale(-self.sharpness);
        let high = Sparse::new(Arc::clone(&reading.pattern), where_set(&reading.loops, &ones, &high));
        Channels { homophilic, low, high }
    }

    /// `P^hops relu(X W + b)`.
    fn encode(&self, reading: &Reading, own: [&Var; 2], propagation: &Sparse) -> Var {
        let own = self.first(reading, own);
        (0..self.hops).fold(own, |rows, _| propagation.matmul(&rows))
    }

    /// `relu(X W + b)`, `[n, hidden]`.
    fn first(&self, reading: &Reading, [weight, bias]: [&Var; 2]) -> Var {
        reading.input.matmul(weight).add_row(bias).relu()
    }

    /// Both embeddings side by side, rows of length 1, `[n, 2 hidden]`.
    fn embedding(&self, reading: &Reading, channels: &Channels, encoders: &Encoders<'_>) -> Var {
        let low = self.encode(reading, encoders.low.own, &channels.low);
        let high = self.encode(reading, encoders.high.own, &channels.high);
        Var::concat_cols(&[&low, &high]).unit_rows()
    }

    /// The embedding that the classifier reads.
    fn embed(&self, reading: &Reading, parameters: &[Var]) -> Var {
        let mut take = Take::from(parameters);
        let channels = self.channels(reading, &mut take, None);
        self.embedding(reading, &channels, &self.encoders(&mut take))
    }
}

/// Parameters of the encoders.
struct Encoders<'a> {
    low: Encoder<'a>,
    high: Encoder<'a>,
}

struct Encoder<'a> {
    own: [&'a Var; 2],
    projection: Vec<[&'a Var; 2]>,
}

impl GreetConfig {
    fn encoders<'a>(&self, take: &mut Take<'a>) -> Encoders<'a> {
        let mut one = || Encoder {
            own: [take.one(), take.one()],
            projection: (0..self.projection_layers).map(|_| [take.one(), take.one()]).collect(),
        };
        Encoders { low: one(), high: one() }
    }
}

impl Encoder<'_> {
    /// What the contrastive loss sees of some embeddings, rows of length 1.
    fn projected(&self, rows: Var) -> Var {
        let project = |rows: Var, (layer, [weight, bias]): (usize, &[&Var; 2])| {
            let rows = if layer > 0 { rows.relu() } else { rows };
            rows.matmul(weight).add_row(bias)
        };
        self.projection.iter().enumerate().fold(rows, project).unit_rows()
    }
}

/// Learning without labels.
struct Pretraining<'a> {
    config: &'a GreetConfig,
    reading: &'a Reading,
    nearest: &'a SparseMat,
    judge: Judge,
}

impl Objective for Pretraining<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        let mut take = Take::from(parameters);
        let channels = self.config.channels(self.reading, &mut take, Some(derive(seed, &[0])));
        let encoders = self.config.encoders(&mut take);
        let contrast = self.contrast(&channels, &encoders, seed);
        if derive(seed, &[5]).is_multiple_of(2) {
            return contrast;
        }
        contrast.add(&self.ranking(&channels, &encoders, derive(seed, &[1])))
    }

    fn measured(&self, epoch: usize) -> bool {
        epoch.is_multiple_of(LOOK_EVERY.min(self.config.pretraining.patience))
    }

    fn num_examples(&self) -> usize {
        self.reading.pattern.rows()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        self.judge.score(self.config.embed(self.reading, parameters).value())
    }
}

impl Pretraining<'_> {
    /// The encoders' loss; nothing of it reaches the discriminator.
    fn contrast(&self, channels: &Channels, encoders: &Encoders<'_>, seed: u64) -> Var {
        let nodes = self.batch(derive(seed, &[2]));
        let view = |encoder: &Encoder<'_>, propagation: &Sparse, config: &ViewConfig, seed: u64| {
            // Columns of the features are hidden by hiding the rows of the weight that they meet.
            let weight = hide_rows(encoder.own[0], config.hide_features, derive(seed, &[0]));
            let values = propagation.values.detach().dropout(config.hide_edges, derive(seed, &[1]));
            let propagation = Sparse::new(Arc::clone(&propagation.pattern), values);
            let own = self.config.first(self.reading, [&weight, encoder.own[1]]);
            let rows = (1..self.config.hops).fold(own, |rows, _| propagation.matmul(&rows));
            // The last step, only to the nodes of the batch.
            encoder.projected(rows_of(&propagation, &nodes).matmul(&rows)) // [batch, hidden]
        };
        let low = view(&encoders.low, &channels.low, &self.config.low, derive(seed, &[3]));
        let high = view(&encoders.high, &channels.high, &self.config.high, derive(seed, &[4]));
        contrast(&low, &high, &self.same(&nodes))
    }

    /// The nodes of one contrastive loss.
    fn batch(&self, seed: u64) -> Rc<[u32]> {
        let num_nodes = self.reading.pattern.rows();
        if num_nodes <= self.config.batch {
            return (0..num_nodes as u32).collect();
        }
        let drawn = index::sample(&mut generator(seed, 0), num_nodes, self.config.batch);
        drawn.into_iter().map(|node| node as u32).collect()
    }

    /// 1 where the second of two nodes of a batch counts as the first, 0 elsewhere, `[batch, batch]`.
    fn same(&self, nodes: &[u32]) -> Mat {
        let mut place = vec![None; self.nearest.rows()];
        nodes.iter().enumerate().for_each(|(at, &node)| place[node as usize] = Some(at));
        let mut same = Mat::zeros(nodes.len(), nodes.len());
        for (at, &node) in nodes.iter().enumerate() {
            let row = same.row_mut(at);
            row[at] = 1.0;
            self.nearest
                .row(node as usize)
                .filter_map(|(other, _)| place[other as usize])
                .for_each(|at| row[at] = 1.0);
        }
        same
    }

    /// The discriminator's loss; the encoders only judge.
    fn ranking(&self, channels: &Channels, encoders: &Encoders<'_>, seed: u64) -> Var {
        let fixed = [&encoders.low, &encoders.high].map(|encoder| encoder.own.map(Var::detach));
        let [low, high] = &fixed;
        let judge = |own: &'_ [Var; 2], propagation: &Sparse| {
            self.config.encode(self.reading, [&own[0], &own[1]], propagation)
        };
        let (low, high) = (judge(low, &channels.low), judge(high, &channels.high));
        let rows = Var::concat_cols(&[&low, &high]).unit_rows(); // [n, 2 hidden]
        let (joined, random) = self.reading.compared.products(&rows, seed); // [nnz, 1]
        let farther = random.sub(&joined); // how much closer a random pair is
        let edges = self.reading.loops.scale(-1.0).add_scalar(1.0);
        let count = (self.reading.pattern.nnz() - self.reading.pattern.rows()).max(1) as f32;
        let excess = |apart: &Var, share: &Var| {
            let sure = share.add_scalar(-0.5).relu().mul(&edges);
            apart.add_scalar(self.config.margin).relu().mul(&sure).sum().scale(0.5 / count)
        };
        let heterophilic = channels.homophilic.scale(-1.0).add_scalar(1.0);
        excess(&farther, &channels.homophilic).add(&excess(&farther.scale(-1.0), &heterophilic))
    }
}

/// Tells how good an embedding is.
struct Judge {
    train: Vec<u32>,
    /// One-hot rows of the training nodes.
    targets: Mat,
    val: Labelled,
}

impl Judge {
    fn new(task: &Task<'_>) -> Self {
        let classes = &task.train.classes;
        let one_hot = |row: usize, class: usize| f32::from(classes[row] as usize == class);
        let targets = Mat::from_fn(classes.len(), task.num_classes, one_hot);
        Judge { train: task.train.nodes.clone(), targets, val: task.val.clone() }
    }

    /// What least squares on the training nodes makes of the validation nodes.
    fn score(&self, embedding: &Mat) -> Option<Score> {
        if self.val.nodes.is_empty() {
            return None;
        }
        let weights = Ridge::new(&embedding.select_rows(&self.train), PENALTY).solve(&self.targets);
        let found = matmul(&embedding.select_rows(&self.val.nodes), &weights); // [val, C]
        let classes = self.val.classes.iter().enumerate();
        let right = classes.filter(|&(row, &class)| argmax(found.row(row)) == class as usize).count();
        let loss = Var::constant(found).cross_entropy(&self.val.classes.clone().into()).scalar();
        Some(Score { accuracy: right as f32 / self.val.nodes.len() as f32, loss })
    }
}

/// `-mean over the same of cos / t + log sum over the others of exp(cos / t)`, both ways, of unit rows `[b, d]`.
fn contrast(first: &Var, second: &Var, same: &Mat) -> Var {
    let size = same.rows();
    let cosines = first.matmul_nt(second).scale(1.0 / TEMPERATURE); // [b, b]
    let count: Vec<f32> = (0..size).map(|row| same.row(row).iter().sum()).collect();
    let pull = |row: usize, col: usize| same.get(row, col) / count[row] + same.get(col, row) / count[col];
    let attraction = cosines.mul(&Var::constant(Mat::from_fn(size, size, pull))).sum();
    // Less the largest possible exponent, which both logarithms get back.
    let closeness = cosines.add_scalar(-1.0 / TEMPERATURE).exp();
    let others = |same: &dyn Fn(usize, usize) -> f32| {
        closeness.mul(&Var::constant(Mat::from_fn(size, size, |row, col| 1.0 - same(row, col))))
    };
    let towards = others(&|row, col| same.get(row, col)).sum_rows().add_scalar(TINY).ln().sum();
    let back = others(&|row, col| same.get(col, row)).sum_columns().add_scalar(TINY).ln().sum();
    towards.add(&back).sub(&attraction).scale(0.5 / size as f32).add_scalar(1.0 / TEMPERATURE)
}

/// Sets a share of the rows to zero.
fn hide_rows(weight: &Var, share: f32, seed: u64) -> Var {
    let mut kept = noise::uniform(weight.rows(), 1, seed);
    kept.as_mut_slice().iter_mut().for_each(|kept| *kept = f32::from(*kept >= share));
    weight.mul_col(&Var::constant(kept))
}

/// Some rows of a matrix, in this order.
fn rows_of(mat: &Sparse, rows: &[u32]) -> Sparse {
    let (pattern, entries) = some_rows(&mat.pattern, rows);
    Sparse::new(pattern, mat.values.gather_rows(&entries.into()))
}

impl ModelConfig for GreetConfig {
    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("hops", self.hops)?;
        settings::not_negative("sharpness", self.sharpness)?;
        settings::at_least_one("projection_layers", self.projection_layers)?;
        settings::at_least_one("batch", self.batch)?;
        settings::not_negative("margin", self.margin)?;
        for (name, view) in [("low", &self.low), ("high", &self.high)] {
            settings::share_below_one(&format!("{name}.hide_features"), view.hide_features)?;
            settings::share_below_one(&format!("{name}.hide_edges"), view.hide_edges)?;
        }
        self.pretraining.validate("pretraining")?;
        self.training.validate("training")
    }

    fn fit(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Box<dyn NodeClassifier>> {
        self.validate()?;
        let reading = self.read(task.graph, task.features, session)?;
        let key = || format!("nearest by features, k {}", self.neighbours);
        let nearest: Arc<SparseMat> = session.shared(key, |_| Ok(nearest(task.features, self.neighbours)))?;
        let mut encoders = self.parameters(task.features.dim(), seed);
        let judge = Judge::new(task);
        let objective = Pretraining { config: self, reading: &reading, nearest: &nearest, judge };
        train("encoders", &objective, &mut encoders, &self.pretraining, derive(seed, &[2]), session)?;

        let network = Linear { embedding: self.embed(&reading, &encoders.constants()) };
        let classifier = self.learn_classifier(&network, task, seed, session)?;
        Ok(Box::new(FittedGreet { config: self.clone(), encoders, classifier }))
    }
}

impl GreetConfig {
    /// The linear classifier that is best at the validation nodes; of equals, the one with the smallest weights.
    fn learn_classifier(
        &self,
        network: &Linear,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Parameters> {
        let objective = Supervised::on(network, &task.train, &task.val);
        let given = self.training.weight_decay.given().map(|decay| vec![decay]);
        let mut best: Option<(Option<Score>, Parameters)> = None;
        for (number, decay) in given.unwrap_or(DECAYS.to_vec()).into_iter().enumerate() {
            let mut classifier = self.classifier_parameters(task.num_classes, derive(seed, &[3]));
            let training = TrainingConfig { weight_decay: Auto::Given(decay), ..self.training.clone() };
            let stage = format!("classifier {number}");
            let trained = train(&stage, &objective, &mut classifier, &training, derive(seed, &[1]), session)?;
            let score = trained.best;
            let better = match (&best, score) {
                (None, _) => true,
                (Some((Some(best), _)), Some(score)) => score.beats(best, self.training.monitor),
                _ => false,
            };
            if better {
                best = Some((score, classifier));
            }
        }
        Ok(best.expect("some weight decay is tried").1)
    }
}

impl NodeClassifier for FittedGreet {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.encoders.shape(0).0)?;
        let reading = self.config.read(graph, features, &mut Session::default())?;
        let network = Linear { embedding: self.config.embed(&reading, &self.encoders.constants()) };
        Ok(probabilities(&network, &self.classifier.constants()))
    }

    fn tensors(&self) -> Tensors {
        let mut tensors = self.encoders.tensors();
        tensors.extend(self.classifier.tensors());
        tensors
    }
}

/// The classifier on finished embeddings.
struct Linear {
    embedding: Var,
}

impl Network for Linear {
    fn scores(&self, parameters: &[Var], _dropout_seed: Option<u64>) -> Var {
        Take::from(parameters).linear(&self.embedding) // [n, classes]
    }
}

/// GREET in the list of models.
pub const KIND: ModelKind = ModelKind {
    name: "greet",
    summary: "embeddings without labels from homophilic and heterophilic edges, then a linear model (Liu et al. 2023)",
    defaults: settings::defaults::<GreetConfig>,
    build: settings::build::<GreetConfig>,
    load: |table, tensors| {
        let config: GreetConfig = settings::read(table)?;
        let shape = |name: &str| {
            let missing = || Error::data("the weights are not those of a greet model", "train again");
            tensors.get(name).map(Mat::shape).ok_or_else(missing)
        };
        let mut encoders = config.parameters(shape("discriminator.features.weight")?.0, 0);
        encoders.restore(tensors)?;
        let mut classifier = config.classifier_parameters(shape("classifier.weight")?.1, 0);
        classifier.restore(tensors)?;
        Ok(Box::new(FittedGreet { config, encoders, classifier }))
    },
    search: || {
        vec![
            ("sharpness", SearchSpace::choice([0.1, 0.3, 0.5])),
            ("projection_layers", SearchSpace::choice([1, 2])),
            ("neighbours", SearchSpace::choice([0, 10, 20, 25])),
            ("low.hide_features", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("low.hide_edges", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("high.hide_features", SearchSpace::choice([0.1, 0.5, 0.8])),
            ("high.hide_edges", SearchSpace::choice([0.1, 0.3, 0.8])),
            ("normalise_features", SearchSpace::choice([false, true])),
            ("training.learning_rate", SearchSpace::LogUniform(1e-3, 1e-1)),
        ]
    },
    published: &[
        "neighbours = 20",
        "projection_layers = 2\nneighbours = 20\nhigh.hide_edges = 0.8",
        "projection_layers = 2\nsharpness = 0.3\nneighbours = 25",
        "projection_layers = 2\nsharpness = 0.5\nneighbours = 20\nlow.hide_features = 0.5\nlow.hide_edges = 0.1\nhigh.hide_features = 0.1",
        "projection_layers = 2\nsharpness = 0.5\nneighbours = 25\nlow.hide_edges = 0.1\nhigh.hide_features = 0.1\nhigh.hide_edges = 0.3",
        "sharpness = 0.5\nneighbours = 20\nlow.hide_features = 0.8\nlow.hide_edges = 0.8\nhigh.hide_features = 0.1\nhigh.hide_edges = 0.8",
    ],
    knows_nodes: false,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(config: &GreetConfig) -> Reading {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let features = Features::from_dense(Mat::from_fn(4, 3, |row, col| ((row + col) % 3) as f32));
        config.read(&graph, &features, &mut Session::default()).unwrap()
    }

    #[test]
    fn surely_homophilic_edges_are_a_gcn_and_leave_nothing_to_sharpen() {
        let config = GreetConfig { hidden: 2, ..GreetConfig::default() };
        let reading = reading(&config);
        let mut parameters = config.parameters(3, 1).constants();
        parameters[4] = Var::constant(Mat::full(1, 1, 40.0)); // the bias of the edges' scores
        let found = config.channels(&reading, &mut Take::from(&parameters), None);
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let expected = normalise::symmetric_with_self_loops(&graph);
        for (found, expected) in found.low.values.value().as_slice().iter().zip(&expected.values) {
            assert!((found - expected).abs() < 1e-5);
        }
        let identity = reading.loops.value().as_slice();
        for (found, expected) in found.high.values.value().as_slice().iter().zip(identity) {
            assert!((found - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn views_that_agree_lose_less() {
        let rows = Var::constant(Mat::from_fn(4, 4, |row, col| f32::from(row == col)));
        let turned = rows.gather_rows(&vec![1, 2, 3, 0].into());
        let same = Mat::from_fn(4, 4, |row, col| f32::from(row == col));
        // All others at right angles: log 3 - 1 / t.
        let agreeing = contrast(&rows, &rows, &same).scalar();
        assert!((agreeing - (3f32.ln() - 1.0 / TEMPERATURE)).abs() < 1e-4, "{agreeing}");
        assert!(contrast(&rows, &turned, &same).scalar() > agreeing + 1.0);
    }

    #[test]
    fn the_two_losses_teach_different_networks() {
        let config = GreetConfig { projection_layers: 2, ..GreetConfig::default() };
        let reading = reading(&config);
        let nearest = SparseMat::from_triplets(4, 4, vec![(0, 1, 1.0)]);
        let judge = Judge { train: vec![0], targets: Mat::zeros(1, 1), val: Labelled::default() };
        let objective = Pretraining { config: &config, reading: &reading, nearest: &nearest, judge };
        let parameters: Vec<Var> = config.parameters(3, 1).constants();
        let parameters: Vec<Var> = parameters.iter().map(|p| Var::parameter(p.shared_value())).collect();
        let mut take = Take::from(&parameters);
        let channels = config.channels(&reading, &mut take, Some(1));
        let encoders = config.encoders(&mut take);
        let all: Vec<&Var> = parameters.iter().collect();
        let reached = |loss: &Var| -> Vec<bool> {
            let found = crate::autograd::gradients(loss, &all, crate::autograd::Order::First);
            found.iter().map(|gradient| gradient.value().as_slice().iter().any(|g| *g != 0.0)).collect()
        };
        let contrast = reached(&objective.contrast(&channels, &encoders, 5));
        assert!(contrast[..5].iter().all(|reached| !reached) && contrast[5..].iter().any(|reached| *reached));
        let projections: Vec<bool> = [7, 9, 13, 15].map(|weight| contrast[weight]).into();
        assert_eq!(
            (contrast.len(), projections),
            (17, vec![true; 4]),
            "both layers of both projections learn"
        );
        let ranking = reached(&objective.ranking(&channels, &encoders, 5));
        assert!(ranking[..5].iter().any(|reached| *reached) && ranking[5..].iter().all(|reached| !reached));
    }

    #[test]
    fn some_rows_are_those_of_the_whole() {
        let pattern = reading(&GreetConfig::default()).pattern;
        let values = Var::constant(Mat::from_fn(pattern.nnz(), 1, |row, _| row as f32));
        let whole = Sparse::new(pattern, values);
        let x = Var::constant(Mat::from_fn(4, 2, |row, col| (row + col) as f32));
        let found = rows_of(&whole, &[2, 0]).matmul(&x);
        assert_eq!(found.value(), whole.matmul(&x).gather_rows(&[2, 0].into()).value());
    }
}
