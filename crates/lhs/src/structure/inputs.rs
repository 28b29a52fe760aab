//! What can be said of a training graph before any label is seen: both views and the directions of each choice of
//! views. It depends on the graph and a few settings alone, so all splits and seeds share it.

use super::SelfExpression;
use super::learner::Views;
use super::low_rank::DirectionMap;
use super::node_identity::NodeIdentity;
use super::views::{Basis, NeighbourRows, View};
use crate::graph::{Features, Graph};
use crate::linalg::{Mat, SparseMat};

/// The two views of the training graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bases {
    pub(super) identity: NodeIdentity,
    pub(super) features: Basis,
    pub(super) profile_directions: Basis,
    pub(super) neighbour_rows: NeighbourRows,
}

impl Bases {
    pub(super) fn fit(graph: &Graph, features: &Features, components: usize) -> Self {
        Bases {
            identity: NodeIdentity::of(features),
            features: Basis::fit(View::Features, graph, features, components),
            profile_directions: Basis::fit(View::Adjacency, graph, features, components),
            neighbour_rows: NeighbourRows::fit(graph),
        }
    }

    /// `known` says which training node each node is.
    pub(super) fn inputs(&self, graph: &Graph, features: &Features, known: &[Option<u32>]) -> Inputs {
        Inputs {
            features: self.features.rows(graph, features, known),
            profile_directions: self.profile_directions.rows(graph, features, known),
            neighbour_rows: self.neighbour_rows.rows(graph, known),
        }
    }
}

/// One unit row per node and view, and the edges behind one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// `[n,d]` of the features; no columns without features.
    pub features: Mat,
    /// `[n,d]` of the adjacency profile_directions.
    pub profile_directions: Mat,
    /// `[n, num_known]`, whom each node is joined to; not of unit length.
    pub neighbour_rows: SparseMat,
}

impl Inputs {
    /// The rows that the inducer and the refiner look at.
    pub(super) fn rows(&self, views: Views) -> Mat {
        match views {
            Views::Features => self.features.clone(),
            Views::Adjacency => self.profile_directions.clone(),
            Views::Both => Mat::side_by_side(&[self.features.clone(), self.profile_directions.clone()]),
        }
    }

    /// Whether there is anything to see.
    pub(super) fn offer(&self, views: Views) -> bool {
        let seen = |rows: &Mat| rows.as_slice().iter().any(|value| *value != 0.0);
        match views {
            Views::Features => seen(&self.features),
            Views::Adjacency => seen(&self.profile_directions),
            Views::Both => seen(&self.features) && seen(&self.profile_directions),
        }
    }
}

/// A way to look, and where its nodes point.
pub(super) struct Candidate {
    pub(super) map: DirectionMap,
    /// `[n,r]`, unit rows.
    pub(super) directions: Mat,
}

impl Candidate {
    /// Keeps up to `rank` directions of some views; 0 keeps all.
    pub(super) fn fit(inputs: &Inputs, views: Views, ridge: f32, rank: usize) -> Self {
        let rows = inputs.rows(views);
        let map = directions(&rows, ridge, rank);
        Candidate { directions: map.directions(&rows), map }
    }
}

/// The way from rows to at most `rank` directions; 0 keeps all.
pub(super) fn directions(rows: &Mat, ridge: f32, rank: usize) -> DirectionMap {
    let most = rows.cols().min(rows.rows());
    let rank = if rank == 0 { most } else { rank.min(most) };
    DirectionMap::fit(&SelfExpression::new(rows, ridge), rank)
}
