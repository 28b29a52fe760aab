//! Right-shift: how far the heterophily of a sample lies to the right of that of the training nodes.
//!
//! With `F` the share of the training nodes and `G` the share of the sample up to a value `h` of [0, 1]:
//! mean shift `mean(sample) - mean(train)`, Wasserstein-1 `∫ |F(h) - G(h)| dh`, Kolmogorov–Smirnov
//! `max |F(h) - G(h)|`. The sample is to the right where `G` lies below `F`, so the two one-sided statistics
//! `max (F - G)` and `max (G - F)` tell the direction. Cost: sorting both.

use std::fmt;

use serde::Serialize;

use super::statistics::{mean, quantile};

/// Values that should stand on the edge of a bin may miss it by rounding.
const ROUNDING: f64 = 1e-9;

/// What a list of values in [0, 1] looks like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// How many values there are.
    pub count: usize,
    /// Their mean; `None` of nothing.
    pub mean: Option<f64>,
    /// The values below which a quarter, half and three quarters lie; `None` of nothing.
    pub quartiles: Option<[f64; 3]>,
    /// How many fall into each of equal bins over [0, 1]; 1 falls into the last.
    pub histogram: Vec<usize>,
}

impl Distribution {
    /// Describes values in [0, 1].
    pub fn of(values: &[f64], bins: usize) -> Self {
        let mut histogram = vec![0; bins];
        values.iter().for_each(|&value| histogram[bin(value, bins)] += 1);
        let quartile = |share| quantile(values, share);
        Distribution {
            count: values.len(),
            mean: (!values.is_empty()).then(|| mean(values)),
            quartiles: quartile(0.25)
                .zip(quartile(0.5))
                .zip(quartile(0.75))
                .map(|((low, middle), high)| [low, middle, high]),
            histogram,
        }
    }
}

/// Which of some equal bins over [0, 1] a value belongs to.
pub fn bin(value: f64, bins: usize) -> usize {
    ((value * bins as f64 + ROUNDING) as usize).min(bins - 1)
}

/// Where a sample lies, seen from the training nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// At larger values.
    Right,
    /// At smaller ones.
    Left,
    /// As far to the right as to the left.
    Level,
}

impl fmt::Display for Direction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Direction::Right => "right",
            Direction::Left => "left",
            Direction::Level => "level",
        })
    }
}

/// How far a sample lies from the training nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// Mean of the sample less mean of the training nodes.
    pub mean_shift: f64,
    /// Wasserstein-1 distance: by how much values have to move, on average, to turn one into the other.
    pub wasserstein: f64,
    /// Kolmogorov–Smirnov statistic: the larger of the next two.
    pub ks: f64,
    /// The largest share by which the sample has fewer values up to some point: how far it lies to the right.
    pub ks_right: f64,
    /// The largest share by which it has more.
    pub ks_left: f64,
    /// Which of the two is larger.
    pub direction: Direction,
}

impl Shift {
    /// Holds a sample against the training nodes; `None` when either is empty.
    pub fn between(train: &[f64], sample: &[f64]) -> Option<Self> {
        if train.is_empty() || sample.is_empty() {
            return None;
        }
        let (mut wasserstein, mut right, mut left) = (0f64, 0f64, 0f64);
        for (below_train, below_sample, width) in steps(&sorted(train), &sorted(sample)) {
            let gap = below_train as f64 / train.len() as f64 - below_sample as f64 / sample.len() as f64;
            wasserstein += gap.abs() * width;
            right = right.max(gap);
            left = left.max(-gap);
        }
        // Shares of different sizes differ in their last bit: thirds and sixths must come out level.
        let direction = match right - left {
            gap if gap > ROUNDING => Direction::Right,
            gap if gap < -ROUNDING => Direction::Left,
            _ => Direction::Level,
        };
        let mean_shift = mean(sample) - mean(train);
        Some(Shift {
            mean_shift,
            wasserstein,
            ks: right.max(left),
            ks_right: right,
            ks_left: left,
            direction,
        })
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// For each different value of two sorted lists: how many of each list do not exceed it, and how far it is to the
/// next value. Equal values take one step together: within a tie the counts mean nothing.
fn steps(a: &[f64], b: &[f64]) -> Vec<(usize, usize, f64)> {
    let (mut i, mut j, mut steps) = (0, 0, Vec::with_capacity(a.len() + b.len()));
    let smaller = |i: usize, j: usize| match (a.get(i), b.get(j)) {
        (Some(x), Some(y)) => Some(x.min(*y)),
        (x, y) => x.or(y).copied(),
    };
    while let Some(value) = smaller(i, j) {
        i += a[i..].partition_point(|x| *x <= value);
        j += b[j..].partition_point(|y| *y <= value);
        steps.push((i, j, smaller(i, j).map_or(0.0, |next| next - value)));
    }
    steps
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::linalg::random::generator;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn distances_are_those_worked_out_by_hand() {
        // Each value moves by 0.5; F - G is 1/2 between 0 and 0.5, and again between 0.5 and 1.
        let shift = Shift::between(&[0.0, 0.5], &[0.5, 1.0]).unwrap();
        assert!(close(shift.mean_shift, 0.5) && close(shift.wasserstein, 0.5) && close(shift.ks, 0.5));
        assert_eq!((shift.ks_right, shift.ks_left, shift.direction), (0.5, 0.0, Direction::Right));
        // Apart: everything has to move, by 0.4 and by 1, 0.7 on average.
        let shift = Shift::between(&[0.4, 1.0], &[0.0]).unwrap();
        assert!(close(shift.mean_shift, -0.7) && close(shift.wasserstein, 0.7));
        assert_eq!((shift.ks, shift.direction), (1.0, Direction::Left));
        // The same mean, wider: half of the sample moves 0.25 either way.
        let shift = Shift::between(&[0.5], &[0.25, 0.75]).unwrap();
        assert!(close(shift.mean_shift, 0.0) && close(shift.wasserstein, 0.25));
        assert_eq!((shift.ks_right, shift.ks_left, shift.direction), (0.5, 0.5, Direction::Level));
    }

    #[test]
    fn ties_take_one_step() {
        // Shares up to 0: 3/4 and 1/3; up to 1: all.
        let shift = Shift::between(&[0.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 1.0]).unwrap();
        assert!(close(shift.ks, 0.75 - 1.0 / 3.0) && close(shift.wasserstein, 0.75 - 1.0 / 3.0));
        assert_eq!((shift.ks_left, shift.direction), (0.0, Direction::Right));
        let same = Shift::between(&[0.2, 0.2, 0.9], &[0.9, 0.2, 0.2, 0.2, 0.9, 0.2]).unwrap();
        assert!(close(same.ks, 0.0) && close(same.wasserstein, 0.0));
        assert_eq!(same.direction, Direction::Level);
    }

    #[test]
    fn samples_of_one_size_move_in_order() {
        let mut rng = generator(3, 0);
        for size in [1, 2, 17, 200] {
            let mut draw =
                || (0..size).map(|_| f64::from(rng.random_range(0..20)) / 19.0).collect::<Vec<_>>();
            let (train, sample) = (draw(), draw());
            let shift = Shift::between(&train, &sample).unwrap();
            // Of lists of one length, the best plan moves the k-th smallest to the k-th smallest.
            let pairs = sorted(&train).into_iter().zip(sorted(&sample));
            let moved = pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / size as f64;
            assert!(close(shift.wasserstein, moved));
            assert!(shift.wasserstein + 1e-12 >= shift.mean_shift.abs());
            let back = Shift::between(&sample, &train).unwrap();
            assert_eq!((back.ks_left, back.ks_right), (shift.ks_right, shift.ks_left));
        }
    }

    #[test]
    fn nothing_has_no_shift() {
        assert_eq!(Shift::between(&[], &[0.5]), None);
        assert_eq!(Shift::between(&[0.5], &[]), None);
        let nothing = Distribution::of(&[], 3);
        assert_eq!((nothing.mean, nothing.quartiles, nothing.histogram), (None, None, vec![0; 3]));
    }

    #[test]
    fn values_on_the_edge_of_a_bin_belong_to_the_right_one() {
        let all = Distribution::of(&(0..=100).map(|n| f64::from(n) / 100.0).collect::<Vec<_>>(), 100);
        assert_eq!(all.histogram[..99], [1; 99]);
        assert_eq!((all.histogram[99], all.quartiles), (2, Some([0.25, 0.5, 0.75])));
        assert_eq!([0.0, 0.1, 0.3, 0.999, 1.0].map(|value| bin(value, 10)), [0, 1, 3, 9, 9]);
    }
}
