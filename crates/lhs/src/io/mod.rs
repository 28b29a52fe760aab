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
pub mod matrix_market;
mod missing;
pub mod node_link;
pub mod npy;
pub mod npz;
pub mod ogb;
mod open;
mod pickle;
pub mod planetoid;
mod recognise;
pub mod tables;
pub mod tensors;
mod xml;

use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Dataset;
use recognise::{Kind, recognise};

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Keep the direction of the edges, where the format has one.
    pub directed: bool,
    /// Whether the first row of tables names the columns; if not said, it is decided by comparing it with the rest.
    pub header: Option<bool>,
    /// What becomes of the weights of edges that a table repeats.
    pub repeated_edges: tables::RepeatedEdges,
    /// The column or attribute that holds the classes; if not said, one that is called like it.
    pub label_column: Option<String>,
}

impl LoadOptions {
    /// With the direction of the edges, where the format has one.
    pub fn directed(directed: bool) -> Self {
        LoadOptions { directed, ..LoadOptions::default() }
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
    match kind {
        Kind::Npz => npz::read(file, options),
        Kind::GraphMl => graphml::read(file, options),
        Kind::Gexf => gexf::read(file, options),
        Kind::MatrixMarket => matrix_market::read(file, options),
        Kind::NodeLink => node_link::read(file, options),
        Kind::Text => tables::read(file, options),
        _ => Err(kind.refuse(file).unwrap_or_else(|| {
            Error::input(
                file,
                "",
                "this is not a table of edges in plain text",
                "give a table of edges as CSV",
            )
        })),
    }
}
