//! How a model does on the parts of a split.

use serde::{Deserialize, Serialize};

use super::predictions::Predictions;
use crate::error::Result;
use crate::graph::{Dataset, Split};
use crate::models::NodeClassifier;

/// Accuracies in percent; 0 of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// At the training nodes.
    pub train_accuracy: f64,
    /// At the validation nodes.
    pub val_accuracy: f64,
    /// At the test nodes.
    pub test_accuracy: f64,
    /// Macro-F1 at the test nodes.
    pub test_macro_f1: f64,
}

impl Scores {
    /// Scores a model on some data; `classes` are the names of its classes.
    pub fn of(
        model: &dyn NodeClassifier,
        dataset: &Dataset,
        classes: &[String],
        split: &Split,
    ) -> Result<Self> {
        let probabilities = model.predict(dataset.graph(), dataset.features())?;
        Ok(Self::of_predictions(&Predictions::new(dataset, classes, probabilities)?, split))
    }

    /// Scores predictions.
    pub fn of_predictions(predictions: &Predictions<'_>, split: &Split) -> Self {
        let confusion = |part: &[u32]| predictions.confusion(part.iter().copied());
        let percent = |share: Option<f64>| 100.0 * share.unwrap_or(0.0);
        Scores {
            train_accuracy: percent(confusion(&split.train).accuracy()),
            val_accuracy: percent(confusion(&split.val).accuracy()),
            test_accuracy: percent(confusion(&split.test).accuracy()),
            test_macro_f1: percent(confusion(&split.test).macro_f1()),
        }
    }
}
