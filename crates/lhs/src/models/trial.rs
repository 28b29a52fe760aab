//! Trainings that are only compared, or only asked.

use crate::training::{EpochRecord, Memo, Observer, Session};

/// Watches a trial, which is not part of the curve that leads to the model.
pub(in crate::models) struct Trial<'a>(pub(in crate::models) &'a dyn Observer);

impl Trial<'_> {
    /// An interrupted trial is begun anew: it leaves nothing behind that the training could take for its own.
    pub(in crate::models) fn session<'b>(&'b self, memo: Option<&'b Memo>) -> Session<'b> {
        Session { observer: self, checkpoints: None, memo }
    }
}

impl Observer for Trial<'_> {
    fn stopping(&self) -> bool {
        self.0.stopping()
    }

    fn epoch(&self, record: &EpochRecord) {
        let stage = format!("trial-{}", record.stage);
        self.0.epoch(&EpochRecord { stage, val_accuracy: None, ..record.clone() });
    }
}
