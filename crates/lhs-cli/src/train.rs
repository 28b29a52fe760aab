//! `lhs train`: a model on some splits of a dataset, kept in a run folder.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde::Serialize;
use toml::Table;

use super::interrupt;
use super::output::Global;
use super::selection::{DataSelection, ModelSelection, Selected};
use lhs::error::{Error, Result};
use lhs::eval::experiment::{Experiment, Outcome, SplitResult, Watch};
use lhs::eval::run::{self, DataRecord, FORMAT, IfPresent, Manifest, RunFolder};
use lhs::eval::{fingerprint, metrics, shipped};
use lhs::models::ModelKind;
use lhs::training::EpochRecord;

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
    let kind = args.model.kind()?;
    args.model.own_layers(kind)?;
    let selected = args.data.load(global)?;
    let settings = args.model.settings(kind, selected.dataset.name(), global)?;
    (kind.build)(&settings)?;
    let run = if args.no_save { None } else { Some(folder(args, kind, &selected, &settings, global)?) };
    let progress = Progress { bar: global.progress(selected.splits.len() as u64, kind.name) };
    let outcome = Experiment {
        dataset: &selected.dataset,
        kind,
        settings: &settings,
        splits: &selected.splits,
        seed: global.seed,
        threads: global.num_threads()?,
        stop: Some(interrupt::flag()),
        run: run.as_ref(),
        watch: &progress,
    }
    .run();
    progress.bar.finish_and_clear();
    report(&outcome.map_err(|error| how_to_go_on(error, run.as_ref()))?, run.as_ref(), &settings, global);
    Ok(())
}

fn folder(
    args: &TrainArgs,
    kind: &ModelKind,
    selected: &Selected,
    settings: &Table,
    global: &Global,
) -> Result<RunFolder> {
    let path = args.out.clone().unwrap_or_else(|| default_path(selected.dataset.name(), kind.name, args));
    let if_present = match (args.resume, args.force) {
        (true, _) => IfPresent::Resume,
        (_, true) => IfPresent::Replace,
        _ => IfPresent::Refuse,
    };
    if args.resume && !path.exists() {
        global.note(format_args!("note: nothing to resume in {}; beginning", path.display()));
    }
    let manifest = Manifest {
        format: FORMAT,
        lhs_version: env!("CARGO_PKG_VERSION").into(),
        model: kind.name.into(),
        dataset: data_record(args, selected)?,
        classes: selected.dataset.labels().names().to_vec(),
        seed: global.seed,
        split: selected.spec.to_string(),
        splits: selected.splits.iter().map(|split| split.number).collect(),
    };
    RunFolder::create(&path, manifest, settings.clone(), if_present)
}

/// A new folder for a new run; the last one to resume or to replace.
fn default_path(dataset: &str, model: &str, args: &TrainArgs) -> PathBuf {
    let (folder, stem) = (Path::new("runs"), format!("{}-{model}", shipped::slug(dataset)));
    let last = if args.resume || args.force { run::last_name(folder, &stem) } else { None };
    last.unwrap_or_else(|| run::free_name(folder, &stem))
}

fn data_record(args: &TrainArgs, selected: &Selected) -> Result<DataRecord> {
    let source = &args.data.data;
    // A bare name means a fetched graph wherever one stands; a path should still be found from elsewhere.
    let is_path = source.exists() || source.components().count() > 1;
    let absolute = std::path::absolute(source).ok().filter(|_| is_path);
    Ok(DataRecord {
        name: selected.dataset.name().to_string(),
        path: absolute.unwrap_or_else(|| source.clone()),
        directed: args.data.directed,
        sha256: fingerprint::of_dataset(&selected.dataset),
        files: fingerprint::input_files(source)?,
    })
}

fn how_to_go_on(error: Error, run: Option<&RunFolder>) -> Error {
    match (error, run) {
        (Error::Interrupted { .. }, None) => {
            Error::Interrupted { remedy: "nothing was kept, because of --no-save".into() }
        }
        (Error::Interrupted { .. }, Some(run)) => Error::Interrupted {
            remedy: format!(
                "saved in {}; the same command with --resume goes on from there",
                run.path().display()
            ),
        },
        (other, _) => other,
    }
}

/// The bar: finished splits, and how the one that spoke last is doing.
struct Progress {
    bar: ProgressBar,
}

impl Watch for Progress {
    fn epoch(&self, split: usize, record: &EpochRecord) {
        // Ten epochs pass in a blink; formatting each of them would cost more than showing it.
        if self.bar.is_hidden() || !record.epoch.is_multiple_of(10) {
            return;
        }
        let accuracy =
            record.val_accuracy.map_or_else(String::new, |a| format!(", validation {:.1} %", 100.0 * a));
        self.bar.set_message(format!("split {split}: {} {}{accuracy}", record.stage, record.epoch));
    }

    fn split(&self, _result: &SplitResult) {
        self.bar.inc(1);
    }
}

/// The document for scripts: the outcome, and what led to it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    seed: u64,
    run: Option<&'a Path>,
    settings: &'a Table,
}

fn report(outcome: &Outcome, run: Option<&RunFolder>, settings: &Table, global: &Global) {
    global.say(format_args!(
        "{} on {}, seed {}; accuracy in percent",
        outcome.model, outcome.dataset, global.seed
    ));
    global.say("split    train      val     test  epochs  seconds");
    for r in &outcome.per_split {
        global.say(format_args!(
            "{:>5} {:>8.2} {:>8.2} {:>8.2} {:>7} {:>8.1}",
            r.split,
            r.scores.train_accuracy,
            r.scores.val_accuracy,
            r.scores.test_accuracy,
            r.epochs,
            r.seconds
        ));
    }
    if outcome.splits > 1 {
        let train: Vec<f64> = outcome.per_split.iter().map(|r| r.scores.train_accuracy).collect();
        global.say(format_args!(
            " mean {:>8.2} {:>8.2} {:>8.2} ± {:.2}",
            metrics::mean(&train),
            outcome.val_accuracy_mean,
            outcome.test_accuracy_mean,
            outcome.test_accuracy_std
        ));
    }
    if let Some(first) = outcome.per_split.first() {
        for remark in &first.remarks {
            global.say(format_args!("split {}: {remark}", first.split));
        }
    }
    if let Some(run) = run {
        global.say(format_args!("saved in {}", run.path().display()));
    }
    global.document(&Document { outcome, seed: global.seed, run: run.map(RunFolder::path), settings });
}
