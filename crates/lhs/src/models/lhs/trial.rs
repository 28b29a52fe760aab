//! Trainings that are only compared.

use super::Lhs;
use crate::training::Score;

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
