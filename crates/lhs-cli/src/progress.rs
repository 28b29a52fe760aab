//! One bar for every command that trains or attacks: how far it is, and Ctrl-C.

use indicatif::ProgressBar;
use lhs::error::Error;
use lhs::experiment::tuner::Trial;
use lhs::experiment::{self, CellId, CellRecord};
use lhs::training::{self, EpochRecord};

use super::interrupt;
use super::output::Global;

/// What the bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Finished cells.
    Cells,
    /// Trials that are over.
    Trials,
    /// Steps of one attack.
    Steps,
}

/// Shows how work goes, and stops it on Ctrl-C.
pub struct Progress<'a> {
    bar: ProgressBar,
    counts: Counts,
    global: &'a Global,
}

impl<'a> Progress<'a> {
    /// A bar of so many cells, trials or steps.
    pub fn new(global: &'a Global, counts: Counts, many: usize, what: &str) -> Self {
        interrupt::flag();
        Progress { bar: global.progress(many as u64, what), counts, global }
    }

    /// Takes the bar away.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl training::Observer for Progress<'_> {
    fn stopping(&self) -> bool {
        training::Observer::stopping(interrupt::flag())
    }

    fn epoch(&self, record: &EpochRecord) {
        if !self.bar.is_hidden() && record.epoch.is_multiple_of(10) {
            self.bar.set_message(format!("{} {}", record.stage, record.epoch));
        }
    }

    fn step(&self, done: usize, of: usize) {
        if self.counts == Counts::Steps {
            self.bar.set_length(of as u64);
            self.bar.set_position(done as u64);
        } else {
            // Several attacks run side by side: the steps shown are those of whichever spoke last.
            self.bar.set_message(format!("step {done} of {of}"));
        }
    }
}

impl experiment::Observer for Progress<'_> {
    fn epoch_of(&self, cell: &CellId, record: &EpochRecord) {
        // Ten epochs pass in a blink; formatting each of them would cost more than showing it.
        if self.bar.is_hidden() || !record.epoch.is_multiple_of(10) {
            return;
        }
        let accuracy =
            record.val_accuracy.map_or_else(String::new, |a| format!(", validation {:.1} %", 100.0 * a));
        let CellId { dataset, split, .. } = cell;
        let method = cell.method();
        self.bar.set_message(format!(
            "{dataset} {method} split {split}: {} {}{accuracy}",
            record.stage, record.epoch
        ));
    }

    fn cell(&self, record: &CellRecord) {
        if self.counts != Counts::Cells {
            return;
        }
        if let Some(error) = &record.error {
            let CellId { dataset, split, .. } = &record.id;
            let what = format!("{} on {dataset} split {split}, {}", record.id.method(), record.id.state());
            self.bar.suspend(|| self.global.note(format_args!("failed: {what}: {error}")));
        }
        self.bar.inc(1);
    }

    fn trial(&self, trial: &Trial) {
        if self.counts == Counts::Trials {
            self.bar.inc(1);
            self.bar.set_message(format!("last {:.2} %", trial.value()));
        }
    }
}

/// Says how to go on after an interruption, which only the command knows.
pub fn how_to_go_on(error: Error, remedy: impl FnOnce() -> String) -> Error {
    match error {
        Error::Interrupted { .. } => Error::Interrupted { remedy: remedy() },
        other => other,
    }
}
