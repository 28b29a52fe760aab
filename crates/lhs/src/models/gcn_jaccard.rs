//! GCN-Jaccard: drops the edges between nodes that have nothing in common, then learns a GCN (Wu et al. 2019).
//!
//! `A'_uv = A_uv [J(x_u, x_v) >= threshold]`, `J` the Jaccard similarity of the features that two nodes have, their
//! cosine where features are more than present or absent. Attacks tend to join nodes that are unlike each other.
//! Cost: `O(edges * non-zeros per row)` once, then that of a [`super::gcn`] per epoch.

use super::architecture::{Architecture, Sizes};
use super::gcn::{self, Gcn};
use super::parts::similarity::Rows;
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::training::{Parameters, Session, TrainingConfig};

network_settings! {
    /// Settings of GCN-Jaccard.
    pub struct GcnJaccard {
        /// Edges of a lower similarity than this are dropped, 0..=1.
        pub threshold: f32 = 0.01,
    }
    shared {
        hidden: 64,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig::default(),
        /// Number of convolutions, 1 or more.
        layers: 2,
    }
}

impl ModelInfo for GcnJaccard {
    const NAME: &'static str = "gcn-jaccard";
    const SUMMARY: &'static str = "GCN without the edges between dissimilar nodes (Wu et al. 2019)";

    fn search() -> Vec<(&'static str, SearchSpace)> {
        let mut search = super::mlp::layered_search([32, 64, 128, 256]);
        search.push(("threshold", SearchSpace::choice([0.01, 0.02, 0.03, 0.05, 0.1])));
        search
    }
}

impl GcnJaccard {
    fn gcn(&self) -> Gcn {
        Gcn {
            hidden: self.hidden,
            layers: self.layers,
            dropout: self.dropout,
            normalise_features: self.normalise_features,
            hardening: 0.0,
            training: self.training.clone(),
        }
    }
}

impl Architecture for GcnJaccard {
    type Prepared = gcn::Prepared;

    fn check(&self) -> Result<()> {
        settings::share("threshold", self.threshold)
    }

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        self.gcn().parameters(sizes, seed)
    }

    fn prepare(
        &self,
        graph: &Graph,
        features: &Features,
        session: &mut Session<'_>,
    ) -> Result<gcn::Prepared> {
        let similar = similar_ends(&graph.to_undirected(), features, self.threshold)?;
        self.gcn().prepare(&similar, features, session)
    }

    fn scores(&self, prepared: &gcn::Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.gcn().scores(prepared, parameters, dropout_seed)
    }
}

/// The edges whose ends are at least this similar.
fn similar_ends(graph: &Graph, features: &Features, threshold: f32) -> Result<Graph> {
    let rows = Rows::of(features);
    let binary = rows.are_binary();
    let similarity = |a: u32, b: u32| if binary { rows.jaccard(a, b) } else { rows.cosine(a, b) };
    graph.with_edges_where(|a, b| similarity(a, b) >= threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    fn graph() -> Graph {
        Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap().0
    }

    #[test]
    fn edges_between_strangers_are_dropped() {
        let rows = [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let features = Features::from_dense(Mat::from_slice(4, 4, &rows));
        let kept = similar_ends(&graph(), &features, 0.01).unwrap();
        assert_eq!(kept.edges().collect::<Vec<_>>(), [(0, 1), (2, 3)]);
        assert_eq!(similar_ends(&graph(), &features, 0.5).unwrap().edges().collect::<Vec<_>>(), [(2, 3)]);
    }

    #[test]
    fn without_features_all_edges_are_kept() {
        assert_eq!(similar_ends(&graph(), &Features::none(4), 0.01).unwrap(), graph());
    }
}
