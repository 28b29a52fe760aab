//! `lhs tune`: the search for settings, by validation accuracy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use toml::Table;

use super::interrupt;
use super::output::Global;
use super::selection::{DEFAULT_MODEL, DataSelection, Selected};
use lhs::error::{Error, Result};
use lhs::eval::settings::{self, Layer};
use lhs::eval::tune::sampler::Space;
use lhs::eval::tune::study::{About, Study};
use lhs::eval::tune::{Found, Search, Trial, header};
use lhs::eval::{config_file, fingerprint, shipped};
use lhs::models::{self, ModelKind};

/// Search for good settings, on validation accuracy
///
/// The first trial has the defaults, the next ones what the authors of the model published, if anything;
/// then random settings and small steps from the best ones take turns.
/// After 1, 2, 4, … splits, a trial is given up when it is below the median of the trials that got as far
/// (from the fourth split on, below their upper quartile). Test labels are not looked at. The same command
/// goes on with the study.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    #[command(flatten)]
    data: DataSelection,
    /// The model; `lhs models NAME` shows what is searched
    #[arg(long, value_name = "NAME", default_value = DEFAULT_MODEL)]
    model: String,
    /// How many settings to try in all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: u32,
    /// Begin no training after so many seconds
    #[arg(long, value_name = "S")]
    budget_seconds: Option<u64>,
    /// Fix a setting, which is then not searched; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The file whose section [MODEL] is written [default: configs/DATASET.toml]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The folder that remembers the trials [default: studies/DATASET-MODEL]
    #[arg(long, value_name = "FOLDER")]
    study: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &TuneArgs, global: &Global) -> Result<()> {
    let kind = models::kind(&args.model)?;
    let (base, space) = starting_point(kind, &args.set)?;
    let selected = args.data.load(global)?;
    let about = about(kind, &selected, &base, &space, global);
    let name = shipped::slug(selected.dataset.name());
    let folder =
        args.study.clone().unwrap_or_else(|| Path::new("studies").join(format!("{name}-{}", kind.name)));
    let started = Instant::now();
    let found = search(args, kind, &selected, &about, (base, space), &folder, global)?;
    let best = found.best().ok_or_else(|| {
        Error::data("no trial was finished in time", "give more --budget-seconds; what was finished is kept")
    })?;
    let out = args.out.clone().unwrap_or_else(|| shipped::file_name(selected.dataset.name()));
    let comments = header::comments(&command(args, &about), &about, &found, best, args.budget_seconds);
    let changed = settings::changed(kind, &best.settings);
    config_file::write_section(&out, kind.name, &comments, &changed)?;
    report(
        &Report { about: &about, found: &found, best, changed: &changed, out: &out, folder: &folder },
        started,
        global,
    );
    Ok(())
}

/// The settings of the first trial, and those that vary: all that the model names, but for fixed ones.
fn starting_point(kind: &ModelKind, set: &[String]) -> Result<(Table, Space)> {
    let layers: Vec<Layer> =
        set.iter().map(|assignment| Layer::from_assignment(assignment)).collect::<Result<_>>()?;
    let base = settings::layered(kind, &layers)?;
    let fixed: Vec<String> = layers.iter().flat_map(Layer::keys).collect();
    let mut space = (kind.search)();
    space.retain(|(key, _)| !fixed.iter().any(|name| name == key));
    Ok((base, space))
}

fn about(kind: &ModelKind, selected: &Selected, base: &Table, space: &Space, global: &Global) -> About {
    About {
        format: 1,
        lhs_version: env!("CARGO_PKG_VERSION").into(),
        dataset: selected.dataset.name().to_string(),
        sha256: fingerprint::of_dataset(&selected.dataset),
        model: kind.name.into(),
        seed: global.seed,
        split: selected.spec.to_string(),
        num_splits: selected.splits.len(),
        base: base.clone(),
        space: space.iter().map(|(key, range)| (key.to_string(), format!("{range:?}"))).collect(),
    }
}

fn search(
    args: &TuneArgs,
    kind: &ModelKind,
    selected: &Selected,
    about: &About,
    (base, space): (Table, Space),
    folder: &Path,
    global: &Global,
) -> Result<Found> {
    let (study, known) = Study::open(folder, about)?;
    if !known.is_empty() {
        global.note(format_args!("note: going on with {} trials in {}", known.len(), folder.display()));
    }
    let bar = global.progress(u64::from(args.trials), "trials");
    bar.set_position(known.len() as u64);
    let on_trial = |trial: &Trial| {
        bar.inc(1);
        bar.set_message(format!("last {:.2} %", trial.val_accuracy()));
    };
    let found = Search {
        dataset: &selected.dataset,
        kind,
        base: &base,
        space,
        splits: &selected.splits,
        seed: global.seed,
        trials: args.trials as usize,
        budget: args.budget_seconds.map(Duration::from_secs),
        threads: global.num_threads()?,
        stop: Some(interrupt::flag()),
        on_trial: &on_trial,
    }
    .run(study, known);
    bar.finish_and_clear();
    found
}

/// The command that does the same again, wherever the user's words left something open.
fn command(args: &TuneArgs, about: &About) -> String {
    let mut words = format!(
        "lhs tune {} --model {} --trials {} --split {} --seed {}",
        args.data.data.display(),
        about.model,
        args.trials,
        about.split,
        about.seed
    );
    if let Some(count) = args.data.num_splits {
        words += &format!(" --num-splits {count}");
    }
    if let Some(seconds) = args.budget_seconds {
        words += &format!(" --budget-seconds {seconds}");
    }
    if args.data.directed {
        words += " --directed";
    }
    for assignment in &args.set {
        words += &format!(" --set '{assignment}'");
    }
    words.replace(char::is_control, " ")
}

struct Report<'a> {
    about: &'a About,
    found: &'a Found,
    best: &'a Trial,
    changed: &'a Table,
    out: &'a Path,
    folder: &'a Path,
}

fn report(report: &Report<'_>, started: Instant, global: &Global) {
    let Report { about, found, best, changed, out, folder } = report;
    let finished = found.trials.iter().filter(|trial| trial.finished).count();
    let given_up = found.trials.len() - finished;
    if found.out_of_time {
        global.note("note: the time was up before all trials were run; the same command goes on");
    }
    global.say(format_args!(
        "{} on {}: {finished} trials finished, {given_up} given up, {} cut off by the time",
        about.model,
        about.dataset,
        found.cut_off.len()
    ));
    global.say(format_args!(
        "best: trial {}, mean validation accuracy {:.2} % on {} of {} splits",
        best.trial,
        best.val_accuracy(),
        best.val_accuracies.len(),
        about.num_splits
    ));
    for (key, value) in settings::leaves(changed) {
        global.say(format_args!("  {key} = {value}"));
    }
    if changed.is_empty() {
        global.say("  the defaults");
    }
    global.say(format_args!("written to {}; trials in {}", out.display(), folder.display()));
    global.document(&json!({
        "dataset": about.dataset,
        "model": about.model,
        "splits": about.num_splits,
        "seed": about.seed,
        "trials": found.trials.len(),
        "finished": finished,
        "given_up": given_up,
        "cut_off": found.cut_off.len(),
        "best_trial": best.trial,
        "val_accuracy_mean": best.val_accuracy(),
        "val_accuracy_splits": best.val_accuracies.len(),
        "settings": changed,
        "out": out,
        "study": folder,
        "seconds": started.elapsed().as_secs_f64(),
    }));
}
