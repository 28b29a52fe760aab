//! Pro-GNN: learns a clean graph together with a GCN (Jin et al. 2020).
//!
//! Minimises `‖S - A‖ + α ‖S‖₁ + β ‖S‖_* + γ CE(GCN(S)) + λ tr(Xᵀ L̂ X)` over a dense symmetric `S` in `[0, 1]` and the weights
//! of a GCN in turns: one step on `S` (gradient, singular values shrunk by `η β`, entries by `η α`), some on the weights.
//! Attacks raise the rank and join nodes with different features; both is undone.
//! Cost per epoch: `O(n² hidden)` and, every few epochs, `O(n³)`, later `O(n²)` per singular value that is left; memory
//! `O(n²)`, since `S` is dense by definition.
//!
//! The network must learn more slowly than the graph is cleaned: one that has fitted the training nodes on the attacked
//! graph passes on no reason to change it. Hence the small steps. Too small ones find nothing left of a graph that was
//! clean.
//!
//! Departs from the paper: singular values are shrunk every `low_rank_every` epochs by as much as those epochs would
//! have shrunk them; gradients of `S` are made symmetric, and so `S` is. On a graph with other edges than the learned
//! one `A`, the network reads `A' + S - A`, within `[0, 1]`: what was learned about each pair stays.

mod graph;

use crate::training::memory_plan::product;
use std::cell::RefCell;
use std::rc::Rc;

use self::graph::{LearnedGraph, Pull, Through, row_sums};
use super::architecture::{NetworkSettings, TAPE_COPIES};
use super::mlp::layered_parameters;
use super::settings::network_settings;
use super::{FittedModel, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, Widths, settings};
use crate::autograd::{Order, Var, gradients};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph, normalise};
use crate::linalg::random::derive;
use crate::linalg::{Mat, Shrinker, SparseMat, matmul_nt};
use crate::training::{
    Amounts, ClassLoss, Companion, DataSizes, Input, MemoKey, MemoryPlan, Network, Objective, Parameters,
    Score, Session, Supervised, Task, Tensors, TrainingConfig, dropout_before, probabilities, train,
};

/// Beyond this, dense matrices of all pairs take gigabytes and their decomposition minutes.
const MOST_NODES: usize = 8192;
/// The tensor that holds `S - A`.
const DIFFERENCE: &str = "difference";
/// The tensors of a checkpoint that hold `S`, the memory of its gradient, the best `S` so far, and the singular vectors
/// that were left of it the last time.
const ENTRIES: &str = "entries";
const MOMENTUM: &str = "momentum";
const BEST_ENTRIES: &str = "best_entries";
const KEPT: &str = "kept";

network_settings! {
    /// Settings of Pro-GNN.
    pub struct ProGnn {
        /// Step size of the graph (the paper's η), 0 or above.
        pub graph_rate: f32 = 0.01,
        /// Weight of the l1 norm of the graph (the paper's α), 0 or above.
        pub sparsity: f32 = 5e-4,
        /// Weight of its nuclear norm (the paper's β), 0 or above.
        pub low_rank: f32 = 1.5,
        /// The nuclear norm acts once in this many epochs, and that much harder, 1 or more; 1 is the published schedule.
        pub low_rank_every: usize = 10,
        /// Weight of the network's cross-entropy in the loss of the graph (the paper's γ), 0 or above.
        pub task: f32 = 1.0,
        /// Weight of the features' smoothness over the graph (the paper's λ), 0 or above.
        pub smoothness: f32 = 1e-3,
        /// Steps of the network per step of the graph, 1 or more.
        pub network_steps: usize = 2,
    }
    shared {
        /// Width of the hidden layer, 1 or more.
        hidden: 16,
        /// Share of the hidden units dropped while training, 0..1.
        dropout: 0.5,
        normalise_features: false,
        /// How both are trained; an epoch is one step of the graph and those of the network.
        training: TrainingConfig {
            epochs: 1000,
            patience: 1000,
            learning_rate: 5e-4,
            ..TrainingConfig::default()
        },
    }
}

impl ModelInfo for ProGnn {
    const NAME: &'static str = "pro-gnn";
    const SUMMARY: &'static str =
        "learns a sparse, low-rank, smooth graph together with a GCN (Jin et al. 2020); small graphs only";
    const TRANSDUCTIVE: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [16, 32, 64],
            [
                ("low_rank", SearchSpace::choice([0.5, 1.5, 3.0])),
                ("smoothness", SearchSpace::choice([0.0, 1e-3, 1e-2, 1e-1])),
                ("graph_rate", SearchSpace::choice([0.01, 0.02, 0.05])),
                ("network_steps", SearchSpace::choice([1, 2])),
            ],
        )
    }
}

/// Pro-GNN after learning.
#[derive(Clone, Debug)]
pub struct FittedProGnn {
    config: ProGnn,
    parameters: Parameters,
    /// `S - A` of the training graph, `[n, n]`.
    difference: Mat,
}

impl ProGnn {
    fn parameters(&self, features: usize, classes: usize, seed: u64) -> Parameters {
        layered_parameters(features, self.hidden, classes, 2, seed)
    }

    /// What pulls on the graph in an epoch.
    fn pull(&self, epoch: usize) -> Pull {
        let every = self.low_rank_every;
        let low_rank = if (epoch + 1).is_multiple_of(every) { self.low_rank * every as f32 } else { 0.0 };
        Pull { rate: self.graph_rate, sparsity: self.sparsity, low_rank, smoothness: self.smoothness }
    }
}

impl Model for ProGnn {
    type Fitted = FittedProGnn;

    fn validate(&self) -> Result<()> {
        self.shared().check()?;
        settings::not_negative("graph_rate", self.graph_rate)?;
        settings::not_negative("sparsity", self.sparsity)?;
        settings::not_negative("low_rank", self.low_rank)?;
        settings::at_least_one("low_rank_every", self.low_rank_every)?;
        settings::not_negative("task", self.task)?;
        settings::not_negative("smoothness", self.smoothness)?;
        settings::at_least_one("network_steps", self.network_steps)
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        let usual = Amounts::layered(sizes, self.hidden, 2, TAPE_COPIES);
        // The learned graph, its momentum, its best state, products of features, gradients and their decomposition.
        let pairs = product([sizes.nodes, sizes.nodes, 10]);
        MemoryPlan::of(sizes, &Amounts { prepared: usual.prepared + pairs, ..usual })
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedProGnn> {
        self.validate()?;
        few_enough(task.graph)?;
        self.ensure_fits(&DataSizes::of(task))?;
        let given = normalise::adjacency(&task.graph.to_undirected());
        let products = match self.smoothness > 0.0 {
            true => Some(session.shared(
                || MemoKey::new("pro-gnn, products of features").features(task.features),
                |_| Ok(products(task.features)),
            )?),
            false => None,
        };
        let mut parameters = self.parameters(task.features.dim(), task.num_classes, seed);
        let graph = LearnedGraph::of(&given);
        let learning = Learning {
            config: self,
            task,
            loss: self.training.class_weights.resolve(task)?,
            input: Input::scaled(task.features, self.normalise_features),
            given: &given,
            products: products.as_deref(),
            best: RefCell::new(Rc::clone(&graph.entries)),
            graph: RefCell::new(graph),
        };
        train("classifier", &learning, &mut parameters, &self.training, derive(seed, &[1]), session)?;
        let best = Rc::unwrap_or_clone(learning.best.into_inner());
        let difference = changed(best, &given, |entry, weight| entry - weight);
        Ok(FittedProGnn { config: self.clone(), parameters, difference })
    }
}

fn few_enough(graph: &Graph) -> Result<()> {
    if graph.num_nodes() <= MOST_NODES {
        return Ok(());
    }
    Err(Error::data(
        format!(
            "Pro-GNN learns a dense matrix over all pairs of nodes: {} nodes are too many, {MOST_NODES} the most",
            graph.num_nodes()
        ),
        "choose a defence whose memory grows with the edges, such as lhs, gnnguard or gcn-jaccard",
    ))
}

/// `X Xᵀ`.
fn products(features: &Features) -> Mat {
    match features {
        Features::Dense(rows) => matmul_nt(rows, rows),
        Features::Sparse(rows) => {
            let rows = rows.to_dense();
            matmul_nt(&rows, &rows)
        }
    }
}

/// A dense matrix with the entries of a sparse one worked in.
fn changed(mut entries: Mat, given: &SparseMat, f: impl Fn(f32, f32) -> f32) -> Mat {
    for row in 0..given.rows() {
        for (col, weight) in given.row(row) {
            let entry = &mut entries.row_mut(row)[col as usize];
            *entry = f(*entry, weight);
        }
    }
    entries
}

impl NodeClassifier for FittedProGnn {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.parameters.shape(0).0)?;
        settings::same_nodes(graph, self.difference.rows())?;
        let given = normalise::adjacency(&graph.to_undirected());
        let mut entries = changed(self.difference.clone(), &given, |entry, weight| entry + weight);
        entries.as_mut_slice().iter_mut().for_each(|entry| *entry = entry.clamp(0.0, 1.0));
        let input = Input::scaled(features, self.config.normalise_features);
        let degrees = row_sums(&entries);
        let graph = Propagation::over(Rc::new(entries), &degrees);
        let network = DenseGcn { config: &self.config, input: &input, graph };
        Ok(probabilities(&network, &self.parameters.constants()))
    }

    fn saved(&self) -> Result<SavedModel> {
        let mut tensors = self.parameters.tensors();
        tensors.insert(DIFFERENCE.into(), self.difference.clone());
        let widths = Widths { features: self.parameters.shape(0).0, classes: self.parameters.shape(2).1 };
        SavedModel::new(&self.config, &widths, tensors)
    }
}

impl FittedModel for FittedProGnn {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: ProGnn = saved.settings()?;
        let Widths { features, classes } = saved.state()?;
        let mut parameters = config.parameters(features, classes, 0);
        parameters.restore(&saved.contents.tensors)?;
        Ok(FittedProGnn { config, parameters, difference: saved.tensor(DIFFERENCE)?.clone() })
    }
}

/// `Â = diag(r) (S + I) diag(r)`.
struct Propagation {
    entries: Var,
    /// `r = (row sums of S + 1)^-1/2`.
    scale: Var,
}

impl Propagation {
    /// Over a symmetric `S` with these row sums.
    fn over(entries: Rc<Mat>, degrees: &[f32]) -> Self {
        let scale = degrees.iter().map(|sum| (sum + 1.0).powf(-0.5));
        let scale = Mat::column(&scale.collect::<Vec<_>>());
        Propagation { entries: Var::constant(entries), scale: Var::constant(scale) }
    }

    fn matmul(&self, x: &Var) -> Var {
        let scaled = x.mul_col(&self.scale);
        self.entries.symmetric_matmul(&scaled).add(&scaled).mul_col(&self.scale)
    }
}

struct DenseGcn<'a> {
    config: &'a ProGnn,
    input: &'a Input,
    graph: Propagation,
}

impl Network for DenseGcn<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(1, self.config.dropout, dropout_seed);
        let first = self.graph.matmul(&self.input.matmul(&parameters[0])).add_row(&parameters[1]);
        let second = first.relu().dropout(rate, seed).matmul(&parameters[2]);
        self.graph.matmul(&second).add_row(&parameters[3]) // [n, classes]
    }
}

impl DenseGcn<'_> {
    /// What the cross-entropy of some nodes, times `weight`, says about the graph.
    fn through(&self, parameters: &[Var], task: &Task<'_>, loss: &ClassLoss, weight: f32) -> Through {
        let first = self.input.matmul(&parameters[0]); // [n, hidden]
        let heard = self.graph.matmul(&first);
        // From here on the tape begins anew: what is before needs no gradient.
        let entry = Var::parameter(heard.shared_value());
        let second = entry.add_row(&parameters[1]).relu().matmul(&parameters[2]); // [n, classes]
        let last = self.graph.matmul(&second);
        let scores = last.add_row(&parameters[3]).gather_rows(&task.train.nodes.clone().into());
        let loss = loss.of(&scores, &task.train.classes.clone().into()).scale(weight);
        let found = gradients(&loss, &[&entry, &last, &second], Order::First);
        let beside =
            |first: &Var, second: &Var| Mat::side_by_side(&[first.value().clone(), second.value().clone()]);
        Through {
            rows: beside(&first, &second),
            spread_rows: beside(&heard, &last),
            // On its way back through the last layer the gradient was propagated: that is the one of its entry.
            spread_gradients: beside(&self.graph.matmul(&found[0]), &found[2]),
            gradients: beside(&found[0], &found[1]),
        }
    }
}

/// Learns the graph and the network in turns.
struct Learning<'a> {
    config: &'a ProGnn,
    task: &'a Task<'a>,
    loss: ClassLoss,
    input: Input,
    given: &'a SparseMat,
    products: Option<&'a Mat>,
    graph: RefCell<LearnedGraph>,
    /// `S` of the best state so far, shared until the graph changes.
    best: RefCell<Rc<Mat>>,
}

impl Learning<'_> {
    /// The network on the graph as it is.
    fn network(&self) -> DenseGcn<'_> {
        let learned = self.graph.borrow();
        let graph = Propagation::over(Rc::clone(&learned.entries), &learned.measured.degrees);
        DenseGcn { config: self.config, input: &self.input, graph }
    }

    fn supervised<'n>(&self, network: &'n DenseGcn<'n>) -> Supervised<'n, DenseGcn<'n>> {
        let Task { train, val, positive_class, .. } = self.task;
        Supervised::on(network, train, val).judged(
            self.loss.clone(),
            self.config.training.monitor,
            *positive_class,
        )
    }
}

impl Objective for Learning<'_> {
    fn loss(&self, parameters: &[Var], seed: u64) -> Var {
        self.supervised(&self.network()).loss(parameters, seed)
    }

    fn num_examples(&self) -> usize {
        self.task.train.nodes.len()
    }

    fn score(&self, parameters: &[Var]) -> Option<Score> {
        self.supervised(&self.network()).score(parameters)
    }

    fn companion(&self) -> Option<&dyn Companion> {
        Some(self)
    }
}

/// The graph.
impl Companion for Learning<'_> {
    fn optimiser_steps(&self) -> usize {
        self.config.network_steps
    }

    fn step(&self, epoch: usize, parameters: &[Var]) {
        let through = self.network().through(parameters, self.task, &self.loss, self.config.task);
        self.graph.borrow_mut().step(self.given, &through, self.products, self.config.pull(epoch));
    }

    fn keep(&self) {
        self.best.replace(Rc::clone(&self.graph.borrow().entries));
    }

    fn save(&self, tensors: &mut Tensors) {
        let graph = self.graph.borrow();
        tensors.insert(ENTRIES.into(), (*graph.entries).clone());
        tensors.insert(MOMENTUM.into(), graph.momentum.clone());
        tensors.insert(BEST_ENTRIES.into(), (**self.best.borrow()).clone());
        if let Some(kept) = &graph.shrinker.kept {
            tensors.insert(KEPT.into(), kept.clone());
        }
    }

    fn resume(&self, tensors: &Tensors) -> Result<()> {
        let damaged = || Error::data("the checkpoint cannot be read", "begin the training again");
        let tensor = |name: &str| tensors.get(name).cloned().ok_or_else(damaged);
        let shrinker = Shrinker { kept: tensors.get(KEPT).cloned() };
        let graph = LearnedGraph::resumed(self.given, tensor(ENTRIES)?, tensor(MOMENTUM)?, shrinker);
        self.graph.replace(graph);
        self.best.replace(Rc::new(tensor(BEST_ENTRIES)?));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::graph::Labelled;
    use crate::training::{Checkpoint, CheckpointStore, EpochRecord, Observer};

    #[test]
    fn too_many_nodes_are_refused_before_memory_is_asked_for() {
        let large = Graph::from_edges(MOST_NODES + 1, &[]).unwrap().0;
        let error = few_enough(&large).unwrap_err().to_string();
        assert!(error.contains("8193 nodes are too many") && error.contains("hint"), "{error}");
    }

    #[test]
    fn the_given_graph_is_read_as_a_gcn_reads_it() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0;
        let entries = normalise::adjacency(&graph).to_dense();
        let degrees = row_sums(&entries);
        let propagation = Propagation::over(Rc::new(entries), &degrees);
        let x = Var::constant(Mat::from_fn(4, 2, |row, col| (row + 3 * col) as f32));
        let expected =
            crate::autograd::Sparse::constant(&normalise::symmetric_with_self_loops(&graph)).matmul(&x);
        for (found, expected) in
            propagation.matmul(&x).value().as_slice().iter().zip(expected.value().as_slice())
        {
            assert!((found - expected).abs() < 1e-5);
        }
    }

    #[derive(Default)]
    struct Kept(Option<Checkpoint>);

    impl CheckpointStore for Kept {
        fn load(&mut self, _stage: &str) -> Result<Option<Checkpoint>> {
            Ok(self.0.clone())
        }

        fn save(&mut self, _stage: &str, checkpoint: &Checkpoint) -> Result<()> {
            self.0 = Some(checkpoint.clone());
            Ok(())
        }
    }

    /// Stops after the fifth epoch.
    struct StopLate(AtomicBool);

    impl Observer for StopLate {
        fn stopping(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn epoch(&self, record: &EpochRecord) {
            self.0.store(record.epoch == 4, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_graph_of_which_few_singular_values_are_left_is_resumed_to_the_same_bits() {
        // Ten groups of thirty: ten singular values of 29, all others 1. More nodes than are decomposed as a whole.
        let groups = |node: u32| node / 30;
        let edges: Vec<(u32, u32)> = (0..300u32)
            .flat_map(|a| (a + 1..300).map(move |b| (a, b)))
            .filter(|&(a, b)| groups(a) == groups(b))
            .collect();
        let graph = Graph::from_edges(300, &edges).unwrap().0;
        let features = Features::from_dense(Mat::from_fn(300, 4, |row, col| ((row * (col + 1)) % 7) as f32));
        let labelled = |nodes: std::ops::Range<u32>| Labelled {
            classes: nodes.clone().map(|node| groups(node) % 2).collect(),
            nodes: nodes.collect(),
        };
        let task = Task {
            graph: &graph,
            features: &features,
            num_classes: 2,
            train: labelled(0..100),
            val: labelled(100..200),
            class_names: &[],
            positive_class: None,
            copies: Default::default(),
        };
        let mut config = ProGnn { low_rank: 150.0, low_rank_every: 2, ..ProGnn::default() };
        config.training.epochs = 9;
        let whole = config.fit_with(&task, 1, &mut Session::default()).unwrap().saved().unwrap();

        let mut store = Kept::default();
        let stop_late = StopLate(AtomicBool::new(false));
        let mut session =
            Session { observer: &stop_late, checkpoints: Some(&mut store), ..Session::default() };
        assert!(config.fit_with(&task, 1, &mut session).is_err(), "it was stopped");
        let left = store.0.as_ref().map(|checkpoint| checkpoint.tensors[KEPT].cols());
        assert_eq!(left, Some(10), "few enough to be looked for near the last ones");
        let mut session = Session { checkpoints: Some(&mut store), ..Session::default() };
        assert_eq!(config.fit_with(&task, 1, &mut session).unwrap().saved().unwrap(), whole);
    }

    #[test]
    fn the_nuclear_norm_acts_as_often_as_asked() {
        let config = ProGnn { low_rank_every: 4, low_rank: 1.5, ..ProGnn::default() };
        let found: Vec<f32> = (0..8).map(|epoch| config.pull(epoch).low_rank).collect();
        assert_eq!(found, [0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 6.0]);
    }
}
