//! Exact all-pairs search by cosine, in tiles, without the `N x N` matrix.
//!
//! For unit rows `X [N, r]` the cosines are `S = X Xᵀ [N, N]`. A strip of rows meets the base tile by
//! tile: one small matrix product fills a reused tile of cosines, then a scan keeps the entries that reach
//! the row's bar. The bar starts at the threshold and, with a top-k, rises to the k-th best found so far,
//! so that nearly every group of lanes is dismissed by one vector comparison.
//!
//! Where nodes are compared in several ways ([`Likeness`]), each way fills a tile of its own, and these are multiplied and
//! added entry by entry: no row as long as the product of all ways is ever written out.
//!
//! Cost: `2 N² r` flops and one pass over `N²` cosines in cache; memory `O(kept + tile)`. Strips are fixed
//! and independent: the result has the same bits on any number of threads.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

use super::tall::view;
use super::{Mat, Pattern, SparseMat};

/// Query rows per strip, the unit of parallel work.
pub(super) const STRIP: usize = 128;
/// Base rows per tile: `STRIP x TILE` cosines stay in the second-level cache.
const TILE: usize = 1024;
/// Cosines tested together before any of them is looked at.
const GROUP: usize = 64;

/// Nodes as they are compared: the likeness of two is the mean over some parts of the products of the dot products of
/// their rows in all matrices of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Likeness {
    parts: Vec<Vec<Mat>>,
}

impl From<Mat> for Likeness {
    /// Plain dot products.
    fn from(rows: Mat) -> Self {
        Likeness { parts: vec![vec![rows]] }
    }
}

impl Likeness {
    /// The products of the dot products in two matrices of as many rows.
    pub fn product(first: Mat, second: Mat) -> Self {
        assert_eq!(first.rows(), second.rows(), "one row for each node in both");
        Likeness { parts: vec![vec![first, second]] }
    }

    /// The mean of several, over the same nodes.
    pub fn mean(of: &[Likeness]) -> Self {
        Likeness { parts: of.iter().flat_map(|one| one.parts.iter().cloned()).collect() }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.parts.first().and_then(|part| part.first()).map_or(0, Mat::rows)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What nodes point at: the first matrix of every part, side by side.
    pub(super) fn leading(&self) -> Cow<'_, Mat> {
        let firsts: Vec<&Mat> = self.parts.iter().filter_map(|part| part.first()).collect();
        match &firsts[..] {
            [one] => Cow::Borrowed(one),
            several => Cow::Owned(Mat::side_by_side(several)),
        }
    }

    /// Some of the nodes.
    pub fn select(&self, nodes: &[u32]) -> Self {
        let select = |part: &Vec<Mat>| part.iter().map(|rows| rows.select_rows(nodes)).collect();
        Likeness { parts: self.parts.iter().map(select).collect() }
    }
}

/// For every row, the other rows whose cosine with it is at least `threshold`; of these only the `top_k`
/// best when given, equal cosines going to the lower index.
///
/// `rows` holds unit (or zero) rows `[N, r]`; the result is `[N, N]`, its values the dot products, which
/// for unit rows are the cosines up to rounding. `f32::NEG_INFINITY` as threshold keeps every pair, so
/// pass it only together with a `top_k`. A row with a NaN has no neighbours and is nobody's neighbour.
pub fn neighbours(rows: &Mat, threshold: f32, top_k: Option<usize>) -> SparseMat {
    search(&[vec![rows]], &[vec![rows]], threshold, top_k, |query| Some(query as u32))
}

/// Like [`neighbours`], for some of the nodes only, by their likeness: the result is `[some.len(), N]`.
pub fn neighbours_of(some: &[u32], nodes: &Likeness, threshold: f32, top_k: Option<usize>) -> SparseMat {
    let queries = nodes.select(some);
    search(&queries.factors(), &nodes.factors(), threshold, top_k, |query| Some(some[query]))
}

/// Like [`neighbours`], for `M` nodes that are not among those that are searched: the result is `[M, N]`.
pub fn neighbours_among(
    queries: &Likeness,
    nodes: &Likeness,
    threshold: f32,
    top_k: Option<usize>,
) -> SparseMat {
    search(&queries.factors(), &nodes.factors(), threshold, top_k, |_| None)
}

/// The matrices of each part.
pub(super) type Factors<'a> = [Vec<&'a Mat>];

impl Likeness {
    pub(super) fn factors(&self) -> Vec<Vec<&Mat>> {
        self.parts.iter().map(|part| part.iter().collect()).collect()
    }
}

/// From the `M` queries to the `N` nodes of the base; query `q` never finds the node `excluded(q)`.
fn search(
    queries: &Factors<'_>,
    base: &Factors<'_>,
    threshold: f32,
    top_k: Option<usize>,
    excluded: impl Fn(usize) -> Option<u32> + Sync,
) -> SparseMat {
    let rows = |of: &Factors<'_>| of.first().and_then(|part| part.first()).map_or(0, |mat| mat.rows());
    for (query, base) in queries.iter().flatten().zip(base.iter().flatten()) {
        assert_eq!(query.cols(), base.cols(), "queries and base have rows of one length");
    }
    let (count, others) = (rows(queries), rows(base));
    let strips: Vec<usize> = (0..count).step_by(STRIP).collect();
    let found: Vec<Vec<Best>> = strips
        .into_par_iter()
        .map(|start| {
            let end = count.min(start + STRIP);
            let mut best: Vec<Best> =
                (start..end).map(|row| Best::new(threshold, top_k, excluded(row))).collect();
            search_strip(queries, start, base, others, &mut best);
            best
        })
        .collect();
    collect_rows(count, others, found.into_iter().flatten())
}

/// Shows the whole base to the strip of queries that begins at `start`.
pub(super) fn search_strip(
    queries: &Factors<'_>,
    start: usize,
    base: &Factors<'_>,
    others: usize,
    best: &mut [Best],
) {
    if best.iter().all(|row| row.top_k == Some(0)) {
        return;
    }
    let arch = pulp::Arch::new();
    let height = best.len();
    let plain = queries.len() == 1 && queries[0].len() == 1;
    let mut tile = Mat::scratch(height, TILE);
    let mut more = if plain {
        [Mat::zeros(0, 0), Mat::zeros(0, 0)]
    } else {
        [(); 2].map(|()| Mat::scratch(height, TILE))
    };
    for first in (0..others).step_by(TILE) {
        let width = TILE.min(others - first);
        let size = height * width;
        let dots = |query: &Mat, base: &Mat, out: &mut Mat| {
            let out = MatMut::from_row_major_slice_mut(&mut out.as_mut_slice()[..size], height, width);
            let (strip, others) =
                (view(query).subrows(start, height), view(base).subrows(first, width).transpose());
            matmul(out, Accum::Replace, strip, others, 1.0, Par::Seq); // [height, width]
        };
        if plain {
            dots(queries[0][0], base[0][0], &mut tile);
        } else {
            let share = 1.0 / queries.len() as f32;
            let [part, factor] = &mut more;
            for (number, (query, base)) in queries.iter().zip(base).enumerate() {
                dots(query[0], base[0], part);
                for (query, base) in query.iter().zip(base.iter()).skip(1) {
                    dots(query, base, factor);
                    let (part, factor) = (&mut part.as_mut_slice()[..size], &factor.as_slice()[..size]);
                    part.iter_mut().zip(factor).for_each(|(dot, other)| *dot *= other);
                }
                let (sum, part) = (&mut tile.as_mut_slice()[..size], &part.as_slice()[..size]);
                if number == 0 {
                    sum.iter_mut().zip(part).for_each(|(sum, dot)| *sum = share * dot);
                } else {
                    sum.iter_mut().zip(part).for_each(|(sum, dot)| *sum += share * dot);
                }
            }
        }
        let cosines = &tile.as_slice()[..size];
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
pub(super) struct Best {
    /// Cosines below this cannot be kept any more.
    bar: f32,
    top_k: Option<usize>,
    excluded: Option<u32>,
    /// All that passed the bar, possibly more than `top_k` until the next [`Best::trim`].
    found: Vec<(u32, f32)>,
}

impl Best {
    pub(super) fn new(threshold: f32, top_k: Option<usize>, excluded: Option<u32>) -> Self {
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
    pub(super) fn finish(mut self) -> Vec<(u32, f32)> {
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
            let found = search(&[vec![&queries]], &[vec![&base]], threshold, top_k, |query| skip.then_some(query as u32));
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
        let nodes = Likeness::from(rows.clone());
        let (all, some) =
            (neighbours(&rows, 0.1, Some(4)), neighbours_of(&[7, 290, 8], &nodes, 0.1, Some(4)));
        for (query, row) in [7, 290, 8].into_iter().enumerate() {
            assert!(some.row(query).eq(all.row(row)), "{row}");
        }
    }

    /// Against rows as long as the product: `<a ⊗ b, a' ⊗ b'> = <a, a'> <b, b'>`.
    #[test]
    fn products_and_means_equal_rows_written_out() {
        let wave = |rows: usize, cols: usize, by: usize| {
            Mat::from_fn(rows, cols, |r, c| (((r * by + c * 7 + r * c) % 5) as f32 - 1.0) / 4.0)
        };
        let rows = 2 * TILE + 33;
        let parts = [(wave(rows, 3, 11), wave(rows, 2, 3)), (wave(rows, 2, 5), wave(rows, 4, 13))];
        let outer = |(a, b): &(Mat, Mat)| {
            Mat::from_fn(rows, a.cols() * b.cols(), |r, c| a.get(r, c / b.cols()) * b.get(r, c % b.cols()))
        };
        let likeness = parts.clone().map(|(a, b)| Likeness::product(a, b));
        let some: Vec<u32> = (0..rows as u32).step_by(61).collect();
        let first = neighbours_of(&some, &likeness[0], 0.05, Some(6));
        assert_eq!(first, neighbours_of(&some, &outer(&parts[0]).into(), 0.05, Some(6)));
        // Halves are exact: the mean of two is a sum of rows side by side, once each is half as long.
        let mut together = Mat::side_by_side(&[outer(&parts[0]), outer(&parts[1])]);
        let mean = Likeness::mean(&likeness);
        assert_eq!((mean.len(), mean.is_empty()), (rows, false));
        let found = neighbours_among(&mean.select(&some), &mean, 0.05, Some(6));
        together.as_mut_slice().iter_mut().for_each(|value| *value *= 0.5);
        let doubled = Likeness::product(together.clone(), Mat::full(rows, 1, 1.0));
        let expected = neighbours_among(&doubled.select(&some), &doubled, 0.025, Some(6));
        assert_eq!(found.pattern, expected.pattern);
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
        assert_eq!(neighbours_of(&[], &one.into(), 0.5, None).rows(), 0);
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
