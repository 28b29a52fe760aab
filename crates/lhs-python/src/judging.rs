//! Audits, certificates and explanations, as the documents that the command line prints.

use lhs::certify::{Certificate, CertifyConfig};
use lhs::experiment::split_seed;
use lhs::explain::{ExplainOptions, Explanation, Subject};
use lhs::graph::Labelled;
use lhs::metrics::audit::{AuditConfig, Trained, Version};
use lhs::models;
use pyo3::prelude::*;
use serde_json::json;

use crate::away::{Watch, away};
use crate::data::{self, Data, Parts};
use crate::errors::OrRaise;
use crate::json;
use crate::models::{Fitted, complete};

/// Measures versions of data, of which the first is the clean one.
#[pyfunction]
#[pyo3(signature = (versions, *, model=None, classes=Vec::new(), hops=4, bins=10))]
fn audit(
    py: Python<'_>,
    versions: Vec<(String, Py<Data>, Parts)>,
    model: Option<&Fitted>,
    classes: Vec<String>,
    hops: usize,
    bins: usize,
) -> PyResult<String> {
    let splits =
        versions.iter().map(|(_, data, parts)| data::split(parts.clone(), data.get().dataset.num_nodes()));
    let splits = splits.collect::<PyResult<Vec<_>>>()?;
    let versions = versions.iter().zip(splits).map(|((name, data, _), split)| Version {
        name: name.clone(),
        dataset: &data.get().dataset,
        split,
    });
    let versions: Vec<Version<'_>> = versions.collect();
    let trained = model.map(|fitted| Trained { model: fitted.model.as_ref(), classes: &classes });
    let found = away(py, None, Watch::default(), |_| {
        for version in &versions {
            version.split.validate(version.dataset.labels())?;
        }
        AuditConfig { hops, bins }.run(&versions, trained.as_ref())
    })?;
    json::write(&found)
}

/// Says how many edges each prediction survives, as `lhs certify` does.
#[pyfunction]
#[pyo3(signature = (name, settings, data, parts, *, on=None, buckets=11, poisoning=false, seed=0, split=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all of them matter")]
fn certify(
    py: Python<'_>,
    name: &str,
    settings: &str,
    data: &Data,
    parts: Parts,
    on: Option<&Data>,
    buckets: usize,
    poisoning: bool,
    seed: u64,
    split: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let kind = models::kind(name).or_raise()?;
    let settings = complete(kind, settings)?;
    let parts = data::split(parts, data.dataset.num_nodes())?;
    let (dataset, on) = (&data.dataset, &on.unwrap_or(data).dataset);
    let config = CertifyConfig { buckets, poisoning, seed };
    let found = away(py, progress, Watch::default(), |watch| {
        Certificate::of((kind, &settings), (dataset, &parts, on), &config, split_seed(seed, split), watch)
    })?;
    let curves = found.curves(on, &parts.test);
    json::write(&json!({"curves": curves, "nodes": found.nodes(on, &parts)}))
}

/// Says why a model gives a node its class. `learned_from` names the nodes that it learned from, and their classes.
#[pyfunction]
#[pyo3(signature = (model, data, node, *, classes, learned_from, top=10, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all of them matter")]
fn explain(
    py: Python<'_>,
    model: &Fitted,
    data: &Data,
    node: usize,
    classes: Vec<String>,
    learned_from: (Vec<u32>, Vec<u32>),
    top: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let learned_from = Labelled { nodes: learned_from.0, classes: learned_from.1 };
    let subject = Subject {
        model: model.model.as_ref(),
        dataset: &data.dataset,
        classes: &classes,
        learned_from: &learned_from,
    };
    let options = ExplainOptions { top, ..ExplainOptions::default() };
    let told =
        away(py, progress, Watch::default(), |watch| Explanation::of(&subject, node, &options, watch))?;
    json::write(&told)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(audit, module)?)?;
    module.add_function(wrap_pyfunction!(certify, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)
}
