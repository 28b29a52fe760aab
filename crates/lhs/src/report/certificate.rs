//! A certificate as a figure: what stays right whatever an attacker changes, and the line of the perceptron, which reads no edges.

use super::figures::Figure;
use super::svg::{Axis, Plot};
use crate::certify::CertificateRecord;
use crate::experiment::table::csv_text;

/// What is certified, in a sentence.
pub(super) fn finding(record: &CertificateRecord) -> Option<String> {
    let (at_none, line) = (record.curves.certified_accuracy.first()?, record.curves.mlp_accuracy?);
    let above = match record.curves.above_mlp_until() {
        Some(radius) => format!("above it up to radius {radius}"),
        None => "and is nowhere above it".to_string(),
    };
    let when = if record.poisoning { "before training or after it" } else { "after training" };
    Some(format!(
        "{} buckets of the edges vote: {at_none:.1} % of the test nodes are right, and so many stay right as the curve says when somebody \
         changes edges {when}, anywhere; an mlp, which reads no edges, has {line:.1} % at every radius, and the certificate is {above}.",
        record.buckets
    ))
}

/// Certified accuracy against the radius, always with the perceptron's line.
pub(super) fn figure(record: &CertificateRecord) -> Option<Figure> {
    let curves = &record.curves;
    let line = curves.mlp_accuracy?;
    let flat = vec![line; curves.certified_accuracy.len()];
    let all = [
        (record.model.as_str(), &curves.certified_accuracy),
        ("all nodes under one attack", &curves.collective_accuracy),
        ("mlp", &flat),
    ];
    let last = curves.certified_accuracy.len().saturating_sub(1) as f64;
    let values = all.iter().flat_map(|(_, values)| values.iter().copied()).chain([0.0]);
    let mut plot = Plot::new(
        Axis::new("edges changed anywhere", 0.0, last),
        Axis::around("certified accuracy, %", values),
    );
    for (number, (name, values)) in all.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(radius, v)| (radius as f64, *v)).collect();
        plot.line(&points, number);
        plot.legend(name, number);
    }
    let rows = all.iter().flat_map(|(name, values)| {
        let row =
            |(radius, value): (usize, &f64)| [name.to_string(), radius.to_string(), format!("{value:.4}")];
        values.iter().enumerate().map(row).collect::<Vec<_>>()
    });
    let when = if record.poisoning { "before training" } else { "after training" };
    let title = format!("{}: certified, {} buckets, edges changed {when}", record.dataset, record.buckets);
    Some(Figure { svg: plot.finish(&title), csv: csv_text(["what", "radius", "accuracy"], rows), title })
}

/// The numbers behind the figure, as CSV.
pub(super) fn table(record: &CertificateRecord) -> String {
    figure(record).map_or_else(String::new, |figure| figure.csv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::Curves;

    #[test]
    fn the_mlp_is_in_the_figure_and_in_the_sentence() {
        let curves = Curves {
            vote_accuracy: Some(58.0),
            certified_accuracy: vec![58.0, 52.0, 40.0],
            collective_accuracy: vec![58.0, 54.0, 44.0],
            collective_inexact_from: None,
            mlp_accuracy: Some(50.0),
        };
        let record =
            CertificateRecord { model: "lhs".into(), buckets: 5, curves, ..CertificateRecord::default() };
        assert!(
            finding(&record)
                .unwrap()
                .contains("50.0 % at every radius, and the certificate is above it up to radius 1")
        );
        let figure = figure(&record).unwrap();
        assert!(
            figure.csv.contains("mlp,2,50.0000") && figure.csv.contains("lhs,1,52.0000"),
            "{}",
            figure.csv
        );
        assert!(super::figure(&CertificateRecord::default()).is_none(), "nothing to draw without labels");
    }
}
