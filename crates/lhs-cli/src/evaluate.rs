//! `lhs evaluate`: the models of a run scored again, on their own data, a changed version of it, or under attack.

mod attacked;

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::figures::{self, Means, mean_of, shown, std_of, with_spread};
use super::judging::PositiveClass;
use super::output::Global;
use super::reading::with_flags;
use super::selection::load_for;
use lhs::error::{Error, Result};
use lhs::experiment::{Run, fingerprint, parallel};
use lhs::graph::Dataset;
use lhs::metrics::classes::per_class;
use lhs::metrics::{ClassScores, Metric, Predictions, Scores, class_named};
use lhs::models::Registry;

/// Score the models of a run again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs evaluate runs/cora-gcn
  lhs evaluate runs/cora-gcn --data changed.npz
  lhs evaluate runs/cora-gcn --attack injected --rate 0.5,1,2 --repeats 5
  lhs evaluate runs/cora-gcn --attack worst --rate 1 --repeats 1
  lhs evaluate runs/cora-gcn --attack adaptive --set mode=gradient --transductive
  lhs evaluate runs/cora-gcn --attack dice --rate 0.05,0.25 --poisoning

What an attack leaves is kept in the run, so that the same command goes on where it was stopped.
Attacks come after training unless --poisoning says otherwise, and meet models that learned without the test nodes unless
--transductive does. `lhs attack --help` lists the attacks and their settings.")]
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
    #[command(flatten)]
    positive: PositiveClass,
}

/// The scores of one split, in percent.
struct SplitScores {
    split: usize,
    /// None where nobody has a label.
    train_accuracy: Option<f64>,
    val_accuracy: Option<f64>,
    scores: Scores,
    classes: Vec<ClassScores>,
    positive_class: Option<String>,
}

impl SplitScores {
    /// For scripts.
    fn document(&self) -> Value {
        let mut document = json!(self.scores);
        document["split"] = json!(self.split);
        document["train_accuracy"] = json!(self.train_accuracy);
        document["val_accuracy"] = json!(self.val_accuracy);
        document["test_accuracy"] = json!(self.scores.test_accuracy);
        document["test_macro_f1"] = json!(self.scores.test_macro_f1);
        document["majority_accuracy"] = json!(self.scores.majority_accuracy);
        document["test_balanced_accuracy"] = json!(self.scores.test_balanced_accuracy);
        document["test_accuracy_per_class"] = recalls(&self.classes);
        document["classes"] = json!(self.classes);
        document
    }
}

/// Accuracy at the test nodes of each class.
fn recalls(classes: &[ClassScores]) -> Value {
    let of = |class: &ClassScores| (class.class.clone(), json!(class.recall));
    Value::Object(classes.iter().map(of).collect::<Map<_, _>>())
}

/// Runs the command.
pub fn run(args: &EvaluateArgs, global: &Global) -> Result<()> {
    let run = Run::open(&args.run)?;
    let named = args.positive.positive_class.as_deref();
    named.map(|name| class_named(name, &run.data().classes)).transpose()?;
    if let Some(attack) = &args.attack {
        return attacked::run(attack, &args.attacked, named, &run, global);
    }
    let dataset = match &args.data {
        Some(named) => load_for(&run, named, global)?,
        None => {
            let path = run.data().path.display();
            own_data(&run, &format!("to score on it all the same: --data {path}"), global)?
        }
    };
    let splits = finished_splits(&run, global)?;
    let scores = parallel::map(splits.len(), global.num_threads()?, |place| {
        score(&run, &dataset, splits[place], named)
    })?;
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

fn score(run: &Run, dataset: &Dataset, number: usize, named: Option<&str>) -> Result<SplitScores> {
    let (probabilities, split) = run.trained(&Registry::default(), number)?.predict_again(dataset)?;
    let predictions = Predictions::new(dataset, &run.data().classes, probabilities)?;
    let predictions = run.judged(predictions, number, &split, named)?;
    let confusion = |part: &[u32]| predictions.confusion(part.iter().copied());
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let positive = predictions.positive().map(|class| predictions.classes()[class as usize].clone());
    Ok(SplitScores {
        split: number,
        train_accuracy: percent(confusion(&split.train).accuracy()),
        val_accuracy: percent(confusion(&split.val).accuracy()),
        scores: Scores::of_predictions(&predictions, &split, metric(run)),
        classes: per_class(&confusion(&split.test), predictions.classes()),
        positive_class: positive,
    })
}

/// What the run is judged by.
fn metric(run: &Run) -> Metric {
    run.manifest().suite.judging().shown(run.data().classes.len())
}

fn report(run: &Run, dataset: &Dataset, splits: &[SplitScores], global: &Global) {
    let metric = metric(run);
    let means = Means::of(splits.iter().map(|split| &split.scores));
    let mean = |of: &dyn Fn(&SplitScores) -> Option<f64>| mean_of(splits.iter().map(of));
    let std = |of: &dyn Fn(&SplitScores) -> Option<f64>| std_of(splits.iter().map(of));
    let all: Vec<&[ClassScores]> = splits.iter().map(|split| split.classes.as_slice()).collect();
    let classes = figures::class_means(&all);
    let accuracy = mean(&|s| s.scores.test_accuracy);

    global.say(format_args!("{} on {}; accuracy in percent", run.model_name(), dataset.name()));
    let judged = if metric == Metric::Accuracy { String::new() } else { format!("  {metric}") };
    let own = |s: &Scores| match metric {
        Metric::Accuracy => String::new(),
        metric => format!("  {:>1$}", shown(s.test(metric)), metric.to_string().len()),
    };
    global.say(format_args!("split    train      val     test  macro-F1{judged}"));
    for s in splits {
        let (train, val) = (shown(s.train_accuracy), shown(s.val_accuracy));
        let (test, f1) = (shown(s.scores.test_accuracy), shown(s.scores.test_macro_f1));
        global.say(format_args!("{:>5} {train:>8} {val:>8} {test:>8} {f1:>9}{}", s.split, own(&s.scores)));
    }
    if splits.len() > 1 {
        let spread = with_spread(mean(&|s| s.scores.test(metric)), std(&|s| s.scores.test(metric)));
        global.say(format_args!(
            " mean {:>8} {:>8} {:>8} {:>9}   test {metric} {spread}",
            shown(mean(&|s| s.train_accuracy)),
            shown(mean(&|s| s.val_accuracy)),
            shown(accuracy),
            shown(means.test_macro_f1_mean),
        ));
    }
    figures::say_majority(accuracy, &means, global);
    figures::say_means(&means, global);
    figures::say_classes(&classes, global);
    figures::warn(accuracy, metric, &means, &classes, global);
    let mut document = json!({
        "run": run.path(),
        "dataset": dataset.name(),
        "model": run.model_name(),
        "splits": splits.len(),
        "train_accuracy_mean": mean(&|s| s.train_accuracy),
        "val_accuracy_mean": mean(&|s| s.val_accuracy),
        "test_accuracy_mean": accuracy,
        "test_accuracy_std": std(&|s| s.scores.test_accuracy),
        "test_macro_f1_std": std(&|s| s.scores.test_macro_f1),
        "metric": metric,
        "test_metric_mean": mean(&|s| s.scores.test(metric)),
        "test_metric_std": std(&|s| s.scores.test(metric)),
        "positive_class": splits.first().and_then(|split| split.positive_class.as_ref()),
        "test_accuracy_per_class": recalls(&classes),
        "classes": classes,
        "per_split": splits.iter().map(SplitScores::document).collect::<Vec<_>>(),
    });
    if let (Some(document), Value::Object(means)) = (document.as_object_mut(), json!(means)) {
        document.extend(means);
    }
    global.document(&document);
}
