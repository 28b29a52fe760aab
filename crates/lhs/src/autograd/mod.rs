//! Automatic differentiation over matrices: a tape whose backward rules are written in its own ops.
//!
//! A [`Var`] is a matrix and, unless it is a constant, the memory of how it was made: its parents and, for
//! each of them, a rule that turns the gradient of the result into a gradient of that parent. Rules call the
//! same ops that build the forward pass, so a gradient can itself be differentiated: [`gradients`] with
//! [`Order::Higher`] hands the rules the recorded parents, with [`Order::First`] it hands them constants, and
//! nothing is recorded.
//!
//! ```
//! use lhs::autograd::{Order, Var, gradients};
//! use lhs::linalg::Mat;
//!
//! let x = Var::parameter(Mat::full(1, 1, 3.0));
//! let cube = x.mul(&x).mul(&x);
//! let slope = &gradients(&cube, &[&x], Order::Higher)[0]; // 3x²
//! let bend = &gradients(slope, &[&x], Order::First)[0]; // 6x
//! assert_eq!((slope.scalar(), bend.scalar()), (27.0, 18.0));
//! ```

mod backward;
mod ops;
mod optimiser;
mod var;

pub use backward::{Order, gradients};
pub use ops::{
    Absent, Attending, InfoNce, Sparse, at_columns, at_rows, attend, lstm, repulsion, sampled_product,
};
pub use optimiser::{Adam, AdamConfig};
pub use var::Var;

#[cfg(test)]
pub(crate) mod check;
