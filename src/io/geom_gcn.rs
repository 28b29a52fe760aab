//! Stub.

use std::path::Path;

use super::LoadOptions;
use crate::error::Result;
use crate::graph::Dataset;

/// Whether `source` looks like this format.
pub fn is_here(source: &Path) -> bool {
    let _ = source;
    false
}

/// Reads a dataset.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let _ = options;
    Err(crate::error::Error::input(source, "", "not built yet", ""))
}
