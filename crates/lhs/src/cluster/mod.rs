//! Clustering, and predicting edges, on the latent structure.
//!
//! [`Method::Latent`] learns a structure from the training labels, trains a plain graph convolution over it, and clusters
//! the nodes by its embeddings; [`Method::Agc`] smooths the features over the given graph and needs no labels at all.
//! [`scores`] matches clusters to classes; [`links`] holds edges out and asks the latent graph for them.

pub mod agc;
pub mod kmeans;
pub mod links;
pub mod scores;
mod spectral;

use serde::{Deserialize, Serialize};

use self::kmeans::kmeans;
use self::scores::ClusterScores;
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::models::gcn::Gcn;
use crate::models::{Model, NodeClassifier};
use crate::structure::StructureConfig;
use crate::training::{Session, Task};

/// What is clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Embeddings of a graph convolution over the latent structure, learned from the training labels.
    Latent,
    /// Smoothed features (adaptive graph convolution, Zhang et al. 2019); no labels.
    Agc,
}

/// How rows become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// k-means on the rows.
    Kmeans,
    /// k-means on the leading eigenvectors of the graph of each row's nearest others.
    Spectral,
}

/// How well the clusters fit the classes; they are matched in each part for itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// At all labelled nodes, those included whose labels were learned from.
    pub all: ClusterScores,
    /// At the training nodes.
    pub train: ClusterScores,
    /// At the validation nodes.
    pub val: ClusterScores,
    /// At the test nodes.
    pub test: ClusterScores,
}

/// Clusters the nodes into as many groups as there are classes.
pub fn cluster(
    dataset: &Dataset,
    split: &Split,
    method: Method,
    by: By,
    seed: u64,
    session: &mut Session<'_>,
) -> Result<Vec<u32>> {
    let groups = dataset.num_classes();
    let rows = match method {
        Method::Agc => {
            if dataset.features().dim() == 0 {
                return Err(Error::data(
                    format!("{} has no features to smooth", dataset.name()),
                    "choose the method `latent`",
                ));
            }
            return Ok(agc::agc(dataset.graph(), dataset.features(), groups, seed));
        }
        Method::Latent => embeddings(dataset, split, seed, session)?,
    };
    Ok(match by {
        By::Kmeans => kmeans(&rows, groups, derive(seed, &[2])),
        By::Spectral => spectral::spectral(&rows, groups, derive(seed, &[2]))?,
    })
}

/// The class scores of a graph convolution over the latent graph, `[n,C]`, rows of length 1.
fn embeddings(dataset: &Dataset, split: &Split, seed: u64, session: &mut Session<'_>) -> Result<Mat> {
    let task = Task::new(dataset, split)?;
    let (_, structure) = StructureConfig::default().fit(&task, derive(seed, &[0]), session)?;
    let latent = Task { graph: structure.latent(), ..task };
    let model = Gcn::default().fit_with(&latent, derive(seed, &[1]), session)?;
    model.predict(latent.graph, latent.features)
}

/// Holds clusters against the classes.
pub fn fit(dataset: &Dataset, split: &Split, clusters: &[u32]) -> Result<Fit> {
    let labels = dataset.labels();
    let scores = |nodes: &mut dyn Iterator<Item = u32>| {
        let pair = |node: u32| Some((labels.get(node as usize)?, clusters[node as usize]));
        ClusterScores::of(&nodes.filter_map(pair).collect::<Vec<_>>())
            .ok_or_else(|| Error::data("a part of the split has no labelled node", "label some of them"))
    };
    Ok(Fit {
        all: scores(&mut (0..dataset.num_nodes() as u32))?,
        train: scores(&mut split.train.iter().copied())?,
        val: scores(&mut split.val.iter().copied())?,
        test: scores(&mut split.test.iter().copied())?,
    })
}
