//! What several networks are made of, each part once.

pub mod attention;
pub mod knn;
pub mod layers;

pub use layers::{Make, Take};
