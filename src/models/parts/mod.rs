//! What several networks are made of, each part once.

pub mod attention;
pub mod dropout;
pub mod hops;
pub mod knn;
pub mod layers;

pub use dropout::Dropout;
pub use layers::{Make, Take};
