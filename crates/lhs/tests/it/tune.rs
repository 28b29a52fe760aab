//! The search: the same on any number of threads and after any interruption, and honest about itself.

use crate::toy;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lhs::error::{Error, Result};
use lhs::eval::fingerprint;
use lhs::eval::splits::SplitSpec;
use lhs::eval::tune::study::{About, Study};
use lhs::eval::tune::{BATCH, Found, Search, Trial, header};
use lhs::graph::{Dataset, DatasetParts, Labels};

struct Options {
    trials: usize,
    threads: usize,
    seed: u64,
    stop_after: usize,
    budget: Option<Duration>,
}

const PLAIN: Options = Options { trials: 3 * BATCH, threads: 1, seed: 3, stop_after: 0, budget: None };

fn about(dataset: &Dataset, seed: u64) -> About {
    About {
        format: 1,
        lhs_version: "test".into(),
        dataset: "toy".into(),
        sha256: fingerprint::of_dataset(dataset),
        model: "centre".into(),
        seed,
        split: "all".into(),
        num_splits: 10,
        base: (toy::kind().defaults)(),
        space: vec![],
    }
}

fn tune_on(dataset: &Dataset, study: &Path, options: &Options) -> Result<Found> {
    let kind = toy::kind();
    let splits = SplitSpec::All.resolve(dataset, 1, options.seed)?;
    let (study, known) = Study::open(study, &about(dataset, options.seed))?;
    let stop = AtomicBool::new(false);
    let left = AtomicUsize::new(options.stop_after);
    Search {
        dataset,
        kind: &kind,
        base: &(kind.defaults)(),
        space: (kind.search)(),
        splits: &splits,
        seed: options.seed,
        trials: options.trials,
        budget: options.budget,
        threads: options.threads,
        stop: Some(&stop),
        on_trial: &|_| {
            stop.fetch_or(left.fetch_sub(1, Ordering::SeqCst) == 1, Ordering::SeqCst);
        },
    }
    .run(study, known)
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
    // More, where an interrupted sitting had already given up later trials of the batch.
    assert!(first_half.trials.len() >= PLAIN.trials - 3);
    assert_eq!(without_seconds(&tune(&pieces, &PLAIN).unwrap()), expected);
}

#[test]
fn a_torn_last_line_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let expected = without_seconds(&tune(folder.path(), &PLAIN).unwrap());
    let file = folder.path().join("trials.jsonl");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 20]).unwrap();
    assert_eq!(without_seconds(&tune(folder.path(), &PLAIN).unwrap()), expected);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), PLAIN.trials);
    fs::write(&file, [b"{}\n".as_slice(), &bytes].concat()).unwrap();
    let error = tune(folder.path(), &PLAIN).err().unwrap().to_string();
    assert!(error.contains("trials.jsonl: line 1"), "{error}");
}

#[test]
fn a_study_continues_only_with_the_same_question() {
    let folder = tempfile::tempdir().unwrap();
    tune(folder.path(), &Options { trials: 1, ..PLAIN }).unwrap();
    let error = tune(folder.path(), &Options { trials: 1, seed: 4, ..PLAIN }).err().unwrap().to_string();
    assert!(error.contains("seed 3 there, 4 now"), "{error}");
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
    assert!(best.val_accuracy() >= found.trials[0].val_accuracy());
    let about = about(&toy::dataset(), PLAIN.seed);
    let text = header::comments("lhs tune toy", &about, &found, best, Some(60)).join("\n");
    for part in [
        "Found by: lhs tune toy",
        "Trials: 24 (",
        "budget: at most 60 s per sitting",
        "seed: 3; lhs test",
        "Splits: all (10) of toy",
        &format!("Mean validation accuracy: {:.2} %", best.val_accuracy()),
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}
