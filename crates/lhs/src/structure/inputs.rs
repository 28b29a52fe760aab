//! What can be said of a training graph before any label is seen: both views and the directions of each choice of
//! views. It depends on the graph and a few settings alone, so all splits and seeds share it.

use super::SelfExpression;
use super::latent_graph::LARGE;
use super::learner::Views;
use super::low_rank::DirectionMap;
use super::node_identity::NodeIdentity;
use super::views::{Basis, NeighbourRows, View};
use crate::graph::{Features, Graph};
use crate::linalg::{Mat, SparseMat, release_all_buffers, release_buffers};

/// Gives back what was needed for a while: what comes next is of other sizes.
pub(crate) fn settle(nodes: usize) {
    if nodes > LARGE { release_all_buffers() } else { release_buffers() }
}

/// The two views of a training graph: what all graphs are seen with.
#[derive(Clone, Debug, PartialEq)]
pub struct Bases {
    pub(super) identity: NodeIdentity,
    pub(super) features: Basis,
    pub(super) edges: EdgeBasis,
    /// Of the reversed edges, where they have a direction.
    pub(super) incoming: Option<EdgeBasis>,
}

/// What profiles are read with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EdgeBasis {
    pub(super) profile_directions: Basis,
    pub(super) neighbour_rows: NeighbourRows,
}

impl EdgeBasis {
    fn fit(graph: &Graph, components: usize) -> Self {
        let no_features = Features::none(graph.num_nodes());
        EdgeBasis {
            profile_directions: Basis::fit(View::Adjacency, graph, &no_features, components),
            neighbour_rows: NeighbourRows::fit(graph),
        }
    }

    fn profiles(&self, graph: &Graph, known: &[Option<u32>]) -> Profiles {
        let no_features = Features::none(graph.num_nodes());
        Profiles {
            directions: self.profile_directions.rows(graph, &no_features, known),
            neighbour_rows: self.neighbour_rows.rows(graph, known),
        }
    }
}

impl Bases {
    pub(super) fn fit(graph: &Graph, features: &Features, components: usize) -> Self {
        let bases = Bases {
            identity: NodeIdentity::of(features),
            features: Basis::fit(View::Features, graph, features, components),
            edges: EdgeBasis::fit(graph, components),
            incoming: graph.is_directed().then(|| EdgeBasis::fit(&graph.reversed(), components)),
        };
        settle(graph.num_nodes());
        bases
    }

    /// The degrees by which neighbour rows are scaled, and those of the reversed edges, where they have a direction.
    pub(crate) fn degrees(&self) -> (&Mat, Option<&Mat>) {
        let incoming = self.incoming.as_ref().map(|basis| basis.neighbour_rows.degrees());
        (self.edges.neighbour_rows.degrees(), incoming)
    }

    /// The views of a graph; `known` says which training node each node is.
    pub fn inputs(&self, graph: &Graph, features: &Features, known: &[Option<u32>]) -> Inputs {
        // What was learned without direction does not see one.
        let without = self.incoming.is_none() && graph.is_directed();
        let undirected = without.then(|| graph.to_undirected());
        let graph = undirected.as_ref().unwrap_or(graph);
        Inputs {
            features: self.features.rows(graph, features, known),
            profiles: self.edges.profiles(graph, known),
            incoming: self.incoming.as_ref().map(|basis| basis.profiles(&graph.reversed(), known)),
        }
    }
}

/// Whom nodes are joined to.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    /// `[n,d]`, unit rows.
    pub directions: Mat,
    /// `[n, num_known]`; not of unit length.
    pub neighbour_rows: SparseMat,
}

/// One unit row per node and view, and the edges behind one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// `[n,d]` of the features; no columns without features.
    pub features: Mat,
    /// Whom each node is joined to, or leads to where edges have a direction.
    pub profiles: Profiles,
    /// Who leads to each node, where edges have a direction.
    pub incoming: Option<Profiles>,
}

impl Inputs {
    /// The rows that the inducer and the refiner look at.
    pub(super) fn rows(&self, views: Views) -> Mat {
        match views {
            Views::Features => self.features.clone(),
            Views::Adjacency => self.profile_directions(),
            Views::Both => {
                let incoming = self.incoming.as_ref().map(|incoming| &incoming.directions);
                let parts = [&self.features, &self.profiles.directions].into_iter().chain(incoming);
                Mat::side_by_side(&parts.collect::<Vec<_>>())
            }
        }
    }

    /// Those of both directions, side by side, where edges have one.
    pub fn profile_directions(&self) -> Mat {
        match &self.incoming {
            None => self.profiles.directions.clone(),
            Some(incoming) => Mat::side_by_side(&[&self.profiles.directions, &incoming.directions]),
        }
    }

    /// Everything that is known of the nodes, whose features these are: features, and whole neighbour rows, or, if `lean`, the leading
    /// directions of profiles.
    pub(super) fn sights(&self, features: &Features, lean: bool) -> Vec<Features> {
        let rows = |profiles: &Profiles| match lean {
            true => Features::Dense(profiles.directions.clone()),
            false => Features::Sparse(profiles.neighbour_rows.clone()),
        };
        let own = (features.dim() > 0).then(|| features.clone());
        own.into_iter().chain([rows(&self.profiles)]).chain(self.incoming.as_ref().map(rows)).collect()
    }

    /// Whether there is anything to see.
    pub(super) fn offer(&self, views: Views) -> bool {
        let seen = |rows: &Mat| rows.as_slice().iter().any(|value| *value != 0.0);
        match views {
            Views::Features => seen(&self.features),
            Views::Adjacency => seen(&self.profile_directions()),
            Views::Both => seen(&self.features) && seen(&self.profile_directions()),
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
        // Made twice: while directions are found, there is no room for a copy where nodes are many.
        let map = directions(inputs.rows(views), ridge, rank);
        Candidate { directions: map.directions(&inputs.rows(views)), map }
    }
}

/// The way from rows to at most `rank` directions; 0 keeps all.
pub(super) fn directions(rows: Mat, ridge: f32, rank: usize) -> DirectionMap {
    if rank == 0 {
        return DirectionMap::unfiltered(&rows, ridge);
    }
    let rank = rank.min(rows.cols()).min(rows.rows());
    DirectionMap::fit(&SelfExpression::of(rows, ridge), rank)
}
