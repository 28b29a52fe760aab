//! Work split over threads in chunks that depend on the sizes alone, so that results never depend on the
//! number of threads.

use rayon::prelude::*;

use super::Mat;

/// Below this many multiply-adds a second thread costs more than it brings.
const WORTH_SPLITTING: usize = 1 << 22;
/// About the work of one chunk.
const CHUNK_WORK: usize = 1 << 17;

/// How many rows make a chunk when a row costs `row_work` multiply-adds.
pub(crate) fn chunk_rows(row_work: usize) -> usize {
    (CHUNK_WORK / row_work.max(1)).clamp(16, 1 << 14).next_multiple_of(16)
}

fn worth_splitting(work: usize) -> bool {
    work >= WORTH_SPLITTING && rayon::current_num_threads() > 1
}

/// Calls `fill(first_row, rows)` for chunks of whole rows of a row-major buffer.
pub(crate) fn fill_rows(
    buffer: &mut [f32],
    cols: usize,
    row_work: usize,
    fill: impl Fn(usize, &mut [f32]) + Sync,
) {
    if cols == 0 || buffer.is_empty() {
        return;
    }
    let rows = chunk_rows(row_work);
    let chunk = rows * cols;
    if worth_splitting(buffer.len() / cols * row_work) {
        buffer.par_chunks_mut(chunk).enumerate().for_each(|(i, part)| fill(i * rows, part));
    } else {
        buffer.chunks_mut(chunk).enumerate().for_each(|(i, part)| fill(i * rows, part));
    }
}

/// The same for the rows of two matrices at once.
pub(crate) fn fill_rows_of_two(
    a: &mut Mat,
    b: &mut Mat,
    row_work: usize,
    fill: impl Fn(usize, &mut [f32], &mut [f32]) + Sync,
) {
    assert_eq!(a.rows(), b.rows(), "as many rows in both");
    if a.is_empty() || b.is_empty() {
        return;
    }
    let (rows, split) = (chunk_rows(row_work), worth_splitting(a.rows() * row_work));
    let (of_a, of_b) = (rows * a.cols(), rows * b.cols());
    let (a, b) = (a.as_mut_slice(), b.as_mut_slice());
    if split {
        let parts = a.par_chunks_mut(of_a).zip(b.par_chunks_mut(of_b));
        parts.enumerate().for_each(|(i, (a, b))| fill(i * rows, a, b));
    } else {
        let parts = a.chunks_mut(of_a).zip(b.chunks_mut(of_b));
        parts.enumerate().for_each(|(i, (a, b))| fill(i * rows, a, b));
    }
}

/// Calls `change(first_row, rows)` for chunks of `together` rows of a row-major buffer and returns what they gave, in order.
pub(crate) fn map_rows<T: Send>(
    buffer: &mut [f32],
    cols: usize,
    together: usize,
    change: impl Fn(usize, &mut [f32]) -> T + Sync,
) -> Vec<T> {
    let chunk = (together * cols).max(1);
    if worth_splitting(buffer.len()) {
        buffer.par_chunks_mut(chunk).enumerate().map(|(i, part)| change(i * together, part)).collect()
    } else {
        buffer.chunks_mut(chunk).enumerate().map(|(i, part)| change(i * together, part)).collect()
    }
}

/// [`map_rows`] over two buffers of one shape at once.
pub(crate) fn map_both_rows<T: Send>(
    first: &mut [f32],
    second: &mut [f32],
    cols: usize,
    together: usize,
    change: impl Fn(usize, &mut [f32], &mut [f32]) -> T + Sync,
) -> Vec<T> {
    let chunk = (together * cols).max(1);
    if worth_splitting(first.len()) {
        let parts = first.par_chunks_mut(chunk).zip(second.par_chunks_mut(chunk)).enumerate();
        parts.map(|(i, (first, second))| change(i * together, first, second)).collect()
    } else {
        let parts = first.chunks_mut(chunk).zip(second.chunks_mut(chunk)).enumerate();
        parts.map(|(i, (first, second))| change(i * together, first, second)).collect()
    }
}

/// Computes one value per chunk `range` of `0..count` and returns them in order.
pub(crate) fn map_chunks<T: Send>(
    count: usize,
    item_work: usize,
    compute: impl Fn(std::ops::Range<usize>) -> T + Sync,
) -> Vec<T> {
    let size = chunk_rows(item_work);
    let chunk = |i: usize| i * size..((i + 1) * size).min(count);
    let chunks = count.div_ceil(size);
    if worth_splitting(count * item_work) {
        (0..chunks).into_par_iter().map(|i| compute(chunk(i))).collect()
    } else {
        (0..chunks).map(|i| compute(chunk(i))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_once() {
        let parts = map_chunks(100_000, 64, |range| range);
        assert_eq!(parts.first().unwrap().start, 0);
        assert_eq!(parts.last().unwrap().end, 100_000);
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
