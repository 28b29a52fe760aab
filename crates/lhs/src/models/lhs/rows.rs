//! Learning in batches, for graphs that are too large for all nodes at once: every node is a row.
//!
//! What comes over hops is computed once, of what nodes look like and not of their codes: with base rows `B [n,d]` (the features;
//! their leading directions where features are sparse or many; those of profiles where there are no features) the averages
//! `A B, A² B, S B, S² B` over the given and the latent graph, both row-stochastic. Each has a code of its own, as the features
//! and the profile have: `scores = (relu(X W_x) ‖ relu(P W_p) ‖ relu(A B W_1) ‖ …) W + b`. So a node needs no other node while it
//! learns: batches may have any size, and no neighbourhood is ever opened. Nothing is reconstructed.
//! The training nodes are dealt into [`PARTS`] by their numbers; a batch has as many of each part as of any other, every part finds its gradient alone,
//! and the gradients are added in order: the same bits on any number of threads.
//! Cost: a few sparse products of `d` columns once, then `O(n_train w h)` an epoch for rows of `w` columns in all.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::encoder::{Channels, Encoder};
use super::{Lhs, Prepared};
use crate::autograd::{Order, Var, gradients};
use crate::error::Result;
use crate::graph::{Features, Graph, Labelled, normalise};
use crate::linalg::random::{derive, generator};
use crate::linalg::{LinearMap, Mat};
use crate::structure::{LARGE, Structure};
use crate::training::{
    ClassLoss, Input, Network, Objective, Parameters, Score, Session, Supervised, Task, train,
};

/// Parts that nodes are dealt into; a batch is as many gradients.
const PARTS: usize = 16;
/// Nodes in a batch where nobody says how many.
const USUAL_BATCH: usize = 8192;
/// More columns of features than this are read through their leading directions where they travel.
pub(super) const WIDE: usize = 256;
/// Nodes whose scores are computed together.
const BLOCK: usize = 4096;
/// Epochs without improvement after which learning never stops, however many steps they have.
const LEAST_PATIENCE: usize = 10;

impl Lhs {
    /// How many nodes a step learns from; none where it learns from all.
    pub(super) fn batch_size(&self, task: &Task<'_>) -> Option<usize> {
        // Copies of the graph are learned from as a whole.
        if self.batch.given().is_none() && !task.copies.train.is_empty() {
            return None;
        }
        self.batch_for(task.graph.num_nodes())
    }

    /// The same of a graph of so many nodes.
    pub(super) fn batch_for(&self, nodes: usize) -> Option<usize> {
        let auto = if nodes > LARGE { USUAL_BATCH } else { 0 };
        Some(self.batch.given().unwrap_or(auto)).filter(|batch| *batch > 0)
    }

    /// An encoder that learned in batches.
    pub(super) fn learned_in_batches(
        &self,
        task: &Task<'_>,
        prepared: &Prepared,
        batch: usize,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Parameters> {
        let channels = prepared.channels;
        let rows = NodeRows::new(self, channels, task.graph, task.features, &prepared.structure);
        let objective = Batches::new(&rows, task, batch, self)?;
        let mut training = self.training.clone();
        training.patience =
            (training.patience / objective.steps()).max(LEAST_PATIENCE.min(training.patience));
        let seed = derive(seed, &[1, 0]);
        let mut parameters = super::encoder::parameters(self, &channels, task.num_classes, seed);
        train("classifier-1", &objective, &mut parameters, &training, derive(seed, &[1]), session)?;
        Ok(parameters)
    }
}

/// Columns of what travels over hops.
pub(super) fn base_columns(features: &Features, structure: &Structure) -> usize {
    base(features, structure).cols()
}

/// What travels over hops.
fn base<'a>(features: &'a Features, structure: &'a Structure) -> &'a Mat {
    match features {
        _ if features.dim() == 0 => &structure.inputs.profiles.directions,
        Features::Dense(mat) if mat.cols() <= WIDE => mat,
        _ => &structure.inputs.features,
    }
}

/// The rows of all nodes, in the order in which their codes stand.
pub(super) struct NodeRows<'a> {
    config: &'a Lhs,
    channels: Channels,
    sources: Vec<Source<'a>>,
}

enum Source<'a> {
    Features(Cow<'a, Features>),
    Rows(Cow<'a, Mat>),
}

impl Source<'_> {
    fn of(&self, nodes: &[u32]) -> Input {
        match self {
            Source::Features(features) => Input::new(&features.select(nodes)),
            Source::Rows(rows) => Input::Dense(Var::constant(rows.select_rows(nodes))),
        }
    }
}

impl<'a> NodeRows<'a> {
    /// Makes the rows that the channels read.
    pub(super) fn new(
        config: &'a Lhs,
        channels: Channels,
        graph: &Graph,
        features: &'a Features,
        structure: &'a Structure,
    ) -> Self {
        let mut sources = Vec::new();
        if channels.features > 0 {
            sources.push(Source::Features(match config.normalise_features {
                true => Cow::Owned(normalise::row_normalised(features)),
                false => Cow::Borrowed(features),
            }));
        }
        let inputs = &structure.inputs;
        if channels.profile > 0 {
            sources.push(Source::Rows(Cow::Borrowed(&inputs.profiles.directions)));
        }
        if let (true, Some(incoming)) = (channels.incoming_profile > 0, &inputs.incoming) {
            sources.push(Source::Rows(Cow::Borrowed(&incoming.directions)));
        }
        let base = base(features, structure);
        let mut travel = |graph: Cow<'_, Graph>, hops: usize| {
            if hops == 0 {
                return;
            }
            let average = normalise::row_stochastic(&graph);
            let mut far = average.apply(base);
            for hop in 1..=hops {
                let next = (hop < hops).then(|| average.apply(&far));
                sources.push(Source::Rows(Cow::Owned(far)));
                let Some(next) = next else { return };
                far = next;
            }
        };
        let given = if channels.directed { Cow::Borrowed(graph) } else { Cow::Owned(graph.to_undirected()) };
        travel(given, channels.given_hops);
        if channels.incoming_hops > 0 {
            travel(Cow::Owned(graph.reversed()), channels.incoming_hops);
        }
        travel(Cow::Borrowed(structure.latent()), channels.latent_hops);
        NodeRows { config, channels, sources }
    }

    fn num_nodes(&self) -> usize {
        match &self.sources[0] {
            Source::Features(features) => features.num_nodes(),
            Source::Rows(rows) => rows.rows(),
        }
    }

    /// The encoder of some nodes.
    fn encoder(&self, nodes: &[u32]) -> Encoder<'a> {
        let inputs = self.sources.iter().map(|source| source.of(nodes)).collect();
        Encoder::of_rows(self.config, self.channels, inputs)
    }

    /// What encoders say of some nodes, block by block; nothing is learned from it.
    fn told<T: Send>(
        &self,
        nodes: &[u32],
        parameters: &[Var],
        tell: impl Fn(&Encoder<'_>, &[Var]) -> T + Sync,
    ) -> Vec<T> {
        let values: Vec<&Mat> = parameters.iter().map(Var::value).collect();
        let of_block = |block: &[u32]| tell(&self.encoder(block), &constants(&values));
        nodes.par_chunks(BLOCK).map(of_block).collect()
    }

    /// What encoders say of all nodes, in named matrices with a row for each.
    pub(super) fn named<'n>(
        &self,
        parameters: &[Var],
        tell: impl Fn(&Encoder<'_>, &[Var]) -> Vec<(&'n str, Mat)> + Sync,
    ) -> Vec<(&'n str, Mat)> {
        let everybody: Vec<u32> = (0..self.num_nodes() as u32).collect();
        let blocks = self.told(&everybody, parameters, tell);
        let names: Vec<&str> = blocks.first().into_iter().flatten().map(|(name, _)| *name).collect();
        let stacked = |place: usize| stacked(blocks.iter().map(|block| &block[place].1));
        names.into_iter().enumerate().map(|(place, name)| (name, stacked(place))).collect()
    }
}

fn constants(values: &[&Mat]) -> Vec<Var> {
    values.iter().map(|value| Var::constant((*value).clone())).collect()
}

/// Matrices of as many columns, one below the other.
fn stacked<'m>(parts: impl Iterator<Item = &'m Mat> + Clone) -> Mat {
    let (rows, cols) = parts.clone().fold((0, 0), |(rows, _), part| (rows + part.rows(), part.cols()));
    let mut out = Mat::scratch(rows, cols);
    let mut rest = out.as_mut_slice();
    for part in parts {
        let (here, after) = rest.split_at_mut(part.len());
        here.copy_from_slice(part.as_slice());
        rest = after;
    }
    out
}

impl Network for NodeRows<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let everybody: Vec<u32> = (0..self.num_nodes() as u32).collect();
        self.scores_of(&everybody.into(), parameters, dropout_seed)
    }

    fn scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        if dropout_seed.is_some() {
            return self.encoder(nodes).scores(parameters, dropout_seed);
        }
        let blocks = self
            .told(nodes, parameters, |encoder, parameters| encoder.scores(parameters, None).value().clone());
        Var::constant(stacked(blocks.iter()))
    }

    fn training_scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        (self.scores_of(nodes, parameters, Some(seed)), None)
    }
}

/// The training nodes of a task in batches.
struct Batches<'a> {
    rows: &'a NodeRows<'a>,
    /// The same task with all nodes in one step: what is measured.
    whole: Supervised<'a, NodeRows<'a>>,
    /// The weight of each class, if they differ.
    weights: Option<Vec<f32>>,
    parts: Vec<Labelled>,
    steps: usize,
    /// The order of the nodes of each part in an epoch, by its seed.
    order: RefCell<(u64, Vec<Labelled>)>,
}

impl<'a> Batches<'a> {
    fn new(rows: &'a NodeRows<'a>, task: &Task<'_>, batch: usize, config: &Lhs) -> Result<Self> {
        let mut parts = vec![Labelled::default(); PARTS];
        let nodes = rows.num_nodes().max(1);
        for (&node, &class) in task.train.nodes.iter().zip(&task.train.classes) {
            let part = &mut parts[node as usize * PARTS / nodes];
            part.nodes.push(node);
            part.classes.push(class);
        }
        let weights = config.training.class_weights.resolve(task)?.weights().map(<[f32]>::to_vec);
        Ok(Batches {
            rows,
            whole: Supervised::new(rows, task, &config.training)?,
            weights,
            parts,
            steps: task.train.nodes.len().div_ceil(batch).max(1),
            order: RefCell::default(),
        })
    }

    /// Deals the nodes of each part anew.
    fn shuffle(&self, seed: u64) {
        let mut order = self.order.borrow_mut();
        if order.0 == seed && !order.1.is_empty() {
            return;
        }
        let shuffled = |(number, part): (usize, &Labelled)| {
            let mut places: Vec<u32> = (0..part.nodes.len() as u32).collect();
            places.shuffle(&mut generator(derive(seed, &[number as u64]), 0));
            let pick = |of: &[u32]| places.iter().map(|&place| of[place as usize]).collect();
            Labelled { nodes: pick(&part.nodes), classes: pick(&part.classes) }
        };
        *order = (seed, self.parts.par_iter().enumerate().map(shuffled).collect());
    }
}

impl Objective for Batches<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        self.whole.loss(parameters, seed)
    }

    fn num_examples(&self) -> usize {
        self.whole.num_examples()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        self.whole.score(parameters)
    }

    fn steps(&self) -> usize {
        self.steps
    }

    fn gradient(&self, values: &[Rc<Mat>], seed: u64, step: usize) -> (f32, Vec<Rc<Mat>>) {
        self.shuffle(seed);
        let order = self.order.borrow();
        let of_step = |part: &Labelled| {
            let bound = |step: usize| step * part.nodes.len() / self.steps;
            bound(step)..bound(step + 1)
        };
        let parts: Vec<(&[u32], &[u32])> =
            (order.1.iter()).map(|part| (&part.nodes[of_step(part)], &part.classes[of_step(part)])).collect();
        let all: usize = parts.iter().map(|(nodes, _)| nodes.len()).sum();
        let (rows, weights) = (self.rows, &self.weights);
        let values: Vec<&Mat> = values.iter().map(|value| &**value).collect();
        let of_part = |(number, &(nodes, classes)): (usize, &(&[u32], &[u32]))| {
            let parameters: Vec<Var> = values.iter().map(|value| Var::parameter((*value).clone())).collect();
            let seed = derive(seed, &[step as u64, number as u64]);
            let scores = rows.encoder(nodes).scores(&parameters, Some(seed));
            let loss = ClassLoss::from_weights(weights.as_deref()).of(&scores, &classes.into());
            let loss = loss.scale(nodes.len() as f32 / all as f32);
            let found = gradients(&loss, &parameters.iter().collect::<Vec<_>>(), Order::First);
            (loss.scalar(), found.into_iter().map(|gradient| gradient.value().clone()).collect::<Vec<Mat>>())
        };
        let found: Vec<(f32, Vec<Mat>)> =
            parts.par_iter().enumerate().filter(|(_, part)| !part.0.is_empty()).map(of_part).collect();
        let mut sums: Vec<Mat> = values.iter().map(|value| Mat::zeros(value.rows(), value.cols())).collect();
        let mut loss = 0.0;
        for (part, gradients) in &found {
            loss += part;
            for (sum, gradient) in sums.iter_mut().zip(gradients) {
                sum.as_mut_slice().iter_mut().zip(gradient.as_slice()).for_each(|(sum, value)| *sum += value);
            }
        }
        (loss, sums.into_iter().map(Rc::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Dataset;
    use crate::graph::synth::SynthConfig;
    use crate::models::Model;
    use crate::training::Auto;

    fn graph(nodes: usize) -> Dataset {
        SynthConfig { nodes, homophily: 0.7, mean_degree: 8.0, ..SynthConfig::default() }.generate(5).unwrap()
    }

    /// Reads everything, in batches.
    fn config() -> Lhs {
        let mut config = Lhs {
            hidden: 8,
            batch: Auto::Given(32),
            profile: Auto::Given(true),
            given_hops: Auto::Given(2),
            latent_hops: Auto::Given(1),
            ..Lhs::default()
        };
        config.training.epochs = 12;
        config
    }

    fn with_rows(config: &Lhs, dataset: &Dataset, check: impl Fn(&NodeRows<'_>, &Task<'_>)) {
        let task = Task::new(dataset, &dataset.splits()[0]).unwrap();
        let prepared = config.prepare(&task, false, 3, &mut Session::default()).unwrap();
        check(
            &NodeRows::new(config, prepared.channels, task.graph, task.features, &prepared.structure),
            &task,
        );
    }

    fn fresh(rows: &NodeRows<'_>, classes: usize) -> Parameters {
        super::super::encoder::parameters(rows.config, &rows.channels, classes, 1)
    }

    #[test]
    fn every_node_is_a_row_and_blocks_say_what_all_nodes_say() {
        let dataset = graph(BLOCK + 100);
        with_rows(&config(), &dataset, |rows, task| {
            let (channels, columns) = (rows.channels, dataset.features().dim());
            assert_eq!((channels.rows, channels.given_hops, channels.latent_hops), (columns, 2, 1));
            assert_eq!(rows.sources.len(), 5, "features, profile, two given hops, a latent one");
            let parameters = fresh(rows, task.num_classes).constants();
            let everybody: Vec<u32> = (0..rows.num_nodes() as u32).collect();
            let at_once = rows.encoder(&everybody).scores(&parameters, None);
            let close =
                |a: &Mat, b: &Mat| a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() < 1e-4);
            assert!(close(rows.scores(&parameters, None).value(), at_once.value()));
            let told = rows.named(&parameters, |encoder, parameters| encoder.channel_scores(parameters));
            let mut sum = Mat::zeros(at_once.rows(), at_once.cols());
            told.iter().for_each(|(_, scores)| super::super::add_scaled(&mut sum, scores, 1.0));
            assert!(close(&sum, at_once.value()), "channels add up");
            // One hop is the mean over the neighbours.
            let Source::Rows(hop) = &rows.sources[2] else { panic!("hops are rows") };
            let Features::Dense(own) = dataset.features() else { panic!("dense features") };
            let neighbours = dataset.graph().neighbours(7);
            let mean: f32 = neighbours.iter().map(|&other| own.get(other as usize, 3)).sum::<f32>()
                / neighbours.len() as f32;
            assert!((hop.get(7, 3) - mean).abs() < 1e-4);
        });
    }

    #[test]
    fn parts_add_up_to_the_gradient_of_the_batch_and_an_epoch_sees_every_node_once() {
        let dataset = graph(300);
        let config = Lhs { input_dropout: 0.0, dropout: 0.0, channel_dropout: 0.0, ..config() };
        with_rows(&config, &dataset, |rows, task| {
            let parameters = fresh(rows, task.num_classes);
            let values: Vec<Rc<Mat>> = parameters.constants().iter().map(Var::shared_value).collect();
            let whole = Batches::new(rows, task, 100_000, &config).unwrap();
            assert_eq!(whole.steps(), 1);
            let (loss, found) = whole.gradient(&values, 4, 0);
            let vars: Vec<Var> = values.iter().map(|value| Var::parameter(Rc::clone(value))).collect();
            let expected = whole.whole.loss(&vars, 4);
            assert!((loss - expected.scalar()).abs() < 1e-4, "{loss} {}", expected.scalar());
            let gradients = gradients(&expected, &vars.iter().collect::<Vec<_>>(), Order::First);
            for (found, expected) in found.iter().zip(&gradients) {
                let pairs = found.as_slice().iter().zip(expected.value().as_slice());
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-4));
            }
            let batches = Batches::new(rows, task, 32, &config).unwrap();
            batches.shuffle(9);
            let mut seen: Vec<u32> =
                batches.order.borrow().1.iter().flat_map(|part| part.nodes.clone()).collect();
            seen.sort_unstable();
            assert_eq!(
                (seen, batches.steps()),
                (task.train.nodes.clone(), task.train.nodes.len().div_ceil(32))
            );
        });
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let dataset = graph(400);
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| config().fit(&task).unwrap().members[0].parameters.tensors())
        };
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn what_needs_all_nodes_at_once_is_refused() {
        let dataset = graph(120);
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let refused = |config: Lhs, key: &str| {
            let error = config.fit(&task).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("batch = 0"), "{error}");
        };
        refused(Lhs { hardening: Auto::Given(0.5), ..config() }, "hardening");
        refused(Lhs { given_layers: Auto::Given(2), ..config() }, "given_layers");
        refused(Lhs { ensemble_size: Auto::Given(3), ..config() }, "ensemble_size");
        let copies = [dataset.graph().clone()];
        let copies = crate::training::Copies { train: &copies, weight: 1.0, ..Default::default() };
        let error = config().fit(&Task { copies, ..task.clone() }).unwrap_err().to_string();
        assert!(error.contains("batch = 0"), "{error}");
    }
}
