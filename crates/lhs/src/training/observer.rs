//! Whoever waits for long work.

use std::sync::atomic::{AtomicBool, Ordering};

use super::EpochRecord;
use crate::error::{Error, Result};

/// Is told, from several threads, how work goes, and may stop it. `()` does neither; an [`AtomicBool`] stops it once it
/// is true.
pub trait Observer: Sync {
    /// Whether to stop at the next epoch or step.
    fn stopping(&self) -> bool {
        false
    }

    /// An epoch of a training is over.
    fn epoch(&self, record: &EpochRecord) {
        let _ = record;
    }

    /// So many steps of an attack are done.
    fn step(&self, done: usize, of: usize) {
        let _ = (done, of);
    }

    /// The error that ends work which is to stop.
    fn proceed(&self) -> Result<()> {
        if self.stopping() { Err(Error::Interrupted { remedy: String::new() }) } else { Ok(()) }
    }
}

impl Observer for () {}

impl Observer for AtomicBool {
    fn stopping(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
