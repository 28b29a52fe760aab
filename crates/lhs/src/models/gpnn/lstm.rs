//! Long short-term memory, one step for all nodes at a time (Hochreiter and Schmidhuber 1997).
//!
//! `i, f, o = σ(x W + h U + b)`, `g = tanh(…)`, `c' = f ⊙ c + i ⊙ g`, `h' = o ⊙ tanh(c')`; the four gates are side by side,
//! so that a step is one product `[n, d] x [d, 4d]`.

use std::rc::Rc;

use crate::autograd::{Var, lstm};
use crate::linalg::Mat;
use crate::models::parts::{ParamBuilder, ParamReader};

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
}

impl<'a> Cell<'a> {
    /// Fresh weights for inputs of width `from` and states of width `to`. It forgets little at first.
    pub fn build(builder: &mut ParamBuilder, name: &str, from: usize, to: usize) {
        builder.weight(&format!("{name}.input"), from, 4 * to);
        builder.weight(&format!("{name}.recurrent"), to, 4 * to);
        let forget = |col: usize| if (to..2 * to).contains(&col) { 1.0 } else { 0.0 };
        builder.free(&format!("{name}.bias"), Mat::from_fn(1, 4 * to, |_, col| forget(col)));
    }

    /// The weights, in the order in which they were built.
    pub fn read(reader: &mut ParamReader<'a>) -> Self {
        Cell { input: reader.one(), recurrent: reader.one(), bias: reader.one() }
    }

    /// What inputs say to the gates, `[n, from] -> [n, 4 to]`: the part of a step that needs no state.
    pub fn heard(&self, x: &Var) -> Var {
        x.matmul(self.input).add_row(self.bias)
    }

    /// What it says along sequences, `[sequences, length * to]`, and where it ends. `read` holds the rows of `heard` that
    /// they are made of, one sequence after the other; `u32::MAX` is nothing, and empties the state.
    pub fn along(&self, heard: &Var, state: &State, read: &Rc<[u32]>) -> (Var, State) {
        let all = lstm(heard, self.recurrent, &state.hidden, &state.memory, read);
        let (width, end) = (state.hidden.cols(), all.cols());
        let memory = all.slice_cols(end - width, width);
        let said = all.slice_cols(0, end - width);
        let hidden = said.slice_cols(end - 2 * width, width);
        (said, State { hidden, memory })
    }

    /// One step on, a row of `heard` for each state.
    pub fn step(&self, heard: &Var, state: &State) -> State {
        let own = (0..heard.rows() as u32).collect();
        self.along(heard, state, &own).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_by_hand() {
        let mut builder = ParamBuilder::new(1);
        Cell::build(&mut builder, "cell", 1, 1);
        let parameters = builder.done().constants();
        let cell = Cell::read(&mut ParamReader::from(&parameters));
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
    fn a_sequence_is_one_step_after_the_other() {
        let mut builder = ParamBuilder::new(1);
        Cell::build(&mut builder, "cell", 2, 3);
        let parameters = builder.done().constants();
        let cell = Cell::read(&mut ParamReader::from(&parameters));
        let x = Var::constant(Mat::from_fn(2, 2, |row, col| (row + 2 * col) as f32 - 1.0));
        let start = State::empty(1, 3);
        let heard = cell.heard(&x);
        let (said, end) = cell.along(&heard, &start, &[1, 0].into());
        let first = cell.step(&heard.slice_rows(1, 1), &start);
        let second = cell.step(&heard.slice_rows(0, 1), &first);
        assert_eq!(said.slice_cols(0, 3).value(), first.hidden.value());
        assert_eq!((end.hidden.value(), end.memory.value()), (second.hidden.value(), second.memory.value()));
    }
}
