//! A fitted model as one file, and back.
//!
//! The file is in the safetensors format: matrices and lists of whole numbers by name, and beside them, as JSON in the
//! header, which model it is, its settings and what else it remembers. Nothing in it is executed when it is read.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Table;

use super::{ModelInfo, NodeClassifier, settings};
use crate::error::{Error, Result};
use crate::io::tensors::{self, Contents};

/// The layout of the file. A change that old code cannot read adds one.
const FORMAT: u64 = 2;

/// Everything that a model needs to predict the same again.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// Name of the model.
    pub model: String,
    /// Its settings, complete.
    pub settings: Table,
    /// What it remembers beside matrices: sizes, choices, figures.
    pub state: Value,
    /// What it learned, and lists of whole numbers with one entry per node.
    pub contents: Contents,
}

/// What the header says.
#[derive(Serialize, Deserialize)]
struct Header {
    format: u64,
    lhs_version: String,
    model: String,
    settings: Table,
    state: Value,
}

impl SavedModel {
    /// A model with its settings, what it remembers and what it learned.
    pub fn new<M: ModelInfo>(
        model: &M,
        state: &impl Serialize,
        contents: impl Into<Contents>,
    ) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::data(format!("cannot be saved: {error}"), "");
        Ok(SavedModel {
            model: M::NAME.into(),
            settings: Table::try_from(model).map_err(|error| failed(&error))?,
            state: serde_json::to_value(state).map_err(|error| failed(&error))?,
            contents: contents.into(),
        })
    }

    /// The settings as their type, if this is the model.
    pub fn settings<M: ModelInfo>(&self) -> Result<M> {
        if self.model != M::NAME {
            return Err(Error::data(
                format!("this is a model of the kind `{}`, not `{}`", self.model, M::NAME),
                "load it as what it is",
            ));
        }
        settings::read(&self.settings)
    }

    /// What the model remembers, as its type.
    pub fn state<S: DeserializeOwned>(&self) -> Result<S> {
        serde_json::from_value(self.state.clone()).map_err(|error| self.damaged(&error.to_string()))
    }

    /// A matrix by its name.
    pub fn tensor(&self, name: &str) -> Result<&crate::linalg::Mat> {
        self.contents.tensors.get(name).ok_or_else(|| self.damaged(&format!("there is no tensor `{name}`")))
    }

    /// A list of whole numbers by its name.
    pub fn list(&self, name: &str) -> Result<&[u64]> {
        let found = self.contents.lists.get(name).map(Vec::as_slice);
        found.ok_or_else(|| self.damaged(&format!("there is no list `{name}`")))
    }

    /// The error of a file that does not hold what it should.
    pub fn damaged(&self, problem: &str) -> Error {
        Error::data(format!("the saved {} is damaged: {problem}", self.model), "train it again")
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let header = Header {
            format: FORMAT,
            lhs_version: env!("CARGO_PKG_VERSION").into(),
            model: self.model.clone(),
            settings: self.settings.clone(),
            state: self.state.clone(),
        };
        let header = serde_json::to_value(header).map_err(|error| Error::data(error.to_string(), ""))?;
        tensors::write(path, &self.contents, &header)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let (contents, header) = tensors::read(path)?;
        if header["format"].as_u64() != Some(FORMAT) {
            return Err(Error::input(
                path,
                "",
                "this is not a model that this version of lhs has saved",
                format!("give a file of format {FORMAT}, or train again"),
            ));
        }
        let Header { model, settings, state, .. } = serde_json::from_value(header)
            .map_err(|error| Error::input(path, "header", error.to_string(), "train again"))?;
        Ok(SavedModel { model, settings, state, contents })
    }
}

/// What the shapes of a network's first and last layer follow from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Widths {
    pub(super) features: usize,
    pub(super) classes: usize,
}

/// A fitted type that can be read back from its file.
pub trait FittedModel: NodeClassifier + Sized {
    /// From all that was saved of it.
    fn restore(saved: &SavedModel) -> Result<Self>;

    /// Reads a file that [`Save::save`] wrote. [`super::load`] reads one of any model.
    fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::restore(&SavedModel::read(path)?).map_err(|error| error.in_file(path))
    }
}

/// Writing a fitted model to a file, in one call.
pub trait Save {
    /// Writes the file, whole or not at all.
    fn save(&self, path: impl AsRef<Path>) -> Result<()>;
}

impl<M: NodeClassifier + ?Sized> Save for M {
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.saved()?.write(path.as_ref())
    }
}
