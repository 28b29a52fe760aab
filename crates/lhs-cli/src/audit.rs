//! `lhs audit`: how far the parts of a dataset, and attacked versions of it, lie to the right of its training nodes.

mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::attack::split_of;
use super::output::Global;
use super::selection::load_with;
use lhs::error::{Error, Result};
use lhs::experiment::Run;
use lhs::experiment::fingerprint;
use lhs::graph::{Dataset, Split};
use lhs::io::LoadOptions;
use lhs::metrics::audit::{Audit, AuditConfig, Trained, Version, check_same_nodes, split_of_version};
use lhs::models::{NodeClassifier, Registry};

/// What the dataset itself is called beside its other versions.
const CLEAN: &str = "clean";

/// Measure heterophily and right-shift
///
/// H is the share of other classes among a node's neighbours (ring 1), the nodes two steps away (ring 2) and so on.
/// Every part of the split, of the dataset and of each changed version, is held against the dataset's training nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs audit chameleon
  lhs attack injected chameleon --out attacked.npz
  lhs audit chameleon --against attacked.npz
  lhs audit chameleon --against weak.npz strong.npz --run runs/chameleon-lhs --csv tables

shift  mean H of the part less mean H of the training nodes
W1     Wasserstein-1 distance of the two distributions
KS     Kolmogorov-Smirnov statistic; > to the right of the training nodes, < to the left

With --json, one object: dataset, split, run, model, bins, samples (every version, graph,
scope and part, with its histogram), accuracy (by H, of the run's model), written.
With --csv: histograms.csv, shifts.csv, accuracy_by_h.csv.")]
pub struct AuditArgs {
    /// An .npz file, a folder, or the name of a fetched graph
    data: PathBuf,
    /// Changed versions of the data, with the same nodes and classes
    #[arg(long, value_name = "DATA", num_args = 1..)]
    against: Vec<PathBuf>,
    /// A run on the data: measure its latent graphs, and its accuracy by H
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// The split [default: 0; with --run, the first of the run]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// Keep the direction of the edges; rings then follow it
    #[arg(long)]
    directed: bool,
    /// Look at rings up to this distance
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=32))]
    hops: u16,
    /// Bins of the histograms
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    bins: u16,
    /// Write tables for plots into this folder
    #[arg(long, value_name = "FOLDER")]
    csv: Option<PathBuf>,
    /// Replace tables that are there
    #[arg(long)]
    force: bool,
}

/// The document for scripts.
#[derive(Serialize)]
struct Document<'a> {
    dataset: &'a str,
    split: usize,
    run: Option<&'a Path>,
    model: Option<&'a str>,
    #[serde(flatten)]
    audit: &'a Audit,
    written: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(args: &AuditArgs, global: &Global) -> Result<()> {
    args.csv.as_deref().map(|folder| check_folder(folder, args.force)).transpose()?;
    let names = names(&args.against)?;
    let run = args.run.as_deref().map(Run::open).transpose()?;
    let directed = args.directed || run.as_ref().is_some_and(|run| run.data().directed);
    // What a run learned from is read as it was then.
    let options = match &run {
        Some(run) => LoadOptions { directed, ..run.data().load_options() },
        None => global.load_options(directed),
    };
    let clean = load_with(&args.data, &options, global)?;
    let number =
        args.split.or_else(|| run.as_ref()?.results().first().map(|record| record.id.split)).unwrap_or(0);
    let model = run.as_ref().map(|run| model_of(run, &clean, args, number)).transpose()?;
    let split = match &run {
        Some(run) => run.split(&clean, number)?,
        None => split_of(&clean, number).map_err(|error| error.in_file(&args.data))?.clone(),
    };
    let changed = args
        .against
        .iter()
        .map(|path| changed(path, &clean, &split, number, &options, global))
        .collect::<Result<Vec<_>>>()?;

    let first = Version { name: CLEAN.to_string(), dataset: &clean, split };
    let others = names.into_iter().zip(&changed);
    let others = others.map(|(name, (dataset, split))| Version { name, dataset, split: split.clone() });
    let versions: Vec<Version<'_>> = std::iter::once(first).chain(others).collect();
    let trained = run.as_ref().zip(model.as_deref());
    let trained = trained.map(|(run, model)| Trained { model, classes: &run.data().classes });
    let config = AuditConfig { hops: args.hops.into(), bins: args.bins.into() };
    let audit = global.busy("measuring", || config.run(&versions, trained.as_ref()))?;
    if let Some(folder) = &args.csv {
        audit.write_tables(folder)?;
    }

    let model = run.as_ref().map(|run| run.model_name());
    text::say(&audit, clean.name(), number, model, global);
    let written = args.csv.as_deref().map_or_else(Vec::new, |folder| Audit::tables(folder).to_vec());
    written.iter().for_each(|file| global.say(format_args!("wrote {}", file.display())));
    let run = args.run.as_deref();
    global.document(&Document { dataset: clean.name(), split: number, run, model, audit: &audit, written });
    Ok(())
}

/// Checks, before any work is done, that no table would be overwritten against the user's will.
fn check_folder(folder: &Path, force: bool) -> Result<()> {
    if folder.is_file() {
        return Err(Error::input(folder, "", "this is a file, and there are three tables", "name a folder"));
    }
    match Audit::tables(folder).into_iter().find(|file| file.exists() && !force) {
        Some(taken) => Err(Error::input(taken, "", "this file exists", "replace it with --force")),
        None => Ok(()),
    }
}

/// What the versions are called: their files without folder and ending, or the whole path where that is taken.
fn names(paths: &[PathBuf]) -> Result<Vec<String>> {
    let mut names: Vec<String> = vec![CLEAN.to_string()];
    for path in paths {
        let short = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let long = path.display().to_string();
        let name = [short, long].into_iter().find(|name| !names.contains(name)).ok_or_else(|| {
            Error::setting("--against", format!("{} is named twice", path.display()), "name it once")
        })?;
        names.push(name);
    }
    Ok(names.split_off(1))
}

/// The model that the run trained on a split, after making sure that it was this data.
fn model_of(
    run: &Run,
    dataset: &Dataset,
    args: &AuditArgs,
    number: usize,
) -> Result<Box<dyn NodeClassifier>> {
    if fingerprint::of_dataset(dataset) != run.data().sha256 {
        return Err(Error::input(
            &args.data,
            "",
            format!("{} was not trained on this data (its SHA-256 differs)", run.path().display()),
            format!("give what it was trained on, {}, or train again", run.data().path.display()),
        ));
    }
    run.model(&Registry::default(), number)
}

/// A changed version of the data and the parts of it that are measured.
fn changed(
    path: &Path,
    clean: &Dataset,
    split: &Split,
    number: usize,
    options: &LoadOptions,
    global: &Global,
) -> Result<(Dataset, Split)> {
    let dataset = load_with(path, options, global)?;
    check_same_nodes(clean, &dataset).map_err(|error| error.in_file(path))?;
    let own = dataset.splits().get(number);
    let chosen = split_of_version(split, own);
    if own.is_some_and(|own| *own != chosen) {
        global.note(format_args!(
            "note: split {number} of {} is another one; the parts of the clean data's are measured",
            path.display()
        ));
    }
    Ok((dataset, chosen))
}
