//! What a dataset that lhs wrote knows of itself beyond tables and arrays: what it is a copy of, and how its features came to be.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::atomic;
use crate::error::{Error, Result};
use crate::graph::content::features_sha256;
use crate::graph::preparation::Preparation;
use crate::graph::{Dataset, DatasetParts, Features, Origin};

/// Its name in a folder of tables.
pub(super) const FILE: &str = "dataset.json";

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Marker {
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// The class that is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    positive_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<Preparation>,
    /// SHA-256 of the prepared features: if somebody changed them, they are raw again.
    features_sha256: String,
    /// Whether a column of the labels holds times.
    pub times: bool,
    /// Whether a column of the labels holds groups.
    pub groups: bool,
}

impl Marker {
    /// What should be remembered of a dataset, if anything.
    pub fn of(dataset: &Dataset) -> Option<Self> {
        let details = dataset.details();
        let class = details.positive_class.map(|class| dataset.labels().names()[class as usize].clone());
        let marker = Marker {
            origin: details.origin.clone(),
            positive_class: class,
            preparation: details.preparation.clone(),
            features_sha256: details
                .preparation
                .as_ref()
                .map_or_else(String::new, |_| features_sha256(dataset.features())),
            times: details.times.is_some(),
            groups: details.groups.is_some(),
        };
        (marker != Marker::default()).then_some(marker)
    }

    /// Whether features are those that were prepared.
    pub fn holds_for(&self, features: &Features) -> bool {
        self.preparation.is_some() && self.features_sha256 == features_sha256(features)
    }

    /// A dataset with what is remembered of it.
    pub fn complete(&self, dataset: Dataset) -> Result<Dataset> {
        let holds = self.holds_for(dataset.features());
        let warnings = dataset.warnings().to_vec();
        let mut parts: DatasetParts = dataset.into_parts();
        parts.details.origin = self.origin.clone();
        if holds {
            parts.details.preparation = self.preparation.clone();
        }
        if let Some(name) = &self.positive_class {
            let place = parts.labels.names().iter().position(|own| own == name);
            parts.details.positive_class = place.map(|place| place as u32);
        }
        let dataset = Dataset::new(parts)?;
        let known = dataset.warnings().to_vec();
        Ok(dataset.with_notes(warnings.into_iter().filter(|warning| !known.contains(warning))))
    }

    /// As text.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::data(error.to_string(), ""))
    }

    /// From text.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            Error::data(
                format!("what lhs noted about the data cannot be read: {error}"),
                "write the data again",
            )
        })
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        atomic::write_bytes(&folder.join(FILE), self.to_json()?.as_bytes())
    }
}

/// The marker in a folder, if there is one.
pub(super) fn beside(folder: &Path) -> Result<Option<Marker>> {
    let path = folder.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Marker::from_json(&text).map(Some).map_err(|error| error.in_file(&path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}
