//! Dense and sparse kernels. Nothing in here knows what a graph is.

mod eigen;
mod mat;
mod ridge;
mod search;
mod sparse;
mod svd;
mod tall;

pub use eigen::{EigenOptions, Eigenpairs, SymmetricOperator, leading_eigenpairs};
pub use mat::{Mat, release_buffers};
pub use ridge::{Ridge, hat_diagonal};
pub use search::{neighbours, neighbours_between};
pub use sparse::{Pattern, SparseMat};
pub use svd::{LinearMap, Svd, truncated_svd};
