//! A folder of results that survives whatever kills the process.
//!
//! `cells.jsonl` has one line per finished cell, written and synced in one go; a torn last line, from a process that was
//! killed while writing, is cut off on the next start. `bench.json` says which suite and version it belongs to,
//! `attacks/` keeps what was crafted. Only one process at a time works on a folder: it holds a lock on `lock`, which the
//! system lets go of when the process ends, however it ends.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::grid::CellId;
use super::job::Measured;
use super::suite::Suite;
use crate::attacks::Crafted;
use crate::error::{Error, Result};
use crate::io::atomic;
use crate::training::lock;

const FORMAT: u32 = 1;
const MANIFEST: &str = "bench.json";
const CELLS: &str = "cells.jsonl";

/// A finished cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// A hash of everything that it depends on.
    pub key: String,
    /// What it is.
    #[serde(flatten)]
    pub id: CellId,
    /// The settings of the model that differ from its defaults.
    #[serde(default)]
    pub settings: Table,
    /// What was found, unless it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Measured>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a folder belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The version of the program.
    pub version: String,
    /// Name of the suite.
    pub name: String,
    /// The suite.
    pub suite: Suite,
}

/// An open folder.
pub struct Store {
    folder: PathBuf,
    cells: Mutex<File>,
    /// Held as long as the store is.
    _lock: File,
    /// What was finished before, by key; of several, the last.
    finished: HashMap<String, CellRecord>,
    /// What had to be mended.
    note: Option<String>,
}

impl Store {
    /// Opens a folder for a suite, or makes it.
    pub fn open(folder: &Path, name: &str, suite: &Suite) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let lock = hold(folder)?;
        let manifest = Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            name: name.into(),
            suite: suite.clone(),
        };
        if let Some(found) = read_manifest(folder)? {
            check(folder, &found, &manifest)?;
        }
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
        atomic::write_bytes(&folder.join(MANIFEST), text.as_bytes())?;
        let path = folder.join(CELLS);
        let mut options = OpenOptions::new();
        let mut cells = options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(Error::io("open", &path))?;
        let (records, whole, torn) = parse(&path)?;
        let note = torn.then(|| {
            format!(
                "note: the last line of {} was torn, by a process that was killed; it is cut off",
                path.display()
            )
        });
        cells.set_len(whole).map_err(Error::io("write", &path))?;
        cells.seek(SeekFrom::End(0)).map_err(Error::io("write", &path))?;
        let finished = records.into_iter().map(|record| (record.key.clone(), record)).collect();
        Ok(Store { folder: folder.to_path_buf(), cells: Mutex::new(cells), _lock: lock, finished, note })
    }

    /// The result of a cell that was finished before; one that failed is tried again.
    pub fn finished(&self, key: &str) -> Option<&CellRecord> {
        self.finished.get(key).filter(|record| record.result.is_some())
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

    /// An attack that was crafted before.
    pub fn crafted(&self, key: &str) -> Result<Option<Crafted>> {
        let path = self.crafted_file(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// Keeps a crafted attack, unless it changes features: these are quickly made, and large.
    pub fn keep_crafted(&self, key: &str, crafted: &Crafted) -> Result<()> {
        if crafted.change.features.is_some() {
            return Ok(());
        }
        let path = self.crafted_file(key);
        fs::create_dir_all(self.folder.join("attacks")).map_err(Error::io("create", &path))?;
        atomic::write_bytes(&path, &serde_json::to_vec(crafted).unwrap_or_default())
    }

    fn crafted_file(&self, key: &str) -> PathBuf {
        self.folder.join("attacks").join(format!("{}.json", &key[..key.len().min(32)]))
    }
}

/// The suite of a folder, and its finished cells, in the order in which they were finished; of several results of one
/// cell, the last. For whoever only looks: a process may still be at work.
pub fn read_cells(folder: &Path) -> Result<(Manifest, Vec<CellRecord>)> {
    let manifest = read_manifest(folder)?.ok_or_else(|| {
        Error::input(
            folder,
            "",
            "there are no results of `lhs bench`",
            "give a folder that `lhs bench --out` made",
        )
    })?;
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

fn hold(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::input(
            folder,
            "",
            "another process is at work in this folder",
            "wait for it, stop it, or choose another folder with --out",
        )),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
    }
}

fn read_manifest(folder: &Path) -> Result<Option<Manifest>> {
    let path = folder.join(MANIFEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    // Another format may have other fields: it is looked at first.
    let format = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|m| m["format"].as_u64());
    if format != Some(u64::from(FORMAT)) {
        return Err(Error::input(
            path,
            "",
            format!(
                "its format is {}, and this is format {FORMAT}",
                format.map_or("unknown".into(), |f| f.to_string())
            ),
            "choose another folder with --out, or the version of lhs that made it",
        ));
    }
    let parsed = serde_json::from_str(&text);
    parsed.map(Some).map_err(|error| {
        Error::input(
            path,
            "",
            error.to_string(),
            "choose another folder with --out, or the version of lhs that made it",
        )
    })
}

fn check(folder: &Path, found: &Manifest, wanted: &Manifest) -> Result<()> {
    let other = if found.version != wanted.version {
        format!("these results were made by lhs {}, and this is {}", found.version, wanted.version)
    } else if found.name != wanted.name {
        format!("these results belong to the suite `{}`, not to `{}`", found.name, wanted.name)
    } else {
        return Ok(());
    };
    Err(Error::input(folder, "", other, "choose another folder with --out"))
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
                "remove the line, or choose another folder with --out",
            )
        })?;
        records.push(record);
    }
    Ok((records, whole as u64, whole < bytes.len()))
}
