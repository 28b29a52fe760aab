//! The one training loop, and how it is watched, stopped and resumed.

mod auto;
mod available_memory;
mod class_weights;
mod copies;
mod input;
mod memo;
pub mod memory_plan;
mod observer;
mod parameters;
mod session;
mod supervised;
mod task;
mod train_loop;

pub use auto::Auto;
pub use available_memory::available_bytes;
pub use class_weights::{ClassLoss, ClassWeights};
pub use copies::{Copies, Mixture, OfCopies};
pub use input::Input;
pub(crate) use memo::lock;
pub use memo::{Memo, MemoKey};
pub use memory_plan::{Amounts, DataSizes, MemoryPlan};
pub use observer::Observer;
pub use parameters::{Parameters, Tensors};
pub use session::{Checkpoint, CheckpointStore, EpochRecord, Session};
pub(crate) use supervised::argmax;
pub use supervised::{Network, Supervised, dropout_before, probabilities};
pub use task::Task;
pub use train_loop::{Companion, Monitor, Objective, Score, Trained, TrainingConfig, train};
