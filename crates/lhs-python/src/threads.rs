//! The threads that compute. They are ours, not rayon's global ones: a process that was forked has none of its parent's threads, and
//! must start its own.

use std::num::NonZero;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// More threads than any machine has cores for is a slip of the finger.
const MOST: usize = 1024;

struct Started {
    process: u32,
    pool: Arc<ThreadPool>,
}

/// How many threads are wanted, if that was said, and those that there are.
static THREADS: Mutex<(Option<usize>, Option<Started>)> = Mutex::new((None, None));

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// How many threads are computed with.
pub fn number() -> usize {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner).0.unwrap_or_else(all_cores)
}

/// The threads, started when they are first needed.
pub fn pool() -> lhs::Result<Arc<ThreadPool>> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let (wanted, process) = (threads.0.unwrap_or_else(all_cores), process::id());
    if let Some(started) = &threads.1
        && started.process == process
        && started.pool.current_num_threads() == wanted
    {
        return Ok(Arc::clone(&started.pool));
    }
    let failed = |error| lhs::Error::data(format!("cannot start {wanted} threads: {error}"), "use fewer");
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(wanted).build().map_err(failed)?);
    let before = threads.1.replace(Started { process, pool: Arc::clone(&pool) });
    // The threads of a parent process cannot be waited for.
    if let Some(before) = before.filter(|before| before.process != process) {
        std::mem::forget(before);
    }
    Ok(pool)
}

/// How many threads are used; results do not depend on it.
#[pyfunction]
fn num_threads() -> usize {
    number()
}

/// Uses so many threads from now on; `None` for all cores.
#[pyfunction]
#[pyo3(signature = (number=None))]
fn set_num_threads(number: Option<usize>) -> PyResult<()> {
    if number.is_some_and(|number| !(1..=MOST).contains(&number)) {
        return Err(PyValueError::new_err(format!("give a number of threads from 1 to {MOST}, or None")));
    }
    THREADS.lock().unwrap_or_else(PoisonError::into_inner).0 = number;
    Ok(())
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(set_num_threads, module)?)
}
