//! What a certificate says in figures, as it is kept and shown.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::error::{Error, Result};

/// The figures, within the folder of a certificate.
const RECORD: &str = "certificate.json";
/// The predictions with their radii, within the folder of a split.
const PREDICTIONS: &str = "predictions.csv";

/// Shares of the labelled test nodes, in percent; empty, or none, where no test node has a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Right by the vote.
    pub vote_accuracy: Option<f64>,
    /// Right, and so after any change of so many edges: at radius 0, 1, 2, …, each node for itself.
    pub certified_accuracy: Vec<f64>,
    /// The least share that is right after any change of so many edges, the same change for all nodes.
    pub collective_accuracy: Vec<f64>,
    /// From this radius on the collective figures are only the sum of the single ones; none where all are exact.
    pub collective_inexact_from: Option<usize>,
    /// What a perceptron gets right, which no edge can change: its line, at every radius.
    pub mlp_accuracy: Option<f64>,
}

impl Curves {
    /// Of a certificate, over some nodes and their classes.
    pub fn of(certificate: &Certificate, nodes: &[(u32, u32)]) -> Self {
        if nodes.is_empty() {
            return Curves::default();
        }
        let percent = |count: usize| 100.0 * count as f64 / nodes.len() as f64;
        let votes = &certificate.votes;
        let radii = 0..=votes.largest_radius();
        let together: Vec<_> = radii.clone().map(|radius| votes.collective(nodes, radius)).collect();
        let by_mlp = nodes.iter().filter(|(node, class)| certificate.mlp[*node as usize] == *class).count();
        Curves {
            vote_accuracy: Some(percent(votes.certified(nodes, 0))),
            certified_accuracy: radii.map(|radius| percent(votes.certified(nodes, radius))).collect(),
            collective_accuracy: together.iter().map(|stand| percent(stand.nodes)).collect(),
            collective_inexact_from: together.iter().position(|stand| !stand.exact),
            mlp_accuracy: Some(percent(by_mlp)),
        }
    }

    /// The means of several, where they are known.
    pub fn mean(all: &[&Curves]) -> Self {
        let known: Vec<&&Curves> = all.iter().filter(|curves| curves.vote_accuracy.is_some()).collect();
        let mean = |of: &dyn Fn(&Curves) -> f64| {
            known.iter().map(|curves| of(curves)).sum::<f64>() / known.len() as f64
        };
        let Some(first) = known.first() else { return Curves::default() };
        let radii = 0..first.certified_accuracy.len();
        Curves {
            vote_accuracy: Some(mean(&|curves| curves.vote_accuracy.unwrap_or_default())),
            certified_accuracy: radii.clone().map(|r| mean(&|curves| curves.certified_accuracy[r])).collect(),
            collective_accuracy: radii.map(|r| mean(&|curves| curves.collective_accuracy[r])).collect(),
            collective_inexact_from: known.iter().filter_map(|curves| curves.collective_inexact_from).min(),
            mlp_accuracy: Some(mean(&|curves| curves.mlp_accuracy.unwrap_or_default())),
        }
    }

    /// The largest radius at which more is certified than the perceptron's line; none where it is never above.
    pub fn above_mlp_until(&self) -> Option<usize> {
        let line = self.mlp_accuracy?;
        self.certified_accuracy.iter().take_while(|accuracy| **accuracy > line).count().checked_sub(1)
    }
}

/// The curves of one split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SplitCurves {
    /// Its number.
    pub split: usize,
    /// Its figures.
    #[serde(flatten)]
    pub curves: Curves,
    /// How long training and voting took.
    pub seconds: f64,
}

/// A certificate as `certificate.json` keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CertificateRecord {
    /// The data.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// Whether the training graph may be changed, too; otherwise only the one that is predicted on.
    pub poisoning: bool,
    /// How many buckets.
    pub buckets: usize,
    /// The seed of the buckets and of training.
    pub seed: u64,
    /// Means over the splits.
    #[serde(flatten)]
    pub curves: Curves,
    /// Split by split.
    pub per_split: Vec<SplitCurves>,
    /// How long everything took.
    pub seconds: f64,
}

impl CertificateRecord {
    /// Where a folder keeps the figures.
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(RECORD)
    }

    /// Where a folder keeps the predictions of a split, with their radii.
    pub fn predictions(folder: &Path, split: usize) -> PathBuf {
        folder.join(format!("split-{split}")).join(PREDICTIONS)
    }

    /// The figures that a folder keeps; none where it has no certificate.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let file = Self::file(folder);
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let damaged = |error: serde_json::Error| Error::input(&file, "", error.to_string(), "certify again");
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }
}

/// What a table of predictions certifies about one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CertifiedNode {
    /// The class with the most votes.
    pub prediction: String,
    /// Up to so many edges, changed anywhere, leave it as it is.
    pub radius: usize,
}

impl CertifiedNode {
    /// Finds a node, by its id, in a table of predictions with radii.
    pub fn find(table: &Path, id: &str) -> Result<Self> {
        let damaged = |problem: String| Error::input(table, "", problem, "certify again");
        let mut rows = csv::Reader::from_path(table).map_err(|error| damaged(error.to_string()))?;
        let header = rows.headers().map_err(|error| damaged(error.to_string()))?.clone();
        let column = |name: &str| {
            let place = header.iter().position(|own| own == name);
            place.ok_or_else(|| damaged(format!("there is no column `{name}`")))
        };
        // Classes may be called anything: the first three columns are the table's own, and the last one.
        let (node, prediction, radius) = (column("node")?, column("prediction")?, header.len() - 1);
        for row in rows.records() {
            let row = row.map_err(|error| damaged(error.to_string()))?;
            if row.get(node) == Some(id) {
                let radius = row.get(radius).and_then(|text| text.parse().ok());
                return Ok(CertifiedNode {
                    prediction: row.get(prediction).unwrap_or_default().to_string(),
                    radius: radius.ok_or_else(|| damaged("there is no column `radius`".into()))?,
                });
            }
        }
        Err(Error::input(
            table,
            "",
            format!("there is no node `{id}`"),
            "certify the data that has this node",
        ))
    }
}
