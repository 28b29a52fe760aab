//! Trainings that are only compared.

use super::Lhs;
use crate::training::{EpochRecord, Memo, Observer, Score, Session};

/// Patience of trainings that are only compared, at most.
const TRIAL_PATIENCE: usize = 40;
impl Lhs {
    /// For comparisons, which need not run to the last epoch.
    pub(super) fn hasty(&self) -> Lhs {
        let mut config = self.clone();
        config.training.patience = config.training.patience.min(TRIAL_PATIENCE);
        config
    }
}

/// What early stopping looked at, 0..=1.
pub(super) fn quality(score: Option<Score>) -> f32 {
    score.map_or(0.0, |score| score.value.unwrap_or(score.accuracy))
}

/// So many standard errors of a share of so many nodes.
pub(super) fn margin(share: f32, count: usize, errors: f32) -> f32 {
    errors * (share * (1.0 - share) / count.max(1) as f32).max(0.0).sqrt()
}

/// Watches a trial, which is not part of the curve that leads to the model.
pub(super) struct Trial<'a>(pub(super) &'a dyn Observer);

impl Trial<'_> {
    /// An interrupted trial is begun anew: it leaves nothing behind that the training could take for its own.
    pub(super) fn session<'b>(&'b self, memo: Option<&'b Memo>) -> Session<'b> {
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
