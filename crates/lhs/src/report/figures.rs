//! The figures of a suite: accuracy against strength, heterophily, right-shift against loss, training curves.

use std::collections::BTreeMap;

use maud::Markup;

use super::svg::{Axis, Plot};
use crate::experiment::table::csv_text;
use crate::experiment::table::{AccuracyTable, Column, Line, distinct};
use crate::experiment::{CellId, CellRecord, Measured};
use crate::metrics::audit::GIVEN;
use crate::metrics::statistics as metrics;
use crate::training::EpochRecord;

/// A picture and the numbers behind it.
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// The picture.
    pub svg: Markup,
    /// The numbers.
    pub csv: String,
}

/// Finished cells with their results.
fn finished(records: &[CellRecord]) -> impl Iterator<Item = (&CellRecord, &Measured)> {
    records.iter().filter_map(|record| Some((record, record.result.as_ref()?)))
}

/// Accuracy against strength, with bands of one standard deviation, for each attack that came in several strengths.
pub fn strengths(table: &AccuracyTable) -> Vec<Figure> {
    let attacks = distinct(table.lines.iter().filter_map(|line| {
        let attack = line.attack.as_ref()?;
        Some((line.dataset.as_str(), attack.name.as_str(), (attack.poisoning, line.inductive)))
    }));
    attacks.into_iter().filter_map(|(dataset, name, when)| strength(table, dataset, name, when)).collect()
}

fn strength(
    table: &AccuracyTable,
    dataset: &str,
    name: &str,
    (poisoning, inductive): (bool, bool),
) -> Option<Figure> {
    let same = |line: &Line| {
        let attack = line.attack.as_ref();
        line.dataset == dataset
            && line.inductive == inductive
            && attack.is_none_or(|own| own.name == name && own.poisoning == poisoning)
    };
    let rate = |line: usize| table.lines[line].rate();
    let mut lines: Vec<usize> = (0..table.lines.len()).filter(|&line| same(&table.lines[line])).collect();
    lines.sort_by(|&a, &b| rate(a).total_cmp(&rate(b)));
    // An attack of strength 0 is no attack: the clean data, which comes first, stands for both.
    lines.dedup_by(|second, first| rate(*second) == rate(*first));
    if lines.iter().filter(|&&line| rate(line) != 0.0).count() < 2 {
        return None;
    }
    let series: Vec<Series> =
        (0..table.columns.len()).filter_map(|column| Series::of(table, &lines, column)).collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let heights = points().flat_map(Point::band);
    let y = Axis::around("test accuracy, %", heights);
    let mut plot =
        Plot::new(Axis::around("strength of the attack (rate)", points().map(|point| point.rate)), y);
    series.iter().enumerate().for_each(|(colour, series)| series.draw(&mut plot, colour));
    let when = if poisoning { "before training" } else { "after training" };
    let title = format!("{dataset}: {name} {when}{}", if inductive { ", inductive" } else { "" });
    let csv = csv_text(["model", "rate", "mean", "std", "cells"], series.iter().flat_map(Series::rows));
    Some(Figure { svg: plot.finish(&title), title, csv })
}

/// Accuracy at a strength.
struct Point {
    rate: f64,
    mean: f64,
    std: Option<f64>,
    cells: usize,
}

impl Point {
    /// A standard deviation around the mean; only the mean where one cell has none.
    fn band(&self) -> [f64; 2] {
        let std = self.std.unwrap_or(0.0);
        [self.mean - std, self.mean + std]
    }
}

/// A model or variant at growing strengths.
struct Series {
    name: String,
    points: Vec<Point>,
}

impl Series {
    /// What a column says at some lines; none if it says nothing.
    fn of(table: &AccuracyTable, lines: &[usize], column: usize) -> Option<Self> {
        let point = |&line: &usize| {
            let entry = table.entry(line, column);
            let std = entry.std().filter(|_| entry.cells() > 1);
            Some(Point { rate: table.lines[line].rate(), mean: entry.mean()?, std, cells: entry.cells() })
        };
        let points: Vec<Point> = lines.iter().filter_map(point).collect();
        (!points.is_empty()).then(|| Series { name: table.columns[column].to_string(), points })
    }

    fn draw(&self, plot: &mut Plot, colour: usize) {
        let band: Vec<_> = self.points.iter().map(|p| (p.rate, p.band()[0], p.band()[1])).collect();
        let line: Vec<_> = self.points.iter().map(|p| (p.rate, p.mean)).collect();
        plot.band(&band, colour);
        plot.line(&line, colour);
        plot.legend(&self.name, colour);
    }

    fn rows(&self) -> impl Iterator<Item = [String; 5]> {
        self.points.iter().map(|p| {
            let (mean, std) =
                (format!("{:.4}", p.mean), p.std.map_or_else(String::new, |std| format!("{std:.4}")));
            [self.name.clone(), p.rate.to_string(), mean, std, p.cells.to_string()]
        })
    }
}

/// How heterophilic nodes are: training nodes, test nodes, and test nodes under each attack, in the given graph and in
/// the latent graphs, where a model has them.
pub fn heterophily(records: &[CellRecord]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for dataset in distinct(records.iter().map(|record| record.id.dataset.clone())) {
        let own = || finished(records).filter(|(record, _)| record.id.dataset == dataset);
        let graphs = distinct(own().flat_map(|(_, measured)| &measured.heterophily).map(|h| h.graph.clone()));
        // The first and the last round are enough to see what refinement does.
        let latent: Vec<&String> = graphs.iter().filter(|graph| *graph != GIVEN).collect();
        let mut shown: Vec<&str> = vec![GIVEN];
        shown.extend(latent.first().map(|graph| graph.as_str()));
        shown.extend(latent.last().filter(|_| latent.len() > 1).map(|graph| graph.as_str()));
        figures.extend(
            shown.into_iter().filter_map(|graph| histograms(&dataset, graph, &own().collect::<Vec<_>>())),
        );
    }
    figures
}

fn histograms(dataset: &str, graph: &str, cells: &[(&CellRecord, &Measured)]) -> Option<Figure> {
    let samples = samples(graph, cells)?;
    let share = |histogram: &[usize]| {
        let total = histogram.iter().sum::<usize>().max(1) as f64;
        histogram.iter().map(move |&count| count as f64 / total).collect::<Vec<f64>>()
    };
    let highest = samples.iter().flat_map(|(_, histogram)| share(histogram)).fold(0.0, f64::max);
    let mut plot = Plot::new(
        Axis::new("node heterophily H", 0.0, 1.0),
        Axis::new("share of the nodes", 0.0, 1.05 * highest),
    );
    let mut rows = Vec::new();
    for (colour, (name, histogram)) in samples.iter().enumerate() {
        plot.steps(histogram, colour);
        plot.legend(name, colour);
        rows.extend(histogram.iter().enumerate().map(|(bin, count)| {
            let from = format!("{:.3}", bin as f64 / histogram.len() as f64);
            [name.clone(), bin.to_string(), from, count.to_string()]
        }));
    }
    let which = if graph == GIVEN { "given graph".to_string() } else { format!("latent graph, {graph}") };
    let title = format!("{dataset}: H in the {which}");
    let csv = csv_text(["sample", "bin", "from", "nodes"], rows);
    Some(Figure { svg: plot.finish(&title), title, csv })
}

/// Histograms by sample of nodes, summed over the cells of one model: all models that learn no structure see the same
/// given graph, and one is enough.
fn samples(graph: &str, cells: &[(&CellRecord, &Measured)]) -> Option<Vec<(String, Vec<usize>)>> {
    let (first, _) = cells.iter().find(|(_, m)| m.heterophily.iter().any(|h| h.graph == graph))?;
    let who = Column::of(&first.id);
    let mut samples: Vec<(String, Vec<usize>)> = Vec::new();
    for (record, measured) in cells.iter().filter(|(record, _)| Column::of(&record.id) == who) {
        for found in measured.heterophily.iter().filter(|h| h.graph == graph) {
            let name = match (found.part.as_str(), &record.id.attack) {
                ("train", None) => "training".to_string(),
                ("test", None) => "test".to_string(),
                ("test", Some(_)) => Line::of(&record.id).state(),
                _ => continue,
            };
            match samples.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum.iter_mut().zip(&found.histogram).for_each(|(sum, count)| *sum += count),
                None => samples.push((name, found.histogram.clone())),
            }
        }
    }
    Some(samples)
}

/// What an attack after training did to a model on a split.
struct Blow {
    who: String,
    said: String,
    shift: f64,
    loss: f64,
}

/// How far attacks after training moved the test nodes to the right, against what they cost each model.
pub fn shift_against_loss(records: &[CellRecord]) -> Option<Figure> {
    let blows = blows(records);
    if blows.is_empty() {
        return None;
    }
    let mut plot = Plot::new(
        Axis::around("right-shift of the test nodes' mean H", blows.iter().map(|blow| blow.shift)),
        Axis::around("accuracy lost, points", blows.iter().map(|blow| blow.loss)),
    );
    let (mut rows, mut correlations) = (Vec::new(), Vec::new());
    for (colour, who) in distinct(blows.iter().map(|blow| &blow.who)).into_iter().enumerate() {
        let own: Vec<&Blow> = blows.iter().filter(|blow| blow.who == *who).collect();
        for Blow { said, shift, loss, .. } in &own {
            plot.dot(*shift, *loss, colour, &format!("{who}, {said}: {loss:.1} points lost"));
            rows.push([who.clone(), said.clone(), format!("{shift:.5}"), format!("{loss:.4}")]);
        }
        plot.legend(who, colour);
        let pairs: Vec<(f64, f64)> = own.iter().map(|blow| (blow.shift, blow.loss)).collect();
        let correlation = metrics::rank_correlation(&pairs);
        correlations.push(format!("{who} {}", correlation.map_or("-".into(), |c| format!("{c:.2}"))));
    }
    let title = format!("Right-shift against loss; rank correlation: {}", correlations.join(", "));
    let csv = csv_text(["model", "attack", "shift", "loss"], rows);
    Some(Figure { svg: plot.finish(&title), title, csv })
}

/// Each attacked cell against the clean one of the same model, split and seed.
fn blows(records: &[CellRecord]) -> Vec<Blow> {
    type Same<'a> = (&'a str, &'a str, Option<&'a str>, usize, u64, bool);
    fn same(id: &CellId) -> Same<'_> {
        (&id.dataset, &id.model, id.variant.as_deref(), id.split, id.seed, id.inductive)
    }
    let shift = |measured: &Measured| {
        measured.heterophily.iter().find(|h| h.graph == GIVEN && h.part == "test").and_then(|h| h.mean_shift)
    };
    let clean: BTreeMap<Same<'_>, &Measured> = finished(records)
        .filter(|(record, _)| record.id.attack.is_none())
        .map(|(record, measured)| (same(&record.id), measured))
        .collect();
    let evaded = finished(records).filter(|(r, _)| r.id.attack.as_ref().is_some_and(|a| !a.poisoning));
    evaded
        .filter_map(|(record, measured)| {
            let before = clean.get(&same(&record.id))?;
            let state = Line::of(&record.id).state();
            Some(Blow {
                who: Column::of(&record.id).to_string(),
                said: format!("{} under {state}", record.id.dataset),
                shift: shift(measured)? - shift(before)?,
                loss: before.scores.test_accuracy? - measured.scores.test_accuracy?,
            })
        })
        .collect()
}

/// Accuracy at the validation nodes while models were trained.
pub fn curves(records: &[CellRecord]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for dataset in distinct(records.iter().map(|record| &record.id.dataset)) {
        let own = finished(records).filter(|(r, m)| r.id.dataset == *dataset && !m.curve.is_empty());
        let series: Vec<(String, &[EpochRecord])> =
            own.map(|(r, m)| (Column::of(&r.id).to_string(), m.curve.as_slice())).collect();
        figures.extend(curve(&format!("{dataset}: while training"), &series));
    }
    figures
}

/// The curve of each series in the first stage that measures validation accuracy.
pub fn curve(title: &str, series: &[(String, &[EpochRecord])]) -> Option<Figure> {
    let lines: Vec<(&String, Vec<(f64, f64)>)> = series
        .iter()
        .map(|(who, records)| (who, validation(records)))
        .filter(|(_, line)| line.len() > 1)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let points = || lines.iter().flat_map(|(_, line)| line);
    let mut plot = Plot::new(
        Axis::new("epoch", 0.0, points().map(|point| point.0).fold(0.0, f64::max)),
        Axis::around("validation accuracy, %", points().map(|point| point.1)),
    );
    for (colour, (who, line)) in lines.iter().enumerate() {
        plot.line(line, colour);
        plot.legend(who, colour);
    }
    let rows = series.iter().flat_map(|(who, records)| records.iter().map(|record| epoch_row(who, record)));
    let csv = csv_text(["model", "stage", "epoch", "train_loss", "val_accuracy"], rows);
    Some(Figure { svg: plot.finish(title), title: title.into(), csv })
}

/// Epochs and validation accuracies, in percent, of the first stage that has them.
fn validation(records: &[EpochRecord]) -> Vec<(f64, f64)> {
    let stage = records.iter().find(|record| record.val_accuracy.is_some()).map(|record| &record.stage);
    let own = records.iter().filter(|record| Some(&record.stage) == stage);
    own.filter_map(|record| Some((record.epoch as f64, 100.0 * f64::from(record.val_accuracy?)))).collect()
}

fn epoch_row(who: &str, record: &EpochRecord) -> [String; 5] {
    let EpochRecord { stage, epoch, train_loss, val_accuracy, .. } = record;
    let accuracy = val_accuracy.map_or(String::new(), |share| format!("{:.2}", 100.0 * f64::from(share)));
    [who.to_string(), stage.clone(), epoch.to_string(), train_loss.to_string(), accuracy]
}
