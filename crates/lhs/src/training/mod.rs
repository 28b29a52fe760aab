//! The one training loop, and how it is watched, stopped and resumed.

mod auto;
mod input;
mod looping;
mod memo;
mod parameters;
mod session;
mod supervised;

pub use auto::Auto;
pub use input::Input;
pub use looping::{Monitor, Objective, Score, Trained, TrainingConfig, train};
pub use memo::Memo;
pub(crate) use memo::lock;
pub use parameters::{Parameters, Tensors};
pub use session::{Checkpoint, CheckpointStore, EpochRecord, Session};
pub(crate) use supervised::argmax;
pub use supervised::{Network, Supervised, dropout_before, probabilities};
