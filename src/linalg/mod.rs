//! Dense and sparse kernels. Nothing in here knows what a graph is.

mod eigen;
mod mat;
mod search;
mod sparse;
mod tall;

pub use eigen::{EigenOptions, Eigenpairs, SymmetricOperator, leading_eigenpairs};
pub use mat::{Mat, release_buffers};
pub use search::{neighbours, neighbours_between};
pub use sparse::{Pattern, SparseMat};
