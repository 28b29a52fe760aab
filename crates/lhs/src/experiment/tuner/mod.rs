//! The search for settings: by the mean over the splits of what counts at the validation nodes, which is accuracy unless
//! another metric is chosen. Test labels are not looked at.
//!
//! Trials run in batches of [`BATCH`], the first trial by itself. What a batch proposes ([`sampler`]) depends on the
//! batches before it alone. Within a batch the splits come in rounds (1, 2, 4, … splits in all); after a round, a trial is
//! given up when its mean so far is below the median of all trials that got as far, those of its batch included; from
//! the fourth split on, below their upper quartile: successive halving. Nobody is judged before the whole batch is
//! through the round, so the search is the same on any number of threads and after any interruption: every split of every
//! trial is a cell, and whoever goes on finds those that are finished. Only when time is up does it matter who came how
//! far: see [`Found::best`].

pub mod header;
pub mod sampler;

use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toml::Table;

use super::cell::CellRecord;
use super::data::Data;
use super::method::{ConfiguredMethod, Method};
use super::observer::Observer;
use super::plan::{Job, Plan};
use super::runner::{OnError, Runner, Scoring};
use super::splits::NumberedSplit;
use super::store::{Manifest, Store};
use super::suite::{Judging, Suite};
use crate::error::{Error, Result};
use crate::metrics::{Metric, Threshold, statistics};
use crate::models::ModelKind;
use crate::training::Memo;
use sampler::{Space, Start};

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
    /// What counts, at the validation nodes, in percent, split by split.
    pub values: Vec<f64>,
    /// Training time of its splits together.
    pub seconds: f64,
}

impl Trial {
    /// Mean of what counts over the splits that were run, in percent.
    pub fn value(&self) -> f64 {
        statistics::mean(&self.values)
    }

    /// Mean of what counts over the first `count` splits, in percent, if it ran on as many.
    pub fn value_on(&self, count: usize) -> Option<f64> {
        self.values.get(..count).map(statistics::mean)
    }

    /// Whether it did better on the splits that both have, a third of the other's at least: on fewer, chance decides.
    fn is_ahead_of(&self, further: &Trial) -> bool {
        let shared = self.values.len();
        3 * shared >= further.values.len() && further.value_on(shared).is_some_and(|mean| self.value() > mean)
    }
}

/// What to search, and how.
pub struct Tuner<'a> {
    /// The data.
    pub data: Arc<Data>,
    /// The model.
    pub kind: &'a ModelKind,
    /// The settings of the first trial, complete.
    pub base: &'a Table,
    /// What varies.
    pub space: Space,
    /// What counts at the validation nodes.
    pub metric: Metric,
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
    /// Is told of every cell and of every trial that is over, and may stop it.
    pub observer: &'a dyn Observer,
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
        let furthest = self.cut_off.iter().map(|trial| trial.values.len()).max();
        let unfinished = highest(self.cut_off.iter().filter(|trial| Some(trial.values.len()) == furthest));
        let ahead = unfinished.filter(|trial| finished.is_none_or(|finished| trial.is_ahead_of(finished)));
        ahead.or(finished)
    }
}

/// The trial with the highest value; of equals, the first.
fn highest<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<&'a Trial> {
    trials.reduce(|best, trial| if trial.value() > best.value() { trial } else { best })
}

impl Tuner<'_> {
    /// What a folder of this search belongs to: only the same search goes on with it.
    pub fn manifest(&self, split: &str) -> Manifest {
        let suite = Suite {
            title: format!("Search for settings of {}", self.kind.name),
            datasets: vec![self.data.record.name.clone()],
            models: vec![self.kind.name.into()],
            seeds: vec![self.seed],
            found_settings: false,
            settings: [(self.kind.name.to_string(), self.base.clone())].into(),
            // As it was before there was a choice, so that older searches go on.
            metric: Some(self.metric).filter(|metric| *metric != Metric::Accuracy),
            positive_class: self.positive_class().map(String::from),
            ..Suite::default()
        };
        let plan = Plan {
            measure_shift: false,
            data: vec![self.data.clone()],
            attacks: Vec::new(),
            jobs: Vec::new(),
        };
        let mut search = vec![("splits".to_string(), format!("{split}, {} of them", self.splits.len()))];
        search.extend(self.space.iter().map(|(key, range)| (key.to_string(), format!("{range:?}"))));
        Manifest::new("tune", &suite, &plan).searching(search)
    }

    /// The class that is looked for, if it was named.
    fn positive_class(&self) -> Option<&str> {
        let named = self.data.dataset.details().positive_class?;
        Some(&self.data.record.classes[named as usize])
    }

    /// Searches; each split of each trial is kept in the store as soon as it is over.
    pub fn run(&self, store: &Store) -> Result<Found> {
        self.data.dataset.check_trainable()?;
        let deadline = self.budget.and_then(|budget| Instant::now().checked_add(budget));
        let memo = Memo::holding(SHARED_BY_TRIALS);
        let mut found = Found { trials: Vec::new(), cut_off: Vec::new(), out_of_time: false };
        for numbers in self.batches() {
            let batch = Batch { tuner: self, history: &found.trials, store, deadline, memo: &memo };
            let Ran { over, under_way, complete } = batch.run(numbers)?;
            found.trials.extend(over);
            found.trials.sort_by_key(|trial| trial.trial);
            found.cut_off = under_way;
            found.out_of_time = !complete;
            if found.out_of_time {
                break;
            }
        }
        Ok(found)
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
    tuner: &'a Tuner<'a>,
    /// The trials of earlier batches.
    history: &'a [Trial],
    store: &'a Store,
    deadline: Option<Instant>,
    memo: &'a Memo,
}

/// What became of the trials of a batch; those that time did not suffice for at all are missing.
struct Ran {
    over: Vec<Trial>,
    under_way: Vec<Trial>,
    complete: bool,
}

impl Batch<'_> {
    /// Runs the trials of these numbers.
    fn run(&self, numbers: Range<usize>) -> Result<Ran> {
        let alone = self.history.is_empty() && numbers.len() == 1;
        let mut running: Vec<Trial> = numbers.map(|number| self.propose(number)).collect();
        let mut over: Vec<Trial> = Vec::new();
        // A trial by itself cannot be given up: all its splits are one round.
        let num_splits = self.tuner.splits.len();
        let rounds = if alone { iter::once(0..num_splits).collect() } else { rounds(num_splits) };
        for round in rounds {
            let end = round.end;
            self.round(&mut running, round)?;
            if running.iter().any(|trial| trial.values.len() < end) {
                // Time is up. Who is hopeless can't be said before all are through; the next sitting will say it.
                let (finished, mut under_way): (Vec<Trial>, Vec<Trial>) =
                    running.into_iter().partition(|trial| trial.finished);
                over.extend(finished);
                under_way.retain(|trial| !trial.values.is_empty());
                return Ok(Ran { over, under_way, complete: false });
            }
            let peers: Vec<Trial> = [self.history, &over, &running].concat();
            let (stay, leave): (Vec<Trial>, Vec<Trial>) =
                running.into_iter().partition(|trial| !trial.finished && !is_hopeless(trial, &peers));
            leave.iter().for_each(|trial| self.tuner.observer.trial(trial));
            over.extend(leave);
            running = stay;
        }
        Ok(Ran { over, under_way: Vec::new(), complete: true })
    }

    fn propose(&self, number: usize) -> Trial {
        let Tuner { base, space, seed, kind, .. } = self.tuner;
        let start = Start { base, published: kind.published };
        Trial {
            trial: number,
            finished: false,
            settings: sampler::propose(&start, space, self.history, *seed, number),
            values: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Runs some more splits of each trial, all in parallel.
    fn round(&self, running: &mut [Trial], splits: Range<usize>) -> Result<()> {
        let splits = &self.tuner.splits[splits];
        let jobs = running.iter().flat_map(|trial| splits.iter().map(|split| self.job(trial, split)));
        let plan = Plan {
            measure_shift: false,
            data: vec![self.tuner.data.clone()],
            attacks: Vec::new(),
            jobs: jobs.collect(),
        };
        let outcome = Runner::new(&plan)
            .store(self.store)
            .memo(self.memo)
            .threads(self.tuner.threads)
            .observer(self.tuner.observer)
            .on_error(OnError::StopUnlessDiverged)
            .scoring(Scoring::ValidationOnly)
            .deadline(self.deadline)
            .run()?;
        for trial in running {
            let name = variant(trial.trial);
            let own = outcome.records.iter().filter(|record| record.id.variant.as_deref() == Some(&name));
            let own: Vec<&CellRecord> = own.collect();
            trial.seconds += own.iter().filter_map(|r| Some(r.result.as_ref()?.train_seconds)).sum::<f64>();
            // In the order of the splits, up to the first that is missing.
            for split in splits {
                let Some(record) = own.iter().find(|record| record.id.split == split.number) else { break };
                trial.values.push(value(record)?);
            }
            trial.finished = trial.values.len() == self.tuner.splits.len();
        }
        Ok(())
    }

    fn job(&self, trial: &Trial, split: &NumberedSplit) -> Job {
        let method = ConfiguredMethod {
            method: Method::Model(*self.tuner.kind),
            variant: Some(variant(trial.trial)),
            settings: trial.settings.clone(),
        };
        let seed = self.tuner.seed;
        let split = split.clone();
        let mut job = Job {
            data: 0,
            method,
            split,
            seed,
            attack_seed: seed,
            poison: None,
            inductive: false,
            // Decisions are those of the likelier class: thresholds are for the model that is kept in the end.
            judging: Judging { metric: Some(self.tuner.metric), threshold: Some(Threshold::Half) },
            cells: Vec::new(),
        };
        job.cells = vec![job.cell(&self.tuner.data, None, None, false)];
        job
    }
}

/// What a trial is called among cells.
fn variant(trial: usize) -> String {
    format!("trial {trial}")
}

/// What counts, in percent. Settings with which training diverges are bad settings; that the first trial fails is
/// news.
fn value(record: &CellRecord) -> Result<f64> {
    match (&record.result, &record.error) {
        (Some(measured), _) => Ok(measured.scores.val()),
        (None, Some(problem)) if record.id.variant == Some(variant(0)) => {
            Err(Error::data(problem.clone(), "fix other settings for the search"))
        }
        (None, _) => Ok(0.0),
    }
}

/// Whether too many of its peers, itself among them, did better on the same splits.
fn is_hopeless(trial: &Trial, peers: &[Trial]) -> bool {
    let count = trial.values.len();
    let means: Vec<f64> = peers.iter().filter_map(|peer| peer.value_on(count)).collect();
    let bar = statistics::quantile(&means, if count < RAISED_FROM { 0.5 } else { 0.75 });
    means.len() >= ENOUGH && bar.is_some_and(|bar| trial.value() < bar)
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

    fn trial(number: usize, finished: bool, values: &[f64]) -> Trial {
        let values = values.to_vec();
        Trial { trial: number, finished, settings: Table::new(), values, seconds: 1.0 }
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
}
