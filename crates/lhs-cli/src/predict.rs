//! `lhs predict`: a trained model on other data.

use std::io::{BufWriter, stdout};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::output::Global;
use super::selection::load;
use lhs::error::{Error, Result};
use lhs::experiment::{CellRecord, Run};
use lhs::io::atomic;
use lhs::metrics::Predictions;
use lhs::models::Registry;

/// Predict classes with a trained model
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
    /// Where to write the table [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &PredictArgs, global: &Global) -> Result<()> {
    let run = Run::open(&args.run)?;
    let split = args.split.map_or_else(|| best_split(&run, global), Ok)?;
    let model = run.model(&Registry::default(), split)?;
    let dataset = load(&args.data, run.data().directed, global)?;
    let probabilities =
        model.predict(dataset.graph(), dataset.features()).map_err(|error| error.in_file(&args.data))?;
    let predictions = Predictions::new(&dataset, &run.data().classes, probabilities)?;
    for class in predictions.unknown_classes() {
        global.note(format_args!(
            "warning: class {class} is not one that the model knows; its nodes count as wrong"
        ));
    }
    write(&predictions, args.out.as_deref(), global)?;
    let confusion = predictions.confusion(0..dataset.num_nodes() as u32);
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let accuracy = percent(confusion.accuracy());
    if let Some(accuracy) = accuracy {
        global.note(format_args!("{accuracy:.2} % of {} labelled nodes are right", confusion.total()));
    }
    let sizes: serde_json::Map<_, _> =
        predictions.class_sizes().into_iter().map(|(class, size)| (class.to_string(), json!(size))).collect();
    global.document(&json!({
        "run": args.run,
        "model": run.model_name(),
        "split": split,
        "dataset": dataset.name(),
        "nodes": dataset.num_nodes(),
        "labelled": confusion.total(),
        "accuracy": accuracy,
        "macro_f1": percent(confusion.macro_f1()),
        "predicted": sizes,
        "out": args.out,
    }));
    Ok(())
}

/// The table goes to a file or to stdout, where under `--json` the document has its place.
fn write(predictions: &Predictions<'_>, out: Option<&Path>, global: &Global) -> Result<()> {
    match out {
        Some(file) => {
            atomic::write(file, |writer| predictions.write_csv(writer, None, file))?;
            global.say(format_args!("written to {}", file.display()));
            Ok(())
        }
        None if global.json => Ok(()),
        None => predictions.write_csv(BufWriter::new(stdout().lock()), None, Path::new("stdout")),
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
