//! Sums and weighted sums of `exp` over the pairs of two sets of rows, by tiles: what pushes two views apart.
//!
//! For unit rows `a_1..a_n` and `b_1..b_n`, a temperature `t` and a pattern of pairs that are the same, with
//! `E_ij = exp((<a_i,b_j> - 1) / t)`:
//! `R_i = sum of E_ij over j not the same to i`, `C_j = sum of E_ij over i not the same to j`, and with weights `r` and `c`,
//! which count where `R` and `C` did, `G_i = sum_j (r_i + c_j) E_ij b_j` and `H_j = sum_i (r_i + c_j) E_ij a_i`.
//! Tiles are visited in rounds in which no two share rows or columns, so they run in parallel without waiting, and every
//! sum is added up in the order of the rounds, whatever the number of threads. Nothing larger than a tile per thread is
//! stored.
//! Cost: `n²d` multiply-adds for the sums, `3n²d` for the weighted ones, and `n²` exponentials for each.

use std::ops::Range;
use std::sync::Mutex;

use faer::MatRef;
use rayon::prelude::*;

use super::contrast::{BLOCK, accumulate, exponentials, joined, locked, rows_of};
use super::simd::{self, vectorised};
use super::{Mat, Pattern, gemm};

/// Two sets of rows, and who is the same to whom.
pub(crate) struct Crosswise<'a> {
    pub first: &'a Mat,
    pub second: &'a Mat,
    pub temperature: f32,
    pub exceptions: &'a Exceptions,
}

/// Pairs that do not count in one direction, or in both: in CSR order.
pub(crate) struct Exceptions {
    bounds: Vec<usize>,
    columns: Vec<u32>,
    /// 1 if the pair counts in the sum of its row, and in that of its column; else 0.
    counts: Vec<[f32; 2]>,
}

impl Exceptions {
    /// Column `j` does not count for row `i` where the pattern has `(i, j)`, and row `i` not for column `j` where it has
    /// `(j, i)`.
    pub fn from(same: &Pattern) -> Self {
        let transpose = same.transpose();
        let (mut bounds, mut columns, mut counts) = (vec![0], Vec::new(), Vec::new());
        for row in 0..same.rows() {
            let towards = same.row(row).iter().map(|&col| (col, [0.0, 1.0]));
            let back = &transpose.indices[transpose.indptr[row]..transpose.indptr[row + 1]];
            let mut both: Vec<(u32, [f32; 2])> =
                towards.chain(back.iter().map(|&col| (col, [1.0, 0.0]))).collect();
            both.sort_unstable_by_key(|&(col, _)| col);
            for (col, [in_row, in_column]) in both {
                match columns[bounds[row]..].last() == Some(&col) {
                    true => counts.last_mut().into_iter().for_each(|counts| *counts = [0.0, 0.0]),
                    false => {
                        columns.push(col);
                        counts.push([in_row, in_column]);
                    }
                }
            }
            bounds.push(columns.len());
        }
        Exceptions { bounds, columns, counts }
    }

    /// Those of a row within some columns: where in the block of columns each stands, and how it counts.
    fn of(&self, row: usize, block: &Range<usize>) -> impl Iterator<Item = (usize, [f32; 2])> {
        let all = self.bounds[row]..self.bounds[row + 1];
        let columns = &self.columns[all.clone()];
        let place = |bound: usize| all.start + columns.partition_point(|&col| (col as usize) < bound);
        let first = block.start;
        (place(block.start)..place(block.end))
            .map(move |at| (self.columns[at] as usize - first, self.counts[at]))
    }
}

impl Crosswise<'_> {
    /// `R` and `C`.
    pub fn sums(&self) -> [Vec<f32>; 2] {
        let (of_rows, of_columns) =
            (self.per_block(|len| vec![0f32; len]), self.per_block(|len| vec![0f32; len]));
        self.for_each_tile(|a, b, tile| {
            let columns = self.range(b);
            let (mut of_rows, mut of_columns) = (locked(&of_rows[a]), locked(&of_columns[b]));
            vectorised(
                #[inline(always)]
                || {
                    for (row, values) in tile.chunks_exact_mut(columns.len()).enumerate() {
                        exponentials(values, self.temperature);
                        for (col, [in_row, in_column]) in self.exceptions.of(a * BLOCK + row, &columns) {
                            let value = std::mem::take(&mut values[col]);
                            of_rows[row] += in_row * value;
                            of_columns[col] += in_column * value;
                        }
                        of_rows[row] += simd::sum(values);
                        simd::axpy(&mut of_columns, 1.0, values);
                    }
                },
            );
        });
        [of_rows, of_columns]
            .map(|blocks| blocks.into_iter().flat_map(|sums| sums.into_inner().unwrap_or_default()).collect())
    }

    /// `G` and `H`, given `r` and `c`.
    pub fn weighted_sums(&self, of_rows: &[f32], of_columns: &[f32]) -> [Mat; 2] {
        let dim = self.first.cols();
        let (of_first, of_second) =
            (self.per_block(|len| Mat::zeros(len, dim)), self.per_block(|len| Mat::zeros(len, dim)));
        self.for_each_tile(|a, b, tile| {
            let (rows, columns) = (self.range(a), self.range(b));
            let (of_rows, of_columns) = (&of_rows[rows.clone()], &of_columns[columns.clone()]);
            let mut apart = Vec::new();
            vectorised(
                #[inline(always)]
                || {
                    for (row, values) in tile.chunks_exact_mut(columns.len()).enumerate() {
                        exponentials(values, self.temperature);
                        apart.clear();
                        for (col, [in_row, in_column]) in self.exceptions.of(rows.start + row, &columns) {
                            let weight = in_row * of_rows[row] + in_column * of_columns[col];
                            apart.push((col, values[col] * weight));
                        }
                        for (value, of_column) in values.iter_mut().zip(of_columns) {
                            *value *= of_rows[row] + of_column;
                        }
                        apart.iter().for_each(|&(col, value)| values[col] = value);
                    }
                },
            );
            let tile = MatRef::from_row_major_slice(tile, rows.len(), columns.len());
            accumulate(&mut locked(&of_first[a]), tile, rows_of(self.second, columns));
            accumulate(&mut locked(&of_second[b]), tile.transpose(), rows_of(self.first, rows));
        });
        [of_first, of_second].map(|blocks| joined(blocks, self.first.rows(), dim))
    }

    fn count(&self) -> usize {
        self.first.rows().div_ceil(BLOCK)
    }

    fn range(&self, block: usize) -> Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.first.rows())
    }

    fn per_block<T>(&self, make: impl Fn(usize) -> T) -> Vec<Mutex<T>> {
        (0..self.count()).map(|block| Mutex::new(make(self.range(block).len()))).collect()
    }

    /// Visits every pair of blocks once, with the products of their rows.
    fn for_each_tile(&self, visit: impl Fn(usize, usize, &mut [f32]) + Sync) {
        let count = self.count();
        let parallel = rayon::current_num_threads() > 1;
        for round in 0..count {
            let visit = |a: usize| {
                let b = (a + round) % count;
                let (rows, columns) = (self.range(a), self.range(b));
                let mut tile = Mat::scratch(rows.len(), columns.len());
                let (m, n) = tile.shape();
                let right = rows_of(self.second, columns).transpose();
                gemm::multiply(tile.as_mut_slice(), m, n, rows_of(self.first, rows), right);
                visit(a, b, tile.as_mut_slice());
            };
            if parallel {
                (0..count).into_par_iter().for_each(visit);
            } else {
                (0..count).for_each(visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contrast::tests::unit_rows;
    use super::*;

    #[test]
    fn tiles_add_up_to_the_definition_with_the_same_bits_on_any_number_of_threads() {
        let (first, second) = (unit_rows(600, 8, 5), unit_rows(600, 8, 6));
        // Row 3 is the same to column 3 and to two others, of which 300 says so, too.
        let mut entries: Vec<(u32, u32, f32)> = (0..600).map(|i| (i, i, 1.0)).collect();
        entries.extend([(3, 7, 1.0), (3, 300, 1.0), (300, 3, 1.0)]);
        let same = super::super::SparseMat::from_triplets(600, 600, entries).pattern;
        let exceptions = Exceptions::from(&same);
        let pairs = Crosswise { first: &first, second: &second, temperature: 0.5, exceptions: &exceptions };
        let weights: [Vec<f32>; 2] = [0.3, 0.7].map(|f| (0..600).map(|i| f + (i % 5) as f32).collect());
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (pairs.sums(), pairs.weighted_sums(&weights[0], &weights[1])))
        };
        let ([of_rows, of_columns], [of_first, of_second]) = on(1);
        assert_eq!(on(2), ([of_rows.clone(), of_columns.clone()], [of_first.clone(), of_second.clone()]));

        let e = |i: usize, j: usize| {
            let s: f32 = first.row(i).iter().zip(second.row(j)).map(|(a, b)| a * b).sum();
            f64::from((s - 1.0) / 0.5).exp()
        };
        let counts = |i: usize, j: usize| f64::from(u8::from(!same.row(i).contains(&(j as u32))));
        let weight = |i: usize, j: usize| {
            counts(i, j) * f64::from(weights[0][i]) + counts(j, i) * f64::from(weights[1][j])
        };
        for at in [0, 3, 7, 255, 256, 300, 599] {
            let expected: f64 = (0..600).map(|j| counts(at, j) * e(at, j)).sum();
            assert!((f64::from(of_rows[at]) / expected - 1.0).abs() < 1e-5);
            let expected: f64 = (0..600).map(|i| counts(at, i) * e(i, at)).sum();
            assert!((f64::from(of_columns[at]) / expected - 1.0).abs() < 1e-5);
            let expected: f64 =
                (0..600).map(|j| weight(at, j) * e(at, j) * f64::from(second.get(j, 2))).sum();
            assert!((f64::from(of_first.get(at, 2)) - expected).abs() < 1e-3);
            let expected: f64 = (0..600).map(|i| weight(i, at) * e(i, at) * f64::from(first.get(i, 2))).sum();
            assert!((f64::from(of_second.get(at, 2)) - expected).abs() < 1e-3);
        }
    }
}
