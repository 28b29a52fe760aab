//! Runs the jobs of a plan that are not finished, several side by side.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::cell::{Cell, CellRecord, Measured};
use super::job::{Learned, LoadModel, Shared};
use super::plan::{Job, Plan};
use super::run::Artefacts;
use super::store::Store;
use super::{Observer, fingerprint, parallel};
use crate::error::{Error, Result};
use crate::models::NodeClassifier;
use crate::training::{Memo, lock};

/// Attacks kept in memory: neighbouring jobs share them.
const PREPARED: usize = 8;
/// Results that trainings share: those of two datasets.
const SHARED: usize = 10;

/// What becomes of an error in a cell. A full disk and an interruption always end the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is recorded, and the other cells go on.
    #[default]
    Record,
    /// It ends the run.
    Stop,
    /// It ends the run, unless training diverged, which is recorded.
    StopUnlessDiverged,
}

/// Which labels are looked at for scoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scoring {
    /// Those of all parts.
    #[default]
    AllParts,
    /// Those of the training and validation nodes alone, as a search for settings must.
    ValidationOnly,
}

/// What to run, and how.
pub struct Runner<'a> {
    plan: &'a Plan,
    store: Option<&'a Store>,
    keep_models: bool,
    models: Option<&'a LoadModel<'a>>,
    memo: Option<&'a Memo>,
    threads: usize,
    observer: &'a dyn Observer,
    on_error: OnError,
    scoring: Scoring,
    deadline: Option<Instant>,
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Every cell that is over, in the order of the plan.
    pub records: Vec<CellRecord>,
    /// How many were finished now.
    pub run: usize,
    /// How many were finished before.
    pub known: usize,
    /// How many failed now.
    pub failed: usize,
    /// Whether time was up before all were run.
    pub out_of_time: bool,
}

impl<'a> Runner<'a> {
    /// Runs in memory, on all cores, with nobody watching; errors are recorded.
    pub fn new(plan: &'a Plan) -> Self {
        Runner {
            plan,
            store: None,
            keep_models: false,
            models: None,
            memo: None,
            threads: std::thread::available_parallelism().map_or(1, |threads| threads.get()),
            observer: &(),
            on_error: OnError::default(),
            scoring: Scoring::default(),
            deadline: None,
        }
    }

    /// Keeps every finished cell, and goes on from those that are there.
    pub fn store(self, store: &'a Store) -> Self {
        Runner { store: Some(store), ..self }
    }

    /// Keeps models, curves and predictions in the store, too, and checkpoints on the way.
    pub fn keep_models(self) -> Self {
        Runner { keep_models: true, ..self }
    }

    /// Takes the models from elsewhere; only what is attacked before training is trained.
    pub fn models(self, load: &'a (dyn Fn(&Job) -> Result<Box<dyn NodeClassifier>> + Sync + 'a)) -> Self {
        Runner { models: Some(load), ..self }
    }

    /// Shares results with other runs.
    pub fn memo(self, memo: &'a Memo) -> Self {
        Runner { memo: Some(memo), ..self }
    }

    /// Uses so many threads.
    pub fn threads(self, threads: usize) -> Self {
        Runner { threads, ..self }
    }

    /// Tells somebody how it goes, who may also stop it.
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Runner { observer, ..self }
    }

    /// What becomes of errors.
    pub fn on_error(self, on_error: OnError) -> Self {
        Runner { on_error, ..self }
    }

    /// Which labels are looked at.
    pub fn scoring(self, scoring: Scoring) -> Self {
        Runner { scoring, ..self }
    }

    /// Begins no training after this time.
    pub fn deadline(self, deadline: Option<Instant>) -> Self {
        Runner { deadline, ..self }
    }

    /// Runs every cell that is not finished yet.
    pub fn run(&self) -> Result<Outcome> {
        let (prepared, own) = (Memo::holding(PREPARED), Memo::holding(SHARED));
        let shared = Shared {
            plan: self.plan,
            store: self.store,
            keep_models: self.keep_models,
            models: self.models,
            scoring: self.scoring,
            prepared: &prepared,
            memo: self.memo.unwrap_or(&own),
            observer: self.observer,
        };
        let counts = Counts::default();
        let found = Mutex::new(HashMap::new());
        parallel::map(self.plan.jobs.len(), self.threads, |place| {
            for record in self.job(&shared, &self.plan.jobs[place], &counts)? {
                lock(&found).insert(record.key.clone(), record);
            }
            Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(counts.outcome(self.plan.cells().filter_map(|cell| found.remove(&cell.key)).collect()))
    }

    /// The cells of a job, finished now or before; without those that time did not suffice for.
    fn job(&self, shared: &Shared<'_>, job: &Job, counts: &Counts) -> Result<Vec<CellRecord>> {
        let known = |cell: &Cell| {
            self.store.and_then(|store| store.finished(&cell.key)).filter(|_| self.is_kept(cell))
        };
        let mut records: Vec<CellRecord> = job.cells.iter().filter_map(known).cloned().collect();
        counts.known.fetch_add(records.len(), Ordering::Relaxed);
        records.iter().for_each(|record| self.observer.cell(record));
        let wanted: Vec<&Cell> = job.cells.iter().filter(|cell| known(cell).is_none()).collect();
        if wanted.is_empty() {
            return Ok(records);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            counts.late.fetch_add(1, Ordering::Relaxed);
            return Ok(records);
        }
        self.observer.proceed()?;
        let learned = self.attempt(|| shared.learn(job))?;
        for cell in wanted {
            let result = match &learned {
                Ok(learned) => self.attempt(|| self.measure(shared, job, cell, learned))?,
                Err(problem) => Err(problem.clone()),
            };
            let failed = usize::from(result.is_err());
            let record = self.record(job, cell, result);
            self.store.map(|store| store.keep(&record)).transpose()?;
            counts.run.fetch_add(1 - failed, Ordering::Relaxed);
            counts.failed.fetch_add(failed, Ordering::Relaxed);
            self.observer.cell(&record);
            records.push(record);
        }
        shared.tidy(job)?;
        Ok(records)
    }

    /// Whether all that a finished cell should have left is there.
    fn is_kept(&self, cell: &Cell) -> bool {
        let folder =
            self.store.filter(|_| self.keep_models && cell.id.attack.is_none() && !cell.id.inductive);
        folder.is_none_or(|store| Artefacts::are_in(&store.model_folder(&cell.id)))
    }

    fn measure(&self, shared: &Shared<'_>, job: &Job, cell: &Cell, learned: &Learned) -> Result<Measured> {
        self.observer.proceed()?;
        shared.measure(job, cell, learned)
    }

    fn record(&self, job: &Job, cell: &Cell, result: Result<Measured, String>) -> CellRecord {
        let (result, error) = match result {
            Ok(measured) => (Some(measured), None),
            Err(problem) => (None, Some(problem)),
        };
        CellRecord {
            key: cell.key.clone(),
            id: cell.id.clone(),
            data_sha256: self.plan.data[job.data].record.sha256.clone(),
            settings: job.method.changed(),
            settings_sha256: fingerprint::of_text(&job.method.hashed().to_string()),
            lhs_version: env!("CARGO_PKG_VERSION").into(),
            result,
            error,
        }
    }

    /// What came out, or why not, in words; the outer error ends the whole run.
    fn attempt<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Result<T, String>> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(found)) => Ok(Ok(found)),
            Ok(Err(error)) if self.ends_the_run(&error) => Err(error),
            Ok(Err(error)) => Ok(Err(error.to_string())),
            Err(panic) if self.on_error == OnError::Record => {
                Ok(Err(format!("a bug in lhs: {}", said(panic.as_ref()))))
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn ends_the_run(&self, error: &Error) -> bool {
        match (error, self.on_error) {
            // A full disk fails every cell after this one too.
            (Error::Interrupted { .. } | Error::Io { .. }, _) => true,
            (_, OnError::Record) => false,
            (Error::Diverged { .. }, OnError::StopUnlessDiverged) => false,
            (_, OnError::Stop | OnError::StopUnlessDiverged) => true,
        }
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
    /// Jobs that were not begun, for want of time.
    late: AtomicUsize,
}

impl Counts {
    fn outcome(&self, records: Vec<CellRecord>) -> Outcome {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        Outcome {
            records,
            run: of(&self.run),
            known: of(&self.known),
            failed: of(&self.failed),
            out_of_time: of(&self.late) > 0,
        }
    }
}
