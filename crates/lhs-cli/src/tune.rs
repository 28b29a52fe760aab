//! `lhs tune`: the search for settings, by what counts at the validation nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toml::Table;

use super::clock;
use super::judging::JudgingArgs;
use super::memory_plan;
use super::output::Global;
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{DEFAULT_MODEL, DataSelection, Selected, named_model};
use super::train::note_direction;
use lhs::error::{Error, Result};
use lhs::experiment::settings::{self, Layer};
use lhs::experiment::tuner::sampler::Space;
use lhs::experiment::tuner::{Found, Trial, header};
use lhs::experiment::{Data, IfPresent, Store, Tuner, config_file, found_settings};
use lhs::metrics::{Metric, class_named};
use lhs::models::ModelKind;

/// Search for good settings, by what counts at the validation nodes
///
/// That is accuracy, or else what --metric says.
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
    #[command(flatten)]
    judging: JudgingArgs,
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
    let started = Instant::now();
    let kind = named_model(&args.model)?;
    let (base, space) = starting_point(kind, args)?;
    let Selected { dataset, source, spec, splits } = args.data.load(global)?;
    note_direction(args.data.source.directed, kind, global);
    if let Some(sizes) = memory_plan::sizes(&dataset, &splits)? {
        (kind.build)(&base)?.ensure_fits(&sizes)?;
    }
    let name = dataset.name().to_string();
    let origin = dataset.own_origin();
    let progress = Progress::new(global, Counts::Trials, args.trials as usize, "trials");
    let mut data = Data::read_from(&source, &args.data.source.options(global), dataset)?;
    if let Some(name) = &args.judging.positive.positive_class {
        let class = class_named(name, &data.record.classes).map_err(|error| error.in_file(source.path()))?;
        data = data.looking_for(class);
    }
    let tuner = Tuner {
        data: Arc::new(data),
        metric: args.judging.metric.unwrap_or(Metric::Accuracy),
        kind,
        base: &base,
        space,
        splits: &splits,
        seed: global.seed,
        trials: args.trials as usize,
        budget: args.budget_seconds.map(Duration::from_secs),
        threads: global.num_threads()?,
        observer: &progress,
    };
    let (split, slug) = (spec.to_string(), found_settings::slug(&name));
    let default = || Path::new("studies").join(format!("{slug}-{}", kind.name));
    let folder = args.study.clone().unwrap_or_else(default);
    let store = Store::open(
        &folder,
        &tuner.manifest(&split).begun(clock::now(), clock::command()),
        IfPresent::Resume,
    )
    .map_err(|error| with_flag(error, &folder))?;
    if store.num_finished() > 0 {
        let known = store.num_finished();
        global.note(format_args!("note: going on with {known} trainings in {}", folder.display()));
    }
    let found = tuner.run(&store);
    progress.done();
    let kept = || "every finished training is kept; the same command goes on from there".to_string();
    let found = found.map_err(|error| how_to_go_on(error, kept))?;
    let best = found.best().ok_or_else(|| {
        Error::data("no trial was finished in time", "give more --budget-seconds; what was finished is kept")
    })?;
    let out = args.out.clone().unwrap_or_else(|| found_settings::file_name(&origin.name));
    found_settings::check_data(&out, &origin)?;
    let comments =
        header::comments(&command(args, kind.name, &split, global.seed), &tuner, &split, &found, best);
    let changed = settings::changed(kind, &best.settings);
    config_file::write_section(&out, kind.name, &comments, &changed)?;
    found_settings::write_data(&out, &origin)?;
    let report = Report { tuner: &tuner, found: &found, best, changed: &changed, out: &out, folder: &folder };
    report.say(started, global);
    Ok(())
}

fn with_flag(error: Error, folder: &Path) -> Error {
    match error {
        Error::Input { file, place, problem, .. } if file == folder => {
            Error::input(file, place, problem, "give another --study, or remove this one to begin again")
        }
        other => other,
    }
}

/// The settings of the first trial, and those that vary: all that the model names, but for fixed ones.
fn starting_point(kind: &ModelKind, args: &TuneArgs) -> Result<(Table, Space)> {
    let layers: Vec<Layer> =
        args.set.iter().map(|assignment| Layer::from_assignment(assignment)).collect::<Result<_>>()?;
    let base = args.judging.applied(kind, settings::layered(kind, &layers)?, &layers)?;
    let fixed: Vec<String> = layers.iter().flat_map(Layer::keys).collect();
    let mut space = (kind.search)();
    space.retain(|(key, _)| !fixed.iter().any(|name| name == key));
    Ok((base, space))
}

/// The command that does the same again, wherever the user's words left something open.
fn command(args: &TuneArgs, model: &str, split: &str, seed: u64) -> String {
    let mut words = format!(
        "lhs tune {} --model {model} --trials {} --split {split} --seed {seed}",
        args.data
            .source
            .data
            .as_deref()
            .or(args.data.source.tables.edges.as_deref())
            .unwrap_or(Path::new(""))
            .display(),
        args.trials,
    );
    if let Some(count) = args.data.num_splits {
        words += &format!(" --num-splits {count}");
    }
    if let Some(seconds) = args.budget_seconds {
        words += &format!(" --budget-seconds {seconds}");
    }
    if args.data.source.directed {
        words += " --directed";
    }
    if let Some(metric) = args.judging.metric {
        words += &format!(" --metric {}", metric.name());
    }
    if let Some(class) = &args.judging.positive.positive_class {
        words += &format!(" --positive-class '{class}'");
    }
    if let Some(weights) = &args.judging.class_weights {
        words += &format!(" --class-weights '{weights}'");
    }
    for assignment in &args.set {
        words += &format!(" --set '{assignment}'");
    }
    words.replace(char::is_control, " ")
}

struct Report<'a> {
    tuner: &'a Tuner<'a>,
    found: &'a Found,
    best: &'a Trial,
    changed: &'a Table,
    out: &'a Path,
    folder: &'a Path,
}

impl Report<'_> {
    fn say(&self, started: Instant, global: &Global) {
        let Report { tuner, found, best, changed, out, folder } = self;
        let (model, dataset, splits) = (tuner.kind.name, &tuner.data.record.name, tuner.splits.len());
        let finished = found.trials.iter().filter(|trial| trial.finished).count();
        let given_up = found.trials.len() - finished;
        if found.out_of_time {
            global.note("note: the time was up before all trials were run; the same command goes on");
        }
        global.say(format_args!(
            "{model} on {dataset}: {finished} trials finished, {given_up} given up, {} cut off by the time",
            found.cut_off.len()
        ));
        global.say(format_args!(
            "best: trial {}, mean validation {} {:.2} % on {} of {} splits",
            best.trial,
            tuner.metric,
            best.value(),
            best.values.len(),
            splits
        ));
        for (key, value) in settings::leaves(changed) {
            global.say(format_args!("  {key} = {value}"));
        }
        if changed.is_empty() {
            global.say("  the defaults");
        }
        global.say(format_args!("written to {}; trials in {}", out.display(), folder.display()));
        global.document(&json!({
            "dataset": dataset,
            "model": model,
            "splits": splits,
            "seed": tuner.seed,
            "trials": found.trials.len(),
            "finished": finished,
            "given_up": given_up,
            "cut_off": found.cut_off.len(),
            "best_trial": best.trial,
            "metric": tuner.metric,
            "val_metric_mean": best.value(),
            "val_accuracy_mean": (tuner.metric == Metric::Accuracy).then(|| best.value()),
            "val_accuracy_splits": best.values.len(),
            "settings": changed,
            "out": out,
            "study": folder,
            "seconds": started.elapsed().as_secs_f64(),
        }));
    }
}
