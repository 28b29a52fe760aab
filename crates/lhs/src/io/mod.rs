//! Datasets in and out: one file per format, each with `read` and, where it makes sense, `write`;
//! and graphs out to [other tools](export).

pub mod atomic;
pub mod cache;
pub mod export;
#[cfg(feature = "fetch")]
pub mod fetch;
pub mod geom_gcn;
pub mod npy;
pub mod npz;
mod pickle;
pub mod planetoid;
pub mod tables;
pub mod tensors;

use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Dataset;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions {
    /// Keep the direction of the edges, where the format has one.
    pub directed: bool,
    /// Whether the first row of tables names the columns; if not said, it is decided by comparing it with the rest.
    pub header: Option<bool>,
    /// What becomes of the weights of edges that a table repeats.
    pub repeated_edges: tables::RepeatedEdges,
}

impl LoadOptions {
    /// With the direction of the edges, where the format has one.
    pub fn directed(directed: bool) -> Self {
        LoadOptions { directed, ..LoadOptions::default() }
    }
}

/// Loads a dataset from a file, a folder, or the name of a fetched graph.
///
/// - `*.npz`: [`npz`];
/// - a folder with `out1_graph_edges.txt`: [`geom_gcn`];
/// - a folder with `edges.csv` (or `.tsv`), or any `*.csv` or `*.tsv` of edges: [`tables`];
/// - `FOLDER/ind.NAME` where `FOLDER/ind.NAME.graph` exists: [`planetoid`];
/// - a bare name such as `cora`: looked up among the fetched graphs, see [`cache`].
pub fn load(source: impl AsRef<Path>, options: &LoadOptions) -> Result<Dataset> {
    let source = source.as_ref();
    if source.is_file() && !tables::is_here(source) {
        return npz::read(source, options);
    }
    if geom_gcn::is_here(source) {
        return geom_gcn::read(source, options);
    }
    if tables::is_here(source) {
        return tables::read(source, options);
    }
    if planetoid::is_here(source) {
        return planetoid::read(source, options);
    }
    if let Some(file) = cache::fetched(source) {
        return npz::read(&file, options);
    }
    let cache = cache::cache_folder().map_or_else(String::new, |folder| {
        format!(" (looked for here and among the fetched graphs in {})", folder.display())
    });
    Err(Error::input(
        source,
        "",
        format!("no such dataset{cache}"),
        "give an .npz file, a folder with edges.csv, a Geom-GCN folder, a Planetoid prefix such as data/ind.cora, or fetch \
         a public graph by its name first (lhs data fetch cora)",
    ))
}
