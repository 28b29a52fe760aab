//! Measuring: predictions against labels, heterophily and its right-shift, graphs against classes, significance.
//!
//! Nothing here trains or chooses anything, so test labels are welcome.

pub mod audit;
pub mod confusion;
pub mod description;
pub mod predictions;
pub mod scores;
pub mod shift;
pub mod significance;
pub mod statistics;

pub use confusion::{Confusion, predicted_classes};
pub use predictions::Predictions;
pub use scores::Scores;
