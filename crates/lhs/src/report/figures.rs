//! The figures of a suite: accuracy against strength, heterophily, right-shift against loss, training curves.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::svg::{Axis, Plot};
use super::tables::{contestant, quoted, state};
use crate::bench::{CellRecord, Measured};
use crate::eval::audit::GIVEN;
use crate::eval::metrics;
use crate::training::EpochRecord;

/// Rates with mean and spread.
type Points = Vec<(f64, f64, f64)>;

/// A picture and the numbers behind it.
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// The picture.
    pub svg: String,
    /// The numbers.
    pub csv: String,
}

/// Finished cells with their results.
fn finished(records: &[CellRecord]) -> impl Iterator<Item = (&CellRecord, &Measured)> {
    records.iter().filter_map(|record| Some((record, record.result.as_ref()?)))
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    items.for_each(|item| {
        if !found.contains(&item) {
            found.push(item);
        }
    });
    found
}

/// Accuracy against strength, with bands of one standard deviation, for each attack that came in several strengths.
pub fn strengths(records: &[CellRecord]) -> Vec<Figure> {
    let attacks = distinct(records.iter().filter_map(|record| {
        let attack = record.id.attack.as_ref()?;
        Some((record.id.dataset.clone(), attack.name.clone(), attack.poisoning))
    }));
    attacks
        .iter()
        .filter_map(|(dataset, name, poisoning)| strength(records, dataset, name, *poisoning))
        .collect()
}

fn strength(records: &[CellRecord], dataset: &str, name: &str, poisoning: bool) -> Option<Figure> {
    // The accuracies of each contestant, by rate in millionths: floats are no keys.
    let mut series: Vec<(String, BTreeMap<i64, Vec<f64>>)> = Vec::new();
    for (record, measured) in finished(records).filter(|(record, _)| record.id.dataset == dataset) {
        let rate = match &record.id.attack {
            None => 0.0,
            Some(attack) if attack.name == name && attack.poisoning == poisoning => attack.rate,
            Some(_) => continue,
        };
        let who = contestant(record);
        let place = series.iter().position(|(known, _)| *known == who).unwrap_or_else(|| {
            series.push((who, BTreeMap::new()));
            series.len() - 1
        });
        series[place].1.entry((rate * 1e6).round() as i64).or_default().push(measured.scores.test_accuracy);
    }
    let rates = distinct(series.iter().flat_map(|(_, by_rate)| by_rate.keys().copied()));
    if rates.iter().filter(|&&rate| rate != 0).count() < 2 {
        return None;
    }
    let mut csv = "model,rate,mean,std,cells\n".to_string();
    let summed: Vec<(&String, Points)> = series
        .iter()
        .map(|(who, by_rate)| {
            let points = by_rate.iter().map(|(&rate, values)| {
                let rate = rate as f64 / 1e6;
                let (mean, std) = (metrics::mean(values), metrics::std(values));
                let _ = writeln!(csv, "{},{rate},{mean:.4},{std:.4},{}", quoted(who), values.len());
                (rate, mean, std)
            });
            (who, points.collect())
        })
        .collect();
    let points = || summed.iter().flat_map(|(_, points)| points);
    let heights = points().flat_map(|&(_, mean, std)| [mean - std, mean + std]);
    let y = Axis::around("test accuracy, %", heights);
    let mut plot = Plot::new(Axis::around("rate", points().map(|point| point.0)), y);
    for (colour, (who, points)) in summed.iter().enumerate() {
        plot.band(&points.iter().map(|&(x, m, s)| (x, m - s, m + s)).collect::<Vec<_>>(), colour);
        plot.line(&points.iter().map(|&(x, m, _)| (x, m)).collect::<Vec<_>>(), colour);
        plot.legend(who, colour);
    }
    let when = if poisoning { "before training" } else { "after training" };
    let title = format!("{dataset}: {name} {when}");
    Some(Figure { svg: plot.finish(&title), title, csv })
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
    let mut series: Vec<(String, Vec<usize>)> = Vec::new();
    // Models that learn no structure see the same given graph: one is enough.
    let model = &cells.iter().find(|(_, m)| m.heterophily.iter().any(|h| h.graph == graph))?.0.id.model;
    for (record, measured) in cells.iter().filter(|(record, _)| record.id.model == *model) {
        for found in measured.heterophily.iter().filter(|h| h.graph == graph) {
            let name = match (found.part.as_str(), &record.id.attack) {
                ("train", None) => "training".to_string(),
                ("test", None) => "test".to_string(),
                ("test", Some(_)) => state(record.id.attack.as_ref()),
                _ => continue,
            };
            match series.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum.iter_mut().zip(&found.histogram).for_each(|(sum, count)| *sum += count),
                None => series.push((name, found.histogram.clone())),
            }
        }
    }
    let share = |histogram: &[usize]| {
        let total = histogram.iter().sum::<usize>().max(1) as f64;
        histogram.iter().map(move |&count| count as f64 / total).collect::<Vec<f64>>()
    };
    let highest = series.iter().flat_map(|(_, histogram)| share(histogram)).fold(0.0, f64::max);
    let mut plot = Plot::new(
        Axis::new("node heterophily H", 0.0, 1.0),
        Axis::new("share of the nodes", 0.0, 1.05 * highest),
    );
    let mut csv = "sample,bin,from,nodes\n".to_string();
    for (colour, (name, histogram)) in series.iter().enumerate() {
        plot.steps(histogram, colour);
        plot.legend(name, colour);
        for (bin, count) in histogram.iter().enumerate() {
            let _ =
                writeln!(csv, "{},{bin},{:.3},{count}", quoted(name), bin as f64 / histogram.len() as f64);
        }
    }
    let which = if graph == GIVEN { "given graph".to_string() } else { format!("latent graph, {graph}") };
    let title = format!("{dataset}: H in the {which}");
    Some(Figure { svg: plot.finish(&title), title, csv })
}

/// How far attacks after training moved the test nodes to the right, against what they cost each model.
pub fn shift_against_loss(records: &[CellRecord]) -> Option<Figure> {
    let shift = |measured: &Measured| {
        measured.heterophily.iter().find(|h| h.graph == GIVEN && h.part == "test").and_then(|h| h.mean_shift)
    };
    let clean = |record: &CellRecord| {
        finished(records).find(|(other, _)| {
            let (a, b) = (&other.id, &record.id);
            let same = a.dataset == b.dataset && a.model == b.model && a.variant == b.variant;
            same && (a.split, a.seed) == (b.split, b.seed) && a.attack.is_none()
        })
    };
    let mut points: Vec<(String, String, f64, f64)> = Vec::new();
    for (record, measured) in finished(records) {
        let Some(attack) = record.id.attack.as_ref().filter(|attack| !attack.poisoning) else { continue };
        let Some((_, before)) = clean(record) else { continue };
        if let (Some(old), Some(new)) = (shift(before), shift(measured)) {
            let loss = before.scores.test_accuracy - measured.scores.test_accuracy;
            let said = format!("{} under {}", record.id.dataset, state(Some(attack)));
            points.push((contestant(record), said, new - old, loss));
        }
    }
    if points.is_empty() {
        return None;
    }
    let mut plot = Plot::new(
        Axis::around("right-shift of the test nodes' mean H", points.iter().map(|p| p.2)),
        Axis::around("accuracy lost, points", points.iter().map(|p| p.3)),
    );
    let mut csv = "model,attack,shift,loss\n".to_string();
    let mut correlations = Vec::new();
    for (colour, who) in distinct(points.iter().map(|point| point.0.clone())).iter().enumerate() {
        let own: Vec<_> = points.iter().filter(|point| point.0 == *who).collect();
        for (_, said, shift, loss) in &own {
            plot.dot(*shift, *loss, colour, &format!("{who}, {said}: {loss:.1} points lost"));
            let _ = writeln!(csv, "{},{},{shift:.5},{loss:.4}", quoted(who), quoted(said));
        }
        plot.legend(who, colour);
        let pairs: Vec<(f64, f64)> = own.iter().map(|point| (point.2, point.3)).collect();
        let correlation = metrics::rank_correlation(&pairs);
        correlations.push(format!("{who} {}", correlation.map_or("-".into(), |c| format!("{c:.2}"))));
    }
    let title = format!("Right-shift against loss; rank correlation: {}", correlations.join(", "));
    Some(Figure { svg: plot.finish(&title), title, csv })
}

/// Accuracy at the validation nodes while models were trained.
pub fn curves(records: &[CellRecord]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for dataset in distinct(records.iter().map(|record| record.id.dataset.clone())) {
        let own = finished(records).filter(|(record, m)| record.id.dataset == dataset && !m.curve.is_empty());
        let series: Vec<(String, &[EpochRecord])> =
            own.map(|(record, measured)| (contestant(record), measured.curve.as_slice())).collect();
        figures.extend(curve(&format!("{dataset}: while training"), &series));
    }
    figures
}

/// The curve of each series in the first stage that measures validation accuracy.
pub fn curve(title: &str, series: &[(String, &[EpochRecord])]) -> Option<Figure> {
    let mut csv = "model,stage,epoch,train_loss,val_accuracy\n".to_string();
    let mut lines: Vec<(&String, Vec<(f64, f64)>)> = Vec::new();
    for (who, records) in series {
        let mut line: Vec<(f64, f64)> = Vec::new();
        let stage = records.iter().find(|record| record.val_accuracy.is_some()).map(|record| &record.stage);
        for record in *records {
            let accuracy = record.val_accuracy.map(|share| 100.0 * f64::from(share));
            let shown = accuracy.map_or(String::new(), |accuracy| format!("{accuracy:.2}"));
            let EpochRecord { stage: own, epoch, train_loss, .. } = record;
            let _ = writeln!(csv, "{},{own},{epoch},{train_loss},{shown}", quoted(who));
            line.extend(accuracy.filter(|_| Some(own) == stage).map(|accuracy| (*epoch as f64, accuracy)));
        }
        lines.push((who, line));
    }
    lines.retain(|(_, line)| line.len() > 1);
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
    Some(Figure { svg: plot.finish(title), title: title.into(), csv })
}
