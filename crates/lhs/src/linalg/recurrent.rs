//! Long short-term memory along many sequences at once, forward and back, a block of sequences at a time.
//!
//! A step of a block stays in the cache from the product with the recurrent weights to the new state. Blocks have a fixed
//! size and what they add up to is added in order, so that the bits do not depend on the number of threads.

use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::Mat;
use super::elementwise::add_to;
use super::simd::{self, vectorised};

/// Sequences of one block: their gates, at common widths, fill the first cache.
const BLOCK: usize = 64;

/// Stands in a sequence where there is nothing to read: the state is empty after it.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What is read by what: the gates, side by side, are those of input, forgetting, output and news.
pub(crate) struct Lstm<'a> {
    /// What each item says to the gates, `[items, 4d]`.
    pub heard: &'a Mat,
    /// `[d, 4d]`.
    pub recurrent: &'a Mat,
    /// What each sequence starts with, `[m, d]`.
    pub hidden: &'a Mat,
    /// What each sequence keeps at first, `[m, d]`.
    pub memory: &'a Mat,
    /// The items of each sequence, one sequence after the other, or [`NOTHING`].
    pub read: &'a [u32],
}

/// What the way back needs; a block after the other, in each a step after the other, in each a row per sequence.
pub(crate) struct Trace {
    /// Gates as open as they were, `[m * length, 4d]`.
    open: Mat,
    /// Memories after each step, `[m * length, d]`.
    kept: Mat,
}

/// Gradients of all that was read.
pub(crate) struct Pulled {
    pub heard: Mat,
    pub recurrent: Mat,
    pub hidden: Mat,
    pub memory: Mat,
}

impl Lstm<'_> {
    fn width(&self) -> usize {
        self.recurrent.rows()
    }

    fn length(&self) -> usize {
        self.read.len() / self.hidden.rows().max(1)
    }

    /// The states `h_1 … h_length` of each sequence and its last memory, side by side: `[m, (length + 1) d]`.
    pub fn forward(&self) -> (Mat, Trace) {
        let (count, width, length) = (self.hidden.rows(), self.width(), self.length());
        assert_eq!((count, width), self.hidden.shape(), "a state for each sequence");
        assert_eq!((count, width), self.memory.shape(), "a memory for each sequence");
        assert_eq!(self.recurrent.cols(), 4 * width, "four gates");
        assert_eq!(self.heard.cols(), 4 * width, "four gates");
        assert_eq!(self.read.len(), count * length, "sequences of one length");
        let mut out = Mat::scratch(count, (length + 1) * width);
        let mut trace = Trace {
            open: Mat::scratch(count * length, 4 * width),
            kept: Mat::scratch(count * length, width),
        };
        if count * length * width == 0 {
            out.as_mut_slice().copy_from_slice(if length == 0 { self.memory.as_slice() } else { &[] });
            return (out, trace);
        }
        let steps = BLOCK * length * width;
        out.as_mut_slice()
            .par_chunks_mut(BLOCK * (length + 1) * width)
            .zip(trace.open.as_mut_slice().par_chunks_mut(4 * steps))
            .zip(trace.kept.as_mut_slice().par_chunks_mut(steps))
            .enumerate()
            .for_each(|(block, ((out, open), kept))| self.forward_block(block * BLOCK, out, open, kept));
        (out, trace)
    }

    fn forward_block(&self, first: usize, out: &mut [f32], open: &mut [f32], kept: &mut [f32]) {
        let (width, length) = (self.width(), self.length());
        let across = (length + 1) * width;
        let rows = out.len() / across;
        let read = &self.read[first * length..][..rows * length];
        for step in 0..length {
            let gates = &mut open[step * rows * 4 * width..][..rows * 4 * width];
            for (row, gates) in gates.chunks_exact_mut(4 * width).enumerate() {
                match read[row * length + step] {
                    NOTHING => gates.fill(0.0),
                    item => gates.copy_from_slice(self.heard.row(item as usize)),
                }
            }
            let before = match step {
                0 => rows_of(self.hidden, first, rows),
                _ => MatRef::from_row_major_slice(out, rows, across).subcols((step - 1) * width, width),
            };
            let all = MatMut::from_row_major_slice_mut(gates, rows, 4 * width);
            faer_matmul(all, Accum::Add, before, whole(self.recurrent), 1.0, Par::Seq);
            let (past, now) = kept.split_at_mut(step * rows * width);
            let now = &mut now[..rows * width];
            let past = match step {
                0 => &self.memory.as_slice()[first * width..],
                _ => &past[(step - 1) * rows * width..],
            };
            vectorised(
                #[inline(always)]
                || {
                    for row in 0..rows {
                        let gates = &mut gates[row * 4 * width..][..4 * width];
                        let now = &mut now[row * width..][..width];
                        let says = &mut out[row * across + step * width..][..width];
                        if read[row * length + step] == NOTHING {
                            now.fill(0.0);
                            says.fill(0.0);
                        } else {
                            advance(gates, &past[row * width..][..width], now, says);
                        }
                    }
                },
            );
        }
        let last = &kept[(length - 1) * rows * width..];
        for (out, last) in out.chunks_exact_mut(across).zip(last.chunks_exact(width)) {
            out[length * width..].copy_from_slice(last);
        }
    }

    /// The way back: `g` is the gradient of what [`Lstm::forward`] gave, `out`.
    pub fn backward(&self, g: &Mat, out: &Mat, trace: &Trace) -> Pulled {
        let (count, width, length) = (self.hidden.rows(), self.width(), self.length());
        let mut pulled = Pulled {
            heard: Mat::zeros(self.heard.rows(), 4 * width),
            recurrent: Mat::zeros(width, 4 * width),
            hidden: Mat::zeros(count, width),
            memory: Mat::zeros(count, width),
        };
        if count * length * width == 0 {
            if length == 0 {
                pulled.memory = g.clone();
            }
            return pulled;
        }
        let mut gates = Mat::scratch(count * length, 4 * width);
        let size = BLOCK * width;
        let of_recurrent: Vec<Mat> = gates
            .as_mut_slice()
            .par_chunks_mut(4 * length * size)
            .zip(pulled.hidden.as_mut_slice().par_chunks_mut(size))
            .zip(pulled.memory.as_mut_slice().par_chunks_mut(size))
            .enumerate()
            .map(|(block, ((gates, hidden), memory))| {
                self.backward_block(block * BLOCK, g, out, trace, gates, hidden, memory)
            })
            .collect();
        of_recurrent.iter().for_each(|part| add_to(&mut pulled.recurrent, part));
        let heard = &mut pulled.heard;
        vectorised(
            #[inline(always)]
            || {
                let mut gates = gates.as_slice().chunks_exact(4 * width);
                for first in (0..count).step_by(BLOCK) {
                    for step in 0..length {
                        for (row, gates) in (first..(first + BLOCK).min(count)).zip(&mut gates) {
                            let item = self.read[row * length + step];
                            if item != NOTHING {
                                simd::axpy(heard.row_mut(item as usize), 1.0, gates);
                            }
                        }
                    }
                }
            },
        );
        pulled
    }

    /// Fills the gradients of the gates and of the first state, and gives what the block adds to the recurrent weights.
    #[expect(clippy::too_many_arguments, reason = "parts of buffers that blocks share")]
    fn backward_block(
        &self,
        first: usize,
        g: &Mat,
        out: &Mat,
        trace: &Trace,
        gates: &mut [f32],
        hidden: &mut [f32],
        memory: &mut [f32],
    ) -> Mat {
        let (width, length) = (self.width(), self.length());
        let rows = hidden.len() / width;
        let read = &self.read[first * length..][..rows * length];
        let open = &trace.open.as_slice()[first * length * 4 * width..];
        let kept = &trace.kept.as_slice()[first * length * width..];
        let mut recurrent = Mat::zeros(width, 4 * width);
        for (row, memory) in memory.chunks_exact_mut(width).enumerate() {
            memory.copy_from_slice(&g.row(first + row)[length * width..]);
        }
        for step in (0..length).rev() {
            let gates = &mut gates[step * rows * 4 * width..][..rows * 4 * width];
            let open = &open[step * rows * 4 * width..];
            let now = &kept[step * rows * width..];
            let past = match step {
                0 => &self.memory.as_slice()[first * width..],
                _ => &kept[(step - 1) * rows * width..],
            };
            vectorised(
                #[inline(always)]
                || {
                    for row in 0..rows {
                        let (here, wide) = (row * width, row * 4 * width);
                        let gates = &mut gates[wide..][..4 * width];
                        let memory = &mut memory[here..][..width];
                        if read[row * length + step] == NOTHING {
                            gates.fill(0.0);
                            memory.fill(0.0);
                            continue;
                        }
                        let hidden = &mut hidden[here..][..width];
                        simd::axpy(hidden, 1.0, &g.row(first + row)[step * width..][..width]);
                        let (past, now) = (&past[here..][..width], &now[here..][..width]);
                        retreat(&open[wide..][..4 * width], past, now, hidden, memory, gates);
                    }
                },
            );
            let gates = MatRef::from_row_major_slice(gates, rows, 4 * width);
            let before = match step {
                0 => rows_of(self.hidden, first, rows),
                _ => rows_of(out, first, rows).subcols((step - 1) * width, width),
            };
            let sum = MatMut::from_row_major_slice_mut(recurrent.as_mut_slice(), width, 4 * width);
            faer_matmul(sum, Accum::Add, before.transpose(), gates, 1.0, Par::Seq);
            let hidden = MatMut::from_row_major_slice_mut(hidden, rows, width);
            faer_matmul(hidden, Accum::Replace, gates, whole(self.recurrent).transpose(), 1.0, Par::Seq);
        }
        recurrent
    }
}

fn whole(mat: &Mat) -> MatRef<'_, f32> {
    MatRef::from_row_major_slice(mat.as_slice(), mat.rows(), mat.cols())
}

fn rows_of(mat: &Mat, first: usize, count: usize) -> MatRef<'_, f32> {
    whole(mat).subrows(first, count)
}

/// One step of one sequence: opens the gates in place, `c' = f c + i g`, `h' = o tanh(c')`.
#[inline(always)]
fn advance(gates: &mut [f32], past: &[f32], now: &mut [f32], says: &mut [f32]) {
    let width = past.len();
    let (open, news) = gates.split_at_mut(3 * width);
    open.iter_mut().for_each(|x| *x = simd::sigmoid(*x));
    news.iter_mut().for_each(|x| *x = simd::tanh(*x));
    let (input, rest) = open.split_at(width);
    let (forget, output) = rest.split_at(width);
    for (((now, past), (input, news)), forget) in
        now.iter_mut().zip(past).zip(input.iter().zip(&*news)).zip(forget)
    {
        *now = forget.mul_add(*past, input * news);
    }
    for ((says, output), now) in says.iter_mut().zip(output).zip(&*now) {
        *says = output * simd::tanh(*now);
    }
}

/// One step of one sequence back: from the gradients of state and memory after it to those of the gates and of the memory
/// before it.
#[inline(always)]
fn retreat(open: &[f32], past: &[f32], now: &[f32], hidden: &[f32], memory: &mut [f32], gates: &mut [f32]) {
    let width = past.len();
    let part = |which: usize| &open[which * width..][..width];
    let (input, forget, output, news) = (part(0), part(1), part(2), part(3));
    let (of_input, rest) = gates.split_at_mut(width);
    let (of_forget, rest) = rest.split_at_mut(width);
    let (of_output, of_news) = rest.split_at_mut(width);
    let (of_news, past, now) = (&mut of_news[..width], &past[..width], &now[..width]);
    let (hidden, memory) = (&hidden[..width], &mut memory[..width]);
    for at in 0..width {
        let (i, f, o, n) = (input[at], forget[at], output[at], news[at]);
        let told = simd::tanh(now[at]);
        of_output[at] = hidden[at] * told * o * (1.0 - o);
        let kept = (hidden[at] * o).mul_add(1.0 - told * told, memory[at]);
        of_input[at] = kept * n * i * (1.0 - i);
        of_news[at] = kept * i * (1.0 - n * n);
        of_forget[at] = kept * past[at] * f * (1.0 - f);
        memory[at] = kept * f;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::hash;

    fn sample(rows: usize, cols: usize, seed: u64) -> Mat {
        Mat::from_fn(rows, cols, |row, col| {
            (hash(seed, (row * cols + col) as u32) >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
    }

    #[test]
    fn the_bits_do_not_depend_on_the_number_of_threads() {
        let (count, length, width) = (3 * BLOCK + 5, 7, 16);
        let (heard, recurrent) = (sample(50, 4 * width, 1), sample(width, 4 * width, 2));
        let (hidden, memory) = (sample(count, width, 3), sample(count, width, 4));
        let read: Vec<u32> = (0..(count * length) as u32).map(|place| hash(5, place) % 50).collect();
        let lstm =
            Lstm { heard: &heard, recurrent: &recurrent, hidden: &hidden, memory: &memory, read: &read };
        let g = sample(count, (length + 1) * width, 6);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (out, trace) = lstm.forward();
                let Pulled { heard, recurrent, hidden, memory } = lstm.backward(&g, &out, &trace);
                [out, heard, recurrent, hidden, memory]
            })
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn nothing_to_read_empties_the_state() {
        let one = Mat::full(1, 1, 1.0);
        let (heard, recurrent) = (Mat::full(1, 4, 1.0), Mat::full(1, 4, 1.0));
        let read = [0, NOTHING];
        let lstm = Lstm { heard: &heard, recurrent: &recurrent, hidden: &one, memory: &one, read: &read };
        let (out, _) = lstm.forward();
        assert!(out.get(0, 0) > 0.5);
        assert_eq!(&out.row(0)[1..], [0.0, 0.0]);
    }
}
