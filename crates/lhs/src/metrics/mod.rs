//! Measuring: decisions, rankings and probabilities against labels, heterophily and its right-shift, graphs against classes, significance.
//!
//! Nothing here trains or chooses anything, so test labels are welcome.

pub mod audit;
pub mod description;
pub mod predictions;
pub mod ranked;
pub mod scores;
pub mod shift;
pub mod significance;
pub mod statistics;

pub use crate::quality::answers::Answers;
pub use crate::quality::classes::ClassScores;
pub use crate::quality::confusion::{Confusion, predicted_classes};
pub use crate::quality::metric::Metric;
pub use crate::quality::positive::{class_named, positive_class};
pub use crate::quality::threshold::Threshold;
pub use crate::quality::{calibration, classes, confusion, ranking, threshold};
pub use predictions::Predictions;
pub use scores::Scores;
