//! Dense and sparse kernels. Nothing in here knows what a graph is.

mod mat;
mod search;
mod sparse;

pub use mat::{Mat, release_buffers};
pub use search::{neighbours, neighbours_between};
pub use sparse::{Pattern, SparseMat};
