//! `lhs evaluate --attack`: the models of a run on attacked versions of their own data.

use std::path::Path;

use serde::Serialize;
use toml::Table;

use super::super::figures::{Means, mean_of, shown, std_of};
use super::super::output::{Global, counted};
use super::super::progress::{Counts, Progress, how_to_go_on};
use super::super::selection::attack_settings;
use super::{finished_splits, metric, own_data};
use lhs::attacks::{self, Record};
use lhs::error::{Error, Result};
use lhs::experiment::{AttackAxis, CellRecord, Data, Job, OnError, Plan, Run, Runner, Store, Suite};
use lhs::metrics::statistics::mean;
use lhs::metrics::{Metric, Scores};
use lhs::models::Registry;

/// How strongly and how often is attacked.
#[derive(Debug, clap::Args)]
pub struct AttackedArgs {
    /// How strong the attack is; several, as in 0.5,1,2, are run one after the other [default: the attack's]
    #[arg(long, value_name = "RATES", value_delimiter = ',', requires = "attack")]
    #[arg(allow_negative_numbers = true)]
    rate: Vec<f64>,
    /// How often each split is attacked, with other seeds
    #[arg(long, value_name = "N", default_value_t = 3, requires = "attack")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Attack before training: each model learns again, with the run's settings, on the attacked data
    #[arg(long, requires = "attack")]
    poisoning: bool,
    /// Attack the run's own models, which saw the test nodes and their edges in training; otherwise each model learns again
    /// without them, with the run's settings, before it is scored on the attacked graph
    #[arg(long, requires = "attack", conflicts_with = "poisoning")]
    transductive: bool,
    /// One setting of the attack, such as keep=0.5; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "attack")]
    set: Vec<String>,
}

/// The document for scripts: what came out, and what led to it; accuracies in percent, means and population standard
/// deviations over splits and repeats.
#[derive(Serialize)]
struct Document<'a> {
    run: &'a Path,
    dataset: &'a str,
    model: &'a str,
    attack: &'a str,
    settings: &'a Table,
    seed: u64,
    splits: usize,
    repeats: u16,
    poisoning: bool,
    /// Whether models learned without the test nodes.
    inductive: bool,
    clean_test_accuracy_mean: Option<f64>,
    clean_test_accuracy_std: Option<f64>,
    rates: Vec<AtRate<'a>>,
    /// What the run is judged by.
    metric: Metric,
    clean_test_metric_mean: Option<f64>,
}

/// All models under one attack.
#[derive(Serialize)]
struct AtRate<'a> {
    rate: f64,
    test_accuracy_mean: Option<f64>,
    test_accuracy_std: Option<f64>,
    #[serde(flatten)]
    means: Means,
    test_metric_mean: Option<f64>,
    /// Mean node heterophily at the test nodes before the attack; `None` if no test node has one.
    heterophily_before_mean: Option<f64>,
    heterophily_after_mean: Option<f64>,
    edges_added_mean: f64,
    edges_removed_mean: f64,
    cells: Vec<AttackedCell<'a>>,
}

/// One model under one attack.
#[derive(Serialize)]
struct AttackedCell<'a> {
    split: usize,
    repeat: u64,
    test_accuracy: f64,
    test_roc_auc: Option<f64>,
    test_average_precision: Option<f64>,
    test_balanced_accuracy: Option<f64>,
    test_macro_f1: Option<f64>,
    majority_accuracy: Option<f64>,
    #[serde(skip)]
    scores: &'a Scores,
    #[serde(flatten)]
    record: &'a Record,
}

/// Attacks and scores.
pub fn run(
    name: &str,
    args: &AttackedArgs,
    positive: Option<&str>,
    run: &Run,
    global: &Global,
) -> Result<()> {
    let mut settings = attack_settings(attacks::kind(name)?, &args.set)?;
    let default = settings.remove("rate").and_then(|rate| rate.as_float()).unwrap_or(1.0);
    let dataset =
        own_data(run, "only a run's own data is attacked: train again on what there is now", global)?;
    let splits = finished_splits(run, global)?;
    let axis = AttackAxis {
        name: name.into(),
        rates: if args.rate.is_empty() { vec![default] } else { args.rate.clone() },
        poisoning: args.poisoning,
        transductive: args.transductive,
        repeats: args.repeats.into(),
        settings: settings.clone(),
    };
    let plan = plan(run, dataset, &splits, (axis.clone(), positive), global)?;
    let (store, _) = Store::reopen(run.path())?;
    let registry = Registry::default();
    let load = |job: &Job| run.model(&registry, job.split.number);
    let progress = Progress::new(global, Counts::Cells, plan.cells().count(), name);
    let outcome = Runner::new(&plan)
        .store(&store)
        .models(&load)
        .threads(global.num_threads()?)
        .observer(&progress)
        .on_error(OnError::Stop)
        .run();
    progress.done();
    let path = &run.data().path;
    let outcome = outcome.map_err(|error| {
        let kept = || "every finished attack is kept in the run; the same command goes on from there".into();
        how_to_go_on(error, kept).in_file(path)
    })?;
    let metric = metric(run);
    let clean = || clean(&outcome.records, axis.inductive());
    let document = Document {
        run: run.path(),
        dataset: &run.data().name,
        model: run.model_name(),
        attack: name,
        settings: &settings,
        seed: global.seed,
        splits: splits.len(),
        repeats: args.repeats,
        poisoning: args.poisoning,
        inductive: axis.inductive(),
        clean_test_accuracy_mean: mean_of(clean().map(|s| s.test_accuracy)),
        clean_test_accuracy_std: std_of(clean().map(|s| s.test_accuracy)),
        metric,
        clean_test_metric_mean: mean_of(clean().map(|s| s.test(metric))),
        rates: axis
            .rates
            .iter()
            .map(|&rate| at_rate(rate, metric, &outcome.records))
            .collect::<Result<_>>()?,
    };
    say(&document, global);
    global.document(&document);
    Ok(())
}

/// The run's own cells, and the same under the attack.
fn plan(
    run: &Run,
    dataset: lhs::graph::Dataset,
    splits: &[usize],
    (axis, positive): (AttackAxis, Option<&str>),
    global: &Global,
) -> Result<Plan> {
    let trained = run.manifest().suite.clone();
    let positive_class = positive.map(String::from).or(trained.positive_class.clone());
    let suite = Suite { attacks: vec![axis], attack_seed: Some(global.seed), positive_class, ..trained };
    let mut plan = Plan::on(
        &suite,
        vec![Data::read_from(&run.data().source(), &run.data().load_options(), dataset)?],
        &Registry::default(),
    )?;
    // Splits that are not finished have no model yet.
    plan.jobs.retain(|job| splits.contains(&job.split.number));
    Ok(plan)
}

/// Scores on clean data under the protocol of the attack, split by split.
fn clean(records: &[CellRecord], inductive: bool) -> impl Iterator<Item = &Scores> {
    let wanted = move |record: &&CellRecord| record.id.attack.is_none() && record.id.inductive == inductive;
    let clean = records.iter().filter(wanted);
    clean.filter_map(|record| Some(&record.result.as_ref()?.scores))
}

fn at_rate(rate: f64, metric: Metric, records: &[CellRecord]) -> Result<AtRate<'_>> {
    let cells =
        records.iter().filter_map(|record| attacked_cell(rate, record)).collect::<Result<Vec<_>>>()?;
    let column = |of: fn(&AttackedCell<'_>) -> f64| cells.iter().map(of).collect::<Vec<f64>>();
    let defined = |of: fn(&Record) -> Option<f64>| {
        let values: Vec<f64> = cells.iter().filter_map(|cell| of(cell.record)).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    let accuracies = || cells.iter().map(|cell| Some(cell.test_accuracy));
    Ok(AtRate {
        rate,
        test_accuracy_mean: mean_of(accuracies()),
        test_accuracy_std: std_of(accuracies()),
        means: Means::of(cells.iter().map(|cell| cell.scores)),
        test_metric_mean: mean_of(cells.iter().map(|cell| cell.scores.test(metric))),
        heterophily_before_mean: defined(|record| record.heterophily_before),
        heterophily_after_mean: defined(|record| record.heterophily_after),
        edges_added_mean: mean(&column(|cell| cell.record.edges_added as f64)),
        edges_removed_mean: mean(&column(|cell| cell.record.edges_removed as f64)),
        cells,
    })
}

/// The cell of a record, if it is under the attack at this strength.
fn attacked_cell(rate: f64, record: &CellRecord) -> Option<Result<AttackedCell<'_>>> {
    let attack = record.id.attack.as_ref().filter(|attack| attack.rate == rate)?;
    let measured = record.result.as_ref()?;
    let record_split = record.id.split;
    let no_label = || Error::data("no test node has a label", "label some of them");
    Some(measured.scores.test_accuracy.ok_or_else(no_label).and_then(|test_accuracy| {
        let record =
            measured.attack.as_ref().ok_or_else(|| Error::data("no attack was recorded", "run it again"))?;
        let scores = &measured.scores;
        Ok(AttackedCell {
            split: record_split,
            repeat: attack.repeat,
            test_accuracy,
            test_roc_auc: scores.test_roc_auc,
            test_average_precision: scores.test_average_precision,
            test_balanced_accuracy: scores.test_balanced_accuracy,
            test_macro_f1: scores.test_macro_f1,
            majority_accuracy: scores.majority_accuracy,
            scores,
            record,
        })
    }))
}

fn say(document: &Document<'_>, global: &Global) {
    let heterophily = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |h| format!("{h:.3}"));
    let before = document.rates.first().and_then(|rate| rate.heterophily_before_mean);
    global.say(format_args!(
        "{} on {} under {}{}; accuracy in percent at the test nodes, over {} × {}",
        document.model,
        document.dataset,
        document.attack,
        match (document.poisoning, document.inductive) {
            (true, _) => " before training",
            (false, true) => ", inductive (trained without the test nodes)",
            (false, false) => ", transductive (the test nodes were there in training)",
        },
        counted(document.splits, "split"),
        counted(document.repeats.into(), "repeat"),
    ));
    let own = |value: Option<f64>| match document.metric {
        Metric::Accuracy => String::new(),
        metric => format!("  {:>1$}", shown(value), metric.to_string().len()),
    };
    let judged = match document.metric {
        Metric::Accuracy => String::new(),
        metric => format!("  {metric}"),
    };
    global.say(format_args!(" rate  accuracy    std   mean H  edges added  removed{judged}"));
    global.say(format_args!(
        "clean  {:>8} {:>6} {:>8} {:>12} {:>8}{}",
        shown(document.clean_test_accuracy_mean),
        shown(document.clean_test_accuracy_std),
        heterophily(before),
        "",
        "",
        own(document.clean_test_metric_mean)
    ));
    for at in &document.rates {
        global.say(format_args!(
            "{:>5}  {:>8} {:>6} {:>8} {:>12.1} {:>8.1}{}",
            at.rate,
            shown(at.test_accuracy_mean),
            shown(at.test_accuracy_std),
            heterophily(at.heterophily_after_mean),
            at.edges_added_mean,
            at.edges_removed_mean,
            own(at.test_metric_mean)
        ));
    }
}
