//! Models of every kind, by their names.

use std::path::PathBuf;

use lhs::experiment::found_settings::{self, Search};
use lhs::experiment::settings::{self, Layer};
use lhs::experiment::split_seed;
use lhs::models::{self, NodeClassifier, Save, SavedModel};
use lhs::training::{Memo, Session, Task};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use toml::Table;

use crate::arrays::{self, Csr};
use crate::away::{Watch, away};
use crate::data::{self, Data, Parts};
use crate::errors::OrRaise;
use crate::json;

/// Results that the parts of one training share, such as the views of its graph.
const MEMO: usize = 5;

/// The list in a model's file that holds the bytes of Python's remark about it.
const ABOUT: &str = "python";

/// A model that has learned.
#[pyclass(frozen, module = "lhs_graph._lhs")]
pub struct Fitted {
    pub model: Box<dyn NodeClassifier>,
    name: String,
    settings: Table,
}

impl Fitted {
    fn restored(saved: &SavedModel) -> lhs::Result<Self> {
        let model = models::kind(&saved.model).and_then(|kind| (kind.restore)(saved))?;
        Ok(Fitted { model, name: saved.model.clone(), settings: saved.settings.clone() })
    }
}

#[pymethods]
impl Fitted {
    /// Learns, with the seed that the command line has for the split of that number. Returns the model and its course.
    #[staticmethod]
    #[pyo3(signature = (name, settings, data, parts, seed=0, split=0, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "all of them matter")]
    fn fit(
        py: Python<'_>,
        name: &str,
        settings: &str,
        data: &Data,
        parts: Parts,
        seed: u64,
        split: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, String)> {
        let kind = models::kind(name).or_raise()?;
        let settings = complete(kind, settings)?;
        let model = (kind.build)(&settings).or_raise()?;
        let dataset = &data.dataset;
        let parts = data::split(parts, dataset.num_nodes())?;
        let (model, curve) = away(py, progress, Watch::default(), |watch| {
            let task = Task::new(dataset, &parts)?;
            // What several parts of one training need is made once.
            let memo = Memo::holding(MEMO);
            let mut session = Session { memo: Some(&memo), ..Session::watched_by(watch) };
            let model = model.fit_with(&task, split_seed(seed, split), &mut session)?;
            Ok((model, watch.curve()))
        })?;
        Ok((Fitted { model, name: kind.name.to_string(), settings }, json::write(&curve)?))
    }

    /// Class probabilities of all nodes.
    fn predict<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (model, dataset) = (&self.model, &data.dataset);
        let found = away(py, None, Watch::default(), |_| model.predict(dataset.graph(), dataset.features()))?;
        arrays::matrix(py, found)
    }

    /// The codes that classes are read from; none of models that have none.
    fn embeddings<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        let (model, dataset) = (&self.model, &data.dataset);
        let found =
            away(py, None, Watch::default(), |_| model.embeddings(dataset.graph(), dataset.features()))?;
        found.map(|codes| arrays::matrix(py, codes)).transpose()
    }

    /// The latent graph after each round; none of models that have none.
    fn structure<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Option<Vec<Csr<'py>>>> {
        let (model, dataset) = (&self.model, &data.dataset);
        let found =
            away(py, None, Watch::default(), |_| model.structure(dataset.graph(), dataset.features()))?;
        Ok(found.map(|found| found.rounds.iter().map(|graph| arrays::adjacency(py, graph)).collect()))
    }

    /// What was decided, in a few sentences.
    fn summary(&self) -> Vec<String> {
        self.model.summary()
    }

    /// The same in all detail.
    fn diagnostics(&self) -> Vec<String> {
        self.model.diagnostics()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// All settings.
    fn settings(&self) -> PyResult<String> {
        json::write(&self.settings)
    }

    /// Writes the model to a file, with a remark of Python's beside it.
    fn save(&self, py: Python<'_>, path: PathBuf, about: &str) -> PyResult<()> {
        let save = || {
            let mut saved = self.model.saved()?;
            saved.contents.lists.insert(ABOUT.into(), about.bytes().map(u64::from).collect());
            saved.write(&path)
        };
        py.detach(save).or_raise()
    }

    /// Reads a model of any kind, and the remark.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Self, String)> {
        let load = || {
            let saved = SavedModel::read(&path)?;
            let about = saved.list(ABOUT).unwrap_or_default().iter().map(|&byte| byte as u8).collect();
            let about = String::from_utf8(about).map_err(|_| saved.damaged("its remark is no text"))?;
            Ok((Fitted::restored(&saved)?, about))
        };
        py.detach(|| load().map_err(|error: lhs::Error| error.in_file(&path))).or_raise()
    }

    /// The file's bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("model.lhs");
            self.model.save(&path).map_err(std::io::Error::other)?;
            std::fs::read(path)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from a file's bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, contents: &[u8]) -> PyResult<Self> {
        let read = || {
            let folder = tempfile::tempdir().map_err(lhs::Error::io("create", "a temporary folder"))?;
            let path = folder.path().join("model.lhs");
            std::fs::write(&path, contents).map_err(lhs::Error::io("write", &path))?;
            Fitted::restored(&SavedModel::read(&path)?)
        };
        py.detach(read).or_raise()
    }
}

/// Settings over the defaults of a model, each checked.
pub fn complete(kind: &models::ModelKind, settings: &str) -> PyResult<Table> {
    settings::layered(kind, &[Layer::from_table(json::read(settings)?)]).or_raise()
}

/// All settings of a model, with these over its defaults; unknown ones are refused with the nearest name.
#[pyfunction]
fn model_settings(name: &str, given: &str) -> PyResult<String> {
    let kind = models::kind(name).or_raise()?;
    let settings = complete(kind, given)?;
    (kind.build)(&settings).or_raise()?;
    json::write(&settings)
}

/// Every model: name, summary, and what there is to know before it is chosen.
#[pyfunction]
fn models_known() -> PyResult<String> {
    let kinds = models::kinds().iter();
    let about = kinds.map(|kind| {
        json!({
            "name": kind.name,
            "summary": kind.summary,
            "transductive": kind.transductive,
            "reads_direction": kind.reads_direction,
            "settings": settings::defaults(kind),
        })
    });
    json::write(&about.collect::<Vec<_>>())
}

/// The settings that a search found for a model on this very data, as the command line takes them; nothing where there are none.
#[pyfunction]
fn found(data: &Data, name: &str) -> PyResult<String> {
    let kind = models::kind(name).or_raise()?;
    let layer = found_settings::layer(&data.dataset.own_origin(), kind, Search::Widest).or_raise()?;
    let settings = match &layer {
        Some((layer, _)) => settings::layered(kind, std::slice::from_ref(layer)).or_raise()?,
        None => settings::defaults(kind),
    };
    json::write(&settings::changed(kind, &settings))
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(model_settings, module)?)?;
    module.add_function(wrap_pyfunction!(models_known, module)?)?;
    module.add_function(wrap_pyfunction!(found, module)?)
}
