//! Attacks of every kind, by their names.

use lhs::attacks::{self, AttackContext, AttackKind};
use lhs::experiment::attack_seed;
use lhs::experiment::settings::{self, Layer};
use numpy::PyArray2;
use pyo3::prelude::*;
use serde_json::json;
use toml::Table;

use crate::arrays;
use crate::away::{Watch, away};
use crate::data::{self, Data, Parts};
use crate::errors::OrRaise;
use crate::json;
use crate::models::Fitted;

/// The attacked data, the record, edges that came, edges that went, and the test nodes to score.
type Attacked<'py> = (Data, String, Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<i64>>, Vec<u32>);

fn complete(kind: &AttackKind, given: &str) -> PyResult<Table> {
    settings::layered_over(&(kind.defaults)(), &[Layer::from_table(json::read(given)?)]).or_raise()
}

/// Attacks data under a split, with the seed that the command line has for the split of that number.
#[pyfunction]
#[pyo3(signature = (name, settings, data, parts, *, victim=None, seed=0, split=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "all of them matter")]
fn attack<'py>(
    py: Python<'py>,
    name: &str,
    settings: &str,
    data: &Data,
    parts: Parts,
    victim: Option<&Fitted>,
    seed: u64,
    split: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Attacked<'py>> {
    let kind = attacks::kind(name).or_raise()?;
    let attack = (kind.build)(&complete(kind, settings)?).or_raise()?;
    if !attack.parts().is_empty() {
        return Err(lhs::Error::setting(
            "attack",
            format!(
                "`{name}` takes the worst of several attacks for each node, which no single graph can hold"
            ),
            "score a model under it in a suite: `bench`",
        ))
        .or_raise();
    }
    let dataset = data.dataset.as_ref().clone().remembering_origin();
    let parts = data::split(parts, dataset.num_nodes())?;
    let victim = victim.map(|victim| victim.model.as_ref());
    let attacked = away(py, progress, Watch::default(), |watch| {
        parts.validate(dataset.labels())?;
        let context = AttackContext { victim, observer: watch, ..AttackContext::new(&dataset, &parts) };
        attack.perturb(&context, attack_seed(seed, split))
    })?;
    Ok((
        Data::from(attacked.dataset),
        json::write(&attacked.record)?,
        arrays::two_columns(py, &attacked.added)?,
        arrays::two_columns(py, &attacked.removed)?,
        attacked.split.test,
    ))
}

/// All settings of an attack, with these over its defaults; unknown ones are refused with the nearest name.
#[pyfunction]
fn attack_settings(name: &str, given: &str) -> PyResult<String> {
    let kind = attacks::kind(name).or_raise()?;
    let settings = complete(kind, given)?;
    (kind.build)(&settings).or_raise()?;
    json::write(&settings)
}

/// Every attack: name, summary, settings.
#[pyfunction]
fn attacks_known() -> PyResult<String> {
    let about = attacks::kinds().iter();
    let about =
        about.map(|kind| json!({"name": kind.name, "summary": kind.summary, "settings": (kind.defaults)()}));
    json::write(&about.collect::<Vec<_>>())
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(attack, module)?)?;
    module.add_function(wrap_pyfunction!(attack_settings, module)?)?;
    module.add_function(wrap_pyfunction!(attacks_known, module)?)
}
