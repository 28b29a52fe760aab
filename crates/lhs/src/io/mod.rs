//! Datasets in and out: one file per format, each with `read` and, where it makes sense, `write`;
//! and graphs out to [other tools](export).

pub mod atomic;
mod attributed;
pub mod cache;
mod edge_list;
pub mod export;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod geom_gcn;
pub mod gexf;
pub mod graphml;
mod marker;
pub mod matrix_market;
mod missing;
pub mod node_link;
pub mod npy;
pub mod npz;
pub mod ogb;
mod open;
#[cfg(feature = "parquet")]
pub mod parquet;
mod pickle;
pub mod planetoid;
mod recognise;
pub mod tables;
pub mod tensors;
mod xml;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::preparation::{Preparation, PreparationConfig, Scale};
use crate::graph::{Dataset, DatasetParts, Details, Features, preparation};
use recognise::{Kind, recognise};
use tables::TableFiles;

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Keep the direction of the edges, where the format has one.
    pub directed: bool,
    /// Whether the first row of tables names the columns; if not said, it is decided by comparing it with the rest.
    pub header: Option<bool>,
    /// What becomes of the weights of edges that a table repeats.
    pub repeated_edges: tables::RepeatedEdges,
    /// What the columns of tables are called.
    pub columns: tables::ColumnNames,
    /// What becomes of gaps, words and numbers.
    pub prepare: PreparationConfig,
    /// What was done to the columns that a model learned from, to be repeated.
    pub preparation: Option<Preparation>,
    /// How many feature columns there are at least, where columns have numbers and zeros are left out.
    pub feature_columns: Option<usize>,
}

impl LoadOptions {
    /// With the direction of the edges, where the format has one.
    pub fn directed(directed: bool) -> Self {
        LoadOptions { directed, ..LoadOptions::default() }
    }

    /// With the numbers of features as they stand in the file.
    pub fn as_is(directed: bool) -> Self {
        let prepare = PreparationConfig { scale: Scale::None, ..PreparationConfig::default() };
        LoadOptions { directed, prepare, ..LoadOptions::default() }
    }
}

/// Where a dataset is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// Tables, one by one.
    Tables(TableFiles),
    /// A dataset with the edges of a table instead of its own.
    WithEdges {
        /// The dataset.
        data: PathBuf,
        /// The table.
        edges_from: PathBuf,
    },
    /// A file, a folder, or the name of a fetched graph.
    Data(PathBuf),
}

impl Source {
    /// Reads the dataset.
    pub fn load(&self, options: &LoadOptions) -> Result<Dataset> {
        match self {
            Source::Data(data) => load(data, options),
            Source::WithEdges { data, edges_from } => {
                tables::with_edges(load(data, options)?, edges_from, options)
            }
            Source::Tables(files) => tables::read_files(files, options),
        }
    }

    /// The file or folder that names it.
    pub fn path(&self) -> &Path {
        match self {
            Source::Data(path) | Source::WithEdges { data: path, .. } => path,
            Source::Tables(files) => &files.edges,
        }
    }

    /// All files and folders that it names.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Source::Data(path) => vec![path],
            Source::WithEdges { data, edges_from } => vec![data, edges_from],
            Source::Tables(TableFiles { edges, features, labels, splits }) => {
                let others = [features, labels, splits].into_iter().flatten();
                std::iter::once(edges).chain(others).map(PathBuf::as_path).collect()
            }
        }
    }

    /// The same with paths that are found from everywhere. A bare name stays: it means a fetched graph wherever one stands.
    pub fn absolute(&self) -> Self {
        let absolute = |path: &PathBuf| {
            let is_path = path.exists() || path.components().count() > 1;
            std::path::absolute(path).ok().filter(|_| is_path).unwrap_or_else(|| path.clone())
        };
        match self {
            Source::Data(path) => Source::Data(absolute(path)),
            Source::WithEdges { data, edges_from } => {
                Source::WithEdges { data: absolute(data), edges_from: absolute(edges_from) }
            }
            Source::Tables(TableFiles { edges, features, labels, splits }) => Source::Tables(TableFiles {
                edges: absolute(edges),
                features: features.as_ref().map(absolute),
                labels: labels.as_ref().map(absolute),
                splits: splits.as_ref().map(absolute),
            }),
        }
    }
}

/// Loads a dataset from a file, a folder, or the name of a fetched graph.
///
/// A file is recognised by its content, whatever it is called:
///
/// - a NumPy archive: [`npz`];
/// - [`graphml`], [`gexf`], [`matrix_market`], [`node_link`] JSON, gzipped or not;
/// - text that is none of these: a table of edges, [`tables`].
///
/// A folder is one with `out1_graph_edges.txt` ([`geom_gcn`]), with `edges.csv` or `.tsv` ([`tables`]), or with `raw/edge.csv.gz`
/// ([`ogb`]). `FOLDER/ind.NAME` where `FOLDER/ind.NAME.graph` exists is [`planetoid`]. A bare name such as `cora` is looked up among the
/// fetched graphs, see [`cache`].
pub fn load(source: impl AsRef<Path>, options: &LoadOptions) -> Result<Dataset> {
    let source = source.as_ref();
    if source.is_file() {
        return load_file(source, options);
    }
    if geom_gcn::is_here(source) {
        return geom_gcn::read(source, options);
    }
    if tables::is_here(source) {
        return tables::read(source, options);
    }
    if ogb::is_here(source) {
        return ogb::read(source, options);
    }
    if planetoid::is_here(source) {
        return planetoid::read(source, options);
    }
    if let Some(file) = cache::fetched(source) {
        return npz::read(&file, options);
    }
    Err(missing::error(source))
}

fn load_file(file: &Path, options: &LoadOptions) -> Result<Dataset> {
    let kind = recognise(file)?;
    let prepared = |dataset: Result<Dataset>| {
        dataset.and_then(|dataset| prepare_dataset(dataset, options)).map_err(|error| error.in_file(file))
    };
    match kind {
        Kind::Npz => prepared(npz::read(file, options)),
        Kind::GraphMl => prepared(graphml::read(file, options)),
        Kind::Gexf => prepared(gexf::read(file, options)),
        Kind::MatrixMarket => matrix_market::read(file, options),
        Kind::NodeLink => prepared(node_link::read(file, options)),
        Kind::Text | Kind::Gzip | Kind::Json | Kind::Parquet => tables::read(file, options),
        _ => Err(kind.refuse(file).unwrap_or_else(|| {
            Error::input(
                file,
                "",
                "this is no graph that can be read",
                "give a table of edges as CSV, JSON lines or Parquet",
            )
        })),
    }
}

/// The same for a whole dataset.
fn prepare_dataset(dataset: Dataset, options: &LoadOptions) -> Result<Dataset> {
    if dataset.preparation().is_some() || dataset.features().dim() == 0 {
        return Ok(dataset);
    }
    let warnings = dataset.warnings().to_vec();
    let mut notes = Vec::new();
    let mut parts: DatasetParts = dataset.into_parts();
    parts.features = prepare(parts.features, &mut parts.details, options, &mut notes)?;
    let dataset = Dataset::new(parts)?;
    let known = dataset.warnings().to_vec();
    let warnings = warnings.into_iter().filter(|warning| !known.contains(warning));
    Ok(dataset.with_notes(warnings.chain(notes)))
}

/// Fills gaps and scales numbers of features that did not come from a table, as asked, unless that was done before.
fn prepare(
    features: Features,
    details: &mut Details,
    options: &LoadOptions,
    notes: &mut Vec<String>,
) -> Result<Features> {
    if details.preparation.is_some() || features.dim() == 0 {
        return Ok(features);
    }
    let names = details.feature_names.clone();
    let names = names.unwrap_or_else(|| (0..features.dim()).map(|column| column.to_string()).collect());
    if let Some(given) = &options.preparation {
        let prepared = match &features {
            Features::Dense(mat) => given.apply(mat, &names)?,
            Features::Sparse(mat) => given.apply(&mat.to_dense(), &names)?,
        };
        let prepared = Features::from_dense(prepared);
        details.feature_names = Some(given.feature_names());
        details.preparation = Some(given.clone());
        return Ok(prepared);
    }
    let Some((prepared, fitted)) = preparation::prepare_matrix(&features, &names, &options.prepare)? else {
        return Ok(features);
    };
    notes.extend(fitted.notes);
    details.feature_names = Some(fitted.preparation.feature_names());
    details.preparation = Some(fitted.preparation);
    Ok(prepared)
}
