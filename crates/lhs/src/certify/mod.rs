//! What no attacker can change who adds, removes or weighs anew up to so many edges, anywhere in the graph.
//!
//! [`Buckets`] deal the pairs of nodes by their ids; on the graph of each bucket a voter predicts ([`Voters`]); the class with the most
//! votes wins, and how many voters must be changed before another does is the node's radius ([`Votes`]). One edge is in one
//! bucket, so a radius of `r` holds against any change of `r` pairs. Features and labels are trusted.
//!
//! A perceptron does not read edges and so is certified at every radius: a certificate says something only where its curve lies above
//! that line, and [`Certificate`] always has it.
//! Source: Levine and Feizi 2021 (deep partition aggregation), for edges of graphs Xia et al. 2024 (GNNCert).

mod buckets;
mod record;
mod voters;
mod votes;

pub use buckets::Buckets;
pub use record::{CertificateRecord, CertifiedNode, Curves, SplitCurves};
pub use voters::Voters;
pub use votes::{Stand, Votes};

use serde::Serialize;
use toml::Table;

use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::models::mlp::Mlp;
use crate::models::{Model, ModelKind, NodeClassifier};
use crate::quality::confusion::predicted_classes;
use crate::training::{Observer, Session, Task};

/// How to certify.
#[derive(Clone, Debug)]
pub struct CertifyConfig {
    /// How many buckets, 2 up to the number of edges. More of them certify larger radii and see fewer edges each.
    pub buckets: usize,
    /// Whether the training graph may have been changed, too: then each bucket has a model of its own.
    pub poisoning: bool,
    /// The seed that pairs are dealt with.
    pub seed: u64,
}

impl Default for CertifyConfig {
    fn default() -> Self {
        CertifyConfig { buckets: 11, poisoning: false, seed: 0 }
    }
}

/// What is certain about the nodes of one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// What the buckets say of each node.
    pub votes: Votes,
    /// What the perceptron, with its defaults, says of each node.
    pub mlp: Vec<u32>,
}

/// What is certain about one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeCertificate {
    /// Its id.
    pub node: String,
    /// The class with the most votes.
    pub prediction: String,
    /// Its class, where that is known.
    pub label: Option<String>,
    /// The part of the split that it belongs to, if any.
    pub part: String,
    /// The votes for each class, in the order of the classes.
    pub votes: Vec<usize>,
    /// Up to so many edges, changed anywhere, leave the prediction as it is.
    pub radius: usize,
}

impl Certificate {
    /// Trains on a dataset under a split, and certifies what is said of the nodes of `on`: the same nodes, perhaps other edges.
    pub fn of(
        model: (&ModelKind, &Table),
        (dataset, split, on): (&Dataset, &Split, &Dataset),
        config: &CertifyConfig,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let task = Task::new(dataset, split)?;
        let buckets = Buckets::new(config.buckets, config.seed, &ids(dataset))?;
        buckets.check_ids(&ids(on))?;
        buckets.check_edges(dataset.graph())?;
        let mlp = Mlp::default().fit_with(&task, seed, &mut Session::watched_by(observer))?;
        let voters = Voters::fit(model, &task, buckets, config.poisoning, seed, observer)?;
        Ok(Certificate {
            votes: voters.votes(on.graph(), on.features(), &ids(on))?,
            mlp: predicted_classes(&mlp.predict(on.graph(), on.features())?),
        })
    }

    /// The figures at the labelled ones of some nodes.
    pub fn curves(&self, dataset: &Dataset, nodes: &[u32]) -> Curves {
        let labelled = |&node: &u32| Some((node, dataset.labels().get(node as usize)?));
        Curves::of(self, &nodes.iter().filter_map(labelled).collect::<Vec<_>>())
    }

    /// What is certain about a node, by its id.
    pub fn node(&self, dataset: &Dataset, split: &Split, id: &str) -> Result<NodeCertificate> {
        let node = dataset.find_node(id).ok_or_else(|| {
            Error::data(format!("{} has no node `{id}`", dataset.name()), "give the id of one of its nodes")
        })?;
        let part = split.parts().into_iter().find(|(_, nodes)| nodes.contains(&(node as u32)));
        Ok(self.at(dataset, part.map_or("", |(name, _)| name), node))
    }

    /// What is certain about every node.
    pub fn nodes(&self, dataset: &Dataset, split: &Split) -> Vec<NodeCertificate> {
        let mut parts = vec![""; dataset.num_nodes()];
        for (name, nodes) in split.parts() {
            nodes.iter().for_each(|&node| parts[node as usize] = name);
        }
        parts.iter().enumerate().map(|(node, part)| self.at(dataset, part, node)).collect()
    }

    /// The radius of every node.
    pub fn radii(&self) -> Vec<usize> {
        (0..self.votes.num_nodes()).map(|node| self.votes.radius(node)).collect()
    }

    fn at(&self, dataset: &Dataset, part: &str, node: usize) -> NodeCertificate {
        let names = dataset.labels().names();
        NodeCertificate {
            node: dataset.node_id(node),
            prediction: names[self.votes.winner(node) as usize].clone(),
            label: dataset.labels().get(node).map(|class| names[class as usize].clone()),
            part: part.to_string(),
            votes: self.votes.counts(node),
            radius: self.votes.radius(node),
        }
    }
}

/// The ids of all nodes; their numbers where they have no others.
pub fn ids(dataset: &Dataset) -> Vec<String> {
    (0..dataset.num_nodes()).map(|node| dataset.node_id(node)).collect()
}
