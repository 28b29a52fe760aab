//! Run folders: everything a training run leaves behind, written so that it can be resumed.
//!
//! ```text
//! RUN/manifest.json      versions, data and its hashes, model, seed, splits
//! RUN/settings.toml      the effective settings; can be given to --config
//! RUN/split-0/model.lhs, curve.jsonl, predictions.csv
//! RUN/split-0/result.json                    written last: it marks the split as finished
//! RUN/split-0/checkpoint-STAGE.safetensors   while unfinished
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::checkpoint;
use super::experiment::SplitResult;
use super::fingerprint::InputFile;
use super::predictions::{Predictions, read_parts};
use super::settings;
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::io::atomic;
use crate::models::{ModelKind, NodeClassifier, Save, SavedModel};
use crate::training::EpochRecord;

/// The layout described above. A change that old code cannot read, or new code cannot resume, adds one.
pub const FORMAT: u64 = 1;

/// What a run is: with the settings, enough to do it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the folder.
    pub format: u64,
    /// The version that made it.
    pub lhs_version: String,
    /// Name of the model.
    pub model: String,
    /// The data.
    pub dataset: DataRecord,
    /// Names of the classes, by the model's numbers.
    pub classes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// The splits as they were asked for.
    pub split: String,
    /// Their numbers.
    pub splits: Vec<usize>,
}

/// Which data a run learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// How the data is called.
    pub name: String,
    /// Where it was loaded from.
    pub path: PathBuf,
    /// Whether the direction of its edges was kept.
    pub directed: bool,
    /// SHA-256 of what was read, see [`super::fingerprint::of_dataset`].
    pub sha256: String,
    /// The files it was read from.
    pub files: Vec<InputFile>,
}

/// What to do when the folder is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfPresent {
    /// An error.
    Refuse,
    /// Go on with the splits that are not finished.
    Resume,
    /// Begin again; only a run folder is replaced, and only the files of the run.
    Replace,
}

/// A run folder on disk.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    manifest: Manifest,
    settings: Table,
}

impl RunFolder {
    /// Makes the folder, or takes up what is there.
    pub fn create(path: &Path, manifest: Manifest, settings: Table, if_present: IfPresent) -> Result<Self> {
        let run = RunFolder { path: path.to_path_buf(), manifest, settings };
        if !is_vacant(path)? {
            match if_present {
                IfPresent::Refuse => return Err(in_the_way(path)),
                IfPresent::Resume => {
                    Self::open(path)?.check_same(&run)?;
                    return Ok(run);
                }
                IfPresent::Replace => remove_run(path)?,
            }
        }
        run.write_head()?;
        Ok(run)
    }

    /// Opens a run that is there.
    pub fn open(path: &Path) -> Result<Self> {
        let manifest = read_manifest(path)?;
        let file = path.join("settings.toml");
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let mut document: Table = text
            .parse()
            .map_err(|error: toml::de::Error| Error::input(&file, "", error.message(), "train again"))?;
        match document.remove(&manifest.model) {
            Some(Value::Table(settings)) => Ok(RunFolder { path: path.to_path_buf(), manifest, settings }),
            _ => Err(Error::input(&file, "", format!("no section [{}]", manifest.model), "train again")),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The effective settings of the model.
    pub fn settings(&self) -> &Table {
        &self.settings
    }

    /// The folder of a split.
    pub fn split_folder(&self, split: usize) -> PathBuf {
        self.path.join(format!("split-{split}"))
    }

    /// The result of a split, if it is finished.
    pub fn result(&self, split: usize) -> Result<Option<SplitResult>> {
        let file = self.split_folder(split).join("result.json");
        match fs::read(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &file)(error)),
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                Error::input(&file, "", error.to_string(), "delete the file to train the split again")
            }),
        }
    }

    /// The results of all splits that are finished.
    pub fn results(&self) -> Result<Vec<SplitResult>> {
        let results = self.manifest.splits.iter().map(|&split| self.result(split));
        results.filter_map(Result::transpose).collect()
    }

    /// How training on a split went.
    pub fn curve(&self, split: usize) -> Result<Vec<EpochRecord>> {
        let file = self.split_folder(split).join("curve.jsonl");
        let text = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let record = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                let remedy = "delete the folder of the split to train it again";
                Error::input(&file, format!("line {}", number + 1), error.to_string(), remedy)
            })
        };
        text.lines().enumerate().map(record).collect()
    }

    /// The model that was trained on a split.
    pub fn model(&self, kind: &ModelKind, split: usize) -> Result<Box<dyn NodeClassifier>> {
        if self.result(split)?.is_none() {
            return Err(Error::input(
                &self.path,
                "",
                format!("split {split} is not finished"),
                "finish the run with `lhs train … --resume`, or choose another split",
            ));
        }
        let file = self.split_folder(split).join("model.lhs");
        (kind.restore)(&SavedModel::read(&file)?).map_err(|error| error.in_file(&file))
    }

    /// A split as it was trained on, after making sure that its nodes are those of the data.
    pub fn split(&self, dataset: &Dataset, split: usize) -> Result<Split> {
        let (ids, parts) = read_parts(&self.split_folder(split).join("predictions.csv"))?;
        let same = ids.len() == dataset.num_nodes()
            && ids.iter().enumerate().all(|(n, id)| *id == dataset.node_id(n));
        if same {
            return Ok(parts);
        }
        Err(Error::data(
            format!("{} does not have the {} nodes of the run, in their order", dataset.name(), ids.len()),
            "`lhs predict` scores a model on other nodes",
        ))
    }

    /// Keeps all that came out of a split; the result goes last and marks it as finished.
    pub fn finish(&self, split: &Split, finished: &Finished<'_>) -> Result<()> {
        let folder = self.split_folder(finished.result.split);
        finished.model.save(folder.join("model.lhs"))?;
        write_curve(&folder.join("curve.jsonl"), finished.curve)?;
        let table = folder.join("predictions.csv");
        atomic::write(&table, |out| finished.predictions.write_csv(out, Some(split), &table))?;
        write_json(&folder.join("result.json"), finished.result)?;
        checkpoint::remove_all(&folder)
    }

    fn write_head(&self) -> Result<()> {
        fs::create_dir_all(&self.path).map_err(Error::io("create", &self.path))?;
        let section = Table::from_iter([(self.manifest.model.clone(), Value::Table(self.settings.clone()))]);
        atomic::write_bytes(&self.path.join("settings.toml"), section.to_string().as_bytes())?;
        write_json(&self.path.join("manifest.json"), &self.manifest)
    }

    /// Refuses to mix two runs in one folder, and says what differs.
    fn check_same(&self, wanted: &RunFolder) -> Result<()> {
        let (old, new) = (&self.manifest, &wanted.manifest);
        let mut differences = Vec::new();
        let mut compare = |what: &str, old: String, new: String| {
            if old != new {
                differences.push(format!("{what} {old} there, {new} now"));
            }
        };
        compare("lhs version", old.lhs_version.clone(), new.lhs_version.clone());
        compare("model", old.model.clone(), new.model.clone());
        compare("seed", old.seed.to_string(), new.seed.to_string());
        compare("split", old.split.clone(), new.split.clone());
        compare("number of splits", old.splits.len().to_string(), new.splits.len().to_string());
        compare("SHA-256 of the data", old.dataset.sha256.clone(), new.dataset.sha256.clone());
        if old.model == new.model {
            for (key, now) in settings::leaves(&wanted.settings) {
                let there = settings::get(&self.settings, &key);
                compare(&key, there.map_or_else(|| "missing".into(), Value::to_string), now.to_string());
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::input(
            &self.path,
            "",
            format!("this run cannot be resumed, it differs: {}", differences.join("; ")),
            "repeat the command that began it, or give another --out, or replace it with --force",
        ))
    }
}

/// What came out of training on one split.
pub struct Finished<'a> {
    /// The numbers.
    pub result: &'a SplitResult,
    /// The model.
    pub model: &'a dyn NodeClassifier,
    /// The training curve.
    pub curve: &'a [EpochRecord],
    /// What it says about every node.
    pub predictions: &'a Predictions<'a>,
}

/// `FOLDER/STEM`, or `FOLDER/STEM-2`, `-3`, … when that is taken.
pub fn free_name(folder: &Path, stem: &str) -> PathBuf {
    numbered_names(folder, stem).find(|path| !path.exists()).unwrap_or_else(|| folder.join(stem))
}

/// The last of `FOLDER/STEM`, `FOLDER/STEM-2`, … that is there.
pub fn last_name(folder: &Path, stem: &str) -> Option<PathBuf> {
    numbered_names(folder, stem).take_while(|path| path.exists()).last()
}

fn numbered_names(folder: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    let first = std::iter::once(folder.join(stem));
    first.chain((2u64..).map(move |number| folder.join(format!("{stem}-{number}"))))
}

fn read_manifest(path: &Path) -> Result<Manifest> {
    let file = path.join("manifest.json");
    let bytes = fs::read(&file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Error::input(
            path,
            "",
            "not a run folder: it has no manifest.json",
            "give the folder that `lhs train` made",
        ),
        _ => Error::io("read", &file)(error),
    })?;
    let damaged = |error: serde_json::Error| Error::input(&file, "", error.to_string(), "train again");
    let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    match json["format"].as_u64() {
        Some(FORMAT) => serde_json::from_value(json).map_err(damaged),
        other => Err(Error::input(
            path,
            "",
            format!(
                "a run folder of format {}, made by lhs {}; this is lhs {}, which reads format {FORMAT}",
                other.map_or_else(|| "unknown".into(), |format| format.to_string()),
                json["lhs_version"].as_str().unwrap_or("of unknown version"),
                env!("CARGO_PKG_VERSION"),
            ),
            "use the version that made it, or train again into another folder",
        )),
    }
}

/// Whether nothing of a run is there yet. Settings without a manifest, and temporary files, are the start
/// of one that broke off.
fn is_vacant(path: &Path) -> Result<bool> {
    let is_leftover =
        |name: &str| name == "settings.toml" || (name.starts_with('.') && name.ends_with(".tmp"));
    match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::io("read", path)(error)),
        Ok(mut entries) => {
            Ok(entries
                .all(|entry| entry.is_ok_and(|entry| is_leftover(&entry.file_name().to_string_lossy()))))
        }
    }
}

fn in_the_way(path: &Path) -> Error {
    let remedy = if path.join("manifest.json").exists() {
        "go on with it with --resume, replace it with --force, or give another --out"
    } else {
        "it is not a run folder: give another --out"
    };
    Error::input(path, "", "there is something in this folder already", remedy)
}

/// Removes the files of a run and nothing else.
fn remove_run(path: &Path) -> Result<()> {
    if !path.join("manifest.json").exists() {
        return Err(in_the_way(path));
    }
    let entries = fs::read_dir(path).map_err(Error::io("read", path))?;
    for entry in entries.filter_map(|entry| entry.ok()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let split = name.strip_prefix("split-").is_some_and(|number| number.parse::<usize>().is_ok());
        if split {
            fs::remove_dir_all(entry.path()).map_err(Error::io("remove", entry.path()))?;
        } else if ["manifest.json", "settings.toml"].contains(&name.as_str()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
        }
    }
    Ok(())
}

fn write_curve(path: &Path, curve: &[EpochRecord]) -> Result<()> {
    atomic::write(path, |out| {
        for record in curve {
            let line = serde_json::to_string(record).map_err(|error| Error::data(error.to_string(), ""))?;
            writeln!(out, "{line}").map_err(Error::io("write", path))?;
        }
        Ok(())
    })
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::data(error.to_string(), ""))?;
    atomic::write_bytes(path, format!("{text}\n").as_bytes())
}
