//! Learning without the test nodes, and predicting with them.
//!
//! A model that remembers its training graph, and answers from memory, looks as if no attack after training could reach it. So
//! evasion is scored inductively: the model learns on what is left of the data without the test nodes and their edges, and meets
//! them only in the (attacked) graph that it predicts on. Models that look for nodes that they know expect them in their old places, so
//! the whole data is put before them with the nodes that they learned from first; what comes out is put back.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::graph::{Dataset, Features, Graph, Labelled, Split};
use crate::linalg::{Mat, SparseMat};
use crate::models::lhs::edge_trust::EdgeTrust;
use crate::models::{FlipQuestion, NodeClassifier, SavedModel};
use crate::structure::{Inputs, Profiles, Structure};

/// The data without the test nodes of a split.
pub(super) struct WithoutTest {
    /// The nodes that are left, and the edges among them.
    pub(super) dataset: Dataset,
    /// Their parts.
    pub(super) split: Split,
    order: Vec<u32>,
}

impl WithoutTest {
    /// Takes the test nodes out.
    pub(super) fn of(dataset: &Dataset, split: &Split) -> Result<Self> {
        let mut is_test = vec![false; dataset.num_nodes()];
        split.test.iter().for_each(|&node| is_test[node as usize] = true);
        let (test, kept): (Vec<u32>, Vec<u32>) =
            (0..dataset.num_nodes() as u32).partition(|&node| is_test[node as usize]);
        let place = |node: &u32| kept.binary_search(node).ok().map(|place| place as u32);
        let part = |part: &[u32]| part.iter().filter_map(place).collect();
        let split = Split { train: part(&split.train), val: part(&split.val), test: Vec::new() };
        let dataset = dataset.clone().with_splits(Vec::new())?.subset(&kept)?;
        Ok(WithoutTest { dataset, split, order: [kept, test].concat() })
    }

    /// A model that learned on this, for the whole data.
    pub(super) fn for_all(self, model: Box<dyn NodeClassifier>) -> Inductive {
        let mut places = vec![0; self.order.len()];
        (0u32..).zip(&self.order).for_each(|(place, &node)| places[node as usize] = place);
        Inductive { model, order: self.order, places }
    }
}

/// A model that learned without the test nodes, before graphs that have them.
pub(super) struct Inductive {
    model: Box<dyn NodeClassifier>,
    /// The node that stands at each place before the model.
    order: Vec<u32>,
    /// The place of each node.
    places: Vec<u32>,
}

impl Inductive {
    /// Graph and features as the model expects them.
    fn arranged(&self, graph: &Graph, features: &Features) -> Result<(Graph, Features)> {
        if graph.num_nodes() != self.order.len() {
            return Err(Error::data(
                format!("{} nodes where there were {}", graph.num_nodes(), self.order.len()),
                "give the nodes of the data that the model is scored on",
            ));
        }
        Ok((graph.induced(&self.order)?, features.select(&self.order)))
    }

    fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// Rows back in the order of the data.
    fn rows(&self, mat: &Mat) -> Mat {
        mat.select_rows(&self.places)
    }

    fn profiles(&self, profiles: &Profiles) -> Profiles {
        let rows = Features::Sparse(profiles.neighbour_rows.clone()).select(&self.places);
        let neighbour_rows = match rows {
            Features::Sparse(rows) => rows,
            Features::Dense(rows) => SparseMat::from_triplets(rows.rows(), rows.cols(), Vec::new()),
        };
        Profiles { directions: self.rows(&profiles.directions), neighbour_rows }
    }
}

impl NodeClassifier for Inductive {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        let (graph, features) = self.arranged(graph, features)?;
        Ok(self.rows(&self.model.predict(&graph, &features)?))
    }

    /// That of the model itself.
    fn saved(&self) -> Result<SavedModel> {
        self.model.saved()
    }

    fn diagnostics(&self) -> Vec<String> {
        self.model.diagnostics()
    }

    fn summary(&self) -> Vec<String> {
        self.model.summary()
    }

    fn channel_scores(&self, graph: &Graph, features: &Features) -> Result<Option<Vec<(String, Mat)>>> {
        let (graph, features) = self.arranged(graph, features)?;
        let scores = self.model.channel_scores(&graph, &features)?;
        Ok(scores.map(|scores| scores.into_iter().map(|(name, mat)| (name, self.rows(&mat))).collect()))
    }

    fn embeddings(&self, graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        let (graph, features) = self.arranged(graph, features)?;
        Ok(self.model.embeddings(&graph, &features)?.map(|mat| self.rows(&mat)))
    }

    fn embeddings_are(&self) -> &'static str {
        self.model.embeddings_are()
    }

    fn edge_gradient(
        &self,
        graph: &Graph,
        features: &Features,
        question: &FlipQuestion<'_>,
    ) -> Result<Option<Vec<f32>>> {
        let directed = graph.is_directed();
        let (graph, features) = self.arranged(graph, features)?;
        let moved = |&(a, b): &(u32, u32)| match (self.place(a), self.place(b)) {
            (a, b) if directed || a < b => (a, b),
            (a, b) => (b, a),
        };
        let candidates: Vec<(u32, u32)> = question.candidates.iter().map(moved).collect();
        let nodes = question.targets.nodes.iter().map(|&node| self.place(node)).collect();
        let targets = Labelled { nodes, classes: question.targets.classes.clone() };
        let question = FlipQuestion { candidates: &candidates, targets: &targets, ..*question };
        self.model.edge_gradient(&graph, &features, &question)
    }

    fn edge_trust(&self) -> Option<EdgeTrust> {
        self.model.edge_trust()
    }

    fn kept_edges<'a>(&self, graph: &'a Graph, features: &Features) -> Result<Cow<'a, Graph>> {
        let (arranged, features) = self.arranged(graph, features)?;
        let kept = self.model.kept_edges(&arranged, &features)?.induced(&self.places)?;
        Ok(Cow::Owned(kept))
    }

    fn structure(&self, graph: &Graph, features: &Features) -> Result<Option<Structure>> {
        let (graph, features) = self.arranged(graph, features)?;
        let Some(structure) = self.model.structure(&graph, &features)? else { return Ok(None) };
        let rounds = structure.rounds.iter().map(|round| round.induced(&self.places));
        let inputs = Inputs {
            features: self.rows(&structure.inputs.features),
            profiles: self.profiles(&structure.inputs.profiles),
            incoming: structure.inputs.incoming.as_ref().map(|profiles| self.profiles(profiles)),
        };
        Ok(Some(Structure { inputs: inputs.into(), rounds: rounds.collect::<Result<_>>()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;
    use crate::models::gcn::Gcn;
    use crate::models::{Goal, Model};
    use crate::training::Task;

    #[test]
    fn test_nodes_are_gone_in_training_and_back_in_their_places_afterwards() {
        let dataset = SynthConfig { nodes: 120, ..SynthConfig::default() }.generate(2).unwrap();
        let split = &dataset.splits()[0];
        let without = WithoutTest::of(&dataset, split).unwrap();
        assert_eq!(without.dataset.num_nodes(), 120 - split.test.len());
        let known = without.order.clone();
        for (part, old) in [(&without.split.train, &split.train), (&without.split.val, &split.val)] {
            let back: Vec<u32> = part.iter().map(|&place| known[place as usize]).collect();
            assert_eq!(back, *old);
        }
        let among = |a: u32, b: u32| !split.test.contains(&a) && !split.test.contains(&b);
        let left = dataset.graph().edges().filter(|&(a, b)| among(a, b)).count();
        assert_eq!(without.dataset.graph().num_edges(), left);
        // A convolution does not care where nodes stand.
        let model = Gcn::default().fit(&Task::new(&without.dataset, &without.split).unwrap()).unwrap();
        let directly = model.predict(dataset.graph(), dataset.features()).unwrap();
        let candidates = [(0, 7), (3, 90), (5, 100)];
        let targets = Labelled { nodes: vec![7, 90], classes: vec![0, 1] };
        let slopes = |model: &dyn NodeClassifier| {
            let question = FlipQuestion {
                candidates: &candidates,
                shares: &[0.0, 0.5, 0.1],
                targets: &targets,
                goal: Goal::AtEachNode,
            };
            let found = model.edge_gradient(dataset.graph(), dataset.features(), &question);
            found.unwrap().unwrap()
        };
        let direct = slopes(&model);
        let wrapped = without.for_all(Box::new(model));
        let found = wrapped.predict(dataset.graph(), dataset.features()).unwrap();
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(close(directly.as_slice(), found.as_slice()));
        assert!(
            close(&direct, &slopes(&wrapped)) && direct.iter().any(|slope| slope.abs() > 1e-4),
            "{direct:?}"
        );
    }
}
