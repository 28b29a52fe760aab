//! The edges of a node: those that it has, and those that it might have.

use serde::Serialize;

use super::{ExplainOptions, Subject};
use crate::graph::Graph;
use crate::linalg::Mat;
use crate::training::argmax;

/// A neighbour in the given graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// Its id.
    pub node: String,
    /// Its class, if the model learned from it.
    pub training_class: Option<String>,
    /// The class that the model gives it.
    pub prediction: String,
    /// Whether the edge leads to the node that is explained, in a graph with direction.
    pub incoming: bool,
}

/// What was done to an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was taken away.
    Removed,
    /// It was added, from the node that is explained.
    Added,
}

/// A single edge that changes the prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flip {
    /// What was done.
    pub change: Change,
    /// The other end of the edge.
    pub node: String,
    /// The class that the model gives then.
    pub prediction: String,
    /// With this probability.
    pub probability: f32,
}

/// The edges of a node, as [`Graph::edges`] names them.
pub(super) fn own(graph: &Graph, node: usize) -> Vec<(u32, u32)> {
    let own = node as u32;
    if graph.is_directed() {
        return graph.edges().filter(|(a, b)| *a == own || *b == own).collect();
    }
    graph.neighbours(node).iter().map(|&other| (own.min(other), own.max(other))).collect()
}

/// The end of an edge that is not the node.
pub(super) fn other_end(node: usize, (a, b): (u32, u32)) -> u32 {
    if a as usize == node { b } else { a }
}

/// The class of a node, if the model learned from it.
pub(super) fn training_class(subject: &Subject<'_>, node: u32) -> Option<String> {
    let known = subject.learned_from;
    let place = known.nodes.iter().position(|&other| other == node)?;
    subject.classes.get(known.classes[place] as usize).cloned()
}

pub(super) fn neighbour(subject: &Subject<'_>, node: usize, pair: (u32, u32), found: &Mat) -> Neighbour {
    let other = other_end(node, pair);
    Neighbour {
        node: subject.dataset.node_id(other as usize),
        training_class: training_class(subject, other),
        prediction: subject.classes[argmax(found.row(other as usize))].clone(),
        incoming: subject.dataset.graph().is_directed() && pair.0 == other,
    }
}

/// Edges that might change the prediction: to nodes that the model learned from, of the classes that are not predicted, the
/// likeliest class first; of each class those that the model is surest of.
pub(super) fn candidates(
    subject: &Subject<'_>,
    node: usize,
    order: &[usize],
    found: &Mat,
    options: &ExplainOptions,
) -> Vec<(u32, u32)> {
    let graph = subject.dataset.graph();
    let own = node as u32;
    let others = order.len().saturating_sub(1).max(1);
    let per_class = options.additions_per_class.min((options.additions / others).max(1));
    let mut pairs = Vec::new();
    for &class in &order[1..] {
        let known = subject.learned_from.nodes.iter().zip(&subject.learned_from.classes);
        let of_class = known.filter(|(other, own_class)| {
            **own_class as usize == class && **other != own && !graph.has_edge(own, **other)
        });
        let mut surest: Vec<(f32, u32)> =
            of_class.map(|(other, _)| (found.row(*other as usize)[class], *other)).collect();
        surest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        pairs.extend(surest.into_iter().take(per_class).map(|(_, other)| (own, other)));
    }
    pairs.truncate(options.additions);
    pairs
}
