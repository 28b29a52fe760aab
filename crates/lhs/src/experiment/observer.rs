//! Whoever waits for many trainings.

use super::cell::{CellId, CellRecord};
use super::tuner::Trial;
use crate::training::{self, EpochRecord};

/// [`training::Observer`], and is told besides which cells and trials are over. `()` neither listens nor stops.
pub trait Observer: training::Observer {
    /// An epoch of the training behind a cell is over.
    fn epoch_of(&self, cell: &CellId, record: &EpochRecord) {
        let _ = (cell, record);
    }

    /// A cell is finished, was finished earlier, or failed.
    fn cell(&self, record: &CellRecord) {
        let _ = record;
    }

    /// A trial of a search is over.
    fn trial(&self, trial: &Trial) {
        let _ = trial;
    }
}

impl Observer for () {}

impl Observer for std::sync::atomic::AtomicBool {}
