//! Run folders: resumed runs equal uninterrupted ones, and what cannot be resumed or written says why.

use crate::toy;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lhs::error::{Error, Result};
use lhs::experiment::settings::{self, Layer};
use lhs::experiment::{
    self, CellId, CellRecord, Data, IfPresent, Manifest, Measured, OnError, Outcome, Plan, Run, Runner,
    Store, Suite, write_settings,
};
use lhs::metrics::Predictions;
use lhs::models::Registry;
use lhs::training::{self, EpochRecord};

/// Stops after some epochs.
struct StopAfter {
    epochs: AtomicUsize,
    stop: AtomicBool,
}

impl training::Observer for StopAfter {
    fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl experiment::Observer for StopAfter {
    fn epoch_of(&self, _cell: &CellId, _record: &EpochRecord) {
        if self.epochs.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.stop.store(true, Ordering::SeqCst);
        }
    }
}

struct Options<'a> {
    split: &'a str,
    seed: u64,
    threads: usize,
    set: &'a [&'a str],
    if_present: IfPresent,
    stop_after: usize,
}

const PLAIN: Options<'_> =
    Options { split: "all", seed: 5, threads: 1, set: &[], if_present: IfPresent::Refuse, stop_after: 0 };

fn registry() -> Registry {
    Registry::default().with::<toy::Centre>()
}

fn train(path: &Path, options: &Options<'_>) -> Result<Outcome> {
    let kind = toy::kind();
    let layers: Vec<Layer> = options.set.iter().map(|s| Layer::from_assignment(s)).collect::<Result<_>>()?;
    let settings = settings::layered(&kind, &layers)?;
    let suite = Suite {
        datasets: vec!["toy".into()],
        models: vec![kind.name.into()],
        splits: Some(options.split.parse()?),
        seeds: vec![options.seed],
        found_settings: false,
        settings: [(kind.name.to_string(), settings.clone())].into(),
        ..Suite::default()
    };
    let plan = Plan::on(&suite, vec![Data::new(toy::dataset())?], &registry())?;
    let manifest = Manifest::new("train", &suite, &plan).keeping_models();
    let store = Store::open(path, &manifest, options.if_present)?;
    write_settings(path, kind.name, &settings)?;
    let observer = StopAfter { epochs: AtomicUsize::new(options.stop_after), stop: AtomicBool::new(false) };
    Runner::new(&plan)
        .store(&store)
        .keep_models()
        .threads(options.threads)
        .observer(&observer)
        .on_error(OnError::Stop)
        .run()
}

/// What was found, without what differs from run to run.
fn found(outcome: &Outcome) -> Vec<Measured> {
    let measured = |record: &CellRecord| record.result.clone().unwrap();
    let same = |measured| Measured { train_seconds: 0.0, peak_memory_bytes: None, ..measured };
    outcome.records.iter().map(measured).map(same).collect()
}

fn assert_same_run(a: &Path, b: &Path) {
    for split in 0..10 {
        for file in ["model.lhs", "curve.jsonl", "predictions.csv"] {
            let read = |run: &Path| fs::read(run.join(format!("split-{split}")).join(file)).unwrap();
            assert!(read(a) == read(b), "split {split}: {file} differs");
        }
        assert_eq!(
            fs::read_dir(b.join(format!("split-{split}"))).unwrap().count(),
            3,
            "no checkpoint is left"
        );
    }
    for file in ["manifest.json", "settings.toml"] {
        assert_eq!(fs::read(a.join(file)).unwrap(), fs::read(b.join(file)).unwrap());
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let expected = train(&whole, &PLAIN).unwrap();
    for (threads, stops) in [(1, [1, 7, 30]), (2, [3, 12, 50])] {
        let pieces = folder.path().join(format!("pieces-{threads}"));
        for stop_after in stops {
            let options = Options { threads, stop_after, if_present: IfPresent::Resume, ..PLAIN };
            assert!(matches!(train(&pieces, &options), Err(Error::Interrupted { .. })));
        }
        let resumed = train(&pieces, &Options { threads, if_present: IfPresent::Resume, ..PLAIN }).unwrap();
        assert_eq!(found(&resumed), found(&expected));
        assert_same_run(&whole, &pieces);
    }
}

#[test]
fn threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let first = train(&one, &PLAIN).unwrap();
    let second = train(&two, &Options { threads: 2, ..PLAIN }).unwrap();
    assert_eq!(found(&first), found(&second));
    assert_same_run(&one, &two);
    assert!(found(&first)[0].scores.test_accuracy > Some(50.0), "the toy model learns: {first:?}");
}

#[test]
fn a_saved_model_predicts_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = train(&folder.path().join("run"), &PLAIN).unwrap();
    let run = Run::open(&folder.path().join("run")).unwrap();
    assert_eq!(run.results(), outcome.records.iter().collect::<Vec<_>>());
    let dataset = toy::dataset();
    let model = run.model(&registry(), 3).unwrap();
    let probabilities = model.predict(dataset.graph(), dataset.features()).unwrap();
    let predictions = Predictions::new(&dataset, &run.data().classes, probabilities).unwrap();
    let mut csv = Vec::new();
    predictions.write_csv(&mut csv, Some(&dataset.splits()[3]), Path::new("p.csv")).unwrap();
    assert_eq!(csv, fs::read(run.split_folder(3).join("predictions.csv")).unwrap());
    assert!(String::from_utf8(csv).unwrap().contains("\nnode 7,1,"), "the user's own ids");
}

#[test]
fn a_run_is_not_overwritten_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let one = Options { split: "0", ..PLAIN };
    train(&run, &one).unwrap();
    let error = train(&run, &one).unwrap_err().to_string();
    assert!(error.contains("there are results in this folder already"), "{error}");

    fs::write(run.join("notes.txt"), "mine").unwrap();
    train(&run, &Options { seed: 6, if_present: IfPresent::Replace, ..one }).unwrap();
    assert_eq!(Run::open(&run).unwrap().seed(), 6);
    assert_eq!(fs::read_to_string(run.join("notes.txt")).unwrap(), "mine");

    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "precious").unwrap();
    for if_present in [IfPresent::Refuse, IfPresent::Replace, IfPresent::Resume] {
        let error = train(&other, &Options { if_present, ..one }).unwrap_err().to_string();
        assert!(error.contains("it is not results"), "{error}");
    }
    assert_eq!(fs::read_to_string(other.join("thesis.tex")).unwrap(), "precious");
}

#[test]
fn what_differs_is_named_before_a_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, &Options { split: "0", ..PLAIN }).unwrap();
    let resume = Options { split: "0", if_present: IfPresent::Resume, ..PLAIN };
    train(&run, &resume).unwrap();
    let problem = |options: Options<'_>| train(&run, &options).unwrap_err().to_string();
    assert!(problem(Options { seed: 6, ..resume }).contains("seeds 5 there, 6 now"));
    assert!(problem(Options { split: "1", ..resume }).contains("splits 0 there, 1 now"));
    assert!(
        problem(Options { set: &["noise.scale=1"], ..resume }).contains("noise.scale 0.5 there, 1.0 now")
    );
}

#[test]
fn a_run_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let one = Options { split: "0", ..PLAIN };
    train(&run, &one).unwrap();
    let file = run.join("manifest.json");
    let manifest = fs::read_to_string(&file).unwrap().replace("\"format\": 2", "\"format\": 99");
    fs::write(&file, manifest).unwrap();
    for error in [
        Run::open(&run).unwrap_err(),
        train(&run, &Options { if_present: IfPresent::Resume, ..one }).unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.contains("results of format 99, made by lhs"), "{error}");
    }
    train(&run, &Options { if_present: IfPresent::Replace, ..one }).unwrap();
}

#[test]
fn a_damaged_result_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, &Options { split: "0", ..PLAIN }).unwrap();
    fs::write(run.join("cells.jsonl"), "{\n").unwrap();
    let error = Run::open(&run).unwrap_err().to_string();
    assert!(error.contains("cells.jsonl: line 1"), "{error}");
}

#[test]
fn a_second_process_on_a_folder_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, &Options { split: "0", ..PLAIN }).unwrap();
    let (_held, _) = Store::reopen(&run).unwrap();
    for if_present in [IfPresent::Resume, IfPresent::Replace, IfPresent::Extend] {
        let error = train(&run, &Options { split: "0", if_present, ..PLAIN }).unwrap_err().to_string();
        assert!(error.contains("another process is at work"), "{error}");
    }
    assert!(run.join("split-0/model.lhs").exists(), "nothing was replaced");
}

#[test]
fn a_split_whose_files_are_gone_is_trained_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, &Options { split: "0-1", ..PLAIN }).unwrap();
    fs::remove_dir_all(run.join("split-1")).unwrap();
    let again = Options { split: "0-1", if_present: IfPresent::Resume, ..PLAIN };
    let outcome = train(&run, &again).unwrap();
    assert_eq!((outcome.known, outcome.run), (1, 1));
    assert!(run.join("split-1/model.lhs").exists());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = train(&file.join("run"), &PLAIN).unwrap_err();
    assert!(error.to_string().contains("file/run"), "{error}");
    assert!(!error.can_be_mended());
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        // The superuser writes anywhere: become nobody and try again.
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "runs::a_read_only_folder_is_an_error"]).uid(65534).current_dir("/");
        let said = String::from_utf8(again.output().unwrap().stdout).unwrap();
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let error = train(&locked.join("run"), &PLAIN).unwrap_err().to_string();
    assert!(error.starts_with("cannot create"), "{error}");
}
