//! What flipping each pair of nodes would do to the attack loss, scanned in tiles with a running best.
//!
//! With `g = G Yᵀ + (ÂG) Xᵀ` the gradient by `Â` (see [`super::surrogate`]) and `d` the degrees of `A + I`, moving both
//! entries of a pair moves the loss by
//!
//! ```text
//! (g_uv + g_vu) / √(d_u d_v) + c_u + c_v,        c_u = -Σ_w Â_uw (g_uw + g_wu) / (2 d_u)
//! ```
//!
//! where `c` is how the normalisation answers. `Σ_w Â_uw (g_uw + g_wu)` is `<G,M> + 2<ÂG,Y> + <Â²G,X>` at row `u`, so
//! it needs no pair at all. `g` is an inner product of `2C` numbers plus, through the labelled nodes, a sparse row
//! (the labelled neighbours of `u`, and `u` itself) times columns of `X Rᵀ` and `ÂX Rᵀ`.
//!
//! Cost: `N² (4C + 2)` flops for the short codes and `2 N nnz(Â_L)` for the sparse rows; memory `O(N L)`. Tiles are fixed
//! and candidates totally ordered: the same bits on any number of threads.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

use super::input::product;
use super::surrogate::{Factors, dot};
use crate::graph::Graph;
use crate::linalg::parallel::{fill_rows, map_chunks};
use crate::linalg::simd::{self, vectorised};
use crate::linalg::tall::view;
use crate::linalg::{Mat, Pattern, SparseMat};

/// Nodes per side of a tile: two tiles and a block of every column stay in the second-level cache.
const BLOCK: usize = 128;

/// A pair of nodes and what flipping it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub gain: f32,
    /// `(low, high)`.
    pub pair: (u32, u32),
}

/// Which pairs may be flipped.
pub(super) struct Rules<'a> {
    /// The graph as it is now.
    pub graph: &'a Graph,
    /// For every node, the higher nodes with which its pair must stay as it is.
    pub closed: &'a [Vec<u32>],
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

/// The scores of all pairs, in factors.
pub(super) struct Scores {
    /// `[N, 4C+2]` each: the score of a pair is `<left_u, right_v>` plus what comes through the labelled nodes.
    left: Mat,
    right: Mat,
    /// `[N, 2L]`: labelled neighbours, and labelled nodes themselves.
    sparse: SparseMat,
    /// `[2L, N]`: `X Rᵀ` above `ÂX Rᵀ`, both transposed and scaled.
    dense: Mat,
}

impl Scores {
    /// `places` tells where a node stands among the labelled ones.
    pub(super) fn new(propagation: &SparseMat, factors: &Factors, places: &[Option<u32>]) -> Self {
        let (nodes, columns) = factors.training.shape();
        let scale: Vec<f32> = (0..nodes).map(|node| 1.0 / degree(propagation, node).sqrt()).collect();
        let labelled = labelled_columns(propagation, places, columns);
        let further = product(propagation, &factors.training); // ÂX Rᵀ [N, L]
        let corrections = corrections(propagation, &labelled, factors, &further, places);
        let mut dense = Mat::scratch(2 * columns, nodes);
        transpose_scaled(&mut dense, &factors.training, &further, &scale);
        let [errors, errors_once, _] = &factors.errors;
        let [readings, readings_once, _] = &factors.readings;
        let (left, right) =
            ([errors, errors_once, readings_once, readings], [readings_once, readings, errors, errors_once]);
        Scores {
            left: codes(left, &scale, |node| [corrections[node], 1.0]),
            right: codes(right, &scale, |node| [1.0, corrections[node]]),
            sparse: through_labelled(&labelled, places, &scale),
            dense,
        }
    }

    /// The `count` best flips, the best first; of equal ones the lower pair. Fewer if there are not as many.
    pub(super) fn best(&self, count: usize, rules: &Rules<'_>) -> Vec<Candidate> {
        let nodes = self.left.rows();
        let strips: Vec<usize> = (0..nodes).step_by(BLOCK).collect();
        let found: Vec<Best> =
            strips.into_par_iter().map(|first| self.scan_strip(first, count, rules)).collect();
        let mut best = Best::new(count);
        best.found = found.into_iter().flat_map(|part| part.found).collect();
        best.trim();
        best.found.sort_unstable_by(by_rank);
        best.found
    }

    /// All pairs whose lower node is in the block that begins at `first`.
    fn scan_strip(&self, first: usize, count: usize, rules: &Rules<'_>) -> Best {
        let nodes = self.left.rows();
        let rows = first..nodes.min(first + BLOCK);
        let mut best = Best::new(count);
        let (mut tile, mut back) = (vec![0.0; BLOCK * BLOCK], vec![0.0; BLOCK * BLOCK]);
        for start in (first..nodes).step_by(BLOCK) {
            let cols = start..nodes.min(start + BLOCK);
            self.fill(&mut tile, &mut back, &rows, &cols);
            for (line, node) in tile.chunks_exact_mut(cols.len()).zip(rows.clone()) {
                rules.apply(line, node, &cols);
                let skipped = (node + 1).saturating_sub(cols.start);
                best.show(&line[skipped.min(cols.len())..], node as u32, (cols.start + skipped) as u32);
            }
        }
        best.trim();
        best
    }

    /// The gradients of a tile of pairs, row-major.
    fn fill(&self, tile: &mut [f32], back: &mut [f32], rows: &Range<usize>, cols: &Range<usize>) {
        let (height, width) = (rows.len(), cols.len());
        let (tile, back) = (&mut tile[..height * width], &mut back[..height * width]);
        let block = |mat, range: &Range<usize>| view(mat).subrows(range.start, range.len());
        let out = MatMut::from_row_major_slice_mut(&mut *tile, height, width);
        let (left, right) = (block(&self.left, rows), block(&self.right, cols));
        matmul(out, Accum::Replace, left, right.transpose(), 1.0, Par::Seq);
        self.add_labelled(tile, rows, cols);
        back.fill(0.0);
        self.add_labelled(back, cols, rows);
        for (col, line) in back.chunks_exact(height).enumerate() {
            for (row, value) in line.iter().enumerate() {
                tile[row * width + col] += value;
            }
        }
    }

    /// Adds what comes through the labelled nodes: `sparse[rows, :] x dense[:, cols]`.
    fn add_labelled(&self, tile: &mut [f32], rows: &Range<usize>, cols: &Range<usize>) {
        let (dense, nodes) = (self.dense.as_slice(), self.dense.cols());
        vectorised(
            #[inline(always)]
            || {
                for (line, node) in tile.chunks_exact_mut(cols.len()).zip(rows.clone()) {
                    let places = self.sparse.pattern.row_range(node);
                    let indices = &self.sparse.pattern.indices()[places.clone()];
                    for (&index, &value) in indices.iter().zip(&self.sparse.values[places]) {
                        simd::axpy(line, value, &dense[index as usize * nodes + cols.start..][..cols.len()]);
                    }
                }
            },
        );
    }
}

impl Rules<'_> {
    /// Turns one row of gradients into gains: an edge goes instead of coming, what must not be flipped is worth least.
    fn apply(&self, line: &mut [f32], node: usize, cols: &Range<usize>) {
        let neighbours = self.graph.neighbours(node);
        let begin = neighbours.partition_point(|&other| (other as usize) < cols.start);
        let within =
            neighbours[begin..].iter().map(|&other| other as usize).take_while(|other| *other < cols.end);
        for other in within {
            let value = &mut line[other - cols.start];
            let last = self.graph.degree(node) <= 1 || self.graph.degree(other) <= 1;
            *value = if last && !self.may_isolate { f32::NEG_INFINITY } else { -*value };
        }
        for &other in &self.closed[node] {
            if cols.contains(&(other as usize)) {
                line[other as usize - cols.start] = f32::NEG_INFINITY;
            }
        }
    }
}

/// Rows of four factors, scaled, and two numbers more.
fn codes(factors: [&Mat; 4], scale: &[f32], more: impl Fn(usize) -> [f32; 2]) -> Mat {
    let width: usize = factors.iter().map(|factor| factor.cols()).sum();
    let mut out = Mat::scratch(scale.len(), width + 2);
    for (node, &scale) in scale.iter().enumerate() {
        let entries = factors.iter().flat_map(|factor| factor.row(node)).map(|value| value * scale);
        out.row_mut(node).iter_mut().zip(entries.chain(more(node))).for_each(|(out, value)| *out = value);
    }
    out
}

/// The labelled columns of `Â`: `[N,L]`.
fn labelled_columns(propagation: &SparseMat, places: &[Option<u32>], columns: usize) -> SparseMat {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in 0..propagation.rows() {
        for (other, value) in propagation.row(node) {
            if let Some(place) = places[other as usize] {
                indices.push(place);
                values.push(value);
            }
        }
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(propagation.rows(), columns, indptr, indices)), values)
}

/// `[N, 2L]`: the labelled columns of `Â`, and a labelled node itself once more in the second half, all scaled.
fn through_labelled(labelled: &SparseMat, places: &[Option<u32>], scale: &[f32]) -> SparseMat {
    let columns = labelled.cols();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (node, &scale) in scale.iter().enumerate() {
        let own = places[node].map(|place| (columns as u32 + place, 1.0));
        for (place, value) in labelled.row(node).chain(own) {
            indices.push(place);
            values.push(value * scale);
        }
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(scale.len(), 2 * columns, indptr, indices)), values)
}

/// Two matrices `[N,L]` with their rows scaled, transposed, one above the other: `[2L,N]`.
fn transpose_scaled(out: &mut Mat, upper: &Mat, lower: &Mat, scale: &[f32]) {
    let (nodes, columns) = upper.shape();
    fill_rows(out.as_mut_slice(), nodes, nodes, |first, part| {
        let lines = part.len() / nodes;
        for (node, scale) in scale.iter().enumerate() {
            for line in 0..lines {
                let row = first + line;
                let from = if row < columns { upper.row(node)[row] } else { lower.row(node)[row - columns] };
                part[line * nodes + node] = from * scale;
            }
        }
    });
}

/// `c`, by node.
fn corrections(
    propagation: &SparseMat,
    labelled: &SparseMat,
    factors: &Factors,
    further: &Mat,
    places: &[Option<u32>],
) -> Vec<f32> {
    let [errors, errors_once, errors_twice] = &factors.errors;
    let [readings, readings_once, readings_twice] = &factors.readings;
    let through = through_training(propagation, labelled, factors, further);
    let of = |node: usize| {
        let low_rank = dot(errors.row(node), readings_twice.row(node))
            + 2.0 * dot(errors_once.row(node), readings_once.row(node))
            + dot(errors_twice.row(node), readings.row(node));
        let own = places[node].map_or(0.0, |place| factors.at_labelled[place as usize]);
        -(low_rank + own + through[node]) / (2.0 * degree(propagation, node))
    };
    (0..propagation.rows()).map(of).collect()
}

/// A node's degree in `A + I`.
fn degree(propagation: &SparseMat, node: usize) -> f32 {
    propagation.pattern.row_range(node).len() as f32
}

/// `2<ÂG,Y> + <Â²G,X>` at every node for the part of `G` at the labelled nodes:
/// `Σ_j 2 Â_uj (ÂX Rᵀ)_uj + (Â²)_uj (X Rᵀ)_uj`.
fn through_training(
    propagation: &SparseMat,
    labelled: &SparseMat,
    factors: &Factors,
    further: &Mat,
) -> Vec<f32> {
    let mean_degree = propagation.pattern.nnz() / propagation.rows().max(1);
    let of = |node: usize, reach: &mut [f32]| {
        reach.fill(0.0);
        for (other, outer) in propagation.row(node) {
            for (place, inner) in labelled.row(other as usize) {
                reach[place as usize] += outer * inner;
            }
        }
        let once: f32 =
            labelled.row(node).map(|(place, value)| value * further.row(node)[place as usize]).sum();
        2.0 * once + dot(reach, factors.training.row(node))
    };
    let parts = map_chunks(propagation.rows(), labelled.cols() + mean_degree * mean_degree, |range| {
        let mut reach = vec![0.0; labelled.cols()]; // a row of Â², labelled columns only
        range.map(|node| of(node, &mut reach)).collect::<Vec<f32>>()
    });
    parts.concat()
}

/// The best so far.
struct Best {
    count: usize,
    /// Gains below this cannot be kept any more.
    bar: f32,
    found: Vec<Candidate>,
}

impl Best {
    fn new(count: usize) -> Self {
        Best { count, bar: f32::MIN, found: Vec::new() }
    }

    /// Keeps those of a row that reach the bar.
    fn show(&mut self, gains: &[f32], low: u32, first: u32) {
        let bar = self.bar;
        let hits = vectorised(
            #[inline(always)]
            move || gains.iter().map(|&gain| u32::from(gain >= bar)).sum::<u32>(),
        );
        if hits == 0 {
            return;
        }
        for (high, &gain) in (first..).zip(gains) {
            if gain >= self.bar {
                self.found.push(Candidate { gain, pair: (low, high) });
            }
        }
        if self.found.len() >= 2 * self.count.max(BLOCK) {
            self.trim();
        }
    }

    /// Drops all but the best and raises the bar.
    fn trim(&mut self) {
        if self.found.len() > self.count {
            let (_, worst, _) = self.found.select_nth_unstable_by(self.count - 1, by_rank);
            self.bar = worst.gain;
            self.found.truncate(self.count);
        }
    }
}

/// Higher gain first, then the lower pair. Gains that reached a bar are not NaN.
fn by_rank(a: &Candidate, b: &Candidate) -> Ordering {
    b.gain.partial_cmp(&a.gain).unwrap_or(Ordering::Equal).then(a.pair.cmp(&b.pair))
}
