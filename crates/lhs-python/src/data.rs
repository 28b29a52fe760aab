//! A graph with what is known of its nodes, checked once, when it is made.

use std::sync::Arc;

use lhs::graph::{Dataset, DatasetParts, Details, Features, Graph, Labels, Split};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{self, Csr, CsrIn};
use crate::errors::OrRaise;

/// Training, validation and test nodes.
pub type Parts = (Vec<i64>, Vec<i64>, Vec<i64>);

/// A dataset of the library. Nothing of it changes.
#[pyclass(frozen, module = "lhs_graph._lhs")]
pub struct Data {
    pub dataset: Arc<Dataset>,
}

impl From<Dataset> for Data {
    fn from(dataset: Dataset) -> Self {
        Data { dataset: Arc::new(dataset) }
    }
}

/// A split of nodes that may stand in any order; one named twice counts once.
pub fn split((train, val, test): Parts, num_nodes: usize) -> PyResult<Split> {
    let part = |name: &str, nodes: Vec<i64>| {
        let number = |node: i64| {
            u32::try_from(node).map_err(|_| {
                lhs::Error::data(
                    format!("{name} node {node} out of range (num_nodes = {num_nodes})"),
                    "splits name nodes by their number, starting at 0",
                )
            })
        };
        let mut nodes = nodes.into_iter().map(number).collect::<lhs::Result<Vec<u32>>>().or_raise()?;
        nodes.sort_unstable();
        nodes.dedup();
        PyResult::Ok(nodes)
    };
    Ok(Split { train: part("train", train)?, val: part("val", val)?, test: part("test", test)? })
}

/// Classes by number, -1 being unknown, and their names.
fn labels(codes: &[i64], names: Vec<String>) -> lhs::Result<Labels> {
    Labels::new(codes.iter().map(|&code| u32::try_from(code).ok()).collect(), names)
}

#[pymethods]
impl Data {
    #[new]
    #[pyo3(signature = (name, num_nodes, sources, targets, *, weights=None, directed=false, dense=None, sparse=None, labels=None, node_ids=None, feature_names=None))]
    #[expect(clippy::too_many_arguments, reason = "these are keywords")]
    fn new(
        py: Python<'_>,
        name: String,
        num_nodes: usize,
        sources: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        directed: bool,
        dense: Option<PyReadonlyArray2<'_, f32>>,
        sparse: Option<CsrIn<'_>>,
        labels: Option<(PyReadonlyArray1<'_, i64>, Vec<String>)>,
        node_ids: Option<Vec<String>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let features = match (&dense, &sparse) {
            (Some(dense), _) => arrays::dense(dense)?,
            (None, Some(sparse)) => arrays::sparse(sparse)?,
            (None, None) => Features::none(num_nodes),
        };
        let (sources, targets) = (arrays::entries(&sources)?, arrays::entries(&targets)?);
        let weights = weights.as_ref().map(arrays::entries).transpose()?;
        let labels = match &labels {
            Some((codes, names)) => self::labels(arrays::entries(codes)?, names.clone()),
            None => Labels::new(vec![None; num_nodes], Vec::new()),
        };
        let build = || {
            let pairs = arrays::pairs(sources, targets, num_nodes)?;
            let (graph, repairs) = Graph::build(num_nodes, &pairs, weights, directed)?;
            let details = Details { feature_names, ..Details::default() };
            let (labels, splits) = (labels?, Vec::new());
            Dataset::new(DatasetParts { name, graph, repairs, features, labels, node_ids, splits, details })
        };
        py.detach(build).or_raise().map(Data::from)
    }

    /// The same with other classes.
    fn with_labels(&self, codes: PyReadonlyArray1<'_, i64>, names: Vec<String>) -> PyResult<Self> {
        let labels = labels(arrays::entries(&codes)?, names).or_raise()?;
        let mut parts = self.dataset.as_ref().clone().into_parts();
        (parts.labels, parts.splits) = (labels, Vec::new());
        Dataset::new(parts).or_raise().map(Data::from)
    }

    /// The same with other splits.
    fn with_splits(&self, splits: Vec<Parts>) -> PyResult<Self> {
        let num_nodes = self.dataset.num_nodes();
        let splits = splits.into_iter().map(|parts| split(parts, num_nodes)).collect::<PyResult<Vec<_>>>()?;
        self.dataset.as_ref().clone().with_splits(splits).or_raise().map(Data::from)
    }

    #[getter]
    fn name(&self) -> &str {
        self.dataset.name()
    }

    #[getter]
    fn num_nodes(&self) -> usize {
        self.dataset.num_nodes()
    }

    #[getter]
    fn num_edges(&self) -> usize {
        self.dataset.graph().num_edges()
    }

    #[getter]
    fn num_features(&self) -> usize {
        self.dataset.features().dim()
    }

    #[getter]
    fn directed(&self) -> bool {
        self.dataset.graph().is_directed()
    }

    #[getter]
    fn weighted(&self) -> bool {
        self.dataset.graph().weights().is_some()
    }

    #[getter]
    fn node_ids(&self) -> Option<Vec<String>> {
        self.dataset.node_ids().map(<[String]>::to_vec)
    }

    #[getter]
    fn class_names(&self) -> Vec<String> {
        self.dataset.labels().names().to_vec()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.dataset.feature_names().map(<[String]>::to_vec)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.dataset.warnings().to_vec()
    }

    /// The class of each node by its number; -1 where it is not known.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let labels = self.dataset.labels();
        PyArray1::from_iter(py, (0..labels.len()).map(|node| labels.get(node).map_or(-1, i64::from)))
    }

    /// The splits that came with the data.
    fn splits(&self) -> Vec<(Vec<u32>, Vec<u32>, Vec<u32>)> {
        let splits = self.dataset.splits().iter();
        splits.map(|split| (split.train.clone(), split.val.clone(), split.test.clone())).collect()
    }

    /// The adjacency matrix: both directions of every undirected edge.
    fn adjacency<'py>(&self, py: Python<'py>) -> Csr<'py> {
        arrays::adjacency(py, self.dataset.graph())
    }

    /// The features: a matrix, or a sparse one in its parts.
    fn features(this: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let (py, owner) = (this.py(), this.clone().into_any());
        Ok(match this.get().dataset.features() {
            Features::Dense(mat) => arrays::borrowed_matrix(mat, owner)?.into_any().unbind(),
            Features::Sparse(mat) => {
                let (bounds, columns, _) = arrays::csr(py, &mat.pattern, Vec::new());
                let values = arrays::borrowed(&mat.values, owner)?;
                (bounds, columns, values).into_pyobject(py)?.into_any().unbind()
            }
        })
    }
}
