//! How well the items of a list answer a question, as one op: nothing as large as all items times the width is kept.

use super::super::Var;
use super::super::backward::gradients_in_ops;
use crate::linalg::elementwise::add_to;
use crate::linalg::parallel::map_chunks;
use crate::linalg::{Mat, simd};

impl Var {
    /// `<score, tanh(key_it + question_i)>` for each item `t` of list `i`: keys `[m * length, d]`, one list after the
    /// other, questions `[m, d]` and `score [d, 1]` give `[m, length]`.
    pub fn answers(&self, question: &Var, score: &Var) -> Var {
        let value = forward(self.value(), question.value(), score.value());
        Var::from_joint_op(value, [self, question, score], |g, p, _| {
            if g.needs_gradient() || p.iter().any(Var::needs_gradient) {
                return gradients_in_ops(&in_ops(&p[0], &p[1], &p[2]), g, p);
            }
            backward(g.value(), p[0].value(), p[1].value(), p[2].value()).map(Var::constant).into()
        })
    }
}

/// The same one op after the other.
fn in_ops(keys: &Var, question: &Var, score: &Var) -> Var {
    let (count, length) = (question.rows(), keys.rows() / question.rows().max(1));
    let belongs = (0..count).flat_map(|list| std::iter::repeat_n(list as u32, length)).collect();
    keys.add(&question.gather_rows(&belongs)).tanh().matmul(score).reshaped(count, length)
}

fn forward(keys: &Mat, question: &Mat, score: &Mat) -> Mat {
    let (count, width) = question.shape();
    let length = keys.rows() / count.max(1);
    assert_eq!(keys.shape(), (count * length, width), "a key for every item");
    assert_eq!(score.shape(), (width, 1), "a weight for every column");
    let score = score.as_slice();
    let mut out = Mat::scratch(count, length);
    crate::linalg::parallel::fill_rows(out.as_mut_slice(), length, length * width * 8, |first, part| {
        let mut told = vec![0.0; width];
        simd::vectorised(
            #[inline(always)]
            || {
                for (list, out) in (first..).zip(part.chunks_exact_mut(length)) {
                    let question = question.row(list);
                    for (item, out) in out.iter_mut().enumerate() {
                        tell(&mut told, keys.row(list * length + item), question);
                        *out = simd::dot(&told, score);
                    }
                }
            },
        );
    });
    out
}

#[inline(always)]
fn tell(told: &mut [f32], key: &[f32], question: &[f32]) {
    for ((told, key), question) in told.iter_mut().zip(key).zip(question) {
        *told = simd::tanh(key + question);
    }
}

/// Gradients of keys, questions and score.
fn backward(g: &Mat, keys: &Mat, question: &Mat, score: &Mat) -> [Mat; 3] {
    let ((count, length), width) = (g.shape(), keys.cols());
    let weights = score.as_slice();
    let parts = map_chunks(count, length * width * 8, |lists| {
        let mut of_keys = Mat::scratch(lists.len() * length, width);
        let mut of_question = Mat::zeros(lists.len(), width);
        let mut of_score = Mat::zeros(width, 1);
        let mut told = vec![0.0; width];
        simd::vectorised(
            #[inline(always)]
            || {
                for (at, list) in lists.enumerate() {
                    for item in 0..length {
                        let g = g.get(list, item);
                        tell(&mut told, keys.row(list * length + item), question.row(list));
                        simd::axpy(of_score.as_mut_slice(), g, &told);
                        let of_key = of_keys.row_mut(at * length + item);
                        for ((of_key, told), weight) in of_key.iter_mut().zip(&told).zip(weights) {
                            *of_key = g * weight * (1.0 - told * told);
                        }
                        simd::axpy(of_question.row_mut(at), 1.0, of_key);
                    }
                }
            },
        );
        [of_keys, of_question, of_score]
    });
    let mut of_keys = Mat::scratch(count * length, width);
    let mut of_question = Mat::scratch(count, width);
    let mut of_score = Mat::zeros(width, 1);
    let mut first = 0;
    for [keys, question, score] in &parts {
        of_keys.as_mut_slice()[first * length * width..][..keys.len()].copy_from_slice(keys.as_slice());
        of_question.as_mut_slice()[first * width..][..question.len()].copy_from_slice(question.as_slice());
        add_to(&mut of_score, score);
        first += question.rows();
    }
    [of_keys, of_question, of_score]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        check("answers", &[(6, 3), (2, 3), (3, 1)], |v| v[0].answers(&v[1], &v[2]));
    }

    #[test]
    fn fused_and_in_ops_are_the_same() {
        let make = |rows: usize, cols: usize, factor: f32| {
            Var::constant(Mat::from_fn(rows, cols, |row, col| ((row * cols + col) as f32 * factor).sin()))
        };
        let (keys, question, score) = (make(500, 20, 0.7), make(100, 20, 1.3), make(20, 1, 0.9));
        let found = keys.answers(&question, &score);
        let expected = in_ops(&keys, &question, &score);
        for (found, expected) in found.value().as_slice().iter().zip(expected.value().as_slice()) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}
