//! The linear classifier on finished embeddings, which also judges them.
//!
//! Logistic regressions of several penalties on the training nodes; the one that is best at the validation nodes is kept.
//! The authors choose the penalty by cross-validation within the training nodes, at five times the cost; on Texas that chose
//! no better than the usual one.

use super::logistic::Examples;
use crate::graph::Labelled;
use crate::linalg::Mat;
use crate::quality::answers::Answers;
use crate::quality::confusion::predicted_classes;
use crate::training::Task;
use crate::training::{Monitor, Score};

/// From strong to weak, each a good start for the next; rows have length 1.
const PENALTIES: [f32; 3] = [0.3, 0.1, 0.03];
/// The place of the one that is used where nobody judges.
const USUAL: usize = 1;

/// Learns classifiers and tells how good they are.
pub(super) struct Judge<'a> {
    pub train: &'a Labelled,
    pub val: &'a Labelled,
    pub num_classes: usize,
    pub monitor: Monitor,
    pub positive: Option<u32>,
}

/// Weights `[C, d + 1]`, the bias last, and their score where there are validation nodes.
pub(super) struct Learned {
    pub weights: Mat,
    pub score: Option<Score>,
}

impl<'a> Judge<'a> {
    pub fn new(task: &'a Task<'_>, monitor: Monitor) -> Self {
        let Task { train, val, num_classes, positive_class, .. } = task;
        Judge { train, val, num_classes: *num_classes, monitor, positive: *positive_class }
    }

    /// What the monitor looks at beside accuracy and loss.
    fn value(&self, classes: &[u32], probabilities: Mat) -> Option<f32> {
        let metric = self.monitor.metric()?;
        let answers = Answers {
            num_classes: self.num_classes,
            truth: classes.to_vec(),
            predicted: predicted_classes(&probabilities),
            probabilities,
            positive: self.positive,
        };
        answers.value(metric).map(|value| value as f32)
    }

    /// The best classifier on the rows of an embedding `[n, d]`.
    pub fn learn(&self, embedding: &Mat) -> Learned {
        let [train, val] = [self.train, self.val].map(|part| examples(embedding, part));
        let mut weights = Mat::zeros(self.num_classes, embedding.cols() + 1);
        let mut found: Vec<Learned> = Vec::new();
        for penalty in PENALTIES {
            weights = train.minimum(weights, penalty);
            let count = val.classes.len();
            let score = (count > 0).then(|| {
                let (right, loss, probabilities) = val.judged(&weights);
                Score {
                    accuracy: right as f32 / count as f32,
                    loss: (loss / count as f64) as f32,
                    value: self.value(val.classes, probabilities),
                }
            });
            found.push(Learned { weights: weights.clone(), score });
        }
        let better = |a: &Learned, b: &Learned| match (&a.score, &b.score) {
            (Some(a), Some(b)) => a.beats(b, self.monitor),
            _ => false,
        };
        let usual = found.swap_remove(USUAL);
        found.into_iter().fold(usual, |best, next| if better(&next, &best) { next } else { best })
    }
}

/// Some rows of an embedding, with a 1 behind each that the bias meets.
fn examples<'a>(embedding: &Mat, part: &'a Labelled) -> Examples<'a> {
    let ones = Mat::full(part.nodes.len(), 1, 1.0);
    Examples { rows: Mat::side_by_side(&[embedding.select_rows(&part.nodes), ones]), classes: &part.classes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separable_nodes_are_told_apart_with_and_without_a_judge() {
        let embedding = Mat::from_fn(8, 2, |row, col| f32::from(row % 2 == col));
        let part =
            |nodes: [u32; 4]| Labelled { nodes: nodes.into(), classes: nodes.map(|node| node % 2).into() };
        let (train, val, nobody) = (part([0, 1, 2, 3]), part([4, 5, 6, 7]), Labelled::default());
        let judge =
            |val| Judge { train: &train, val, num_classes: 2, monitor: Monitor::RocAuc, positive: None };
        let score = judge(&val).learn(&embedding).score;
        assert_eq!(score.map(|score| (score.accuracy, score.value)), Some((1.0, Some(1.0))));
        let learned = judge(&nobody).learn(&embedding);
        assert!(learned.score.is_none());
        assert_eq!(examples(&embedding, &val).judged(&learned.weights).0, 4);
    }
}
