//! Node classifiers, one file each, all of the same shape: config, fitted model, `fit`, `predict`, tests.
//!
//! A config is a plain struct with defaults; `fit` learns from a [`Task`], which holds training and
//! validation labels only, and returns a separate fitted type. `predict` takes the graph explicitly, so
//! whether a model is attacked before training (poisoning) or after it (evasion) can be read off the call.

pub mod acm_gcn;
pub mod alt_gcn;
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
pub mod lhs;
pub mod linkx;
pub mod mixhop;
pub mod mlp;
pub mod nlgnn;
pub mod node2seq;
pub mod parts;
pub mod pro_gnn;
mod registry;
pub mod rgcn;
mod settings;
pub mod simp_gcn;
mod task;
pub mod ugcn;

pub use registry::{ModelKind, SearchSpace, kind, kinds};
pub use task::Task;

use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::structure::Structure;
use crate::training::{Session, Tensors};

/// The settings of a model, ready to learn.
pub trait ModelConfig: Send + Sync {
    /// Checks the ranges of the settings.
    fn validate(&self) -> Result<()>;

    /// Learns from the training and validation nodes of a task; begins with [`ModelConfig::validate`].
    /// Same task, settings and seed: same bits.
    fn fit(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Box<dyn NodeClassifier>>;
}

/// A model that has learned.
pub trait NodeClassifier: Send + Sync {
    /// Class probabilities `[num_nodes, num_classes]` on any graph whose features have the training columns.
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat>;

    /// Everything that [`ModelKind::load`] needs, beside the settings, to predict the same again.
    fn tensors(&self) -> Tensors;

    /// What was decided from the training labels, in words; most models decide nothing.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// The latent structure of a graph, for models that have one.
    fn structure(&self, graph: &Graph, features: &Features) -> Result<Option<Structure>> {
        let _ = (graph, features);
        Ok(None)
    }
}
