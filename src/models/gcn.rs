//! Graph convolution network: each layer averages over the neighbours (Kipf and Welling 2017).
//!
//! `softmax(Â relu(Â X W₁ + b₁) W₂ + b₂)` with `Â = D^-1/2 (A + I) D^-1/2`; two layers by default.
//! Strong where neighbours share a class, and the model that attacks on the edges are made for.
//! Cost per epoch: `O(nnz(X) * hidden + edges * hidden)`.

use serde::{Deserialize, Serialize};

use super::mlp::{layered_parameters, layered_search};
use super::{ModelConfig, ModelKind, NodeClassifier, Task, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::training::{
    Input, Network, Parameters, Session, Supervised, Tensors, TrainingConfig, dropout_before, probabilities,
    train,
};

/// Settings of the graph convolution network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GcnConfig {
    /// Width of the hidden layers, 1 or more.
    pub hidden: usize,
    /// Number of convolutions, 1 or more.
    pub layers: usize,
    /// Share of the inputs and hidden units dropped while training, 0..1.
    pub dropout: f32,
    /// Scale every row of features to sum 1.
    pub normalise_features: bool,
    /// How it is trained.
    pub training: TrainingConfig,
}

impl Default for GcnConfig {
    fn default() -> Self {
        GcnConfig {
            hidden: 64,
            layers: 2,
            dropout: 0.5,
            normalise_features: true,
            training: TrainingConfig::default(),
        }
    }
}

/// A graph convolution network that has learned.
#[derive(Clone, Debug)]
pub struct FittedGcn {
    config: GcnConfig,
    parameters: Parameters,
}

impl GcnConfig {
    fn network(&self, propagation: Sparse, features: &Features) -> Convolutions<'_> {
        let input = if self.normalise_features {
            Input::new(&normalise::row_normalised(features))
        } else {
            Input::new(features)
        };
        Convolutions { config: self, input, propagation }
    }

    /// Learns, and keeps the type: attacks look inside.
    pub(crate) fn learn(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedGcn> {
        self.validate()?;
        let mut parameters = self.parameters(task.features.dim(), task.num_classes, seed);
        let network = self.network(propagation(task.graph), task.features);
        let objective = Supervised::on(&network, &task.train, &task.val);
        train("classifier", &objective, &mut parameters, &self.training, derive(seed, &[1]), session)?;
        Ok(FittedGcn { config: self.clone(), parameters })
    }

    fn parameters(&self, input: usize, classes: usize, seed: u64) -> Parameters {
        layered_parameters(input, self.hidden, classes, self.layers, seed)
    }
}

impl ModelConfig for GcnConfig {
    fn validate(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers)?;
        settings::share_below_one("dropout", self.dropout)?;
        self.training.validate("training")
    }

    fn fit(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Box<dyn NodeClassifier>> {
        Ok(Box::new(self.learn(task, seed, session)?))
    }
}

/// `D^-1/2 (A + I) D^-1/2`.
fn propagation(graph: &Graph) -> Sparse {
    Sparse::constant(&normalise::symmetric_with_self_loops(&graph.to_undirected()))
}

impl FittedGcn {
    /// Class scores `[n,C]` over any propagation, which gradients may flow into.
    pub(crate) fn scores_over(&self, propagation: Sparse, features: &Features) -> Var {
        self.config.network(propagation, features).scores(&self.parameters.constants(), None)
    }
}

impl NodeClassifier for FittedGcn {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.parameters.shape(0).0)?;
        Ok(probabilities(&self.config.network(propagation(graph), features), &self.parameters.constants()))
    }

    fn tensors(&self) -> Tensors {
        self.parameters.tensors()
    }
}

struct Convolutions<'a> {
    config: &'a GcnConfig,
    input: Input,
    propagation: Sparse,
}

impl Network for Convolutions<'_> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let (rate, seed) = dropout_before(0, self.config.dropout, dropout_seed);
        let transformed = self.input.dropout(rate, seed).matmul(&parameters[0]);
        let mut hidden = self.propagation.matmul(&transformed).add_row(&parameters[1]);
        for layer in 1..self.config.layers {
            let (rate, seed) = dropout_before(layer, self.config.dropout, dropout_seed);
            let (weight, bias) = (&parameters[2 * layer], &parameters[2 * layer + 1]);
            let transformed = hidden.relu().dropout(rate, seed).matmul(weight);
            hidden = self.propagation.matmul(&transformed).add_row(bias);
        }
        hidden // [n, classes]
    }
}

/// The graph convolution network in the list of models.
pub const KIND: ModelKind = ModelKind {
    name: "gcn",
    summary: "graph convolution network (Kipf and Welling 2017)",
    defaults: settings::defaults::<GcnConfig>,
    build: settings::build::<GcnConfig>,
    load: |table, tensors| {
        let config: GcnConfig = settings::read(table)?;
        let (input, classes) = settings::ends(tensors, config.layers)?;
        let mut parameters = config.parameters(input, classes, 0);
        parameters.restore(tensors)?;
        Ok(Box::new(FittedGcn { config, parameters }))
    },
    search: || layered_search([32, 64, 128, 256]),
};
