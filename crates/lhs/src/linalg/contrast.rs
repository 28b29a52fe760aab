//! The fused kernel behind InfoNCE: sums and weighted sums of `exp` over all pairs of rows, by tiles.
//!
//! For unit rows `u_1..u_m` (an even number: the two views on top of each other) and a temperature `t`, with
//! `E_ij = exp((<u_i,u_j> - 1) / t)` for `j != i`:
//! `D_i = sum_j E_ij`, and the gradient `G_i = sum_j (1/D_i + 1/D_j) E_ij u_j`.
//! `E` is symmetric, so only the tiles on and above the diagonal are computed, each serving its rows and its
//! columns. Tiles are visited in rounds in which no two share a block of rows (a round-robin tournament):
//! the tiles of a round run in parallel without locks to wait for, and every sum is added up in the order of
//! the rounds, whatever the number of threads. Nothing larger than a tile per thread is stored.
//! Cost: `m²d` multiply-adds for `D`, `3m²d` for `G`, and `m²/2` exponentials for each.

use std::sync::Mutex;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Mat;
use super::simd::{self, vectorised};

/// Rows of a block; a tile of 256 x 256 takes a quarter of a megabyte and stays in the second-level cache.
pub(super) const BLOCK: usize = 256;

/// `D_i` for every row.
pub(crate) fn exp_sums(rows: &Mat, temperature: f32) -> Vec<f32> {
    let blocks = Blocks::new(rows);
    let sums: Vec<Mutex<Vec<f32>>> = blocks.per_block(|len| vec![0f32; len]);
    blocks.for_each_pair(|a, b, tile| {
        blocks.similarities(a, b, tile);
        let mut of_columns = vec![0f32; blocks.len(b)];
        let mut of_rows = locked(&sums[a]);
        vectorised(
            #[inline(always)]
            || {
                for (row, values) in tile.chunks_exact_mut(blocks.len(b)).enumerate() {
                    exponentials(values, temperature);
                    if a == b {
                        values[row] = 0.0;
                    }
                    of_rows[row] += simd::sum(values);
                    simd::axpy(&mut of_columns, 1.0, values);
                }
            },
        );
        if a != b {
            locked(&sums[b]).iter_mut().zip(of_columns).for_each(|(sum, column)| *sum += column);
        }
    });
    sums.into_iter().flat_map(|sums| sums.into_inner().unwrap_or_default()).collect()
}

/// `G_i` for every row, given `D`.
pub(crate) fn weighted_sums(rows: &Mat, temperature: f32, exp_sums: &[f32]) -> Mat {
    let blocks = Blocks::new(rows);
    let inverse: Vec<f32> = exp_sums.iter().map(|sum| 1.0 / sum).collect();
    let results: Vec<Mutex<Mat>> = blocks.per_block(|len| Mat::zeros(len, rows.cols()));
    blocks.for_each_pair(|a, b, tile| {
        blocks.similarities(a, b, tile);
        let (of_a, of_b) = (&inverse[blocks.range(a)], &inverse[blocks.range(b)]);
        vectorised(
            #[inline(always)]
            || {
                for (row, values) in tile.chunks_exact_mut(blocks.len(b)).enumerate() {
                    exponentials(values, temperature);
                    if a == b {
                        values[row] = 0.0;
                    }
                    for (value, of_b) in values.iter_mut().zip(of_b) {
                        *value *= of_a[row] + of_b;
                    }
                }
            },
        );
        let tile = MatRef::from_row_major_slice(tile, blocks.len(a), blocks.len(b));
        accumulate(&mut locked(&results[a]), tile, blocks.view(b));
        if a != b {
            accumulate(&mut locked(&results[b]), tile.transpose(), blocks.view(a));
        }
    });
    joined(results, rows.rows(), rows.cols())
}

/// The blocks on top of each other, `[rows, cols]`.
pub(super) fn joined(blocks: Vec<Mutex<Mat>>, rows: usize, cols: usize) -> Mat {
    let mut out = Mat::scratch(rows, cols);
    for (block, part) in blocks.into_iter().zip(out.as_mut_slice().chunks_mut(BLOCK * cols.max(1))) {
        part.copy_from_slice(locked(&block).as_slice());
    }
    out
}

/// `exp((s - 1) / t)`, in place.
#[inline(always)]
pub(super) fn exponentials(values: &mut [f32], temperature: f32) {
    let inverse = 1.0 / temperature;
    for value in values.iter_mut() {
        *value = simd::exp((*value - 1.0) * inverse);
    }
}

/// `to += left right`.
pub(super) fn accumulate(to: &mut Mat, left: MatRef<'_, f32>, right: MatRef<'_, f32>) {
    let (rows, cols) = to.shape();
    let to = MatMut::from_row_major_slice_mut(to.as_mut_slice(), rows, cols);
    matmul(to, Accum::Add, left, right, 1.0, Par::Seq);
}

/// No two tiles of a round share a block, so nobody ever waits; a poisoned lock means a panic is under way.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Some rows, as the kernels read them.
pub(super) fn rows_of(mat: &Mat, rows: std::ops::Range<usize>) -> MatRef<'_, f32> {
    let cols = mat.cols();
    MatRef::from_row_major_slice(&mat.as_slice()[rows.start * cols..rows.end * cols], rows.len(), cols)
}

struct Blocks<'a> {
    rows: &'a Mat,
    count: usize,
}

impl<'a> Blocks<'a> {
    fn new(rows: &'a Mat) -> Self {
        Blocks { rows, count: rows.rows().div_ceil(BLOCK) }
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.rows.rows())
    }

    fn len(&self, block: usize) -> usize {
        self.range(block).len()
    }

    fn view(&self, block: usize) -> MatRef<'a, f32> {
        rows_of(self.rows, self.range(block))
    }

    fn per_block<T>(&self, make: impl Fn(usize) -> T) -> Vec<Mutex<T>> {
        (0..self.count).map(|block| Mutex::new(make(self.len(block)))).collect()
    }

    fn similarities(&self, a: usize, b: usize, tile: &mut [f32]) {
        super::gemm::multiply(tile, self.len(a), self.len(b), self.view(a), self.view(b).transpose());
    }

    /// Visits every unordered pair of blocks once, the diagonal first.
    fn for_each_pair(&self, visit: impl Fn(usize, usize, &mut [f32]) + Sync) {
        let visit = |&(a, b): &(usize, usize)| {
            let mut tile = Mat::scratch(self.len(a), self.len(b));
            visit(a, b, tile.as_mut_slice());
        };
        let parallel = rayon::current_num_threads() > 1;
        for round in rounds(self.count) {
            if parallel {
                round.par_iter().for_each(visit);
            } else {
                round.iter().for_each(visit);
            }
        }
    }
}

/// A round-robin tournament (the circle method): `rounds(n)` lists every pair `a <= b` once, such that no
/// number stands twice in one round.
fn rounds(count: usize) -> Vec<Vec<(usize, usize)>> {
    let mut rounds = vec![(0..count).map(|i| (i, i)).collect()];
    let even = count.next_multiple_of(2);
    for turn in 0..even.saturating_sub(1) {
        // The last seat stays; the others move one place each turn. A seat beyond `count` is a bye.
        let seat = |place: usize| if place == even - 1 { even - 1 } else { (place + turn) % (even - 1) };
        let pair = |i: usize| (seat(i), seat(even - 1 - i));
        let met = (0..even / 2).map(pair).filter(|&(a, b)| a < count && b < count);
        rounds.push(met.map(|(a, b)| (a.min(b), a.max(b))).collect());
    }
    rounds
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn a_tournament_meets_every_pair_once_and_nobody_twice_in_a_round() {
        for count in 0..12 {
            let rounds = rounds(count);
            let mut all: Vec<_> = rounds.iter().flatten().copied().collect();
            all.sort_unstable();
            let expected: Vec<_> = (0..count).flat_map(|a| (a..count).map(move |b| (a, b))).collect();
            assert_eq!(all, expected);
            for round in &rounds[1..] {
                let mut seats: Vec<_> = round.iter().flat_map(|&(a, b)| [a, b]).collect();
                seats.sort_unstable();
                assert!(seats.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }

    pub fn unit_rows(rows: usize, cols: usize, seed: u64) -> Mat {
        let mut mat = Mat::from_fn(rows, cols, |r, c| {
            super::super::random::hash(seed, (r * cols + c) as u32) as f32 / u32::MAX as f32 - 0.5
        });
        for row in 0..rows {
            let length = mat.row(row).iter().map(|v| v * v).sum::<f32>().sqrt();
            mat.row_mut(row).iter_mut().for_each(|v| *v /= length);
        }
        mat
    }

    #[test]
    fn tiles_add_up_to_the_definition_with_the_same_bits_on_any_number_of_threads() {
        let (rows, temperature) = (unit_rows(700, 8, 5), 0.5);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let sums = exp_sums(&rows, temperature);
                let weighted = weighted_sums(&rows, temperature, &sums);
                (sums, weighted)
            })
        };
        let (sums, weighted) = on(1);
        assert_eq!((&sums, &weighted), (&on(2).0, &on(2).1));
        let e = |i: usize, j: usize| {
            let s: f32 = rows.row(i).iter().zip(rows.row(j)).map(|(a, b)| a * b).sum();
            if i == j { 0.0 } else { f64::from((s - 1.0) / temperature).exp() }
        };
        let exact: Vec<f64> = (0..700).map(|i| (0..700).map(|j| e(i, j)).sum()).collect();
        for (found, exact) in sums.iter().zip(&exact) {
            assert!((f64::from(*found) / exact - 1.0).abs() < 1e-5);
        }
        for i in [0, 255, 256, 699] {
            let expected: f64 = (0..700)
                .map(|j| (1.0 / exact[i] + 1.0 / exact[j]) * e(i, j) * f64::from(rows.get(j, 3)))
                .sum();
            assert!((f64::from(weighted.get(i, 3)) - expected).abs() < 1e-5);
        }
    }
}
