//! `lhs predict`: a trained model on other data.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::evaluate::own_data;
use super::figures::shown;
use super::judging::PositiveClass;
use super::output::Global;
use super::reading::{ReadingArgs, TableArgs, source};
use super::selection::load_tables_for;
use lhs::error::{Error, Result};
use lhs::experiment::{CellRecord, Run};
use lhs::graph::{Dataset, Split};
use lhs::io::atomic;
use lhs::metrics::ranked::{self, RankedNode, ranked};
use lhs::metrics::{Answers, Confusion, Predictions, Scores, class_named};
use lhs::models::Registry;

/// Predict classes with a trained model
///
/// Nodes that the model was trained on are found again by their ids, in whatever order the rows stand.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs predict runs/accounts-lhs --only unlabelled --sort-by fraud --top 100
  lhs predict runs/accounts-lhs --data accounts/ --out predictions.csv
  lhs predict runs/accounts-lhs --edges new-payments.csv --features new-accounts.csv")]
pub struct PredictArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// The data to predict on, read and prepared as that of the run was [default: the run's own data]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// The split whose model is used [default: what learned from all labels, else the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// Where to write the table; - is stdout [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    positive: PositiveClass,
}

/// Which nodes are listed, and in which order.
#[derive(Clone, Debug, clap::Args)]
pub struct RankingArgs {
    /// Which nodes are listed
    #[arg(long, value_enum, default_value_t = Only::All, value_name = "NODES")]
    only: Only,
    /// List the nodes by the probability of this class, the likeliest first
    #[arg(long, value_name = "CLASS")]
    pub sort_by: Option<String>,
    /// List so many of them
    #[arg(long, value_name = "N", requires = "sort_by")]
    top: Option<usize>,
}

/// Which nodes are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Only {
    /// Those whose class is not known
    Unlabelled,
    /// The test nodes of the split
    Test,
    /// All of them
    All,
}

impl Only {
    fn nodes(self, predictions: &Predictions<'_>, split: &Split) -> Vec<u32> {
        let all = 0..predictions.dataset().num_nodes() as u32;
        match self {
            Only::All => all.collect(),
            Only::Test => split.test.clone(),
            Only::Unlabelled => all.filter(|&node| predictions.label(node).is_none()).collect(),
        }
    }
}

/// Where the table goes.
enum Target<'a> {
    Stdout,
    /// Written next to it and renamed into place.
    File(&'a Path),
    /// A device, a pipe or what a link leads to: written through, never replaced.
    Through(&'a Path),
    /// Into the document for scripts.
    Document,
}

impl<'a> Target<'a> {
    fn of(args: &'a PredictArgs, global: &Global) -> Result<Self> {
        match args.out.as_deref() {
            None if global.json => Ok(Target::Document),
            None => Ok(Target::Stdout),
            Some(path) if path == Path::new("-") => Ok(Target::Stdout),
            Some(path) => match std::fs::symlink_metadata(path) {
                Ok(found) if !found.is_file() => Ok(Target::Through(path)),
                Ok(_) if !args.force => {
                    Err(Error::input(path, "", "this file exists", "replace it with --force"))
                }
                _ => Ok(Target::File(path)),
            },
        }
    }
}

/// Runs the command.
pub fn run(args: &PredictArgs, global: &Global) -> Result<()> {
    let target = Target::of(args, global)?;
    let (run, number) = chosen(&args.run, args.split, global)?;
    // A class that there is not is said before anything is read.
    let sorted_by = args.ranking.class(&run)?;
    let positive = args.positive.positive_class.as_deref();
    positive.map(|name| class_named(name, &run.data().classes)).transpose()?;
    let trained = run.trained(&Registry::default(), number)?;
    let (dataset, file) = match (&args.data, &args.tables.edges) {
        (None, None) => {
            (own_data(&run, "to predict on it all the same: --data", global)?, run.data().path.clone())
        }
        (data, _) => {
            let source = source(data.as_deref(), &args.tables)?;
            (load_tables_for(&run, &source, &args.reading, global)?, source.path().to_path_buf())
        }
    };
    if let Some(note) = trained.column_note(&dataset).map_err(|error| error.in_file(&file))? {
        global.note(format_args!("note: {note}"));
    }
    let (probabilities, split) = trained.predict(&dataset).map_err(|error| error.in_file(&file))?;
    let predictions = Predictions::new(&dataset, &run.data().classes, probabilities)?;
    let predictions = run.judged(predictions, number, &split, positive)?;
    for class in predictions.unknown_classes() {
        global.note(format_args!(
            "warning: class {class} is not one that the model knows; its nodes count as wrong"
        ));
    }
    let listed = args.ranking.only.nodes(&predictions, &split);
    let list = sorted_by.map(|class| args.ranking.list(&predictions, class, &split));
    match &list {
        Some(ranking) => write_ranked(ranking, args.out.is_some(), &target, global)?,
        None => write(&predictions, &listed, &split, &target, global)?,
    }
    let nodes = 0..dataset.num_nodes() as u32;
    let learned = predictions.confusion(split.train.iter().copied());
    let trained_on: HashSet<u32> = split.train.iter().copied().collect();
    let new = predictions.answers(nodes.clone().filter(|node| !trained_on.contains(node)));
    let others = new.confusion();
    say(&learned, "that the model learned from", global);
    say(&others, "that it did not learn from", global);
    say_more(&new, global);
    let all = predictions.confusion(nodes);
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let sizes: Map<_, _> =
        predictions.class_sizes().into_iter().map(|(class, size)| (class.to_string(), json!(size))).collect();
    let mut document = json!({
        "run": args.run,
        "model": run.model_name(),
        "split": number,
        "dataset": dataset.name(),
        "nodes": dataset.num_nodes(),
        "labelled": all.total(),
        "accuracy": percent(all.accuracy()),
        "training_accuracy": percent(learned.accuracy()),
        "other_accuracy": percent(others.accuracy()),
        "macro_f1": percent(all.macro_f1()),
        "other_balanced_accuracy": percent(others.balanced_accuracy()),
        "other_macro_f1": percent(others.macro_f1()),
        "other_roc_auc": percent(new.roc_auc()),
        "other_average_precision": percent(new.average_precision()),
        "positive_class": predictions.positive().map(|class| &predictions.classes()[class as usize]),
        "predicted": sizes,
        "out": args.out,
    });
    if let Some(document) = document.as_object_mut() {
        match (&list, &target) {
            (Some(ranking), _) => {
                document.insert("sorted_by".into(), json!(ranking.class));
                document.insert("ranked".into(), json!(ranking.list));
            }
            (None, Target::Document) => {
                document.insert("predictions".into(), rows(&predictions, &listed, &split)?);
            }
            (None, _) => {}
        }
    }
    global.document(&document);
    Ok(())
}

fn say(confusion: &Confusion, which: &str, global: &Global) {
    if let Some(accuracy) = confusion.accuracy() {
        let nodes = if confusion.total() == 1 { "node" } else { "nodes" };
        global.note(format_args!(
            "{:.2} % of {} labelled {nodes} {which} are right",
            100.0 * accuracy,
            confusion.total()
        ));
    }
}

/// How two classes are told apart at the nodes that the model did not learn from.
fn say_more(new: &Answers, global: &Global) {
    if let (Some(_), Some(auc)) = (new.positive, new.roc_auc()) {
        let percent = |share: Option<f64>| shown(share.map(|share| 100.0 * share));
        global.note(format_args!(
            "at these: ROC AUC {:.2}, average precision {}, balanced accuracy {}, macro F1 {}",
            100.0 * auc,
            percent(new.average_precision()),
            percent(new.confusion().balanced_accuracy()),
            percent(new.confusion().macro_f1()),
        ));
    }
}

/// The likeliest nodes of a class.
#[derive(Serialize)]
pub struct Ranking {
    #[serde(rename = "sorted_by")]
    class: String,
    #[serde(rename = "ranked")]
    list: Vec<RankedNode>,
}

impl RankingArgs {
    /// The class to sort by.
    pub fn class(&self, run: &Run) -> Result<Option<u32>> {
        self.sort_by.as_deref().map(|name| class_named(name, &run.data().classes)).transpose()
    }

    fn list(&self, predictions: &Predictions<'_>, class: u32, split: &Split) -> Ranking {
        let mut list = ranked(predictions, class, self.only.nodes(predictions, split), split);
        list.truncate(self.top.unwrap_or(usize::MAX));
        Ranking { class: predictions.classes()[class as usize].clone(), list }
    }
}

/// The list that a training was asked for, by the model that is the best of it.
pub fn ranking_of(
    folder: &Path,
    dataset: &Dataset,
    args: &RankingArgs,
    global: &Global,
) -> Result<Option<Ranking>> {
    let (run, number) = chosen(folder, None, global)?;
    let Some(class) = args.class(&run)? else { return Ok(None) };
    let (probabilities, split) = run.trained(&Registry::default(), number)?.predict(dataset)?;
    let predictions = Predictions::new(dataset, &run.data().classes, probabilities)?;
    let predictions = run.judged(predictions, number, &split, None)?;
    Ok(Some(args.list(&predictions, class, &split)))
}

/// Where a training on all labels is kept, within its run.
pub const FINAL: &str = "final";

/// The run and the split that are meant: without a choice, what learned from all labels, else the best split.
pub fn chosen(folder: &Path, split: Option<usize>, global: &Global) -> Result<(Run, usize)> {
    let run = Run::open(folder)?;
    if split.is_none()
        && let Ok(last) = Run::open(&folder.join(FINAL))
        && let Some(record) = last.results().first()
    {
        let number = record.id.split;
        global.note("note: the model that learned from all labels is used; --split K takes another");
        return Ok((last, number));
    }
    let number = split.map_or_else(|| best_split(&run, global), Ok)?;
    Ok((run, number))
}

/// The list: readable on stdout, as CSV where it was sent somewhere.
fn write_ranked(ranking: &Ranking, sent: bool, target: &Target<'_>, global: &Global) -> Result<()> {
    let Ranking { class, list } = ranking;
    match target {
        Target::Document => Ok(()),
        Target::Stdout if global.json => Ok(()),
        Target::Stdout if !sent => {
            say_ranked(ranking, global);
            Ok(())
        }
        Target::Stdout => ranked::write_csv(list, class, stdout().lock(), Path::new("stdout")),
        Target::File(file) => {
            atomic::write(file, |writer| ranked::write_csv(list, class, writer, file))?;
            global.say(format_args!("written to {}", file.display()));
            Ok(())
        }
        Target::Through(path) => ranked::write_csv(list, class, through(path)?, path),
    }
}

pub fn say_ranked(ranking: &Ranking, global: &Global) {
    let Ranking { class, list } = ranking;
    let widest =
        |of: &dyn Fn(&RankedNode) -> usize, least: usize| list.iter().map(of).max().unwrap_or(0).max(least);
    let length = |text: &str| text.chars().count();
    let node = widest(&|line| length(&line.node), 4);
    let prediction = widest(&|line| length(&line.prediction), 10);
    let label = widest(&|line| length(line.label.as_deref().unwrap_or("-")), 5);
    let head = format!("p({class})");
    let number = length(&head).max(7);
    global.say(format_args!(
        "{:>5}  {:<node$}  {head:>number$}  {:<prediction$}  {:<label$}  part",
        "rank", "node", "prediction", "label"
    ));
    for line in list {
        global.say(format_args!(
            "{:>5}  {:<node$}  {:>number$.4}  {:<prediction$}  {:<label$}  {}",
            line.rank,
            line.node,
            line.probability,
            line.prediction,
            line.label.as_deref().unwrap_or("-"),
            line.part.unwrap_or("-")
        ));
    }
}

/// The table as objects, one per node.
fn rows(predictions: &Predictions<'_>, nodes: &[u32], split: &Split) -> Result<Value> {
    let mut text = Vec::new();
    predictions.write_csv_of(nodes.iter().copied(), &mut text, Some(split), Path::new("memory"))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let wrong = |error: csv::Error| Error::data(error.to_string(), "");
    let heads: Vec<String> = table.headers().map_err(wrong)?.iter().map(String::from).collect();
    let mut rows = Vec::new();
    for record in table.records() {
        let record = record.map_err(wrong)?;
        let field = |(head, value): (&String, &str)| {
            let value = match (head.strip_prefix("p_"), value.parse::<f64>()) {
                (Some(_), Ok(number)) => json!(number),
                _ if value.is_empty() => Value::Null,
                _ => json!(value),
            };
            (head.clone(), value)
        };
        rows.push(Value::Object(heads.iter().zip(record.iter()).map(field).collect()));
    }
    Ok(Value::Array(rows))
}

fn write(
    predictions: &Predictions<'_>,
    nodes: &[u32],
    split: &Split,
    target: &Target<'_>,
    global: &Global,
) -> Result<()> {
    let table = |out: &mut dyn Write, path: &Path| {
        predictions.write_csv_of(nodes.iter().copied(), out, Some(split), path)
    };
    match target {
        Target::Document => Ok(()),
        Target::Stdout => table(&mut BufWriter::new(stdout().lock()), Path::new("stdout")),
        Target::File(file) => {
            atomic::write(file, |writer| table(writer, file))?;
            global.say(format_args!("written to {}", file.display()));
            Ok(())
        }
        Target::Through(path) => table(&mut through(path)?, path),
    }
}

fn through(path: &Path) -> Result<BufWriter<File>> {
    let out = std::fs::OpenOptions::new().write(true).truncate(true).create(true).open(path);
    Ok(BufWriter::new(out.map_err(Error::io("write", path))?))
}

/// The finished split that is best at its validation nodes by what the run is judged by; of equals, the first.
pub(super) fn best_split(run: &Run, global: &Global) -> Result<usize> {
    let results = run.results();
    let scores = |record: &CellRecord| record.result.as_ref().map_or(Scores::default(), |found| found.scores);
    let best = results.iter().reduce(|best, r| if scores(r).val() > scores(best).val() { r } else { best });
    let best = best.ok_or_else(|| {
        Error::input(
            run.path(),
            "",
            "no split of this run is finished",
            "finish it with `lhs train … --resume`",
        )
    })?;
    if results.len() > 1 {
        let scores = scores(best);
        global.note(format_args!(
            "note: split {}, the best at its validation nodes ({} {:.2} %)",
            best.id.split,
            scores.judged_by(),
            scores.val()
        ));
    }
    Ok(best.id.split)
}
