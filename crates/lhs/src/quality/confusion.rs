//! How good decisions are: accuracy, precision, recall, F1.

use crate::linalg::Mat;

/// The class with the highest probability at each node; of equals, the first.
pub fn predicted_classes(probabilities: &Mat) -> Vec<u32> {
    (0..probabilities.rows()).map(|node| argmax(probabilities.row(node))).collect()
}

fn argmax(row: &[f32]) -> u32 {
    let mut best = 0;
    for (class, &value) in row.iter().enumerate() {
        if value > row[best] {
            best = class;
        }
    }
    best as u32
}

/// How often each class was taken for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    num_classes: usize,
    counts: Vec<usize>,
}

impl Confusion {
    /// Counts pairs of (true class, predicted class).
    pub fn count(num_classes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut counts = vec![0; num_classes * num_classes];
        for (truth, predicted) in pairs {
            counts[truth as usize * num_classes + predicted as usize] += 1;
        }
        Confusion { num_classes, counts }
    }

    /// How many nodes of class `truth` were taken for `predicted`.
    pub fn get(&self, truth: usize, predicted: usize) -> usize {
        self.counts[truth * self.num_classes + predicted]
    }

    /// How many nodes were counted.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Share of the nodes that are right, 0..=1; `None` without nodes.
    pub fn accuracy(&self) -> Option<f64> {
        let right: usize = (0..self.num_classes).map(|class| self.get(class, class)).sum();
        ratio(right, self.total())
    }

    /// Share of each class's nodes that are right (its recall), 0..=1; `None` for a class without nodes.
    pub fn accuracy_per_class(&self) -> Vec<Option<f64>> {
        (0..self.num_classes).map(|class| self.recall(class)).collect()
    }

    /// Of the nodes of a class, the share that is found, 0..=1; `None` if it has none.
    pub fn recall(&self, class: usize) -> Option<f64> {
        ratio(self.get(class, class), self.actual(class))
    }

    /// Of the nodes taken for a class, the share that is, 0..=1; `None` if there are none.
    pub fn precision(&self, class: usize) -> Option<f64> {
        ratio(self.get(class, class), self.predicted(class))
    }

    /// F1 of a class, 0..=1; `None` if it neither occurs nor was predicted.
    pub fn f1(&self, class: usize) -> Option<f64> {
        // F1 = 2 TP / (2 TP + FP + FN), whose denominator is |actual| + |predicted|.
        ratio(2 * self.get(class, class), self.actual(class) + self.predicted(class))
    }

    /// The mean of the recalls of the classes that have nodes, 0..=1.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        mean((0..self.num_classes).filter_map(|class| self.recall(class)))
    }

    /// The unweighted mean of the classes' F1 scores, 0..=1, over classes that occur or were predicted.
    pub fn macro_f1(&self) -> Option<f64> {
        mean((0..self.num_classes).filter_map(|class| self.f1(class)))
    }

    /// How many nodes a class has.
    pub fn actual(&self, class: usize) -> usize {
        (0..self.num_classes).map(|other| self.get(class, other)).sum()
    }

    /// How many nodes were taken for a class.
    pub fn predicted(&self, class: usize) -> usize {
        (0..self.num_classes).map(|other| self.get(other, class)).sum()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confusion_gives_the_usual_scores() {
        // By hand: F1 is 2·1/(2+2) = 0.5, 2·2/(2+3) = 0.8 and 0.
        let truth = [0, 0, 1, 1, 2];
        let predicted = [0, 1, 1, 1, 0];
        let confusion = Confusion::count(3, truth.into_iter().zip(predicted));
        assert_eq!(confusion.accuracy(), Some(0.6));
        assert_eq!(confusion.accuracy_per_class(), [Some(0.5), Some(1.0), Some(0.0)]);
        assert!((confusion.macro_f1().unwrap() - (0.5 + 0.8 + 0.0) / 3.0).abs() < 1e-12);
        assert_eq!((confusion.get(2, 0), confusion.total()), (1, 5));
        assert_eq!(confusion.balanced_accuracy(), Some(0.5));
        assert_eq!((confusion.precision(0), confusion.precision(2)), (Some(0.5), None));
        assert_eq!((confusion.recall(1), confusion.f1(1)), (Some(1.0), Some(0.8)));
    }

    #[test]
    fn nothing_has_no_score() {
        let confusion = Confusion::count(2, []);
        assert_eq!((confusion.accuracy(), confusion.macro_f1()), (None, None));
    }

    #[test]
    fn of_equal_probabilities_the_first_class_wins() {
        let mat = Mat::from_slice(2, 3, &[0.2, 0.4, 0.4, 0.5, 0.2, 0.3]);
        assert_eq!(predicted_classes(&mat), [1, 0]);
    }
}
