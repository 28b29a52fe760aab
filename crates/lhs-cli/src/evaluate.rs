//! `lhs evaluate`: the models of a run scored again, on their own data, a changed version of it, or under attack.

mod attacked;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::output::Global;
use super::reading::with_flags;
use super::selection::load_for;
use lhs::error::{Error, Result};
use lhs::experiment::{Run, fingerprint, parallel};
use lhs::graph::Dataset;
use lhs::metrics::Predictions;
use lhs::metrics::statistics::{mean, std};
use lhs::models::Registry;

/// Score the models of a run again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs evaluate runs/cora-gcn
  lhs evaluate runs/cora-gcn --data changed.npz
  lhs evaluate runs/cora-gcn --attack injected --rate 0.5,1,2 --repeats 5
  lhs evaluate runs/cora-gcn --attack dice --rate 0.05,0.25 --poisoning

What an attack leaves is kept in the run, so that the same command goes on where it was stopped.
`lhs attack --help` lists the attacks and their settings.")]
pub struct EvaluateArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// A changed version of the run's data, with the same nodes [default: the run's own data]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Attack the run's own data under each split and score that split's model on what is left
    #[arg(long, value_name = "NAME", conflicts_with = "data")]
    attack: Option<String>,
    #[command(flatten)]
    attacked: attacked::AttackedArgs,
}

/// The scores of one split, in percent.
#[derive(Serialize)]
struct SplitScores {
    split: usize,
    train_accuracy: Option<f64>,
    val_accuracy: Option<f64>,
    test_accuracy: Option<f64>,
    test_macro_f1: Option<f64>,
    /// Accuracy at the test nodes of each class.
    test_accuracy_per_class: Map<String, Value>,
}

/// Runs the command.
pub fn run(args: &EvaluateArgs, global: &Global) -> Result<()> {
    let run = Run::open(&args.run)?;
    if let Some(attack) = &args.attack {
        return attacked::run(attack, &args.attacked, &run, global);
    }
    let dataset = match &args.data {
        Some(named) => load_for(&run, named, global)?,
        None => {
            let path = run.data().path.display();
            own_data(&run, &format!("to score on it all the same: --data {path}"), global)?
        }
    };
    let splits = finished_splits(&run, global)?;
    let scores =
        parallel::map(splits.len(), global.num_threads()?, |place| score(&run, &dataset, splits[place]))?;
    report(&run, &dataset, &scores, global);
    Ok(())
}

/// The splits that there is a model for.
fn finished_splits(run: &Run, global: &Global) -> Result<Vec<usize>> {
    let splits: Vec<usize> = run.results().iter().map(|record| record.id.split).collect();
    if splits.is_empty() {
        return Err(Error::input(
            run.path(),
            "",
            "no split is finished",
            "finish it with `lhs train … --resume`",
        ));
    }
    let wanted = run.manifest().suite.num_splits;
    if splits.len() < wanted {
        global.note(format_args!("warning: {} of {wanted} splits are finished", splits.len()));
    }
    Ok(splits)
}

/// The data that the run was trained on, which must be what it was; `remedy` is for when it is not.
pub(super) fn own_data(run: &Run, remedy: &str, global: &Global) -> Result<Dataset> {
    let record = run.data();
    let (source, options) = (record.source(), record.load_options());
    let dataset = global.busy("reading", || source.load(&options)).map_err(with_flags)?;
    global.warn(dataset.warnings());
    if fingerprint::of_dataset(&dataset) == record.sha256 {
        return Ok(dataset);
    }
    Err(Error::input(
        &record.path,
        "",
        "the data is not what it was when the run was trained (its SHA-256 differs)",
        remedy,
    ))
}

fn score(run: &Run, dataset: &Dataset, number: usize) -> Result<SplitScores> {
    let (probabilities, split) = run.trained(&Registry::default(), number)?.predict_again(dataset)?;
    let predictions = Predictions::new(dataset, &run.data().classes, probabilities)?;
    let confusion = |part: &[u32]| predictions.confusion(part.iter().copied());
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let test = confusion(&split.test);
    let per_class = predictions.classes().iter().cloned().zip(test.accuracy_per_class());
    Ok(SplitScores {
        split: number,
        train_accuracy: percent(confusion(&split.train).accuracy()),
        val_accuracy: percent(confusion(&split.val).accuracy()),
        test_accuracy: percent(test.accuracy()),
        test_macro_f1: percent(test.macro_f1()),
        test_accuracy_per_class: per_class.map(|(class, share)| (class, json!(percent(share)))).collect(),
    })
}

fn report(run: &Run, dataset: &Dataset, scores: &[SplitScores], global: &Global) {
    let column = |of: fn(&SplitScores) -> Option<f64>| scores.iter().filter_map(of).collect::<Vec<f64>>();
    let (train, val) = (column(|s| s.train_accuracy), column(|s| s.val_accuracy));
    let (test, f1) = (column(|s| s.test_accuracy), column(|s| s.test_macro_f1));
    let classes = class_means(scores);
    // Data without labels has no scores: null, not zero.
    let over = |of: fn(&[f64]) -> f64, values: &[f64]| (!values.is_empty()).then(|| of(values));

    global.say(format_args!("{} on {}; accuracy in percent", run.model_name(), dataset.name()));
    global.say("split    train      val     test  macro-F1");
    let show = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |value| format!("{value:.2}"));
    for s in scores {
        let (train, val) = (show(s.train_accuracy), show(s.val_accuracy));
        let (test, f1) = (show(s.test_accuracy), show(s.test_macro_f1));
        global.say(format_args!("{:>5} {train:>8} {val:>8} {test:>8} {f1:>9}", s.split));
    }
    if scores.len() > 1 {
        let [train, val, test_mean, f1] = [&train, &val, &test, &f1].map(|values| show(over(mean, values)));
        global.say(format_args!(
            " mean {train:>8} {val:>8} {test_mean:>8} {f1:>9}   test ± {}",
            show(over(std, &test))
        ));
    }
    global.say("accuracy per class, at the test nodes:");
    for (class, accuracy) in &classes {
        global.say(format_args!("  {class:<20} {}", show(accuracy.as_f64())));
    }
    global.document(&json!({
        "run": run.path(),
        "dataset": dataset.name(),
        "model": run.model_name(),
        "splits": scores.len(),
        "train_accuracy_mean": over(mean, &train),
        "val_accuracy_mean": over(mean, &val),
        "test_accuracy_mean": over(mean, &test),
        "test_accuracy_std": over(std, &test),
        "test_macro_f1_mean": over(mean, &f1),
        "test_macro_f1_std": over(std, &f1),
        "test_accuracy_per_class": classes,
        "per_split": scores,
    }));
}

/// Mean accuracy of each class over the splits in which it has test nodes.
fn class_means(scores: &[SplitScores]) -> Map<String, Value> {
    let names = scores.first().map(|scores| scores.test_accuracy_per_class.keys()).into_iter().flatten();
    let mean_of = |class: &String| {
        let values: Vec<f64> =
            scores.iter().filter_map(|scores| scores.test_accuracy_per_class.get(class)?.as_f64()).collect();
        if values.is_empty() { Value::Null } else { json!(mean(&values)) }
    };
    names.map(|class| (class.clone(), mean_of(class))).collect()
}
