//! Exact all-pairs search by cosine, in tiles, without the `N x N` matrix.
//!
//! For unit rows `X [N, r]` the cosines are `S = X Xᵀ [N, N]`. A strip of rows meets the base tile by
//! tile: one small matrix product fills a reused tile of cosines, then a scan keeps the entries that reach
//! the row's bar. The bar starts at the threshold and, with a top-k, rises to the k-th best found so far,
//! so that nearly every group of lanes is dismissed by one vector comparison.
//!
//! Cost: `2 N² r` flops and one pass over `N²` cosines in cache; memory `O(kept + tile)`. Strips are fixed
//! and independent: the result has the same bits on any number of threads.

use std::cmp::Ordering;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::tall::view;
use super::{Mat, Pattern, SparseMat};

/// Query rows per strip, the unit of parallel work.
const STRIP: usize = 128;
/// Base rows per tile: `STRIP x TILE` cosines stay in the second-level cache.
const TILE: usize = 1024;
/// Cosines tested together before any of them is looked at.
const GROUP: usize = 64;

/// For every row, the other rows whose cosine with it is at least `threshold`; of these only the `top_k`
/// best when given, equal cosines going to the lower index.
///
/// `rows` holds unit (or zero) rows `[N, r]`; the result is `[N, N]`, its values the dot products, which
/// for unit rows are the cosines up to rounding. `f32::NEG_INFINITY` as threshold keeps every pair, so
/// pass it only together with a `top_k`. A row with a NaN has no neighbours and is nobody's neighbour.
pub fn neighbours(rows: &Mat, threshold: f32, top_k: Option<usize>) -> SparseMat {
    search(rows, rows, threshold, top_k, |query| Some(query as u32))
}

/// Like [`neighbours`], for some of the rows only: the result is `[some.len(), N]`.
pub fn neighbours_of(some: &[u32], rows: &Mat, threshold: f32, top_k: Option<usize>) -> SparseMat {
    search(&rows.select_rows(some), rows, threshold, top_k, |query| Some(some[query]))
}

/// Like [`neighbours`], for rows `[M, r]` that are not among those that are searched: the result is `[M, N]`.
pub fn neighbours_among(queries: &Mat, rows: &Mat, threshold: f32, top_k: Option<usize>) -> SparseMat {
    search(queries, rows, threshold, top_k, |_| None)
}

/// From `queries [M, r]` to `base [N, r]`; query `q` never finds base row `excluded(q)`.
fn search(
    queries: &Mat,
    base: &Mat,
    threshold: f32,
    top_k: Option<usize>,
    excluded: impl Fn(usize) -> Option<u32> + Sync,
) -> SparseMat {
    assert_eq!(queries.cols(), base.cols(), "queries and base have rows of one length");
    let strips: Vec<usize> = (0..queries.rows()).step_by(STRIP).collect();
    let found: Vec<Vec<Best>> = strips
        .into_par_iter()
        .map(|start| {
            let end = queries.rows().min(start + STRIP);
            let strip = view(queries).subrows(start, end - start);
            let mut best: Vec<Best> =
                (start..end).map(|row| Best::new(threshold, top_k, excluded(row))).collect();
            search_strip(strip, base, &mut best);
            best
        })
        .collect();
    collect_rows(queries.rows(), base.rows(), found.into_iter().flatten())
}

/// Shows the whole base to one strip of queries.
fn search_strip(strip: MatRef<'_, f32>, base: &Mat, best: &mut [Best]) {
    if best.iter().all(|row| row.top_k == Some(0)) {
        return;
    }
    let arch = pulp::Arch::new();
    let mut tile = Mat::scratch(strip.nrows(), TILE);
    for first in (0..base.rows()).step_by(TILE) {
        let width = TILE.min(base.rows() - first);
        let cosines = &mut tile.as_mut_slice()[..strip.nrows() * width];
        let out = MatMut::from_row_major_slice_mut(cosines, strip.nrows(), width);
        let others = view(base).subrows(first, width);
        matmul(out, Accum::Replace, strip, others.transpose(), 1.0, Par::Seq); // [strip, width]
        arch.dispatch(Scan { best, cosines, width, first: first as u32 });
    }
}

/// Shows each row of a tile to its query. A type and not a closure, because only what is inlined into the
/// dispatch is compiled for the vector unit at hand.
struct Scan<'a> {
    best: &'a mut [Best],
    cosines: &'a [f32],
    width: usize,
    first: u32,
}

impl pulp::NullaryFnOnce for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (best, cosines) in self.best.iter_mut().zip(self.cosines.chunks_exact(self.width)) {
            for (group, values) in (0u32..).zip(cosines.chunks(GROUP)) {
                let mut hits = 0;
                for &value in values {
                    hits += u32::from(value >= best.bar);
                }
                if hits > 0 {
                    best.take(values, self.first + group * GROUP as u32);
                }
            }
        }
    }
}

/// What one query has found so far.
struct Best {
    /// Cosines below this cannot be kept any more.
    bar: f32,
    top_k: Option<usize>,
    excluded: Option<u32>,
    /// All that passed the bar, possibly more than `top_k` until the next [`Best::trim`].
    found: Vec<(u32, f32)>,
}

impl Best {
    fn new(threshold: f32, top_k: Option<usize>, excluded: Option<u32>) -> Self {
        Best { bar: threshold, top_k, excluded, found: Vec::new() }
    }

    /// Keeps those of a group that reach the bar.
    #[inline(never)]
    fn take(&mut self, values: &[f32], first: u32) {
        for (index, &value) in (first..).zip(values) {
            if value >= self.bar && self.excluded != Some(index) {
                self.found.push((index, value));
            }
        }
        if let Some(top_k) = self.top_k
            && self.found.len() >= 2 * top_k.max(GROUP / 4)
        {
            self.trim(top_k);
        }
    }

    /// Drops all but the `top_k` best and raises the bar. Base rows come in ascending order, so whoever
    /// only equals the k-th best has the higher index and loses: the bar lies just above it.
    fn trim(&mut self, top_k: usize) {
        if top_k == 0 {
            self.found.clear();
        } else if self.found.len() > top_k {
            let (_, worst, _) = self.found.select_nth_unstable_by(top_k - 1, by_rank);
            self.bar = worst.1.next_up();
            self.found.truncate(top_k);
        }
    }

    /// The kept neighbours, indices ascending.
    fn finish(mut self) -> Vec<(u32, f32)> {
        if let Some(top_k) = self.top_k {
            self.trim(top_k);
        }
        self.found.sort_unstable_by_key(|&(index, _)| index);
        self.found
    }
}

/// Higher cosine first, then lower index. Only values that reached a bar get here, so none is NaN; and
/// `partial_cmp`, unlike `total_cmp`, sees the tie between 0 and -0.
fn by_rank(a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal).then(a.0.cmp(&b.0))
}

fn collect_rows(rows: usize, cols: usize, found: impl Iterator<Item = Best>) -> SparseMat {
    let mut indptr = Vec::with_capacity(rows + 1);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    indptr.push(0);
    for best in found {
        for (index, value) in best.finish() {
            indices.push(index);
            values.push(value);
        }
        indptr.push(indices.len());
    }
    SparseMat::new(Arc::new(Pattern::new(rows, cols, indptr, indices)), values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute_force(queries: &Mat, base: &Mat, threshold: f32, top_k: Option<usize>, skip: bool) -> SparseMat {
        let mut triplets = Vec::new();
        let mut indptr = vec![0];
        for i in 0..queries.rows() {
            let mut row: Vec<(u32, f32)> = (0..base.rows())
                .filter(|&j| !(skip && i == j))
                .map(|j| (j as u32, queries.row(i).iter().zip(base.row(j)).map(|(a, b)| a * b).sum::<f32>()))
                .filter(|&(_, cosine)| cosine >= threshold)
                .collect();
            row.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then(a.0.cmp(&b.0)));
            row.truncate(top_k.unwrap_or(usize::MAX));
            row.sort_by_key(|&(j, _)| j);
            triplets.extend(row);
            indptr.push(triplets.len());
        }
        let (indices, values) = triplets.into_iter().unzip();
        SparseMat::new(Arc::new(Pattern::new(queries.rows(), base.rows(), indptr, indices)), values)
    }

    /// Entries are multiples of 1/8 and few: sums are exact in any order and ties are frequent.
    fn grid_rows(rows: usize, cols: usize) -> impl Strategy<Value = Mat> {
        proptest::collection::vec(-2i8..=2, rows * cols)
            .prop_map(move |v| Mat::from_fn(rows, cols, |r, c| f32::from(v[r * cols + c]) / 8.0))
    }

    fn two_sets() -> impl Strategy<Value = (Mat, Mat)> {
        (0usize..150, 0usize..150, 0usize..6).prop_flat_map(|(m, n, r)| (grid_rows(m, r), grid_rows(n, r)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn equals_brute_force(
            (queries, base) in two_sets(),
            threshold in prop_oneof![Just(f32::NEG_INFINITY), Just(0.0f32), (-2i8..=16).prop_map(|t| f32::from(t) / 64.0)],
            top_k in proptest::option::of(0usize..40),
            skip in any::<bool>(),
        ) {
            let found = search(&queries, &base, threshold, top_k, |query| skip.then_some(query as u32));
            prop_assert_eq!(found, brute_force(&queries, &base, threshold, top_k, skip));
        }
    }

    /// Spans several strips and tiles, with exact values and many ties.
    #[test]
    fn equals_brute_force_across_tiles() {
        let rows =
            Mat::from_fn(2 * TILE + 77, 7, |r, c| ((r * r * 31 + c * 17 + r * c * 7) % 9) as f32 / 8.0 - 0.5);
        for (threshold, top_k) in [(1.0, None), (f32::NEG_INFINITY, Some(10)), (0.9, Some(100))] {
            let found = neighbours(&rows, threshold, top_k);
            assert_eq!(found, brute_force(&rows, &rows, threshold, top_k, true), "{threshold} {top_k:?}");
        }
    }

    #[test]
    fn some_rows_find_what_all_find() {
        let rows = Mat::from_fn(300, 5, |r, c| ((r * 37 + c * 101) as f32).sin() / 3.0);
        let (all, some) = (neighbours(&rows, 0.1, Some(4)), neighbours_of(&[7, 290, 8], &rows, 0.1, Some(4)));
        for (query, row) in [7, 290, 8].into_iter().enumerate() {
            assert!(some.row(query).eq(all.row(row)), "{row}");
        }
    }

    #[test]
    fn duplicates_tie_to_the_lower_index() {
        let rows = Mat::from_fn(300, 2, |_, c| [0.6, 0.8][c]);
        let found = neighbours(&rows, 0.5, Some(3));
        assert_eq!(found.pattern.row(0), [1, 2, 3]);
        assert_eq!(found.pattern.row(2), [0, 1, 3]);
        assert_eq!(found.pattern.row(299), [0, 1, 2]);
    }

    #[test]
    fn zero_and_nan_rows_have_no_neighbours() {
        let mut rows = Mat::from_fn(6, 2, |_, c| [0.6, 0.8][c]);
        rows.row_mut(1).fill(0.0);
        rows.row_mut(4).fill(f32::NAN);
        let found = neighbours(&rows, 0.1, Some(2));
        let patterns: Vec<&[u32]> = (0..6).map(|row| found.pattern.row(row)).collect();
        assert_eq!(patterns, [&[2u32, 3][..], &[], &[0, 3], &[0, 2], &[], &[0, 2]]);
        assert!(found.values.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn nothing_to_find() {
        let none = Mat::zeros(0, 4);
        assert_eq!(neighbours(&none, 0.5, Some(3)).pattern.nnz(), 0);
        let one = Mat::full(1, 4, 0.5);
        assert_eq!(neighbours(&one, 0.5, None).pattern.nnz(), 0);
        assert_eq!(neighbours_of(&[], &one, 0.5, None).rows(), 0);
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let rows = Mat::from_fn(1500, 9, |r, c| ((r * 37 + c * 101 + r * c) as f32).sin() / 3.0);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| neighbours(&rows, 0.2, Some(8)))
        };
        assert_eq!(run(1), run(2));
    }
}
