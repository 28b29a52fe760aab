//! What the paper reports: test accuracy in percent, mean and standard deviation.

use crate::experiment::table::{Column, Line, Published};

/// Mean and standard deviation.
type Pair = (f64, f64);

const CLEAN_DATASETS: [&str; 9] =
    ["wisconsin", "texas", "cornell", "chameleon", "squirrel", "actor", "cora", "citeseer", "pubmed"];
/// Without attack, ten fixed splits; a negative mean stands for one that is not reported.
#[rustfmt::skip]
const CLEAN: &[(&str, [Pair; 9])] = &[
    ("mlp", [(85.29, 3.6), (81.08, 4.7), (82.16, 6.3), (47.36, 2.5), (29.82, 1.8), (35.79, 0.9), (75.69, 2.2), (74.02, 2.1), (87.16, 0.3)]),
    ("mixhop", [(75.88, 4.9), (77.84, 7.7), (73.51, 6.2), (60.5, 2.5), (43.8, 1.4), (32.22, 2.3), (81.9, 0.8), (71.4, 1.3), (80.8, 0.6)]),
    ("h2gcn", [(86.67, 4.6), (84.86, 6.7), (82.16, 6.0), (57.11, 1.6), (37.9, 2.0), (35.86, 1.0), (87.81, 1.3), (77.07, 1.6), (89.59, 0.3)]),
    ("nlgnn", [(87.3, 4.3), (85.4, 3.8), (84.9, 5.7), (70.1, 2.9), (59.0, 1.2), (37.9, 1.3), (88.5, 1.8), (76.2, 1.6), (88.2, 0.5)]),
    ("geom-gcn", [(65.1, 6.5), (67.84, 5.8), (60.0, 6.5), (65.81, 1.6), (45.49, 1.3), (31.94, 1.0), (85.65, 1.7), (79.41, 1.7), (90.49, 0.3)]),
    ("node2seq", [(60.3, 7.0), (63.7, 6.1), (58.7, 6.8), (69.4, 1.6), (58.8, 1.4), (31.4, 1.0), (-1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0)]),
    ("gpnn", [(86.86, 2.6), (85.23, 6.4), (85.14, 6.0), (71.27, 1.8), (59.11, 1.3), (37.08, 1.4), (-1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0)]),
    ("ugcn", [(69.89, 5.2), (71.72, 6.2), (69.77, 6.7), (54.07, 1.7), (34.39, 1.9), (-1.0, 0.0), (84.0, 0.9), (74.08, 1.2), (85.22, 0.7)]),
    ("simp-gcn", [(85.49, 3.5), (81.62, 6.5), (84.05, 5.3), (-1.0, 0.0), (-1.0, 0.0), (36.2, 1.3), (-1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0)]),
    ("bm-gcn", [(-1.0, 0.0), (85.13, 4.6), (-1.0, 0.0), (69.58, 2.9), (51.41, 1.1), (-1.0, 0.0), (87.99, 1.2), (76.13, 1.9), (90.25, 0.7)]),
    ("greet", [(84.9, 3.3), (87.0, 4.2), (85.1, 4.9), (63.6, 1.2), (42.3, 1.3), (36.6, 1.2), (83.81, 0.9), (73.08, 0.8), (80.29, 1.0)]),
    ("alt-gcn", [(76.4, 3.9), (70.9, 4.3), (73.9, 5.1), (65.8, 0.9), (52.4, 0.8), (-1.0, 0.0), (81.2, 0.5), (71.4, 0.4), (79.1, 0.9)]),
    ("lhs", [(88.32, 2.3), (86.32, 4.5), (85.96, 5.1), (72.31, 1.6), (60.27, 1.2), (38.87, 1.0), (88.71, 0.7), (78.53, 1.5), (87.65, 0.3)]),
];

/// Under the two evasion attacks, three repeats: method, dataset, out of distribution, injected.
#[rustfmt::skip]
const EVASION: &[(&str, &str, Pair, Pair)] = &[
    ("h2gcn", "wisconsin", (48.24, 2.1), (41.53, 1.7)),
    ("h2gcn", "texas", (45.33, 0.9), (39.86, 1.1)),
    ("h2gcn", "chameleon", (47.2, 1.5), (37.21, 2.3)),
    ("h2gcn", "squirrel", (48.27, 3.1), (36.34, 1.6)),
    ("h2gcn", "actor", (21.33, 2.3), (14.17, 1.4)),
    ("gpnn", "wisconsin", (52.78, 0.8), (40.21, 1.4)),
    ("gpnn", "texas", (56.33, 1.1), (38.78, 1.9)),
    ("gpnn", "chameleon", (54.62, 2.0), (48.49, 1.6)),
    ("gpnn", "squirrel", (50.23, 0.6), (40.55, 1.3)),
    ("gpnn", "actor", (20.83, 2.7), (16.28, 1.5)),
    ("ugcn", "wisconsin", (72.37, 2.7), (44.58, 2.2)),
    ("ugcn", "texas", (50.4, 1.5), (41.92, 0.7)),
    ("ugcn", "chameleon", (57.23, 3.1), (40.39, 2.8)),
    ("ugcn", "squirrel", (52.45, 3.3), (41.79, 3.2)),
    ("ugcn", "actor", (23.37, 1.9), (15.57, 0.8)),
    ("simp-gcn", "wisconsin", (73.34, 2.1), (61.43, 2.4)),
    ("simp-gcn", "texas", (59.76, 3.3), (60.31, 0.4)),
    ("simp-gcn", "chameleon", (61.28, 1.6), (54.57, 2.6)),
    ("simp-gcn", "squirrel", (54.34, 1.0), (54.01, 2.3)),
    ("simp-gcn", "actor", (28.96, 1.8), (24.31, 2.9)),
    ("bm-gcn", "wisconsin", (76.58, 0.5), (69.78, 1.3)),
    ("bm-gcn", "texas", (62.17, 1.1), (63.22, 1.0)),
    ("bm-gcn", "chameleon", (62.37, 2.6), (52.58, 2.3)),
    ("bm-gcn", "squirrel", (57.3, 1.0), (59.82, 0.7)),
    ("bm-gcn", "actor", (26.17, 1.4), (18.92, 1.9)),
    ("lhs", "wisconsin", (82.31, 0.5), (73.34, 1.1)),
    ("lhs", "texas", (71.15, 1.4), (68.19, 1.6)),
    ("lhs", "chameleon", (67.33, 0.9), (60.1, 2.2)),
    ("lhs", "squirrel", (68.76, 3.1), (62.13, 2.7)),
    ("lhs", "actor", (32.23, 2.6), (33.42, 1.8)),
];

/// Clustering: wisconsin, squirrel, chameleon; `latent-kmeans` is what the paper calls a GCN with the structure inducer.
const CLUSTERING: &[(&str, [f64; 3])] = &[
    ("simp-gcn", [58.42, 38.57, 46.44]),
    ("bm-gcn", [54.92, 40.26, 50.17]),
    ("agc", [43.71, 32.98, 35.78]),
    ("latent-kmeans", [61.32, 41.36, 52.37]),
];

/// The figure of a table of the paper (`clean`, `evasion`, `clustering`) for a model as it is on a dataset in some state.
/// The paper's attacks have one strength: ours at its default, 1, is the nearest to it.
pub fn published(table: &str, line: &Line, column: &Column) -> Option<Published> {
    let (method, dataset) = (column.model.as_str(), line.dataset.as_str());
    let attack = line.attack.as_ref();
    if line.inductive || column.variant.is_some() || attack.is_some_and(|attack| attack.rate != 1.0) {
        return None;
    }
    let with_spread = |(mean, std)| Published { mean, std: Some(std) };
    match (table, attack) {
        ("clean", None) => clean(method, dataset).map(with_spread),
        ("clustering", None) => clustering(method, dataset).map(|mean| Published { mean, std: None }),
        ("evasion", Some(attack)) => evasion(method, dataset, &attack.name).map(with_spread),
        _ => None,
    }
}

fn clean(method: &str, dataset: &str) -> Option<Pair> {
    // Two graphs go by this name (the book, guide/data); the paper's figures fit the one that Geom-GCN published.
    let dataset = if dataset == "cornell-geom" { "cornell" } else { dataset };
    let column = CLEAN_DATASETS.iter().position(|name| *name == dataset)?;
    let (_, row) = CLEAN.iter().find(|(name, _)| *name == method)?;
    Some(row[column]).filter(|(mean, _)| *mean >= 0.0)
}

fn clustering(method: &str, dataset: &str) -> Option<f64> {
    let column = ["wisconsin", "squirrel", "chameleon"].iter().position(|name| *name == dataset)?;
    CLUSTERING.iter().find(|(name, _)| *name == method).map(|(_, row)| row[column])
}

fn evasion(method: &str, dataset: &str, attack: &str) -> Option<Pair> {
    let row = EVASION.iter().find(|(name, data, ..)| *name == method && *data == dataset)?;
    match attack {
        "ood" => Some(row.2),
        "injected" => Some(row.3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::table::AttackState;

    /// A figure for a model as it is, under an attack at a rate.
    fn found(
        table: &str,
        model: &str,
        dataset: &str,
        attack: Option<(&str, f64)>,
    ) -> Option<(f64, Option<f64>)> {
        let attack = attack.map(|(name, rate)| AttackState { name: name.into(), rate, poisoning: false });
        let column = Column { model: model.into(), variant: None };
        let line = Line { dataset: dataset.into(), attack, inductive: false };
        let figure = published(table, &line, &column);
        figure.map(|figure| (figure.mean, figure.std))
    }

    #[test]
    fn what_is_reported_is_found_and_what_is_not_is_not() {
        assert_eq!(found("clean", "lhs", "squirrel", None), Some((60.27, Some(1.2))));
        assert_eq!(found("evasion", "lhs", "chameleon", Some(("injected", 1.0))), Some((60.1, Some(2.2))));
        assert_eq!(found("clean", "lhs", "cornell-geom", None), Some((85.96, Some(5.1))));
        assert_eq!(found("clustering", "agc", "squirrel", None), Some((32.98, None)));
        assert_eq!(found("clean", "lhs", "elsewhere", None), None);
        assert_eq!(found("clean", "node2seq", "cora", None), None);
        assert_eq!(found("evasion", "lhs", "chameleon", Some(("dice", 1.0))), None);
        assert_eq!(found("evasion", "lhs", "chameleon", Some(("injected", 0.5))), None);
    }

    #[test]
    fn a_variant_is_not_in_the_paper() {
        let line = Line { dataset: "squirrel".into(), attack: None, inductive: false };
        let column = Column { model: "lhs".into(), variant: Some("wide".into()) };
        assert_eq!(published("clean", &line, &column), None);
    }
}
