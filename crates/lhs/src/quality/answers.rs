//! Answers about some nodes, held against the truth: every figure of this module in one place.

use super::calibration::{self, Bin};
use super::confusion::Confusion;
use super::metric::Metric;
use super::ranking::{self, Scored};
use crate::linalg::Mat;

/// What was said about some nodes whose classes are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Number of classes, those that were never asked for included.
    pub num_classes: usize,
    /// The class of each node.
    pub truth: Vec<u32>,
    /// The class that it was taken for.
    pub predicted: Vec<u32>,
    /// Probabilities, a row per node; they may lack the last classes.
    pub probabilities: Mat,
    /// The class that is looked for, if there is one.
    pub positive: Option<u32>,
}

impl Answers {
    /// How often each class was taken for each.
    pub fn confusion(&self) -> Confusion {
        let pairs = self.truth.iter().copied().zip(self.predicted.iter().copied());
        Confusion::count(self.num_classes, pairs)
    }

    /// The probabilities of one class, each with whether it is that.
    pub fn scored(&self, class: u32) -> Vec<Scored> {
        let rows = self.truth.iter().enumerate();
        rows.map(|(row, truth)| (self.probabilities.row(row)[class as usize], *truth == class)).collect()
    }

    /// ROC AUC of the positive class, else the mean over the classes, each against the rest, 0..=1; `None` where all nodes
    /// are of one class.
    pub fn roc_auc(&self) -> Option<f64> {
        self.ranked(ranking::roc_auc)
    }

    /// Average precision, likewise.
    pub fn average_precision(&self) -> Option<f64> {
        self.ranked(ranking::average_precision)
    }

    fn ranked(&self, figure: fn(&[Scored]) -> Option<f64>) -> Option<f64> {
        if let Some(positive) = self.positive {
            return figure(&self.scored(positive));
        }
        // Classes without nodes have nothing to rank.
        let known = 0..self.probabilities.cols() as u32;
        let found: Vec<f64> = known.filter_map(|class| figure(&self.scored(class))).collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    }

    /// Top probabilities and how often they are right, for a reliability diagram.
    pub fn reliability(&self) -> Vec<Bin> {
        let rows = self.truth.iter().enumerate();
        calibration::bins(rows.map(|(row, truth)| {
            let probabilities = self.probabilities.row(row);
            let top = (1..probabilities.len())
                .fold(0, |top, class| if probabilities[class] > probabilities[top] { class } else { top });
            (probabilities.get(top).copied().unwrap_or(0.0), top as u32 == *truth)
        }))
    }

    /// Expected calibration error of the top probabilities, 0..=1.
    pub fn calibration_error(&self) -> Option<f64> {
        calibration::expected_error(&self.reliability())
    }

    /// A figure, 0..=1; `None` where it makes no sense.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Accuracy => self.confusion().accuracy(),
            Metric::BalancedAccuracy => self.confusion().balanced_accuracy(),
            Metric::MacroF1 => self.confusion().macro_f1(),
            Metric::RocAuc => self.roc_auc(),
            Metric::AveragePrecision => self.average_precision(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::confusion::predicted_classes;

    fn answers(truth: &[u32], probabilities: Mat, positive: Option<u32>) -> Answers {
        let predicted = predicted_classes(&probabilities);
        Answers {
            num_classes: probabilities.cols(),
            truth: truth.to_vec(),
            predicted,
            probabilities,
            positive,
        }
    }

    #[test]
    fn many_classes_are_each_held_against_the_rest() {
        let rows = [0.6, 0.3, 0.1, 0.5, 0.4, 0.1, 0.1, 0.2, 0.7, 0.3, 0.4, 0.3];
        let found = answers(&[0, 1, 2, 1], Mat::from_slice(4, 3, &rows), None);
        // Class 0: 3 of 3 pairs. Class 1 (0.4 twice against 0.3, 0.2): 4 of 4. Class 2: 3 of 3.
        assert_eq!(found.roc_auc(), Some(1.0));
        // Of class 2 alone, and where it has no node.
        let named = Answers { positive: Some(0), truth: vec![1, 0, 2, 1], ..found.clone() };
        assert!((named.roc_auc().unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((named.average_precision().unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(Answers { truth: vec![1; 4], ..found.clone() }.roc_auc(), None);
        let two = Answers { truth: vec![0, 1, 1, 1], ..found };
        assert!(two.roc_auc().is_some(), "class 2 has no node and does not count");
    }

    #[test]
    fn every_metric_has_its_value() {
        let rows = [0.9, 0.1, 0.6, 0.4, 0.3, 0.7, 0.8, 0.2];
        let found = answers(&[0, 1, 1, 0], Mat::from_slice(4, 2, &rows), Some(1));
        assert_eq!(found.value(Metric::Accuracy), Some(0.75));
        assert_eq!(found.value(Metric::BalancedAccuracy), Some(0.75));
        assert_eq!(found.value(Metric::RocAuc), Some(1.0));
        assert_eq!(found.value(Metric::AveragePrecision), Some(1.0));
        assert!((found.value(Metric::MacroF1).unwrap() - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-12);
        assert!(found.calibration_error().unwrap() > 0.0);
    }
}
