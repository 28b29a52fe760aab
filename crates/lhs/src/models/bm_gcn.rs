//! BM-GCN: how much a neighbour counts follows from how the classes are joined, the block matrix (He et al. 2022).
//!
//! A perceptron, trained beforehand, gives beliefs `B [n, C]`; with the training labels put in, `B̃`, the blocks are
//! `H = rownorm(B̃ᵀ A B̃) [C, C]`. Classes with similar blocks are akin: `Q = rownorm(H Hᵀ)`, its diagonal strengthened.
//! An edge gets `softmax_j(B_i Q B_jᵀ)`, `G`, and a layer is `relu(G H W + H W' + b)`. All is trained together on the
//! cross-entropies of both networks.
//! Cost per epoch: `O(nnz(X) * hidden + edges * (hidden + C))`.
//!
//! Departs from the paper: steps are larger (0.005 for 0.001), which takes half of the time to the same accuracy at the
//! validation nodes; a graph that is predicted on is read with the `Q` of the training graph, since training labels
//! belong to the nodes of that graph alone.

use super::architecture::{NetworkSettings, TAPE_COPIES};
use super::parts::{ParamBuilder, ParamReader};
use super::settings::network_settings;
use super::{FittedModel, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, settings};
use crate::autograd::{Sparse, Var, sampled_product};
use crate::error::Result;
use crate::graph::{Features, Graph, Labelled, normalise};
use crate::linalg::random::derive;
use crate::linalg::{Mat, SparseMat};
use crate::training::memory_plan::product;
use crate::training::{
    Amounts, Auto, ClassLoss, DataSizes, Input, MemoryPlan, Network, Parameters, Session, Supervised, Task,
    TrainingConfig, dropout_before, probabilities, train,
};

/// Keeps the rows of a graph without edges from being divided by zero.
const TINY: f32 = 1e-12;
/// The tensor that holds `Q`.
const AFFINITY: &str = "affinity";

network_settings! {
    /// Settings of BM-GCN.
    pub struct BmGcn {
        /// Factor on the diagonal of `Q`, 0 or above: over 1, neighbours of the same class count more.
        pub own_class: f32 = 1.0,
        /// Weight of a self loop at every node, 0 or above; 0 for none. Helps where neighbours share a class.
        pub self_loop: f32 = 0.0,
        /// Weight of the perceptron's cross-entropy, 0 or above.
        pub perceptron_weight: f32 = 1.0,
        /// Epochs in which the perceptron learns alone, 1 or more.
        pub perceptron_epochs: usize = 400,
        /// Share of the perceptron's hidden units dropped while training, 0..1.
        pub perceptron_dropout: f32 = 0.5,
    }
    shared {
        hidden: 64,
        /// Share of the inputs and hidden units of the convolutions dropped while training, 0..1.
        dropout: 0.7,
        normalise_features: false,
        /// How both networks are trained.
        training: TrainingConfig {
            epochs: 1600,
            patience: 200,
            learning_rate: 5e-3,
            weight_decay: Auto::Given(5e-4),
            ..TrainingConfig::default()
        },
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for BmGcn {
    const NAME: &'static str = "bm-gcn";
    const SUMMARY: &'static str = "graph convolution guided by a block model of the classes (He et al. 2022)";
    const PUBLISHED: &'static [&'static str] = &[
        "layers = 3\nown_class = 2.0\nself_loop = 0.0",
        "layers = 2\nown_class = 0.8\nself_loop = 0.0",
        "layers = 2\nown_class = 3.0\nself_loop = 1.5",
        "layers = 2\nown_class = 2.0\nself_loop = 3.0",
    ];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search(
            [32, 64, 128],
            [
                ("layers", SearchSpace::choice([2, 3])),
                ("own_class", SearchSpace::choice([0.8, 1.0, 2.0, 3.0, 4.0])),
                ("self_loop", SearchSpace::choice([0.0, 1.0, 1.5, 2.0, 3.0])),
            ],
        )
    }
}

/// BM-GCN after learning.
#[derive(Clone, Debug)]
pub struct FittedBmGcn {
    config: BmGcn,
    parameters: Parameters,
    /// `Q` of the training graph, `[C, C]`.
    affinity: Mat,
}

/// A graph as both networks read it.
struct Prepared {
    input: Input,
    adjacency: Sparse,
}

impl BmGcn {
    fn perceptron_parameters(&self, features: usize, classes: usize, builder: &mut ParamBuilder) {
        builder.linear("perceptron.0", features, self.hidden);
        builder.linear("perceptron.1", self.hidden, classes);
    }

    fn parameters(&self, features: usize, classes: usize, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        self.perceptron_parameters(features, classes, &mut builder);
        for layer in 0..self.layers {
            let from = if layer == 0 { features } else { self.hidden };
            let to = if layer + 1 == self.layers { classes } else { self.hidden };
            builder.weight(&format!("layer{layer}.neighbours"), from, to);
            builder.linear(&format!("layer{layer}.own"), from, to);
        }
        builder.done()
    }

    fn prepare(&self, graph: &Graph, features: &Features) -> Prepared {
        let graph = graph.to_undirected();
        let adjacency = if self.self_loop > 0.0 {
            with_loops_of(&graph, self.self_loop)
        } else {
            normalise::adjacency(&graph)
        };
        Prepared {
            input: Input::scaled(features, self.normalise_features),
            adjacency: Sparse::constant(&adjacency),
        }
    }

    /// The perceptron's scores, `[n, C]`.
    fn beliefs(&self, prepared: &Prepared, reader: &mut ParamReader<'_>, dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(usize::MAX, self.perceptron_dropout, dropout_seed);
        let hidden = reader.linear_of(&prepared.input).dropout(rate, seed).relu();
        reader.linear(&hidden)
    }

    /// `Q`, from beliefs with the known classes put in.
    fn affinity(&self, prepared: &Prepared, beliefs: &Var) -> Var {
        let classes = beliefs.cols();
        let blocks = beliefs.matmul_tn(&prepared.adjacency.matmul(beliefs)); // B̃ᵀ A B̃ [C, C]
        let blocks = rows_to_one(&blocks);
        let strengthened = Mat::from_fn(classes, classes, |a, b| if a == b { self.own_class } else { 1.0 });
        rows_to_one(&blocks.matmul_nt(&blocks).mul(&Var::constant(strengthened)))
    }

    /// Class scores `[n, C]` of the convolutions.
    fn convolved(
        &self,
        prepared: &Prepared,
        (beliefs, affinity): (&Var, &Var),
        reader: &mut ParamReader<'_>,
        dropout_seed: Option<u64>,
    ) -> Var {
        let pattern = &prepared.adjacency.pattern;
        let kinship = sampled_product(pattern, &beliefs.matmul(affinity), beliefs); // [nnz, 1]
        let weights = Sparse::new(pattern.clone(), kinship.mul(&prepared.adjacency.values)).softmax_rows();
        let drop = |layer: usize| {
            let rate = if layer + 1 == self.layers { 0.0 } else { self.dropout };
            dropout_before(layer, rate, dropout_seed)
        };
        let (rate, seed) = drop(0);
        let input = prepared.input.dropout(rate, seed);
        // One product with the features serves both weights.
        let (neighbours, own, bias) = (reader.one(), reader.one(), reader.one());
        let both = input.matmul(&Var::concat_cols(&[neighbours, own]));
        let part = |first: usize| both.slice_cols(first * own.cols(), own.cols());
        let mut hidden = weights.matmul(&part(0)).add(&part(1).add_row(bias));
        for layer in 1..self.layers {
            let (rate, seed) = drop(layer);
            let rows = hidden.relu().dropout(rate, seed);
            hidden = weights.matmul(&rows.matmul(reader.one())).add(&reader.linear(&rows));
        }
        hidden
    }
}

/// `A + weight · I`.
fn with_loops_of(graph: &Graph, weight: f32) -> SparseMat {
    let mut loops = normalise::with_self_loops(graph);
    for row in 0..loops.rows() {
        let own = loops.pattern.row(row).partition_point(|&other| (other as usize) < row);
        let place = loops.pattern.row_range(row).start + own;
        loops.values[place] = weight;
    }
    loops
}

/// Every row divided by its sum.
fn rows_to_one(x: &Var) -> Var {
    x.mul_col(&x.sum_rows().add_scalar(TINY).pow(-1.0))
}

impl Model for BmGcn {
    type Fitted = FittedBmGcn;

    fn validate(&self) -> Result<()> {
        self.shared().check()?;
        settings::not_negative("own_class", self.own_class)?;
        settings::not_negative("self_loop", self.self_loop)?;
        settings::not_negative("perceptron_weight", self.perceptron_weight)?;
        settings::at_least_one("perceptron_epochs", self.perceptron_epochs)?;
        settings::share_below_one("perceptron_dropout", self.perceptron_dropout)
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        let one = Amounts::layered(sizes, self.hidden, self.layers, 2 * TAPE_COPIES);
        let perceptron = Amounts::layered(sizes, self.hidden, 2, TAPE_COPIES);
        let parameters = one.parameters * 2usize + perceptron.parameters;
        let activations = one.activations + perceptron.activations + product([sizes.entries, 6]);
        MemoryPlan::of(sizes, &Amounts { prepared: one.prepared, parameters, activations })
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedBmGcn> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        let prepared = self.prepare(task.graph, task.features);
        let mut parameters = self.parameters(task.features.dim(), task.num_classes, seed);
        let perceptron = self.learn_alone(&prepared, task, derive(seed, &[2]), session)?;
        let mut tensors = parameters.tensors();
        tensors.extend(perceptron.tensors());
        parameters.restore(&tensors)?;

        let mut known = Known::new(&task.train, task.graph.num_nodes(), task.num_classes);
        known.loss = self.training.class_weights.resolve(task)?;
        let network = Convolutions { config: self, prepared: &prepared, blocks: Blocks::Learned(&known) };
        let objective = Supervised::new(&network, task, &self.training)?;
        train("classifier", &objective, &mut parameters, &self.training, derive(seed, &[1]), session)?;
        let believed = self.beliefs(&prepared, &mut ParamReader::from(&parameters.constants()), None);
        let affinity = network.affinity(&believed.softmax());
        Ok(FittedBmGcn { config: self.clone(), parameters, affinity: affinity.value().clone() })
    }
}

impl BmGcn {
    fn learn_alone(
        &self,
        prepared: &Prepared,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Parameters> {
        let mut builder = ParamBuilder::new(seed);
        self.perceptron_parameters(task.features.dim(), task.num_classes, &mut builder);
        let mut parameters = builder.done();
        let network = Perceptron { config: self, prepared };
        let objective = Supervised::new(&network, task, &self.training)?;
        let epochs = self.perceptron_epochs;
        let training = TrainingConfig { epochs, patience: epochs, ..self.training.clone() };
        train("perceptron", &objective, &mut parameters, &training, derive(seed, &[1]), session)?;
        Ok(parameters)
    }
}

impl NodeClassifier for FittedBmGcn {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.parameters.shape(0).0)?;
        let prepared = self.config.prepare(graph, features);
        let blocks = Blocks::Given(Var::constant(self.affinity.clone()));
        let network = Convolutions { config: &self.config, prepared: &prepared, blocks };
        Ok(probabilities(&network, &self.parameters.constants()))
    }

    fn saved(&self) -> Result<SavedModel> {
        let mut tensors = self.parameters.tensors();
        tensors.insert(AFFINITY.into(), self.affinity.clone());
        SavedModel::new(&self.config, &self.parameters.shape(0).0, tensors)
    }
}

impl FittedModel for FittedBmGcn {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: BmGcn = saved.settings()?;
        let affinity = saved.tensor(AFFINITY)?.clone();
        let mut parameters = config.parameters(saved.state()?, affinity.rows(), 0);
        parameters.restore(&saved.contents.tensors)?;
        Ok(FittedBmGcn { config, parameters, affinity })
    }
}

struct Perceptron<'a> {
    config: &'a BmGcn,
    prepared: &'a Prepared,
}

impl Network for Perceptron<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.config.beliefs(self.prepared, &mut ParamReader::from(parameters), dropout_seed)
    }
}

struct Convolutions<'a> {
    config: &'a BmGcn,
    prepared: &'a Prepared,
    blocks: Blocks<'a>,
}

/// Where `Q` comes from.
enum Blocks<'a> {
    /// From the beliefs and the training labels.
    Learned(&'a Known),
    /// From what was learned.
    Given(Var),
}

/// The training labels, to be put into the beliefs.
struct Known {
    train: Labelled,
    /// One-hot rows of the training nodes, zero elsewhere, `[n, C]`.
    classes: Var,
    /// 0 at training nodes and 1 elsewhere, `[n, 1]`.
    unknown: Var,
    /// How much the classes count.
    loss: ClassLoss,
}

impl Known {
    fn new(train: &Labelled, num_nodes: usize, num_classes: usize) -> Self {
        let (mut classes, mut unknown) = (Mat::zeros(num_nodes, num_classes), Mat::full(num_nodes, 1, 1.0));
        for (&node, &class) in train.nodes.iter().zip(&train.classes) {
            classes.row_mut(node as usize)[class as usize] = 1.0;
            unknown.row_mut(node as usize)[0] = 0.0;
        }
        Known {
            train: train.clone(),
            classes: Var::constant(classes),
            unknown: Var::constant(unknown),
            loss: ClassLoss::default(),
        }
    }
}

impl Convolutions<'_> {
    /// Beliefs before the softmax, `[n, C]`, and class scores.
    fn believed(&self, parameters: &[Var], dropout_seed: Option<u64>) -> (Var, Var) {
        let mut reader = ParamReader::from(parameters);
        let believed = self.config.beliefs(self.prepared, &mut reader, dropout_seed);
        let beliefs = believed.softmax();
        let affinity = self.affinity(&beliefs);
        let scores = self.config.convolved(self.prepared, (&beliefs, &affinity), &mut reader, dropout_seed);
        (believed, scores)
    }

    /// `Q`.
    fn affinity(&self, beliefs: &Var) -> Var {
        match &self.blocks {
            Blocks::Given(affinity) => affinity.clone(),
            Blocks::Learned(known) => {
                let informed = beliefs.mul_col(&known.unknown).add(&known.classes);
                self.config.affinity(self.prepared, &informed)
            }
        }
    }
}

impl Network for Convolutions<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.believed(parameters, dropout_seed).1
    }

    fn training_scores(&self, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        let (believed, scores) = self.believed(parameters, Some(seed));
        let Blocks::Learned(known) = &self.blocks else { return (scores, None) };
        let nodes = known.train.nodes.clone().into();
        let loss = known.loss.of(&believed.gather_rows(&nodes), &known.train.classes.clone().into());
        (scores, Some(loss.scale(self.config.perceptron_weight)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_keep_the_same_company_are_akin() {
        // Classes 0 and 1 are joined with class 2 alone: they have the same blocks.
        let graph = Graph::from_edges(4, &[(0, 2), (0, 3), (1, 2), (1, 3)]).unwrap().0;
        let config = BmGcn { own_class: 1.0, ..BmGcn::default() };
        let prepared = config.prepare(&graph, &Features::none(4));
        let known = Known::new(&Labelled { nodes: vec![0, 1, 2, 3], classes: vec![0, 1, 2, 2] }, 4, 3);
        let found = config.affinity(&prepared, &known.classes);
        let expected = [0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0];
        for (found, expected) in found.value().as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
        let strengthened = BmGcn { own_class: 3.0, ..config }.affinity(&prepared, &known.classes);
        assert!((strengthened.value().get(0, 0) - 0.75).abs() < 1e-6);
    }

    #[test]
    fn a_self_loop_weighs_what_it_is_told() {
        let graph = Graph::from_edges(3, &[(0, 2)]).unwrap().0;
        let found = with_loops_of(&graph, 1.5).to_dense();
        assert_eq!(found.as_slice(), [1.5, 0.0, 1.0, 0.0, 1.5, 0.0, 1.0, 0.0, 1.5]);
    }
}
