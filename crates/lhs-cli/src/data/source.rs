//! Which dataset a command reads.

use std::path::PathBuf;

use crate::output::Global;
use lhs::error::{Error, Result};
use lhs::graph::Dataset;
use lhs::io;
use lhs::io::tables::{self, TableFiles};

/// A dataset by its path or name, or by its tables one by one.
#[derive(Debug, clap::Args)]
pub struct SourceArgs {
    /// An .npz file, a folder of tables (edges.csv, features.csv, labels.csv, splits.csv), a table of edges,
    /// a Geom-GCN folder, a Planetoid prefix, or the name of a fetched graph
    #[arg(value_name = "DATA", required_unless_present = "edges")]
    data: Option<PathBuf>,
    /// Table of edges: source,target and optionally weight; beside DATA, in place of its edges
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
    /// Table of features: node,f1,f2,… or node,column,value
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    features: Option<PathBuf>,
    /// Table of labels: node,label
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    labels: Option<PathBuf>,
    /// Table of fixed splits: split,node,part
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    split_table: Option<PathBuf>,
    /// Keep the direction of the edges
    #[arg(long)]
    directed: bool,
}

impl SourceArgs {
    /// Reads the dataset.
    pub fn load(&self, global: &Global) -> Result<Dataset> {
        let options = global.load_options(self.directed);
        match (&self.data, &self.edges) {
            (Some(data), None) => io::load(data, &options),
            (Some(data), Some(edges)) => tables::with_edges(io::load(data, &options)?, edges, &options),
            (None, Some(edges)) => {
                let files = TableFiles {
                    edges: edges.clone(),
                    features: self.features.clone(),
                    labels: self.labels.clone(),
                    splits: self.split_table.clone(),
                };
                tables::read_files(&files, &options)
            }
            (None, None) => Err(Error::data("no dataset was named", "give DATA or --edges FILE")),
        }
    }
}
