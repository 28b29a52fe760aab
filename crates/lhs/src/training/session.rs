//! How a caller watches, stops and resumes training.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Memo, MemoKey, Observer, Tensors};
use crate::error::Result;

/// One line of the training curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Which part of the training: most models have only `classifier`.
    pub stage: String,
    /// Counted from 0 in each stage.
    pub epoch: usize,
    /// The loss that was minimised.
    pub train_loss: f32,
    /// Cross-entropy at the validation nodes, where the stage measures it.
    pub val_loss: Option<f32>,
    /// Share of the validation nodes that were right, 0..=1, where the stage measures it.
    pub val_accuracy: Option<f32>,
}

/// The state of one stage of training, enough to go on to the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// Parameters, optimiser state, best parameters so far.
    pub tensors: Tensors,
    /// Epoch, best score and the like, as JSON.
    pub state: serde_json::Value,
}

/// Where checkpoints are kept between a stop and a resume.
pub trait CheckpointStore {
    /// What was saved last for a stage.
    fn load(&mut self, stage: &str) -> Result<Option<Checkpoint>>;
    /// Replaces what was saved for a stage.
    fn save(&mut self, stage: &str, checkpoint: &Checkpoint) -> Result<()>;
}

/// A caller's hold on a training run: watch it, stop it, resume it. [`Session::default`] does nothing.
pub struct Session<'a> {
    /// Is told of each epoch, and may stop the training at the next one.
    pub observer: &'a dyn Observer,
    /// Where to resume from and to save to.
    pub checkpoints: Option<&'a mut dyn CheckpointStore>,
    /// What is shared with other fits on the same dataset.
    pub memo: Option<&'a Memo>,
}

impl Default for Session<'_> {
    fn default() -> Self {
        Session { observer: &(), checkpoints: None, memo: None }
    }
}

impl<'a> Session<'a> {
    /// A session that is only watched.
    pub fn watched_by(observer: &'a dyn Observer) -> Self {
        Session { observer, ..Session::default() }
    }

    /// What was saved for a stage, if anything.
    pub fn load(&mut self, stage: &str) -> Result<Option<Checkpoint>> {
        self.checkpoints.as_mut().map_or(Ok(None), |store| store.load(stage))
    }

    /// Saves the state of a stage, if the caller keeps checkpoints.
    pub fn save(&mut self, stage: &str, checkpoint: &Checkpoint) -> Result<()> {
        self.checkpoints.as_mut().map_or(Ok(()), |store| store.save(stage, checkpoint))
    }

    /// What is kept under a key (see [`Memo`]), or made now.
    pub fn shared<T: Send + Sync + 'static>(
        &mut self,
        key: impl FnOnce() -> MemoKey,
        make: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Arc<T>> {
        match self.memo {
            Some(memo) => memo.get(key(), || make(self)),
            None => make(self).map(Arc::new),
        }
    }

    /// Whether anybody keeps checkpoints.
    pub fn keeps_checkpoints(&self) -> bool {
        self.checkpoints.is_some()
    }
}
