//! Long work, away from the interpreter: other Python threads run on, Ctrl-C stops it at the next epoch, and whoever wants to
//! see how far it is is told.
//!
//! The work runs on threads of ours. The thread that asked for it waits without the interpreter's lock, and takes it a few
//! times per second, to see whether a signal has come (which only Python's main thread may) and to report progress; so the
//! work itself never waits for Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lhs::experiment::{self, CellId, CellRecord};
use lhs::training::{EpochRecord, Observer};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::threads;

/// How often signals are looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// How far the work is: what is counted, how much is done, of how much, and a remark.
#[derive(Clone, Default, PartialEq)]
struct News {
    counted: String,
    done: usize,
    of: Option<usize>,
    remark: String,
}

/// What the work talks to.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    news: Mutex<News>,
    curve: Mutex<Vec<EpochRecord>>,
    cells: AtomicUsize,
    all_cells: Option<usize>,
}

impl Watch {
    /// Of work that is made of so many cells.
    pub fn of_cells(cells: usize) -> Self {
        Watch { all_cells: Some(cells), ..Watch::default() }
    }

    /// The epochs so far. A stage that was begun again is told as it went the last time, as files of curves have it.
    pub fn curve(&self) -> Vec<EpochRecord> {
        let told = self.curve.lock().unwrap_or_else(PoisonError::into_inner);
        let mut curve: Vec<EpochRecord> = Vec::with_capacity(told.len());
        for record in told.iter() {
            curve.retain(|known| known.stage != record.stage || known.epoch < record.epoch);
            curve.push(record.clone());
        }
        curve
    }

    fn tell(&self, counted: &str, done: usize, of: Option<usize>, remark: String) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        *news = News { counted: counted.to_string(), done, of, remark };
    }
}

impl Observer for Watch {
    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn epoch(&self, record: &EpochRecord) {
        self.curve.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        let remark =
            record.val_accuracy.map_or_else(String::new, |a| format!("validation {:.1} %", 100.0 * a));
        self.tell(&record.stage, record.epoch + 1, None, remark);
    }

    fn step(&self, done: usize, of: usize) {
        if self.all_cells.is_none() {
            self.tell("steps", done, Some(of), String::new());
        }
    }
}

impl experiment::Observer for Watch {
    fn epoch_of(&self, _: &CellId, _: &EpochRecord) {}

    fn cell(&self, record: &CellRecord) {
        let done = self.cells.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell("cells", done, self.all_cells, record.id.method());
    }
}

/// Does some work; `progress(counted, done, of, remark)` is called now and then.
pub fn away<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    watch: Watch,
    work: impl FnOnce(&Watch) -> lhs::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let pool = threads::pool().map_err(to_python)?;
        let (watch, pool) = (&watch, &pool);
        thread::scope(|scope| {
            let (done, result) = sync_channel(1);
            let worker = move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(watch))));
                // Whoever waits is there until it hears.
                let _ = done.send(outcome);
            };
            thread::Builder::new().spawn_scoped(scope, worker)?;
            let (mut raised, mut shown) = (None, News::default());
            loop {
                match result.recv_timeout(PAUSE) {
                    Ok(outcome) => return finished(outcome, raised),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        if let Err(error) =
                            Python::attach(|py| look(py, progress.as_ref(), watch, &mut shown))
                        {
                            raised = Some(error);
                            watch.stop.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(a_bug("the work vanished")),
                }
            }
        })
    })
}

/// Raises what a signal, or whoever is told of progress, raises.
fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, watch: &Watch, shown: &mut News) -> PyResult<()> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(()) };
    let news = watch.news.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if news != *shown {
        let News { counted, done, of, remark } = &news;
        progress.call1(py, (counted, done, of, remark))?;
        *shown = news;
    }
    Ok(())
}

fn finished<T>(outcome: thread::Result<lhs::Result<T>>, raised: Option<PyErr>) -> PyResult<T> {
    match (outcome, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(result), None) => result.map_err(to_python),
        (Err(panic), None) => {
            let said = panic.downcast_ref::<&str>().map(ToString::to_string);
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(a_bug(&said.unwrap_or_else(|| "unknown".into())))
        }
    }
}

fn a_bug(said: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "internal error: {said}\n  hint: this is a bug in lhs {}, not in your data: please report it",
        env!("CARGO_PKG_VERSION")
    ))
}
