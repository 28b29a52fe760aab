//! `lhs bench`: a whole grid of experiments, which goes on where it was stopped.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;

use super::interrupt;
use super::output::Global;
use lhs::bench::table::{self, Row};
use lhs::bench::{Bench, CellRecord, Grid, Job, Only, Progress, Store, Suite, read_cells, shipped};
use lhs::error::{Error, Result};

/// Run a suite: datasets × splits × models × attacks × rates × seeds × settings
///
/// Every finished cell is on disk at once: whatever stops the process, the same command goes on from there. Cells that
/// failed are recorded with their error and tried again by the next run. One process at a time works on a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs bench --list
  lhs bench smoke
  lhs bench suites/clean.toml --only dataset=texas,model=lhs,gcn
  lhs bench clean --out runs/clean --dry-run

With --json, one object: suite, out, cells, run, known, failed, rows; a row has dataset, attack, rate, poisoning,
model, variant, cells, failed, test_accuracy_mean, test_accuracy_std, train_seconds_mean.")]
pub struct BenchArgs {
    /// A suite file, or the name of a suite that comes with lhs
    #[arg(required_unless_present = "list")]
    suite: Option<PathBuf>,
    /// The folder to keep the cells in [default: runs/bench-SUITE]
    #[arg(long, value_name = "RUNS")]
    out: Option<PathBuf>,
    /// Part of the grid: fields dataset, model, variant, split, seed, attack, rate; `none` is no attack or variant
    #[arg(long, value_name = "FIELD=VALUE,…")]
    only: Option<String>,
    /// Say what would run and about how long it takes, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Name the suites that come with lhs
    #[arg(long)]
    list: bool,
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
    rows: &'a [Row],
}

/// Runs the command.
pub fn run(args: &BenchArgs, global: &Global) -> Result<()> {
    let Some(file) = args.suite.as_deref().filter(|_| !args.list) else {
        return list(global);
    };
    let only = args.only.as_deref().map(Only::parse).transpose()?.unwrap_or_default();
    let (name, suite) = read(file)?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("bench-{name}")));
    let grid = global.busy("reading the data", || Grid::new(&suite, file, &only))?;
    if args.dry_run {
        return dry_run(&name, &grid, &out, global);
    }
    let store = Store::open(&out, &name, &suite)?;
    store.note().into_iter().for_each(|note| global.note(note));
    let cells = grid.cells().count();
    let bar = global.progress(cells as u64, &name);
    let bench = Bench {
        grid: &grid,
        store: &store,
        threads: global.num_threads()?,
        stop: Some(interrupt::flag()),
        progress: &Shown { bar: &bar, global },
    };
    let summary = bench.run();
    bar.finish_and_clear();
    let summary = summary?;
    // In the order of the grid, whatever was finished first.
    let places: HashMap<&str, usize> =
        grid.cells().enumerate().map(|(place, cell)| (cell.key.as_str(), place)).collect();
    let mut records = read_cells(&out)?.1;
    records.retain(|record| places.contains_key(record.key.as_str()));
    records.sort_by_key(|record| places[record.key.as_str()]);
    let rows = table::rows(&records);
    global.say(format_args!("{}\n{}", suite.title, in_columns(&rows)));
    global.say(format_args!(
        "{cells} cells in {}: {} run now, {} known before, {} failed",
        out.display(),
        summary.run,
        summary.known,
        summary.failed
    ));
    let (run, known, failed) = (summary.run, summary.known, summary.failed);
    global.document(&Document { suite: &name, out: &out, cells, run, known, failed, rows: &rows });
    Ok(())
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

/// Shows cells as they are finished.
struct Shown<'a> {
    bar: &'a ProgressBar,
    global: &'a Global,
}

impl Progress for Shown<'_> {
    fn cell(&self, record: &CellRecord) {
        let id = &record.id;
        if let Some(error) = &record.error {
            let attack =
                id.attack.as_ref().map_or(String::new(), |a| format!(" under {} {}", a.name, a.rate));
            let what = format!("{} on {} split {}{attack}", id.model, id.dataset, id.split);
            self.bar.suspend(|| self.global.note(format_args!("failed: {what}: {error}")));
        } else if let Some(measured) = &record.result {
            let accuracy = measured.scores.test_accuracy;
            self.bar.set_message(format!("{} {}: {accuracy:.1} %", id.dataset, id.model));
        }
        self.bar.inc(1);
    }
}

fn dry_run(name: &str, grid: &Grid, out: &Path, global: &Global) -> Result<()> {
    let known = if out.join("bench.json").exists() { read_cells(out)?.1 } else { Vec::new() };
    let finished: HashSet<&str> =
        known.iter().filter(|record| record.result.is_some()).map(|record| record.key.as_str()).collect();
    let is_left = |job: &&Job| job.cells.iter().any(|cell| !finished.contains(cell.key.as_str()));
    let left: Vec<&Job> = grid.jobs.iter().filter(is_left).collect();
    let cells = grid.cells().count();
    let done = grid.cells().filter(|cell| finished.contains(cell.key.as_str())).count();
    let on_one_core = left.iter().map(|job| estimate(job, grid, &known)).fold(0.0, |sum, job| sum + job);
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
fn estimate(job: &Job, grid: &Grid, known: &[CellRecord]) -> f64 {
    let dataset = &grid.data[job.data].dataset;
    let alike = known.iter().filter(|r| r.id.dataset == dataset.name() && r.id.model == job.contender.name());
    let seconds: Vec<f64> = alike.filter_map(|r| Some(r.result.as_ref()?.train_seconds)).collect();
    if !seconds.is_empty() {
        return seconds.iter().sum::<f64>() / seconds.len() as f64;
    }
    let size = (dataset.num_nodes() + dataset.graph().num_edges()) as f64;
    // Measured on the nine graphs, rounded.
    size * if ["lhs", "latent-kmeans", "latent-spectral"].contains(&job.contender.name()) {
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

/// One line per dataset and attack, one column per model and variant.
fn in_columns(rows: &[Row]) -> String {
    let column = |row: &Row| match &row.variant {
        Some(variant) => format!("{} ({variant})", row.model),
        None => row.model.clone(),
    };
    let line = |row: &Row| {
        let attack = match &row.attack {
            None => "clean".to_string(),
            Some(attack) => {
                let when = if row.poisoning { " before training" } else { "" };
                format!("{attack} {}{when}", row.rate)
            }
        };
        (row.dataset.clone(), attack)
    };
    let (mut columns, mut lines) = (Vec::new(), Vec::new());
    for row in rows {
        if !columns.contains(&column(row)) {
            columns.push(column(row));
        }
        if !lines.contains(&line(row)) {
            lines.push(line(row));
        }
    }
    // Many variants read better one below the other.
    let turned = columns.len() > 6;
    let cell = |at: &(String, String), of: &String| {
        rows.iter().find(|row| line(row) == *at && column(row) == *of).map_or_else(String::new, shown)
    };
    let mut text = String::new();
    let title = |at: &(String, String)| format!("{} {}", at.0, at.1);
    let (heads, sides): (Vec<String>, Vec<String>) = if turned {
        (lines.iter().map(title).collect(), columns.clone())
    } else {
        (columns.clone(), lines.iter().map(title).collect())
    };
    let first = sides.iter().map(|side| side.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = heads.iter().map(|head| head.chars().count().max(14)).collect();
    let _ = write!(text, "{:first$}", "");
    heads.iter().zip(&widths).for_each(|(head, width)| {
        let _ = write!(text, "  {head:>width$}");
    });
    for (place, side) in sides.iter().enumerate() {
        let _ = write!(text, "\n{side:first$}");
        for (other, width) in widths.iter().enumerate() {
            let value = if turned { cell(&lines[other], side) } else { cell(&lines[place], &columns[other]) };
            let _ = write!(text, "  {value:>width$}");
        }
    }
    text
}

fn shown(row: &Row) -> String {
    match (row.test_accuracy_mean, row.test_accuracy_std) {
        (Some(mean), Some(std)) if row.cells > 1 => format!("{mean:.2} ± {std:.2}"),
        (Some(mean), _) => format!("{mean:.2}"),
        _ => "failed".into(),
    }
}
