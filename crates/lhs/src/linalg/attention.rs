//! Additive attention over the entries of a pattern, all heads at once, forward and back (Veličković et al. 2018).
//!
//! `out_i = Σ_j w_ij x_j` with `w_ij = dropped(a_ij)` and `a_ij = softmax_j(leaky_relu(to_i + from_j))`, each head its own
//! column of `to [m,heads]` and `from [n,heads]` and its own block of columns of `x [n, heads * columns]`.
//!
//! Nothing as long as the entries is stored: the way back finds the weights again from `log Σ_j exp` of each row and the
//! mask of dropout from the position. It visits the entries once, by columns. What it needs of whole rows comes of sums
//! the way there took: `Σ_j a_ij ∂a_ij = <g_i, out_i>`; and since the gradients of the scores of a row cancel, that of
//! `to_i` is `1 - slope` times their sum over the entries of positive score, which the weighted sum over these entries
//! gives. In the same way that of `from_j` comes of weighted sums of `g`: no entry needs an inner product.
//! Cost: `entries * heads` exponentials and `entries * heads * columns` multiply-adds, twice as many with a trace and on
//! the way back.
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

/// Numbers that are worked on together: all heads of an entry and of those after it.
const LANES: usize = 16;

/// As many heads as one call can take, of so many in all: those of an entry fill the lanes without remainder.
pub(crate) fn heads_at_once(heads: usize) -> usize {
    LANES.min(1 << heads.max(1).ilog2())
}

/// Calls a method for a number of heads that the compiler knows.
macro_rules! for_heads {
    ($heads:expr, $self:ident.$method:ident($($argument:expr),*)) => {
        match $heads {
            1 => $self.$method::<1>($($argument),*),
            2 => $self.$method::<2>($($argument),*),
            4 => $self.$method::<4>($($argument),*),
            8 => $self.$method::<8>($($argument),*),
            16 => $self.$method::<16>($($argument),*),
            _ => unreachable!("the number of heads was checked"),
        }
    };
}

impl Attention<'_> {
    fn heads(&self) -> usize {
        self.to.cols()
    }

    /// Columns of each head.
    fn columns(&self) -> usize {
        self.x.cols() / self.heads()
    }

    /// About the multiply-adds of a row: the score of an entry costs about as much as sixteen.
    fn row_work(&self, rows: usize) -> usize {
        (self.x.cols() + 16 * self.heads()) * (self.pattern.nnz() / rows.max(1) + 1)
    }

    /// The weighted sums, `[m, heads * columns]`.
    pub fn forward(&self) -> Mat {
        let mut out = self.space();
        fill_rows(out.as_mut_slice(), self.x.cols(), self.row_work(self.pattern.rows()), |first, out| {
            for_heads!(self.heads(), self.rows(first, out, &mut []));
        });
        out
    }

    /// The same, and what [`Attention::backward`] needs.
    pub fn forward_traced(&self) -> (Mat, Trace) {
        let mut out = self.space();
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
        let cols = self.x.rows();
        let (mut x, mut from) = (Mat::scratch(cols, self.x.cols()), Mat::scratch(cols, heads));
        fill_rows_of_two(&mut x, &mut from, self.row_work(cols), |first, x, from| {
            for_heads!(heads, self.columns_back(first, x, from, g, &facts));
        });
        Pulled { to, from, x }
    }

    /// Space for the result; checks that all fits.
    fn space(&self) -> Mat {
        let (rows, cols, heads) = (self.pattern.rows(), self.pattern.cols(), self.heads());
        assert_eq!(heads_at_once(heads), heads, "a number of heads that fits the lanes");
        assert_eq!(self.to.rows(), rows, "a score for each row");
        assert_eq!(self.from.shape(), (cols, heads), "a score for each column");
        assert_eq!(self.x.shape(), (cols, heads * self.columns()), "as many columns for each head");
        Mat::scratch(rows, self.x.cols())
    }

    /// Rows from `first` on; `trace` is empty when nobody asks for it.
    fn rows<const H: usize>(&self, first: usize, out: &mut [f32], trace: &mut [f32]) {
        let width = self.x.cols();
        let mut room = Room::of::<H>(&self.pattern.indptr()[first..=first + out.len() / width], width);
        vectorised(
            #[inline(always)]
            || {
                if trace.is_empty() {
                    for (row, out) in (first..).zip(out.chunks_exact_mut(width)) {
                        self.row::<H, false>(row, out, &mut [], &mut room);
                    }
                } else {
                    let rows = out.chunks_exact_mut(width).zip(trace.chunks_exact_mut(width + 2 * H));
                    for (row, (out, trace)) in (first..).zip(rows) {
                        self.row::<H, true>(row, out, trace, &mut room);
                    }
                }
            },
        );
    }

    #[inline(always)]
    fn row<const H: usize, const TRACED: bool>(
        &self,
        row: usize,
        out: &mut [f32],
        trace: &mut [f32],
        room: &mut Room,
    ) {
        let (slope, mask, columns) = (self.slope, self.mask, self.columns());
        let (range, indices) = (self.pattern.row_range(row), self.pattern.row(row));
        if indices.is_empty() {
            out.fill(0.0);
            trace.fill(0.0);
            return;
        }
        let (flat, blocks) = lengths::<H>(indices.len());
        let (scores, weights) = (&mut room.scores[..blocks], &mut room.weights[..blocks]);
        let chosen = &mut room.chosen[..blocks];
        let to = self.to.row(row).first_chunk::<H>().expect("a score for each head");
        let (from, x, stride) = (self.from.as_slice(), self.x.as_slice(), self.x.cols());
        for (scores, &col) in scores.as_flattened_mut().chunks_exact_mut(H).zip(indices) {
            simd::prefetch(&x[col as usize * stride..][..stride]);
            let from = &from[col as usize * H..][..H];
            let mut found = [0f32; H];
            for head in 0..H {
                found[head] = leaky_relu(to[head] + from[head], slope);
            }
            scores.copy_from_slice(&found);
        }
        scores.as_flattened_mut()[flat..].fill(f32::NEG_INFINITY);

        let mut tops = [f32::NEG_INFINITY; LANES];
        for scores in &*scores {
            for lane in 0..LANES {
                tops[lane] = larger(tops[lane], scores[lane]);
            }
        }
        let tops = joined::<H>(tops, larger);
        let (mut totals, mut positives) = ([0f32; LANES], [0f32; LANES]);
        let mut at = (range.start * H) as u32;
        for ((scores, weights), chosen) in scores.iter().zip(weights.iter_mut()).zip(chosen.iter_mut()) {
            for lane in 0..LANES {
                let weight = simd::exp(scores[lane] - tops[lane]);
                let positive = if scores[lane] > 0.0 { weight } else { 0.0 };
                totals[lane] += weight;
                positives[lane] += positive;
                weights[lane] = weight;
                chosen[lane] = positive;
            }
            if mask.drops() {
                for lane in 0..LANES {
                    let factor = mask.apply(at.wrapping_add(lane as u32), 1.0);
                    weights[lane] *= factor;
                    chosen[lane] *= factor;
                }
                at = at.wrapping_add(LANES as u32);
            }
        }
        let totals = joined::<H>(totals, sum);
        let positives = joined::<H>(positives, sum);

        let (positive, rest) = trace.split_at_mut(if TRACED { out.len() } else { 0 });
        let (weights, chosen) = (weights.as_flattened(), chosen.as_flattened());
        let mut sums =
            Sums::<TRACED> { heads: H, columns, indices, x, weights, chosen, out, second: positive };
        in_blocks(&mut sums);
        for head in 0..H {
            let (factor, own) = (totals[head].recip(), head * columns..(head + 1) * columns);
            sums.out[own.clone()].iter_mut().for_each(|out| *out *= factor);
            if TRACED {
                sums.second[own].iter_mut().for_each(|out| *out *= factor);
                rest[head] = positives[head] / totals[head];
                rest[H + head] = tops[head] + totals[head].ln();
            }
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
                        let all = dot(&g[own.clone()], &out[own.clone()]);
                        facts[2 * heads + head] = all;
                        let positive = dot(&g[own.clone()], &positive[own]);
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
        let width = self.x.cols();
        let t = self.pattern.transpose();
        let mut room = Room::of::<H>(&t.indptr[first..=first + x.len() / width], width);
        vectorised(
            #[inline(always)]
            || {
                let columns = x.chunks_exact_mut(width).zip(from.chunks_exact_mut(H));
                for (column, (x, from)) in (first..).zip(columns) {
                    let range = t.indptr[column]..t.indptr[column + 1];
                    let entries = (&t.indices[range.clone()], &t.entry[range]);
                    self.column_back::<H>(
                        column,
                        entries,
                        x,
                        from,
                        g.as_slice(),
                        facts.as_slice(),
                        &mut room,
                    );
                }
            },
        );
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn column_back<const H: usize>(
        &self,
        column: usize,
        (indices, entries): (&[u32], &[u32]),
        x: &mut [f32],
        from: &mut [f32],
        g: &[f32],
        facts: &[f32],
        room: &mut Room,
    ) {
        let (slope, mask, columns, stride) = (self.slope, self.mask, self.columns(), self.x.cols());
        let (flat, blocks) = lengths::<H>(indices.len());
        let (scores, logs) = (&mut room.scores[..blocks], &mut room.logs[..blocks]);
        let (means, positions) = (&mut room.means[..blocks], &mut room.positions[..blocks]);
        let own = self.from.row(column).first_chunk::<H>().expect("a score for each head");
        let places = (scores.as_flattened_mut().chunks_exact_mut(H))
            .zip(logs.as_flattened_mut().chunks_exact_mut(H))
            .zip(means.as_flattened_mut().chunks_exact_mut(H))
            .zip(positions.as_flattened_mut().chunks_exact_mut(H));
        for ((((scores, logs), means), positions), (&row, &entry)) in places.zip(indices.iter().zip(entries))
        {
            simd::prefetch(&g[row as usize * stride..][..stride]);
            let facts = &facts[row as usize * 3 * H..][..3 * H];
            let (mut found, mut places) = ([0f32; H], [0u32; H]);
            for head in 0..H {
                found[head] = facts[head] + own[head];
                places[head] = entry.wrapping_mul(H as u32).wrapping_add(head as u32);
            }
            scores.copy_from_slice(&found);
            logs.copy_from_slice(&facts[H..2 * H]);
            means.copy_from_slice(&facts[2 * H..]);
            positions.copy_from_slice(&places);
        }
        scores.as_flattened_mut()[flat..].fill(0.0);
        logs.as_flattened_mut()[flat..].fill(f32::INFINITY);
        means.as_flattened_mut()[flat..].fill(0.0);

        let (weights, chosen) = (&mut room.weights[..blocks], &mut room.chosen[..blocks]);
        // Σ_i slope_ij a_ij <g_i, out_i>, where the slope is that at the score.
        let mut expected = [0f32; LANES];
        for block in 0..blocks {
            let (scores, logs, means) = (&scores[block], &logs[block], &means[block]);
            let (weights, chosen, positions) = (&mut weights[block], &mut chosen[block], &positions[block]);
            for lane in 0..LANES {
                let share = simd::exp(leaky_relu(scores[lane], slope) - logs[lane]);
                let sloped = if scores[lane] > 0.0 { share } else { slope * share };
                expected[lane] = sloped.mul_add(means[lane], expected[lane]);
                weights[lane] = share;
                chosen[lane] = sloped;
            }
            if mask.drops() {
                for lane in 0..LANES {
                    let factor = mask.apply(positions[lane], 1.0);
                    weights[lane] *= factor;
                    chosen[lane] *= factor;
                }
            }
        }
        let expected = joined::<H>(expected, sum);

        let (weights, chosen) = (weights.as_flattened(), chosen.as_flattened());
        let second = &mut room.sums[..stride];
        let mut sums = Sums::<true> { heads: H, columns, indices, x: g, weights, chosen, out: x, second };
        in_blocks(&mut sums);
        for head in 0..H {
            let own = head * columns..(head + 1) * columns;
            from[head] = dot(&sums.second[own.clone()], &self.x.row(column)[own]) - expected[head];
        }
    }
}

/// Buffers of one row or column, used again for the next.
struct Room {
    scores: Vec<[f32; LANES]>,
    logs: Vec<[f32; LANES]>,
    means: Vec<[f32; LANES]>,
    positions: Vec<[u32; LANES]>,
    /// What all entries weigh, and what those count for whose sum is kept beside theirs.
    weights: Vec<[f32; LANES]>,
    chosen: Vec<[f32; LANES]>,
    sums: Vec<f32>,
}

impl Room {
    /// Enough for the longest of the rows between `bounds`.
    fn of<const H: usize>(bounds: &[usize], width: usize) -> Self {
        let longest = bounds.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let blocks = lengths::<H>(longest).1;
        let numbers = || vec![[0f32; LANES]; blocks];
        Room {
            scores: numbers(),
            logs: numbers(),
            means: numbers(),
            positions: vec![[0; LANES]; blocks],
            weights: numbers(),
            chosen: numbers(),
            sums: vec![0.0; width],
        }
    }
}

/// Numbers of all heads of so many entries, and the blocks of lanes they fill.
#[inline(always)]
fn lengths<const H: usize>(entries: usize) -> (usize, usize) {
    (entries * H, (entries * H).div_ceil(LANES))
}

#[inline(always)]
fn leaky_relu(x: f32, slope: f32) -> f32 {
    if x > 0.0 { x } else { slope * x }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

#[inline(always)]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

/// What the lanes of each head come to, in all lanes of that head.
#[inline(always)]
fn joined<const H: usize>(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    let mut left = LANES;
    while left > H {
        left /= 2;
        for lane in 0..left {
            lanes[lane] = join(lanes[lane], lanes[lane + left]);
        }
    }
    for lane in H..LANES {
        lanes[lane] = lanes[lane % H];
    }
    lanes
}

/// Covers all heads and columns, so many at once that the registers hold their sums.
#[inline(always)]
fn in_blocks<const TRACED: bool>(sums: &mut Sums<'_, TRACED>) {
    let mut head = 0;
    macro_rules! cover {
        ($group:literal: $($width:literal)*) => {
            while sums.heads - head >= $group {
                let mut column = 0;
                $(while sums.columns - column >= $width {
                    sums.block::<$group, $width>(head, column);
                    column += $width;
                })*
                head += $group;
            }
        };
    }
    cover!(4: 16 8 4 2 1);
    cover!(1: 16 8 7 6 5 4 3 2 1);
}

/// Weighted sums of some rows of `x`, `[_, heads * columns]`.
struct Sums<'a, const TRACED: bool> {
    heads: usize,
    columns: usize,
    indices: &'a [u32],
    x: &'a [f32],
    /// Of each entry for each head.
    weights: &'a [f32],
    /// Other weights, for a second sum, where there is one.
    chosen: &'a [f32],
    out: &'a mut [f32],
    second: &'a mut [f32],
}

impl<const TRACED: bool> Sums<'_, TRACED> {
    /// For `G` heads and `W` columns of each.
    #[inline(always)]
    fn block<const G: usize, const W: usize>(&mut self, head: usize, column: usize) {
        let (heads, columns) = (self.heads, self.columns);
        let (stride, at) = (heads * columns, head * columns + column);
        let (mut all, mut chosen) = ([[0f32; W]; G], [[0f32; W]; G]);
        for (place, &index) in self.indices.iter().enumerate() {
            let x = of_heads::<G, W>(&self.x[index as usize * stride + at..], columns);
            let weights = &self.weights[place * heads + head..][..G];
            for g in 0..G {
                add(&mut all[g], weights[g], x[g]);
            }
            if TRACED {
                let weights = &self.chosen[place * heads + head..][..G];
                for g in 0..G {
                    add(&mut chosen[g], weights[g], x[g]);
                }
            }
        }
        for g in 0..G {
            self.out[at + g * columns..][..W].copy_from_slice(&all[g]);
            if TRACED {
                self.second[at + g * columns..][..W].copy_from_slice(&chosen[g]);
            }
        }
    }
}

/// The first `W` columns of each of `G` heads, the first of which begins `row`. One check for all: one for each head would be
/// most of the loop.
#[inline(always)]
fn of_heads<const G: usize, const W: usize>(row: &[f32], columns: usize) -> [&[f32; W]; G] {
    assert!((G - 1) * columns + W <= row.len(), "the columns of all heads");
    // SAFETY: `g` is at most `G - 1`, so that the last of the `W` numbers is within `row`, as was just checked.
    std::array::from_fn(|g| unsafe { &*row.as_ptr().add(g * columns).cast() })
}

/// `sums += weight * x`.
#[inline(always)]
fn add<const W: usize>(sums: &mut [f32; W], weight: f32, x: &[f32; W]) {
    for lane in 0..W {
        sums[lane] = weight.mul_add(x[lane], sums[lane]);
    }
}

/// Inner product of slices as short as a head is wide: unlike [`simd::dot`], few additions wait for each other.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    let ((a_blocks, a_rest), (b_blocks, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..8 {
            lanes[lane] = a[lane].mul_add(b[lane], lanes[lane]);
        }
    }
    for half in [4, 2, 1] {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
    }
    a_rest.iter().zip(b_rest).fold(lanes[0], |sum, (a, b)| a.mul_add(*b, sum))
}
