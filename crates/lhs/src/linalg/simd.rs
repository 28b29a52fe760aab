//! CPU features chosen at run time: the binary runs on any machine and uses what this one has.

use std::sync::OnceLock;

/// Runs a loop compiled for the best instruction set of this machine (AVX-512, AVX2, NEON, or the baseline).
///
/// The closure is inlined into one copy per instruction set, and the compiler vectorises each; whatever it
/// calls has to be `#[inline(always)]` to be compiled along with it.
#[inline(always)]
pub(crate) fn vectorised<R>(run: impl FnOnce() -> R) -> R {
    static ARCH: OnceLock<pulp::Arch> = OnceLock::new();
    ARCH.get_or_init(pulp::Arch::new).dispatch(run)
}

/// `e^x` to about 2 units in the last place, without branches, so that loops over it vectorise.
///
/// Splits `x = n ln 2 + r` with `|r| <= ln 2 / 2`; a polynomial gives `e^r`, the exponent bits `2^n`.
/// Results below the smallest normal number become 0; arguments above 88 give the largest finite power.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.0, 88.0);
    let rounded = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, clamped));
    let mut p = 1.987_569_1e-4f32;
    p = p.mul_add(r, 1.398_199_9e-3);
    p = p.mul_add(r, 8.333_452e-3);
    p = p.mul_add(r, 4.166_579_6e-2);
    p = p.mul_add(r, 1.666_666_5e-1);
    p = p.mul_add(r, 5e-1);
    let power = (p * r).mul_add(r, r) + 1.0;
    let scale = f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    if x < -87.0 { 0.0 } else { power * scale }
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let e = exp(-2.0 * x.abs());
    ((1.0 - e) / (1.0 + e)).copysign(x)
}

/// Sum of products over slices of one length, in sixteen fixed lanes: the same bits on every run.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    let (a_blocks, a_rest) = a.as_chunks::<16>();
    let (b_blocks, b_rest) = b.as_chunks::<16>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..16 {
            lanes[lane] = a[lane].mul_add(b[lane], lanes[lane]);
        }
    }
    let mut sum = lanes.iter().sum::<f32>();
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum = a.mul_add(*b, sum);
    }
    sum
}

/// Sum over a slice, in sixteen fixed lanes.
#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    let (blocks, rest) = values.as_chunks::<16>();
    for block in blocks {
        for lane in 0..16 {
            lanes[lane] += block[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

/// `to += factor * from`.
#[inline(always)]
pub(crate) fn axpy(to: &mut [f32], factor: f32, from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = factor.mul_add(*from, *to);
    }
}

/// Asks for the cache lines of a slice that is read soon, so that many are on their way at once.
#[inline(always)]
pub(crate) fn prefetch(values: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..values.len()).step_by(16) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction; it reads nothing, and the address is one of the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate_over_the_whole_range() {
        let mut worst = 0f64;
        for step in -870_000..880_000 {
            let x = step as f32 * 1e-4;
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(worst < 3e-7, "relative error {worst}");
        assert_eq!((exp(0.0), exp(-1000.0)), (1.0, 0.0));
        assert!(exp(1000.0).is_finite());
    }

    #[test]
    fn dot_and_sum_cover_the_remainder() {
        let a: Vec<f32> = (0..37).map(|i| i as f32).collect();
        assert_eq!(sum(&a), 666.0);
        assert_eq!(dot(&a, &a), a.iter().map(|x| x * x).sum::<f32>());
    }
}
