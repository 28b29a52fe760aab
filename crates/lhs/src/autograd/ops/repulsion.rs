//! What pushes two views of some nodes apart, as one op: nothing as large as all pairs is stored.

use std::sync::Arc;

use super::super::Var;
use super::super::backward::gradients_in_ops;
use crate::linalg::crosswise::{Crosswise, Exceptions};
use crate::linalg::{Mat, Pattern};

/// Keeps logarithms finite.
const TINY: f32 = 1e-12;

/// `Σ_i ln Σ_j E_ij + Σ_j ln Σ_i E_ij` with `E_ij = exp((<a_i,b_j> - 1) / t)` of unit rows `[n, d]`, `-> [1, 1]`. The first sum
/// leaves out the `j` that are the same to `i`, the second the `i` that are the same to `j`.
pub fn repulsion(first: &Var, second: &Var, same: &Arc<Pattern>, temperature: f32) -> Var {
    let exceptions = Exceptions::from(same);
    let sums =
        Crosswise { first: first.value(), second: second.value(), temperature, exceptions: &exceptions }
            .sums();
    let total: f64 = sums.iter().flatten().map(|sum| f64::from((sum + TINY).ln())).sum();
    let same = Arc::clone(same);
    Var::from_joint_op(Mat::full(1, 1, total as f32), [first, second], move |g, p, _| {
        if g.needs_gradient() || p.iter().any(Var::needs_gradient) {
            return gradients_in_ops(&in_ops(&p[0], &p[1], &same, temperature), g, p);
        }
        let factor = g.scalar() / temperature;
        let [of_rows, of_columns] =
            sums.each_ref().map(|sums| sums.iter().map(|sum| factor / (sum + TINY)).collect::<Vec<f32>>());
        let pairs =
            Crosswise { first: p[0].value(), second: p[1].value(), temperature, exceptions: &exceptions };
        pairs.weighted_sums(&of_rows, &of_columns).map(Var::constant).into()
    })
}

/// The same in ops over a dense matrix of all pairs.
fn in_ops(first: &Var, second: &Var, same: &Pattern, temperature: f32) -> Var {
    let size = first.rows();
    let mut masks = [Mat::full(size, size, 1.0), Mat::full(size, size, 1.0)];
    for row in 0..size {
        for &col in same.row(row) {
            masks[0].row_mut(row)[col as usize] = 0.0;
            masks[1].row_mut(col as usize)[row] = 0.0;
        }
    }
    let [others, others_back] = masks.map(Var::constant);
    let closeness = first.matmul_nt(second).add_scalar(-1.0).scale(1.0 / temperature).exp(); // [n, n]
    let towards = closeness.mul(&others).sum_rows().add_scalar(TINY).ln().sum();
    let back = closeness.mul(&others_back).sum_columns().add_scalar(TINY).ln().sum();
    towards.add(&back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;
    use crate::linalg::SparseMat;

    fn same() -> Arc<Pattern> {
        let pairs = [(0, 0), (0, 2), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3)];
        SparseMat::from_triplets(4, 4, pairs.map(|(row, col)| (row, col, 1.0)).to_vec()).pattern
    }

    #[test]
    fn gradients_equal_finite_differences() {
        check("repulsion", &[(4, 3), (4, 3)], |v| {
            repulsion(&v[0].unit_rows(), &v[1].unit_rows(), &same(), 0.7)
        });
    }

    #[test]
    fn fused_and_in_ops_are_the_same() {
        let make = |factor: f32| {
            Var::constant(Mat::from_fn(4, 3, |row, col| ((row * 3 + col) as f32 * factor).sin())).unit_rows()
        };
        let (first, second) = (make(0.7), make(1.3));
        let found = repulsion(&first, &second, &same(), 0.5).scalar();
        let expected = in_ops(&first, &second, &same(), 0.5).scalar();
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }

    #[test]
    fn a_node_that_is_the_same_to_all_is_pushed_nowhere() {
        let rows = Var::parameter(Mat::full(1, 2, 0.5));
        let same = SparseMat::from_triplets(1, 1, vec![(0, 0, 1.0)]).pattern;
        let loss = repulsion(&rows, &rows, &same, 0.2);
        assert!(loss.scalar().is_finite());
        let found = crate::autograd::gradients(&loss, &[&rows], crate::autograd::Order::First);
        assert_eq!(found[0].value().as_slice(), [0.0, 0.0]);
    }
}
