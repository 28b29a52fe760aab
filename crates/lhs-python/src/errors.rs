//! Errors of the library as Python exceptions, with its words.

use std::io;

use lhs::Error;
use pyo3::exceptions::{
    PyConnectionError, PyFileNotFoundError, PyKeyboardInterrupt, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception of an error: a `ValueError` where other input would help, an `OSError` of the right kind where files or the
/// network are to blame.
pub fn to_python(error: Error) -> PyErr {
    let said = error.to_string();
    match error {
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(said),
        Error::Network { .. } => PyConnectionError::new_err(said),
        Error::Io { source, .. } => io::Error::new(source.kind(), said).into(),
        error if error.can_be_mended() => PyValueError::new_err(said),
        _ => PyRuntimeError::new_err(said),
    }
}

/// The same of reading a path: one that is not there is a `FileNotFoundError`.
pub fn of_path(error: Error) -> PyErr {
    match &error {
        Error::Input { file, .. } if !file.exists() => PyFileNotFoundError::new_err(error.to_string()),
        _ => to_python(error),
    }
}

/// `?` on results of the library.
pub trait OrRaise<T> {
    /// The same with an exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for lhs::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(to_python)
    }
}
