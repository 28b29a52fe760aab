//! The nodes of some data, matched to those that a model learned from: by id, or by position where nobody has ids.
//!
//! A model that remembers nodes, such as one with a weight for each, must meet them in the places where it met them first,
//! whatever order a table has. So the data is put into that order, with new nodes behind the known ones and isolated
//! stand-ins for those that are gone, and what is predicted is put back.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Details, Features, Graph, Labels, Repairs, Split};
use crate::linalg::{Mat, SparseMat};
use crate::metrics::predictions::TrainedNodes;
use crate::models::NodeClassifier;
use crate::structure::node_identity::NodeIdentity;

/// What a run remembers of the nodes that it learned from.
pub(super) struct Learned<'a> {
    pub nodes: &'a TrainedNodes,
    /// Whether they have ids of their own, or are named by their position.
    pub have_ids: bool,
    /// Fingerprints of their features; none in runs of other tools.
    pub identity: Option<&'a NodeIdentity>,
    /// Whether the model remembers nodes.
    pub remembered: bool,
    /// Whether nodes without ids must be shown to be the same.
    pub checked: bool,
}

/// Data whose nodes are matched to those that a model learned from.
#[derive(Debug)]
pub struct Matched<'a> {
    dataset: &'a Dataset,
    /// For each node of the data, the node that was learned from; `None` for a new one.
    known: Vec<Option<u32>>,
    num_learned: usize,
    remembered: bool,
}

impl<'a> Matched<'a> {
    pub(super) fn new(dataset: &'a Dataset, learned: &Learned<'_>) -> Result<Self> {
        let found = match (dataset.node_ids().is_some(), learned.have_ids) {
            (true, true) => Some(by_id(dataset, learned)),
            (false, false) => by_position(dataset, learned),
            // The number of a row here may be the id of somebody there.
            (true, false) | (false, true) => None,
        };
        let known = match found {
            Some(known) => known,
            // Who nobody has to recognise is new.
            None if !learned.checked => vec![None; dataset.num_nodes()],
            None => return Err(unrecognised(dataset)),
        };
        let num_learned = learned.nodes.ids.len();
        Ok(Matched { dataset, known, num_learned, remembered: learned.remembered })
    }

    /// How many nodes of the data were learned from, in whatever part.
    pub fn num_known(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// Whether the data has the nodes that were learned from, all of them and no others.
    pub fn is_complete(&self) -> bool {
        self.known.len() == self.num_learned && self.num_known() == self.num_learned
    }

    /// Whether they also stand in the order of the training data.
    pub fn is_in_order(&self) -> bool {
        self.is_complete() && (0u32..).zip(&self.known).all(|(node, known)| *known == Some(node))
    }

    /// The parts of a split that the nodes of the data belonged to, under the data's numbers.
    pub fn split(&self, learned: &Split) -> Split {
        let mut place: HashMap<u32, u32> = HashMap::new();
        for (node, known) in (0u32..).zip(&self.known) {
            if let Some(known) = known {
                place.insert(*known, node);
            }
        }
        let part = |part: &[u32]| {
            let mut nodes: Vec<u32> = part.iter().filter_map(|node| place.get(node).copied()).collect();
            nodes.sort_unstable();
            nodes
        };
        Split { train: part(&learned.train), val: part(&learned.val), test: part(&learned.test) }
    }

    /// What a model says about the nodes, in the order of the data.
    pub fn predict(&self, model: &dyn NodeClassifier) -> Result<Mat> {
        let (arranged, places) = self.arranged()?;
        let probabilities = model.predict(&arranged.0, &arranged.1)?;
        Ok(match places {
            Some(places) => probabilities.select_rows(&places),
            None => probabilities,
        })
    }

    /// The nodes that were learned from: their number in the data, and in training.
    pub(super) fn known(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0u32..).zip(&self.known).filter_map(|(node, known)| Some((node, (*known)?)))
    }

    /// The data as the model expects it, and where each of its nodes stands in that; `None` where it stands already.
    /// `learned_ids` name the stand-ins. They have no label, and there are no splits.
    pub(super) fn dataset(&self, learned_ids: &[String]) -> Result<(Cow<'a, Dataset>, Option<Vec<u32>>)> {
        let ((graph, features), places) = self.arranged()?;
        let Some(places) = places else { return Ok((Cow::Borrowed(self.dataset), None)) };
        let labels = self.dataset.labels();
        let mut ids = learned_ids.to_vec();
        ids.resize(graph.num_nodes(), String::new());
        let mut classes = vec![None; graph.num_nodes()];
        for (node, &place) in places.iter().enumerate() {
            ids[place as usize] = self.dataset.node_id(node);
            classes[place as usize] = labels.get(node);
        }
        let details = Details {
            feature_names: self.dataset.feature_names().map(<[String]>::to_vec),
            ..Details::default()
        };
        let dataset = Dataset::new(DatasetParts {
            name: self.dataset.name().to_string(),
            graph: graph.into_owned(),
            repairs: Repairs::default(),
            features: features.into_owned(),
            labels: Labels::new(classes, labels.names().to_vec())?,
            node_ids: Some(ids),
            splits: Vec::new(),
            details,
        })?;
        Ok((Cow::Owned(dataset), Some(places)))
    }

    /// Graph and features as the model expects them, and where each node of the data stands in them.
    #[allow(clippy::type_complexity)]
    fn arranged(&self) -> Result<((Cow<'a, Graph>, Cow<'a, Features>), Option<Vec<u32>>)> {
        let (graph, features) = (self.dataset.graph(), self.dataset.features());
        let in_place = (0u32..).zip(&self.known).all(|(node, known)| match known {
            Some(known) => *known == node,
            None => node as usize >= self.num_learned,
        });
        if !self.remembered || in_place {
            return Ok(((Cow::Borrowed(graph), Cow::Borrowed(features)), None));
        }
        let mut new = self.num_learned as u32;
        let places: Vec<u32> = self
            .known
            .iter()
            .map(|known| {
                known.unwrap_or_else(|| {
                    new += 1;
                    new - 1
                })
            })
            .collect();
        let total = new as usize;
        let (pairs, weights): (Vec<(u32, u32)>, Vec<f32>) = graph
            .weighted_edges()
            .map(|(a, b, weight)| ((places[a as usize], places[b as usize]), weight))
            .unzip();
        let weights = graph.weights().map(|_| weights.as_slice());
        let (graph, _) = Graph::build(total, &pairs, weights, graph.is_directed())?;
        Ok(((Cow::Owned(graph), Cow::Owned(moved(features, &places, total))), Some(places)))
    }
}

/// Features whose rows go to other places; rows that nobody comes to are zero.
fn moved(features: &Features, places: &[u32], total: usize) -> Features {
    let rows = places.iter().enumerate();
    match features {
        Features::Dense(mat) => {
            let mut out = Mat::zeros(total, mat.cols());
            rows.for_each(|(node, &place)| out.row_mut(place as usize).copy_from_slice(mat.row(node)));
            Features::Dense(out)
        }
        Features::Sparse(mat) => {
            let entries = |(node, &place): (usize, &u32)| {
                let row = features.row_nonzeros(node).into_iter();
                row.map(move |(column, value)| (place, column, value)).collect::<Vec<_>>()
            };
            let mut all: Vec<(u32, u32, f32)> = rows.flat_map(entries).collect();
            all.sort_by_key(|&(node, column, _)| (node, column));
            Features::Sparse(SparseMat::from_triplets(total, mat.pattern.cols(), all))
        }
    }
}

fn by_id(dataset: &Dataset, learned: &Learned<'_>) -> Vec<Option<u32>> {
    let places: HashMap<&str, u32> = learned.nodes.ids.iter().map(String::as_str).zip(0..).collect();
    (0..dataset.num_nodes()).map(|node| places.get(dataset.node_id(node).as_str()).copied()).collect()
}

/// The same rows in the same order; `None` where labels, or else features, say that they are others.
fn by_position(dataset: &Dataset, learned: &Learned<'_>) -> Option<Vec<Option<u32>>> {
    let nodes = learned.nodes.ids.len();
    let agree = agreement(dataset, learned).unwrap_or_else(|| same_features(dataset, learned));
    agree.then(|| (0..dataset.num_nodes()).map(|node| (node < nodes).then_some(node as u32)).collect())
}

fn unrecognised(dataset: &Dataset) -> Error {
    Error::data(
        format!("nothing says that the nodes of {} are those that the model learned from", dataset.name()),
        "name the nodes (ids on both sides), or give the rows in the order and with the features of the training data",
    )
}

/// Whether rows have the features of their place and none those of another; also where there is nothing to compare.
fn same_features(dataset: &Dataset, learned: &Learned<'_>) -> bool {
    let Some(identity) = learned.identity.filter(|_| dataset.features().dim() > 0) else { return true };
    let now = NodeIdentity::of(dataset.features());
    let stayed = now.fingerprints().iter().zip(identity.fingerprints()).any(|(now, then)| now == then);
    let found = identity.find(dataset.features());
    stayed && found.iter().zip(0u32..).all(|(known, node)| known.is_none_or(|known| known == node))
}

/// Whether all labels that both sides know are the same; `None` if there are none.
fn agreement(dataset: &Dataset, learned: &Learned<'_>) -> Option<bool> {
    let labels = dataset.labels();
    let mut compared = learned.nodes.labels.iter().enumerate().filter_map(|(node, label)| {
        let now = (node < labels.len()).then(|| labels.get(node)).flatten()?;
        (!label.is_empty()).then(|| labels.names()[now as usize] == *label)
    });
    let first = compared.next()?;
    Some(first && compared.all(|same| same))
}
