//! What a training has come to, for people and for scripts.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use toml::Table;

use super::super::figures::{self, Means, mean_of, shown, std_of, with_spread};
use super::super::output::Global;
use super::super::predict::{Ranking, say_ranked};
use lhs::experiment::{CellRecord, memory};
use lhs::metrics::{ClassScores, Metric, Scores};

/// A finished training.
pub struct Trained<'a> {
    pub model: &'a str,
    pub dataset: &'a str,
    pub folder: Option<&'a Path>,
    pub settings: &'a Table,
    /// Whether somebody chose what counts.
    pub metric_given: bool,
    pub records: Vec<CellRecord>,
    /// The list that was asked for.
    pub ranking: Option<Ranking>,
    pub started: Instant,
}

/// The document for scripts; figures in percent, spreads are population standard deviations, of two splits or more.
#[derive(Serialize)]
struct Document<'a> {
    dataset: &'a str,
    model: &'a str,
    splits: usize,
    test_accuracy_mean: Option<f64>,
    test_accuracy_std: Option<f64>,
    val_accuracy_mean: f64,
    /// From start to end, as the clock on the wall shows it.
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    per_split: Vec<SplitRow<'a>>,
    #[serde(flatten)]
    means: Means,
    /// What the model is judged by.
    metric: Metric,
    val_metric_mean: Option<f64>,
    test_metric_mean: Option<f64>,
    test_metric_std: Option<f64>,
    positive_class: Option<&'a str>,
    classes: Vec<ClassScores>,
    seed: u64,
    run: Option<&'a Path>,
    settings: &'a Table,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    ranking: Option<&'a Ranking>,
}

#[derive(Serialize)]
struct SplitRow<'a> {
    split: usize,
    #[serde(flatten)]
    scores: Scores,
    /// From which probability on a node is taken for the positive class; null where the likelier class wins.
    threshold: Option<f64>,
    classes: &'a [ClassScores],
    epochs: usize,
    /// Time for training, interrupted sittings included.
    seconds: f64,
    /// What the model decided, in a few sentences.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    summary: &'a [String],
    /// The same in all detail.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    #[serde(skip)]
    positive_class: Option<&'a str>,
}

/// Says it.
pub fn report(trained: &Trained<'_>, global: &Global) {
    let rows: Vec<SplitRow<'_>> = trained.records.iter().filter_map(row).collect();
    let metric = rows.first().map_or(Metric::Accuracy, |row| row.scores.judged_by());
    let means = Means::of(rows.iter().map(|row| &row.scores));
    let accuracy = mean_of(rows.iter().map(|row| row.scores.test_accuracy));
    let classes: Vec<&[ClassScores]> = rows.iter().map(|row| row.classes).collect();
    let classes = figures::class_means(&classes);
    say_table(trained, &rows, metric, global);
    figures::say_majority(accuracy, &means, global);
    if classes.len() == 2 || trained.metric_given {
        figures::say_means(&means, global);
        figures::say_classes(&classes, global);
    }
    say_decision(&rows, global);
    if let Some(first) = rows.first() {
        let remarks = global.remarks(first.summary, first.remarks);
        remarks.iter().for_each(|remark| global.say(format_args!("split {}: {remark}", first.split)));
    }
    figures::warn(accuracy, metric, &means, &classes, global);
    if let Some(ranking) = &trained.ranking {
        say_ranked(ranking, global);
    }
    if let Some(folder) = trained.folder {
        global.say(format_args!("saved in {}", folder.display()));
    }
    global.document(&Document {
        dataset: trained.dataset,
        model: trained.model,
        splits: rows.len(),
        test_accuracy_mean: accuracy,
        test_accuracy_std: std_of(rows.iter().map(|row| row.scores.test_accuracy)),
        val_accuracy_mean: mean_of(rows.iter().map(|row| Some(row.scores.val_accuracy))).unwrap_or(0.0),
        means,
        metric,
        val_metric_mean: mean_of(rows.iter().map(|row| row.scores.val_metric)),
        test_metric_mean: mean_of(rows.iter().map(|row| row.scores.test(metric))),
        test_metric_std: std_of(rows.iter().map(|row| row.scores.test(metric))),
        positive_class: rows.first().and_then(|row| row.positive_class),
        classes,
        seconds: trained.started.elapsed().as_secs_f64(),
        peak_memory_bytes: memory::peak_bytes(),
        per_split: rows,
        seed: global.seed,
        run: trained.folder,
        settings: trained.settings,
        ranking: trained.ranking.as_ref(),
    });
}

/// A line per split: accuracy, with what counts before it where that is something else.
fn say_table(trained: &Trained<'_>, rows: &[SplitRow<'_>], metric: Metric, global: &Global) {
    let Trained { model, dataset, .. } = trained;
    let judged = metric != Metric::Accuracy;
    let mean = |of: &dyn Fn(&Scores) -> Option<f64>| mean_of(rows.iter().map(|row| of(&row.scores)));
    let std = |of: &dyn Fn(&Scores) -> Option<f64>| std_of(rows.iter().map(|row| of(&row.scores)));
    let what = if judged { format!("{metric} and accuracy") } else { metric.to_string() };
    global.say(format_args!("{model} on {dataset}, seed {}; {what} in percent", global.seed));
    if judged {
        global.say(format_args!("     {metric:>17} | accuracy"));
    }
    let heads = if judged { "     val     test |" } else { "" };
    global.say(format_args!("split{heads}    train      val     test  epochs  seconds"));
    for SplitRow { split, scores, epochs, seconds, .. } in rows {
        let (val, test) = (shown(scores.val_metric), shown(scores.test(metric)));
        let first = if judged { format!(" {val:>7} {test:>8} |") } else { String::new() };
        global.say(format_args!(
            "{split:>5}{first} {:>8.2} {:>8.2} {:>8} {epochs:>7} {seconds:>8.1}",
            scores.train_accuracy,
            scores.val_accuracy,
            shown(scores.test_accuracy),
        ));
    }
    if rows.len() > 1 {
        let (val, test) = (shown(mean(&|s| s.val_metric)), shown(mean(&|s| s.test(metric))));
        let first = if judged { format!(" {val:>7} {test:>8} |") } else { String::new() };
        let spread = if judged {
            format!("   {metric} {}", with_spread(mean(&|s| s.test(metric)), std(&|s| s.test(metric))))
        } else {
            std(&|s| s.test_accuracy).map_or_else(String::new, |std| format!(" ± {std:.2}"))
        };
        global.say(format_args!(
            " mean{first} {:>8} {:>8} {:>8}{spread}",
            shown(mean(&|s| Some(s.train_accuracy))),
            shown(mean(&|s| Some(s.val_accuracy))),
            shown(mean(&|s| s.test_accuracy)),
        ));
    }
}

/// From which probability on a node is taken for the positive class of two.
fn say_decision(rows: &[SplitRow<'_>], global: &Global) {
    let Some(first) = rows.first() else { return };
    let (Some(positive), 2) = (first.positive_class, first.classes.len()) else { return };
    let thresholds: Vec<String> =
        rows.iter().map(|row| row.threshold.map_or("0.5".into(), |at| format!("{at:.3}"))).collect();
    let thresholds = if thresholds.iter().all(|at| *at == thresholds[0]) {
        thresholds[0].clone()
    } else {
        format!("{}, split by split", thresholds.join(", "))
    };
    global.say(format_args!("taken for `{positive}` from this probability on: {thresholds} (--threshold)"));
}

fn row(record: &CellRecord) -> Option<SplitRow<'_>> {
    let measured = record.result.as_ref()?;
    Some(SplitRow {
        split: record.id.split,
        scores: measured.scores,
        threshold: measured.threshold,
        classes: &measured.classes,
        epochs: measured.epochs,
        seconds: measured.train_seconds,
        summary: &measured.summary,
        remarks: &measured.diagnostics,
        positive_class: measured.positive_class.as_deref(),
    })
}
