//! `lhs bench`: a whole grid of experiments, which goes on where it was stopped.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::clock;
use super::output::Global;
use super::progress::{Counts, Progress, how_to_go_on};
use lhs::error::{Error, Result};
use lhs::experiment::table::{AccuracyTable, Row};
use lhs::experiment::{
    CellFilter, CellRecord, IfPresent, Job, Manifest, Outcome, Plan, Runner, Shard, Store, Suite, merge,
    read_cells, shipped,
};
use lhs::models::Registry;

/// Run a suite: datasets × splits × models × attacks × rates × seeds × settings
///
/// Every finished cell is on disk at once: whatever stops the process, the same command goes on from there. Cells that
/// failed are recorded with their error and tried again by the next run. One process at a time works on a folder; several
/// machines take a share each (--shard), and `lhs bench merge` puts the shares together.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  lhs bench --list
  lhs bench smoke
  lhs bench suites/clean.toml --only dataset=texas,model=lhs,gcn
  lhs bench clean --out runs/clean --dry-run
  lhs bench clean --shard 2/8 --out runs/clean-2
  lhs bench merge runs/clean-1 runs/clean-2 --out runs/clean

With --json, one object: suite, out, cells, run, known, failed, rows; a row has dataset, attack, rate, poisoning,
inductive, model, variant, cells, failed, test_accuracy_mean, test_accuracy_std, train_seconds_mean.")]
pub struct BenchArgs {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// A suite file, or the name of a suite that comes with lhs
    #[arg(required_unless_present = "list")]
    suite: Option<PathBuf>,
    /// The folder to keep the cells in [default: runs/bench-SUITE]
    #[arg(long, value_name = "RUNS")]
    out: Option<PathBuf>,
    /// Part of the grid: fields dataset, model, variant, split, seed, attack, rate; `none` is no attack or variant
    #[arg(long, value_name = "FIELD=VALUE,…")]
    only: Option<String>,
    /// One of several equal shares, such as 2/8: the same on every machine, and no cell in two of them
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Say what would run and about how long it takes, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Name the suites that come with lhs
    #[arg(long)]
    list: bool,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    /// Put folders together that hold shares of one suite
    Merge {
        /// The folders
        #[arg(required = true, value_name = "FOLDERS")]
        folders: Vec<PathBuf>,
        /// The new folder
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
}

/// The document for scripts.
#[derive(Serialize)]
struct Document<'a> {
    suite: &'a str,
    out: &'a Path,
    cells: usize,
    run: usize,
    known: usize,
    failed: usize,
    rows: Vec<Row>,
}

/// Runs the command.
pub fn run(args: &BenchArgs, global: &Global) -> Result<()> {
    if let Some(BenchCommand::Merge { folders, out }) = &args.command {
        return put_together(folders, out, global);
    }
    let Some(file) = args.suite.as_deref().filter(|_| !args.list) else {
        return list(global);
    };
    let filter = args.only.as_deref().map(CellFilter::parse).transpose()?.unwrap_or_default();
    let (name, suite) = read(file)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("bench-{name}")));
    let plan = global.busy("reading the data", || Plan::load(&suite, file, &Registry::default()))?;
    let mut plan = plan.filtered(&filter).map_err(|error| named(error, file))?;
    if let Some(shard) = args.shard {
        plan = plan.sharded(shard);
    }
    if args.dry_run {
        return dry_run(&name, &plan, &out, global);
    }
    let outcome = run_plan(&name, &suite, &plan, &out, global)?;
    say(&name, &suite, &out, &outcome, global);
    Ok(())
}

fn run_plan(name: &str, suite: &Suite, plan: &Plan, out: &Path, global: &Global) -> Result<Outcome> {
    let manifest = Manifest::new(name, suite, plan).begun(clock::now(), clock::command());
    let store = Store::open(out, &manifest, IfPresent::Extend)?;
    store.note().into_iter().for_each(|note| global.note(format_args!("note: {note}")));
    let progress = Progress::new(global, Counts::Cells, plan.cells().count(), name);
    let outcome = Runner::new(plan).store(&store).threads(global.num_threads()?).observer(&progress).run();
    progress.done();
    let kept = || "every finished cell is kept; the same command goes on from there".to_string();
    outcome.map_err(|error| how_to_go_on(error, kept))
}

fn say(name: &str, suite: &Suite, out: &Path, outcome: &Outcome, global: &Global) {
    let table = AccuracyTable::new(suite, &outcome.records);
    let &Outcome { run, known, failed, ref records, .. } = outcome;
    let cells = records.len();
    let protocol = table.protocol().map_or(String::new(), |said| format!("\n{said}"));
    global.say(format_args!("{}{protocol}\n{}", suite.title, table.plain()));
    global.say(format_args!(
        "{cells} cells in {}: {run} run now, {known} known before, {failed} failed",
        out.display()
    ));
    global.document(&Document { suite: name, out, cells, run, known, failed, rows: table.rows() });
}

/// Folders that hold shares of one suite become one.
fn put_together(folders: &[PathBuf], out: &Path, global: &Global) -> Result<()> {
    merge(folders, out)?;
    let (manifest, records) = read_cells(out)?;
    let failed = records.iter().filter(|record| record.result.is_none()).count();
    let known = records.len() - failed;
    let outcome = Outcome { records, known, failed, ..Outcome::default() };
    say(&manifest.name, &manifest.suite, out, &outcome, global);
    Ok(())
}

/// The suite's file, and what to do about a part of it that is empty.
fn named(error: Error, suite: &Path) -> Error {
    match error {
        Error::Input { place, problem, .. } => {
            Error::input(suite, place, problem, "let --only name values that the suite has")
        }
        other => other,
    }
}

/// The name of a suite, and the suite: from a file, or from those that come with the binary.
fn read(file: &Path) -> Result<(String, Suite)> {
    let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => match shipped::suite(&file.to_string_lossy()) {
            Some(text) => text.to_string(),
            None if error.kind() == std::io::ErrorKind::NotFound => {
                let names: Vec<&str> = shipped::SUITES.iter().map(|(name, _)| *name).collect();
                let remedy = format!("give a suite file, or one of: {}", names.join(", "));
                return Err(Error::input(file, "", "there is no such suite", remedy));
            }
            None => return Err(Error::io("read", file)(error)),
        },
    };
    Ok((name, Suite::parse(&text, file)?))
}

fn list(global: &Global) -> Result<()> {
    let mut suites = Vec::new();
    for (name, text) in shipped::SUITES {
        let suite = Suite::parse(text, Path::new(name))?;
        global.say(format_args!("{name:<12} {}", suite.title));
        suites.push(json!({"name": name, "title": suite.title}));
    }
    global.document(&suites);
    Ok(())
}

fn dry_run(name: &str, plan: &Plan, out: &Path, global: &Global) -> Result<()> {
    let known = if out.join("manifest.json").exists() { read_cells(out)?.1 } else { Vec::new() };
    let finished: HashSet<&str> =
        known.iter().filter(|record| record.result.is_some()).map(|record| record.key.as_str()).collect();
    let is_left = |job: &&Job| job.cells.iter().any(|cell| !finished.contains(cell.key.as_str()));
    let left: Vec<&Job> = plan.jobs.iter().filter(is_left).collect();
    let cells = plan.cells().count();
    let done = plan.cells().filter(|cell| finished.contains(cell.key.as_str())).count();
    let on_one_core = left.iter().map(|job| estimate(job, plan, &known)).fold(0.0, |sum, job| sum + job);
    let seconds = on_one_core / global.num_threads()? as f64;
    global.say(format_args!(
        "{name}: {cells} cells, {done} of them finished; {} models to train, {}",
        left.len(),
        in_words(seconds)
    ));
    global.document(&json!({
        "suite": name,
        "cells": cells,
        "finished": done,
        "models_to_train": left.len(),
        "estimated_seconds": seconds,
    }));
    Ok(())
}

/// About how long a job takes on one core: as such jobs took before, or else by a rule of thumb. Attacks that are
/// trained against are not counted.
fn estimate(job: &Job, plan: &Plan, known: &[CellRecord]) -> f64 {
    let dataset = &plan.data[job.data].dataset;
    let alike =
        known.iter().filter(|r| r.id.dataset == dataset.name() && r.id.model == job.method.method.name());
    let seconds: Vec<f64> = alike.filter_map(|r| Some(r.result.as_ref()?.train_seconds)).collect();
    if !seconds.is_empty() {
        return seconds.iter().sum::<f64>() / seconds.len() as f64;
    }
    let size = (dataset.num_nodes() + dataset.graph().num_edges()) as f64;
    // Measured on the nine graphs, rounded.
    size * if ["lhs", "latent-kmeans", "latent-spectral"].contains(&job.method.method.name()) {
        5e-4
    } else {
        5e-5
    }
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("about {s:.0} s"),
        s if s < 5400.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.1} h", s / 3600.0),
    }
}
