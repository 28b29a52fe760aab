//! How a caller watches, stops and resumes training.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::{Memo, MemoKey, Tensors};
use crate::error::{Error, Result};

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
#[derive(Default)]
pub struct Session<'a> {
    /// Set to true (by Ctrl-C, say) to stop at the next epoch.
    pub stop: Option<&'a AtomicBool>,
    /// Called after each epoch.
    pub on_epoch: Option<&'a mut dyn FnMut(&EpochRecord)>,
    /// Where to resume from and to save to.
    pub checkpoints: Option<&'a mut dyn CheckpointStore>,
    /// What is shared with other fits on the same dataset.
    pub memo: Option<&'a Memo>,
}

impl Session<'_> {
    /// Whether the caller wants training to stop.
    pub fn stopping(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Tells the caller of an epoch.
    pub fn tell(&mut self, record: &EpochRecord) {
        if let Some(on_epoch) = &mut self.on_epoch {
            on_epoch(record);
        }
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

    /// The error that ends an interrupted training.
    pub fn interrupted(&self) -> Error {
        Error::Interrupted { remedy: "the same command with --resume goes on from here".into() }
    }
}
