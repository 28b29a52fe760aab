//! A dataset that experiments run on, with what is remembered of where it came from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::{self, InputFile};
use crate::error::Result;
use crate::graph::preparation::{Preparation, PreparationConfig, Scale};
use crate::graph::{Dataset, Origin};
use crate::io::tables::{ColumnNames, RepeatedEdges};
use crate::io::{self, LoadOptions, Source};

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
    /// Its files, where one path does not name them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Whether the first row of its tables names the columns, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What became of the weights of repeated edges.
    #[serde(default)]
    pub repeated_edges: RepeatedEdges,
    /// What the columns of its tables are called, where that was said.
    #[serde(default)]
    pub columns: ColumnNames,
    /// What was to become of gaps, words and numbers.
    #[serde(default)]
    pub prepare: PreparationConfig,
    /// What became of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// Names of the feature columns, where they have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_names: Option<Vec<String>>,
    /// Number of feature columns.
    #[serde(default)]
    pub feature_columns: usize,
    /// The data whose settings suit this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
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
            source: None,
            header: None,
            repeated_edges: RepeatedEdges::default(),
            columns: ColumnNames::default(),
            prepare: PreparationConfig::default(),
            preparation: dataset.preparation().cloned(),
            feature_names: dataset.feature_names().map(<[String]>::to_vec),
            feature_columns: dataset.features().dim(),
            origin: Some(dataset.own_origin()),
            sha256: fingerprint::of_dataset(&dataset),
            files: Vec::new(),
            classes: dataset.labels().names().to_vec(),
            num_nodes: Some(dataset.num_nodes()),
            num_edges: Some(dataset.graph().num_edges()),
        };
        Ok(Data { dataset, record })
    }

    /// Data that was read from somewhere.
    pub fn read_from(source: &Source, options: &LoadOptions, dataset: Dataset) -> Result<Self> {
        let mut data = Self::new(dataset)?;
        let record = &mut data.record;
        (record.header, record.repeated_edges) = (options.header, options.repeated_edges);
        (record.columns, record.prepare) = (options.columns.clone(), options.prepare.clone());
        let absolute = source.absolute();
        record.path = absolute.path().to_path_buf();
        record.source = Some(absolute).filter(|source| !matches!(source, Source::Data(_)));
        for path in source.paths() {
            record.files.extend(fingerprint::input_files(path)?);
        }
        Ok(data)
    }

    /// The same with a class that is looked for.
    pub fn looking_for(self, class: u32) -> Self {
        Data { dataset: self.dataset.looking_for(class), ..self }
    }

    /// Loads a file, a folder, or a fetched graph.
    pub fn load(source: &Path, options: &LoadOptions) -> Result<Self> {
        Self::read_from(&Source::Data(source.to_path_buf()), options, io::load(source, options)?)
    }
}

impl DataRecord {
    /// Where it was read from.
    pub fn source(&self) -> Source {
        self.source.clone().unwrap_or_else(|| Source::Data(self.path.clone()))
    }

    /// How it was read.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            directed: self.directed,
            header: self.header,
            repeated_edges: self.repeated_edges,
            columns: self.columns.clone(),
            prepare: self.prepare.clone(),
            ..LoadOptions::default()
        }
    }

    /// How other data is read, so that a model that learned from this can predict on it.
    pub fn prediction_options(&self) -> LoadOptions {
        let own = self.load_options();
        // What was learned from as it stood is read as it stands.
        let scale = if self.preparation.is_some() { own.prepare.scale } else { Scale::None };
        LoadOptions {
            preparation: self.preparation.clone(),
            feature_columns: Some(self.feature_columns),
            prepare: PreparationConfig { scale, ..own.prepare },
            ..own
        }
    }
}
