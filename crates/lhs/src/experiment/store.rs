//! A folder of results that survives whatever kills the process.
//!
//! ```text
//! FOLDER/manifest.json   versions, what is run, on which data
//! FOLDER/cells.jsonl     one line per finished cell, written and synced in one go
//! FOLDER/lock            held by the one process that works here
//! FOLDER/attacks/        attacks that were prepared
//! FOLDER/split-0/        model.lhs, curve.jsonl, predictions.csv, where models are kept; of several models in MODEL/split-0/
//! ```
//!
//! A torn last line, from a process that was killed while writing, is cut off on the next start. The system lets go of
//! the lock when the process ends, however it ends.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::cell::{CellId, CellRecord};
use super::data::DataRecord;
use super::found_settings::slug;
use super::plan::Plan;
use super::suite::Suite;
use crate::attacks::PreparedAttack;
use crate::error::{Error, Result};
use crate::io::atomic;
use crate::training::lock;

/// The layout described above. A change that old code cannot read, or new code cannot resume, adds one.
const FORMAT: u64 = 2;
const MANIFEST: &str = "manifest.json";
const CELLS: &str = "cells.jsonl";
const LOCK: &str = "lock";
const ATTACKS: &str = "attacks";

/// What a folder belongs to: enough to do it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: u64,
    /// The version of the program.
    pub lhs_version: String,
    /// Name of what is run.
    pub name: String,
    /// What is run.
    pub suite: Suite,
    /// The data that it is run on.
    pub data: Vec<DataRecord>,
    /// Whether models are kept.
    pub keeps_models: bool,
    /// What a search for settings tries, by setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<(String, String)>,
    /// When it was begun, as RFC 3339 has it. No result depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The command that began it. No result depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What to do when there are results in the folder already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfPresent {
    /// An error.
    Refuse,
    /// Go on, if they are of the same: then only what is missing is run.
    Resume,
    /// Go on, if they are of the same name and version; what differs otherwise is run beside them.
    Extend,
    /// Begin again; only the files of results are removed.
    Replace,
}

/// An open folder.
pub struct Store {
    folder: PathBuf,
    cells: Mutex<File>,
    /// Held as long as the store is.
    _lock: File,
    /// What was finished before, by key; of several, the last.
    finished: HashMap<String, CellRecord>,
    /// Whether models of different names share the folder.
    several_models: bool,
    /// Whether models of different data do.
    several_datasets: bool,
    /// What had to be mended.
    note: Option<String>,
}

impl Manifest {
    /// Of a suite on the data of its plan.
    pub fn new(name: &str, suite: &Suite, plan: &Plan) -> Self {
        Manifest {
            format: FORMAT,
            lhs_version: env!("CARGO_PKG_VERSION").into(),
            name: name.into(),
            suite: suite.clone(),
            data: plan.data.iter().map(|data| data.record.clone()).collect(),
            keeps_models: false,
            search: Vec::new(),
            started: None,
            command: None,
        }
    }

    /// The same, with when and by which command it was begun.
    pub fn begun(self, started: String, command: String) -> Self {
        Manifest { started: Some(started), command: Some(command), ..self }
    }

    /// The same, with models kept.
    pub fn keeping_models(self) -> Self {
        Manifest { keeps_models: true, ..self }
    }

    /// The same, of a search.
    pub(super) fn searching(self, search: Vec<(String, String)>) -> Self {
        Manifest { search, ..self }
    }

    /// Reads that of a folder; `None` where there is none.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Ok(None);
            }
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let damaged = |problem: String| {
            Error::input(&path, "", problem, "choose another folder, or the version of lhs that made it")
        };
        let json: Value = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        // Another format may have other fields: it is looked at first.
        match json["format"].as_u64() {
            Some(FORMAT) => {
                serde_json::from_value(json).map(Some).map_err(|error| damaged(error.to_string()))
            }
            other => Err(damaged(format!(
                "results of format {}, made by lhs {}; this is lhs {}, which reads format {FORMAT}",
                other.map_or_else(|| "unknown".into(), |format| format.to_string()),
                json["lhs_version"].as_str().or(json["version"].as_str()).unwrap_or("of unknown version"),
                env!("CARGO_PKG_VERSION"),
            ))),
        }
    }

    /// What must be the same to go on.
    fn identity(&self, if_present: IfPresent) -> Value {
        if if_present == IfPresent::Extend {
            return json!({ "lhs version": self.lhs_version, "suite": self.name });
        }
        // Where the data stands, and how it is called there, does not matter.
        let suite =
            Suite { title: String::new(), datasets: Vec::new(), attacks: Vec::new(), ..self.suite.clone() };
        let data: Vec<&str> = self.data.iter().map(|data| data.sha256.as_str()).collect();
        let mut identity =
            json!({ "lhs version": self.lhs_version, "SHA-256 of the data": data, "search": self.search });
        if let (Some(all), Ok(Value::Object(suite))) = (identity.as_object_mut(), serde_json::to_value(suite))
        {
            all.extend(suite);
        }
        identity
    }
}

impl Store {
    /// Opens a folder, or makes it, and holds it: no other process can until this store is dropped.
    pub fn open(folder: &Path, manifest: &Manifest, if_present: IfPresent) -> Result<Self> {
        if !is_vacant(folder)? && !folder.join(MANIFEST).exists() {
            return Err(Error::input(
                folder,
                "",
                "there is something in this folder already, and it is not results",
                "choose another folder",
            ));
        }
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let lock = hold(folder)?;
        if if_present == IfPresent::Replace {
            remove_results(folder)?;
        }
        let mut manifest = manifest.clone();
        if let Some(found) = Manifest::read(folder)? {
            check(folder, &found, &manifest, if_present)?;
            // Whoever goes on did not begin it.
            (manifest.started, manifest.command) = (found.started, found.command);
        }
        write_json(&folder.join(MANIFEST), &manifest)?;
        Self::with_cells(folder, lock, &manifest)
    }

    /// Opens a folder that is there, to add to it.
    pub fn reopen(folder: &Path) -> Result<(Self, Manifest)> {
        let manifest = expect_manifest(folder)?;
        let lock = hold(folder)?;
        Ok((Self::with_cells(folder, lock, &manifest)?, manifest))
    }

    fn with_cells(folder: &Path, lock: File, manifest: &Manifest) -> Result<Self> {
        let path = folder.join(CELLS);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let mut cells = options.open(&path).map_err(Error::io("open", &path))?;
        let (records, whole, torn) = parse(&path)?;
        let note = torn.then(|| {
            format!(
                "the last line of {} was torn, by a process that was killed; it is cut off",
                path.display()
            )
        });
        cells.set_len(whole).map_err(Error::io("write", &path))?;
        cells.seek(SeekFrom::End(0)).map_err(Error::io("write", &path))?;
        Ok(Store {
            folder: folder.to_path_buf(),
            cells: Mutex::new(cells),
            _lock: lock,
            finished: records.into_iter().map(|record| (record.key.clone(), record)).collect(),
            several_models: manifest.suite.models.len() > 1,
            several_datasets: manifest.suite.datasets.len() > 1,
            note,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The result of a cell that was finished before; one that failed is tried again.
    pub fn finished(&self, key: &str) -> Option<&CellRecord> {
        self.finished.get(key).filter(|record| record.result.is_some())
    }

    /// How many cells were finished before.
    pub fn num_finished(&self) -> usize {
        self.finished.values().filter(|record| record.result.is_some()).count()
    }

    /// What had to be mended when the folder was opened.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Keeps a finished cell: on disk when this returns.
    pub fn keep(&self, record: &CellRecord) -> Result<()> {
        let path = self.folder.join(CELLS);
        let mut line = serde_json::to_vec(record).map_err(|error| Error::data(error.to_string(), ""))?;
        line.push(b'\n');
        let mut cells = lock(&self.cells);
        cells.write_all(&line).and_then(|()| cells.sync_data()).map_err(Error::io("write", &path))
    }

    /// Where the model of a cell is kept.
    pub fn model_folder(&self, cell: &CellId) -> PathBuf {
        if self.several_datasets {
            return model_folder(&self.folder.join(slug(&cell.dataset)), cell, self.several_models);
        }
        model_folder(&self.folder, cell, self.several_models)
    }

    /// An attack that was prepared before.
    pub(super) fn prepared_attack(&self, key: &str) -> Result<Option<PreparedAttack>> {
        let path = self.attack_file(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// Keeps a prepared attack, unless it changes features: these are quickly made, and large.
    pub(super) fn keep_prepared_attack(&self, key: &str, prepared: &PreparedAttack) -> Result<()> {
        if prepared.change.features.is_some() {
            return Ok(());
        }
        let path = self.attack_file(key);
        fs::create_dir_all(self.folder.join(ATTACKS)).map_err(Error::io("create", &path))?;
        atomic::write_bytes(&path, &serde_json::to_vec(prepared).unwrap_or_default())
    }

    fn attack_file(&self, key: &str) -> PathBuf {
        self.folder.join(ATTACKS).join(format!("{}.json", &key[..key.len().min(32)]))
    }
}

/// Where the model of a cell is kept in a folder.
pub(super) fn model_folder(folder: &Path, cell: &CellId, several_models: bool) -> PathBuf {
    let split = format!("split-{}", cell.split);
    if several_models { folder.join(slug(&cell.method())).join(split) } else { folder.join(split) }
}

/// The manifest of a folder, and its finished cells, in the order in which they were finished; of several results of one
/// cell, the last. For whoever only looks: a process may still be at work.
pub fn read_cells(folder: &Path) -> Result<(Manifest, Vec<CellRecord>)> {
    let manifest = expect_manifest(folder)?;
    let path = folder.join(CELLS);
    let records = if path.exists() { parse(&path)?.0 } else { Vec::new() };
    let mut last: HashMap<String, usize> = HashMap::new();
    for (place, record) in records.iter().enumerate() {
        last.insert(serde_json::to_string(&record.id).unwrap_or_default(), place);
    }
    let mut places: Vec<usize> = last.into_values().collect();
    places.sort_unstable();
    Ok((manifest, places.into_iter().map(|place| records[place].clone()).collect()))
}

/// Puts the cells of several folders, made by shares of one suite, into a new one; says how many there are.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<usize> {
    let Some((first, others)) = folders.split_first() else {
        return Err(Error::data("no folders to merge", "name some that hold results"));
    };
    let (manifest, mut all) = read_cells(first)?;
    for folder in others {
        let (other, records) = read_cells(folder)?;
        if other.identity(IfPresent::Resume) != manifest.identity(IfPresent::Resume)
            || other.name != manifest.name
        {
            let problem = format!("this is not a part of what {} holds", first.display());
            return Err(Error::input(folder, "", problem, "merge parts of one suite, on the same data"));
        }
        all.extend(records);
    }
    let mut kept: Vec<CellRecord> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in all {
        match places.get(&record.key) {
            None => {
                places.insert(record.key.clone(), kept.len());
                kept.push(record);
            }
            // A cell that failed somewhere may have been finished elsewhere.
            Some(&place) if kept[place].result.is_none() => kept[place] = record,
            Some(_) => {}
        }
    }
    let store = Store::open(out, &manifest, IfPresent::Refuse)?;
    kept.iter().try_for_each(|record| store.keep(record))?;
    Ok(kept.len())
}

fn expect_manifest(folder: &Path) -> Result<Manifest> {
    Manifest::read(folder)?.ok_or_else(|| {
        let (problem, remedy) = if !folder.exists() {
            ("there is no such folder", "give a folder of results")
        } else if folder.join("bench.json").exists() {
            ("these are results of an older version", "run it again into another folder")
        } else {
            ("there are no results in it: no manifest.json", "give a folder of results")
        };
        Error::input(folder, "", problem, remedy)
    })
}

fn hold(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::input(
            folder,
            "",
            "another process is at work in this folder",
            "wait for it, stop it, or choose another folder",
        )),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
    }
}

/// Refuses to mix results, and says what differs.
fn check(folder: &Path, found: &Manifest, wanted: &Manifest, if_present: IfPresent) -> Result<()> {
    if if_present == IfPresent::Refuse {
        let remedy = "go on with it, replace it, or choose another folder";
        return Err(Error::input(folder, "", "there are results in this folder already", remedy));
    }
    let differences = differences(&found.identity(if_present), &wanted.identity(if_present), "");
    if differences.is_empty() {
        return Ok(());
    }
    let problem = format!("the results here are of something else: {}", differences.join("; "));
    Err(Error::input(folder, "", problem, "repeat what began them, or choose another folder"))
}

/// Where two documents differ, leaf by leaf.
fn differences(there: &Value, now: &Value, path: &str) -> Vec<String> {
    match (there, now) {
        (Value::Object(there), Value::Object(now)) => {
            let mut keys: Vec<&String> = there.keys().chain(now.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            let of = |key: &&String| {
                let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
                let of = |all: &Map<String, Value>| all.get(key.as_str()).cloned().unwrap_or_default();
                differences(&of(there), &of(now), &path)
            };
            keys.iter().flat_map(of).collect()
        }
        _ if there == now => Vec::new(),
        _ => vec![format!("{path} {} there, {} now", shown(there), shown(now))],
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "missing".into(),
        Value::Array(values) if values.len() == 1 => shown(&values[0]),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether no results are there. What a process leaves that broke off before its manifest does not count.
fn is_vacant(folder: &Path) -> Result<bool> {
    let is_leftover = |name: &str| {
        [LOCK, "settings.toml"].contains(&name) || (name.starts_with('.') && name.ends_with(".tmp"))
    };
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::io("read", folder)(error)),
        Ok(mut entries) => {
            Ok(entries
                .all(|entry| entry.is_ok_and(|entry| is_leftover(&entry.file_name().to_string_lossy()))))
        }
    }
}

/// Removes results and nothing else; the manifest goes last, so that a removal that broke off can be repeated.
fn remove_results(folder: &Path) -> Result<()> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Ok(());
    }
    // Results of another format can be replaced, too; where they keep several models is not known then.
    let manifest = Manifest::read(folder).ok().flatten().filter(|manifest| manifest.keeps_models);
    let models: Vec<String> =
        manifest.iter().flat_map(|manifest| &manifest.suite.models).map(|model| slug(model)).collect();
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    for entry in entries.filter_map(|entry| entry.ok()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let split = name.strip_prefix("split-").is_some_and(|number| number.parse::<usize>().is_ok());
        if split || name == ATTACKS || models.contains(&name) {
            fs::remove_dir_all(entry.path()).map_err(Error::io("remove", entry.path()))?;
        } else if [CELLS, "settings.toml"].contains(&name.as_str()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
        }
    }
    fs::remove_file(&path).map_err(Error::io("remove", path))
}

/// The records of a file, how many of its bytes are whole lines, and whether there are more.
fn parse(path: &Path) -> Result<(Vec<CellRecord>, u64, bool)> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let mut records = Vec::new();
    for (number, line) in (1..).zip(bytes[..whole].split_inclusive(|&byte| byte == b'\n')) {
        let record = serde_json::from_slice(line).map_err(|error| {
            Error::input(
                path,
                format!("line {number}"),
                format!("not a finished cell: {error}"),
                "remove the line, or choose another folder",
            )
        })?;
        records.push(record);
    }
    Ok((records, whole as u64, whole < bytes.len()))
}

/// Writes a document, whole or not at all.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::data(error.to_string(), ""))?;
    atomic::write_bytes(path, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_on_did_not_begin_it_and_old_folders_are_read() {
        let manifest = |started: &str| Manifest {
            format: FORMAT,
            lhs_version: "1".into(),
            name: "n".into(),
            suite: Suite::default(),
            data: Vec::new(),
            keeps_models: true,
            search: Vec::new(),
            started: (!started.is_empty()).then(|| started.into()),
            command: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let opened = |started: &str, if_present| {
            drop(Store::open(folder.path(), &manifest(started), if_present).unwrap());
            Manifest::read(folder.path()).unwrap().unwrap().started
        };
        assert_eq!(opened("first", IfPresent::Refuse).as_deref(), Some("first"));
        assert_eq!(opened("second", IfPresent::Resume).as_deref(), Some("first"));
        assert_eq!(opened("third", IfPresent::Replace).as_deref(), Some("third"));
        assert_eq!(opened("", IfPresent::Replace), None);
        assert!(!fs::read_to_string(folder.path().join(MANIFEST)).unwrap().contains("started"));
    }

    #[test]
    fn differences_are_named_leaf_by_leaf() {
        let (there, now) =
            (json!({"a": {"b": 1, "c": [2]}, "d": "x"}), json!({"a": {"b": 1, "c": [3]}, "e": 1.5}));
        assert_eq!(
            differences(&there, &now, ""),
            ["a.c 2 there, 3 now", "d x there, missing now", "e missing there, 1.5 now"]
        );
    }
}
