//! Long short-term memory, one step for all nodes at a time (Hochreiter and Schmidhuber 1997).
//!
//! `i, f, o = σ(x W + h U + b)`, `g = tanh(…)`, `c' = f ⊙ c + i ⊙ g`, `h' = o ⊙ tanh(c')`; the four gates are side by side,
//! so that a step is one product `[n, d] x [d, 4d]`.

use super::{Make, Take};
use crate::autograd::Var;
use crate::linalg::Mat;

/// The weights of a cell.
pub struct Cell<'a> {
    input: &'a Var,
    recurrent: &'a Var,
    bias: &'a Var,
}

/// What a cell carries from step to step, each `[n, d]`.
#[derive(Clone)]
pub struct State {
    /// What it says.
    pub hidden: Var,
    /// What it keeps.
    pub memory: Var,
}

impl State {
    /// Nothing said and nothing kept, for `n` nodes.
    pub fn empty(nodes: usize, width: usize) -> Self {
        let nothing = Var::constant(Mat::zeros(nodes, width));
        State { hidden: nothing.clone(), memory: nothing }
    }

    /// The state of some nodes, those with 1 in `kept [n, 1]`; it is empty elsewhere.
    pub fn of(&self, kept: &Var) -> Self {
        State { hidden: self.hidden.mul_col(kept), memory: self.memory.mul_col(kept) }
    }
}

impl<'a> Cell<'a> {
    /// Fresh weights for inputs of width `from` and states of width `to`. It forgets little at first.
    pub fn make(make: &mut Make, name: &str, from: usize, to: usize) {
        make.weight(&format!("{name}.input"), from, 4 * to);
        make.weight(&format!("{name}.recurrent"), to, 4 * to);
        let forget = |col: usize| if (to..2 * to).contains(&col) { 1.0 } else { 0.0 };
        make.free(&format!("{name}.bias"), Mat::from_fn(1, 4 * to, |_, col| forget(col)));
    }

    /// The weights, in the order in which they were made.
    pub fn take(take: &mut Take<'a>) -> Self {
        Cell { input: take.one(), recurrent: take.one(), bias: take.one() }
    }

    /// What inputs say to the gates, `[n, from] -> [n, 4 to]`: the part of a step that needs no state.
    pub fn heard(&self, x: &Var) -> Var {
        x.matmul(self.input).add_row(self.bias)
    }

    /// One step on.
    pub fn step(&self, heard: &Var, state: &State) -> State {
        let gates = heard.add(&state.hidden.matmul(self.recurrent)); // [n, 4d]: in, forget, out, news
        let width = gates.cols() / 4;
        let open = gates.slice_cols(0, 3 * width).sigmoid();
        let gate = |which: usize| open.slice_cols(which * width, width);
        let news = gates.slice_cols(3 * width, width).tanh();
        let memory = gate(1).mul(&state.memory).add(&gate(0).mul(&news));
        State { hidden: gate(2).mul(&memory.tanh()), memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_by_hand() {
        let mut make = Make::new(1);
        Cell::make(&mut make, "cell", 1, 1);
        let parameters = make.done().constants();
        let cell = Cell::take(&mut Take::from(&parameters));
        let (w, u) = (parameters[0].value(), parameters[1].value());
        let (x, h, c) = (0.7f32, -0.4f32, 0.9f32);
        let column = |value: f32| Var::constant(Mat::column(&[value]));
        let state = State { hidden: column(h), memory: column(c) };
        let next = cell.step(&cell.heard(&column(x)), &state);
        let gate = |g: usize| x * w.get(0, g) + h * u.get(0, g) + if g == 1 { 1.0 } else { 0.0 };
        let sigmoid = |a: f32| 1.0 / (1.0 + (-a).exp());
        let memory = sigmoid(gate(1)) * c + sigmoid(gate(0)) * gate(3).tanh();
        assert!((next.memory.scalar() - memory).abs() < 1e-6);
        assert!((next.hidden.scalar() - sigmoid(gate(2)) * memory.tanh()).abs() < 1e-6);
    }

    #[test]
    fn a_state_is_kept_for_some() {
        let state = State::empty(2, 3);
        let full = State { hidden: state.hidden.add_scalar(1.0), memory: state.memory.add_scalar(2.0) };
        let kept = full.of(&Var::constant(Mat::column(&[0.0, 1.0])));
        assert_eq!(kept.memory.value().as_slice(), [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]);
    }
}
