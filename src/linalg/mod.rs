//! Dense and sparse kernels. Nothing in here knows what a graph is.

mod mat;
mod sparse;

pub use mat::{Mat, release_buffers};
pub use sparse::{Pattern, SparseMat};
