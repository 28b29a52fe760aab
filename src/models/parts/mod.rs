//! What several networks are made of, each part once.

pub mod attention;
pub mod knn;
pub mod layers;
pub mod noise;
pub mod random_walk;
pub mod scaling;
pub mod similarity;

pub use layers::{Make, Take};
