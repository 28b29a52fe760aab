//! The search for settings: by mean validation accuracy over the splits. Test labels are not looked at.
//!
//! Trials run in batches of [`BATCH`], the first trial by itself. What a batch proposes ([`sampler`]) depends on the
//! batches before it alone. Within a batch the splits come in rounds (1, 2, 4, … splits in all); after a round, a trial is
//! given up when its mean so far is below the median of all trials that got as far, those of its batch included; from
//! the fourth split on, below their upper quartile: successive halving. Nobody is judged before the whole batch is
//! through the round, so the search is the same on any number of threads and after any interruption. Only when time is up
//! does it matter who came how far: see [`Found::best`].

pub mod header;
pub mod sampler;
pub mod study;

use std::iter;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toml::Table;

use super::experiment::split_seed;
use super::splits::NumberedSplit;
use super::{metrics, parallel};
use crate::error::{Error, Result};
use crate::graph::Dataset;
use crate::models::{AnyModel, ModelKind};
use crate::training::{Memo, Session, Task, lock};
use sampler::{Space, Start};
use study::Study;

/// Trials that are proposed together.
pub const BATCH: usize = 8;
/// Among fewer trials, none is given up.
const ENOUGH: usize = 4;
/// Results that trials share: the structures of ten splits under a few settings.
const SHARED_BY_TRIALS: usize = 64;
/// After so many splits chance has less of a say, and the bar rises from the median to the upper quartile.
const RAISED_FROM: usize = 4;

/// One try of some settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 0.
    pub trial: usize,
    /// Whether it ran on all splits; otherwise it was given up.
    pub finished: bool,
    /// The complete settings.
    pub settings: Table,
    /// Validation accuracy in percent, split by split.
    pub val_accuracies: Vec<f64>,
    /// Training time of its splits together.
    pub seconds: f64,
}

impl Trial {
    /// Mean validation accuracy over the splits that were run, in percent.
    pub fn val_accuracy(&self) -> f64 {
        metrics::mean(&self.val_accuracies)
    }

    /// Mean validation accuracy over the first `count` splits, in percent, if it ran on as many.
    pub fn val_accuracy_on(&self, count: usize) -> Option<f64> {
        self.val_accuracies.get(..count).map(metrics::mean)
    }

    /// Whether it did better on the splits that both have, a third of the other's at least: on fewer, chance decides.
    fn is_ahead_of(&self, further: &Trial) -> bool {
        let shared = self.val_accuracies.len();
        3 * shared >= further.val_accuracies.len()
            && further.val_accuracy_on(shared).is_some_and(|mean| self.val_accuracy() > mean)
    }
}

/// What to search.
pub struct Search<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// The model.
    pub kind: &'a ModelKind,
    /// The settings of the first trial, complete.
    pub base: &'a Table,
    /// What varies.
    pub space: Space,
    /// The splits to score on.
    pub splits: &'a [NumberedSplit],
    /// The seed of everything random.
    pub seed: u64,
    /// How many trials in all, those of earlier sittings included.
    pub trials: usize,
    /// No training is begun after this time.
    pub budget: Option<Duration>,
    /// Threads to use.
    pub threads: usize,
    /// Set to true to stop at the next epoch.
    pub stop: Option<&'a AtomicBool>,
    /// Told of every trial that is over.
    pub on_trial: &'a (dyn Fn(&Trial) + Sync),
}

/// The trials of a search, and whether the budget ended it.
pub struct Found {
    /// Trials that are over, by number.
    pub trials: Vec<Trial>,
    /// Trials that were under way when time ran out, with the splits that they got through. The next sitting runs them again.
    pub cut_off: Vec<Trial>,
    /// Whether time ran out before the number of trials was reached.
    pub out_of_time: bool,
}

impl Found {
    /// The trial to go by: the best finished one, unless among those cut off that got furthest there is one
    /// that is ahead of it on the splits that both have, a third of them at least. (A slow model finishes few trials in
    /// its time.)
    pub fn best(&self) -> Option<&Trial> {
        let finished = highest(self.trials.iter().filter(|trial| trial.finished));
        let furthest = self.cut_off.iter().map(|trial| trial.val_accuracies.len()).max();
        let unfinished =
            highest(self.cut_off.iter().filter(|trial| Some(trial.val_accuracies.len()) == furthest));
        let ahead = unfinished.filter(|trial| finished.is_none_or(|finished| trial.is_ahead_of(finished)));
        ahead.or(finished)
    }
}

/// The trial with the highest validation accuracy; of equals, the first.
fn highest<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<&'a Trial> {
    trials.reduce(|best, trial| if trial.val_accuracy() > best.val_accuracy() { trial } else { best })
}

impl Search<'_> {
    /// Searches on from `known` trials; each new one is put into the study as soon as it is over.
    pub fn run(&self, study: Study, known: Vec<Trial>) -> Result<Found> {
        self.dataset.check_trainable()?;
        let deadline = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        let study = Mutex::new(study);
        let memo = Memo::holding(SHARED_BY_TRIALS);
        let mut trials = known;
        let mut cut_off = Vec::new();
        let mut out_of_time = false;
        for batch in self.batches() {
            let first = batch.start;
            let (history, later): (Vec<Trial>, Vec<Trial>) =
                trials.drain(..).partition(|trial| trial.trial < first);
            let is_known = |number: &usize| later.iter().any(|trial| trial.trial == *number);
            let missing: Vec<usize> = batch.filter(|number| !is_known(number)).collect();
            let batch = Batch {
                search: self,
                history: &history,
                mates: &later,
                study: &study,
                deadline,
                memo: &memo,
            };
            let Ran { over, under_way } = batch.run(&missing)?;
            out_of_time = over.len() < missing.len();
            cut_off = under_way;
            trials = [history, later, over].concat();
            trials.sort_by_key(|trial| trial.trial);
            if out_of_time {
                break;
            }
        }
        Ok(Found { trials, cut_off, out_of_time })
    }

    /// The trials in batches. The first, with the defaults, goes alone: a budget too short for a whole batch
    /// then still finds something.
    fn batches(&self) -> impl Iterator<Item = Range<usize>> {
        let first = 0..self.trials.min(1);
        let starts = (0..self.trials).step_by(BATCH);
        let rest = starts.map(|start| start.max(1)..self.trials.min(start + BATCH));
        iter::once(first).chain(rest)
    }
}

/// Trials that run together, and what they may know.
struct Batch<'a> {
    search: &'a Search<'a>,
    /// The trials of earlier batches.
    history: &'a [Trial],
    /// Trials of this batch that are over since an earlier sitting.
    mates: &'a [Trial],
    study: &'a Mutex<Study>,
    deadline: Option<Instant>,
    memo: &'a Memo,
}

/// What became of the trials of a batch; those that time did not suffice for at all are missing.
struct Ran {
    over: Vec<Trial>,
    under_way: Vec<Trial>,
}

impl Batch<'_> {
    /// Runs the trials named.
    fn run(&self, numbers: &[usize]) -> Result<Ran> {
        let mut running: Vec<Trial> = numbers.iter().map(|&number| self.propose(number)).collect();
        let configs: Vec<_> = running
            .iter()
            .map(|trial| (self.search.kind.build)(&trial.settings).map(|config| (trial.trial, config)))
            .collect::<Result<_>>()?;
        let config_of = |trial: &Trial| {
            configs.iter().find(|(number, _)| *number == trial.trial).map(|(_, config)| config)
        };
        let mut over = Vec::new();
        for round in self.rounds(numbers) {
            let end = round.end;
            running = self.round(running, round, &config_of)?;
            if running.iter().any(|trial| trial.val_accuracies.len() < end) {
                // Time is up. Who is hopeless can't be said before all are through; the next sitting will say it.
                let (finished, mut under_way): (Vec<Trial>, Vec<Trial>) =
                    running.into_iter().partition(|trial| trial.finished);
                over.extend(finished);
                under_way.retain(|trial| !trial.val_accuracies.is_empty());
                return Ok(Ran { over, under_way });
            }
            let peers: Vec<Trial> = [self.history, self.mates, &over, &running].concat();
            let (stay, leave): (Vec<Trial>, Vec<Trial>) =
                running.into_iter().partition(|trial| !trial.finished && !is_hopeless(trial, &peers));
            for trial in leave.iter().filter(|trial| !trial.finished) {
                self.keep(trial)?;
            }
            over.extend(leave);
            running = stay;
        }
        Ok(Ran { over, under_way: Vec::new() })
    }

    /// The splits round by round; for a trial by itself all in one, since nobody can be given up.
    fn rounds(&self, numbers: &[usize]) -> Vec<Range<usize>> {
        let num_splits = self.search.splits.len();
        if self.history.is_empty() && numbers.len() == 1 {
            return iter::once(0..num_splits).collect();
        }
        rounds(num_splits)
    }

    fn propose(&self, number: usize) -> Trial {
        let Search { base, space, seed, kind, .. } = self.search;
        let start = Start { base, published: kind.published };
        Trial {
            trial: number,
            finished: false,
            settings: sampler::propose(&start, space, self.history, *seed, number),
            val_accuracies: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Runs some more splits of each trial, all in parallel.
    fn round<'c>(
        &self,
        running: Vec<Trial>,
        splits: Range<usize>,
        config_of: &(dyn Fn(&Trial) -> Option<&'c AnyModel> + Sync),
    ) -> Result<Vec<Trial>> {
        let width = splits.len();
        let progress: Vec<Mutex<Progress>> =
            running.into_iter().map(|trial| Mutex::new(Progress::new(trial, width))).collect();
        parallel::map(progress.len() * width, self.search.threads, |cell| {
            let (row, column) = (cell / width, cell % width);
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(());
            }
            let trial = lock(&progress[row]).trial.clone();
            let Some(config) = config_of(&trial) else { return Ok(()) };
            let split = &self.search.splits[splits.start + column];
            let started = Instant::now();
            let accuracy = match self.search.validate(config, split, self.memo) {
                // Settings with which training diverges are bad settings; that the defaults fail is news.
                Err(Error::Diverged { .. }) if trial.trial > 0 => 0.0,
                result => result?,
            };
            let seconds = started.elapsed().as_secs_f64();
            let mut progress = lock(&progress[row]);
            progress.fill(column, accuracy, seconds);
            if progress.trial.val_accuracies.len() == self.search.splits.len() {
                progress.trial.finished = true;
                self.keep(&progress.trial)?;
            }
            Ok(())
        })?;
        let progress = progress.into_iter().map(|p| p.into_inner().unwrap_or_else(|e| e.into_inner()));
        Ok(progress.map(|progress| progress.trial).collect())
    }

    fn keep(&self, trial: &Trial) -> Result<()> {
        lock(self.study).add(trial)?;
        (self.search.on_trial)(trial);
        Ok(())
    }
}

/// Whether too many of its peers, itself among them, did better on the same splits.
fn is_hopeless(trial: &Trial, peers: &[Trial]) -> bool {
    let count = trial.val_accuracies.len();
    let means: Vec<f64> = peers.iter().filter_map(|peer| peer.val_accuracy_on(count)).collect();
    let bar = metrics::quantile(&means, if count < RAISED_FROM { 0.5 } else { 0.75 });
    means.len() >= ENOUGH && bar.is_some_and(|bar| trial.val_accuracy() < bar)
}

/// A trial whose splits of this round come in in any order.
struct Progress {
    trial: Trial,
    round: Vec<Option<f64>>,
    /// Splits that the trial had before the round.
    before: usize,
}

impl Progress {
    fn new(trial: Trial, width: usize) -> Self {
        Progress { before: trial.val_accuracies.len(), trial, round: vec![None; width] }
    }

    /// Takes in a split. The trial has it as soon as all splits before it are there, too.
    fn fill(&mut self, column: usize, accuracy: f64, seconds: f64) {
        self.round[column] = Some(accuracy);
        self.trial.seconds += seconds;
        let taken = self.trial.val_accuracies.len() - self.before;
        self.trial.val_accuracies.extend(self.round.iter().map_while(|accuracy| *accuracy).skip(taken));
    }
}

impl Search<'_> {
    /// Validation accuracy of one split in percent.
    fn validate(&self, config: &AnyModel, split: &NumberedSplit, memo: &Memo) -> Result<f64> {
        let mut session = Session { stop: self.stop, memo: Some(memo), ..Session::default() };
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(interrupted());
        }
        let task = Task::new(self.dataset, &split.split)?;
        let seed = split_seed(self.seed, split.number);
        let model = config.fit_with(&task, seed, &mut session).map_err(|error| match error {
            Error::Interrupted { .. } => interrupted(),
            other => other,
        })?;
        let predicted = metrics::predicted_classes(&model.predict(task.graph, task.features)?);
        let pairs = task.val.nodes.iter().zip(&task.val.classes);
        let right = pairs.filter(|(node, class)| predicted[**node as usize] == **class).count();
        Ok(100.0 * right as f64 / task.val.nodes.len().max(1) as f64)
    }
}

fn interrupted() -> Error {
    Error::Interrupted { remedy: "the trials so far are kept; the same command goes on from here".into() }
}

/// Splits round by round: the first, one more, then as many again as there were.
fn rounds(num_splits: usize) -> Vec<Range<usize>> {
    let mut rounds = Vec::new();
    let mut done = 0;
    while done < num_splits {
        let next = (2 * done).clamp(1, num_splits);
        rounds.push(done..next);
        done = next;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_double() {
        assert_eq!(rounds(10), [0..1, 1..2, 2..4, 4..8, 8..10]);
        assert_eq!(rounds(1), vec![0..1; 1]);
        assert!(rounds(0).is_empty());
    }

    fn trial(number: usize, finished: bool, val_accuracies: &[f64]) -> Trial {
        let val_accuracies = val_accuracies.to_vec();
        Trial { trial: number, finished, settings: Table::new(), val_accuracies, seconds: 1.0 }
    }

    #[test]
    fn a_trial_cut_off_must_be_ahead_on_the_splits_that_both_have() {
        let over = vec![trial(0, true, &[60.0, 80.0, 80.0]), trial(1, false, &[90.0])];
        let best = |cut_off: &[Trial]| {
            Found { trials: over.clone(), cut_off: cut_off.to_vec(), out_of_time: true }
                .best()
                .map(|t| t.trial)
        };
        assert_eq!(best(&[]), Some(0));
        assert_eq!(best(&[trial(2, false, &[60.0]), trial(3, false, &[50.0])]), Some(0));
        assert_eq!(best(&[trial(2, false, &[65.0]), trial(3, false, &[70.0])]), Some(3));
        // Who got further goes before who began better.
        assert_eq!(best(&[trial(2, false, &[99.0]), trial(3, false, &[70.0, 71.0])]), Some(3));
        assert_eq!(best(&[trial(2, false, &[99.0]), trial(3, false, &[70.0, 69.0])]), Some(0));
        let ten = vec![trial(0, true, &[60.0; 10])];
        let of_ten = |cut_off: &[f64]| {
            let cut_off = vec![trial(1, false, cut_off)];
            Found { trials: ten.clone(), cut_off, out_of_time: true }.best().map(|t| t.trial)
        };
        assert_eq!((of_ten(&[99.0; 3]), of_ten(&[61.0; 4])), (Some(0), Some(1)));
        let alone = Found { trials: Vec::new(), cut_off: vec![trial(0, false, &[60.0])], out_of_time: true };
        assert_eq!(alone.best().map(|t| t.trial), Some(0));
    }

    #[test]
    fn splits_count_in_their_order() {
        let mut progress = Progress::new(trial(0, false, &[1.0]), 3);
        progress.fill(1, 3.0, 0.5);
        assert_eq!(progress.trial.val_accuracies, [1.0]);
        progress.fill(0, 2.0, 0.5);
        assert_eq!(progress.trial.val_accuracies, [1.0, 2.0, 3.0]);
        progress.fill(2, 4.0, 0.5);
        assert_eq!(progress.trial.val_accuracies, [1.0, 2.0, 3.0, 4.0]);
    }
}
