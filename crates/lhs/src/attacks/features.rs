//! Attacks on the features of the test nodes: noise, and masking.
//!
//! *Noise*: dense features get Gaussian noise of standard deviation `rate` times that of all entries; of sparse ones,
//! a share `rate` of a node's entries moves to columns drawn evenly, so that they stay sparse. *Masking*: a share
//! `rate` of a node's non-zero entries becomes 0. Every node draws from a generator of its own.
//! Cost: one pass over the features.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::Result;
use crate::graph::Features;
use crate::linalg::random::generator;
use crate::linalg::{Pattern, SparseMat};

/// Settings of the noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NoiseConfig {
    /// How strong the noise is, 0..=10.
    pub rate: f64,
}

/// Settings of the masking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaskingConfig {
    /// Share of a node's non-zero entries that become 0, 0..=1.
    pub rate: f64,
}

impl Default for NoiseConfig {
    fn default() -> Self {
        NoiseConfig { rate: 0.5 }
    }
}

impl Default for MaskingConfig {
    fn default() -> Self {
        MaskingConfig { rate: 0.5 }
    }
}

impl Attack for NoiseConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 10.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        context.need_features()?;
        if self.rate == 0.0 {
            return Ok(Change::default());
        }
        let features = match context.dataset.features() {
            Features::Dense(mat) => {
                let mut mat = mat.clone();
                let spread = (self.rate * standard_deviation(mat.as_slice())) as f32;
                for &node in &context.split.test {
                    let mut rng = generator(seed, u64::from(node));
                    mat.row_mut(node as usize).iter_mut().for_each(|v| *v += spread * gaussian(&mut rng));
                }
                Features::Dense(mat)
            }
            Features::Sparse(mat) => change_rows(mat, &context.split.test, |node, row| {
                let mut rng = generator(seed, u64::from(node));
                let columns = mat.cols() as u32;
                let mut moved = row.clone();
                for place in some_places(row.len(), self.rate.min(1.0), &mut rng) {
                    moved[place].0 = rng.random_range(0..columns);
                }
                moved.sort_unstable_by_key(|(column, _)| *column);
                // Two entries that meet stay one.
                moved.dedup_by_key(|(column, _)| *column);
                *row = moved;
            }),
        };
        Ok(Change { features: Some(features), ..Change::default() })
    }
}

impl Attack for MaskingConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        context.need_features()?;
        let places =
            |node: u32, count: usize| some_places(count, self.rate, &mut generator(seed, u64::from(node)));
        let features = match context.dataset.features() {
            Features::Dense(mat) => {
                let mut mat = mat.clone();
                for &node in &context.split.test {
                    let row = mat.row_mut(node as usize);
                    let full: Vec<usize> = (0..row.len()).filter(|&column| row[column] != 0.0).collect();
                    places(node, full.len()).into_iter().for_each(|place| row[full[place]] = 0.0);
                }
                Features::Dense(mat)
            }
            Features::Sparse(mat) => change_rows(mat, &context.split.test, |node, row| {
                let gone = places(node, row.len());
                let kept = (0..row.len()).filter(|place| !gone.contains(place)).map(|place| row[place]);
                *row = kept.collect();
            }),
        };
        Ok(Change { features: Some(features), ..Change::default() })
    }
}

/// A share of the places `0..count`, at least one if the share is not 0, drawn evenly.
fn some_places(count: usize, share: f64, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let number = (share * count as f64).ceil() as usize;
    let mut places: Vec<usize> = (0..count).collect();
    places.shuffle(rng);
    places.truncate(number);
    places
}

/// A sparse matrix in which the entries of some rows are others.
fn change_rows(mat: &SparseMat, rows: &[u32], change: impl Fn(u32, &mut Vec<(u32, f32)>)) -> Features {
    let mut indptr = vec![0];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for row in 0..mat.rows() {
        let mut entries: Vec<(u32, f32)> = mat.row(row).collect();
        if rows.binary_search(&(row as u32)).is_ok() {
            change(row as u32, &mut entries);
        }
        indices.extend(entries.iter().map(|(column, _)| *column));
        values.extend(entries.iter().map(|(_, value)| *value));
        indptr.push(indices.len());
    }
    Features::Sparse(SparseMat::new(Arc::new(Pattern::new(mat.rows(), mat.cols(), indptr, indices)), values))
}

fn standard_deviation(values: &[f32]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
    (values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// A draw from the standard normal distribution (Box and Muller).
fn gaussian(rng: &mut ChaCha8Rng) -> f32 {
    let (radius, angle) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    ((-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()) as f32
}

/// Noise in the list of attacks.
pub const NOISE: AttackKind = AttackKind {
    name: "feature-noise",
    summary: "adds noise to the features of the test nodes",
    defaults: registry::defaults::<NoiseConfig>,
    build: registry::build::<NoiseConfig>,
};

/// Masking in the list of attacks.
pub const MASKING: AttackKind = AttackKind {
    name: "feature-masking",
    summary: "sets features of the test nodes to 0",
    defaults: registry::defaults::<MaskingConfig>,
    build: registry::build::<MaskingConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Dataset;
    use crate::graph::synth::SynthConfig;
    use crate::linalg::Mat;

    fn both_layouts() -> [Dataset; 2] {
        let dataset = SynthConfig { nodes: 100, ..SynthConfig::default() }.generate(0).unwrap();
        let rows: Vec<Vec<f32>> = (0..100u32)
            .map(|n| (0..40u32).map(|c| if (n * 7 + c * 3) % 10 == 0 { 1.0 } else { 0.0 }).collect())
            .collect();
        let sparse = Features::from_dense(Mat::from_fn(100, 40, |row, col| rows[row][col]));
        assert!(matches!(sparse, Features::Sparse(_)));
        let dense = Features::Dense(Mat::from_fn(100, 6, |row, col| (row * 6 + col + 1) as f32));
        [sparse, dense].map(|features| dataset.clone().with_features(features).unwrap())
    }

    #[test]
    fn masking_takes_the_share_of_every_test_node_and_of_no_other() {
        for dataset in both_layouts() {
            let split = &dataset.splits()[0];
            let attacked =
                MaskingConfig { rate: 0.5 }.perturb(&AttackContext::new(&dataset, split), 0).unwrap();
            for node in 0..100 {
                let count = |features: &Features| features.row_nonzeros(node).len();
                let (before, after) = (count(dataset.features()), count(attacked.dataset.features()));
                let is_test = split.test.binary_search(&(node as u32)).is_ok();
                assert_eq!(after, if is_test { before / 2 } else { before }, "node {node}");
            }
        }
    }

    #[test]
    fn noise_grows_with_the_rate_and_stays_sparse() {
        for dataset in both_layouts() {
            let split = &dataset.splits()[0];
            let distance = |rate| {
                let attacked = NoiseConfig { rate }.perturb(&AttackContext::new(&dataset, split), 0).unwrap();
                let other = attacked.dataset.features();
                assert_eq!(
                    matches!(other, Features::Sparse(_)),
                    matches!(dataset.features(), Features::Sparse(_))
                );
                assert_eq!(attacked.record.feature_rows_changed, split.test.len());
                split.test.iter().filter(|&&n| n % 3 == 0).map(|&n| n as usize).fold(0.0, |sum, n| {
                    let dense = |features: &Features| {
                        let mut row = vec![0f32; features.dim()];
                        features.row_nonzeros(n).iter().for_each(|(c, v)| row[*c as usize] = *v);
                        row
                    };
                    let pairs = dense(dataset.features()).into_iter().zip(dense(other));
                    sum + pairs.map(|(a, b)| f64::from((a - b).powi(2))).sum::<f64>()
                })
            };
            let distances = [0.3, 1.0].map(distance);
            assert!(distances[0] < distances[1], "{distances:?}");
        }
    }
}
