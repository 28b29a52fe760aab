//! Variables: values that remember how they were made.

use std::cell::Cell;
use std::rc::Rc;

use crate::linalg::Mat;

/// Turns the gradient of a result into a gradient of one parent: `(gradient, parents, result) -> gradient`.
pub(super) type Rule = Box<dyn Fn(&Var, &[Var], &Var) -> Var>;
/// The same for all parents in one go, where what they need is found together.
pub(super) type JointRule = Box<dyn Fn(&Var, &[Var], &Var) -> Vec<Var>>;

/// How an op hands gradients on.
pub(super) enum Rules {
    /// A rule per parent.
    Each(Vec<Rule>),
    /// One rule for all.
    Joint(JointRule),
}

/// A matrix on the tape. Cloning shares it.
#[derive(Clone)]
pub struct Var(Rc<Inner>);

struct Inner {
    value: Rc<Mat>,
    /// Grows with every variable of a thread: parents always have smaller numbers than their results.
    number: u64,
    origin: Origin,
}

enum Origin {
    Constant,
    Parameter,
    Op { parents: Vec<Var>, rules: Rules },
}

fn next_number() -> u64 {
    thread_local! { static NEXT: Cell<u64> = const { Cell::new(0) } }
    NEXT.with(|next| next.replace(next.get() + 1))
}

impl Var {
    fn new(value: Rc<Mat>, origin: Origin) -> Self {
        Var(Rc::new(Inner { value, number: next_number(), origin }))
    }

    /// A value that no gradient flows into.
    pub fn constant(value: impl Into<Rc<Mat>>) -> Self {
        Self::new(value.into(), Origin::Constant)
    }

    /// A value to take gradients with respect to.
    pub fn parameter(value: impl Into<Rc<Mat>>) -> Self {
        Self::new(value.into(), Origin::Parameter)
    }

    /// The result of an op. It is a constant when all parents are, so that constants cost nothing later.
    pub(super) fn from_op<const N: usize>(value: Mat, parents: [&Var; N], rules: [Rule; N]) -> Self {
        Self::from_ops(value, &parents, rules.into())
    }

    /// The result of an op with any number of parents.
    pub(super) fn from_ops(value: Mat, parents: &[&Var], rules: Vec<Rule>) -> Self {
        Self::ruled(value, parents, || Rules::Each(rules))
    }

    /// The result of an op whose gradients are found together.
    pub(super) fn from_joint_op<const N: usize>(
        value: Mat,
        parents: [&Var; N],
        rule: impl Fn(&Var, &[Var], &Var) -> Vec<Var> + 'static,
    ) -> Self {
        Self::ruled(value, &parents, || Rules::Joint(Box::new(rule)))
    }

    fn ruled(value: Mat, parents: &[&Var], rules: impl FnOnce() -> Rules) -> Self {
        if !parents.iter().any(|parent| parent.needs_gradient()) {
            return Self::constant(value);
        }
        let parents = parents.iter().map(|&parent| parent.clone()).collect();
        Self::new(Rc::new(value), Origin::Op { parents, rules: rules() })
    }

    /// The matrix.
    pub fn value(&self) -> &Mat {
        &self.0.value
    }

    /// The matrix, shared.
    pub fn shared_value(&self) -> Rc<Mat> {
        Rc::clone(&self.0.value)
    }

    /// The only entry of a 1x1 matrix.
    pub fn scalar(&self) -> f32 {
        assert_eq!(self.shape(), (1, 1), "a scalar is 1x1");
        self.value().as_slice()[0]
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.value().shape()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.value().rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.value().cols()
    }

    /// The same value as a constant.
    pub fn detach(&self) -> Var {
        Self::constant(self.shared_value())
    }

    /// Whether a gradient can flow into this variable.
    pub fn needs_gradient(&self) -> bool {
        !matches!(self.0.origin, Origin::Constant)
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn parents(&self) -> &[Var] {
        match &self.0.origin {
            Origin::Op { parents, .. } => parents,
            _ => &[],
        }
    }

    pub(super) fn rules(&self) -> Option<&Rules> {
        match &self.0.origin {
            Origin::Op { rules, .. } => Some(rules),
            _ => None,
        }
    }

    /// `self += other` in place when nobody else holds the value, otherwise by the op.
    pub(super) fn accumulate(self, other: &Var) -> Var {
        if self.needs_gradient() || other.needs_gradient() {
            return self.add(other);
        }
        match Rc::try_unwrap(self.0) {
            Ok(mut inner) => {
                let mut value = std::mem::replace(&mut inner.value, Rc::new(Mat::zeros(0, 0)));
                match Rc::get_mut(&mut value) {
                    Some(mat) => {
                        crate::linalg::elementwise::add_to(mat, other.value());
                        Var::constant(value)
                    }
                    None => Var::constant(value).add(other),
                }
            }
            Err(shared) => Var(shared).add(other),
        }
    }
}

/// Long chains (unrolled training) would overflow the stack if each variable dropped its parents itself.
impl Drop for Inner {
    fn drop(&mut self) {
        let take = |origin: &mut Origin| match std::mem::replace(origin, Origin::Constant) {
            Origin::Op { parents, .. } => parents,
            _ => Vec::new(),
        };
        let mut waiting = take(&mut self.origin);
        while let Some(mut var) = waiting.pop() {
            if let Some(inner) = Rc::get_mut(&mut var.0) {
                waiting.append(&mut take(&mut inner.origin));
            }
        }
    }
}

impl std::fmt::Debug for Var {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Var #{} {:?}", self.0.number, self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_a_million_ops_is_dropped_without_overflow() {
        let start = Var::parameter(Mat::full(1, 1, 0.0));
        let mut end = start.clone();
        for _ in 0..1_000_000 {
            end = end.add_scalar(1.0);
        }
        assert_eq!(end.scalar(), 1e6);
    }

    #[test]
    fn ops_on_constants_record_nothing() {
        let a = Var::constant(Mat::full(2, 2, 1.0));
        assert!(!a.mul(&a).needs_gradient());
        let p = Var::parameter(Mat::full(2, 2, 1.0));
        assert!(a.mul(&p).needs_gradient() && !a.mul(&p).detach().needs_gradient());
    }
}
