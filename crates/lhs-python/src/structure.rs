//! The latent structure by itself, for other networks to learn on.

use lhs::experiment::settings::{self, Layer};
use lhs::experiment::split_seed;
use lhs::linalg::random::derive;
use lhs::structure::{FittedStructure, StructureConfig};
use lhs::training::{Session, Task};
use pyo3::prelude::*;
use toml::Table;

use crate::arrays::{self, Csr};
use crate::away::{Watch, away};
use crate::data::{self, Data, Parts};
use crate::errors::OrRaise;
use crate::json;

/// Which of a model's seeds its structure has: with it, `lhs` finds the same.
const SEED: u64 = 2;

/// A structure that has been learned.
#[pyclass(frozen, module = "lhs_graph._lhs")]
pub struct Inducer {
    fitted: FittedStructure,
}

fn config(given: &str) -> PyResult<StructureConfig> {
    let defaults = Table::try_from(StructureConfig::default()).unwrap_or_default();
    let table = settings::layered_over(&defaults, &[Layer::from_table(json::read(given)?)]).or_raise()?;
    let config: StructureConfig = table
        .try_into()
        .map_err(|error: toml::de::Error| {
            lhs::Error::data(error.message(), "the reference lists the settings")
        })
        .or_raise()?;
    config.validate("structure").or_raise()?;
    Ok(config)
}

#[pymethods]
impl Inducer {
    /// Learns a structure, and returns the latent graph after each round with it.
    #[staticmethod]
    #[pyo3(signature = (settings, data, parts, seed=0, split=0, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        settings: &str,
        data: &Data,
        parts: Parts,
        seed: u64,
        split: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, Vec<Csr<'py>>)> {
        let (config, dataset) = (config(settings)?, &data.dataset);
        let parts = data::split(parts, dataset.num_nodes())?;
        let (fitted, structure) = away(py, progress, Watch::default(), |watch| {
            let task = Task::new(dataset, &parts)?;
            let seed = derive(split_seed(seed, split), &[SEED]);
            config.fit(&task, seed, &mut Session::watched_by(watch))
        })?;
        let rounds = structure.rounds.iter().map(|graph| arrays::adjacency(py, graph)).collect();
        Ok((Inducer { fitted }, rounds))
    }

    /// The latent graph of another graph after each round.
    fn apply<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Vec<Csr<'py>>> {
        let (fitted, dataset) = (&self.fitted, &data.dataset);
        let found = away(py, None, Watch::default(), |_| fitted.apply(dataset.graph(), dataset.features()))?;
        Ok(found.rounds.iter().map(|graph| arrays::adjacency(py, graph)).collect())
    }

    /// All settings, with these over the defaults.
    #[staticmethod]
    fn settings(given: &str) -> PyResult<String> {
        json::write(&config(given)?)
    }

    /// What was decided.
    fn diagnostics(&self) -> Vec<String> {
        self.fitted.choices().diagnostics()
    }
}
