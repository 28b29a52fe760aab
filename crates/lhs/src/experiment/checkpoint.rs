//! Checkpoints of unfinished training, one file per stage, with the curve up to there.
//!
//! The curve of a resumed run must be that of an uninterrupted one. So a checkpoint carries the records
//! of its stage; loading it puts them back, and epochs that were run after it are told again. The
//! training loop keeps its side by telling of an epoch before it saves.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::io::tensors;
use crate::training::{Checkpoint, CheckpointStore, EpochRecord, lock};

/// The training curve so far, shared by the one who records and the one who saves.
#[derive(Default)]
pub struct Curve {
    records: Mutex<Vec<EpochRecord>>,
}

impl Curve {
    /// Adds an epoch; one that was told before, and all after it in its stage, are forgotten.
    pub fn push(&self, record: EpochRecord) {
        let mut records = lock(&self.records);
        records.retain(|known| known.stage != record.stage || known.epoch < record.epoch);
        records.push(record);
    }

    /// The records, in the order of training.
    pub fn into_records(self) -> Vec<EpochRecord> {
        self.records.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn of_stage(&self, stage: &str) -> Vec<EpochRecord> {
        lock(&self.records).iter().filter(|record| record.stage == stage).cloned().collect()
    }
}

/// What a checkpoint file says beside its tensors.
#[derive(Serialize, Deserialize)]
struct About {
    state: Value,
    curve: Vec<EpochRecord>,
    seconds: f64,
}

/// Keeps checkpoints as `FOLDER/checkpoint-STAGE.safetensors`.
pub struct FileCheckpoints<'a> {
    folder: &'a Path,
    curve: &'a Curve,
    clock: &'a Stopwatch,
}

/// Time spent, that of earlier sittings included.
pub struct Stopwatch {
    started: std::time::Instant,
    before: Mutex<f64>,
}

impl Stopwatch {
    /// Starts at zero.
    pub fn start() -> Self {
        Stopwatch { started: std::time::Instant::now(), before: Mutex::new(0.0) }
    }

    /// Seconds spent so far.
    pub fn seconds(&self) -> f64 {
        *lock(&self.before) + self.started.elapsed().as_secs_f64()
    }

    /// Learns what an earlier sitting had spent; of several stages the last knows best.
    fn resume(&self, seconds: f64) {
        let mut before = lock(&self.before);
        *before = before.max(seconds);
    }
}

impl<'a> FileCheckpoints<'a> {
    /// Saves into a folder that exists.
    pub fn new(folder: &'a Path, curve: &'a Curve, clock: &'a Stopwatch) -> Self {
        FileCheckpoints { folder, curve, clock }
    }
}

impl CheckpointStore for FileCheckpoints<'_> {
    fn load(&mut self, stage: &str) -> Result<Option<Checkpoint>> {
        let path = file(self.folder, stage);
        if !path.exists() {
            return Ok(None);
        }
        let (contents, about) = tensors::read(&path)?;
        let about: About = serde_json::from_value(about)
            .map_err(|error| Error::input(&path, "", format!("damaged: {error}"), "delete it"))?;
        about.curve.into_iter().for_each(|record| self.curve.push(record));
        self.clock.resume(about.seconds);
        Ok(Some(Checkpoint { tensors: contents.tensors, state: about.state }))
    }

    fn save(&mut self, stage: &str, checkpoint: &Checkpoint) -> Result<()> {
        let about = About {
            state: checkpoint.state.clone(),
            curve: self.curve.of_stage(stage),
            seconds: self.clock.seconds(),
        };
        let about = serde_json::to_value(about).map_err(|error| Error::data(error.to_string(), ""))?;
        tensors::write(&file(self.folder, stage), &checkpoint.tensors.clone().into(), &about)
    }
}

/// Removes the checkpoints of training that is finished.
pub fn remove_all(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A process that was killed while it saved has left its temporary file.
        let torn = name.starts_with(".checkpoint-") && name.ends_with(".tmp");
        if torn || name.starts_with("checkpoint-") && name.ends_with(".safetensors") {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

fn file(folder: &Path, stage: &str) -> PathBuf {
    folder.join(format!("checkpoint-{stage}.safetensors"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stage: &str, epoch: usize) -> EpochRecord {
        EpochRecord { stage: stage.into(), epoch, train_loss: 0.1, val_loss: None, val_accuracy: Some(0.5) }
    }

    #[test]
    fn epochs_told_again_replace_those_told_before() {
        let curve = Curve::default();
        for (stage, epoch) in [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("a", 1)] {
            curve.push(record(stage, epoch));
        }
        assert_eq!(curve.into_records(), [record("a", 0), record("b", 0), record("a", 1)]);
    }

    #[test]
    fn a_checkpoint_brings_its_curve_back() {
        let folder = tempfile::tempdir().unwrap();
        let (curve, clock) = (Curve::default(), Stopwatch::start());
        curve.push(record("a", 0));
        let checkpoint = Checkpoint { state: serde_json::json!({"epoch": 1}), ..Default::default() };
        FileCheckpoints::new(folder.path(), &curve, &clock).save("a", &checkpoint).unwrap();

        let resumed = Curve::default();
        let mut store = FileCheckpoints::new(folder.path(), &resumed, &clock);
        assert_eq!(store.load("a").unwrap(), Some(checkpoint));
        assert_eq!(store.load("b").unwrap(), None);
        assert_eq!(resumed.into_records(), [record("a", 0)]);
        remove_all(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
