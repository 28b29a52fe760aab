//! Training runs side by side: their scores, what they cost, what differs in their settings, and whether one is better
//! than another on the same splits of the same data, or lucky.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::experiment::table::{FEWEST_PAIRS, Grid};
use crate::experiment::{CellRecord, Run};
use crate::metrics::Scores;
use crate::metrics::significance::paired_p_value;
use crate::metrics::statistics::{mean, std};

/// A column of the table: what it is called, and where it is found.
type Metric = (&'static str, fn(&Scores) -> Option<f64>);

/// What runs are compared by, in percent; the first is what differences are taken of.
const METRICS: [Metric; 6] = [
    ("test_accuracy", |scores| scores.test_accuracy),
    ("test_roc_auc", |scores| scores.test_roc_auc),
    ("test_average_precision", |scores| scores.test_average_precision),
    ("test_balanced_accuracy", |scores| scores.test_balanced_accuracy),
    ("test_macro_f1", |scores| scores.test_macro_f1),
    ("val_accuracy", |scores| Some(scores.val_accuracy)),
];

/// Runs held against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The runs, in the order in which they were named.
    pub runs: Vec<ComparedRun>,
    /// Each other run against the first.
    pub differences: Vec<Difference>,
    /// What a reader must know before comparing.
    pub notes: Vec<String>,
}

/// A run, summed up over its finished splits.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    /// Its folder.
    pub run: String,
    /// Name of the model.
    pub model: String,
    /// Name of the data.
    pub dataset: String,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// The finished splits.
    pub splits: Vec<usize>,
    /// The seed.
    pub seed: u64,
    /// Scores in percent, by name; those that no split has are left out.
    pub scores: BTreeMap<&'static str, Summary>,
    /// Mean seconds to train on a split.
    pub train_seconds_mean: f64,
    /// The most memory that the process needed.
    pub peak_memory_bytes: Option<u64>,
    /// Settings in which it differs from other runs of the same model here.
    pub settings: BTreeMap<String, String>,
}

/// A score over splits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Population standard deviation; none of one split.
    pub std: Option<f64>,
    /// How many splits have it.
    pub splits: usize,
}

/// How far a run is ahead of the first one, over the splits that both were trained on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Folder of the run.
    pub run: String,
    /// Folder of the first run.
    pub against: String,
    /// The splits that are the same in both.
    pub splits: Vec<usize>,
    /// Mean difference in test accuracy, in points; none where nothing can be paired.
    pub points: Option<f64>,
    /// How likely chance alone is to give as much: a paired permutation test; none below six pairs.
    pub p_value: Option<f64>,
    /// Why there are no pairs, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Comparison {
    /// Compares runs, each of which has a finished split.
    pub fn new(runs: &[Run]) -> Result<Self> {
        let unfinished = runs.iter().find(|run| run.results().is_empty());
        if let Some(run) = unfinished {
            return Err(Error::input(
                run.path(),
                "",
                "no split of this run is finished",
                "finish it, or leave it out",
            ));
        }
        let Some((first, others)) = runs.split_first() else {
            return Err(Error::data("no runs to compare", "name some"));
        };
        let settings: Vec<BTreeMap<String, String>> =
            runs.iter().map(|run| leaves(&run.settings())).collect();
        Ok(Comparison {
            runs: runs
                .iter()
                .enumerate()
                .map(|(place, run)| compared(run, differing(runs, &settings, place)))
                .collect(),
            differences: others.iter().map(|run| difference(run, first)).collect::<Result<_>>()?,
            notes: notes(runs),
        })
    }

    /// One row per run.
    pub fn table(&self) -> Grid {
        let named = |name: &str| name.replace('_', " ");
        let columns: Vec<&str> = METRICS
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| self.runs.iter().any(|r| r.scores.contains_key(name)))
            .collect();
        let mut head: Vec<String> = ["run", "model", "data", "splits"].map(String::from).to_vec();
        head.extend(columns.iter().map(|name| format!("{}, %", named(name))));
        head.extend(["seconds", "MB", "settings that differ"].map(String::from));
        let row = |run: &ComparedRun| {
            let mut row =
                vec![run.run.clone(), run.model.clone(), run.dataset.clone(), run.splits.len().to_string()];
            row.extend(
                columns.iter().map(|name| run.scores.get(name).map_or_else(String::new, Summary::to_string)),
            );
            row.push(format!("{:.1}", run.train_seconds_mean));
            row.push(
                run.peak_memory_bytes.map_or_else(String::new, |bytes| format!("{:.0}", bytes as f64 / 1e6)),
            );
            row.push(
                run.settings
                    .iter()
                    .map(|(key, value)| format!("{key}={value}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            );
            row
        };
        Grid { head, rows: self.runs.iter().map(row).collect() }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.std {
            Some(std) => write!(f, "{:.2} ± {std:.2}", self.mean),
            None => write!(f, "{:.2}", self.mean),
        }
    }
}

/// In a sentence.
impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (run, against) = (&self.run, &self.against);
        let Some(points) = self.points else {
            return write!(f, "{run} and {against}: {}", self.reason.as_deref().unwrap_or("nothing to pair"));
        };
        let pairs = match self.splits.len() {
            1 => "1 split".to_string(),
            count => format!("{count} splits"),
        };
        write!(f, "{run} is {points:+.2} points from {against} in test accuracy over the same {pairs}")?;
        match self.p_value {
            Some(p) if p < 0.05 => write!(f, " (p {p:.3}: more than chance)"),
            Some(p) => write!(f, " (p {p:.2}: may be chance)"),
            None => write!(f, " (fewer than {FEWEST_PAIRS} pairs: chance cannot be told)"),
        }
    }
}

fn summary(values: &[f64]) -> Option<Summary> {
    let spread = (values.len() > 1).then(|| std(values));
    (!values.is_empty()).then(|| Summary { mean: mean(values), std: spread, splits: values.len() })
}

fn compared(run: &Run, settings: BTreeMap<String, String>) -> ComparedRun {
    let results = run.results();
    let measured = || results.iter().filter_map(|record| record.result.as_ref());
    let score = |(name, of): &Metric| {
        let values: Vec<f64> = measured().filter_map(|measured| of(&measured.scores)).collect();
        Some((*name, summary(&values)?))
    };
    ComparedRun {
        run: run.path().display().to_string(),
        model: run.model_name().into(),
        dataset: run.data().name.clone(),
        data_sha256: run.data().sha256.clone(),
        splits: results.iter().map(|record| record.id.split).collect(),
        seed: run.seed(),
        scores: METRICS.iter().filter_map(score).collect(),
        train_seconds_mean: mean(&measured().map(|measured| measured.train_seconds).collect::<Vec<_>>()),
        peak_memory_bytes: measured().filter_map(|measured| measured.peak_memory_bytes).max(),
        settings,
    }
}

/// A run against the first, over the splits that are the same in both: same number, and the same nodes in every part.
fn difference(run: &Run, first: &Run) -> Result<Difference> {
    let [run_name, against] = [run, first].map(|run| run.path().display().to_string());
    let none = |reason: &str| Difference {
        run: run_name.clone(),
        against: against.clone(),
        splits: Vec::new(),
        points: None,
        p_value: None,
        reason: Some(reason.into()),
    };
    if run.data().sha256 != first.data().sha256 {
        return Ok(none("their data differ, so their scores cannot be paired"));
    }
    let accuracy =
        |record: &CellRecord| record.result.as_ref().and_then(|measured| METRICS[0].1(&measured.scores));
    let theirs: BTreeMap<usize, f64> =
        first.results().iter().filter_map(|record| Some((record.id.split, accuracy(record)?))).collect();
    let (mut splits, mut differences) = (Vec::new(), Vec::new());
    for record in run.results() {
        let split = record.id.split;
        if let (Some(own), Some(their)) = (accuracy(record), theirs.get(&split))
            && run.trained_split(split)? == first.trained_split(split)?
        {
            splits.push(split);
            differences.push(own - their);
        }
    }
    if differences.is_empty() {
        return Ok(none("they have no split in common"));
    }
    let p_value = if differences.len() < FEWEST_PAIRS { None } else { paired_p_value(&differences) };
    Ok(Difference { run: run_name, against, splits, points: Some(mean(&differences)), p_value, reason: None })
}

/// What must be known before rows are compared.
fn notes(runs: &[Run]) -> Vec<String> {
    let mut known: Vec<(&str, &str)> =
        runs.iter().map(|run| (run.data().sha256.as_str(), run.data().name.as_str())).collect();
    known.sort_unstable();
    known.dedup_by_key(|(hash, _)| *hash);
    let mut notes = Vec::new();
    if known.len() > 1 {
        let names: Vec<String> = known
            .iter()
            .map(|(hash, name)| format!("{name} ({})", hash.chars().take(8).collect::<String>()))
            .collect();
        notes.push(format!(
            "the runs are on different data, and their scores say nothing about each other: {}",
            names.join(", ")
        ));
    }
    notes
}

/// Settings in which a run differs from others of the same model; one that a run does not name has its default there.
fn differing(runs: &[Run], settings: &[BTreeMap<String, String>], place: usize) -> BTreeMap<String, String> {
    let same_model = |other: &usize| runs[*other].model_name() == runs[place].model_name();
    let others: Vec<usize> = (0..runs.len()).filter(same_model).collect();
    let keys = others.iter().flat_map(|&other| settings[other].keys());
    let mut found: BTreeMap<String, String> = keys
        .filter(|key| others.iter().any(|&other| settings[other].get(*key) != settings[place].get(*key)))
        .map(|key| (key.clone(), settings[place].get(key).cloned().unwrap_or_else(|| "default".into())))
        .collect();
    if others.iter().any(|&other| runs[other].seed() != runs[place].seed()) {
        found.insert("seed".into(), runs[place].seed().to_string());
    }
    found
}

/// Settings by path.
fn leaves(table: &Table) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                found.extend(leaves(inner).into_iter().map(|(path, value)| (format!("{key}.{path}"), value)));
            }
            other => {
                found.insert(key.clone(), other.to_string());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_by_path() {
        let table: Table = "hidden = 8\n[training]\nepochs = 3\n".parse().unwrap();
        let found: Vec<(String, String)> = leaves(&table).into_iter().collect();
        assert_eq!(found, [("hidden".into(), "8".into()), ("training.epochs".to_string(), "3".to_string())]);
    }

    #[test]
    fn one_split_has_no_spread() {
        assert_eq!(summary(&[50.0]).unwrap().to_string(), "50.00");
        assert_eq!(summary(&[50.0, 60.0]).unwrap().to_string(), "55.00 ± 5.00");
        assert_eq!(summary(&[]), None);
    }
}
