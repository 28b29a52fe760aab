//! What a list of numbers says together.

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The population standard deviation (divided by the number of values, not by one less): what numpy's
/// `std()` gives, and so what the papers of the field print after the ±.
pub fn std(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The value below which a share 0..=1 of the values lies, between two of them if need be (as numpy's
/// `quantile` does); 0.5 is the median. `None` of nothing.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// Spearman's rank correlation of pairs, -1..=1: whether one grows with the other, in whatever manner. Equal values
/// share the mean of their ranks. `None` when one of the two never changes, or a value is not finite.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    if first.iter().chain(&second).any(|value| !value.is_finite()) {
        return None;
    }
    let (first, second) = (ranks(&first), ranks(&second));
    // Tied or not, ranks have this mean.
    let centre = (pairs.len() as f64 - 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>();
    let spread = (product(&first, &first) * product(&second, &second)).sqrt();
    (spread > 0.0).then(|| (product(&first, &second) / spread).clamp(-1.0, 1.0))
}

/// The place of each value among all, from 0; equal values share the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut first) = (vec![0.0; values.len()], 0);
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (tied.len() - 1) as f64 / 2.0;
        tied.iter().for_each(|&place| ranks[place] = rank);
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_population() {
        assert_eq!((mean(&[1.0, 3.0]), std(&[1.0, 3.0]), std(&[])), (2.0, 1.0, 0.0));
        let quantiles = [0.0, 0.5, 0.75].map(|share| quantile(&[4.0, 1.0], share));
        assert_eq!(quantiles, [Some(1.0), Some(2.5), Some(3.25)]);
        assert_eq!((quantile(&[3.0, 1.0, 2.0], 0.5), quantile(&[], 0.5)), (Some(2.0), None));
    }

    #[test]
    fn ranks_correlate_when_one_grows_with_the_other() {
        assert_eq!(rank_correlation(&[(1.0, 1.0), (2.0, 10.0), (3.0, 11.0)]), Some(1.0));
        assert_eq!(rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (9.0, -5.0)]), Some(-1.0));
        // By hand, ranks 0, 1.5, 1.5, 3 and 0, 2, 1, 3: 4.5 / sqrt(4.5 * 5).
        let tied = [(1.0, 0.1), (2.0, 0.3), (2.0, 0.2), (5.0, 0.9)];
        assert!((rank_correlation(&tied).unwrap() - 4.5 / 22.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(rank_correlation(&[(0.0, 1.0), (-0.0, 2.0)]), None, "the zeros are equal");
        assert_eq!((rank_correlation(&[]), rank_correlation(&[(1.0, 2.0)])), (None, None));
        assert_eq!(rank_correlation(&[(1.0, 2.0), (f64::NAN, 3.0)]), None);
    }
}
