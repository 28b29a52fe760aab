//! Additive attention over the entries of a pattern, all heads at once, forward and back (Veličković et al. 2018).
//!
//! `out_i = Σ_j w_ij x_j` with `w_ij = dropped(a_ij)` and `a_ij = softmax_j(leaky_relu(to_i + from_j))`, each head its own
//! column of `to [m,heads]` and `from [n,heads]` and its own block of columns of `x [n, heads * columns]`.
//!
//! Nothing as long as the entries is stored: the way back finds the weights again from `log Σ_j exp` of each row and the
//! mask of dropout from the position. It visits the entries once, by columns. What it needs of whole rows comes of sums
//! the way there took: `Σ_j a_ij ∂a_ij = <g_i, out_i>`; and since the gradients of the scores of a row cancel, that of
//! `to_i` is `1 - slope` times their sum over the entries of positive score, which the weighted sum over these entries
//! gives. Cost: `entries * heads` exponentials and `entries * heads * columns` multiply-adds, twice as many with a trace and
//! on the way back.
//!
//! Every row, on the way back every column, is worked on alone: the bits do not depend on the number of threads.

use super::parallel::{fill_rows, fill_rows_of_two};
use super::random::Mask;
use super::simd::{self, vectorised};
use super::{Mat, Pattern};

/// What is attended to, and how.
pub(crate) struct Attention<'a> {
    /// Row `i` attends to the columns it stores, `[m,n]`.
    pub pattern: &'a Pattern,
    /// What rows add to their scores, `[m, heads]`.
    pub to: &'a Mat,
    /// What columns add to their scores, `[n, heads]`.
    pub from: &'a Mat,
    /// What is averaged, `[n, heads * columns]`.
    pub x: &'a Mat,
    /// Of negative scores.
    pub slope: f32,
    /// Drops weights; the position of an entry's weight is `entry * heads + head`.
    pub mask: Mask,
}

/// What the way back needs of each row: the part of the result that comes from positive scores, the share of the weights
/// (before dropout) that has them, and the logarithm of the sum of exponentials, side by side:
/// `[m, heads * columns + 2 * heads]`.
pub(crate) struct Trace(Mat);

/// Gradients of all that was read.
pub(crate) struct Pulled {
    pub to: Mat,
    pub from: Mat,
    pub x: Mat,
}

/// Calls a method for a number of heads known to the compiler where it is a common one, 0 for any other.
macro_rules! for_heads {
    ($heads:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        match $heads {
            1 => $self.$method::<1>($($argument),*),
            2 => $self.$method::<2>($($argument),*),
            4 => $self.$method::<4>($($argument),*),
            8 => $self.$method::<8>($($argument),*),
            _ => $self.$method::<0>($($argument),*),
        }
    };
}

impl Attention<'_> {
    fn heads(&self) -> usize {
        self.to.cols()
    }

    /// Columns of each head.
    fn columns(&self) -> usize {
        self.x.cols() / self.heads().max(1)
    }

    /// About the multiply-adds of a row: the score of an entry costs about as much as sixteen.
    fn row_work(&self, rows: usize) -> usize {
        (self.x.cols() + 16 * self.heads()) * (self.pattern.nnz() / rows.max(1) + 1)
    }

    /// The weighted sums, `[m, heads * columns]`.
    pub fn forward(&self) -> Mat {
        let mut out = self.room();
        fill_rows(out.as_mut_slice(), self.x.cols(), self.row_work(self.pattern.rows()), |first, out| {
            for_heads!(self.heads(), self.rows(first, out, &mut []));
        });
        out
    }

    /// The same, and what [`Attention::backward`] needs.
    pub fn forward_traced(&self) -> (Mat, Trace) {
        let mut out = self.room();
        let mut trace = Mat::scratch(out.rows(), out.cols() + 2 * self.heads());
        fill_rows_of_two(&mut out, &mut trace, self.row_work(self.pattern.rows()), |first, out, trace| {
            for_heads!(self.heads(), self.rows(first, out, trace));
        });
        (out, Trace(trace))
    }

    /// The gradients, when that of the result `out` is `g`.
    pub fn backward(&self, g: &Mat, out: &Mat, trace: &Trace) -> Pulled {
        let heads = self.heads();
        let (mut facts, mut to) = (Mat::scratch(out.rows(), 3 * heads), Mat::scratch(out.rows(), heads));
        fill_rows_of_two(&mut facts, &mut to, 4 * self.x.cols(), |first, facts, to| {
            self.facts(first, facts, to, g, out, &trace.0);
        });
        let (mut x, mut from) =
            (Mat::scratch(self.x.rows(), self.x.cols()), Mat::scratch(self.x.rows(), heads));
        fill_rows_of_two(&mut x, &mut from, 2 * self.row_work(self.pattern.cols()), |first, x, from| {
            for_heads!(heads, self.columns_back(first, x, from, g, &facts));
        });
        Pulled { to, from, x }
    }

    /// Room for the result; checks that all fits.
    fn room(&self) -> Mat {
        let (rows, cols) = (self.pattern.rows(), self.pattern.cols());
        assert_eq!(self.to.rows(), rows, "a score for each row");
        assert_eq!(self.from.shape(), (cols, self.heads()), "a score for each column");
        assert_eq!(self.x.shape(), (cols, self.heads() * self.columns()), "as many columns for each head");
        Mat::scratch(rows, self.x.cols())
    }

    /// Rows from `first` on; `trace` is empty when nobody asks for it.
    fn rows<const H: usize>(&self, first: usize, out: &mut [f32], trace: &mut [f32]) {
        let width = self.x.cols();
        let traced = if trace.is_empty() { 0 } else { width + 2 * self.heads() };
        vectorised(
            #[inline(always)]
            || {
                let mut room = Room::default();
                for (offset, out) in out.chunks_exact_mut(width).enumerate() {
                    self.row::<H>(first + offset, out, &mut trace[offset * traced..][..traced], &mut room);
                }
            },
        );
    }

    #[inline(always)]
    fn row<const H: usize>(&self, row: usize, out: &mut [f32], trace: &mut [f32], room: &mut Room) {
        let heads = known::<H>(self.heads());
        let indices = self.pattern.row(row);
        if indices.is_empty() {
            out.fill(0.0);
            trace.fill(0.0);
            return;
        }
        let (slope, flat) = (self.slope, indices.len() * heads);
        let Room { scores, weights, early, tops, totals, .. } = room;
        tops.resize(heads, 0.0);
        totals.resize(heads, 0.0);
        for buffer in [&mut *scores, &mut *weights, &mut *early] {
            buffer.resize(flat.next_multiple_of(LANES), 0.0);
        }
        let to = &self.to.as_slice()[row * heads..][..heads];
        let (from, x, stride) = (self.from.as_slice(), self.x.as_slice(), self.x.cols());
        for (scores, &col) in scores.chunks_exact_mut(heads).zip(indices) {
            simd::prefetch(&x[col as usize * stride..][..stride]);
            let from = &from[col as usize * heads..][..heads];
            each::<H, f32>(scores, |head| leaky_relu(to[head] + from[head], slope));
        }
        scores[flat..].fill(f32::NEG_INFINITY);
        fold::<H>(tops, f32::NEG_INFINITY, scores, scores, flat, |top, score, _| top.max(score), f32::max);
        spread::<H>(weights, scores, tops, |score, top| simd::exp(score - top));
        fold::<H>(totals, 0.0, weights, weights, flat, |sum, weight, _| sum + weight, |a, b| a + b);

        let traced = !trace.is_empty();
        let (positive, rest) = trace.split_at_mut(if traced { out.len() } else { 0 });
        let (shares, logs) = rest.split_at_mut(rest.len() / 2);
        if traced {
            let step = |sum, score: f32, weight| if score > 0.0 { sum + weight } else { sum };
            fold::<H>(shares, 0.0, scores, weights, flat, step, |a, b| a + b);
            for head in 0..heads {
                shares[head] /= totals[head];
                logs[head] = tops[head] + totals[head].ln();
            }
        }
        totals.iter_mut().for_each(|total| *total = total.recip());
        early.copy_from_slice(weights);
        spread::<H>(weights, early, totals, |weight, factor| weight * factor);
        let (mask, first) = (self.mask, (self.pattern.row_range(row).start * heads) as u32);
        if mask.drops() {
            for (weights, block) in weights.as_chunks_mut::<LANES>().0.iter_mut().zip(0u32..) {
                let at = first.wrapping_add(block * LANES as u32);
                for lane in 0..LANES {
                    weights[lane] = mask.apply(at.wrapping_add(lane as u32), weights[lane]);
                }
            }
        }
        if traced {
            lanes(early, weights, scores, |_, weight, score| if score > 0.0 { weight } else { 0.0 });
            let mut sums = Sums::<true> { of: self, indices, weights, early, out, positive };
            in_blocks(heads, self.columns(), &mut sums);
        } else {
            let mut sums = Sums::<false> { of: self, indices, weights, early, out, positive };
            in_blocks(heads, self.columns(), &mut sums);
        }
    }

    /// Of every row from `first` on what its entries need on the way back, side by side: its score, the logarithm of its
    /// sum of exponentials, `<g_i, out_i>`; and the gradient of its score.
    fn facts(&self, first: usize, facts: &mut [f32], pulled: &mut [f32], g: &Mat, out: &Mat, trace: &Mat) {
        let (heads, columns, slope) = (self.heads(), self.columns(), self.slope);
        vectorised(
            #[inline(always)]
            || {
                let rows = facts.chunks_exact_mut(3 * heads).zip(pulled.chunks_exact_mut(heads));
                for (row, (facts, pulled)) in (first..).zip(rows) {
                    let (g, out) = (g.row(row), out.row(row));
                    let (positive, rest) = trace.row(row).split_at(out.len());
                    let (shares, logs) = rest.split_at(heads);
                    facts[..heads].copy_from_slice(self.to.row(row));
                    facts[heads..2 * heads].copy_from_slice(logs);
                    for head in 0..heads {
                        let own = head * columns..(head + 1) * columns;
                        let all = simd::dot(&g[own.clone()], &out[own.clone()]);
                        facts[2 * heads + head] = all;
                        let positive = simd::dot(&g[own.clone()], &positive[own]);
                        pulled[head] = (1.0 - slope) * (positive - all * shares[head]);
                    }
                }
            },
        );
    }

    /// The gradients of columns from `first` on.
    fn columns_back<const H: usize>(
        &self,
        first: usize,
        x: &mut [f32],
        from: &mut [f32],
        g: &Mat,
        facts: &Mat,
    ) {
        let (heads, width) = (self.heads(), self.x.cols());
        vectorised(
            #[inline(always)]
            || {
                let mut room = Room::default();
                let columns = x.chunks_exact_mut(width).zip(from.chunks_exact_mut(heads));
                for (column, (x, from)) in (first..).zip(columns) {
                    self.column_back::<H>(column, x, from, g.as_slice(), facts.as_slice(), &mut room);
                }
            },
        );
    }

    #[inline(always)]
    fn column_back<const H: usize>(
        &self,
        column: usize,
        x: &mut [f32],
        from: &mut [f32],
        g: &[f32],
        facts: &[f32],
        room: &mut Room,
    ) {
        let heads = known::<H>(self.heads());
        let t = self.pattern.transpose();
        let range = t.indptr[column]..t.indptr[column + 1];
        let (indices, entries) = (&t.indices[range.clone()], &t.entry[range]);
        let (slope, mask, flat) = (self.slope, self.mask, indices.len() * heads);
        let padded = flat.next_multiple_of(LANES);
        let Room { scores, weights, shares, means, dots, positions, .. } = room;
        for buffer in [&mut *scores, &mut *weights, &mut *shares, &mut *means, &mut *dots] {
            buffer.resize(padded, 0.0);
        }
        positions.resize(padded, 0);
        let (own, stride) = (&self.from.as_slice()[column * heads..][..heads], self.x.cols());
        for (place, (&row, &entry)) in indices.iter().zip(entries).enumerate() {
            simd::prefetch(&g[row as usize * stride..][..stride]);
            let facts = &facts[row as usize * 3 * heads..][..3 * heads];
            let here = place * heads..(place + 1) * heads;
            each::<H, f32>(&mut scores[here.clone()], |head| facts[head] + own[head]);
            each::<H, f32>(&mut shares[here.clone()], |head| facts[heads + head]);
            each::<H, f32>(&mut means[here.clone()], |head| facts[2 * heads + head]);
            let first = entry.wrapping_mul(heads as u32);
            each::<H, u32>(&mut positions[here], |head| first.wrapping_add(head as u32));
        }
        scores[flat..].fill(0.0);
        shares[flat..].fill(f32::INFINITY);
        means[flat..].fill(0.0);
        lanes(weights, scores, shares, |_, score, log| simd::exp(leaky_relu(score, slope) - log));
        shares.copy_from_slice(weights);
        if mask.drops() {
            let blocks = weights.as_chunks_mut::<LANES>().0.iter_mut().zip(positions.as_chunks::<LANES>().0);
            for (weights, at) in blocks {
                for lane in 0..LANES {
                    weights[lane] = mask.apply(at[lane], weights[lane]);
                }
            }
        }
        let own = &self.x.as_slice()[column * stride..][..stride];
        dots.fill(0.0);
        in_blocks(heads, self.columns(), &mut Pull { of: self, indices, weights, g, own, dots, out: x });
        // share * (scale * dot - mean) where the share was kept, share * -mean where it was dropped.
        lanes(dots, weights, shares, |dot, weight, _| weight * dot);
        lanes(shares, dots, means, |share, pulled, mean| pulled - share * mean);
        let sloped = |sum, score: f32, share: f32| sum + if score > 0.0 { share } else { slope * share };
        fold::<H>(from, 0.0, scores, shares, flat, sloped, |a, b| a + b);
    }
}

/// Buffers of one row, used again for the next: all heads of an entry, then those of the next entry, and as many more as
/// fill the last lanes.
#[derive(Default)]
struct Room {
    scores: Vec<f32>,
    weights: Vec<f32>,
    /// Weights of positive scores.
    early: Vec<f32>,
    shares: Vec<f32>,
    means: Vec<f32>,
    dots: Vec<f32>,
    positions: Vec<u32>,
    /// One per head.
    tops: Vec<f32>,
    totals: Vec<f32>,
}

/// Numbers that are worked on together.
const LANES: usize = 16;

/// The number of heads, a constant where the compiler knows it.
#[inline(always)]
fn known<const H: usize>(heads: usize) -> usize {
    if H == 0 { heads } else { H }
}

#[inline(always)]
fn leaky_relu(x: f32, slope: f32) -> f32 {
    if x > 0.0 { x } else { slope * x }
}

/// Something for each head. All is found before any of it is written, so that one vector can hold it.
#[inline(always)]
fn each<const H: usize, T: Copy + Default>(out: &mut [T], of: impl Fn(usize) -> T) {
    if H == 0 {
        for (head, out) in out.iter_mut().enumerate() {
            *out = of(head);
        }
        return;
    }
    let mut found = [T::default(); H];
    for head in 0..H {
        found[head] = of(head);
    }
    out.copy_from_slice(&found);
}

/// `out = f(out, a, b)` in whole lanes.
#[inline(always)]
fn lanes(out: &mut [f32], a: &[f32], b: &[f32], f: impl Fn(f32, f32, f32) -> f32) {
    let of = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    for (out, (a, b)) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(of) {
        for lane in 0..LANES {
            out[lane] = f(out[lane], a[lane], b[lane]);
        }
    }
}

/// `out = f(value, what its head says)`.
#[inline(always)]
fn spread<const H: usize>(out: &mut [f32], values: &[f32], heads: &[f32], f: impl Fn(f32, f32) -> f32) {
    if H == 0 {
        for (out, values) in out.chunks_mut(heads.len()).zip(values.chunks(heads.len())) {
            for ((out, value), head) in out.iter_mut().zip(values).zip(heads) {
                *out = f(*value, *head);
            }
        }
        return;
    }
    let mut repeated = [0f32; LANES];
    for lane in 0..LANES {
        repeated[lane] = heads[lane % H];
    }
    for (out, values) in out.as_chunks_mut::<LANES>().0.iter_mut().zip(values.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            out[lane] = f(values[lane], repeated[lane]);
        }
    }
}

/// `step` over the entries of each head, from `start`, in a fixed number of lanes that `join` then joins.
#[inline(always)]
fn fold<const H: usize>(
    out: &mut [f32],
    start: f32,
    a: &[f32],
    b: &[f32],
    flat: usize,
    step: impl Fn(f32, f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) {
    if H == 0 {
        out.fill(start);
        for (a, b) in a[..flat].chunks_exact(out.len()).zip(b.chunks_exact(out.len())) {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = step(*out, *a, *b);
            }
        }
        return;
    }
    let mut lanes = [start; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            lanes[lane] = step(lanes[lane], a[lane], b[lane]);
        }
    }
    for (head, out) in out.iter_mut().enumerate() {
        *out = lanes[head];
        for lane in (head + H..LANES).step_by(H) {
            *out = join(*out, lanes[lane]);
        }
    }
}

/// What is done to `G` heads and `W` columns of each at once: so many that the registers hold their sums.
trait Block {
    fn run<const G: usize, const W: usize>(&mut self, head: usize, column: usize);
}

/// Covers all heads and columns.
#[inline(always)]
fn in_blocks(heads: usize, columns: usize, block: &mut impl Block) {
    let mut head = 0;
    macro_rules! cover {
        ($group:literal: $($width:literal)*) => {
            while heads - head >= $group {
                let mut column = 0;
                $(while columns - column >= $width {
                    block.run::<$group, $width>(head, column);
                    column += $width;
                })*
                head += $group;
            }
        };
    }
    cover!(4: 16 8 4 2 1);
    cover!(1: 16 8 7 6 5 4 3 2 1);
}

/// The weighted sums of one row.
struct Sums<'a, const TRACED: bool> {
    of: &'a Attention<'a>,
    indices: &'a [u32],
    weights: &'a [f32],
    /// Those of positive scores, for a trace.
    early: &'a [f32],
    out: &'a mut [f32],
    positive: &'a mut [f32],
}

impl<const TRACED: bool> Block for Sums<'_, TRACED> {
    #[inline(always)]
    fn run<const G: usize, const W: usize>(&mut self, head: usize, column: usize) {
        let (heads, columns, stride) = (self.of.heads(), self.of.columns(), self.of.x.cols());
        let (x, at) = (self.of.x.as_slice(), head * columns + column);
        let (mut all, mut early) = ([[0f32; W]; G], [[0f32; W]; G]);
        for (place, &index) in self.indices.iter().enumerate() {
            let x = &x[index as usize * stride + at..][..(G - 1) * columns + W];
            let weights = &self.weights[place * heads + head..][..G];
            for g in 0..G {
                add(&mut all[g], weights[g], own::<W>(x, g, columns));
            }
            if TRACED {
                let weights = &self.early[place * heads + head..][..G];
                for g in 0..G {
                    add(&mut early[g], weights[g], own::<W>(x, g, columns));
                }
            }
        }
        for g in 0..G {
            self.out[at + g * columns..][..W].copy_from_slice(&all[g]);
            if TRACED {
                self.positive[at + g * columns..][..W].copy_from_slice(&early[g]);
            }
        }
    }
}

/// The gradient of one row of `x`, and what its entries need for those of the scores.
struct Pull<'a> {
    of: &'a Attention<'a>,
    indices: &'a [u32],
    weights: &'a [f32],
    g: &'a [f32],
    own: &'a [f32],
    /// `<g_i, x_j>` is added to these.
    dots: &'a mut [f32],
    out: &'a mut [f32],
}

impl Block for Pull<'_> {
    #[inline(always)]
    fn run<const G: usize, const W: usize>(&mut self, head: usize, column: usize) {
        let (heads, columns, stride) = (self.of.heads(), self.of.columns(), self.of.x.cols());
        let at = head * columns + column;
        let (mut x, mut all) = ([[0f32; W]; G], [[0f32; W]; G]);
        for g in 0..G {
            x[g].copy_from_slice(&self.own[at + g * columns..][..W]);
        }
        for (place, &index) in self.indices.iter().enumerate() {
            let from = &self.g[index as usize * stride + at..][..(G - 1) * columns + W];
            let weights = &self.weights[place * heads + head..][..G];
            let dots = &mut self.dots[place * heads + head..][..G];
            for g in 0..G {
                let from = own::<W>(from, g, columns);
                add(&mut all[g], weights[g], from);
                dots[g] += dot::<W>(from, &x[g]);
            }
        }
        for g in 0..G {
            self.out[at + g * columns..][..W].copy_from_slice(&all[g]);
        }
    }
}

/// `W` columns of head `g` of a row whose first head begins it. A check for each head would be most of the loop.
#[inline(always)]
fn own<const W: usize>(row: &[f32], g: usize, columns: usize) -> &[f32; W] {
    debug_assert!(g * columns + W <= row.len());
    // SAFETY: callers cut `row` to `(G - 1) * columns + W` numbers, and `g < G`.
    unsafe { &*row.as_ptr().add(g * columns).cast() }
}

/// `sums += weight * x`.
#[inline(always)]
fn add<const W: usize>(sums: &mut [f32; W], weight: f32, x: &[f32; W]) {
    for lane in 0..W {
        sums[lane] = weight.mul_add(x[lane], sums[lane]);
    }
}

/// Inner product, half on half: few additions wait for each other.
#[inline(always)]
fn dot<const W: usize>(a: &[f32; W], b: &[f32; W]) -> f32 {
    let mut lanes = [0f32; W];
    for lane in 0..W {
        lanes[lane] = a[lane] * b[lane];
    }
    let mut left = W;
    while left > 1 {
        let half = left.div_ceil(2);
        for lane in 0..left - half {
            lanes[lane] += lanes[lane + half];
        }
        left = half;
    }
    lanes[0]
}
