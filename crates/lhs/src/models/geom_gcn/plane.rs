//! Places for the nodes of a graph in the plane, from the edges alone, the same however the nodes are numbered.
//!
//! `isomap`: classical scaling of the hop distances to landmarks (Tenenbaum et al. 2000; de Silva and Tenenbaum 2004).
//! With squared distances `D` among the landmarks, `-½ J D J = V Λ Vᵀ`, a node with squared distances `d` to them lies at
//! `½ Λ^-½ Vᵀ (mean of D's rows - d)`. Pairs without a path are one hop further apart than any with one.
//! `spectral`: the second and third eigenvector of `D^-½ (A + τ/n 11ᵀ) D^-½`, divided by the square root of the degrees;
//! `τ`, the mean degree, joins the components a little (Qin and Rohe 2013), without which each would have an axis.
//!
//! Axes go by descending eigenvalue and point to where the longer tail of the nodes lies. Cost: `O(landmarks * edges)`,
//! or some tens of products with the adjacency matrix; memory `O(landmarks * n)` bytes.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::graph::Graph;
use crate::linalg::{EigenOptions, Eigenpairs, Mat, SymmetricOperator, leading_eigenpairs, matmul, spmm};
use crate::models::parts::fingerprint;

/// How nodes are put into the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Embedding {
    /// By hop distances.
    Isomap,
    /// By the leading eigenvectors of the normalised adjacency matrix.
    Spectral,
}

/// Landmarks of the hop distances: graphs up to this size are scaled exactly.
const LANDMARKS: usize = 300;
/// Stands for a pair without a path.
const NO_PATH: u8 = u8::MAX;

/// A place for every node, `[n, 2]`; direction is ignored.
pub fn places(graph: &Graph, embedding: Embedding) -> Mat {
    let graph = graph.to_undirected();
    let mut places = match embedding {
        Embedding::Isomap => isomap(&graph),
        Embedding::Spectral => spectral(&graph),
    };
    for axis in 0..2 {
        turn(&mut places, axis, &graph);
    }
    places
}

fn isomap(graph: &Graph) -> Mat {
    let landmarks = landmarks(graph);
    let hops: Vec<Vec<u8>> = landmarks.par_iter().map(|&landmark| hops_from(graph, landmark)).collect();
    let farthest = hops.iter().flatten().filter(|&&hops| hops != NO_PATH).max().map_or(0, |&hops| hops);
    let square = |hops: u8| {
        let distance = if hops == NO_PATH { f64::from(farthest) + 1.0 } else { f64::from(hops) };
        distance * distance
    };
    let count = landmarks.len();
    let means: Vec<f64> = hops
        .iter()
        .map(|hops| landmarks.iter().map(|&other| square(hops[other as usize])).sum::<f64>() / count as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / count.max(1) as f64;
    let centred = Mat::from_fn(count, count, |row, col| {
        let square = square(hops[row][landmarks[col] as usize]);
        (-0.5 * (square - means[row] - means[col] + mean)) as f32
    });
    let pairs = leading_eigenpairs(&Known(centred), count, &EigenOptions::default());
    // Hop distances fit into no space exactly: what does not is in the negative eigenvalues.
    let floor = 1e-5 * pairs.values.first().map_or(0.0, |value| value.abs());
    let axes: Vec<usize> = (0..count).filter(|&axis| pairs.values[axis] > floor).take(2).collect();
    Mat::from_fn(graph.num_nodes(), 2, |node, axis| {
        let Some(&axis) = axes.get(axis) else { return 0.0 };
        let along = (0..count).map(|landmark| {
            let nearer = means[landmark] - square(hops[landmark][node]);
            nearer * f64::from(pairs.vectors.get(landmark, axis))
        });
        (0.5 * along.sum::<f64>() / f64::from(pairs.values[axis]).sqrt()) as f32
    })
}

/// All nodes, or a sample of them that does not depend on their numbers.
fn landmarks(graph: &Graph) -> Vec<u32> {
    let prints = fingerprint::of_shape(graph);
    let mut nodes: Vec<u32> = (0..graph.num_nodes() as u32).collect();
    nodes.sort_by_key(|&node| prints[node as usize]);
    nodes.truncate(LANDMARKS);
    nodes
}

/// Hops from one node to all, breadth first.
fn hops_from(graph: &Graph, start: u32) -> Vec<u8> {
    let mut hops = vec![NO_PATH; graph.num_nodes()];
    hops[start as usize] = 0;
    let mut queue = vec![start];
    let mut next = 0;
    while let Some(&node) = queue.get(next) {
        next += 1;
        let further = hops[node as usize].saturating_add(1).min(NO_PATH - 1);
        for &other in graph.neighbours(node as usize) {
            if hops[other as usize] == NO_PATH {
                hops[other as usize] = further;
                queue.push(other);
            }
        }
    }
    hops
}

/// A matrix that is written out.
struct Known(Mat);

impl SymmetricOperator for Known {
    fn dim(&self) -> usize {
        self.0.rows()
    }

    fn apply(&self, block: &Mat) -> Mat {
        matmul(&self.0, block)
    }
}

fn spectral(graph: &Graph) -> Mat {
    let walk = Walk::on(graph);
    let options = EigenOptions { tolerance: 1e-5, ..EigenOptions::default() };
    let Eigenpairs { vectors, .. } = leading_eigenpairs(&walk, 3, &options);
    // The first one says only how many edges a node has.
    Mat::from_fn(graph.num_nodes(), 2, |node, axis| {
        let axis = axis + 1;
        if axis < vectors.cols() { vectors.get(node, axis) * walk.scale[node] } else { 0.0 }
    })
}

/// `½ I + ½ D^-½ (A + τ/n 11ᵀ) D^-½`: the shift leaves no eigenvalue negative.
struct Walk<'a> {
    graph: &'a Graph,
    ones: Vec<f32>,
    scale: Vec<f32>,
    everybody: f32,
}

impl<'a> Walk<'a> {
    fn on(graph: &'a Graph) -> Self {
        let nodes = graph.num_nodes().max(1) as f32;
        let mean = (graph.adjacency().nnz() as f32 / nodes).max(1.0);
        let scale =
            (0..graph.num_nodes()).map(|node| 1.0 / (graph.degree(node) as f32 + mean).sqrt()).collect();
        Walk { graph, ones: vec![1.0; graph.adjacency().nnz()], scale, everybody: mean / nodes }
    }

    fn scaled(&self, block: &Mat) -> Mat {
        Mat::from_fn(block.rows(), block.cols(), |row, col| self.scale[row] * block.get(row, col))
    }
}

impl SymmetricOperator for Walk<'_> {
    fn dim(&self) -> usize {
        self.graph.num_nodes()
    }

    fn apply(&self, block: &Mat) -> Mat {
        let scaled = self.scaled(block);
        let mut walked = spmm(self.graph.adjacency(), &self.ones, &scaled);
        let mut total = vec![0f64; block.cols()];
        for row in 0..block.rows() {
            total.iter_mut().zip(scaled.row(row)).for_each(|(total, &x)| *total += f64::from(x));
        }
        for row in 0..block.rows() {
            for (x, total) in walked.row_mut(row).iter_mut().zip(&total) {
                *x += self.everybody * *total as f32;
            }
        }
        let walked = self.scaled(&walked);
        Mat::from_fn(block.rows(), block.cols(), |row, col| {
            0.5 * (block.get(row, col) + walked.get(row, col))
        })
    }
}

/// Turns an axis to where the longer tail of the nodes lies; where both are equally long, to nodes of more edges.
fn turn(places: &mut Mat, axis: usize, graph: &Graph) {
    let sum = |term: &dyn Fn(usize, f64) -> f64| -> f64 {
        (0..places.rows()).map(|node| term(node, f64::from(places.get(node, axis)))).sum()
    };
    let (tail, size) = (sum(&|_, x| x * x * x), sum(&|_, x| (x * x * x).abs()));
    let side = if tail.abs() > 1e-3 * size { tail } else { sum(&|node, x| x * graph.degree(node) as f64) };
    if side < 0.0 {
        for node in 0..places.rows() {
            places.row_mut(node)[axis] *= -1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_on_a_line_with_its_distances() {
        let edges: Vec<(u32, u32)> = (0..6).map(|node| (node, node + 1)).collect();
        let places = places(&Graph::from_edges(7, &edges).unwrap().0, Embedding::Isomap);
        for node in 0..7 {
            assert!((places.get(node, 0).abs() - (node as f32 - 3.0).abs()).abs() < 1e-3, "{places:?}");
            assert!(places.get(node, 1).abs() < 1e-2, "{places:?}");
        }
    }

    #[test]
    fn renumbering_moves_nobody() {
        // Two cliques of different size, a bridge with a tail.
        let mut edges = vec![(3, 4), (4, 5), (4, 9), (9, 10), (10, 11)];
        edges.extend([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (5, 6), (5, 7), (6, 7), (7, 8)]);
        let order = [7u32, 3, 11, 0, 5, 9, 1, 8, 2, 10, 4, 6];
        let moved: Vec<_> = edges.iter().map(|&(a, b)| (order[a as usize], order[b as usize])).collect();
        for embedding in [Embedding::Isomap, Embedding::Spectral] {
            let here = places(&Graph::from_edges(12, &edges).unwrap().0, embedding);
            let there = places(&Graph::from_edges(12, &moved).unwrap().0, embedding);
            for (node, &to) in order.iter().enumerate() {
                for (a, b) in here.row(node).iter().zip(there.row(to as usize)) {
                    assert!((a - b).abs() < 1e-4, "{embedding:?}: {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn nodes_without_edges_and_two_parts_have_places() {
        for edges in [&[][..], &[(0, 1), (1, 2), (3, 4)]] {
            let graph = Graph::from_edges(6, edges).unwrap().0;
            for embedding in [Embedding::Isomap, Embedding::Spectral] {
                let places = places(&graph, embedding);
                assert_eq!(places.shape(), (6, 2));
                assert!(places.as_slice().iter().all(|x| x.is_finite()), "{embedding:?} {places:?}");
            }
        }
    }
}
