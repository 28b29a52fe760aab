//! Data from files, from the network, or made up.

use std::path::{Path, PathBuf};

use lhs::graph::preparation::PreparationConfig;
use lhs::graph::synth::SynthConfig;
use lhs::io::cache::cache_folder;
use lhs::io::fetch::{Fetcher, NAMES};
use lhs::io::{self, LoadOptions};
use pyo3::prelude::*;

use crate::data::Data;
use crate::errors::{OrRaise, of_path};
use crate::json;

/// Loads a file, a folder, or a fetched graph; `prepare` says what becomes of gaps, words and numbers.
#[pyfunction]
#[pyo3(signature = (source, *, directed=false, prepare="{}"))]
fn load(py: Python<'_>, source: PathBuf, directed: bool, prepare: &str) -> PyResult<Data> {
    let prepare: PreparationConfig = json::read(prepare)?;
    let options = LoadOptions { directed, prepare, ..LoadOptions::default() };
    py.detach(|| io::load(&source, &options)).map_err(of_path).map(Data::from)
}

/// Writes data: an `.npz` file, or a folder of tables.
#[pyfunction]
fn save(py: Python<'_>, data: &Data, path: PathBuf) -> PyResult<()> {
    let write = || match path.extension().is_some_and(|ending| ending == "npz") {
        true => io::npz::write(&data.dataset, &path, io::npz::FeatureLayout::default()),
        false => io::tables::write(&data.dataset, &path),
    };
    py.detach(write).or_raise()
}

/// Fetches a public graph, unless it is there, and says where it is.
#[pyfunction]
#[pyo3(signature = (name, folder=None, mirror=None))]
fn fetch(py: Python<'_>, name: &str, folder: Option<PathBuf>, mirror: Option<String>) -> PyResult<PathBuf> {
    let folder = folder.or_else(cache_folder).ok_or_else(|| {
        lhs::Error::data("no cache folder: neither LHS_CACHE nor HOME is set", "say where to: folder=…")
    });
    let mirror = mirror.or_else(|| std::env::var("LHS_MIRROR").ok()).filter(|url| !url.is_empty());
    let fetcher = Fetcher { mirror, ..Fetcher::new(folder.or_raise()?) };
    py.detach(|| fetcher.fetch(name, &mut |_| {})).or_raise().map(|fetched| fetched.path)
}

/// The public graphs that can be fetched.
#[pyfunction]
fn public_graphs() -> Vec<&'static str> {
    NAMES.to_vec()
}

/// Whether a public graph has been fetched.
#[pyfunction]
fn is_fetched(name: &str) -> bool {
    io::cache::fetched(Path::new(name)).is_some()
}

/// A made-up graph with a known truth.
#[pyfunction]
#[pyo3(signature = (config, seed=0))]
fn synth(py: Python<'_>, config: &str, seed: u64) -> PyResult<Data> {
    let config: SynthConfig = json::read(config)?;
    py.detach(|| config.generate(seed)).or_raise().map(Data::from)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)?;
    module.add_function(wrap_pyfunction!(fetch, module)?)?;
    module.add_function(wrap_pyfunction!(public_graphs, module)?)?;
    module.add_function(wrap_pyfunction!(is_fetched, module)?)?;
    module.add_function(wrap_pyfunction!(synth, module)?)
}
