//! The one training loop, and how it is watched, stopped and resumed.

mod session;

pub use session::{Checkpoint, CheckpointStore, EpochRecord, Session};
