//! Curves of a ranking, and how far probabilities can be trusted.

/// A ranking is drawn with so many points at most.
const DRAWN: usize = 150;
/// Probabilities are looked at in so many equal bins.
const BINS: usize = 10;

/// False positive rate against true positive rate, from (0, 0) to (1, 1); nothing where one kind is missing.
pub fn roc(scores: &[f64], truth: &[bool]) -> Vec<(f64, f64)> {
    let positive = truth.iter().filter(|is| **is).count() as f64;
    let negative = truth.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return Vec::new();
    }
    let counts = counts(scores, truth).into_iter();
    let points = counts.map(|(right, wrong)| (wrong as f64 / negative, right as f64 / positive));
    [(0.0, 0.0)].into_iter().chain(points).collect()
}

/// Recall against precision, from the surest node on; nothing where one kind is missing.
pub fn precision_recall(scores: &[f64], truth: &[bool]) -> Vec<(f64, f64)> {
    let positive = truth.iter().filter(|is| **is).count();
    if positive == 0 || positive == truth.len() {
        return Vec::new();
    }
    let share = |(right, wrong): (usize, usize)| {
        (right as f64 / positive as f64, right as f64 / (right + wrong).max(1) as f64)
    };
    counts(scores, truth).into_iter().map(share).collect()
}

/// How many are right and wrong among the best ranked, for growing numbers; equal scores come together.
fn counts(scores: &[f64], truth: &[bool]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut right, mut wrong) = (0, 0);
    let next = |tied: &[usize]| {
        right += tied.iter().filter(|&&place| truth[place]).count();
        wrong += tied.iter().filter(|&&place| !truth[place]).count();
        (right, wrong)
    };
    order.chunk_by(|&a, &b| scores[a] == scores[b]).map(next).collect()
}

/// The area under a curve of [`roc`].
pub fn area(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum()
}

/// The mean precision over a curve of [`precision_recall`], each weighted by the recall that it adds.
pub fn average_precision(points: &[(f64, f64)]) -> f64 {
    let mut before = 0.0;
    let step =
        |&(recall, precision): &(f64, f64)| (recall - std::mem::replace(&mut before, recall)) * precision;
    points.iter().map(step).sum()
}

/// Mean confidence, share of right answers and number of answers, in equal bins of confidence that have any.
pub fn reliability(confidence: &[f64], right: &[bool]) -> Vec<(f64, f64, usize)> {
    let mut bins = [(0.0, 0usize, 0usize); BINS];
    for (&sure, &right) in confidence.iter().zip(right) {
        let bin = &mut bins[((sure * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + sure, bin.1 + usize::from(right), bin.2 + 1);
    }
    let filled = bins.into_iter().filter(|bin| bin.2 > 0);
    filled.map(|(sum, right, all)| (sum / all as f64, right as f64 / all as f64, all)).collect()
}

/// Few enough points of a curve to draw, its ends among them.
pub fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= DRAWN {
        return points.to_vec();
    }
    (0..DRAWN).map(|place| points[place * (points.len() - 1) / (DRAWN - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_by_hand() {
        let (scores, truth) = ([0.9, 0.8, 0.8, 0.1], [true, false, true, false]);
        assert_eq!(roc(&scores, &truth), [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        assert_eq!(area(&roc(&scores, &truth)), 0.875);
        let curve = precision_recall(&scores, &truth);
        assert_eq!(curve, [(0.5, 1.0), (1.0, 2.0 / 3.0), (1.0, 0.5)]);
        assert!((average_precision(&curve) - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-12);
        assert!(roc(&scores, &[true; 4]).is_empty() && precision_recall(&scores, &[false; 4]).is_empty());
    }

    #[test]
    fn confidence_is_held_against_what_came_true() {
        let found = reliability(&[0.95, 1.0, 0.52, 0.58], &[true, false, true, true]);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].1, found[0].2, found[1].1, found[1].2), (1.0, 2, 0.5, 2));
        assert!((found[0].0 - 0.55).abs() < 1e-12);
    }

    #[test]
    fn thinning_keeps_the_ends() {
        let curve: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 0.0)).collect();
        let few = thinned(&curve);
        assert_eq!((few.len(), few[0].0, few[DRAWN - 1].0), (DRAWN, 0.0, 999.0));
    }
}
