//! Adaptive graph convolution (Zhang et al. 2019): features smoothed over the given graph, then clustered.
//!
//! `X̄ = (I - L/2)^k X` with `L = I - D^-1/2 (A + I) D^-1/2`, so one step is the mean of a row and its convolution. After
//! each step the rows are clustered by the leading left singular vectors of `X̄`; smoothing ends as soon as rows of
//! a cluster are no closer together than a step before. No labels are used.
//! Cost per step: `O(edges d)`, a truncated SVD and k-means.

use super::kmeans::{kmeans, spread};
use super::spectral::leading;
use crate::graph::{Features, Graph, normalise};
use crate::linalg::{EigenOptions, LinearMap, Mat, truncated_svd};

/// Steps of smoothing, at most.
const STEPS: usize = 60;
/// Directions of the features that are smoothed: the others carry next to nothing.
const DIRECTIONS: usize = 128;

/// The group of each node, `0..groups`.
pub fn agc(graph: &Graph, features: &Features, groups: usize, seed: u64) -> Vec<u32> {
    let propagation = normalise::symmetric_with_self_loops(&graph.to_undirected());
    let mut rows = reduced(features);
    let mut best: Option<(f64, Vec<u32>)> = None;
    for _ in 0..STEPS {
        let convolved = LinearMap::apply(&propagation, &rows);
        rows.as_mut_slice().iter_mut().zip(convolved.as_slice()).for_each(|(row, c)| *row = 0.5 * (*row + c));
        let found = kmeans(&leading(&rows, groups), groups, seed);
        let inner = spread(&rows, &found, groups);
        match &best {
            Some((before, _)) if inner > *before => break,
            _ => best = Some((inner, found)),
        }
    }
    best.map_or_else(|| vec![0; graph.num_nodes()], |(_, found)| found)
}

/// The features in their leading directions, which keep distances up to what is cut off.
fn reduced(features: &Features) -> Mat {
    let of = |matrix: &dyn LinearMap| {
        let rank = DIRECTIONS.min(matrix.rows()).min(matrix.cols());
        matrix.apply(&truncated_svd(matrix, rank, &EigenOptions::default()).right)
    };
    match normalise::row_normalised(features) {
        Features::Dense(mat) => of(&mat),
        Features::Sparse(mat) => of(&mat),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scores::ClusterScores;
    use crate::graph::synth::SynthConfig;

    #[test]
    fn classes_of_a_homophilic_graph_are_found_without_labels() {
        let config = SynthConfig { nodes: 300, homophily: 0.9, ..SynthConfig::default() };
        let dataset = config.generate(0).unwrap();
        let found = agc(dataset.graph(), dataset.features(), dataset.num_classes(), 0);
        let labels = dataset.labels();
        let pairs: Vec<(u32, u32)> =
            (0..300).filter_map(|node| Some((labels.get(node)?, found[node]))).collect();
        let scores = ClusterScores::of(&pairs).unwrap();
        assert!(scores.accuracy > 70.0, "{scores:?}");
    }
}
