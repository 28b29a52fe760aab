//! A model that remembers its answers: the nodes of the training graph get what a graph convolution said of them there, whatever
//! happens to the graph, and everybody else gets the mean of the classes. A line for tables, not a model to use.
//!
//! `p(v) = p_GCN(v, training graph)` for known nodes, the class shares of the training nodes for others. Where test nodes were there in
//! training (the transductive protocol), no attack after training can reach it, and that says nothing about robustness: where they were not
//! (the inductive protocol), it knows nothing of them. Cost: that of the graph convolution; predicting costs nothing.

use super::architecture::{Architecture, NetworkSettings};
use super::gcn::Gcn;
use super::settings::network_settings;
use super::{
    FittedModel, FlipQuestion, Model, ModelInfo, NodeClassifier, SavedModel, SearchSpace, Widths, settings,
};
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::io::tensors::Contents;
use crate::linalg::Mat;
use crate::structure::node_identity::NodeIdentity;
use crate::training::{Amounts, DataSizes, MemoryPlan, Session, Task, TrainingConfig};

network_settings! {
    /// Settings of the convolution whose answers are remembered.
    pub struct Memoriser {}
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for Memoriser {
    const NAME: &'static str = "memoriser";
    const SUMMARY: &'static str =
        "repeats what it said of nodes in training and looks at no graph: a warning in tables";
    const REMEMBERS_NODES: bool = true;

    fn search() -> Vec<(&'static str, SearchSpace)> {
        Gcn::search()
    }
}

/// What is remembered.
#[derive(Clone, Debug)]
pub struct FittedMemoriser {
    config: Memoriser,
    features: usize,
    nodes: NodeIdentity,
    /// The answer for each known node, `[num_known, classes]`.
    answers: Mat,
    /// The answer for everybody else, `[1, classes]`.
    shares: Mat,
}

impl Memoriser {
    fn convolution(&self) -> Gcn {
        Gcn {
            hidden: self.hidden,
            layers: self.layers,
            dropout: self.dropout,
            normalise_features: self.normalise_features,
            hardening: 0.0,
            training: self.training.clone(),
        }
    }
}

impl Model for Memoriser {
    type Fitted = FittedMemoriser;

    fn validate(&self) -> Result<()> {
        self.shared().check()
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        let amounts: Amounts = self.convolution().amounts(sizes);
        MemoryPlan::of(sizes, &amounts)
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<FittedMemoriser> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        let network = self.convolution().fit_with(task, seed, session)?;
        let mut shares = Mat::zeros(1, task.num_classes);
        let each = 1.0 / task.train.classes.len().max(1) as f32;
        task.train.classes.iter().for_each(|&class| shares.row_mut(0)[class as usize] += each);
        Ok(FittedMemoriser {
            config: self.clone(),
            features: task.features.dim(),
            nodes: NodeIdentity::of(task.features),
            answers: network.predict(task.graph, task.features)?,
            shares,
        })
    }
}

impl NodeClassifier for FittedMemoriser {
    fn predict(&self, _graph: &Graph, features: &Features) -> Result<Mat> {
        settings::same_columns(features, self.features)?;
        let mut out = Mat::zeros(features.num_nodes(), self.shares.cols());
        for (node, known) in self.nodes.find(features).into_iter().enumerate() {
            let answer = known.map_or(self.shares.row(0), |known| self.answers.row(known as usize));
            out.row_mut(node).copy_from_slice(answer);
        }
        Ok(out)
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

    fn saved(&self) -> Result<SavedModel> {
        let mut contents = Contents::default();
        contents.tensors.insert("answers".into(), self.answers.clone());
        contents.tensors.insert("shares".into(), self.shares.clone());
        contents.lists.insert("nodes".into(), self.nodes.fingerprints().to_vec());
        SavedModel::new(
            &self.config,
            &Widths { features: self.features, classes: self.shares.cols() },
            contents,
        )
    }
}

impl FittedModel for FittedMemoriser {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let Widths { features, classes } = saved.state()?;
        let (answers, shares) = (saved.tensor("answers")?.clone(), saved.tensor("shares")?.clone());
        let nodes = NodeIdentity::from_fingerprints(saved.list("nodes")?.to_vec());
        if answers.shape() != (nodes.len(), classes) || shares.shape() != (1, classes) {
            return Err(saved.damaged("its parts do not fit together"));
        }
        Ok(FittedMemoriser { config: saved.settings()?, features, nodes, answers, shares })
    }
}
