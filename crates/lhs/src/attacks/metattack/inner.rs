//! Training the surrogate on the labelled nodes, and exact reverse mode through every step of it.
//!
//! The surrogate is linear, `logits = M W₁ W₂` with `M = Â²X [N,F]`, `W₁ [F,h]`, `W₂ [h,C]`. With `M_L` the labelled
//! rows of `M`, each step of gradient descent with momentum adds a term `M_Lᵀ(·)` to `W₁`; so
//! `W₁(t) = W₁(0) + M_Lᵀ B(t)` with `B [L,h]`, and all that training needs to know about `M` is `K = M_L M_Lᵀ [L,L]`
//! and `Z(0) = M_L W₁(0) [L,h]`:
//!
//! ```text
//! Z = Z(0) + K B      P = softmax(Z W₂)      E = (P - Y) / L
//! U ← μ U + E W₂ᵀ     B ← B - η U            V ← μ V + Zᵀ E     W₂ ← W₂ - η V
//! ```
//!
//! Backwards, the adjoints of `B`, `W₂` and the velocities run through the same steps in reverse; `Z̄(t)` is all that
//! the adjoints of `K` (`Σ Z̄ Bᵀ`) and `Z(0)` (`Σ Z̄`) are made of. Cost per step and direction: one product with `K`,
//! `2 L² h` flops, or `4 L F h` where `K` is not worth forming; memory `O(steps L h)`.

use super::input::{add_scaled, decay_and_add};
use crate::linalg::elementwise::map;
use crate::linalg::simd::{exp, vectorised};
use crate::linalg::{Mat, matmul, matmul_nt, matmul_tn};

/// How the surrogate is trained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    pub steps: usize,
    pub learning_rate: f32,
    pub momentum: f32,
}

/// `K = M_L M_Lᵀ`, written out only where products with it are cheaper then.
pub(super) struct Gram {
    /// `M_L [L,F]`.
    pub rows: Mat,
    formed: Option<Mat>,
}

impl Gram {
    pub(super) fn new(rows: Mat) -> Self {
        let formed = (rows.rows() <= 2 * rows.cols()).then(|| matmul_nt(&rows, &rows));
        Gram { rows, formed }
    }

    /// `K B`.
    fn times(&self, right: &Mat) -> Mat {
        match &self.formed {
            Some(gram) => matmul(gram, right),
            None => matmul(&self.rows, &matmul_tn(&self.rows, right)),
        }
    }

    /// The adjoint of `M_L` through `K`, `(K̄ + K̄ᵀ) M_L` with `K̄ = Σ Z̄(t) B(t)ᵀ`: `[L,F]`.
    pub(super) fn adjoint(&self, path: &Path, hidden: &[Mat]) -> Mat {
        let left = Mat::side_by_side(hidden); // [L, steps * h]
        let right = Mat::side_by_side(&path.coefficients[..hidden.len()]); // likewise
        if self.formed.is_some() {
            let mut outer = matmul_nt(&left, &right); // [L, L]
            add_transposed(&mut outer);
            return matmul(&outer, &self.rows);
        }
        let mut out = matmul_nt(&left, &matmul_tn(&self.rows, &right));
        add_scaled(&mut out, 1.0, &matmul_nt(&right, &matmul_tn(&self.rows, &left)));
        out
    }
}

/// `A + Aᵀ`, in place.
fn add_transposed(mat: &mut Mat) {
    let size = mat.rows();
    for row in 0..size {
        for col in row..size {
            let sum = mat.get(row, col) + mat.get(col, row);
            mat.row_mut(row)[col] = sum;
            mat.row_mut(col)[row] = sum;
        }
    }
}

/// What training went through: `B`, `W₂` before each step and after the last, `Z` before each step.
pub(super) struct Path {
    coefficients: Vec<Mat>,
    outputs: Vec<Mat>,
    hidden: Vec<Mat>,
}

impl Path {
    /// `B` after the last step, `[L,h]`.
    pub(super) fn coefficients(&self) -> &Mat {
        &self.coefficients[self.hidden.len()]
    }

    /// `W₂` after the last step, `[h,C]`.
    pub(super) fn output(&self) -> &Mat {
        &self.outputs[self.hidden.len()]
    }
}

impl Descent {
    /// Trains from `Z(0) [L,h]` and `W₂(0) [h,C]` on the classes of the labelled nodes.
    pub(super) fn run(&self, gram: &Gram, start: &Mat, output: &Mat, classes: &[u32]) -> Path {
        let (nodes, hidden) = start.shape();
        let mut coefficients = vec![Mat::zeros(nodes, hidden)];
        let mut outputs = vec![output.clone()];
        let mut hiddens: Vec<Mat> = Vec::with_capacity(self.steps);
        let mut velocity = (Mat::zeros(nodes, hidden), Mat::zeros(hidden, output.cols()));
        for step in 0..self.steps {
            let (mut b, mut w) = (coefficients[step].clone(), outputs[step].clone());
            let mut z = gram.times(&b); // [L, h]
            add_scaled(&mut z, 1.0, start);
            let error = Errors::new(&z, &w, classes).error; // [L, C]
            decay_and_add(&mut velocity.0, self.momentum, &matmul_nt(&error, &w));
            decay_and_add(&mut velocity.1, self.momentum, &matmul_tn(&z, &error));
            add_scaled(&mut b, -self.learning_rate, &velocity.0);
            add_scaled(&mut w, -self.learning_rate, &velocity.1);
            coefficients.push(b);
            outputs.push(w);
            hiddens.push(z);
        }
        Path { coefficients, outputs, hidden: hiddens }
    }

    /// `Z̄(t)` of every step, given the adjoints of `B` and `W₂` after the last one.
    pub(super) fn reverse(
        &self,
        gram: &Gram,
        path: &Path,
        classes: &[u32],
        mut b: Mat,
        mut w: Mat,
    ) -> Vec<Mat> {
        let mut velocity = (Mat::zeros(b.rows(), b.cols()), Mat::zeros(w.rows(), w.cols()));
        let mut found = Vec::with_capacity(self.steps);
        for step in (0..self.steps).rev() {
            let (z, output) = (&path.hidden[step], &path.outputs[step]);
            let errors = Errors::new(z, output, classes);
            add_scaled(&mut velocity.0, -self.learning_rate, &b);
            add_scaled(&mut velocity.1, -self.learning_rate, &w);
            // Through E W₂ᵀ and Zᵀ E, then through the softmax.
            let mut of_error = matmul(&velocity.0, output); // [L, C]
            add_scaled(&mut of_error, 1.0, &matmul(z, &velocity.1));
            let of_logits = errors.backward(of_error); // [L, C]
            let mut of_hidden = matmul_nt(&errors.error, &velocity.1); // [L, h]
            add_scaled(&mut of_hidden, 1.0, &matmul_nt(&of_logits, output));
            add_scaled(&mut w, 1.0, &matmul_tn(&velocity.0, &errors.error));
            add_scaled(&mut w, 1.0, &matmul_tn(z, &of_logits));
            if step > 0 {
                add_scaled(&mut b, 1.0, &gram.times(&of_hidden));
            }
            for part in [&mut velocity.0, &mut velocity.1] {
                part.as_mut_slice().iter_mut().for_each(|value| *value *= self.momentum);
            }
            found.push(of_hidden);
        }
        found.reverse();
        found
    }
}

/// The class probabilities of some nodes, and how far they are from the classes given.
pub(super) struct Errors {
    probabilities: Mat,
    /// `(P - Y) / nodes`, the gradient of the mean cross-entropy by the logits.
    pub error: Mat,
}

impl Errors {
    /// Of the logits `Z W₂`.
    pub(super) fn new(hidden: &Mat, output: &Mat, classes: &[u32]) -> Self {
        let mut probabilities = matmul(hidden, output);
        softmax(&mut probabilities);
        let share = 1.0 / classes.len() as f32;
        let mut error = map(&probabilities, move |p| p * share);
        for (row, &class) in classes.iter().enumerate() {
            error.row_mut(row)[class as usize] -= share;
        }
        Errors { probabilities, error }
    }

    /// From the adjoint of the error to that of the logits: `P ∘ (Ē - (Ē ∘ P) 1) / nodes`.
    fn backward(&self, mut adjoint: Mat) -> Mat {
        let share = 1.0 / adjoint.rows() as f32;
        for row in 0..adjoint.rows() {
            let p = self.probabilities.row(row);
            let adjoint = adjoint.row_mut(row);
            let mean: f32 = adjoint.iter().zip(p).map(|(a, p)| a * p).sum();
            adjoint.iter_mut().zip(p).for_each(|(a, p)| *a = share * p * (*a - mean));
        }
        adjoint
    }
}

/// Of every row, in place.
fn softmax(mat: &mut Mat) {
    for row in 0..mat.rows() {
        let most = mat.row(row).iter().copied().fold(f32::NEG_INFINITY, f32::max);
        mat.row_mut(row).iter_mut().for_each(|value| *value -= most);
    }
    // All rows at once: they are too short for the vector unit.
    let entries = mat.as_mut_slice();
    vectorised(
        #[inline(always)]
        move || entries.iter_mut().for_each(|value| *value = exp(*value)),
    );
    for row in 0..mat.rows() {
        let share = 1.0 / mat.row(row).iter().sum::<f32>();
        mat.row_mut(row).iter_mut().for_each(|value| *value *= share);
    }
}
