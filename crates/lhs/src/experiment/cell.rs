//! A cell: one number to find, what was found, and what it depends on.

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::attacks::Record;
use crate::cluster::Fit;
use crate::metrics::{ClassScores, Scores};
use crate::training::EpochRecord;

/// What a cell is, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellId {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// Name of the variant; none for the model as it is.
    pub variant: Option<String>,
    /// Number of the split.
    pub split: usize,
    /// The seed.
    pub seed: u64,
    /// The attack; none on clean data.
    pub attack: Option<AttackId>,
    /// Whether the test nodes and their edges were not there in training; not so in results of earlier builds.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inductive: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Which attack on which occasion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttackId {
    /// Its name.
    pub name: String,
    /// How strong it is.
    pub rate: f64,
    /// Whether it came before training.
    pub poisoning: bool,
    /// Which of the repeats.
    pub repeat: u64,
}

impl CellId {
    /// The same model on the same data before an attack after training; itself, if its training was attacked.
    pub(super) fn trained(&self) -> CellId {
        let poisoned = |attack: &AttackId| attack.poisoning;
        CellId { attack: self.attack.clone().filter(poisoned), ..self.clone() }
    }

    /// What the data went through: `clean`, `injected 1`, `injected 1, inductive`, `metattack 0.25 before training`.
    pub fn state(&self) -> String {
        let inductive = if self.inductive { ", inductive" } else { "" };
        match &self.attack {
            None => format!("clean{inductive}"),
            Some(AttackId { name, rate, poisoning, .. }) => {
                format!("{name} {rate}{}{inductive}", if *poisoning { " before training" } else { "" })
            }
        }
    }

    /// The model, with the variant if it is one.
    pub fn method(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}, {variant}", self.model),
            None => self.model.clone(),
        }
    }
}

/// One number to find.
pub struct Cell {
    /// What it is.
    pub id: CellId,
    /// A hash of everything that its result depends on.
    pub key: String,
    /// Place of its attack among those of the plan.
    pub attack: Option<usize>,
}

/// A cell that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// A hash of everything that it depends on.
    pub key: String,
    /// What it is.
    #[serde(flatten)]
    pub id: CellId,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// The settings of the model that differ from its defaults.
    #[serde(default)]
    pub settings: Table,
    /// SHA-256 of all its settings.
    pub settings_sha256: String,
    /// The version that found it.
    pub lhs_version: String,
    /// What was found, unless it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Measured>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was found in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// How good the answers are, in percent.
    #[serde(flatten)]
    pub scores: Scores,
    /// Time to train the model, interrupted sittings included; other cells may share it.
    pub train_seconds: f64,
    /// Epochs of all its stages.
    pub epochs: usize,
    /// The most memory that the process had needed until then.
    pub peak_memory_bytes: Option<u64>,
    /// What the model decided from the training labels, in a few sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// The same in all detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
    /// What the attack did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack: Option<Record>,
    /// The class that is looked for, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive_class: Option<String>,
    /// From which probability on a node was taken for that class; none where the likelier class won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Each class by itself, at the test nodes; not in results of earlier builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassScores>,
    /// How well clusters fit the classes, if that is what was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Fit>,
    /// How training went, in some of its epochs; kept for the first split of a suite, on clean data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<EpochRecord>,
    /// How heterophilic the parts are: `given`, `round 0`, … by part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heterophily: Vec<Heterophily>,
}

/// The heterophily of the nodes of a part in a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heterophily {
    /// `given`, or `round 0` and so on.
    pub graph: String,
    /// `train`, `val` or `test`.
    pub part: String,
    /// Their mean; none where nobody has neighbours with a label.
    pub mean: Option<f64>,
    /// How much farther to the right the mean lies than that of the training nodes in the clean given graph.
    pub mean_shift: Option<f64>,
    /// How many nodes fall into each of equal bins over [0, 1].
    pub histogram: Vec<usize>,
}
