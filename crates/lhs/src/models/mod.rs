//! Node classifiers, one file or folder each, all in the same order: what it does (equation, shapes, source, cost,
//! departures), settings, name and search, then what it learns and how it predicts, tests.
//!
//! A [`Model`] is a plain struct of settings with defaults; `fit` learns from a [`Task`], which holds training and
//! validation labels only, and returns a separate fitted type. `predict` takes the graph explicitly, so
//! whether a model is attacked before training (poisoning) or after it (evasion) can be read off the call.
//!
//! A model that is one network trained on cross-entropy implements [`architecture::Architecture`] and gets all the rest from there.
//! Where the model is only known by its name, [`kind`] finds it in the list, and [`AnyModel`] is one whose settings came
//! from a table.

pub mod acm_gcn;
pub mod alt_gcn;
mod any;
pub mod appnp;
pub mod architecture;
pub mod bm_gcn;
pub mod fsgnn;
pub mod gat;
pub mod gcn;
pub mod gcn_jaccard;
pub mod gcn_svd;
pub mod geom_gcn;
pub mod glognn;
pub mod gnnguard;
pub mod gpnn;
pub mod graphsage;
pub mod greet;
pub mod h2gcn;
mod hardening;
pub mod lhs;
pub mod linkx;
pub mod memoriser;
mod memory;
pub mod mixhop;
pub mod mlp;
pub mod nlgnn;
pub mod node2seq;
pub mod parts;
pub mod pro_gnn;
mod registry;
pub mod relaxed;
pub mod rgcn;
mod saved;
mod settings;
pub mod simp_gcn;
mod trial;
pub mod ugcn;

pub use any::AnyModel;
pub use registry::{ModelKind, Registry, SearchSpace, kind, kinds, load};
pub use relaxed::{FlipQuestion, Goal};
use saved::Widths;
pub use saved::{FittedModel, Save, SavedModel};
pub use settings::renamed;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::structure::Structure;
use crate::training::{Amounts, DataSizes, MemoryPlan, Session, Task};

/// What lists of models say about one.
pub trait ModelInfo: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name by which it is asked for.
    const NAME: &'static str;

    /// What it does, in one line.
    const SUMMARY: &'static str;

    /// Settings that its authors published for some graph, as TOML: the first that a search tries after the defaults.
    /// Only what is searched is taken from them.
    const PUBLISHED: &'static [&'static str] = &[];

    /// Whether it has weights for each node, and so predicts only on graphs of the nodes that it learned from, in
    /// the same order.
    const TRANSDUCTIVE: bool = false;

    /// Whether it remembers nodes of the training data, and so must know which of them it meets again.
    const REMEMBERS_NODES: bool = Self::TRANSDUCTIVE;

    /// Whether it reads the direction of edges, where there is one; most models forget it.
    const READS_DIRECTION: bool = false;

    /// What a search for settings tries.
    fn search() -> Vec<(&'static str, SearchSpace)> {
        Vec::new()
    }
}

/// The settings of a model, ready to learn.
pub trait Model: ModelInfo {
    /// What learning leaves.
    type Fitted: FittedModel + 'static;

    /// Whether it learns from the copies of a task's graph ([`crate::training::Copies`]), too; others look at the graph alone.
    const LEARNS_FROM_COPIES: bool = false;

    /// Checks the ranges of the settings.
    fn validate(&self) -> Result<()>;

    /// Learns from the training and validation nodes of a task, watched and stopped through a session; begins with
    /// [`Model::validate`]. Same task, settings and seed: same bits.
    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Self::Fitted>;

    /// What training on data of these sizes will need. Of a model that does not say, only the data is known.
    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        MemoryPlan::of(sizes, &Amounts::default())
    }

    /// Refuses settings with which training cannot fit into the memory that is free, naming those that would.
    /// [`Model::fit_with`] of the models here does so after [`Model::validate`].
    fn ensure_fits(&self, sizes: &DataSizes) -> Result<()> {
        memory::ensure_fits(self, sizes)
    }

    /// Learns with seed 0, and nobody watching.
    fn fit(&self, task: &Task<'_>) -> Result<Self::Fitted> {
        self.fit_with(task, 0, &mut Session::default())
    }
}

/// A model that has learned.
pub trait NodeClassifier: Send + Sync {
    /// Class probabilities `[num_nodes, num_classes]` on any graph whose features have the training columns.
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat>;

    /// Everything that is needed to predict the same again. [`Save::save`] writes it to a file.
    fn saved(&self) -> Result<SavedModel>;

    /// What was decided from the training labels, in all detail; most models decide nothing.
    fn diagnostics(&self) -> Vec<String> {
        Vec::new()
    }

    /// The same in two or three sentences for somebody who does not know the model.
    fn summary(&self) -> Vec<String> {
        Vec::new()
    }

    /// What each channel of information adds to the class scores before the softmax, with its name, `[num_nodes,
    /// num_classes]` each; for models whose scores are such a sum.
    fn channel_scores(&self, graph: &Graph, features: &Features) -> Result<Option<Vec<(String, Mat)>>> {
        let _ = (graph, features);
        Ok(None)
    }

    /// The codes of the nodes that the classes are read from, one row each, for models that can show them.
    fn embeddings(&self, graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        let _ = (graph, features);
        Ok(None)
    }

    /// What the columns of [`NodeClassifier::embeddings`] are, in words.
    fn embeddings_are(&self) -> &'static str {
        "codes"
    }

    /// How far it believes the plausibility of edges, for models that ask.
    fn edge_trust(&self) -> Option<lhs::edge_trust::EdgeTrust> {
        None
    }

    /// A graph without the edges that the model leaves out because they are not plausible.
    fn kept_edges<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        let _ = features;
        Ok(Cow::Borrowed(graph))
    }

    /// For an attacker: how much flipping each candidate would hurt at the targets, `[candidates]`: a derivative of
    /// [`FlipQuestion::goal`].
    /// What has no derivative, such as who is a nearest neighbour, is held fixed. None for models that cannot say.
    fn edge_gradient(
        &self,
        graph: &Graph,
        features: &Features,
        question: &FlipQuestion<'_>,
    ) -> Result<Option<Vec<f32>>> {
        let _ = (graph, features, question);
        Ok(None)
    }

    /// The latent structure of a graph, for models that have one.
    fn structure(&self, graph: &Graph, features: &Features) -> Result<Option<Structure>> {
        let _ = (graph, features);
        Ok(None)
    }
}
