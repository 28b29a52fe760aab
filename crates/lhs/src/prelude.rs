//! What a program that uses `lhs` needs: `use lhs::prelude::*`.

pub use crate::attacks::{Attack, AttackContext, Attacked};
pub use crate::error::{Error, Result};
pub use crate::experiment::{Data, Plan, Runner, Store, Suite};
pub use crate::graph::synth::SynthConfig;
pub use crate::graph::{Dataset, Features, Graph, Labels, Split};
pub use crate::io::{LoadOptions, load};
pub use crate::linalg::Mat;
pub use crate::metrics::{Confusion, Predictions, Scores, predicted_classes};
pub use crate::models::lhs::{FittedLhs, Lhs};
pub use crate::models::{
    AnyModel, FittedModel, Model, ModelInfo, ModelKind, NodeClassifier, Registry, Save, SavedModel,
};
pub use crate::training::{Observer, Session, Task};
