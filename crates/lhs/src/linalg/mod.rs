//! Dense and sparse kernels. Nothing in here knows what a graph is.

pub(crate) mod attention;
pub(crate) mod contrast;
pub(crate) mod crosswise;
mod eigen;
pub(crate) mod elementwise;
mod gemm;
mod inverse;
mod lists;
mod mat;
mod narrow;
pub(crate) mod parallel;
pub mod random;
pub(crate) mod recurrent;
mod ridge;
mod search;
mod shrink;
pub(crate) mod simd;
mod sparse;
mod spmm;
mod svd;
pub(crate) mod tall;

pub use eigen::{EigenOptions, Eigenpairs, SymmetricOperator, leading_eigenpairs};
pub use gemm::{matmul, matmul_nt, matmul_tn};
pub use inverse::inverse;
pub use lists::{Found, neighbours_in_lists};
pub use mat::{Mat, SharedEntries, release_all_buffers, release_buffers};
pub use narrow::matmul_narrow;
pub use ridge::{Ridge, hat_diagonal, whitening};
pub use search::{Likeness, neighbours, neighbours_among, neighbours_of};
pub use shrink::Shrinker;
pub use sparse::{Pattern, SparseMat};
pub use spmm::{dots_at, sddmm, spmm, spmm_t, transposed_values};
pub use svd::{LinearMap, Svd, truncated_svd};
