//! Attention over the entries of a pattern for all heads of a layer, as one op: see `linalg::attention`.

use std::sync::Arc;

use super::super::Var;
use super::super::backward::gradients_in_ops;
use super::{Sparse, at_columns, at_rows};
use crate::linalg::Pattern;
use crate::linalg::attention::{Attention, Pulled, heads_at_once};
use crate::linalg::random::{Mask, derive};

/// How scores become weights.
#[derive(Clone, Copy, Debug)]
pub struct Attending {
    /// Of negative scores.
    pub slope: f32,
    /// Share of the weights that is dropped, after the softmax.
    pub rate: f32,
    /// Which ones.
    pub seed: u64,
}

/// `Σ_j w_ij x_j` with `w_ij = dropout(softmax_j(leaky_relu(to_i + from_j)))` over the entries of `pattern [m,n]`, for
/// each head: `to [m,heads]`, `from [n,heads]`, `x [n, heads * columns]` give `[m, heads * columns]`. Empty rows give 0.
pub fn attend(pattern: &Arc<Pattern>, to: &Var, from: &Var, x: &Var, how: Attending) -> Var {
    fn on<'a>(pattern: &'a Pattern, parents: [&'a Var; 3], how: Attending) -> Attention<'a> {
        let [to, from, x] = parents.map(Var::value);
        Attention { pattern, to, from, x, slope: how.slope, mask: Mask::new(how.rate, how.seed) }
    }
    let (heads, some) = (to.cols(), heads_at_once(to.cols()));
    if some < heads {
        let columns = x.cols() / heads;
        let part = |first: usize, count: usize, seed: u64| {
            let (to, from) = (to.slice_cols(first, count), from.slice_cols(first, count));
            let x = x.slice_cols(first * columns, count * columns);
            attend(pattern, &to, &from, &x, Attending { seed, ..how })
        };
        let rest = part(some, heads - some, derive(how.seed, &[some as u64]));
        return Var::concat_cols(&[&part(0, some, how.seed), &rest]);
    }
    let parents = [to, from, x];
    if !parents.iter().any(|parent| parent.needs_gradient()) {
        return Var::constant(on(pattern, parents, how).forward());
    }
    let (value, trace) = on(pattern, parents, how).forward_traced();
    let pattern = Arc::clone(pattern);
    Var::from_joint_op(value, parents, move |g, p, y| {
        if g.needs_gradient() || p.iter().any(Var::needs_gradient) {
            return gradients_in_ops(&in_ops(&pattern, &p[0], &p[1], &p[2], how), g, p);
        }
        let Pulled { to, from, x } =
            on(&pattern, [&p[0], &p[1], &p[2]], how).backward(g.value(), y.value(), &trace);
        [to, from, x].map(Var::constant).into()
    })
}

/// The same head by head.
fn in_ops(pattern: &Arc<Pattern>, to: &Var, from: &Var, x: &Var, how: Attending) -> Var {
    let heads = to.cols();
    let columns = x.cols() / heads;
    let shares: Vec<Var> = (0..heads)
        .map(|head| {
            let (to, from) = (to.slice_cols(head, 1), from.slice_cols(head, 1));
            let scores = at_rows(pattern, &to).add(&at_columns(pattern, &from)).leaky_relu(how.slope);
            Sparse::new(Arc::clone(pattern), scores).softmax_rows().values // [nnz, 1]
        })
        .collect();
    let weights = Var::concat_cols(&shares.iter().collect::<Vec<_>>()).dropout(how.rate, how.seed); // [nnz, heads]
    let sums: Vec<Var> = (0..heads)
        .map(|head| {
            let weights = Sparse::new(Arc::clone(pattern), weights.slice_cols(head, 1));
            weights.matmul(&x.slice_cols(head * columns, columns))
        })
        .collect();
    Var::concat_cols(&sums.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;
    use crate::autograd::{Order, gradients};
    use crate::linalg::Mat;
    use crate::linalg::random::hash;

    const DROPPING: Attending = Attending { slope: 0.2, rate: 0.4, seed: 5 };
    const KEEPING: Attending = Attending { slope: 0.2, rate: 0.0, seed: 5 };

    #[test]
    fn gradients_equal_finite_differences() {
        let pattern = Arc::new(Pattern::new(4, 3, vec![0, 2, 3, 3, 6], vec![0, 2, 1, 0, 1, 2]));
        for (heads, columns) in [(1, 3), (2, 2), (3, 1)] {
            let shapes = [(4, heads), (3, heads), (3, heads * columns)];
            for how in [DROPPING, KEEPING] {
                check(&format!("attend, {heads} heads, {how:?}"), &shapes, |v| {
                    // Smaller than the score of any row, so that no sum is near the kink at 0.
                    attend(&pattern, &v[0], &v[1].scale(0.2), &v[2], how)
                });
            }
        }
    }

    fn sample(rows: usize, cols: usize, seed: u64) -> Var {
        let entry = |row, col| hash(seed, (row * cols + col) as u32) as f32 / 2f32.powi(31) - 1.0;
        Var::parameter(Mat::from_fn(rows, cols, entry))
    }

    /// Row `i` of 150 holds `i % 41` of 90 columns: no entries, few, and more than a vector has lanes.
    fn uneven() -> Arc<Pattern> {
        let mut indptr = vec![0];
        let mut indices = Vec::new();
        for row in 0..150u32 {
            let mut own: Vec<u32> = (0..row % 41).map(|k| (row * 7 + k * 2) % 90).collect();
            own.sort_unstable();
            indices.extend(own);
            indptr.push(indices.len());
        }
        Arc::new(Pattern::new(150, 90, indptr, indices))
    }

    #[test]
    fn fused_and_in_ops_are_the_same() {
        let pattern = uneven();
        for (heads, columns) in [(1, 7), (2, 16), (4, 33), (8, 8), (8, 1), (16, 3)] {
            for how in [DROPPING, KEEPING] {
                let (to, from) = (sample(150, heads, 1), sample(90, heads, 2));
                let (x, weight) = (sample(90, heads * columns, 3), sample(150, heads * columns, 4).detach());
                let run = |result: Var| {
                    let first = gradients(&result.mul(&weight).sum(), &[&to, &from, &x], Order::First);
                    [vec![result.detach()], first].concat()
                };
                let found = run(attend(&pattern, &to, &from, &x, how));
                let expected = run(in_ops(&pattern, &to, &from, &x, how));
                for (found, expected) in found.iter().zip(&expected) {
                    for (a, b) in found.value().as_slice().iter().zip(expected.value().as_slice()) {
                        assert!((a - b).abs() < 2e-5, "{heads} heads of {columns}: {a} instead of {b}");
                    }
                }
                let constant = attend(&pattern, &to.detach(), &from.detach(), &x.detach(), how);
                for (a, b) in constant.value().as_slice().iter().zip(found[0].value().as_slice()) {
                    assert!((a - b).abs() < 1e-5, "without a trace: {a} instead of {b}");
                }
            }
        }
    }

    #[test]
    fn any_number_of_heads_will_do() {
        let pattern = uneven();
        let (to, from, x) = (sample(150, 11, 1), sample(90, 11, 2), sample(90, 33, 3));
        let found = attend(&pattern, &to, &from, &x, KEEPING);
        let expected = in_ops(&pattern, &to, &from, &x, KEEPING);
        for (a, b) in found.value().as_slice().iter().zip(expected.value().as_slice()) {
            assert!((a - b).abs() < 1e-5, "{a} instead of {b}");
        }
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let rows = 3000;
        let indices = (0..rows * 40).map(|place| hash(9, place as u32) % rows as u32).collect();
        let pattern = Pattern::new(rows, rows, (0..=rows).map(|row| row * 40).collect(), indices);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (to, from, x) = (sample(rows, 4, 1), sample(rows, 4, 2), sample(rows, 64, 3));
                let (to, from, x) = (to.value(), from.value(), x.value());
                let mask = Mask::new(0.3, 7);
                let on = Attention { pattern: &pattern, to, from, x, slope: 0.2, mask };
                let (out, trace) = on.forward_traced();
                let Pulled { to, from, x } = on.backward(&out, &out, &trace);
                [out, to, from, x]
            })
        };
        assert!(run(1) == run(2));
    }

    #[test]
    fn the_higher_score_is_favoured_and_large_ones_do_not_overflow() {
        let pattern = Arc::new(Pattern::new(3, 3, vec![0, 2, 3, 3], vec![1, 2, 0]));
        let column = |values: &[f32]| Var::constant(Mat::column(values));
        let x = column(&[1.0, 3.0, 6.0]);
        let found = attend(&pattern, &column(&[1.0, 0.0, 0.0]), &column(&[5.0, 0.0, 2f32.ln()]), &x, KEEPING);
        for (found, expected) in found.value().as_slice().iter().zip([5.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
        let far = attend(&pattern, &column(&[1e4, -1e4, 0.0]), &column(&[-1e6, 0.0, 500.0]), &x, KEEPING);
        assert_eq!(far.value().as_slice(), [6.0, 1.0, 0.0]);
    }
}
