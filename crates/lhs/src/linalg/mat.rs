//! Dense row-major `f32` matrices on 64-byte aligned buffers that are recycled, not freed.
//!
//! A training epoch asks for the same shapes again and again. Each thread keeps the buffers it dropped
//! and hands them out again, so an epoch neither calls the allocator nor touches fresh pages.
//!
//! A matrix may also read entries that somebody else keeps ([`Mat::shared`]), such as an array of Python's.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// One cache line; `Vec<Line>` is how a safe `Vec` gets 64-byte alignment.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

const LINE: usize = 16;

/// Buffers below this size are left to the allocator.
const POOLED_LINES: usize = 64;
/// Buffers above this size, 64 MiB, are not kept either: they are asked for once.
const LARGEST_POOLED_LINES: usize = 1 << 26 >> 6;
/// What one thread keeps at the most: 512 MiB, an epoch's worth of buffers of a quarter of a million edges by 64 columns.
const POOL_LINES: usize = 1 << 29 >> 6;

#[derive(Default)]
struct Pool {
    free: HashMap<usize, Vec<Vec<Line>>>,
    lines: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

fn take_buffer(lines: usize) -> Option<Vec<Line>> {
    if lines < POOLED_LINES {
        return None;
    }
    POOL.with_borrow_mut(|pool| {
        let buffer = pool.free.get_mut(&lines)?.pop()?;
        pool.lines -= lines;
        Some(buffer)
    })
}

fn give_buffer(buffer: Vec<Line>) {
    let lines = buffer.len();
    if !(POOLED_LINES..=LARGEST_POOLED_LINES).contains(&lines) {
        return;
    }
    // The thread may be ending, with its pool already gone: then the buffer is simply freed.
    let _ = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        if pool.lines + lines > POOL_LINES {
            // Most are of sizes that nobody asks for any more; those that are still in use come back.
            *pool = Pool::default();
        }
        pool.lines += lines;
        pool.free.entry(lines).or_default().push(buffer);
    });
}

/// Frees the buffers that this thread keeps for reuse.
pub fn release_buffers() {
    POOL.with_borrow_mut(|pool| *pool = Pool::default());
}

/// Frees those that the threads that compute for it keep, too; waits until these have finished what they are at.
pub fn release_all_buffers() {
    release_buffers();
    rayon::broadcast(|_| release_buffers());
}

/// Entries that somebody else keeps, and nobody changes.
pub type SharedEntries = Arc<dyn AsRef<[f32]> + Send + Sync>;

enum Entries {
    Own(Vec<Line>),
    Shared(SharedEntries),
}

/// A dense row-major matrix.
pub struct Mat {
    rows: usize,
    cols: usize,
    entries: Entries,
}

impl Mat {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self::full(rows, cols, 0.0)
    }

    /// Every entry the same.
    pub fn full(rows: usize, cols: usize, value: f32) -> Self {
        let mut out = Self::scratch(rows, cols);
        out.as_mut_slice().fill(value);
        out
    }

    /// Arbitrary contents, for callers that write every entry: spares a pass over the memory.
    pub fn scratch(rows: usize, cols: usize) -> Self {
        let lines = (rows * cols).div_ceil(LINE);
        let buffer = take_buffer(lines).unwrap_or_else(|| vec![Line([0.0; LINE]); lines]);
        Mat { rows, cols, entries: Entries::Own(buffer) }
    }

    /// A matrix of entries that somebody else keeps, row after row, without a copy. Clones share them, too; who writes into one
    /// gets a copy of its own first.
    pub fn shared(rows: usize, cols: usize, entries: SharedEntries) -> Self {
        assert_eq!((*entries).as_ref().len(), rows * cols, "as many entries as the shape says");
        Mat { rows, cols, entries: Entries::Shared(entries) }
    }

    /// Copies a row-major slice of `rows * cols` entries.
    pub fn from_slice(rows: usize, cols: usize, data: &[f32]) -> Self {
        let mut out = Self::scratch(rows, cols);
        out.as_mut_slice().copy_from_slice(data);
        out
    }

    /// Entry by entry.
    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> f32) -> Self {
        let mut out = Self::scratch(rows, cols);
        for row in 0..rows {
            for (col, value) in out.row_mut(row).iter_mut().enumerate() {
                *value = entry(row, col);
            }
        }
        out
    }

    /// A column vector.
    pub fn column(values: &[f32]) -> Self {
        Self::from_slice(values.len(), 1, values)
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Rows and columns.
    #[inline]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries, row after row.
    #[inline]
    pub fn as_slice(&self) -> &[f32] {
        match &self.entries {
            Entries::Own(buffer) => &bytemuck::cast_slice(buffer)[..self.rows * self.cols],
            Entries::Shared(entries) => (**entries).as_ref(),
        }
    }

    /// The entries, row after row, to be written.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        if let Entries::Shared(_) = self.entries {
            *self = Self::from_slice(self.rows, self.cols, self.as_slice());
        }
        let len = self.len();
        match &mut self.entries {
            Entries::Own(buffer) => &mut bytemuck::cast_slice_mut(buffer)[..len],
            Entries::Shared(_) => unreachable!("it has entries of its own now"),
        }
    }

    /// One row.
    #[inline]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.as_slice()[row * self.cols..][..self.cols]
    }

    /// One row, to be written.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let cols = self.cols;
        &mut self.as_mut_slice()[row * cols..][..cols]
    }

    /// One entry.
    #[inline]
    pub fn get(&self, row: usize, col: usize) -> f32 {
        self.row(row)[col]
    }

    /// The same entries under another shape of the same size.
    pub fn reshaped(mut self, rows: usize, cols: usize) -> Self {
        assert_eq!(self.len(), rows * cols, "a reshape keeps the number of entries");
        (self.rows, self.cols) = (rows, cols);
        self
    }

    /// Matrices with the same number of rows, `[n,a] [n,b] … -> [n,a+b+…]`.
    pub fn side_by_side<M: Borrow<Self>>(parts: &[M]) -> Self {
        let parts: Vec<&Self> = parts.iter().map(Borrow::borrow).collect();
        let rows = parts.first().map_or(0, |part| part.rows());
        let mut out = Self::scratch(rows, parts.iter().map(|part| part.cols()).sum());
        for row in 0..rows {
            let mut rest = out.row_mut(row);
            for part in &parts {
                let (here, after) = rest.split_at_mut(part.cols());
                here.copy_from_slice(part.row(row));
                rest = after;
            }
        }
        out
    }

    /// Rows and columns exchanged.
    pub fn transposed(&self) -> Self {
        let mut out = Self::scratch(self.cols, self.rows);
        for row in 0..self.rows {
            for (col, &value) in self.row(row).iter().enumerate() {
                out.as_mut_slice()[col * self.rows + row] = value;
            }
        }
        out
    }

    /// The rows named, in that order.
    pub fn select_rows(&self, rows: &[u32]) -> Self {
        let mut out = Self::scratch(rows.len(), self.cols);
        for (to, &from) in rows.iter().enumerate() {
            out.row_mut(to).copy_from_slice(self.row(from as usize));
        }
        out
    }
}

impl Clone for Mat {
    fn clone(&self) -> Self {
        match &self.entries {
            Entries::Own(_) => Self::from_slice(self.rows, self.cols, self.as_slice()),
            Entries::Shared(entries) => Self::shared(self.rows, self.cols, Arc::clone(entries)),
        }
    }
}

impl Drop for Mat {
    fn drop(&mut self) {
        if let Entries::Own(buffer) = &mut self.entries {
            give_buffer(std::mem::take(buffer));
        }
    }
}

impl PartialEq for Mat {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.as_slice() == other.as_slice()
    }
}

impl std::fmt::Debug for Mat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mat {}x{} ", self.rows, self.cols)?;
        f.debug_list().entries(self.as_slice().iter().take(32)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_contiguous_and_aligned() {
        let mat = Mat::from_fn(3, 5, |r, c| (r * 10 + c) as f32);
        assert_eq!(mat.row(1), [10.0, 11.0, 12.0, 13.0, 14.0]);
        assert_eq!(mat.as_slice().as_ptr() as usize % 64, 0);
        assert_eq!(mat.transposed().row(4), [4.0, 14.0, 24.0]);
    }

    #[test]
    fn shared_entries_are_copied_by_whoever_writes_into_them() {
        let entries: SharedEntries = Arc::new(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let mat = Mat::shared(2, 3, Arc::clone(&entries));
        let mut clone = mat.clone();
        assert_eq!(mat.as_slice().as_ptr(), (*entries).as_ref().as_ptr());
        assert_eq!(clone.as_slice().as_ptr(), mat.as_slice().as_ptr());
        clone.row_mut(1)[0] = 9.0;
        assert_eq!((clone.row(1), mat.row(1)), (&[9.0, 5.0, 6.0][..], &[4.0, 5.0, 6.0][..]));
        assert_eq!(mat.reshaped(3, 2).row(2), [5.0, 6.0]);
    }

    #[test]
    fn a_dropped_buffer_is_handed_out_again() {
        let first = Mat::zeros(100, 64);
        let address = first.as_slice().as_ptr();
        drop(first);
        let second = Mat::scratch(64, 100);
        assert_eq!(second.as_slice().as_ptr(), address);
        release_buffers();
    }
}
