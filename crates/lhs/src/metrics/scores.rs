//! How a model does on the parts of a split.

use serde::{Deserialize, Serialize};

use super::predictions::Predictions;
use crate::graph::Split;

/// Accuracies in percent; at training and validation nodes 0 of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// At the training nodes.
    pub train_accuracy: f64,
    /// At the validation nodes.
    pub val_accuracy: f64,
    /// At the test nodes; none where their labels are not looked at, or there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<f64>,
    /// Macro-F1 at the test nodes, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_macro_f1: Option<f64>,
}

impl Scores {
    /// Scores predictions.
    pub fn of_predictions(predictions: &Predictions<'_>, split: &Split) -> Self {
        let confusion = |part: &[u32]| predictions.confusion(part.iter().copied());
        let percent = |share: f64| 100.0 * share;
        Scores {
            train_accuracy: confusion(&split.train).accuracy().map_or(0.0, percent),
            val_accuracy: confusion(&split.val).accuracy().map_or(0.0, percent),
            test_accuracy: confusion(&split.test).accuracy().map(percent),
            test_macro_f1: confusion(&split.test).macro_f1().map(percent),
        }
    }
}
