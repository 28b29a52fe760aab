//! A dataset that experiments run on, with what is remembered of where it came from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::{self, InputFile};
use crate::error::Result;
use crate::graph::Dataset;
use crate::io::tables::RepeatedEdges;
use crate::io::{self, LoadOptions};

/// A dataset, and which one it is.
pub struct Data {
    /// The dataset.
    pub dataset: Dataset,
    /// Which one it is.
    pub record: DataRecord,
}

/// Which data was learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// How the data is called.
    pub name: String,
    /// Where it was loaded from; nothing for data made in memory.
    pub path: PathBuf,
    /// Whether its nodes have ids of their own.
    #[serde(default)]
    pub has_ids: bool,
    /// Whether the direction of its edges was kept.
    pub directed: bool,
    /// Whether the first row of its tables names the columns, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What became of the weights of repeated edges.
    #[serde(default)]
    pub repeated_edges: RepeatedEdges,
    /// SHA-256 of what was read, see [`fingerprint::of_dataset`].
    pub sha256: String,
    /// The files it was read from.
    pub files: Vec<InputFile>,
    /// Names of the classes, by the numbers that models give them.
    pub classes: Vec<String>,
    /// How many nodes it has; not remembered by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_nodes: Option<usize>,
    /// How many edges it has; not remembered by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_edges: Option<usize>,
}

impl Data {
    /// Data that was made in memory.
    pub fn new(dataset: Dataset) -> Result<Self> {
        dataset.check_trainable()?;
        let record = DataRecord {
            name: dataset.name().to_string(),
            path: PathBuf::new(),
            has_ids: dataset.node_ids().is_some(),
            directed: dataset.graph().is_directed(),
            header: None,
            repeated_edges: RepeatedEdges::default(),
            sha256: fingerprint::of_dataset(&dataset),
            files: Vec::new(),
            classes: dataset.labels().names().to_vec(),
            num_nodes: Some(dataset.num_nodes()),
            num_edges: Some(dataset.graph().num_edges()),
        };
        Ok(Data { dataset, record })
    }

    /// Data that was read from somewhere.
    pub fn read_from(source: &Path, options: &LoadOptions, dataset: Dataset) -> Result<Self> {
        let mut data = Self::new(dataset)?;
        (data.record.header, data.record.repeated_edges) = (options.header, options.repeated_edges);
        // A bare name means a fetched graph wherever one stands; a path should still be found from elsewhere.
        let is_path = source.exists() || source.components().count() > 1;
        let absolute = std::path::absolute(source).ok().filter(|_| is_path);
        data.record.path = absolute.unwrap_or_else(|| source.to_path_buf());
        data.record.files = fingerprint::input_files(source)?;
        Ok(data)
    }

    /// Loads a file, a folder, or a fetched graph.
    pub fn load(source: &Path, options: &LoadOptions) -> Result<Self> {
        Self::read_from(source, options, io::load(source, options)?)
    }
}

impl DataRecord {
    /// How it was read.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions { directed: self.directed, header: self.header, repeated_edges: self.repeated_edges }
    }
}
