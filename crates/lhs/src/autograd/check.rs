//! Finite differences against the tape, first and second order, for the tests of every op.

use super::{Order, Var, gradients};
use crate::linalg::Mat;
use crate::linalg::random::hash;

fn input(rows: usize, cols: usize, seed: u64) -> Mat {
    // Entries between -1.2 and 1.2, but never near 0, where the activations have their kinks.
    Mat::from_fn(rows, cols, |r, c| {
        let h = hash(seed, (r * cols + c) as u32);
        let size = 0.3 + 0.9 * (h >> 8) as f32 / (1 << 24) as f32;
        if h & 1 == 0 { size } else { -size }
    })
}

/// A scalar that depends on every entry of `y` in a nonlinear way.
fn mixed(y: &Var) -> Var {
    let (rows, cols) = y.shape();
    let weights = Var::constant(input(rows, cols, 99));
    y.mul(&weights).add(&y.mul(y).scale(0.3)).sum()
}

/// Compares the gradient of a scalar function at `inputs` with central differences.
fn compare(what: &str, inputs: &[Mat], f: &dyn Fn(&[Var]) -> Var) {
    let vars: Vec<Var> = inputs.iter().map(|m| Var::parameter(m.clone())).collect();
    let found = gradients(&f(&vars), &vars.iter().collect::<Vec<_>>(), Order::First);
    let step = 4e-3f32;
    for (which, mat) in inputs.iter().enumerate() {
        for entry in 0..mat.len() {
            let at = |offset: f32| {
                let moved: Vec<Var> = inputs
                    .iter()
                    .enumerate()
                    .map(|(i, m)| {
                        let mut m = m.clone();
                        if i == which {
                            m.as_mut_slice()[entry] += offset;
                        }
                        Var::parameter(m)
                    })
                    .collect();
                f64::from(f(&moved).scalar())
            };
            // Fourth-order central difference: the error of the formula stays below that of f32.
            let (near, far) = (at(step) - at(-step), at(2.0 * step) - at(-2.0 * step));
            let expected = (8.0 * near - far) / (12.0 * f64::from(step));
            let found = f64::from(found[which].value().as_slice()[entry]);
            assert!(
                (found - expected).abs() <= 2e-2 * (1.0 + expected.abs()),
                "{what}: input {which} entry {entry}: tape {found}, differences {expected}"
            );
        }
    }
}

/// Checks first and second derivatives of an op with inputs of the given shapes.
pub(crate) fn check(name: &str, shapes: &[(usize, usize)], op: impl Fn(&[Var]) -> Var) {
    let inputs: Vec<Mat> = (0u64..).zip(shapes).map(|(seed, &(r, c))| input(r, c, seed)).collect();
    compare(name, &inputs, &|vars| mixed(&op(vars)));
    // The gradient, as a function of the inputs, differentiated once more.
    compare(&format!("{name}, second order"), &inputs, &|vars| {
        let first = gradients(&mixed(&op(vars)), &vars.iter().collect::<Vec<_>>(), Order::Higher);
        first.iter().map(mixed).reduce(|a, b| a.add(&b)).expect("at least one input")
    });
}

#[test]
#[should_panic(expected = "tape")]
fn a_wrong_rule_is_caught() {
    check("wrong", &[(2, 2)], |v| {
        let value = crate::linalg::elementwise::map(v[0].value(), |a| a * a);
        Var::from_op(value, [&v[0]], [Box::new(|g, p, _| g.mul(&p[0]))])
    });
}

#[test]
#[should_panic(expected = "second order")]
fn a_rule_that_is_not_differentiable_is_caught() {
    check("detached", &[(2, 2)], |v| {
        let value = crate::linalg::elementwise::map(v[0].value(), |a| a * a * a);
        Var::from_op(
            value,
            [&v[0]],
            [Box::new(|g, p, _| g.mul(&p[0].detach()).mul(&p[0].detach()).scale(3.0))],
        )
    });
}
