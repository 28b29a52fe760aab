//! Spectral clustering: rows are joined to their nearest others, and the graph is cut where few edges cross.
//!
//! The leading eigenvectors of `D^-1/2 (A + I) D^-1/2`, rows scaled to length 1, are clustered by k-means (Ng, Jordan and
//! Weiss 2002). Cost: an exact search of neighbours, some eigenpairs of a sparse matrix, and k-means.

use super::kmeans::kmeans;
use crate::error::Result;
use crate::graph::normalise;
use crate::linalg::{EigenOptions, LinearMap, Mat, truncated_svd};
use crate::structure::latent_graph::latent_graph;
use crate::structure::views::to_unit_rows;

/// Neighbours per row.
const NEIGHBOURS: usize = 10;

/// The group of each row, `0..groups`.
pub(super) fn spectral(rows: &Mat, groups: usize, seed: u64) -> Result<Vec<u32>> {
    let mut directions = rows.clone();
    to_unit_rows(&mut directions);
    let graph = latent_graph(&directions, 0.0, Some(NEIGHBOURS))?;
    let normalised = normalise::symmetric_with_self_loops(&graph);
    Ok(kmeans(&leading(&normalised, groups), groups, seed))
}

/// The leading left singular vectors, rows of length 1.
pub(super) fn leading(matrix: &dyn LinearMap, groups: usize) -> Mat {
    let rank = groups.min(matrix.rows()).min(matrix.cols());
    let mut rows = truncated_svd(matrix, rank, &EigenOptions::default()).left;
    to_unit_rows(&mut rows);
    rows
}
