//! Sparse matrices on the tape: a fixed pattern whose values are a variable, so that edge weights and
//! sparse inputs can be learned, dropped out and attacked.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::super::Var;
use super::super::var::Rule;
use crate::linalg::elementwise::map;
use crate::linalg::{self, Mat, Pattern, SparseMat, simd};

/// A sparse matrix whose values `[nnz,1]` are a variable.
#[derive(Clone, Debug)]
pub struct Sparse {
    /// Which entries are stored.
    pub pattern: Arc<Pattern>,
    /// Their values, in the order of the pattern.
    pub values: Var,
    /// The values in the order of the transpose, once somebody asked for them.
    transposed: Rc<OnceCell<Mat>>,
    absent: Option<Absent>,
}

/// Entries of 0 that are not stored, and yet wanted the gradient of: what would change if they came to be. Products and sums pass them by;
/// only the way back knows them. For first derivatives alone.
#[derive(Clone, Debug)]
pub struct Absent {
    /// The row of each.
    pub rows: Rc<[u32]>,
    /// The column of each.
    pub cols: Rc<[u32]>,
    /// Zeros `[count,1]`.
    pub values: Var,
}

impl Sparse {
    /// A pattern with its values, `[nnz,1]`.
    pub fn new(pattern: Arc<Pattern>, values: Var) -> Self {
        assert_eq!(values.shape(), (pattern.nnz(), 1), "one value per stored entry");
        Sparse { pattern, values, transposed: Rc::default(), absent: None }
    }

    /// A matrix that no gradient flows into.
    pub fn constant(mat: &SparseMat) -> Self {
        Self::new(Arc::clone(&mat.pattern), Var::constant(Mat::column(&mat.values)))
    }

    /// The same with entries of 0 that are not stored.
    pub fn with_absent(self, absent: Absent) -> Self {
        assert_eq!(absent.values.shape(), (absent.rows.len(), 1), "one value per entry");
        Sparse { absent: Some(absent), ..self }
    }

    /// `S X`: `[m,n] x [n,d] -> [m,d]`.
    pub fn matmul(&self, x: &Var) -> Var {
        let value = linalg::spmm(&self.pattern, self.values.value().as_slice(), x.value());
        let (for_values, for_x) = (Arc::clone(&self.pattern), self.clone());
        let for_values: Rule = Box::new(move |g, p, _| sampled_product(&for_values, g, &p[1]));
        let for_x: Rule = Box::new(move |g, p, _| for_x.with_values(&p[0]).matmul_t(g));
        let Some(absent) = self.absent.clone() else {
            return Var::from_op(value, [&self.values, x], [for_values, for_x]);
        };
        let values = absent.values.clone();
        let for_absent: Rule = Box::new(move |g, p, _| absent.dots(g, &p[1]));
        Var::from_op(value, [&self.values, x, &values], [for_values, for_x, for_absent])
    }

    /// `Sᵀ X`: `[m,n]ᵀ x [m,d] -> [n,d]`.
    pub fn matmul_t(&self, x: &Var) -> Var {
        let values = self.transposed.get_or_init(|| {
            Mat::column(&linalg::transposed_values(&self.pattern, self.values.value().as_slice()))
        });
        let value = linalg::spmm_t(&self.pattern, values.as_slice(), x.value());
        let (for_values, for_x) = (Arc::clone(&self.pattern), self.clone());
        let for_values: Rule = Box::new(move |g, p, _| sampled_product(&for_values, &p[1], g));
        let for_x: Rule = Box::new(move |g, p, _| for_x.with_values(&p[0]).matmul(g));
        let Some(absent) = self.absent.clone() else {
            return Var::from_op(value, [&self.values, x], [for_values, for_x]);
        };
        let values = absent.values.clone();
        let for_absent: Rule = Box::new(move |g, p, _| absent.dots(&p[1], g));
        Var::from_op(value, [&self.values, x, &values], [for_values, for_x, for_absent])
    }

    /// The same matrix, its values a constant or not as the backward pass wants them.
    fn with_values(&self, values: &Var) -> Sparse {
        Sparse {
            pattern: Arc::clone(&self.pattern),
            values: values.clone(),
            transposed: Rc::clone(&self.transposed),
            absent: None,
        }
    }

    /// Sum of the values of each row, `[m,1]`: weighted degrees.
    pub fn sum_rows(&self) -> Var {
        let Some(absent) = self.absent.clone() else { return sums_of_rows(&self.pattern, &self.values) };
        let (sums, values) = (sums_of_rows(&self.pattern, &self.values), absent.values.clone());
        let for_absent: Rule = Box::new(move |g, _, _| g.gather_rows(&absent.rows));
        Var::from_op(sums.value().clone(), [&sums, &values], [Box::new(|g, _, _| g.clone()), for_absent])
    }

    /// Every value times a number.
    pub fn scale(&self, by: f32) -> Sparse {
        let absent = self.absent.as_ref().map(|absent| absent.with(absent.values.scale(by)));
        Sparse { absent, ..Self::new(Arc::clone(&self.pattern), self.values.scale(by)) }
    }

    /// Every value times what a column vector says of its row.
    pub fn scale_rows(&self, by: &Var) -> Sparse {
        let values = self.values.mul(&at_rows(&self.pattern, by));
        let scaled = |absent: &Absent| absent.with(absent.values.mul(&by.detach().gather_rows(&absent.rows)));
        Sparse { absent: self.absent.as_ref().map(scaled), ..Self::new(Arc::clone(&self.pattern), values) }
    }

    /// Every value times what a column vector says of its column.
    pub fn scale_columns(&self, by: &Var) -> Sparse {
        let values = self.values.mul(&at_columns(&self.pattern, by));
        let scaled = |absent: &Absent| absent.with(absent.values.mul(&by.detach().gather_rows(&absent.cols)));
        Sparse { absent: self.absent.as_ref().map(scaled), ..Self::new(Arc::clone(&self.pattern), values) }
    }

    /// Values divided by the exponentials' sum of their row: attention over the entries of each row, `[nnz,1]`.
    pub fn softmax_rows(&self) -> Sparse {
        let value = softmax_by_row(&self.pattern, self.values.value());
        let pattern = Arc::clone(&self.pattern);
        let values = Var::from_op(
            value,
            [&self.values],
            [Box::new(move |g, _, y| {
                // y ⊙ (g - row sums of g ⊙ y)
                let weighted = g.mul(y);
                let sums = sums_of_rows(&pattern, &weighted);
                weighted.sub(&y.mul(&at_rows(&pattern, &sums)))
            })],
        );
        Sparse::new(Arc::clone(&self.pattern), values)
    }
}

impl Absent {
    /// The same entries, their values on the way through another op.
    fn with(&self, values: Var) -> Self {
        Absent { rows: Rc::clone(&self.rows), cols: Rc::clone(&self.cols), values }
    }

    /// `<a_row, b_col>` at each.
    fn dots(&self, a: &Var, b: &Var) -> Var {
        Var::constant(linalg::dots_at(&self.rows, &self.cols, a.value(), b.value()))
    }
}

/// `<a_row, b_col>` at every entry of a pattern: `[m,d], [n,d] -> [nnz,1]`.
pub fn sampled_product(pattern: &Arc<Pattern>, a: &Var, b: &Var) -> Var {
    let value = linalg::sddmm(pattern, a.value(), b.value());
    let (for_a, for_b) = (Arc::clone(pattern), Arc::clone(pattern));
    Var::from_op(
        value,
        [a, b],
        [
            Box::new(move |g, p, _| Sparse::new(for_a.clone(), g.clone()).matmul(&p[1])),
            Box::new(move |g, p, _| Sparse::new(for_b.clone(), g.clone()).matmul_t(&p[0])),
        ],
    )
}

/// For every entry of a pattern, what a column vector says of its row: `[m,1] -> [nnz,1]`.
pub fn at_rows(pattern: &Arc<Pattern>, x: &Var) -> Var {
    let mut value = Mat::scratch(pattern.nnz(), 1);
    for (row, &x) in x.value().as_slice().iter().enumerate() {
        value.as_mut_slice()[pattern.row_range(row)].fill(x);
    }
    let pattern = Arc::clone(pattern);
    Var::from_op(value, [x], [Box::new(move |g, _, _| sums_of_rows(&pattern, g))])
}

/// For every entry of a pattern, what a column vector says of its column: `[n,1] -> [nnz,1]`.
pub fn at_columns(pattern: &Arc<Pattern>, x: &Var) -> Var {
    let of = x.value().as_slice();
    let mut value = Mat::scratch(pattern.nnz(), 1);
    value.as_mut_slice().iter_mut().zip(pattern.indices()).for_each(|(out, &col)| *out = of[col as usize]);
    let pattern = Arc::clone(pattern);
    Var::from_op(value, [x], [Box::new(move |g, _, _| sums_of_columns(&pattern, g))])
}

/// Sum of the entries of each row, `[nnz,1] -> [m,1]`.
fn sums_of_rows(pattern: &Arc<Pattern>, values: &Var) -> Var {
    let entries = values.value().as_slice();
    let value = Mat::from_fn(pattern.rows(), 1, |row, _| entries[pattern.row_range(row)].iter().sum());
    let pattern = Arc::clone(pattern);
    Var::from_op(value, [values], [Box::new(move |g, _, _| at_rows(&pattern, g))])
}

/// Sum of the entries of each column, `[nnz,1] -> [n,1]`.
fn sums_of_columns(pattern: &Arc<Pattern>, values: &Var) -> Var {
    let mut value = Mat::zeros(pattern.cols(), 1);
    let out = value.as_mut_slice();
    pattern.indices().iter().zip(values.value().as_slice()).for_each(|(&col, x)| out[col as usize] += x);
    let pattern = Arc::clone(pattern);
    Var::from_op(value, [values], [Box::new(move |g, _, _| at_columns(&pattern, g))])
}

/// Exponentials are taken of all entries at once: the rows are short, and a loop over so few does not vectorise.
fn softmax_by_row(pattern: &Pattern, values: &Mat) -> Mat {
    let rows = || (0..pattern.rows()).map(|row| pattern.row_range(row));
    let mut shifted = values.clone();
    for row in rows() {
        let part = &mut shifted.as_mut_slice()[row];
        let top = part.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        part.iter_mut().for_each(|v| *v -= top);
    }
    let mut out = map(&shifted, simd::exp);
    for row in rows() {
        let part = &mut out.as_mut_slice()[row];
        let total: f32 = part.iter().sum();
        part.iter_mut().for_each(|v| *v /= total);
    }
    out
}

impl Var {
    /// Inner product of each pair of rows, `[m,d], [m,d] -> [m,1]`.
    pub fn row_dots(&self, other: &Var) -> Var {
        self.mul(other).sum_rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    fn pattern() -> Arc<Pattern> {
        Arc::new(Pattern::new(3, 4, vec![0, 2, 3, 5], vec![0, 3, 1, 0, 2]))
    }

    #[test]
    fn absent_entries_get_the_gradient_that_they_would_have_if_they_were_stored() {
        use crate::autograd::{Order, gradients};
        // The entries (0, 3) and (2, 2) are zero.
        let full = Mat::column(&[0.5, 0.0, -1.0, 2.0, 0.0]);
        let small = Arc::new(Pattern::new(3, 4, vec![0, 1, 2, 3], vec![0, 1, 0]));
        let (x, z) =
            (Mat::from_fn(4, 2, |r, c| (r + 2 * c) as f32), Mat::from_fn(3, 2, |r, c| (2 * r + c) as f32));
        let loss = |mat: Sparse| {
            let sums = mat.sum_rows().add_scalar(3.0);
            let by = Var::constant(Mat::column(&[1.0, 2.0, 3.0, 4.0]));
            let mat = mat.scale_rows(&sums.pow(-0.5)).scale_columns(&by).scale(0.7);
            let right = mat.matmul(&Var::constant(x.clone())).tanh().mean();
            right.add(&mat.matmul_t(&Var::constant(z.clone())).tanh().mean())
        };
        let stored = Var::parameter(full);
        let expected = gradients(&loss(Sparse::new(pattern(), stored.clone())), &[&stored], Order::First);
        let (values, zeros) =
            (Var::parameter(Mat::column(&[0.5, -1.0, 2.0])), Var::parameter(Mat::zeros(2, 1)));
        let absent = Absent { rows: [0, 2].into(), cols: [3, 2].into(), values: zeros.clone() };
        let found = loss(Sparse::new(small, values.clone()).with_absent(absent));
        let found = gradients(&found, &[&values, &zeros], Order::First);
        let found: Vec<f32> = [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1)]
            .map(|(which, place): (usize, usize)| found[which].value().as_slice()[place])
            .to_vec();
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        assert!(found.iter().zip(expected[0].value().as_slice()).all(close), "{found:?} {expected:?}");
    }

    #[test]
    fn gradients_equal_finite_differences() {
        check("S X", &[(5, 1), (4, 2)], |v| Sparse::new(pattern(), v[0].clone()).matmul(&v[1]));
        check("Sᵀ X", &[(5, 1), (3, 2)], |v| Sparse::new(pattern(), v[0].clone()).matmul_t(&v[1]));
        check("sampled", &[(3, 2), (4, 2)], |v| sampled_product(&pattern(), &v[0], &v[1]));
        check("softmax_rows", &[(5, 1)], |v| Sparse::new(pattern(), v[0].clone()).softmax_rows().values);
        check("at_rows", &[(3, 1)], |v| at_rows(&pattern(), &v[0]));
        check("at_columns", &[(4, 1)], |v| at_columns(&pattern(), &v[0]));
        check("sums_of_columns", &[(5, 1)], |v| sums_of_columns(&pattern(), &v[0]));
        check("sum_rows", &[(5, 1)], |v| Sparse::new(pattern(), v[0].clone()).sum_rows());
        check("row_dots", &[(3, 2), (3, 2)], |v| v[0].row_dots(&v[1]));
    }
}
