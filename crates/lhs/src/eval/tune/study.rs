//! The memory of a search: what it is about, and one line per trial, each safely on disk before the next.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Trial;
use crate::error::{Error, Result};
use crate::io::atomic;

/// What a search is about; a study continues only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Layout of the folder.
    pub format: u64,
    /// The version that began it; another one may train otherwise, and its trials do not compare.
    pub lhs_version: String,
    /// Name of the data.
    pub dataset: String,
    /// SHA-256 of the data.
    pub sha256: String,
    /// Name of the model.
    pub model: String,
    /// The seed of the search and of the training.
    pub seed: u64,
    /// The splits that were asked for.
    pub split: String,
    /// How many these are.
    pub num_splits: usize,
    /// The settings that trials start from.
    pub base: toml::Table,
    /// The settings that are searched, with their ranges.
    pub space: Vec<(String, String)>,
}

/// A study folder: `study.json` and `trials.jsonl`.
pub struct Study {
    path: PathBuf,
    file: File,
}

impl Study {
    /// Begins a study, or goes on with one; returns the trials that it holds, by number.
    pub fn open(folder: &Path, about: &About) -> Result<(Self, Vec<Trial>)> {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        check_same(folder, about)?;
        let path = folder.join("trials.jsonl");
        let trials = read_trials(&path)?;
        let file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(Error::io("write", &path))?;
        Ok((Study { path, file }, trials))
    }

    /// Adds a trial; when this returns, it is on disk.
    pub fn add(&mut self, trial: &Trial) -> Result<()> {
        let mut line = serde_json::to_string(trial).map_err(|error| Error::data(error.to_string(), ""))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(Error::io("write", &self.path))?;
        self.file.sync_data().map_err(Error::io("write", &self.path))
    }
}

fn check_same(folder: &Path, about: &About) -> Result<()> {
    let file = folder.join("study.json");
    let wanted = serde_json::to_value(about).map_err(|error| Error::data(error.to_string(), ""))?;
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return atomic::write_bytes(&file, format!("{wanted:#}\n").as_bytes());
        }
        Err(error) => return Err(Error::io("read", &file)(error)),
    };
    let remedy = "give another --study, or remove this one to begin again";
    let there: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| Error::input(&file, "", error.to_string(), remedy))?;
    let fields = wanted.as_object().into_iter().flatten();
    let differs: Vec<String> = fields
        .filter(|(key, value)| there.get(key) != Some(value))
        .map(|(key, value)| {
            format!("{key} {} there, {value} now", there.get(key).unwrap_or(&serde_json::Value::Null))
        })
        .collect();
    if differs.is_empty() {
        return Ok(());
    }
    Err(Error::input(
        folder,
        "",
        format!("this study is about something else: {}", differs.join("; ")),
        remedy,
    ))
}

/// Reads the trials; a last line that was torn by a crash is cut off.
fn read_trials(path: &Path) -> Result<Vec<Trial>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    if whole < bytes.len() {
        atomic::write_bytes(path, &bytes[..whole])?;
    }
    let lines = bytes[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut trials = Vec::new();
    for (number, line) in lines.enumerate() {
        let trial: Trial = serde_json::from_slice(line).map_err(|error| {
            let remedy = "remove the line: its trial is then run again";
            Error::input(path, format!("line {}", number + 1), error.to_string(), remedy)
        })?;
        trials.push(trial);
    }
    trials.sort_by_key(|trial| trial.trial);
    trials.dedup_by_key(|trial| trial.trial);
    Ok(trials)
}
