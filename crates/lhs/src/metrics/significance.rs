//! Whether one model is better than another on the same splits, or lucky.

use rand::RngExt;

use crate::linalg::random::generator;

/// Of fewer pairs nothing is said: even if all agree, the p-value is 1/16 or more.
pub const FEWEST: usize = 6;
/// Up to so many pairs, every way to swap them is tried.
const EXACT: usize = 16;
/// Beyond, so many ways drawn at random.
const DRAWN: usize = 20_000;
/// Sums of the same numbers in another order may differ by this share.
const ROUNDING: f64 = 1e-9;

/// Two-sided p-value of a paired permutation test: how often the mean difference would be at least this far from 0 if in
/// every pair it were chance who came first. Exact for up to 16 pairs. `None` of fewer than six pairs.
pub fn paired_p_value(differences: &[f64]) -> Option<f64> {
    if differences.len() < FEWEST || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let found = differences.iter().sum::<f64>().abs();
    let far = |sum: f64| sum.abs() >= found - ROUNDING * found.max(1.0);
    let swapped = |swaps: u64| -> f64 {
        differences.iter().enumerate().map(|(i, d)| if swaps >> i & 1 == 1 { -d } else { *d }).sum()
    };
    if differences.len() <= EXACT {
        let ways = 1u64 << differences.len();
        return Some((0..ways).filter(|&swaps| far(swapped(swaps))).count() as f64 / ways as f64);
    }
    let mut rng = generator(0, 0);
    let mut drawn = || differences.iter().map(|d| if rng.random::<bool>() { *d } else { -d }).sum::<f64>();
    let count = (0..DRAWN).filter(|_| far(drawn())).count();
    Some((count + 1) as f64 / (DRAWN + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_are_exact() {
        // All six on one side: 2 of the 64 ways are as extreme.
        assert_eq!(paired_p_value(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some(2.0 / 64.0));
        // By hand: |sum| of ±1 ±1 ±4 is at least 4 in 6 of 8 ways, and zeros change nothing.
        assert_eq!(paired_p_value(&[1.0, -1.0, 4.0, 0.0, 0.0, 0.0]), Some(0.75));
        assert_eq!(paired_p_value(&[0.0; 6]), Some(1.0));
        assert_eq!((paired_p_value(&[]), paired_p_value(&[f64::NAN; 6])), (None, None));
    }

    #[test]
    fn few_pairs_say_nothing() {
        assert_eq!(paired_p_value(&[1.0; 5]), None);
        assert_eq!(paired_p_value(&[1.0; 6]), Some(2.0 / 64.0));
    }

    #[test]
    fn large_samples_are_drawn() {
        let better: Vec<f64> = (0..30).map(|i| 1.0 + f64::from(i % 3)).collect();
        assert!(paired_p_value(&better).unwrap() < 0.001);
        let level: Vec<f64> = (0..30).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(paired_p_value(&level), Some(1.0));
    }
}
