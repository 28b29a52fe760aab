//! Predictions on changed data, counted.

use std::cell::Cell;

use super::edges::{Change, Flip, other_end};
use super::edits::{self, Fill};
use super::{Subject, argmax};
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::training::Observer;

/// Asks about one node again and again.
pub(super) struct Tried<'a> {
    subject: &'a Subject<'a>,
    node: usize,
    /// What the model says on the data as it is.
    class: usize,
    probability: f32,
    steps: usize,
    done: Cell<usize>,
    observer: &'a dyn Observer,
}

impl<'a> Tried<'a> {
    pub(super) fn new(
        subject: &'a Subject<'a>,
        node: usize,
        class: usize,
        probability: f32,
        steps: usize,
        observer: &'a dyn Observer,
    ) -> Self {
        Tried { subject, node, class, probability, steps, done: Cell::new(0), observer }
    }

    fn again(&self, graph: &Graph, features: &Features) -> Result<Vec<f32>> {
        self.observer.proceed()?;
        let found = self.subject.model.predict(graph, features)?;
        self.done.set(self.done.get() + 1);
        self.observer.step(self.done.get().min(self.steps), self.steps);
        Ok(found.row(self.node).to_vec())
    }

    /// Probabilities with some features replaced.
    pub(super) fn without_features(&self, columns: &[u32], fill: &Fill) -> Result<Vec<f32>> {
        let dataset = self.subject.dataset;
        let features = edits::without_features(dataset.features(), self.node, columns, fill);
        self.again(dataset.graph(), &features)
    }

    /// Probabilities without some edges.
    pub(super) fn without_edges(&self, pairs: &[(u32, u32)]) -> Result<Vec<f32>> {
        let dataset = self.subject.dataset;
        self.again(&edits::without_edges(dataset.graph(), pairs)?, dataset.features())
    }

    /// Probabilities with one more edge.
    pub(super) fn with_edge(&self, pair: (u32, u32)) -> Result<Vec<f32>> {
        let dataset = self.subject.dataset;
        self.again(&edits::with_edge(dataset.graph(), pair)?, dataset.features())
    }

    /// How much less likely the predicted class became.
    pub(super) fn fall(&self, after: &[f32]) -> f32 {
        self.probability - after[self.class]
    }

    /// What an edge did, if it changed the prediction.
    pub(super) fn flip(&self, change: Change, pair: (u32, u32), after: &[f32]) -> Option<Flip> {
        let class = argmax(after);
        (class != self.class).then(|| Flip {
            change,
            node: self.subject.dataset.node_id(other_end(self.node, pair) as usize),
            prediction: self.subject.classes[class].clone(),
            probability: after[class],
        })
    }
}
