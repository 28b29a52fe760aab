//! `lhs train`: a model on some splits of a dataset, kept in a run folder.

mod last;
mod report;

use std::path::{Path, PathBuf};
use std::time::Instant;

use toml::Table;

use super::clock;
use super::judging::{JudgingArgs, ThresholdArg};
use super::memory_plan;
use super::output::Global;
use super::predict::{RankingArgs, ranking_of};
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{DataSelection, ModelSelection, Selected};
use last::Last;
use lhs::error::{Error, Result};
use lhs::experiment::found_settings::slug;
use lhs::experiment::{
    Data, IfPresent, Manifest, OnError, Plan, Runner, Store, Suite, free_name, last_name, write_settings,
};
use lhs::metrics::class_named;
use lhs::models::{self, ModelKind, Registry};
use report::{Trained, report};

/// Train a model and measure it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs train cora
  lhs train accounts/ --positive-class fraud --metric average_precision --class-weights auto
  lhs train accounts/ --class-weights fraud=10,ok=1 --threshold 0.3
  lhs train --edges payments.csv --features accounts.csv --label-column is_fraud --missing flag --sort-by 1 --top 20 --only unlabelled

With --json, one object: figures in percent (test_accuracy_mean, test_roc_auc_mean, test_average_precision_mean,
test_balanced_accuracy_mean, test_macro_f1_mean, majority_accuracy_mean, …; null where they make no sense), the same
split by split (per_split), and what led to them.")]
pub struct TrainArgs {
    #[command(flatten)]
    data: DataSelection,
    #[command(flatten)]
    model: ModelSelection,
    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    threshold: ThresholdArg,
    /// The run folder [default: runs/DATASET-MODEL, with a number if that is taken]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Go on with an interrupted run; without --out, with the last one
    #[arg(long, conflicts_with_all = ["force", "no_save"])]
    resume: bool,
    /// Replace the run that is in the folder
    #[arg(long, conflicts_with = "no_save")]
    force: bool,
    /// Say how much memory the training will need, and stop
    #[arg(long, conflicts_with_all = ["resume", "force", "no_save"])]
    plan: bool,
    /// Measure only, keep nothing
    #[arg(long, conflicts_with = "out")]
    no_save: bool,
    /// Learn once more in the end, from all labels, with as many epochs as the splits took; `predict` uses that model
    #[arg(long = "final", conflicts_with = "no_save")]
    last: bool,
    #[command(flatten)]
    ranking: RankingArgs,
}

/// Runs the command.
pub fn run(args: &TrainArgs, global: &Global) -> Result<()> {
    let started = Instant::now();
    let kind = args.model.kind()?;
    let own = args.model.own_layers(kind)?;
    args.judging.applied(kind, Table::new(), &own)?;
    let Selected { dataset, source, spec, splits } = args.data.load(global)?;
    note_direction(args.data.source.directed, kind, global);
    let settings = args.model.settings(kind, &dataset, global)?;
    let settings = args.judging.applied(kind, settings, &own)?;
    let model = (kind.build)(&settings)?;
    let sizes = memory_plan::sizes(&dataset, &splits)?;
    if args.plan {
        return sizes.map_or(Ok(()), |sizes| memory_plan::show(&model, kind.name, &sizes, &dataset, global));
    }
    // Before anything is written.
    sizes.map_or(Ok(()), |sizes| model.ensure_fits(&sizes))?;
    let name = dataset.name().to_string();
    let suite = Suite {
        title: format!("{} on {name}", kind.name),
        datasets: vec![source.path().display().to_string()],
        models: vec![kind.name.into()],
        directed: args.data.source.directed,
        splits: Some(spec),
        num_splits: splits.len(),
        seeds: vec![global.seed],
        found_settings: false,
        settings: [(kind.name.to_string(), settings.clone())].into(),
        metric: args.judging.metric,
        positive_class: args.judging.positive.positive_class.clone(),
        threshold: args.threshold.threshold,
        ..Suite::default()
    };
    if args.ranking.sort_by.is_some() && args.no_save {
        return Err(Error::setting(
            "--sort-by",
            "a list needs the model, which --no-save throws away",
            "leave one out",
        ));
    }
    if let Some(name) = &args.ranking.sort_by {
        class_named(name, dataset.labels().names())?;
    }
    let data = Data::read_from(&source, &args.data.source.options(global), dataset)?;
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
    if let (Some(folder), true) = (folder, args.last) {
        let last = Last { kind, suite: &suite, settings: &settings, records: &records, folder };
        last.train(&plan.data[0], global)?;
    }
    let ranking = match folder.filter(|_| args.ranking.sort_by.is_some()) {
        Some(folder) => ranking_of(folder, &plan.data[0].dataset, &args.ranking, global)?,
        None => None,
    };
    report(
        &Trained {
            model: kind.name,
            dataset: &name,
            folder,
            settings: &settings,
            metric_given: args.judging.metric.is_some(),
            records,
            ranking,
            started,
        },
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
