//! How likely a random walk is back where it began, step by step: a description of a node's surroundings.

use crate::graph::{Graph, normalise};
use crate::linalg::{Mat, simd, spmm};

/// Nodes whose walks are followed together.
const BLOCK: usize = 128;

/// Entry `(i, k)` is the probability that a walk from node `i` is at `i` after `k + 1` steps, `[n, steps]`.
///
/// `D^-1 A` and the symmetric `S = D^-1/2 A D^-1/2` have powers of the same diagonal, and with `v_j = S^j e_i`,
/// `(S^2j)_ii = <v_j, v_j>`, `(S^(2j+1))_ii = <v_j, v_(j+1)>`: half of the steps are enough. Exact; cost
/// `O(n * edges * steps / 2)` time, memory `O(n)`.
pub fn returns(graph: &Graph, steps: usize) -> Mat {
    let step = normalise::symmetric(&graph.to_undirected());
    let num_nodes = graph.num_nodes();
    let mut out = Mat::zeros(num_nodes, steps);
    for first in (0..num_nodes).step_by(BLOCK) {
        let count = BLOCK.min(num_nodes - first);
        let mut now = Mat::from_fn(num_nodes, count, |node, start| f32::from(node == first + start));
        for taken in (1..=steps).step_by(2) {
            let next = spmm(&step.pattern, &step.values, &now); // [n, block]
            let mut note = |steps_taken: usize, left: &Mat, right: &Mat| {
                for (start, chance) in column_dots(left, right).into_iter().enumerate() {
                    out.row_mut(first + start)[steps_taken - 1] = chance;
                }
            };
            note(taken, &now, &next);
            if taken < steps {
                note(taken + 1, &next, &next);
            }
            now = next;
        }
    }
    out
}

/// The inner product of each pair of columns.
fn column_dots(left: &Mat, right: &Mat) -> Vec<f32> {
    let mut sums = vec![0.0; left.cols()];
    simd::vectorised(
        #[inline(always)]
        || {
            for row in 0..left.rows() {
                for ((sum, a), b) in sums.iter_mut().zip(left.row(row)).zip(right.row(row)) {
                    *sum += a * b;
                }
            }
        },
    );
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;

    #[test]
    fn returns_are_the_diagonals_of_the_powers() {
        let edges: Vec<(u32, u32)> =
            (0..200).map(|i| (i, (7 * i + 3) % 200)).chain((0..60).map(|i| (i, i + 2))).collect();
        let graph = Graph::from_edges(201, &edges).unwrap().0;
        let found = returns(&graph, 5);
        let walk = normalise::row_stochastic(&graph).to_dense();
        let mut power = walk.clone();
        for steps in 0..5 {
            for node in 0..201 {
                let (found, expected) = (found.get(node, steps), power.get(node, node));
                assert!((found - expected).abs() < 1e-5, "node {node}, step {steps}: {found} for {expected}");
            }
            power = matmul(&power, &walk);
        }
    }
}
