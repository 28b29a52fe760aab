//! Whether probabilities can be taken at their word: of all that are said with 80 %, are 80 % right?

use serde::Serialize;

/// Bins of a reliability diagram, of equal width.
pub const BINS: usize = 15;

/// The answers whose top probability falls into one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// Where it begins, 0..1; the next one begins where it ends.
    pub from: f64,
    /// How many answers there are.
    pub count: usize,
    /// Their mean top probability; 0 of nothing.
    pub confidence: f64,
    /// The share of them that is right; 0 of nothing.
    pub accuracy: f64,
}

/// The bins of top probabilities 0..=1 with whether each was right; a value on an edge belongs to the lower bin.
pub fn bins(answers: impl IntoIterator<Item = (f32, bool)>) -> Vec<Bin> {
    let mut sums = [(0usize, 0.0f64, 0usize); BINS];
    for (confidence, right) in answers {
        let confidence = f64::from(confidence);
        let place = ((confidence * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
        sums[place].0 += 1;
        sums[place].1 += confidence;
        sums[place].2 += usize::from(right);
    }
    let bin = |(place, &(count, confidence, right)): (usize, &(usize, f64, usize))| Bin {
        from: place as f64 / BINS as f64,
        count,
        confidence: confidence / count.max(1) as f64,
        accuracy: right as f64 / count.max(1) as f64,
    };
    sums.iter().enumerate().map(bin).collect()
}

/// Expected calibration error, 0..=1: the gap between confidence and accuracy in each bin, weighted by its answers.
/// `None` of nothing.
pub fn expected_error(bins: &[Bin]) -> Option<f64> {
    let total: usize = bins.iter().map(|bin| bin.count).sum();
    let gaps = bins.iter().map(|bin| bin.count as f64 * (bin.confidence - bin.accuracy).abs());
    (total > 0).then(|| gaps.sum::<f64>() / total as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_error_is_that_worked_out_by_hand() {
        // Two answers of 0.75, one right: gap 0.25. Two of 1.0, both right: gap 0. One of 0.5, wrong: gap 0.5.
        let answers = [(0.75, true), (0.75, false), (1.0, true), (1.0, true), (0.5, false)];
        let found = bins(answers);
        assert_eq!((found.len(), found[14].count, found[11].count, found[7].count), (15, 2, 2, 1));
        assert_eq!((found[11].confidence, found[11].accuracy), (0.75, 0.5));
        assert!((expected_error(&found).unwrap() - (2.0 * 0.25 + 0.5) / 5.0).abs() < 1e-12);
        assert_eq!(expected_error(&bins([])), None);
        assert_eq!(bins([(0.0, true)])[0].count, 1);
    }

    proptest! {
        #[test]
        fn bins_hold_everybody_where_they_belong(
            answers in prop::collection::vec((0.0f32..=1.0, any::<bool>()), 1..80)
        ) {
            let found = bins(answers.iter().copied());
            prop_assert_eq!(found.iter().map(|bin| bin.count).sum::<usize>(), answers.len());
            let mut gaps = 0.0;
            for (place, bin) in found.iter().enumerate() {
                let (low, high) = (place as f64 / 15.0, (place + 1) as f64 / 15.0);
                let inside = answers.iter().filter(|(p, _)| {
                    let p = f64::from(*p);
                    (p > low || (place == 0 && p == 0.0)) && p <= high
                });
                let inside: Vec<_> = inside.collect();
                prop_assert_eq!(inside.len(), bin.count);
                let said: f64 = inside.iter().map(|(p, _)| f64::from(*p)).sum();
                let right = inside.iter().filter(|(_, right)| *right).count() as f64;
                gaps += (said - right).abs();
            }
            prop_assert!((expected_error(&found).unwrap() - gaps / answers.len() as f64).abs() < 1e-9);
        }
    }
}
