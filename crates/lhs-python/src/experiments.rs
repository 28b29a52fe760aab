//! Suites of experiments, as `lhs bench` runs them.

use std::path::{Path, PathBuf};

use lhs::experiment::table::AccuracyTable;
use lhs::experiment::{CellFilter, Data, IfPresent, Manifest, Plan, Runner, Store, Suite, shipped};
use lhs::models::Registry;
use pyo3::prelude::*;
use serde_json::json;

use crate::away::{Watch, away};
use crate::errors::OrRaise;
use crate::{data, json, threads};

/// Runs a suite, given as JSON; on data in memory, if there is any. Cells are kept in a folder, if one is named.
#[pyfunction]
#[pyo3(signature = (suite, name, *, data=Vec::new(), out=None, only=None, progress=None))]
fn run_suite(
    py: Python<'_>,
    suite: &str,
    name: &str,
    data: Vec<Py<data::Data>>,
    out: Option<PathBuf>,
    only: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let suite: Suite = json::read(suite)?;
    let filter = only.map(CellFilter::parse).transpose().or_raise()?.unwrap_or_default();
    let in_memory: Vec<_> = data.iter().map(|data| data.get().dataset.as_ref().clone()).collect();
    let plan = py.detach(|| {
        let registry = Registry::default();
        let plan = match in_memory.is_empty() {
            true => Plan::load(&suite, Path::new(name), &registry)?,
            false => {
                let data = in_memory.into_iter().map(Data::new).collect::<lhs::Result<Vec<_>>>()?;
                Plan::on(&suite, data, &registry)?
            }
        };
        plan.filtered(&filter)
    });
    let plan = plan.or_raise()?;
    let manifest = Manifest::new(name, &suite, &plan);
    let store = out.as_deref().map(|out| Store::open(out, &manifest, IfPresent::Extend)).transpose();
    let store = store.or_raise()?;
    let watch = Watch::of_cells(plan.cells().count());
    let outcome = away(py, progress, watch, |watch| {
        let runner = Runner::new(&plan).threads(threads::number()).observer(watch);
        match &store {
            Some(store) => runner.store(store).run(),
            None => runner.run(),
        }
    })?;
    let table = AccuracyTable::new(&suite, &outcome.records);
    let failures = outcome.records.iter().filter_map(|record| record.error.as_ref());
    json::write(&json!({
        "suite": name,
        "title": suite.title,
        "cells": outcome.records.len(),
        "run": outcome.run,
        "known": outcome.known,
        "failed": outcome.failed,
        "errors": failures.collect::<Vec<_>>(),
        "rows": table.rows(),
        "plain": table.plain(),
        "markdown": table.markdown(),
    }))
}

/// A suite from its text, as JSON.
#[pyfunction]
fn read_suite(text: &str, file: PathBuf) -> PyResult<String> {
    json::write(&Suite::parse(text, &file).or_raise()?)
}

/// The suites that come with the library: name and text.
#[pyfunction]
fn suites() -> Vec<(&'static str, &'static str)> {
    shipped::SUITES.to_vec()
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_suite, module)?)?;
    module.add_function(wrap_pyfunction!(read_suite, module)?)?;
    module.add_function(wrap_pyfunction!(suites, module)?)
}
