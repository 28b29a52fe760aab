//! Every node written as a combination of the others, in closed form.
//!
//! `min_Q ‖Z - QZ‖² + λ‖Q‖², diag(Q) = 0` for rows `Z [n,d]`. With the ridge hat matrix
//! `Hat = Z (ZᵀZ + λI)⁻¹ Zᵀ` and its diagonal `h`: `Q = diag(1/(1-h)) (Hat - diag(h))`, the leave-one-out ridge.
//! `Q` is diagonal plus rank `d`, so its symmetric part `Q' = (Q + Qᵀ)/2` is applied without ever being built:
//! `O(n d)` per column, `O(n d²)` once for the factor (`O(n² d)` in the kernel form, used when `d > n`).

use crate::linalg::{Mat, Ridge, SymmetricOperator};

/// The symmetric part of the self-expression, as an operator.
pub struct SelfExpression {
    ridge: Ridge,
    /// `h`.
    leverage: Vec<f32>,
    /// `1 / (1 - h)`; finite, since the ridge keeps `h` below 1 even for duplicate rows.
    scale: Vec<f32>,
}

impl SelfExpression {
    /// Solves for rows `[n,d]` under a penalty above 0.
    pub fn new(rows: &Mat, penalty: f32) -> Self {
        Self::of(rows.clone(), penalty)
    }

    /// The same, in the place of the rows.
    pub fn of(rows: Mat, penalty: f32) -> Self {
        let ridge = Ridge::of(rows, penalty);
        let leverage = ridge.hat_diagonal();
        let scale = ridge.hat_complement().into_iter().map(|rest| 1.0 / rest).collect();
        SelfExpression { ridge, leverage, scale }
    }

    /// `(ZᵀZ + λI)⁻¹ Zᵀ B [d,b]`: how a new row is turned into its combination of the columns of `B [n,b]`.
    pub fn weights_for(&self, columns: &Mat) -> Mat {
        self.ridge.solve(columns)
    }
}

impl SymmetricOperator for SelfExpression {
    fn dim(&self) -> usize {
        self.leverage.len()
    }

    /// `½ [ s ⊙ (Hat B - h ⊙ B) + Hat (s ⊙ B) - h ⊙ s ⊙ B ]` with `s = 1/(1-h)`, row by row.
    fn apply(&self, block: &Mat) -> Mat {
        let (rows, cols) = block.shape();
        // Both products with Hat at once: B on the left, s ⊙ B on the right.
        let mut both = Mat::scratch(rows, 2 * cols);
        for row in 0..rows {
            let (plain, scaled) = both.row_mut(row).split_at_mut(cols);
            plain.copy_from_slice(block.row(row));
            scaled.iter_mut().zip(block.row(row)).for_each(|(out, b)| *out = self.scale[row] * b);
        }
        let hat = self.ridge.apply_hat(&both);
        let mut out = Mat::scratch(rows, cols);
        for row in 0..rows {
            let (plain, scaled) = hat.row(row).split_at(cols);
            let (h, s) = (self.leverage[row], self.scale[row]);
            for (col, out) in out.row_mut(row).iter_mut().enumerate() {
                *out = 0.5 * (s * plain[col] + scaled[col]) - h * s * block.get(row, col);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{matmul, matmul_nt, matmul_tn, random};
    use faer::prelude::Solve;

    fn sample(rows: usize, cols: usize) -> Mat {
        random::glorot(&mut random::generator(3, 0), rows, cols)
    }

    /// Row by row from the definition: regress row i on the other rows.
    fn dense(z: &Mat, penalty: f32) -> Mat {
        let n = z.rows();
        let gram = matmul_nt(z, z);
        let mut q = Mat::zeros(n, n);
        for i in 0..n {
            let others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            let system = faer::Mat::from_fn(n - 1, n - 1, |a, b| {
                f64::from(gram.get(others[a], others[b])) + if a == b { f64::from(penalty) } else { 0.0 }
            });
            let right = faer::Mat::from_fn(n - 1, 1, |a, _| f64::from(gram.get(others[a], i)));
            let solution = system.partial_piv_lu().solve(&right);
            for (a, &j) in others.iter().enumerate() {
                q.row_mut(i)[j] = solution[(a, 0)] as f32;
            }
        }
        q
    }

    #[test]
    fn the_closed_form_equals_the_regressions_in_both_forms() {
        for (n, d) in [(12, 4), (6, 15)] {
            let z = sample(n, d);
            let q = dense(&z, 0.3);
            let eye = Mat::from_fn(n, n, |r, c| if r == c { 1.0 } else { 0.0 });
            let found = SelfExpression::new(&z, 0.3).apply(&eye);
            for i in 0..n {
                assert!(found.get(i, i).abs() < 1e-5, "zero diagonal");
                for j in 0..n {
                    let expected = 0.5 * (q.get(i, j) + q.get(j, i));
                    assert!((found.get(i, j) - expected).abs() < 1e-4, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn the_operator_is_symmetric() {
        let (z, b) = (sample(40, 7), sample(40, 5));
        let expression = SelfExpression::new(&z, 0.7);
        let product = matmul_tn(&b, &expression.apply(&b));
        let transposed = product.transposed();
        for (a, b) in product.as_slice().iter().zip(transposed.as_slice()) {
            assert!((a - b).abs() < 1e-4);
        }
        assert_eq!(matmul(&b, &Mat::zeros(5, 1)).shape(), (40, 1));
    }

    #[test]
    fn duplicate_rows_stay_finite() {
        let z = Mat::from_fn(30, 30, |r, c| if r / 2 == c { 1e3 } else { 0.0 });
        let out = SelfExpression::new(&z, 1e-6).apply(&sample(30, 3));
        assert!(out.as_slice().iter().all(|v| v.is_finite()));
    }
}
