//! What several networks are made of, each part once.

pub mod attention;
pub mod conv1d;
pub mod dropout;
pub mod fingerprint;
pub mod hops;
pub mod knn;
pub mod layers;
pub mod lstm;
pub mod noise;
pub mod order;
pub mod plane;
pub mod random_walk;
pub mod scaling;
pub mod similarity;
pub mod some_rows;

pub use dropout::Dropout;
pub use layers::{Make, Take, side_by_side};
pub use some_rows::some_rows;
