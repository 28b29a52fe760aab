//! k-means: rows into groups around their means (Lloyd 1982), started by k-means++ (Arthur and Vassilvitskii 2007).
//!
//! Of several starts the one with the least sum of squared distances is kept. Same rows and seed: same groups.
//! Cost: `O(starts * rounds * n k d)`.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::linalg::Mat;
use crate::linalg::random::generator;

const STARTS: u64 = 10;
const ROUNDS: usize = 100;

/// The group of each row, `0..groups`.
pub fn kmeans(rows: &Mat, groups: usize, seed: u64) -> Vec<u32> {
    let groups = groups.clamp(1, rows.rows().max(1));
    let run = |start| lloyd(rows, plus_plus(rows, groups, &mut generator(seed, start)));
    let runs = (0..STARTS).map(run);
    let best = runs.min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or_else(Vec::new, |(groups, _)| groups)
}

/// Sum of squared distances of rows to the means of their groups.
pub fn spread(rows: &Mat, of: &[u32], groups: usize) -> f64 {
    let centres = means(rows, of, groups);
    (0..rows.rows()).map(|row| distance(rows.row(row), centres.row(of[row] as usize))).sum()
}

/// Rows far from all chosen before are likely to be chosen next.
fn plus_plus(rows: &Mat, groups: usize, rng: &mut ChaCha8Rng) -> Mat {
    let n = rows.rows();
    let mut centres = Mat::zeros(groups, rows.cols());
    let mut nearest = vec![f64::INFINITY; n];
    for group in 0..groups {
        let total: f64 = nearest.iter().sum();
        let chosen = if group == 0 || total <= 0.0 {
            rng.random_range(0..n.max(1))
        } else {
            let mut left = rng.random::<f64>() * total;
            let passed = nearest.iter().position(|d| {
                left -= d;
                left <= 0.0
            });
            passed.unwrap_or(n - 1)
        };
        if n > 0 {
            centres.row_mut(group).copy_from_slice(rows.row(chosen));
        }
        for (row, nearest) in nearest.iter_mut().enumerate() {
            *nearest = nearest.min(distance(rows.row(row), centres.row(group)));
        }
    }
    centres
}

fn lloyd(rows: &Mat, mut centres: Mat) -> (Vec<u32>, f64) {
    let groups = centres.rows();
    let mut of = vec![u32::MAX; rows.rows()];
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (row, own) in of.iter_mut().enumerate() {
            let distances =
                (0..groups).map(|group| (group as u32, distance(rows.row(row), centres.row(group))));
            let found = distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(group, _)| group);
            changed |= found != *own;
            *own = found;
        }
        if !changed {
            break;
        }
        let moved = means(rows, &of, groups);
        for group in 0..groups {
            // A group that lost all its rows stays where it is.
            if of.iter().any(|&own| own as usize == group) {
                centres.row_mut(group).copy_from_slice(moved.row(group));
            }
        }
    }
    let total = spread(rows, &of, groups);
    (of, total)
}

fn means(rows: &Mat, of: &[u32], groups: usize) -> Mat {
    let (mut sums, mut counts) = (vec![0f64; groups * rows.cols()], vec![0usize; groups]);
    for (row, &group) in of.iter().enumerate() {
        let group = group as usize;
        counts[group] += 1;
        let sum = &mut sums[group * rows.cols()..(group + 1) * rows.cols()];
        sum.iter_mut().zip(rows.row(row)).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let mut means = Mat::zeros(groups, rows.cols());
    for (group, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let sum = &sums[group * rows.cols()..(group + 1) * rows.cols()];
        means.row_mut(group).iter_mut().zip(sum).for_each(|(mean, sum)| *mean = (sum / count as f64) as f32);
    }
    means
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_lie_apart_are_found() {
        let mut rows = Mat::zeros(60, 2);
        for row in 0..60 {
            let centre = [(0.0, 0.0), (5.0, 0.0), (0.0, 5.0)][row % 3];
            let wobble = (row as f32 * 0.7).sin() * 0.5;
            rows.row_mut(row).copy_from_slice(&[centre.0 + wobble, centre.1 - wobble]);
        }
        let of = kmeans(&rows, 3, 1);
        assert!((0..60).all(|row| of[row] == of[row % 3]));
        assert!(of[0] != of[1] && of[1] != of[2] && of[0] != of[2]);
        assert_eq!(of, kmeans(&rows, 3, 1));
        assert!(spread(&rows, &of, 3) < spread(&rows, &kmeans(&rows, 2, 1), 2));
    }

    #[test]
    fn odd_inputs_are_no_trouble() {
        assert_eq!(kmeans(&Mat::zeros(4, 3), 2, 0).len(), 4, "all rows alike");
        assert_eq!(kmeans(&Mat::full(2, 1, 1.0), 5, 0).len(), 2, "fewer rows than groups");
        assert!(kmeans(&Mat::zeros(0, 3), 2, 0).is_empty());
    }
}
