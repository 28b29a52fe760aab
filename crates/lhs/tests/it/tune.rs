//! The search: the same on any number of threads and after any interruption, and honest about itself.

use crate::toy;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lhs::error::{Error, Result};
use lhs::experiment::splits::{NumberedSplit, SplitSpec};
use lhs::experiment::tuner::{BATCH, Found, Trial, header};
use lhs::experiment::{self, Data, IfPresent, Observer, Store, Tuner};
use lhs::graph::{Dataset, DatasetParts, Labels};
use lhs::metrics::Metric;
use lhs::models::ModelKind;
use lhs::training;
use toml::Table;

struct Options {
    trials: usize,
    threads: usize,
    seed: u64,
    stop_after: usize,
    budget: Option<Duration>,
}

const PLAIN: Options = Options { trials: 3 * BATCH, threads: 1, seed: 3, stop_after: 0, budget: None };

/// Stops after some trials.
struct StopAfter {
    trials: AtomicUsize,
    stop: AtomicBool,
}

impl training::Observer for StopAfter {
    fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl experiment::Observer for StopAfter {
    fn trial(&self, _trial: &Trial) {
        self.stop.fetch_or(self.trials.fetch_sub(1, Ordering::SeqCst) == 1, Ordering::SeqCst);
    }
}

/// The parts of a tuner that it only borrows.
struct Parts {
    kind: ModelKind,
    base: Table,
    splits: Vec<NumberedSplit>,
}

impl Parts {
    fn new(dataset: &Dataset) -> Self {
        let kind = toy::kind();
        Parts { base: (kind.defaults)(), kind, splits: SplitSpec::All.resolve(dataset, 1, 0).unwrap() }
    }

    fn tuner<'a>(&'a self, dataset: &Dataset, options: &Options, observer: &'a dyn Observer) -> Tuner<'a> {
        Tuner {
            data: Arc::new(Data::new(dataset.clone()).unwrap()),
            kind: &self.kind,
            base: &self.base,
            space: (self.kind.search)(),
            metric: Metric::Accuracy,
            splits: &self.splits,
            seed: options.seed,
            trials: options.trials,
            budget: options.budget,
            threads: options.threads,
            observer,
        }
    }
}

fn tune_on(dataset: &Dataset, study: &Path, options: &Options) -> Result<Found> {
    let observer = StopAfter { trials: AtomicUsize::new(options.stop_after), stop: AtomicBool::new(false) };
    let parts = Parts::new(dataset);
    let tuner = parts.tuner(dataset, options, &observer);
    let store = Store::open(study, &tuner.manifest("all"), IfPresent::Resume)?;
    tuner.run(&store)
}

fn tune(study: &Path, options: &Options) -> Result<Found> {
    tune_on(&toy::dataset(), study, options)
}

fn without_seconds(found: &Found) -> Vec<Trial> {
    found.trials.iter().map(|trial| Trial { seconds: 0.0, ..trial.clone() }).collect()
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let expected = without_seconds(&tune(&folder.path().join("one"), &PLAIN).unwrap());
    assert_eq!(expected.len(), PLAIN.trials);
    assert_eq!(expected[0].settings, (toy::kind().defaults)(), "the first trial has the defaults");
    assert!(expected.iter().any(|trial| !trial.finished), "some trials are hopeless");
    let two = tune(&folder.path().join("two"), &Options { threads: 2, ..PLAIN }).unwrap();
    assert_eq!(without_seconds(&two), expected);

    let pieces = folder.path().join("pieces");
    for stop_after in [1, 5, 9] {
        let result = tune(&pieces, &Options { threads: 2, stop_after, ..PLAIN });
        assert!(matches!(result, Err(Error::Interrupted { .. })));
    }
    let first_half = tune(&pieces, &Options { trials: PLAIN.trials - 3, ..PLAIN }).unwrap();
    assert_eq!(first_half.trials.len(), PLAIN.trials - 3);
    assert_eq!(without_seconds(&tune(&pieces, &PLAIN).unwrap()), expected);
}

#[test]
fn a_torn_last_line_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let expected = without_seconds(&tune(folder.path(), &PLAIN).unwrap());
    let file = folder.path().join("cells.jsonl");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 20]).unwrap();
    assert_eq!(without_seconds(&tune(folder.path(), &PLAIN).unwrap()), expected);
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&fs::read(&file).unwrap()), lines(&bytes), "only the torn one is run again");
    fs::write(&file, [b"{}\n".as_slice(), &bytes].concat()).unwrap();
    let error = tune(folder.path(), &PLAIN).err().unwrap().to_string();
    assert!(error.contains("cells.jsonl: line 1"), "{error}");
}

#[test]
fn a_study_continues_only_with_the_same_question() {
    let folder = tempfile::tempdir().unwrap();
    tune(folder.path(), &Options { trials: 1, ..PLAIN }).unwrap();
    let error = tune(folder.path(), &Options { trials: 1, seed: 4, ..PLAIN }).err().unwrap().to_string();
    assert!(error.contains("seeds 3 there, 4 now"), "{error}");
}

#[test]
fn time_that_is_up_ends_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let found = tune(folder.path(), &Options { budget: Some(Duration::ZERO), ..PLAIN }).unwrap();
    assert!(found.out_of_time && found.trials.is_empty() && found.best().is_none());
}

#[test]
fn test_labels_change_nothing() {
    let dataset = toy::dataset();
    // One split only: with ten, every node is a test node somewhere and a training node elsewhere.
    let splits = dataset.splits()[..1].to_vec();
    let mut numbers: Vec<i64> =
        (0..dataset.num_nodes()).map(|node| dataset.labels().get(node).map_or(-1, i64::from)).collect();
    splits[0].test.iter().for_each(|&node| numbers[node as usize] = (numbers[node as usize] + 1) % 3);
    let labels = Labels::from_numbers(&numbers).unwrap();
    let honest = dataset.clone().with_splits(splits).unwrap();
    let twisted = Dataset::new(DatasetParts { labels, ..honest.clone().into_parts() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [("a", &honest), ("b", &twisted)].map(|(name, dataset)| {
        without_seconds(&tune_on(dataset, &folder.path().join(name), &PLAIN).unwrap())
    });
    assert_eq!(a, b);
}

#[test]
fn the_header_says_how_it_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let found = tune(folder.path(), &PLAIN).unwrap();
    let best = found.best().unwrap();
    assert!(best.value() >= found.trials[0].value());
    let options = Options { budget: Some(Duration::from_secs(60)), ..PLAIN };
    let (dataset, parts) = (toy::dataset(), Parts::new(&toy::dataset()));
    let tuner = parts.tuner(&dataset, &options, &());
    let text = header::comments("lhs tune toy", &tuner, "all", &found, best).join("\n");
    for part in [
        "Found by: lhs tune toy",
        "Trials: 24 (",
        "budget: at most 60 s per sitting",
        concat!("seed: 3; lhs ", env!("CARGO_PKG_VERSION")),
        "Splits: all (10) of toy",
        &format!("Mean validation accuracy: {:.2} %", best.value()),
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}
