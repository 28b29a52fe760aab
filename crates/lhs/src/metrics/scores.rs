//! How a model does on the parts of a split.

use serde::{Deserialize, Serialize};

use super::predictions::Predictions;
use crate::graph::Split;
use crate::quality::classes::majority_accuracy;
use crate::quality::metric::Metric;

/// Figures in percent; at training and validation nodes 0 of nothing. Those at the test nodes are absent where labels are
/// not looked at, there are none, or they make no sense, and in results of earlier builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// At the training nodes.
    pub train_accuracy: f64,
    /// At the validation nodes.
    pub val_accuracy: f64,
    /// At the test nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<f64>,
    /// Macro-F1 at the test nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_macro_f1: Option<f64>,
    /// ROC AUC at the test nodes: of the positive class, else the mean over the classes, each against the rest.
    #[serde(default)]
    pub test_roc_auc: Option<f64>,
    /// Average precision at the test nodes, likewise.
    #[serde(default)]
    pub test_average_precision: Option<f64>,
    /// Mean over the classes of the share of their test nodes that is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_balanced_accuracy: Option<f64>,
    /// Expected calibration error at the test nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_calibration_error: Option<f64>,
    /// Accuracy at the test nodes of taking all for the most frequent class of the training nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub majority_accuracy: Option<f64>,
    /// What the model is judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// That, at the validation nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val_metric: Option<f64>,
}

impl Scores {
    /// Scores predictions on all parts.
    pub fn of_predictions(predictions: &Predictions<'_>, split: &Split, metric: Metric) -> Self {
        let test = predictions.answers(split.test.iter().copied());
        let confusion = test.confusion();
        let train = predictions.answers(split.train.iter().copied());
        let percent = |share: f64| 100.0 * share;
        Scores {
            test_accuracy: confusion.accuracy().map(percent),
            test_macro_f1: confusion.macro_f1().map(percent),
            test_roc_auc: test.roc_auc().map(percent),
            test_average_precision: test.average_precision().map(percent),
            test_balanced_accuracy: confusion.balanced_accuracy().map(percent),
            test_calibration_error: test.calibration_error().map(percent),
            majority_accuracy: majority_accuracy(&train.truth, &test.truth).map(percent),
            ..Self::at_validation(predictions, split, metric)
        }
    }

    /// Scores predictions at the training and validation nodes alone.
    pub fn at_validation(predictions: &Predictions<'_>, split: &Split, metric: Metric) -> Self {
        let percent = |share: f64| 100.0 * share;
        let val = predictions.answers(split.val.iter().copied());
        Scores {
            train_accuracy: predictions
                .confusion(split.train.iter().copied())
                .accuracy()
                .map_or(0.0, percent),
            val_accuracy: val.confusion().accuracy().map_or(0.0, percent),
            metric: Some(metric),
            val_metric: val.value(metric).map(percent),
            ..Scores::default()
        }
    }

    /// What the model is judged by; accuracy in results of earlier builds.
    pub fn judged_by(&self) -> Metric {
        self.metric.unwrap_or(Metric::Accuracy)
    }

    /// That, at the validation nodes; the accuracy where it makes no sense.
    pub fn val(&self) -> f64 {
        self.val_metric.unwrap_or(self.val_accuracy)
    }

    /// A figure at the test nodes.
    pub fn test(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Accuracy => self.test_accuracy,
            Metric::BalancedAccuracy => self.test_balanced_accuracy,
            Metric::MacroF1 => self.test_macro_f1,
            Metric::RocAuc => self.test_roc_auc,
            Metric::AveragePrecision => self.test_average_precision,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Dataset, DatasetParts, Features, Graph, Labels, Repairs};
    use crate::linalg::Mat;

    #[test]
    fn results_of_earlier_builds_are_read() {
        let old = r#"{"train_accuracy":90.0,"val_accuracy":80.0,"test_accuracy":70.0,"test_macro_f1":60.0}"#;
        let scores: Scores = serde_json::from_str(old).unwrap();
        assert_eq!((scores.test_roc_auc, scores.judged_by(), scores.val()), (None, Metric::Accuracy, 80.0));
        assert_eq!(scores.test(Metric::MacroF1), Some(60.0));
    }

    #[test]
    fn parts_are_scored_by_themselves() {
        let dataset = Dataset::new(DatasetParts {
            name: "pairs".into(),
            graph: Graph::from_edges(8, &[]).unwrap().0,
            repairs: Repairs::default(),
            features: Features::none(8),
            labels: Labels::from_numbers(&[0, 0, 0, 1, 0, 1, 0, 1]).unwrap(),
            node_ids: None,
            splits: vec![],
            details: Default::default(),
        })
        .unwrap();
        let sure = [0.9, 0.8, 0.7, 0.4, 0.6, 0.7, 0.9, 0.2];
        let probabilities = Mat::from_fn(8, 2, |row, col| if col == 0 { sure[row] } else { 1.0 - sure[row] });
        let classes = ["0".to_string(), "1".to_string()];
        let predictions = Predictions::new(&dataset, &classes, probabilities).unwrap().about(Some(1));
        let split = Split { train: vec![0, 1, 3], val: vec![2, 5], test: vec![4, 6, 7] };
        let scores = Scores::of_predictions(&predictions, &split, Metric::RocAuc);
        assert_eq!((scores.train_accuracy, scores.val_accuracy), (100.0, 50.0));
        // Both validation nodes have the same probability: a tie.
        assert_eq!((scores.val_metric, scores.val()), (Some(50.0), 50.0));
        assert_eq!((scores.test_accuracy, scores.test_roc_auc), (Some(100.0), Some(100.0)));
        assert_eq!(scores.majority_accuracy, Some(100.0 * (2.0 / 3.0)));
        let only = Scores::at_validation(&predictions, &split, Metric::Accuracy);
        assert_eq!((only.test_accuracy, only.val_metric, only.majority_accuracy), (None, Some(50.0), None));
        // Everybody from 0.25 on is taken for positive: of the test nodes 4 and 7.
        let eager = predictions.decided_at(Some(0.25));
        let scores = Scores::of_predictions(&eager, &split, Metric::RocAuc);
        assert_eq!((scores.test_accuracy, scores.test_roc_auc), (Some(100.0 * (2.0 / 3.0)), Some(100.0)));
        assert_eq!(scores.test_balanced_accuracy, Some(75.0));
    }
}
