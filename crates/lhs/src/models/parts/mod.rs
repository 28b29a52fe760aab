//! What several networks are made of, each part once.

pub mod attention;
pub mod conv1d;
pub mod dropout;
pub mod fingerprint;
pub mod knn;
pub mod layers;
pub mod noise;
pub mod order;
pub mod row_subset;
pub mod scaling;
pub mod similarity;

pub use dropout::Dropout;
pub use layers::{ParamBuilder, ParamReader, side_by_side};
pub use row_subset::row_subset;
