//! The ops, by theme; each with its backward rules beside its forward.

mod activation;
mod arithmetic;
mod attention;
mod broadcast;
mod cosine_error;
mod dropout;
mod index;
mod info_nce;
mod loss;
mod lstm;
mod matmul;
mod pointer;
mod repulsion;
mod sparse;

pub use attention::{Attending, attend};
pub use info_nce::InfoNce;
pub use lstm::lstm;
pub use repulsion::repulsion;
pub use sparse::{Absent, Sparse, at_columns, at_rows, sampled_product};
