//! The graph that joins each node with those whose features are nearest to its own.

use crate::graph::Features;
use crate::linalg::{SparseMat, neighbours};
use crate::structure::views::to_unit_rows;

/// For every node, the `k` others of highest positive cosine between the features, `[n,n]`, values the cosines; nodes
/// without features have none. Exact, in tiles: cost `O(n² F)`, memory `O(n (F + k))`.
pub fn nearest(features: &Features, k: usize) -> SparseMat {
    let mut rows = match features {
        Features::Dense(mat) => mat.clone(),
        Features::Sparse(mat) => mat.to_dense(),
    };
    to_unit_rows(&mut rows);
    neighbours(&rows, f32::MIN_POSITIVE, Some(k))
}

/// A matrix made symmetric: an entry stands where it stood on either side, the larger value kept.
pub fn symmetric(mat: &SparseMat) -> SparseMat {
    let mut entries: Vec<(u32, u32, f32)> = (0..mat.rows())
        .flat_map(|row| mat.row(row).map(move |(col, value)| (row as u32, col, value)))
        .flat_map(|(row, col, value)| [(row, col, value), (col, row, value)])
        .collect();
    entries.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
    entries.dedup_by_key(|entry| (entry.0, entry.1));
    SparseMat::from_triplets(mat.rows(), mat.cols(), entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn the_nearest_by_angle_are_joined_both_ways() {
        let rows = [1.0, 0.0, 2.0, 0.1, 0.0, 1.0, 0.1, 0.9, 0.0, 0.0];
        let features = Features::from_dense(Mat::from_slice(5, 2, &rows));
        let found = nearest(&features, 1);
        let partner = |row: usize| found.row(row).map(|(col, _)| col).collect::<Vec<_>>();
        assert_eq!([partner(0), partner(1), partner(2), partner(3)], [[1], [0], [3], [2]].map(Vec::from));
        assert!(partner(4).is_empty(), "a node without features is near to none");
        let both = symmetric(&found).to_dense();
        assert_eq!(both, both.transposed());
    }
}
