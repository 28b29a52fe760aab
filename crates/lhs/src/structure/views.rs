//! What the inducer looks at: one row per node, from its features or from whom it is joined to.
//!
//! A view is a matrix `M` with one row per node: its features `X [n,F]` (rows of sum 1), or its adjacency
//! profile, its row of `D^-1 A [n,N]` over the `N` nodes of the training graph. A basis `V [columns, d]`, the
//! leading right singular vectors of the training graph's `M`, turns either into short rows `Z = M V [n,d]`,
//! scaled to length 1: the self-expression costs `O(n d²)`, and its penalty hardly matters afterwards. Nodes
//! and edges that were not there in training go through the same basis. Sparse input is never written out.
//! Cost: a truncated SVD once, then one product, `O(nnz(M) d)`.
//!
//! Where edges have a direction, a profile is over those that a node leads to; those that lead to it are the profile of the
//! reversed graph.
//!
//! A classifier can read more of whom a node is joined to than nearest neighbours can: [`NeighbourRows`] keeps all columns.
//! So of the adjacency profile there are the profile directions, `d` columns of unit rows, and the neighbour rows, one column
//! per known node.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::latent_graph::LARGE;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{EigenOptions, LinearMap, Mat, Pattern, SparseMat, truncated_svd};

/// Products that directions of a large graph may take: those that have not settled by then are hardly better than their neighbours
/// in the spectrum.
const PRODUCTS_IF_LARGE: usize = 40;
/// Rows shorter than this point nowhere and stay zero.
const SHORTEST: f32 = 1e-12;

/// One way of looking at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Its own features.
    Features,
    /// Its adjacency profile: two nodes with the same neighbours look alike, whether or not those
    /// neighbours share their class.
    Adjacency,
}

/// The leading directions of a view of the training graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    view: View,
    /// `V [columns, d]`.
    directions: Mat,
}

impl Basis {
    /// Finds at most `components` directions of the view of a training graph.
    pub fn fit(view: View, graph: &Graph, features: &Features, components: usize) -> Self {
        let directions = match view {
            View::Adjacency => principal(&normalise::row_stochastic(graph), components),
            View::Features => match normalise::row_normalised(features) {
                Features::Dense(mat) => principal(&mat, components),
                Features::Sparse(mat) => principal(&mat, components),
            },
        };
        Basis { view, directions }
    }

    /// A basis from its directions, as [`Basis::directions`] gave them.
    pub fn from_directions(view: View, directions: Mat) -> Self {
        Basis { view, directions }
    }

    /// `V`.
    pub fn directions(&self) -> &Mat {
        &self.directions
    }

    /// One unit row per node of a graph, `[n,d]`; zero for a node without features or known neighbours.
    /// `known` says which training node each node is.
    pub fn rows(&self, graph: &Graph, features: &Features, known: &[Option<u32>]) -> Mat {
        let mut rows = match self.view {
            View::Adjacency => {
                LinearMap::apply(&profile_rows(graph, known, self.directions.rows()), &self.directions)
            }
            View::Features => match normalise::row_normalised(features) {
                Features::Dense(mat) => LinearMap::apply(&mat, &self.directions),
                Features::Sparse(mat) => LinearMap::apply(&mat, &self.directions),
            },
        };
        to_unit_rows(&mut rows);
        rows
    }
}

/// Whom a node is joined to, a column for each node of the training graph: rows of `A S^-¼`, with `S` the degrees of the
/// known nodes (sums of weights, in units of the mean one), in the training graph or in the one that is looked at, whichever
/// is larger. A neighbour that few have says more than a hub does, unless many have come to have it since: edges that an
/// attacker adds at random lead to such nodes. How many neighbours a node has can still be read off its row.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourRows {
    /// `[num_known,1]`, in the training graph.
    degrees: Mat,
}

impl NeighbourRows {
    /// Counts the neighbours in a training graph.
    pub fn fit(graph: &Graph) -> Self {
        let everybody: Vec<Option<u32>> = (0..graph.num_nodes() as u32).map(Some).collect();
        let joined = joined_to_known(graph, &everybody, graph.num_nodes());
        NeighbourRows { degrees: Mat::column(&column_sums(&joined)) }
    }

    /// NeighbourRows with these degrees, as [`NeighbourRows::degrees`] gave them.
    pub fn from_degrees(degrees: Mat) -> Self {
        NeighbourRows { degrees }
    }

    /// The degree of each known node in the training graph, `[num_known,1]`.
    pub fn degrees(&self) -> &Mat {
        &self.degrees
    }

    /// One row per node of a graph, `[n, num_known]`; `known` says which training node each node is.
    pub fn rows(&self, graph: &Graph, known: &[Option<u32>]) -> SparseMat {
        let mut rows = joined_to_known(graph, known, self.degrees.rows());
        let now = column_sums(&rows).into_iter();
        let scales: Vec<f32> =
            now.zip(self.degrees.as_slice()).map(|(now, then)| 1.0 / now.max(*then).sqrt().sqrt()).collect();
        let columns = rows.pattern.indices().iter();
        rows.values.iter_mut().zip(columns).for_each(|(value, &col)| *value *= scales[col as usize]);
        rows
    }
}

fn column_sums(mat: &SparseMat) -> Vec<f32> {
    let mut sums = vec![0.0; mat.cols()];
    mat.pattern.indices().iter().zip(&mat.values).for_each(|(&col, value)| sums[col as usize] += value);
    sums
}

/// `V` of `M ≈ U S Vᵀ`.
fn principal(matrix: &dyn LinearMap, components: usize) -> Mat {
    let rank = components.min(matrix.rows()).min(matrix.cols());
    if rank == 0 {
        return Mat::zeros(matrix.cols(), 0);
    }
    let mut options = EigenOptions::default();
    if matrix.rows() > LARGE {
        options.max_iterations = PRODUCTS_IF_LARGE;
    }
    truncated_svd(matrix, rank, &options).right
}

/// `D^-1 A` over the known nodes, `[n, num_known]`.
fn profile_rows(graph: &Graph, known: &[Option<u32>], num_known: usize) -> SparseMat {
    normalise::averaging(joined_to_known(graph, known, num_known))
}

/// `A` over the known nodes, weights in units of the mean one, `[n, num_known]`.
fn joined_to_known(graph: &Graph, known: &[Option<u32>], num_known: usize) -> SparseMat {
    let mut adjacency = normalise::adjacency(graph);
    if graph.weights().is_some() {
        let mean = graph.mean_weight();
        adjacency.values.iter_mut().for_each(|weight| *weight /= mean);
    }
    if known.len() == num_known && (0u32..).zip(known).all(|(node, known)| *known == Some(node)) {
        return adjacency;
    }
    let mut indptr = vec![0];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for node in 0..adjacency.rows() {
        let mut row: Vec<(u32, f32)> = adjacency
            .row(node)
            .filter_map(|(other, weight)| known[other as usize].map(|other| (other, weight)))
            .collect();
        row.sort_unstable_by_key(|(other, _)| *other);
        indices.extend(row.iter().map(|(other, _)| *other));
        values.extend(row.iter().map(|(_, weight)| *weight));
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(adjacency.rows(), num_known, indptr, indices)), values)
}

/// Scales every row to length 1.
pub(crate) fn to_unit_rows(rows: &mut Mat) {
    for row in 0..rows.rows() {
        let row = rows.row_mut(row);
        let length = row.iter().map(|v| v * v).sum::<f32>().sqrt();
        let scale = if length > SHORTEST { 1.0 / length } else { 0.0 };
        row.iter_mut().for_each(|entry| *entry *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(4, &[(0, 1), (1, 2), (3, 2)]).unwrap().0
    }

    fn all_known(count: u32) -> Vec<Option<u32>> {
        (0..count).map(Some).collect()
    }

    #[test]
    fn nodes_with_the_same_neighbours_look_the_same() {
        let (graph, _) = Graph::from_edges(5, &[(0, 2), (1, 2), (0, 3), (1, 3), (3, 4)]).unwrap();
        let basis = Basis::fit(View::Adjacency, &graph, &Features::none(5), 5);
        let rows = basis.rows(&graph, &Features::none(5), &all_known(5));
        assert!(rows.row(0).iter().zip(rows.row(1)).all(|(a, b)| (a - b).abs() < 1e-5));
        let cosine: f32 = rows.row(0).iter().zip(rows.row(4)).map(|(a, b)| a * b).sum();
        assert!((cosine - 0.5f32.sqrt()).abs() < 1e-4, "one of two neighbours in common: {cosine}");
    }

    #[test]
    fn a_new_node_is_seen_through_the_old_basis() {
        let basis = Basis::fit(View::Adjacency, &path(), &Features::none(4), 4);
        let (larger, _) = Graph::from_edges(5, &[(0, 1), (1, 2), (3, 2), (4, 1)]).unwrap();
        let mut known = all_known(4);
        known.push(None);
        let rows = basis.rows(&larger, &Features::none(5), &known);
        assert!(rows.row(0).iter().zip(rows.row(4)).all(|(a, b)| (a - b).abs() < 1e-5), "like node 0");
    }

    #[test]
    fn a_neighbour_that_few_have_says_more() {
        let neighbour_rows = NeighbourRows::fit(&path());
        let rows = neighbour_rows.rows(&path(), &all_known(4)).to_dense();
        let (one, two, three) = (1.0, 0.5f32.sqrt().sqrt(), 1.0 / 3f32.sqrt().sqrt());
        assert_eq!(rows.row(1), [one, 0.0, two, 0.0]);
        let (fewer, _) = Graph::from_edges(4, &[(0, 1)]).unwrap();
        let rows = neighbour_rows.rows(&fewer, &all_known(4)).to_dense();
        assert_eq!(rows.row(0), [0.0, two, 0.0, 0.0], "as many had it in the training graph");
        let (more, _) = Graph::from_edges(5, &[(0, 1), (1, 2), (3, 2), (4, 1)]).unwrap();
        let mut known = all_known(4);
        known.push(None);
        let rows = neighbour_rows.rows(&more, &known).to_dense();
        assert_eq!(rows.row(4), [0.0, three, 0.0, 0.0], "more have it than in the training graph");
        assert_eq!(rows.row(1), [one, 0.0, two, 0.0], "who is not known has no column");
        let (weighted, _) = Graph::build(4, &[(0, 1), (1, 2), (3, 2)], Some(&[8.0; 3]), false).unwrap();
        let rows = NeighbourRows::fit(&weighted).rows(&weighted, &all_known(4)).to_dense();
        assert_eq!(rows.row(1), [one, 0.0, two, 0.0], "the unit of weights does not matter");
    }

    #[test]
    fn no_features_give_rows_without_columns() {
        let features = Features::none(4);
        let basis = Basis::fit(View::Features, &path(), &features, 8);
        assert_eq!(basis.rows(&path(), &features, &all_known(4)).shape(), (4, 0));
    }
}
