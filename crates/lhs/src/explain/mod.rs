//! Why a model says what it says about one node: what its features, its edges and the channels of the model add, which of
//! them decide, and which single edge would change the answer.
//!
//! Everything but the channels is found by predicting again on changed data, so it holds for any model, and is what the
//! model would say, not what a model of the model thinks. Cost: one prediction per feature and edge tried; where
//! there are more than are tried, groups of them are tried first, and the explanation says so.

mod edges;
mod edits;
mod influence;
mod tried;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::graph::{Dataset, Labelled};
use crate::linalg::Mat;
use crate::models::NodeClassifier;
use crate::models::lhs::edge_trust::EdgeTrust;
use crate::structure::Structure;
use crate::training::{Observer, argmax};
use edits::Fill;
use tried::Tried;

pub use edges::{Change, Flip, Neighbour};
pub use influence::{Influence, Looked};

/// Who is asked about what.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The model.
    pub model: &'a dyn NodeClassifier,
    /// Data that it can predict on.
    pub dataset: &'a Dataset,
    /// Names of the model's classes, in its order.
    pub classes: &'a [String],
    /// Those nodes of the data that the model learned from, with the model's numbers of their classes.
    pub learned_from: &'a Labelled,
}

/// How much is tried and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Features, neighbours and latent neighbours that are listed, at most.
    pub top: usize,
    /// Predictions for the features, at most.
    pub features: usize,
    /// Predictions for the edges that the node has, at most.
    pub removals: usize,
    /// Predictions for edges that it might have, at most.
    pub additions: usize,
    /// Of each class, so many nodes are tried as new neighbours, at most.
    pub additions_per_class: usize,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        ExplainOptions { top: 10, features: 200, removals: 100, additions: 100, additions_per_class: 10 }
    }
}

/// What was found about a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The node.
    pub node: String,
    /// The class that the model gives it.
    pub prediction: String,
    /// With this probability.
    pub probability: f32,
    /// The class that comes next; none if there is one class only.
    pub runner_up: Option<String>,
    /// Its class in the data, if it is known.
    pub label: Option<String>,
    /// Whether the model learned from its label.
    pub learned_from: bool,
    /// Every class with its probability, most likely first.
    pub probabilities: Vec<ClassProbability>,
    /// What each channel adds to the class scores, for models whose scores are such a sum.
    pub channels: Option<Vec<Channel>>,
    /// How much the probability falls when all the node's own features are those of nobody in particular; none without
    /// features.
    pub all_features: Option<f32>,
    /// How much it falls when all the node's edges are gone; none without edges.
    pub all_edges: Option<f32>,
    /// The features that decide.
    pub features: Influence<Feature>,
    /// The neighbours that decide.
    pub neighbours: Influence<Neighbour>,
    /// Neighbours in the latent graph, for models that have one; the nearest first.
    pub latent_neighbours: Option<Vec<LatentNeighbour>>,
    /// How many neighbours it has there.
    pub num_latent_neighbours: Option<usize>,
    /// Single edges that change the prediction, each tried.
    pub flips: Vec<Flip>,
    /// How many new edges were tried.
    pub additions_tried: usize,
    /// How far the model believes the plausibility of edges, for models that ask.
    pub edge_trust: Option<EdgeTrust>,
    /// Edges of the node that the model leaves out because they are not plausible.
    pub edges_left_out: Vec<String>,
}

/// A class and how likely it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassProbability {
    /// Its name.
    pub class: String,
    /// From 0 to 1.
    pub probability: f32,
}

/// What a channel adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// To the lead of the predicted class over the next one: the channels' leads add up to the whole.
    pub lead: f32,
    /// To the score of each class, in the order of [`Explanation::probabilities`].
    pub scores: Vec<f32>,
}

/// A feature of the node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Feature {
    /// Its name, or the number of its column.
    pub name: String,
    /// What the node has.
    pub value: f32,
    /// What it was replaced by.
    pub replaced_by: f32,
}

/// A neighbour in the latent graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatentNeighbour {
    /// Its id.
    pub node: String,
    /// How alike the two are.
    pub weight: f32,
    /// Its class, if the model learned from it.
    pub training_class: Option<String>,
    /// The class that the model gives it.
    pub prediction: String,
}

impl Explanation {
    /// Explains what a model says about a node. The observer is told how many predictions are done, and may stop them.
    pub fn of(
        subject: &Subject<'_>,
        node: usize,
        options: &ExplainOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let found = check(subject, node)?;
        let order = by_probability(found.row(node));
        let class = order[0];
        let features = features_to_try(subject, node);
        let edges = edges::own(subject.dataset.graph(), node);
        let additions = edges::candidates(subject, node, &order, &found, options);
        let steps = influence::tries(features.len(), options.features)
            + influence::tries(edges.len(), options.removals)
            + additions.len()
            + 2;
        let tried = Tried::new(subject, node, class, found.row(node)[class], steps, observer);

        let fill = Fill::of(subject.dataset.features());
        let dim = subject.dataset.features().dim();
        let everything: Vec<u32> = (0..dim as u32).collect();
        let all_features = (dim > 0).then(|| tried.without_features(&everything, &fill)).transpose()?;
        let all_edges = (!edges.is_empty()).then(|| tried.without_edges(&edges)).transpose()?;
        let (feature_falls, features_looked) = influence::of(&features, options.features, |columns| {
            Ok(tried.fall(&tried.without_features(columns, &fill)?))
        })?;
        let mut flips = Vec::new();
        let (edge_falls, edges_looked) = influence::of(&edges, options.removals, |pairs| {
            let after = tried.without_edges(pairs)?;
            if let [pair] = pairs {
                flips.extend(tried.flip(Change::Removed, *pair, &after));
            }
            Ok(tried.fall(&after))
        })?;
        for &pair in &additions {
            flips.extend(tried.flip(Change::Added, pair, &tried.with_edge(pair)?));
        }

        let structure = subject.model.structure(subject.dataset.graph(), subject.dataset.features())?;
        let (latent, num_latent) = structure
            .map(|structure| latent_neighbours(subject, node, &structure, &found, options.top))
            .unzip();
        let named = |place: usize| subject.classes[place].clone();
        Ok(Explanation {
            node: subject.dataset.node_id(node),
            prediction: named(class),
            probability: found.row(node)[class],
            runner_up: order.get(1).map(|&next| named(next)),
            label: subject
                .dataset
                .labels()
                .get(node)
                .map(|class| subject.dataset.labels().names()[class as usize].clone()),
            learned_from: subject.learned_from.nodes.contains(&(node as u32)),
            probabilities: order
                .iter()
                .map(|&place| ClassProbability { class: named(place), probability: found.row(node)[place] })
                .collect(),
            channels: channels(subject, node, &order)?,
            all_features: all_features.map(|after| tried.fall(&after)),
            all_edges: all_edges.map(|after| tried.fall(&after)),
            features: Influence::new(feature_falls, features_looked, options.top, |column| {
                feature(subject, node, column, &fill)
            }),
            neighbours: Influence::new(edge_falls, edges_looked, options.top, |pair| {
                edges::neighbour(subject, node, pair, &found)
            }),
            latent_neighbours: latent,
            num_latent_neighbours: num_latent,
            flips,
            additions_tried: additions.len(),
            edge_trust: subject.model.edge_trust(),
            edges_left_out: edges_left_out(subject, node, &edges)?,
        })
    }
}

/// What the model says about everybody, after making sure that it can be explained.
fn check(subject: &Subject<'_>, node: usize) -> Result<Mat> {
    if node >= subject.dataset.num_nodes() {
        return Err(Error::data(
            format!("{} has no node number {node}", subject.dataset.name()),
            format!("it has {}", subject.dataset.num_nodes()),
        ));
    }
    let found = subject.model.predict(subject.dataset.graph(), subject.dataset.features())?;
    if found.cols() != subject.classes.len() || found.cols() == 0 {
        return Err(Error::data(
            format!("the model knows {} classes, {} were named", found.cols(), subject.classes.len()),
            "name the classes that it was trained on",
        ));
    }
    Ok(found)
}

/// Classes, the most likely first; the first is the one that the model gives.
fn by_probability(probabilities: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
    debug_assert_eq!(order[0], argmax(probabilities));
    order
}

/// Columns in which the node differs from what would replace it.
fn features_to_try(subject: &Subject<'_>, node: usize) -> Vec<u32> {
    let features = subject.dataset.features();
    let fill = Fill::of(features);
    let row = edits::row(features, node);
    (0u32..).zip(row).filter(|(column, value)| fill.at(*column) != *value).map(|(column, _)| column).collect()
}

fn feature(subject: &Subject<'_>, node: usize, column: u32, fill: &Fill) -> Feature {
    Feature {
        name: subject.dataset.feature_name(column as usize),
        value: edits::row(subject.dataset.features(), node)[column as usize],
        replaced_by: fill.at(column),
    }
}

fn channels(subject: &Subject<'_>, node: usize, order: &[usize]) -> Result<Option<Vec<Channel>>> {
    let scores = subject.model.channel_scores(subject.dataset.graph(), subject.dataset.features())?;
    let channel = |(name, scores): (String, Mat)| {
        let row = scores.row(node);
        let scores: Vec<f32> = order.iter().map(|&class| row[class]).collect();
        Channel { name, lead: scores[0] - scores.get(1).copied().unwrap_or(0.0), scores }
    };
    Ok(scores.map(|scores| scores.into_iter().map(channel).collect()))
}

/// The nearest, and how many there are.
fn latent_neighbours(
    subject: &Subject<'_>,
    node: usize,
    structure: &Structure,
    found: &Mat,
    top: usize,
) -> (Vec<LatentNeighbour>, usize) {
    let graph = structure.latent();
    let range = graph.adjacency().row_range(node);
    let weight = |place: usize| graph.weights().map_or(1.0, |weights| weights[place]);
    let mut all: Vec<(u32, f32)> =
        range.map(|place| (graph.adjacency().indices()[place], weight(place))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let shown = all.iter().take(top).map(|&(other, weight)| LatentNeighbour {
        node: subject.dataset.node_id(other as usize),
        weight,
        training_class: edges::training_class(subject, other),
        prediction: subject.classes[argmax(found.row(other as usize))].clone(),
    });
    (shown.collect(), all.len())
}

fn edges_left_out(subject: &Subject<'_>, node: usize, edges: &[(u32, u32)]) -> Result<Vec<String>> {
    let kept = subject.model.kept_edges(subject.dataset.graph(), subject.dataset.features())?;
    let gone = edges.iter().filter(|(a, b)| !kept.has_edge(*a, *b) && !kept.has_edge(*b, *a));
    Ok(gone.map(|&pair| subject.dataset.node_id(edges::other_end(node, pair) as usize)).collect())
}

#[cfg(test)]
mod tests;
