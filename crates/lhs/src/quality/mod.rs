//! How good class probabilities are, in numbers alone: no graphs, no models.
//!
//! Training looks at these figures at the validation nodes, and [`crate::metrics`] shows them to everybody.

pub mod answers;
pub mod calibration;
pub mod classes;
pub mod confusion;
pub mod metric;
pub mod positive;
pub mod ranking;
pub mod threshold;
