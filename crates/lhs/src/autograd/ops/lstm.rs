//! A recurrent layer along many sequences at once, as one op: see `linalg::recurrent`.

use std::rc::Rc;

use super::super::Var;
use super::super::backward::gradients_in_ops;
use crate::linalg::Mat;
use crate::linalg::recurrent::{Lstm, NOTHING, Pulled};

/// `read` holds the items of each of `m` sequences, one sequence after the other, `u32::MAX` for nothing, after which
/// the state is empty. What items say to the gates, `heard [items, 4d]`, the weights `[d, 4d]` and the first state and
/// memory `[m, d]` give all states and the last memory side by side: `[m, (length + 1) d]`.
pub fn lstm(heard: &Var, recurrent: &Var, hidden: &Var, memory: &Var, read: &Rc<[u32]>) -> Var {
    fn on<'a>(parents: [&'a Var; 4], read: &'a [u32]) -> Lstm<'a> {
        let [heard, recurrent, hidden, memory] = parents.map(Var::value);
        Lstm { heard, recurrent, hidden, memory, read }
    }
    let parents = [heard, recurrent, hidden, memory];
    let (value, trace) = on(parents, read).forward();
    let read = Rc::clone(read);
    Var::from_joint_op(value, parents, move |g, p, y| {
        if g.needs_gradient() || p.iter().any(Var::needs_gradient) {
            return gradients_in_ops(&in_ops(&p[0], &p[1], &p[2], &p[3], &read), g, p);
        }
        let Pulled { heard, recurrent, hidden, memory } =
            on([&p[0], &p[1], &p[2], &p[3]], &read).backward(g.value(), y.value(), &trace);
        [heard, recurrent, hidden, memory].map(Var::constant).into()
    })
}

/// The same step by step.
fn in_ops(heard: &Var, recurrent: &Var, hidden: &Var, memory: &Var, read: &[u32]) -> Var {
    let (count, width) = hidden.shape();
    let length = read.len() / count.max(1);
    let (mut hidden, mut memory) = (hidden.clone(), memory.clone());
    let mut states = Vec::new();
    for step in 0..length {
        let at: Vec<u32> = (0..count).map(|row| read[row * length + step]).collect();
        let there: Vec<f32> = at.iter().map(|&item| f32::from(item != NOTHING)).collect();
        let there = Var::constant(Mat::column(&there));
        let items: Rc<[u32]> = at.iter().map(|&item| if item == NOTHING { 0 } else { item }).collect();
        let gates = heard.gather_rows(&items).add(&hidden.matmul(recurrent)); // [m, 4d]
        let gate = |which: usize| gates.slice_cols(which * width, width);
        let kept = gate(1).sigmoid().mul(&memory).add(&gate(0).sigmoid().mul(&gate(3).tanh()));
        hidden = gate(2).sigmoid().mul(&kept.tanh()).mul_col(&there);
        memory = kept.mul_col(&there);
        states.push(hidden.clone());
    }
    states.push(memory);
    Var::concat_cols(&states.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::check::check;

    #[test]
    fn gradients_equal_finite_differences() {
        let read: Rc<[u32]> = [u32::MAX, 1, 0, 1, 1, u32::MAX, 2, 0, 2].into();
        check("lstm", &[(3, 8), (2, 8), (3, 2), (3, 2)], |v| lstm(&v[0], &v[1], &v[2], &v[3], &read));
    }

    #[test]
    fn fused_and_in_ops_are_the_same() {
        let read: Rc<[u32]> = [2, 1, u32::MAX, 0].into();
        let make = |rows: usize, cols: usize, factor: f32| {
            Var::constant(Mat::from_fn(rows, cols, |row, col| ((row * cols + col) as f32 * factor).sin()))
        };
        let (heard, recurrent) = (make(3, 12, 0.7), make(3, 12, 1.3));
        let (hidden, memory) = (make(2, 3, 0.9), make(2, 3, 2.1));
        let fused = lstm(&heard, &recurrent, &hidden, &memory, &read);
        let expected = in_ops(&heard, &recurrent, &hidden, &memory, &read);
        for (found, expected) in fused.value().as_slice().iter().zip(expected.value().as_slice()) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
