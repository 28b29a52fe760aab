//! Multi-layer perceptron: classifies each node by its own features and never looks at the edges.
//!
//! `softmax(relu(X W₁ + b₁) W₂ + b₂)`; the textbook baseline that no attack on the edges can touch.
//! Cost per epoch: `O(nnz(X) * hidden)`.

use super::architecture::{NetworkSettings, TAPE_COPIES};
use super::settings::network_settings;
use super::{
    FittedModel, FlipQuestion, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, Widths, settings,
};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph, Labelled, normalise};
use crate::linalg::Mat;
use crate::linalg::random::{derive, generator, glorot};
use crate::training::{
    Amounts, DataSizes, Input, MemoryPlan, Network, Parameters, Session, Supervised, Task, TrainingConfig,
    dropout_before, train,
};

network_settings! {
    /// Settings of the perceptron.
    pub struct Mlp {}
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: false,
        training: TrainingConfig::default(),
        /// Number of layers, 1 (a linear model) or more.
        layers: 2,
    }
}

impl ModelInfo for Mlp {
    const NAME: &'static str = "mlp";
    const SUMMARY: &'static str = "multi-layer perceptron on the features alone; edges are ignored";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        layered_search([64, 128, 256])
    }
}

/// A perceptron that has learned.
#[derive(Clone, Debug)]
pub struct FittedMlp {
    config: Mlp,
    parameters: Parameters,
}

impl Mlp {
    fn prepare(&self, features: &Features) -> Features {
        if self.normalise_features { normalise::row_normalised(features) } else { features.clone() }
    }

    fn parameters(&self, input: usize, classes: usize, seed: u64) -> Parameters {
        layered_parameters(input, self.hidden, classes, self.layers, seed)
    }
}

/// Weights and biases of a stack of layers, `input -> hidden -> … -> classes`.
pub(super) fn layered_parameters(
    input: usize,
    hidden: usize,
    classes: usize,
    layers: usize,
    seed: u64,
) -> Parameters {
    let mut rng = generator(seed, 0);
    let mut parameters = Parameters::default();
    for layer in 0..layers {
        let from = if layer == 0 { input } else { hidden };
        let to = if layer + 1 == layers { classes } else { hidden };
        parameters.weight(format!("layer{layer}.weight"), glorot(&mut rng, from, to));
        parameters.bias(format!("layer{layer}.bias"), Mat::zeros(1, to));
    }
    parameters
}

/// What is searched for a stack of layers.
pub(super) fn layered_search<const N: usize>(widths: [i64; N]) -> Vec<(&'static str, SearchSpace)> {
    settings::search(widths, [("layers", SearchSpace::choice([1, 2, 3]))])
}

impl Model for Mlp {
    type Fitted = FittedMlp;
    /// Without edges, every copy is the graph.
    const LEARNS_FROM_COPIES: bool = true;

    fn validate(&self) -> Result<()> {
        self.shared().check()
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        // Only nodes of the training and validation parts are read.
        let share =
            |count: usize| (count as f64 * sizes.labelled as f64 / sizes.nodes.max(1) as f64) as usize;
        let read = DataSizes { nodes: sizes.labelled, entries: 0, values: share(sizes.values), ..*sizes };
        MemoryPlan::of(sizes, &Amounts::layered(&read, self.hidden, self.layers, TAPE_COPIES + 2))
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedMlp> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        let mut parameters = self.parameters(task.features.dim(), task.num_classes, seed);
        // Without edges, nodes outside the training and validation sets have nothing to say.
        let seen: Vec<u32> = task.train.nodes.iter().chain(&task.val.nodes).copied().collect();
        let features = self.prepare(&task.features.select(&seen));
        let network = Perceptron { config: self, input: Input::new(&features) };
        let split = seen.len().min(task.train.nodes.len()) as u32;
        let renumbered = |from: u32, labelled: &Labelled| Labelled {
            nodes: (from..from + labelled.nodes.len() as u32).collect(),
            classes: labelled.classes.clone(),
        };
        let objective = Supervised::on(&network, &renumbered(0, &task.train), &renumbered(split, &task.val))
            .judged(self.training.class_weights.resolve(task)?, self.training.monitor, task.positive_class);
        train("classifier", &objective, &mut parameters, &self.training, derive(seed, &[1]), session)?;
        Ok(FittedMlp { config: self.clone(), parameters })
    }
}

impl FittedMlp {
    /// Class scores before the softmax.
    fn scores(&self, features: &Features) -> Result<Var> {
        settings::same_columns(features, self.parameters.shape(0).0)?;
        let input = Input::new(&self.config.prepare(features));
        let network = Perceptron { config: &self.config, input };
        Ok(network.scores(&self.parameters.constants(), None))
    }
}

impl NodeClassifier for FittedMlp {
    fn predict(&self, _graph: &Graph, features: &Features) -> Result<Mat> {
        Ok(self.scores(features)?.softmax().value().clone())
    }

    /// It sees no edges.
    fn edge_gradient(
        &self,
        _graph: &Graph,
        _features: &Features,
        question: &FlipQuestion<'_>,
    ) -> Result<Option<Vec<f32>>> {
        Ok(Some(vec![0.0; question.candidates.len()]))
    }

    /// The class scores.
    fn embeddings(&self, _graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        Ok(Some(self.scores(features)?.value().clone()))
    }

    fn embeddings_are(&self) -> &'static str {
        "class scores"
    }

    fn saved(&self) -> Result<SavedModel> {
        let widths = Widths {
            features: self.parameters.shape(0).0,
            classes: self.parameters.shape(2 * (self.config.layers - 1)).1,
        };
        SavedModel::new(&self.config, &widths, self.parameters.tensors())
    }
}

impl FittedModel for FittedMlp {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let config: Mlp = saved.settings()?;
        let Widths { features, classes } = saved.state()?;
        let mut parameters = config.parameters(features, classes, 0);
        parameters.restore(&saved.contents.tensors)?;
        Ok(FittedMlp { config, parameters })
    }
}

struct Perceptron<'a> {
    config: &'a Mlp,
    input: Input,
}

impl Network for Perceptron<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(0, self.config.dropout, dropout_seed);
        let mut hidden = self.input.dropout(rate, seed).matmul(&parameters[0]).add_row(&parameters[1]);
        for layer in 1..self.config.layers {
            let (rate, seed) = dropout_before(layer, self.config.dropout, dropout_seed);
            let (weight, bias) = (&parameters[2 * layer], &parameters[2 * layer + 1]);
            hidden = hidden.relu().dropout(rate, seed).matmul(weight).add_row(bias);
        }
        hidden // [n, classes]
    }
}
