//! How well scores rank the positive before the negative: ROC AUC, average precision, and the curves behind them.
//!
//! Equal scores are one step: nobody may gain from the order in which ties happen to stand. Cost: one sort.

use serde::Serialize;

/// A score, and whether it belongs to a positive.
pub type Scored = (f32, bool);

/// A point of a ROC curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RocPoint {
    /// Who scores at least this is taken for positive; none at the beginning, where nobody is.
    pub threshold: Option<f32>,
    /// Share of the negatives that are taken for positive.
    pub false_positive_rate: f64,
    /// Share of the positives that are.
    pub true_positive_rate: f64,
}

/// A point of a precision–recall curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrecisionRecallPoint {
    /// Who scores at least this is taken for positive.
    pub threshold: f32,
    /// Share of those taken for positive that are.
    pub precision: f64,
    /// Share of the positives that are found.
    pub recall: f64,
}

/// The probability that a positive scores higher than a negative, 0..=1, a tie counting half. `None` unless there are
/// both.
pub fn roc_auc(scored: &[Scored]) -> Option<f64> {
    let steps = Steps::of(scored)?;
    let mut in_order = 0.0;
    for step in &steps.steps {
        in_order += step.negatives as f64 * (step.positives_above as f64 + 0.5 * step.positives as f64);
    }
    Some(in_order / (steps.positives as f64 * steps.negatives as f64))
}

/// Average precision, 0..=1: the sum of the precisions at each different score, weighted by the recall that it adds.
/// `None` unless there are positives and negatives.
pub fn average_precision(scored: &[Scored]) -> Option<f64> {
    let steps = Steps::of(scored)?;
    let gained = |step: &Step| step.positives as f64 * step.precision();
    Some(steps.steps.iter().map(gained).sum::<f64>() / steps.positives as f64)
}

/// The ROC curve from (0, 0) to (1, 1), one point per different score; nothing unless there are both.
pub fn roc_curve(scored: &[Scored]) -> Vec<RocPoint> {
    let Some(Steps { steps, positives, negatives }) = Steps::of(scored) else { return Vec::new() };
    let start = RocPoint { threshold: None, false_positive_rate: 0.0, true_positive_rate: 0.0 };
    let points = steps.iter().map(|step| RocPoint {
        threshold: Some(step.score),
        false_positive_rate: (step.above + step.positives + step.negatives - step.found()) as f64
            / negatives as f64,
        true_positive_rate: step.found() as f64 / positives as f64,
    });
    std::iter::once(start).chain(points).collect()
}

/// The precision–recall curve, one point per different score, the highest first; nothing unless there are both.
pub fn precision_recall_curve(scored: &[Scored]) -> Vec<PrecisionRecallPoint> {
    let Some(Steps { steps, positives, .. }) = Steps::of(scored) else { return Vec::new() };
    let point = |step: &Step| PrecisionRecallPoint {
        threshold: step.score,
        precision: step.precision(),
        recall: step.found() as f64 / positives as f64,
    };
    steps.iter().map(point).collect()
}

/// All with one score.
struct Step {
    score: f32,
    positives: usize,
    negatives: usize,
    /// How many score higher.
    above: usize,
    positives_above: usize,
}

impl Step {
    /// Positives with this score or a higher one.
    fn found(&self) -> usize {
        self.positives_above + self.positives
    }

    fn precision(&self) -> f64 {
        self.found() as f64 / (self.above + self.positives + self.negatives) as f64
    }
}

/// Different scores, the highest first.
struct Steps {
    steps: Vec<Step>,
    positives: usize,
    negatives: usize,
}

impl Steps {
    fn of(scored: &[Scored]) -> Option<Self> {
        let mut sorted = scored.to_vec();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut steps, mut above, mut positives) = (Vec::new(), 0, 0);
        for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
            let right = tied.iter().filter(|(_, positive)| *positive).count();
            steps.push(Step {
                score: tied[0].0,
                positives: right,
                negatives: tied.len() - right,
                above,
                positives_above: positives,
            });
            above += tied.len();
            positives += right;
        }
        let negatives = above - positives;
        (positives > 0 && negatives > 0).then_some(Steps { steps, positives, negatives })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BY_HAND: [Scored; 6] =
        [(0.9, true), (0.8, false), (0.7, true), (0.7, false), (0.2, true), (0.1, false)];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn figures_are_those_worked_out_by_hand() {
        // Pairs in order: 0.9 before 3; 0.7 before 1, level with 1; 0.2 before 1: 5.5 of 9.
        assert!(close(roc_auc(&BY_HAND).unwrap(), 5.5 / 9.0));
        // Precision 1/1 at 0.9, 2/4 at 0.7, 3/5 at 0.2, each adding a third of the positives.
        assert!(close(average_precision(&BY_HAND).unwrap(), (1.0 + 0.5 + 0.6) / 3.0));
    }

    #[test]
    fn curves_end_in_their_corners() {
        let roc = roc_curve(&BY_HAND);
        let points: Vec<(f64, f64)> =
            roc.iter().map(|p| (p.false_positive_rate * 3.0, p.true_positive_rate * 3.0)).collect();
        let expected = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0)];
        assert!(points.iter().zip(expected).all(|(a, b)| close(a.0, b.0) && close(a.1, b.1)), "{points:?}");
        assert_eq!((roc[0].threshold, roc[3].threshold), (None, Some(0.7)));
        let curve = precision_recall_curve(&BY_HAND);
        assert_eq!((curve.len(), curve[2].precision), (5, 0.5));
        assert_eq!((curve[4].recall, curve[4].precision), (1.0, 0.5));
    }

    #[test]
    fn one_kind_alone_cannot_be_ranked() {
        for alone in [&[(0.5, true), (0.1, true)][..], &[(0.5, false)], &[]] {
            assert_eq!((roc_auc(alone), average_precision(alone)), (None, None));
            assert!(roc_curve(alone).is_empty() && precision_recall_curve(alone).is_empty());
        }
    }

    /// Every pair of a positive and a negative.
    fn slow_auc(scored: &[Scored]) -> f64 {
        let (mut sum, mut pairs) = (0.0, 0.0);
        for positive in scored.iter().filter(|s| s.1) {
            for negative in scored.iter().filter(|s| !s.1) {
                pairs += 1.0;
                sum += match positive.0.total_cmp(&negative.0) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
            }
        }
        sum / pairs
    }

    /// For each positive, the precision among all that score at least as high.
    fn slow_precision(scored: &[Scored]) -> f64 {
        let positives: Vec<f32> = scored.iter().filter(|s| s.1).map(|s| s.0).collect();
        let precision = |score: &f32| {
            let found = scored.iter().filter(|s| s.0 >= *score);
            let right = found.clone().filter(|s| s.1).count();
            right as f64 / found.count() as f64
        };
        positives.iter().map(precision).sum::<f64>() / positives.len() as f64
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(scored in prop::collection::vec((0u8..12, any::<bool>()), 1..60)) {
            let scored: Vec<Scored> = scored.into_iter().map(|(s, p)| (f32::from(s) / 11.0, p)).collect();
            let both = scored.iter().any(|s| s.1) && scored.iter().any(|s| !s.1);
            prop_assert_eq!(roc_auc(&scored).is_some(), both);
            if both {
                prop_assert!((roc_auc(&scored).unwrap() - slow_auc(&scored)).abs() < 1e-9);
                prop_assert!((average_precision(&scored).unwrap() - slow_precision(&scored)).abs() < 1e-9);
                // The area under the points of the curve is the same figure.
                let curve = roc_curve(&scored);
                let area: f64 = curve.windows(2).map(|pair| {
                    (pair[1].false_positive_rate - pair[0].false_positive_rate)
                        * (pair[0].true_positive_rate + pair[1].true_positive_rate) / 2.0
                }).sum();
                prop_assert!((area - roc_auc(&scored).unwrap()).abs() < 1e-9);
            }
        }
    }
}
