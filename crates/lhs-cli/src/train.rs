//! `lhs train`: a model on some splits of a dataset, kept in a run folder.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use toml::Table;

use super::clock;
use super::output::Global;
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{DataSelection, ModelSelection, Selected};
use lhs::error::{Error, Result};
use lhs::experiment::found_settings::slug;
use lhs::experiment::{
    CellRecord, Data, IfPresent, Manifest, OnError, Plan, Runner, Store, Suite, free_name, last_name, memory,
    write_settings,
};
use lhs::metrics::Scores;
use lhs::metrics::statistics::{mean, std};
use lhs::models::{self, ModelKind, Registry};

/// Train a model and measure it
#[derive(Debug, clap::Args)]
pub struct TrainArgs {
    #[command(flatten)]
    data: DataSelection,
    #[command(flatten)]
    model: ModelSelection,
    /// The run folder [default: runs/DATASET-MODEL, with a number if that is taken]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Go on with an interrupted run; without --out, with the last one
    #[arg(long, conflicts_with_all = ["force", "no_save"])]
    resume: bool,
    /// Replace the run that is in the folder
    #[arg(long, conflicts_with = "no_save")]
    force: bool,
    /// Measure only, keep nothing
    #[arg(long, conflicts_with = "out")]
    no_save: bool,
}

/// Runs the command.
pub fn run(args: &TrainArgs, global: &Global) -> Result<()> {
    let started = Instant::now();
    let kind = args.model.kind()?;
    args.model.own_layers(kind)?;
    let Selected { dataset, spec, splits } = args.data.load(global)?;
    note_direction(args.data.directed, kind, global);
    let settings = args.model.settings(kind, dataset.name(), global)?;
    let name = dataset.name().to_string();
    let suite = Suite {
        title: format!("{} on {name}", kind.name),
        datasets: vec![args.data.data.display().to_string()],
        models: vec![kind.name.into()],
        directed: args.data.directed,
        splits: Some(spec),
        num_splits: splits.len(),
        seeds: vec![global.seed],
        found_settings: false,
        settings: [(kind.name.to_string(), settings.clone())].into(),
        ..Suite::default()
    };
    let data = Data::read_from(&args.data.data, &global.load_options(args.data.directed), dataset)?;
    let plan = Plan::on(&suite, vec![data], &Registry::default())?;
    let store =
        if args.no_save { None } else { Some(open(args, kind, &name, &suite, &plan, &settings, global)?) };
    let progress = Progress::new(global, Counts::Cells, splits.len(), kind.name);
    let mut runner =
        Runner::new(&plan).threads(global.num_threads()?).observer(&progress).on_error(OnError::Stop);
    if let Some(store) = &store {
        runner = runner.store(store).keep_models();
    }
    let outcome = runner.run();
    progress.done();
    let records = outcome.map_err(|error| how_to_go_on(error, || kept_in(store.as_ref())))?.records;
    let folder = store.as_ref().map(Store::folder);
    report(
        &Trained { model: kind.name, dataset: &name, folder, settings: &settings, records, started },
        global,
    );
    Ok(())
}

/// Says when a model will not use what was asked for.
pub(super) fn note_direction(directed: bool, kind: &ModelKind, global: &Global) {
    if directed && !kind.reads_direction {
        let readers = models::kinds().iter().filter(|kind| kind.reads_direction).map(|kind| kind.name);
        let readers: Vec<&str> = readers.collect();
        global.note(format_args!(
            "note: {} does not read the direction of edges; these do: {}",
            kind.name,
            readers.join(", ")
        ));
    }
}

fn kept_in(store: Option<&Store>) -> String {
    match store {
        None => "nothing was kept, because of --no-save".into(),
        Some(store) => format!(
            "saved in {}; the same command with --resume goes on from there",
            store.folder().display()
        ),
    }
}

fn open(
    args: &TrainArgs,
    kind: &ModelKind,
    dataset: &str,
    suite: &Suite,
    plan: &Plan,
    settings: &Table,
    global: &Global,
) -> Result<Store> {
    let path = args.out.clone().unwrap_or_else(|| default_path(dataset, kind.name, args));
    let if_present = match (args.resume, args.force) {
        (true, _) => IfPresent::Resume,
        (_, true) => IfPresent::Replace,
        _ => IfPresent::Refuse,
    };
    if args.resume && !path.exists() {
        global.note(format_args!("note: nothing to resume in {}; beginning", path.display()));
    }
    let manifest = Manifest::new("train", suite, plan).keeping_models().begun(clock::now(), clock::command());
    let store = Store::open(&path, &manifest, if_present).map_err(|error| with_flags(error, &path))?;
    store.note().into_iter().for_each(|note| global.note(format_args!("note: {note}")));
    write_settings(&path, kind.name, settings)?;
    Ok(store)
}

/// The library knows what may be done about a folder that is taken; the flags for it are ours.
fn with_flags(error: Error, folder: &Path) -> Error {
    match error {
        Error::Input { file, place, problem, remedy } if file == folder => {
            let remedy = match remedy.as_str() {
                "choose another folder" => "give another --out".into(),
                other => format!("{other} (--resume goes on, --force replaces, --out names another)"),
            };
            Error::Input { file, place, problem, remedy }
        }
        other => other,
    }
}

/// A new folder for a new run; the last one to resume or to replace.
fn default_path(dataset: &str, model: &str, args: &TrainArgs) -> PathBuf {
    let (folder, stem) = (Path::new("runs"), format!("{}-{model}", slug(dataset)));
    let last = if args.resume || args.force { last_name(folder, &stem) } else { None };
    last.unwrap_or_else(|| free_name(folder, &stem))
}

struct Trained<'a> {
    model: &'a str,
    dataset: &'a str,
    folder: Option<&'a Path>,
    settings: &'a Table,
    records: Vec<CellRecord>,
    started: Instant,
}

/// The document for scripts; accuracies in percent, spreads are population standard deviations.
#[derive(Serialize)]
struct Document<'a> {
    dataset: &'a str,
    model: &'a str,
    splits: usize,
    test_accuracy_mean: Option<f64>,
    test_accuracy_std: Option<f64>,
    val_accuracy_mean: f64,
    /// From start to end, as the clock on the wall shows it.
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    per_split: Vec<SplitRow<'a>>,
    seed: u64,
    run: Option<&'a Path>,
    settings: &'a Table,
}

#[derive(Serialize)]
struct SplitRow<'a> {
    split: usize,
    #[serde(flatten)]
    scores: Scores,
    epochs: usize,
    /// Time for training, interrupted sittings included.
    seconds: f64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
}

fn report(trained: &Trained<'_>, global: &Global) {
    let rows: Vec<SplitRow<'_>> = trained.records.iter().filter_map(row).collect();
    global.say(format_args!(
        "{} on {}, seed {}; accuracy in percent",
        trained.model, trained.dataset, global.seed
    ));
    global.say("split    train      val     test  epochs  seconds");
    let shown = |accuracy: Option<f64>| accuracy.map_or_else(|| "-".into(), |a| format!("{a:.2}"));
    for SplitRow { split, scores, epochs, seconds, .. } in &rows {
        global.say(format_args!(
            "{split:>5} {:>8.2} {:>8.2} {:>8} {epochs:>7} {seconds:>8.1}",
            scores.train_accuracy,
            scores.val_accuracy,
            shown(scores.test_accuracy),
        ));
    }
    let test: Vec<f64> = rows.iter().filter_map(|row| row.scores.test_accuracy).collect();
    let column = |of: fn(&Scores) -> f64| mean(&rows.iter().map(|row| of(&row.scores)).collect::<Vec<_>>());
    let (train, val) = (column(|scores| scores.train_accuracy), column(|scores| scores.val_accuracy));
    let test_mean = (!test.is_empty()).then(|| mean(&test));
    let test_std = (!test.is_empty()).then(|| std(&test));
    if rows.len() > 1 {
        let (test, spread) = (shown(test_mean), shown(test_std));
        global.say(format_args!(" mean {train:>8.2} {val:>8.2} {test:>8} ± {spread}"));
    }
    if let Some(first) = rows.first() {
        first.remarks.iter().for_each(|remark| global.say(format_args!("split {}: {remark}", first.split)));
    }
    if let Some(folder) = trained.folder {
        global.say(format_args!("saved in {}", folder.display()));
    }
    global.document(&Document {
        dataset: trained.dataset,
        model: trained.model,
        splits: rows.len(),
        test_accuracy_mean: test_mean,
        test_accuracy_std: test_std,
        val_accuracy_mean: val,
        seconds: trained.started.elapsed().as_secs_f64(),
        peak_memory_bytes: memory::peak_bytes(),
        per_split: rows,
        seed: global.seed,
        run: trained.folder,
        settings: trained.settings,
    });
}

fn row(record: &CellRecord) -> Option<SplitRow<'_>> {
    let measured = record.result.as_ref()?;
    Some(SplitRow {
        split: record.id.split,
        scores: measured.scores,
        epochs: measured.epochs,
        seconds: measured.train_seconds,
        remarks: &measured.diagnostics,
    })
}
