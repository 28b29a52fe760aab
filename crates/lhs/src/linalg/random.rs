//! Random numbers that depend on a seed and a position alone, never on the order of the calls.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Mat;

/// A generator for one purpose: the same seed and stream give the same numbers.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Mixes numbers into a seed: for a stage, an epoch, a layer.
pub fn derive(seed: u64, parts: &[u64]) -> u64 {
    parts.iter().fold(seed, |seed, part| {
        // The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
        let mut z = (seed ^ part.wrapping_mul(0xD1B5_4A32_D192_ED03)).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

/// Uniform weights of a layer, `[fan_in, fan_out]`, bound `sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010).
pub fn glorot(rng: &mut impl Rng, fan_in: usize, fan_out: usize) -> Mat {
    let bound = (6.0 / (fan_in + fan_out).max(1) as f32).sqrt();
    Mat::from_fn(fan_in, fan_out, |_, _| rng.random_range(-1.0f32..1.0) * bound)
}

/// A 32-bit hash of a position under a seed; good enough to decide what to drop, and it vectorises.
#[inline(always)]
pub(crate) fn hash(seed: u64, position: u32) -> u32 {
    // Two rounds of multiply and shift (constants found by Wellons' search for low bias).
    let mut x = position ^ seed as u32;
    x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B) ^ (seed >> 32) as u32;
    x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    x ^ (x >> 15)
}

/// Dropout: which positions are set to zero, and the factor that makes up for it.
#[derive(Clone, Copy)]
pub(crate) struct Mask {
    seed: u64,
    below: u32,
    /// Of what is kept: `1 / (1 - rate)`.
    scale: f32,
}

impl Mask {
    /// Drops a share `rate` of all positions.
    pub fn new(rate: f32, seed: u64) -> Self {
        let below = (f64::from(rate) * 2f64.powi(32)) as u32;
        Mask { seed, below, scale: if rate < 1.0 { 1.0 / (1.0 - rate) } else { 0.0 } }
    }

    /// Whether it drops anything.
    #[inline(always)]
    pub fn drops(self) -> bool {
        self.below > 0
    }

    /// Whether a position is spared.
    #[inline(always)]
    pub fn keeps(self, position: u32) -> bool {
        hash(self.seed, position) >= self.below
    }

    /// What is left of a value at a position.
    #[inline(always)]
    pub fn apply(self, position: u32, value: f32) -> f32 {
        if self.keeps(position) { value * self.scale } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_spread_evenly() {
        for seed in [0, 1, derive(7, &[3])] {
            let below = (0..100_000).filter(|&i| hash(seed, i) < u32::MAX / 10 * 3).count();
            assert!((29_000..31_000).contains(&below), "{below}");
        }
        let agree = (0..100_000).filter(|&i| (hash(1, i) ^ hash(2, i)) >> 31 == 0).count();
        assert!((49_000..51_000).contains(&agree), "{agree}");
    }

    #[test]
    fn derived_seeds_differ_by_every_part() {
        let seeds = [derive(0, &[]), derive(0, &[0]), derive(0, &[1]), derive(0, &[0, 1]), derive(1, &[0])];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[i + 1..].iter().all(|b| a != b));
        }
    }
}
