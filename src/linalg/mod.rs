//! Dense and sparse kernels. Nothing in here knows what a graph is.

pub(crate) mod contrast;
pub(crate) mod elementwise;
mod gemm;
mod mat;
pub(crate) mod parallel;
pub mod random;
pub(crate) mod simd;
mod sparse;
mod spmm;

pub use gemm::{matmul, matmul_nt, matmul_tn};
pub use mat::{Mat, release_buffers};
pub use sparse::{Pattern, SparseMat};
pub use spmm::{sddmm, spmm, spmm_t};
