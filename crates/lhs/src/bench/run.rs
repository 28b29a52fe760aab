//! Runs the jobs of a grid that are not finished, several side by side.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::grid::{Cell, Grid, Job};
use super::job::{Learned, Measured, Shared};
use super::store::{CellRecord, Store};
use crate::attacks::Watch;
use crate::error::{Error, Result};
use crate::eval::parallel;
use crate::training::Memo;

/// Attacks kept in memory: neighbouring jobs share them.
const CRAFTED: usize = 8;
/// Results that trainings share: those of two datasets.
const SHARED: usize = 10;

/// What to run, and where to keep it.
pub struct Bench<'a> {
    /// The work.
    pub grid: &'a Grid,
    /// The folder.
    pub store: &'a Store,
    /// Threads to use.
    pub threads: usize,
    /// Set to true to stop at the next epoch.
    pub stop: Option<&'a AtomicBool>,
    /// Who is told how it goes.
    pub progress: &'a dyn Progress,
}

/// Is told, from several threads, how a bench goes.
pub trait Progress: Sync {
    /// A cell is finished, or was finished earlier.
    fn cell(&self, record: &CellRecord);
}

/// How many cells there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Finished now.
    pub run: usize,
    /// Finished before.
    pub known: usize,
    /// Failed now.
    pub failed: usize,
}

impl Bench<'_> {
    /// Runs every cell that is not finished yet. A cell that fails is recorded and does not stop the others.
    pub fn run(&self) -> Result<Summary> {
        let counts = Counts::default();
        let (crafted, memo) = (Memo::holding(CRAFTED), Memo::holding(SHARED));
        let shared = Shared {
            grid: self.grid,
            store: self.store,
            crafted: &crafted,
            memo: &memo,
            watch: Watch { stop: self.stop, progress: None },
        };
        parallel::map(self.grid.jobs.len(), self.threads, |place| {
            self.job(&shared, &self.grid.jobs[place], &counts)
        })?;
        Ok(counts.summary())
    }

    fn job(&self, shared: &Shared<'_>, job: &Job, counts: &Counts) -> Result<()> {
        let (known, wanted): (Vec<&Cell>, Vec<&Cell>) =
            job.cells.iter().partition(|cell| self.store.finished(&cell.key).is_some());
        for cell in known {
            counts.known.fetch_add(1, Ordering::Relaxed);
            self.store.finished(&cell.key).into_iter().for_each(|record| self.progress.cell(record));
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let learned = attempt(|| shared.learn(job))?;
        for cell in wanted {
            let result = match &learned {
                Ok(learned) => attempt(|| self.cell(shared, job, cell, learned))?,
                Err(problem) => Err(problem.clone()),
            };
            let failed = usize::from(result.is_err());
            let (result, error) = match result {
                Ok(measured) => (Some(measured), None),
                Err(problem) => (None, Some(problem)),
            };
            let record = CellRecord {
                key: cell.key.clone(),
                id: cell.id.clone(),
                settings: job.contender.changed(&job.settings),
                result,
                error,
            };
            self.store.keep(&record)?;
            counts.run.fetch_add(1 - failed, Ordering::Relaxed);
            counts.failed.fetch_add(failed, Ordering::Relaxed);
            self.progress.cell(&record);
        }
        Ok(())
    }

    fn cell(&self, shared: &Shared<'_>, job: &Job, cell: &Cell, learned: &Learned) -> Result<Measured> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted { remedy: String::new() });
        }
        shared.measure(job, cell, learned)
    }
}

/// What came out, or why not, in words; the outer error ends the whole run.
fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<Result<T, String>> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Err(Error::Interrupted { .. })) => Err(Error::Interrupted {
            remedy: "every finished cell is kept; the same command goes on from there".into(),
        }),
        // A full disk fails every cell after this one too.
        Ok(Err(error @ Error::Io { .. })) => Err(error),
        Ok(result) => Ok(result.map_err(|error| error.to_string())),
        Err(panic) => Ok(Err(format!("a bug in lhs: {}", said(panic.as_ref())))),
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

#[derive(Default)]
struct Counts {
    run: AtomicUsize,
    known: AtomicUsize,
    failed: AtomicUsize,
}

impl Counts {
    fn summary(&self) -> Summary {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        Summary { run: of(&self.run), known: of(&self.known), failed: of(&self.failed) }
    }
}
