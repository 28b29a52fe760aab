//! `lhs certify`: which predictions no attacker can change with so many edges.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use toml::Table;

use super::evaluate::own_data;
use super::figures::shown;
use super::output::{Global, counted};
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{DEFAULT_MODEL, DataSelection, ModelSelection, Selected, load_with, named_model};
use lhs::certify::{Certificate, CertificateRecord, CertifyConfig, Curves, NodeCertificate, SplitCurves};
use lhs::error::{Error, Result};
use lhs::experiment::settings::{self, Layer};
use lhs::experiment::splits::{NumberedSplit, SplitSpec};
use lhs::experiment::{Run, parallel, split_seed};
use lhs::graph::Dataset;
use lhs::io::{LoadOptions, atomic};
use lhs::linalg::Mat;
use lhs::metrics::Predictions;
use lhs::models::ModelKind;

/// Within a run folder, where its certificate is kept.
pub const CERTIFICATE: &str = "certificate";

/// Say which predictions no attacker can change with so many edges
///
/// The pairs of the graph are dealt into T buckets by the ids of their nodes, a model predicts on each bucket's edges alone, and the
/// T predictions vote. One edge is in one bucket: whoever changes r edges, anywhere, changes at most r votes. A node's
/// radius is how many its prediction survives. Features and labels are trusted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs certify cora --split 0 --buckets 5
  lhs certify accounts/ --buckets 11 --poisoning --out certified
  lhs certify runs/accounts-lhs --buckets 11
  lhs certify cora --buckets 5 --on cora-today.npz

A run in place of DATA gives its data, splits, model and settings; the model learns again, from bucket graphs, and what is found is
kept in RUN/certificate, where `lhs explain` and `lhs report` look for it.
With --json, one object: vote_accuracy, certified_accuracy (at radius 0, 1, 2, …), collective_accuracy, mlp_accuracy (a perceptron reads no
edges: its line at every radius), in percent; buckets, seconds, per_split, and per_node of a single split.")]
pub struct CertifyArgs {
    #[command(flatten)]
    data: DataSelection,
    #[command(flatten)]
    model: ModelSelection,
    /// How many buckets: more certify larger radii, and see fewer edges each
    #[arg(long, value_name = "T", default_value_t = 11)]
    buckets: usize,
    /// Certify against changes of the training graph, too: each bucket has a model of its own
    #[arg(long)]
    poisoning: bool,
    /// Another version of the data, with the same nodes, whose predictions are certified [default: the data itself]
    #[arg(long, value_name = "DATA", conflicts_with = "poisoning")]
    on: Option<PathBuf>,
    /// The radius of these nodes is shown; may be repeated
    #[arg(long, value_name = "ID")]
    node: Vec<String>,
    /// A folder for certificate.json and the predictions with their radii [default: none; of a run, RUN/certificate]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Replace the certificate that is in the folder
    #[arg(long)]
    force: bool,
}

/// Settings other than the defaults: layers over the few edges of a bucket take most of the time, and pay nothing.
const ON_BUCKETS: [(&str, &str); 2] = [("lhs", "given_layers=0"), ("lhs", "latent_layers=0")];

/// What is certified.
struct Subject {
    dataset: Dataset,
    splits: Vec<NumberedSplit>,
    kind: &'static ModelKind,
    settings: Table,
    seed: u64,
    /// Where another version of the data would be read from, and how.
    options: LoadOptions,
}

/// What came out of one split.
struct Certified {
    certificate: Certificate,
    curves: SplitCurves,
}

/// Runs the command.
pub fn run(args: &CertifyArgs, global: &Global) -> Result<()> {
    let started = Instant::now();
    let trained = args.data.source.data.as_deref().and_then(|path| Run::open(path).ok());
    let folder = args.out.clone().or_else(|| trained.as_ref().map(|run| run.path().join(CERTIFICATE)));
    free(folder.as_deref(), args.force)?;
    let config =
        CertifyConfig { buckets: args.buckets, poisoning: args.poisoning, ..CertifyConfig::default() };
    let subject = match &trained {
        Some(run) => of_run(args, run, global)?,
        None => of_data(args, global)?,
    };
    let config = CertifyConfig { seed: subject.seed, ..config };
    let on = match &args.on {
        Some(path) => load_with(path, &subject.options, global)?,
        None => subject.dataset.clone(),
    };
    let in_file = |error: Error| match &args.on {
        Some(path) => error.in_file(path),
        None => error,
    };
    args.node.iter().try_for_each(|id| known(&on, id))?;
    let found = certify(&subject, &on, &config, global).map_err(in_file)?;
    let record = record(&subject, &config, &found, started);
    if let Some(folder) = &folder {
        write(folder, &subject, &on, &found, &record)?;
    }
    say(&record, &subject, &found, args, folder.as_deref(), global);
    document(&record, &subject, &on, &found, folder.as_deref(), global);
    Ok(())
}

fn of_data(args: &CertifyArgs, global: &Global) -> Result<Subject> {
    let kind = args.model.kind()?;
    args.model.own_layers(kind)?;
    certifiable(kind, args.poisoning)?;
    let Selected { dataset, splits, .. } = args.data.load(global)?;
    // Settings that were found on whole graphs do not suit the few edges of a bucket.
    let on_buckets = ON_BUCKETS.iter().filter(|(model, _)| *model == kind.name);
    let mut layers =
        on_buckets.map(|(_, assignment)| Layer::from_assignment(assignment)).collect::<Result<Vec<_>>>()?;
    layers.extend(args.model.own_layers(kind)?);
    let settings = settings::layered(kind, &layers)?;
    let options = args.data.source.options(global);
    Ok(Subject { dataset, splits, kind, settings, seed: global.seed, options })
}

fn of_run(args: &CertifyArgs, run: &Run, global: &Global) -> Result<Subject> {
    let own = &args.model;
    let overruled =
        !own.set.is_empty() || own.config.is_some() || own.no_config || own.model != DEFAULT_MODEL;
    if overruled {
        let remedy = "give the data in place of the run to choose a model and settings";
        return Err(Error::data("a run brings its model and its settings", remedy));
    }
    let kind = named_model(run.model_name())?;
    certifiable(kind, args.poisoning)?;
    let dataset =
        own_data(run, "a certificate is about the data that was learned from: train again", global)?;
    let finished: Vec<usize> = run.results().iter().map(|record| record.id.split).collect();
    let wanted: Vec<usize> = match &args.data.split {
        None | Some(SplitSpec::All) => finished.clone(),
        Some(SplitSpec::Range(first, last)) => (*first..=*last).collect(),
        Some(SplitSpec::List(numbers)) => numbers.clone(),
        Some(other) => {
            let remedy = "give numbers, such as --split 0, or the data in place of the run";
            return Err(Error::setting("--split", format!("{other}: a run has splits of its own"), remedy));
        }
    };
    if let Some(missing) = wanted.iter().find(|split| !finished.contains(split)) {
        let there = finished.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        return Err(Error::setting(
            "--split",
            format!("split {missing} of the run is not finished"),
            format!("finished are: {there}"),
        ));
    }
    let splits =
        wanted.into_iter().map(|number| Ok(NumberedSplit { number, split: run.split(&dataset, number)? }));
    let splits = splits.collect::<Result<Vec<_>>>()?;
    global.note("note: the model learns again, from the bucket graphs, with the settings of the run");
    let (settings, options) = (run.settings(), run.data().load_options());
    Ok(Subject { dataset, splits, kind, settings, seed: run.seed(), options })
}

/// Refuses, before any data is read, a model that cannot be certified so.
fn certifiable(kind: &ModelKind, poisoning: bool) -> Result<()> {
    if poisoning || kind.learns_from_copies {
        return Ok(());
    }
    Err(Error::setting(
        "--model",
        format!("{} cannot learn from bucket graphs: it is made for one training graph", kind.name),
        "add --poisoning, where each bucket has a model of its own, or choose a model such as lhs or gcn",
    ))
}

/// Refuses a folder that has a certificate already.
fn free(folder: Option<&Path>, force: bool) -> Result<()> {
    match folder {
        Some(folder) if !force && CertificateRecord::file(folder).exists() => Err(Error::input(
            folder,
            "",
            "there is a certificate in this folder",
            "replace it with --force, or name another with --out",
        )),
        _ => Ok(()),
    }
}

fn known(dataset: &Dataset, id: &str) -> Result<()> {
    match dataset.find_node(id) {
        Some(_) => Ok(()),
        None => Err(Error::setting(
            "--node",
            format!("{} has no node `{id}`", dataset.name()),
            "give the id of one of its nodes",
        )),
    }
}

fn certify(
    subject: &Subject,
    on: &Dataset,
    config: &CertifyConfig,
    global: &Global,
) -> Result<Vec<Certified>> {
    let Subject { dataset, splits, kind, settings, seed, .. } = subject;
    let steps = if config.poisoning { config.buckets } else { 0 };
    let progress = Progress::new(global, Counts::Steps, steps, kind.name);
    let found = parallel::map(splits.len(), global.num_threads()?, |place| {
        let NumberedSplit { number, split } = &splits[place];
        let started = Instant::now();
        let of = (dataset, split, on);
        let certificate =
            Certificate::of((kind, settings), of, config, split_seed(*seed, *number), &progress)?;
        let curves = certificate.curves(on, &split.test);
        let curves = SplitCurves { split: *number, curves, seconds: started.elapsed().as_secs_f64() };
        Ok(Certified { certificate, curves })
    });
    progress.done();
    found.map_err(|error| how_to_go_on(error, || "nothing was written".into()))
}

fn record(
    subject: &Subject,
    config: &CertifyConfig,
    found: &[Certified],
    started: Instant,
) -> CertificateRecord {
    let curves: Vec<&Curves> = found.iter().map(|split| &split.curves.curves).collect();
    CertificateRecord {
        dataset: subject.dataset.name().to_string(),
        model: subject.kind.name.to_string(),
        poisoning: config.poisoning,
        buckets: config.buckets,
        seed: subject.seed,
        curves: Curves::mean(&curves),
        per_split: found.iter().map(|split| split.curves.clone()).collect(),
        seconds: started.elapsed().as_secs_f64(),
    }
}

/// The predictions of each split with their radii; the figures last, so that they are about what is there.
fn write(
    folder: &Path,
    subject: &Subject,
    on: &Dataset,
    found: &[Certified],
    record: &CertificateRecord,
) -> Result<()> {
    let names = subject.dataset.labels().names();
    for (NumberedSplit { number, split }, found) in subject.splits.iter().zip(found) {
        let path = CertificateRecord::predictions(folder, *number);
        let own = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(own).map_err(Error::io("create", own))?;
        let votes = &found.certificate.votes;
        let mut shares = Mat::zeros(on.num_nodes(), names.len());
        for node in 0..on.num_nodes() {
            let counts = votes.counts(node).into_iter().map(|count| count as f32 / votes.num_voters() as f32);
            shares.row_mut(node).iter_mut().zip(counts).for_each(|(share, count)| *share = count);
        }
        let predictions = Predictions::new(on, names, shares)?.with_radii(found.certificate.radii());
        atomic::write(&path, |out| predictions.write_csv(out, Some(split), &path))?;
    }
    let text = serde_json::to_string_pretty(record).unwrap_or_default() + "\n";
    atomic::write_bytes(&CertificateRecord::file(folder), text.as_bytes())
}

fn say(
    record: &CertificateRecord,
    subject: &Subject,
    found: &[Certified],
    args: &CertifyArgs,
    folder: Option<&Path>,
    global: &Global,
) {
    let Curves { vote_accuracy, certified_accuracy, collective_accuracy, mlp_accuracy, .. } = &record.curves;
    let whom = if record.poisoning { "before training or after it" } else { "after training" };
    global.say(format_args!(
        "{} on {}, {}, {} buckets; edges changed {whom}, anywhere",
        record.model,
        record.dataset,
        counted(record.per_split.len(), "split"),
        record.buckets
    ));
    if vote_accuracy.is_none() {
        global.say("  no test node has a label: nothing to count");
    } else {
        global.say("  edges changed   certified, %   all together, %   mlp, %");
        for (radius, (single, together)) in certified_accuracy.iter().zip(collective_accuracy).enumerate() {
            let bound = record.curves.collective_inexact_from.is_some_and(|from| radius >= from);
            let together = format!("{}{together:.2}", if bound { "≥ " } else { "" });
            let line = shown(*mlp_accuracy);
            global.say(format_args!("  {radius:>13}   {single:>12.2}   {together:>15}   {line:>6}"));
        }
        global.say(match record.curves.above_mlp_until() {
            Some(radius) => format!("  above the mlp, which reads no edges, up to radius {radius}"),
            None => "  the mlp, which reads no edges, is at least as good at every radius".to_string(),
        });
    }
    for (split, found) in subject.splits.iter().zip(found) {
        for id in &args.node {
            if let Ok(node) = found.certificate.node(&subject.dataset, &split.split, id) {
                global.say(format_args!("  split {}: {}", split.number, in_words(&node, record)));
            }
        }
    }
    if let Some(folder) = folder {
        global.say(format_args!("  written to {}", folder.display()));
    }
}

fn in_words(node: &NodeCertificate, record: &CertificateRecord) -> String {
    let most = node.votes.iter().max().copied().unwrap_or(0);
    let (NodeCertificate { node: id, prediction, radius, .. }, all) = (node, record.buckets);
    format!("node {id}: class {prediction} by {most} of {all} votes, {}", survives(*radius))
}

/// What a radius means.
pub fn survives(radius: usize) -> String {
    match radius {
        0 => "which a single edge may change (radius 0)".into(),
        radius => format!("whatever {} change (radius {radius})", counted(radius, "edge")),
    }
}

fn document(
    record: &CertificateRecord,
    subject: &Subject,
    on: &Dataset,
    found: &[Certified],
    folder: Option<&Path>,
    global: &Global,
) {
    if !global.json {
        return;
    }
    let nodes = |place: usize| json!(found[place].certificate.nodes(on, &subject.splits[place].split));
    let mut document = json!(record);
    document["classes"] = json!(subject.dataset.labels().names());
    document["settings"] = json!(subject.settings);
    document["out"] = json!(folder);
    match (found.len(), document["per_split"].as_array_mut()) {
        (1, _) => document["per_node"] = nodes(0),
        (_, Some(splits)) => splits.iter_mut().enumerate().for_each(|(place, split): (usize, &mut Value)| {
            split["per_node"] = nodes(place);
        }),
        _ => {}
    }
    global.document(&document);
}
