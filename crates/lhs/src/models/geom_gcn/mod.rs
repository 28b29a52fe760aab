//! Geometric graph convolution network: neighbours in the graph and in the plane, told apart by the direction in which
//! they lie (Pei et al. 2020, "Geom-GCN").
//!
//! Every node gets a place in the plane from the edges alone. Its neighbours are those that the graph joins to it and,
//! as many on average, those nearest in the plane; each of both kinds is divided into four cells by direction. A layer
//! has a weight for each cell and one for the node itself: `H' = relu(‖_c D^-½ A_c D^-½ H W_c)`; the last layer takes the
//! mean over the cells instead. Cost per epoch: `O(nnz(X) * 9 hidden + edges * hidden)`.
//!
//! Departs from the paper: hop distances are scaled classically, over landmarks where the graph is large, and the second
//! choice of embedding is spectral instead of hyperbolic, because both follow a renumbering of the nodes and can be
//! computed again on a changed graph. Nodes at one place have no direction and go to the first cell; where so many share
//! a place that far more pairs would be near than the graph has edges, they are left out.

mod plane;

use crate::training::memory_plan::{Amounts, DataSizes, product};
use std::sync::Arc;

pub use self::plane::Embedding;
use super::architecture::{Architecture, Sizes, TAPE_COPIES};
use super::parts::{ParamBuilder, ParamReader, side_by_side};
use super::settings::network_settings;
use super::{ModelInfo, SearchSpace, settings};
use crate::autograd::{Sparse, Var};
use crate::error::Result;
use crate::graph::components::Components;
use crate::graph::{Features, Graph};
use crate::linalg::{Mat, SparseMat};
use crate::training::{Auto, Input, MemoKey, Parameters, Session, TrainingConfig, dropout_before};

/// Directions that neighbours are divided by.
const DIRECTIONS: usize = 4;
/// Four directions in the graph, four in the plane, and the node itself.
const CELLS: usize = 2 * DIRECTIONS + 1;
/// Places nearer than this share of the extent are one place: rounding must not decide on a direction.
const SAME: f32 = 1e-4;
/// How many times as many pairs as edges may be near before those that tie for the last place are left out.
const EXCESS: usize = 4;

network_settings! {
    /// Settings of the geometric network.
    pub struct GeomGcn {
        /// How the nodes get their places: `isomap` (hop distances) or `spectral`.
        pub embedding: Embedding = Embedding::Isomap,
    }
    shared {
        /// Width of each of the nine cells of the hidden layer, 1 or more.
        hidden: 16,
        dropout: 0.5,
        normalise_features: true,
        training: TrainingConfig {
            learning_rate: 0.05,
            weight_decay: Auto::Given(5e-6),
            ..TrainingConfig::default()
        },
    }
}

impl ModelInfo for GeomGcn {
    const NAME: &'static str = "geom-gcn";
    const SUMMARY: &'static str =
        "geometric network: neighbours in the graph and in the plane by direction (Pei et al. 2020)";
    const READS_DIRECTION: bool = true;
    const PUBLISHED: &'static [&'static str] = &["hidden = 32\ntraining.weight_decay = 5e-5"];

    fn search() -> Vec<(&'static str, SearchSpace)> {
        settings::search([16, 32, 48], [("embedding", SearchSpace::choice(["isomap", "spectral"]))])
    }
}

/// A graph as the network reads it.
pub struct Prepared {
    input: Input,
    cells: Vec<Sparse>,
}

impl Architecture for GeomGcn {
    type Prepared = Prepared;

    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters {
        let mut builder = ParamBuilder::new(seed);
        for (layer, (from, to)) in
            [(sizes.features, self.hidden), (CELLS * self.hidden, sizes.classes)].into_iter().enumerate()
        {
            for cell in 0..CELLS {
                builder.weight(&format!("layer{layer}.cell{cell}"), from, to);
            }
        }
        builder.done()
    }

    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let width = product([CELLS, self.hidden]);
        Amounts {
            prepared: sizes.propagation() * 2usize + sizes.input(),
            parameters: width * sizes.features + width * product([CELLS, sizes.classes]),
            activations: width * sizes.nodes * TAPE_COPIES,
        }
    }

    fn prepare(&self, graph: &Graph, features: &Features, session: &mut Session<'_>) -> Result<Prepared> {
        let cells: Arc<Vec<SparseMat>> = session.shared(
            || MemoKey::new("geom-gcn").graph(graph).setting(self.embedding),
            |_| Ok(cells(graph, &plane::places(graph, self.embedding))),
        )?;
        let input = Input::scaled(features, self.normalise_features);
        Ok(Prepared { input, cells: cells.iter().map(Sparse::constant).collect() })
    }

    fn scores(&self, prepared: &Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        let mut reader = ParamReader::from(parameters);
        let (rate, seed) = dropout_before(0, self.dropout, dropout_seed);
        let transformed = prepared.input.dropout(rate, seed).matmul(&weights(&mut reader));
        let hidden = side_by_side(&aggregated(&prepared.cells, &transformed)).relu(); // [n, 9 hidden]
        let (rate, seed) = dropout_before(1, self.dropout, dropout_seed);
        let transformed = hidden.dropout(rate, seed).matmul(&weights(&mut reader));
        let sum = aggregated(&prepared.cells, &transformed).into_iter().reduce(|a, b| a.add(&b));
        sum.expect("there are nine cells").scale(1.0 / CELLS as f32)
    }
}

/// The weights of all cells side by side, so that one product serves them all.
fn weights(reader: &mut ParamReader<'_>) -> Var {
    let weights: Vec<Var> = (0..CELLS).map(|_| reader.one().clone()).collect();
    side_by_side(&weights)
}

/// What each cell gathers of its own columns.
fn aggregated(cells: &[Sparse], transformed: &Var) -> Vec<Var> {
    let width = transformed.cols() / CELLS;
    let of_cell = |(cell, neighbours): (usize, &Sparse)| {
        neighbours.matmul(&transformed.slice_cols(cell * width, width))
    };
    cells.iter().enumerate().map(of_cell).collect()
}

/// The neighbours of all nodes by cell, each `[n, n]`, scaled by the square roots of the numbers of neighbours.
fn cells(graph: &Graph, places: &Mat) -> Vec<SparseMat> {
    let same = SAME * extent(places);
    let mut entries: Vec<Vec<(u32, u32)>> = vec![Vec::new(); CELLS];
    let mut join = |kind: usize, node: u32, other: u32| {
        let direction = direction(places.row(node as usize), places.row(other as usize), same);
        entries[kind * DIRECTIONS + direction].push((node, other));
    };
    for node in 0..graph.num_nodes() as u32 {
        // An edge brings something to where it points.
        graph.neighbours(node as usize).iter().for_each(|&other| join(0, other, node));
    }
    let parts = Components::of(graph).of_node;
    for (a, b) in near_pairs(places, &parts, graph.to_undirected().num_edges(), same) {
        join(1, a, b);
        join(1, b, a);
    }
    entries[CELLS - 1] = (0..graph.num_nodes() as u32).map(|node| (node, node)).collect();
    scaled(graph.num_nodes(), entries)
}

fn scaled(num_nodes: usize, entries: Vec<Vec<(u32, u32)>>) -> Vec<SparseMat> {
    let mut count = vec![0f32; num_nodes];
    entries.iter().flatten().for_each(|&(node, _)| count[node as usize] += 1.0);
    let value = |a: u32, b: u32| 1.0 / (count[a as usize] * count[b as usize]).sqrt();
    let matrix = |entries: Vec<(u32, u32)>| {
        let triplets = entries.into_iter().map(|(a, b)| (a, b, value(a, b))).collect();
        SparseMat::from_triplets(num_nodes, num_nodes, triplets)
    };
    entries.into_iter().map(matrix).collect()
}

/// The quarter of the plane in which `other` lies, seen from `node`.
fn direction(node: &[f32], other: &[f32], same: f32) -> usize {
    let beyond = |axis: usize| usize::from(other[axis] - node[axis] > same);
    2 * beyond(0) + beyond(1)
}

/// The longer side of the box that holds all places.
fn extent(places: &Mat) -> f32 {
    let side = |axis: usize| {
        let along = (0..places.rows()).map(|node| places.get(node, axis));
        let (low, high) =
            along.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        (high - low).max(0.0)
    };
    side(0).max(side(1))
}

/// The pairs within connected parts that are nearer than the radius at which as many are near as the graph has edges.
/// Nothing in the edges says how near nodes without a path are.
fn near_pairs(places: &Mat, parts: &[u32], edges: usize, same: f32) -> Vec<(u32, u32)> {
    let sweep = Sweep::over(places, parts);
    let (mut low, mut high) = (same, 2.0 * extent(places) + same);
    if sweep.count(low, edges) < edges {
        while high - low > 0.1 * same {
            let middle = 0.5 * (low + high);
            if sweep.count(middle, edges) < edges { low = middle } else { high = middle }
        }
    } else {
        (low, high) = (0.0, low);
    }
    // Pairs that tie for the last place go together: all of them, unless they are too many.
    let limit = EXCESS * edges;
    let radius = if sweep.count(high + same, limit + 1) <= limit { high + same } else { low - same };
    let mut pairs = Vec::new();
    sweep.visit(radius, |a, b| {
        pairs.push((a, b));
        true
    });
    pairs
}

/// Nodes part by part, from left to right.
struct Sweep<'a> {
    places: &'a Mat,
    parts: &'a [u32],
    nodes: Vec<u32>,
}

impl<'a> Sweep<'a> {
    fn over(places: &'a Mat, parts: &'a [u32]) -> Self {
        let mut nodes: Vec<u32> = (0..places.rows() as u32).collect();
        let place = |node: u32| places.get(node as usize, 0);
        let part = |node: u32| parts[node as usize];
        nodes.sort_by(|&a, &b| part(a).cmp(&part(b)).then(place(a).total_cmp(&place(b))));
        Sweep { places, parts, nodes }
    }

    /// Shows every pair of a part within a radius to `visit` until it returns false.
    fn visit(&self, radius: f32, mut visit: impl FnMut(u32, u32) -> bool) {
        for (position, &node) in self.nodes.iter().enumerate() {
            let here = self.places.row(node as usize);
            for &other in &self.nodes[position + 1..] {
                let there = self.places.row(other as usize);
                let (dx, dy) = (there[0] - here[0], there[1] - here[1]);
                if dx > radius || self.parts[other as usize] != self.parts[node as usize] {
                    break;
                }
                if dx.hypot(dy) <= radius && !visit(node, other) {
                    return;
                }
            }
        }
    }

    /// How many pairs lie within a radius, counted up to `enough`.
    fn count(&self, radius: f32, enough: usize) -> usize {
        let mut count = 0;
        self.visit(radius, |_, _| {
            count += 1;
            count < enough
        });
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four nodes on a line, a step apart, but for the last, which is far away.
    fn line() -> Mat {
        Mat::from_slice(4, 2, &[0.0, 0.0, 1.0, 0.5, 2.0, 0.0, 9.0, 0.0])
    }

    #[test]
    fn neighbours_go_to_the_cell_of_their_direction() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 3)]).unwrap().0;
        let found = cells(&graph, &line());
        let rows = |cell: usize| -> Vec<(usize, u32)> {
            (0..4).flat_map(|node| found[cell].pattern.row(node).iter().map(move |&o| (node, o))).collect()
        };
        // Seen from 0, node 1 lies beyond it on both axes; from 1, node 3 only on the first.
        assert_eq!(
            [rows(0), rows(1), rows(2), rows(3)],
            [vec![(1, 0)], vec![(3, 1)], vec![(1, 3)], vec![(0, 1)]]
        );
        // As many pairs are near in the plane as there are edges, and node 2 is near nobody, without a path to them.
        assert_eq!(
            [rows(4), rows(5), rows(6), rows(7)],
            [vec![(1, 0)], vec![(3, 1)], vec![(1, 3)], vec![(0, 1)]]
        );
        assert_eq!(rows(8), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        // Node 0 counts 1 in the graph, 1 in the plane and itself, node 1 two, two and itself.
        assert!((found[3].values[0] - 1.0 / 15f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn an_edge_with_a_direction_is_read_where_it_points() {
        let graph = Graph::build(4, &[(0, 1)], None, true).unwrap().0;
        let found = cells(&graph, &line());
        let in_graph: usize = found[..DIRECTIONS].iter().map(|cell| cell.pattern.nnz()).sum();
        assert_eq!((in_graph, found[0].pattern.row(1)), (1, &[0u32][..]));
    }

    #[test]
    fn the_radius_takes_ties_together_and_crowds_not_at_all() {
        let square = Mat::from_slice(4, 2, &[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        assert_eq!(near_pairs(&square, &[0; 4], 1, 1e-4).len(), 4);
        // The sides join different parts, so the diagonals are nearest.
        assert_eq!(near_pairs(&square, &[0, 1, 1, 0], 1, 1e-4), [(0, 3), (1, 2)]);
        let crowd = Mat::from_fn(40, 2, |node, _| f32::from(u8::from(node == 0)));
        assert!(near_pairs(&crowd, &[0; 40], 40, 1e-4).is_empty());
        assert!(near_pairs(&square, &[0; 4], 0, 1e-4).is_empty());
    }
}
