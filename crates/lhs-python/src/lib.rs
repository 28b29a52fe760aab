//! What `import lhs_graph` loads: the library for Python, as thin as it can be.
//!
//! Arrays come in and go out (`arrays`), whatever else has structure travels as JSON (`json`); work runs away from the interpreter
//! (`away`); errors become exceptions (`errors`). Graphs of other packages, scikit-learn's shape and pictures are
//! Python, in `python/lhs_graph`.

mod arrays;
mod attacks;
mod away;
mod data;
mod errors;
mod experiments;
mod files;
mod json;
mod judging;
mod models;
mod structure;
mod threads;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line with these arguments, the first of which is the name of the program, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| lhs_cli::main_with(args))
}

#[pymodule]
fn _lhs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_class::<data::Data>()?;
    module.add_class::<models::Fitted>()?;
    module.add_class::<structure::Inducer>()?;
    models::add(module)?;
    attacks::add(module)?;
    judging::add(module)?;
    files::add(module)?;
    experiments::add(module)?;
    threads::add(module)
}
