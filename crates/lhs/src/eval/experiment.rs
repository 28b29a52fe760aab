//! A model trained and scored on each of some splits, which run in parallel.
//!
//! Each split is learned from a [`Task`], which has no test labels; they are looked at here, for scoring.
//! The numbers depend on data, settings and seed, never on the number of threads.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::checkpoint::{Curve, FileCheckpoints, Stopwatch};
use super::predictions::Predictions;
use super::run::{Finished, RunFolder};
use super::scores::Scores;
use super::splits::NumberedSplit;
use super::{memory, metrics, parallel};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::models::{AnyModel, ModelKind, NodeClassifier};
use crate::training::{CheckpointStore, EpochRecord, Memo, Session, Task};

/// What is kept for other splits: the results that need no labels, and one more.
const SHARED_BY_SPLITS: usize = 5;

/// What to run.
pub struct Experiment<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// The model.
    pub kind: &'a ModelKind,
    /// Its settings, complete.
    pub settings: &'a Table,
    /// The splits.
    pub splits: &'a [NumberedSplit],
    /// The seed of everything random.
    pub seed: u64,
    /// Threads to use.
    pub threads: usize,
    /// Set to true to stop at the next epoch.
    pub stop: Option<&'a AtomicBool>,
    /// Where to keep what comes out, and to resume from.
    pub run: Option<&'a RunFolder>,
    /// Who is told how it goes.
    pub watch: &'a dyn Watch,
}

/// Is told, from several threads, how an experiment goes. `()` does not listen.
pub trait Watch: Sync {
    /// An epoch of a split is over.
    fn epoch(&self, split: usize, record: &EpochRecord) {
        let _ = (split, record);
    }
    /// A split is finished, or was finished earlier.
    fn split(&self, result: &SplitResult) {
        let _ = result;
    }
}

impl Watch for () {}

/// Accuracies of one split, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitResult {
    /// Number of the split.
    pub split: usize,
    /// How many nodes are right.
    #[serde(flatten)]
    pub scores: Scores,
    /// Epochs of all stages together.
    pub epochs: usize,
    /// Time for training, interrupted sittings included.
    pub seconds: f64,
    /// What the model decided from the training labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What an experiment found; accuracies in percent, spreads are population standard deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// Number of splits.
    pub splits: usize,
    /// Mean over the splits.
    pub test_accuracy_mean: f64,
    /// Spread over the splits.
    pub test_accuracy_std: f64,
    /// Mean over the splits.
    pub val_accuracy_mean: f64,
    /// Time from start to end, as the clock on the wall shows it.
    pub seconds: f64,
    /// The most memory that the process has needed.
    pub peak_memory_bytes: Option<u64>,
    /// Each split, in order.
    pub per_split: Vec<SplitResult>,
}

impl Experiment<'_> {
    /// Runs every split that is not finished yet.
    pub fn run(&self) -> Result<Outcome> {
        let started = Instant::now();
        self.dataset.check_trainable()?;
        let config = (self.kind.build)(self.settings)?;
        let memo = Memo::holding(SHARED_BY_SPLITS);
        let per_split = parallel::map(self.splits.len(), self.threads, |cell| {
            let result = self.split(&config, &self.splits[cell], &memo)?;
            self.watch.split(&result);
            Ok(result)
        })?;
        let column = |of: fn(&SplitResult) -> f64| per_split.iter().map(of).collect::<Vec<f64>>();
        let test = column(|result| result.scores.test_accuracy);
        Ok(Outcome {
            dataset: self.dataset.name().to_string(),
            model: self.kind.name.to_string(),
            splits: per_split.len(),
            test_accuracy_mean: metrics::mean(&test),
            test_accuracy_std: metrics::std(&test),
            val_accuracy_mean: metrics::mean(&column(|result| result.scores.val_accuracy)),
            seconds: started.elapsed().as_secs_f64(),
            peak_memory_bytes: memory::peak_bytes(),
            per_split,
        })
    }

    fn split(&self, config: &AnyModel, split: &NumberedSplit, memo: &Memo) -> Result<SplitResult> {
        let NumberedSplit { number, split } = split;
        let Some(run) = self.run else {
            let fitted = self.fit(config, *number, split, None, memo)?;
            return Ok(self.score(*number, split, &fitted)?.0);
        };
        if let Some(result) = run.result(*number)? {
            return Ok(result);
        }
        let folder = run.split_folder(*number);
        fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let fitted = self.fit(config, *number, split, Some(run), memo)?;
        let (result, predictions) = self.score(*number, split, &fitted)?;
        let model = fitted.model.as_ref();
        run.finish(
            split,
            &Finished { result: &result, model, curve: &fitted.curve, predictions: &predictions },
        )?;
        Ok(result)
    }

    fn fit(
        &self,
        config: &AnyModel,
        number: usize,
        split: &Split,
        run: Option<&RunFolder>,
        memo: &Memo,
    ) -> Result<Fitted> {
        let task = Task::new(self.dataset, split).map_err(|error| in_split(error, number))?;
        let (curve, clock) = (Curve::default(), Stopwatch::start());
        let folder = run.map(|run| run.split_folder(number));
        let mut checkpoints = folder.as_deref().map(|folder| FileCheckpoints::new(folder, &curve, &clock));
        let mut on_epoch = |record: &EpochRecord| {
            curve.push(record.clone());
            self.watch.epoch(number, record);
        };
        let mut session = Session {
            stop: self.stop,
            on_epoch: Some(&mut on_epoch),
            checkpoints: checkpoints.as_mut().map(|store| store as &mut dyn CheckpointStore),
            memo: Some(memo),
        };
        let model = config.fit_with(&task, split_seed(self.seed, number), &mut session)?;
        let seconds = clock.seconds();
        Ok(Fitted { model, curve: curve.into_records(), seconds })
    }

    fn score(&self, number: usize, split: &Split, fitted: &Fitted) -> Result<(SplitResult, Predictions<'_>)> {
        let (graph, features) = (self.dataset.graph(), self.dataset.features());
        let probabilities = fitted.model.predict(graph, features)?;
        let predictions = Predictions::new(self.dataset, self.dataset.labels().names(), probabilities)?;
        let result = SplitResult {
            split: number,
            scores: Scores::of_predictions(&predictions, split),
            epochs: fitted.curve.len(),
            seconds: fitted.seconds,
            remarks: fitted.model.diagnostics(),
        };
        Ok((result, predictions))
    }
}

struct Fitted {
    model: Box<dyn NodeClassifier>,
    curve: Vec<EpochRecord>,
    seconds: f64,
}

/// The seed that a model is trained with on one split.
pub fn split_seed(seed: u64, split: usize) -> u64 {
    parallel::seed_of(seed, split as u64)
}

fn in_split(error: Error, number: usize) -> Error {
    match error {
        Error::Data { problem, remedy } => Error::data(format!("split {number}: {problem}"), remedy),
        other => other,
    }
}
