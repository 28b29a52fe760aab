//! `lhs predict`: a trained model on other data.

use std::collections::HashSet;
use std::io::{BufWriter, stdout};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::output::Global;
use super::selection::load_for;
use lhs::error::{Error, Result};
use lhs::experiment::{CellRecord, Run};
use lhs::graph::Split;
use lhs::io::atomic;
use lhs::metrics::{Confusion, Predictions};
use lhs::models::Registry;

/// Predict classes with a trained model
///
/// Nodes that the model was trained on are found again by their ids, in whatever order the rows stand.
#[derive(Debug, clap::Args)]
pub struct PredictArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// The data to predict on
    #[arg(long, value_name = "DATA")]
    data: PathBuf,
    /// The split whose model is used [default: the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// Where to write the table; - is stdout [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
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
    let run = Run::open(&args.run)?;
    let number = args.split.map_or_else(|| best_split(&run, global), Ok)?;
    let trained = run.trained(&Registry::default(), number)?;
    let dataset = load_for(&run, &args.data, global)?;
    let (probabilities, split) = trained.predict(&dataset).map_err(|error| error.in_file(&args.data))?;
    let predictions = Predictions::new(&dataset, &run.data().classes, probabilities)?;
    for class in predictions.unknown_classes() {
        global.note(format_args!(
            "warning: class {class} is not one that the model knows; its nodes count as wrong"
        ));
    }
    write(&predictions, &split, &target, global)?;
    let nodes = 0..dataset.num_nodes() as u32;
    let learned = predictions.confusion(split.train.iter().copied());
    let trained_on: HashSet<u32> = split.train.iter().copied().collect();
    let others = predictions.confusion(nodes.clone().filter(|node| !trained_on.contains(node)));
    say(&learned, "that the model learned from", global);
    say(&others, "that it did not learn from", global);
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
        "predicted": sizes,
        "out": args.out,
    });
    if let (Target::Document, Some(document)) = (&target, document.as_object_mut()) {
        document.insert("predictions".into(), rows(&predictions, &split)?);
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

/// The table as objects, one per node.
fn rows(predictions: &Predictions<'_>, split: &Split) -> Result<Value> {
    let mut text = Vec::new();
    predictions.write_csv(&mut text, Some(split), Path::new("memory"))?;
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

fn write(predictions: &Predictions<'_>, split: &Split, target: &Target<'_>, global: &Global) -> Result<()> {
    match target {
        Target::Document => Ok(()),
        Target::Stdout => {
            predictions.write_csv(BufWriter::new(stdout().lock()), Some(split), Path::new("stdout"))
        }
        Target::File(file) => {
            atomic::write(file, |writer| predictions.write_csv(writer, Some(split), file))?;
            global.say(format_args!("written to {}", file.display()));
            Ok(())
        }
        Target::Through(path) => {
            let out = std::fs::OpenOptions::new().write(true).truncate(true).create(true).open(path);
            let out = out.map_err(Error::io("write", *path))?;
            predictions.write_csv(BufWriter::new(out), Some(split), path)
        }
    }
}

/// The finished split with the highest validation accuracy; of equals, the first.
pub(super) fn best_split(run: &Run, global: &Global) -> Result<usize> {
    let results = run.results();
    let accuracy =
        |record: &CellRecord| record.result.as_ref().map_or(0.0, |measured| measured.scores.val_accuracy);
    let best = results.iter().reduce(|best, r| if accuracy(r) > accuracy(best) { r } else { best });
    let best = best.ok_or_else(|| {
        Error::input(
            run.path(),
            "",
            "no split of this run is finished",
            "finish it with `lhs train … --resume`",
        )
    })?;
    if results.len() > 1 {
        let accuracy = accuracy(best);
        global.note(format_args!(
            "note: split {}, the best at its validation nodes ({accuracy:.2} %)",
            best.id.split
        ));
    }
    Ok(best.id.split)
}
