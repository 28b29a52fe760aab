//! The surrogate, and how the attack loss depends on every entry of `Â` through the whole of its training.
//!
//! With `Y = ÂX`, `M = ÂY` and `D [N,C]` the gradient of the attack loss by the logits (zero where no node is
//! attacked), the gradient by `M` has two parts: `D Qᵀ` with `Q = W₁W₂ [F,C]`, because the attacked rows are read by the
//! trained surrogate, and at the labelled rows `R [L,F]`, because they trained it:
//!
//! ```text
//! R = B Γᵀ + Z̄(0) W₁(0)ᵀ + (K̄ + K̄ᵀ) M_L        Γ = Mᵀ D W₂ᵀ [F,h]
//! ```
//!
//! (see [`super::inner`]). The gradient by `Â` is `G Yᵀ + (ÂG) Xᵀ` with `G = D Qᵀ + [R at L]`, of which only
//! factors are kept: `N x C` ones, and `X Rᵀ [N,L]`. Cost: that of the training, `2 L² (2F + steps h)` flops for `K`, its
//! adjoint and `R`, and products with the sparse `X` and `Â`. `O(L (N + F))` memory.

use super::inner::{Descent, Errors, Gram, Path};
use super::input::{Input, add_scaled, product, sparse_rows};
use crate::graph::{Features, Labelled};
use crate::linalg::random::{derive, generator, glorot};
use crate::linalg::{Mat, SparseMat, matmul, matmul_nt, matmul_tn};
use crate::training::argmax;

/// The linear network `softmax(Â²X W₁W₂)`, to be trained.
pub(super) struct Surrogate<'a> {
    input: Input<'a>,
    labelled: Labelled,
    /// `h` and `C`.
    shape: (usize, usize),
    descent: Descent,
    seed: u64,
}

/// The surrogate after training on one graph.
struct Trained {
    gram: Gram,
    path: Path,
    /// `W₁(0) [F,h]`.
    start: Mat,
    /// `W₁ [F,h]`.
    weights: Mat,
    /// `M W₁ [N,h]`.
    hidden: Mat,
}

/// What the gradient of the attack loss by `Â` is made of; names as above.
pub(super) struct Factors {
    /// `D`, `ÂD`, `Â²D`, each `[N,C]`.
    pub errors: [Mat; 3],
    /// `XQ`, `YQ`, `MQ`, each `[N,C]`.
    pub readings: [Mat; 3],
    /// `X Rᵀ [N,L]`.
    pub training: Mat,
    /// `<R, M>` at each labelled node.
    pub at_labelled: Vec<f32>,
}

impl<'a> Surrogate<'a> {
    /// Of `shape` hidden units and classes.
    pub(super) fn new(
        features: &'a Features,
        labelled: Labelled,
        shape: (usize, usize),
        descent: Descent,
        seed: u64,
    ) -> Self {
        Surrogate { input: Input::new(features), labelled, shape, descent, seed }
    }

    /// `W₁(0) [F,h]` and `W₂(0) [h,C]`, which the seed and the number of the training decide.
    fn start(&self, round: u64) -> (Mat, Mat) {
        let mut rng = generator(derive(self.seed, &[round]), 0);
        let (hidden, classes) = self.shape;
        (glorot(&mut rng, self.input.dim(), hidden), glorot(&mut rng, hidden, classes))
    }

    /// The labelled nodes.
    pub(super) fn labelled(&self) -> &Labelled {
        &self.labelled
    }

    /// The class of every node after training on the graph with this `Â`; `None` if training diverged.
    pub(super) fn predict(&self, propagation: &SparseMat) -> Option<Vec<u32>> {
        let trained = self.train(propagation, 0)?;
        let logits = matmul(&trained.hidden, trained.path.output());
        Some((0..logits.rows()).map(|node| argmax(logits.row(node)) as u32).collect())
    }

    fn train(&self, propagation: &SparseMat, round: u64) -> Option<Trained> {
        let reach = product(&sparse_rows(propagation, &self.labelled.nodes), &self.input.after(propagation));
        let gram = Gram::new(reach); // of M_L [L,F]
        let (first, second) = self.start(round);
        let path = self.descent.run(&gram, &matmul(&gram.rows, &first), &second, &self.labelled.classes);
        let mut weights = first.clone();
        add_scaled(&mut weights, 1.0, &matmul_tn(&gram.rows, path.coefficients()));
        let hidden = product(propagation, &product(propagation, &self.input.times(&weights)));
        let sound = hidden.as_slice().iter().chain(path.output().as_slice()).all(|value| value.is_finite());
        sound.then_some(Trained { gram, path, start: first, weights, hidden })
    }

    /// Trains on the graph with this `Â` and differentiates the mean cross-entropy at `attacked`, all the way back;
    /// `None` if training diverged. Every round starts from weights of its own.
    pub(super) fn differentiate(
        &self,
        propagation: &SparseMat,
        attacked: &Labelled,
        round: u64,
    ) -> Option<Factors> {
        let Trained { gram, path, start, weights, hidden } = self.train(propagation, round)?;
        let at_attacked = hidden.select_rows(&attacked.nodes);
        let error = Errors::new(&at_attacked, path.output(), &attacked.classes).error;
        let of_output = matmul_tn(&at_attacked, &error); // [h, C]
        let mut errors = Mat::zeros(propagation.rows(), error.cols());
        for (row, &node) in attacked.nodes.iter().enumerate() {
            errors.row_mut(node as usize).copy_from_slice(error.row(row));
        }
        let once = product(propagation, &errors);
        let twice = product(propagation, &once);
        let of_weights = matmul_nt(&self.input.transposed_times(&twice), path.output()); // Γ [F, h]
        let of_coefficients = matmul(&gram.rows, &of_weights); // [L, h]
        let of_hidden =
            self.descent.reverse(&gram, &path, &self.labelled.classes, of_coefficients, of_output);
        let of_rows = of_rows(&gram, &path, &start, &of_weights, &of_hidden); // R [L, F]

        let readings = self.input.times(&matmul(&weights, path.output())); // XQ
        let readings_once = product(propagation, &readings);
        let readings_twice = product(propagation, &readings_once);
        let at_labelled = (0..of_rows.rows()).map(|row| dot(of_rows.row(row), gram.rows.row(row))).collect();
        Some(Factors {
            errors: [errors, once, twice],
            readings: [readings, readings_once, readings_twice],
            training: self.input.times(&of_rows.transposed()),
            at_labelled,
        })
    }

    /// Which nodes are labelled, as places in their list.
    pub(super) fn places(&self, num_nodes: usize) -> Vec<Option<u32>> {
        let mut places = vec![None; num_nodes];
        for (place, &node) in (0u32..).zip(&self.labelled.nodes) {
            places[node as usize] = Some(place);
        }
        places
    }
}

/// `R`: how the loss depends on the labelled rows of `M` through training.
fn of_rows(gram: &Gram, path: &Path, start: &Mat, of_weights: &Mat, of_hidden: &[Mat]) -> Mat {
    let mut of_start = Mat::zeros(gram.rows.rows(), of_weights.cols());
    for of_hidden in of_hidden {
        add_scaled(&mut of_start, 1.0, of_hidden);
    }
    let mut out = gram.adjoint(path, of_hidden);
    add_scaled(&mut out, 1.0, &matmul_nt(path.coefficients(), of_weights));
    add_scaled(&mut out, 1.0, &matmul_nt(&of_start, start));
    out
}

/// Sum of products; long rows of large terms cancel, so the sum is taken in `f64`.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>() as f32
}
