//! The audit: how heterophilic each part of a split is, how far it lies to the right of the clean training nodes, and
//! what that does to a model.
//!
//! For every version of the data (clean, attacked), part (train, val, test) and scope (ring 1, 2, …; rings 1 to 2,
//! 1 to 3, …) the distribution of `H` ([`Rings`]) and its [`Shift`] against the clean training nodes in the same scope.
//! With a model: its accuracy at the test nodes by their `H`, and, if it learns a structure, the same distributions in
//! the latent graph of each round, where `H` is the share of the weight that leads to another class.
//! Labels are used everywhere, those of test nodes too: an audit measures, and nothing is chosen by it.
//! In a graph of more than 50,000 nodes the rings beyond the first are measured at a sample of each part, and the audit says so.
//! Cost: that of the rings, and one prediction per version.

mod tables;

use serde::Serialize;

use super::predictions::Predictions;
use super::shift::{self, Distribution, Shift};
use crate::error::{Error, Result};
use crate::graph::heterophily::weighted_heterophily;
use crate::graph::rings::Rings;
use crate::graph::{Dataset, Graph, Labels, Split};
use crate::linalg::random::hash;
use crate::models::NodeClassifier;

/// In graphs of more nodes, rings beyond the first are measured at a sample.
const LARGE: usize = 50_000;
/// So many nodes of each part.
const SAMPLE: usize = 2048;
/// What draws them.
const DRAWN_WITH: u64 = 0xA0D17;

/// What the graph that came with the data is called, beside `round 0` and so on.
pub const GIVEN: &str = "given";

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    /// Rings are looked at up to this distance, 1..=32.
    pub hops: usize,
    /// Bins of a histogram, 1..=100.
    pub bins: usize,
}

impl Default for AuditConfig {
    fn default() -> Self {
        AuditConfig { hops: 4, bins: 10 }
    }
}

/// A version of the data.
pub struct Version<'a> {
    /// How it is called in the result.
    pub name: String,
    /// The data.
    pub dataset: &'a Dataset,
    /// The parts that are measured.
    pub split: Split,
}

/// A trained model.
pub struct Trained<'a> {
    /// The model.
    pub model: &'a dyn NodeClassifier,
    /// Names of the classes, by the model's numbers.
    pub classes: &'a [String],
}

/// One or more rings around a node, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// The nearest of them.
    pub first_ring: usize,
    /// The farthest.
    pub last_ring: usize,
}

/// One part of a version in one scope.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Name of the version.
    pub data: String,
    /// `given`, or `round 0` and so on for latent graphs.
    pub graph: String,
    /// How far around a node was looked.
    #[serde(flatten)]
    pub scope: Scope,
    /// `train`, `val` or `test`.
    pub part: &'static str,
    /// How many nodes the part has, with `H` or without.
    pub nodes: usize,
    /// The distribution of `H` over those that have one.
    #[serde(flatten)]
    pub distribution: Distribution,
    /// Against the training nodes in the clean given graph; `None` for these, and where nobody has an `H`.
    pub shift: Option<Shift>,
    /// In a latent graph: against the training nodes in the clean data's latent graph of the same round.
    pub shift_in_round: Option<Shift>,
}

/// The test nodes of a bin, and how many of them the model gets right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// How many nodes there are.
    pub nodes: usize,
    /// How many of them are right.
    pub right: usize,
    /// Percent of them; `None` of nothing.
    pub accuracy: Option<f64>,
}

/// Accuracy of a model at the test nodes of a version, by their `H` in the version's given graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccuracyByH {
    /// Name of the version.
    pub data: String,
    /// All test nodes.
    pub all: Score,
    /// Those in each of equal bins of `H` over [0, 1].
    pub bins: Vec<Score>,
    /// Those without labelled neighbours, which have no `H`.
    pub undefined: Score,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// Bins of the histograms.
    pub bins: usize,
    /// In a large graph: at how many nodes of each part, at most, rings beyond the first were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<usize>,
    /// Every version, graph, scope and part, in this order.
    pub samples: Vec<Sample>,
    /// One for each version, if there is a model.
    pub accuracy: Vec<AccuracyByH>,
}

impl AuditConfig {
    fn validate(&self) -> Result<()> {
        for (key, value, most) in [("hops", self.hops, 32), ("bins", self.bins, 100)] {
            if !(1..=most).contains(&value) {
                return Err(Error::setting(
                    key,
                    format!("{value} is out of range"),
                    format!("choose 1 to {most}"),
                ));
            }
        }
        Ok(())
    }

    /// Measures the versions, the first of which is the clean one.
    pub fn run(&self, versions: &[Version<'_>], trained: Option<&Trained<'_>>) -> Result<Audit> {
        self.validate()?;
        let (mut measured, mut accuracy) = (Vec::new(), Vec::new());
        for version in versions {
            let named = |error| in_version(error, &version.name);
            check_same_nodes(versions[0].dataset, version.dataset).map_err(named)?;
            measured.extend(self.given(version));
            if let Some(trained) = trained {
                measured.extend(latent(version, trained).map_err(named)?);
                accuracy.push(self.accuracy(version, trained).map_err(named)?);
            }
        }
        let samples = measured.iter().map(|sample| self.sample(sample, &measured)).collect();
        let large = versions.iter().any(|version| version.dataset.num_nodes() > LARGE);
        let sampled = (large && self.hops > 1).then_some(SAMPLE);
        Ok(Audit { bins: self.bins, sampled, samples, accuracy })
    }

    /// `H` in every scope of the given graph.
    fn given(&self, version: &Version<'_>) -> Vec<Measured> {
        let (graph, labels) = (version.dataset.graph(), version.dataset.labels());
        let parts = version.split.parts();
        let near = parts.map(|(_, nodes)| Rings::count(graph, labels, nodes, 1));
        let asked = |nodes: &[u32]| if graph.num_nodes() > LARGE { drawn(nodes) } else { nodes.to_vec() };
        let far = parts.map(|(_, nodes)| Rings::count(graph, labels, &asked(nodes), self.hops));
        let of_scope = |scope: Scope| {
            let rings = if scope.last_ring == 1 { &near } else { &far };
            parts.into_iter().zip(rings).map(move |((part, nodes), rings)| Measured {
                data: version.name.clone(),
                graph: GIVEN.to_string(),
                scope,
                part,
                nodes: nodes.len(),
                values: (0..rings.num_sources())
                    .filter_map(|place| rings.heterophily(place, scope.first_ring, scope.last_ring))
                    .collect(),
            })
        };
        self.scopes().into_iter().flat_map(of_scope).collect()
    }

    /// Each ring, then the rings from the first to each other.
    fn scopes(&self) -> Vec<Scope> {
        let single = (1..=self.hops).map(|ring| Scope { first_ring: ring, last_ring: ring });
        single.chain((2..=self.hops).map(|last_ring| Scope { first_ring: 1, last_ring })).collect()
    }

    fn accuracy(&self, version: &Version<'_>, trained: &Trained<'_>) -> Result<AccuracyByH> {
        let dataset = version.dataset;
        let probabilities = trained.model.predict(dataset.graph(), dataset.features())?;
        let predictions = Predictions::new(dataset, trained.classes, probabilities)?;
        let test = &version.split.test;
        let rings = Rings::count(dataset.graph(), dataset.labels(), test, 1);
        // The nodes without H go to one more bin, the last.
        let mut nodes = vec![Vec::new(); self.bins + 1];
        for (place, &node) in test.iter().enumerate() {
            let bin = rings.heterophily(place, 1, 1).map_or(self.bins, |h| shift::bin(h, self.bins));
            nodes[bin].push(node);
        }
        let mut bins: Vec<Score> = nodes.iter().map(|nodes| score(&predictions, nodes)).collect();
        let undefined = bins.pop().unwrap_or_else(|| score(&predictions, &[]));
        Ok(AccuracyByH { data: version.name.clone(), all: score(&predictions, test), bins, undefined })
    }

    fn sample(&self, of: &Measured, all: &[Measured]) -> Sample {
        // The clean version comes first, and so do its training nodes.
        let train_in = |graph: &str| {
            let train =
                all.iter().find(|m| (m.graph.as_str(), m.scope, m.part) == (graph, of.scope, "train"))?;
            if std::ptr::eq(train, of) { None } else { Shift::between(&train.values, &of.values) }
        };
        Sample {
            data: of.data.clone(),
            graph: of.graph.clone(),
            scope: of.scope,
            part: of.part,
            nodes: of.nodes,
            distribution: Distribution::of(&of.values, self.bins),
            shift: train_in(GIVEN),
            shift_in_round: if of.graph == GIVEN { None } else { train_in(&of.graph) },
        }
    }
}

/// A sample of some nodes, ascending.
fn drawn(nodes: &[u32]) -> Vec<u32> {
    let mut drawn = nodes.to_vec();
    drawn.sort_by_key(|&node| (hash(DRAWN_WITH, node), node));
    drawn.truncate(SAMPLE);
    drawn.sort_unstable();
    drawn
}

/// The values behind a [`Sample`].
struct Measured {
    data: String,
    graph: String,
    scope: Scope,
    part: &'static str,
    nodes: usize,
    values: Vec<f64>,
}

/// Weighted `H` in the latent graph of every round; nothing from a model that learns no structure.
fn latent(version: &Version<'_>, trained: &Trained<'_>) -> Result<Vec<Measured>> {
    let dataset = version.dataset;
    let structure = trained.model.structure(dataset.graph(), dataset.features())?;
    let rounds = structure.map_or_else(Vec::new, |structure| structure.rounds);
    let of_round = |(round, graph): (usize, &Graph)| {
        version.split.parts().map(|(part, nodes)| Measured {
            data: version.name.clone(),
            graph: format!("round {round}"),
            scope: Scope { first_ring: 1, last_ring: 1 },
            part,
            nodes: nodes.len(),
            values: weighted(graph, dataset.labels(), nodes),
        })
    };
    Ok(rounds.iter().enumerate().flat_map(of_round).collect())
}

fn weighted(graph: &Graph, labels: &Labels, nodes: &[u32]) -> Vec<f64> {
    nodes.iter().filter_map(|&node| weighted_heterophily(graph, labels, node as usize)).collect()
}

fn score(predictions: &Predictions<'_>, nodes: &[u32]) -> Score {
    let confusion = predictions.confusion(nodes.iter().copied());
    let right = (0..predictions.classes().len()).map(|class| confusion.get(class, class)).sum();
    let accuracy = confusion.accuracy().map(|share| 100.0 * share);
    Score { nodes: confusion.total(), right, accuracy }
}

/// Names the version that an error is about.
fn in_version(error: Error, name: &str) -> Error {
    match error {
        Error::Data { problem, remedy } => Error::data(format!("{name}: {problem}"), remedy),
        other => other,
    }
}

/// Refuses data that is not a changed version of the clean data: the nodes and their classes must be the same.
pub fn check_same_nodes(clean: &Dataset, other: &Dataset) -> Result<()> {
    let remedy = "compare versions of one dataset, such as an attacked one";
    let (here, there) = (other.num_nodes(), clean.num_nodes());
    if here != there {
        return Err(Error::data(format!("{here} nodes, and the clean data has {there}"), remedy));
    }
    for node in 0..there {
        let (id, clean_id) = (other.node_id(node), clean.node_id(node));
        if id != clean_id {
            return Err(Error::data(
                format!("node {node} is {id} here and {clean_id} in the clean data"),
                remedy,
            ));
        }
        let (class, clean_class) = (class_of(other, node), class_of(clean, node));
        if class != clean_class {
            let name =
                |class: Option<&str>| class.map_or_else(|| "unknown".to_string(), |name| format!("`{name}`"));
            return Err(Error::data(
                format!(
                    "the class of node {id} is {} here and {} in the clean data",
                    name(class),
                    name(clean_class)
                ),
                remedy,
            ));
        }
    }
    Ok(())
}

fn class_of(dataset: &Dataset, node: usize) -> Option<&str> {
    let labels = dataset.labels();
    labels.get(node).map(|class| labels.names()[class as usize].as_str())
}

/// The parts of another version that are measured: its own if they are chosen from those of the clean split, as an
/// attack may do, else those of the clean split.
pub fn split_of_version(clean: &Split, own: Option<&Split>) -> Split {
    let within = |own: &[u32], clean: &[u32]| own.iter().all(|node| clean.binary_search(node).is_ok());
    let chosen =
        |own: &&Split| own.parts().iter().zip(clean.parts()).all(|((_, own), (_, clean))| within(own, clean));
    own.filter(chosen).unwrap_or(clean).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{DatasetParts, Features, Repairs};
    use crate::linalg::Mat;
    use crate::models::SavedModel;

    /// Two classes on a path 0-1-2-3-4-5, node 6 alone.
    fn dataset(edges: &[(u32, u32)]) -> Dataset {
        Dataset::new(DatasetParts {
            name: "path".into(),
            graph: Graph::from_edges(7, edges).unwrap().0,
            repairs: Repairs::default(),
            features: Features::none(7),
            labels: Labels::from_numbers(&[0, 0, 1, 1, 0, 1, 1]).unwrap(),
            node_ids: None,
            splits: vec![],
            details: Default::default(),
        })
        .unwrap()
    }

    const PATH: [(u32, u32); 5] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)];

    fn split() -> Split {
        Split { train: vec![0, 1], val: vec![6], test: vec![3, 4, 5] }
    }

    fn version<'a>(name: &str, dataset: &'a Dataset) -> Version<'a> {
        Version { name: name.into(), dataset, split: split() }
    }

    /// Takes everybody for class 1.
    struct One;

    impl NodeClassifier for One {
        fn predict(&self, graph: &Graph, _: &Features) -> Result<Mat> {
            Ok(Mat::from_fn(graph.num_nodes(), 2, |_, class| class as f32))
        }

        fn saved(&self) -> Result<SavedModel> {
            Err(Error::data("a stand-in is not saved", ""))
        }
    }

    #[test]
    fn parts_are_held_against_the_clean_training_nodes() {
        let (clean, attacked) = (dataset(&PATH), dataset(&[&PATH[..], &[(0, 3)]].concat()));
        let versions = [version("clean", &clean), version("attacked", &attacked)];
        let audit = AuditConfig { hops: 2, bins: 2 }.run(&versions, None).unwrap();
        let at = |data: &str, last_ring: usize, first_ring: usize, part: &str| {
            let scope = Scope { first_ring, last_ring };
            let found = audit.samples.iter().find(|s| s.data == data && s.scope == scope && s.part == part);
            found.unwrap()
        };
        assert_eq!(audit.samples.len(), 2 * 3 * 3);
        // H of the training nodes is 0 and 1/2, that of the test nodes 1/2, 1 and 1.
        let (train, test) = (at("clean", 1, 1, "train"), at("clean", 1, 1, "test"));
        assert_eq!((train.distribution.mean, train.shift), (Some(0.25), None));
        assert_eq!((&train.distribution.histogram, &test.distribution.histogram), (&vec![1, 1], &vec![0, 3]));
        assert!((test.shift.unwrap().mean_shift - (2.5 / 3.0 - 0.25)).abs() < 1e-12);
        // Two steps away: 2 from 0, 3 from 1; jointly 1/2 and 2/3.
        assert_eq!(at("clean", 2, 2, "train").distribution.mean, Some(1.0));
        assert!((at("clean", 2, 1, "train").distribution.mean.unwrap() - 7.0 / 12.0).abs() < 1e-12);
        // The new edge gives node 0 a neighbour of another class, and its own training nodes shift.
        assert_eq!(at("attacked", 1, 1, "train").shift.unwrap().mean_shift, 0.25);
        let alone = at("clean", 1, 1, "val");
        assert_eq!((alone.nodes, alone.distribution.count, alone.shift), (1, 0, None));
        assert!(serde_json::to_string(&audit).unwrap().contains("\"mean\":null"));
    }

    #[test]
    fn accuracy_is_told_by_bin() {
        let clean = dataset(&PATH);
        let classes = ["0".to_string(), "1".to_string()];
        let trained = Trained { model: &One, classes: &classes };
        let versions = [Version {
            split: Split { val: vec![2], test: vec![3, 4, 5, 6], ..split() },
            ..version("clean", &clean)
        }];
        let audit = AuditConfig { hops: 1, bins: 4 }.run(&versions, Some(&trained)).unwrap();
        let found = &audit.accuracy[0];
        assert_eq!((found.all.nodes, found.all.right, found.all.accuracy), (4, 3, Some(75.0)));
        let nodes: Vec<usize> = found.bins.iter().map(|bin| bin.nodes).collect();
        assert_eq!(nodes, [0, 0, 1, 2]);
        assert_eq!((found.bins[0].accuracy, found.bins[3].accuracy), (None, Some(50.0)));
        assert_eq!((found.undefined.nodes, found.undefined.right), (1, 1));
    }

    #[test]
    fn other_nodes_and_settings_out_of_range_are_refused() {
        let clean = dataset(&PATH);
        let few = clean.subset(&[0, 1, 2, 3]).unwrap();
        assert!(
            check_same_nodes(&clean, &few).unwrap_err().to_string().starts_with("4 nodes, and the clean")
        );
        let labels = Labels::from_numbers(&[0, 0, 1, -1, 0, 1, 1]).unwrap();
        let other = Dataset::new(DatasetParts { labels, ..clean.clone().into_parts() }).unwrap();
        let said = check_same_nodes(&clean, &other).unwrap_err().to_string();
        assert!(said.starts_with("the class of node 3 is unknown here and `1` in"), "{said}");
        let renamed = Dataset::new(DatasetParts {
            node_ids: Some("abcdefg".chars().map(String::from).collect()),
            ..clean.clone().into_parts()
        });
        assert!(check_same_nodes(&clean, &renamed.unwrap()).is_err());
        let versions = [version("clean", &clean), version("few", &few)];
        let said = AuditConfig::default().run(&versions, None).unwrap_err().to_string();
        assert!(said.starts_with("few: 4 nodes"), "{said}");
        for (hops, bins) in [(0, 10), (4, 0), (33, 10), (4, 101)] {
            assert!(AuditConfig { hops, bins }.run(&versions[..1], None).is_err(), "{hops} {bins}");
        }
    }

    #[test]
    fn a_split_chosen_from_the_clean_one_is_kept() {
        let chosen = Split { test: vec![5], ..split() };
        assert_eq!(split_of_version(&split(), Some(&chosen)), chosen);
        let unrelated = Split { train: vec![3], val: vec![6], test: vec![0] };
        assert_eq!(split_of_version(&split(), Some(&unrelated)), split());
        assert_eq!(split_of_version(&split(), None), split());
    }
}
