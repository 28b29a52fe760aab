//! The dense graph that Pro-GNN learns, one step at a time.
//!
//! With row sums `d`, `r = (d + 1)^-1/2` and `Â = diag(r) (S + I) diag(r)`, the network's loss has the gradient `P Qᵀ` with
//! respect to `Â`, of a rank as low as its layers are narrow: `Q` are the rows that each layer propagates and `P` the
//! gradients of what comes out. With respect to `S` that is
//! `r_i r_j P_i Q_j + u_i`, `u_i = -½ r_i² (P_i (ÂQ)_i + Q_i (ÂP)_i)`,
//! and for the smoothness `tr(Xᵀ L̂ X)`, with `K = X Xᵀ`, `e = d + ε`, `q = e^-1/2`:
//! `-q_i q_j K_ij + v_i`, `v_i = ε K_ii / e_i² + e_i^-3/2 Σ_j q_j S_ij K_ij`.
//! Both are made symmetric, so `S` stays symmetric.

use std::rc::Rc;

use crate::linalg::elementwise::reduce_rows;
use crate::linalg::parallel::{fill_rows, map_chunks};
use crate::linalg::simd::{self, vectorised};
use crate::linalg::{Mat, SparseMat, matmul_nt, shrink_singular_values};

/// Memory of the gradient.
const MOMENTUM: f32 = 0.9;
/// Added to the degrees in the smoothness, as in the authors' code.
const EPSILON: f32 = 1e-3;

/// What pulls on the graph, and how hard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    /// Step size.
    pub rate: f32,
    /// Of the l1 norm (α).
    pub sparsity: f32,
    /// Of the nuclear norm (β), 0 in epochs that leave it out.
    pub low_rank: f32,
    /// Of the smoothness (λ).
    pub smoothness: f32,
}

/// Gradients of the network: `[n, w]` each, `w` the widths of all layers together.
pub(super) struct Through {
    /// `P`, times the weight of the task (γ).
    pub gradients: Mat,
    /// `Q`.
    pub rows: Mat,
    /// `Â P`.
    pub spread_gradients: Mat,
    /// `Â Q`.
    pub spread_rows: Mat,
}

/// The learned graph and the memory of its gradient.
pub(super) struct LearnedGraph {
    /// `S [n, n]`, symmetric, 0..=1.
    pub entries: Rc<Mat>,
    /// `[n, n]`.
    pub momentum: Mat,
}

impl LearnedGraph {
    /// Begins with the given graph.
    pub fn of(adjacency: &SparseMat) -> Self {
        let entries = adjacency.to_dense();
        LearnedGraph { momentum: Mat::zeros(entries.rows(), entries.cols()), entries: Rc::new(entries) }
    }

    /// One step of gradient descent, then the proximal steps and the bounds. `products` is `K`, where smoothness pulls.
    pub fn step(&mut self, given: &SparseMat, through: &Through, products: Option<&Mat>, pull: Pull) {
        let degrees = row_sums(&self.entries);
        let smooth =
            products.map(|products| Smoothness::of(&self.entries, products, &degrees, pull.smoothness));
        self.remember(given, through, &degrees, smooth.as_ref());
        let moved = |entry: f32, momentum: f32| entry - pull.rate * momentum;
        let bounded = move |entry: f32| (entry - pull.rate * pull.sparsity).clamp(0.0, 1.0);
        if pull.low_rank == 0.0 {
            let both = |entry, momentum| bounded(moved(entry, momentum));
            return update(Rc::make_mut(&mut self.entries), &self.momentum, both);
        }
        update(Rc::make_mut(&mut self.entries), &self.momentum, moved);
        let mut shrunk = shrink_singular_values(&self.entries, pull.rate * pull.low_rank);
        update(&mut shrunk, &self.momentum, |entry, _| bounded(entry));
        self.entries = Rc::new(shrunk);
    }

    /// `momentum ← 0.9 momentum + gradient`.
    fn remember(
        &mut self,
        given: &SparseMat,
        through: &Through,
        degrees: &[f32],
        smooth: Option<&Smoothness<'_>>,
    ) {
        let size = self.entries.rows();
        let closeness = 1.0 / distance(&self.entries, given).max(f32::MIN_POSITIVE);
        // Of S = A itself, the norm has no slope.
        let closeness = if closeness.is_finite() && closeness < 1e30 { closeness } else { 0.0 };
        let (left, right) = through.halves(degrees);
        let mut own = through.own(degrees);
        if let Some(smooth) = smooth {
            own.iter_mut().zip(&smooth.own).for_each(|(own, more)| *own += more);
        }
        let (entries, own) = (&*self.entries, &own);
        fill_rows(self.momentum.as_mut_slice(), size, 4 * size, |first, part| {
            let count = part.len() / size;
            let some: Vec<u32> = (first as u32..(first + count) as u32).collect();
            let low_rank = matmul_nt(&left.select_rows(&some), &right); // [chunk, n]
            for (offset, momentum) in part.chunks_exact_mut(size).enumerate() {
                let row = first + offset;
                let (entries, network) = (entries.row(row), low_rank.row(offset));
                vectorised(
                    #[inline(always)]
                    || {
                        for col in 0..size {
                            let gradient =
                                closeness.mul_add(entries[col], network[col]) + own[row] + own[col];
                            momentum[col] = MOMENTUM.mul_add(momentum[col], gradient);
                        }
                    },
                );
                given.row(row).for_each(|(col, weight)| momentum[col as usize] -= closeness * weight);
                if let Some(smooth) = smooth {
                    smooth.add_to(row, momentum);
                }
            }
        });
    }
}

impl Through {
    /// `½ diag(r) [P Q]` and `diag(r) [Q P]`, whose product is the symmetric gradient at fixed degrees.
    fn halves(&self, degrees: &[f32]) -> (Mat, Mat) {
        let side_by_side = |first: &Mat, second: &Mat, factor: f32| {
            let mut out = Mat::side_by_side(&[first.clone(), second.clone()]);
            for (row, degree) in degrees.iter().enumerate() {
                let scale = factor / (degree + 1.0).sqrt();
                out.row_mut(row).iter_mut().for_each(|entry| *entry *= scale);
            }
            out
        };
        let (gradients, rows) = (&self.gradients, &self.rows);
        (side_by_side(gradients, rows, 0.5), side_by_side(rows, gradients, 1.0))
    }

    /// `½ u`.
    fn own(&self, degrees: &[f32]) -> Vec<f32> {
        let product = |row: usize| {
            simd::dot(self.gradients.row(row), self.spread_rows.row(row))
                + simd::dot(self.rows.row(row), self.spread_gradients.row(row))
        };
        degrees.iter().enumerate().map(|(row, degree)| -0.25 * product(row) / (degree + 1.0)).collect()
    }
}

/// The gradient of the smoothness.
struct Smoothness<'a> {
    products: &'a Mat,
    weight: f32,
    /// `q`.
    scale: Vec<f32>,
    /// `½ λ v`.
    own: Vec<f32>,
}

impl<'a> Smoothness<'a> {
    fn of(entries: &Mat, products: &'a Mat, degrees: &[f32], weight: f32) -> Self {
        let size = entries.rows();
        let scale: Vec<f32> = degrees.iter().map(|degree| (degree + EPSILON).powf(-0.5)).collect();
        let slope = |row: usize| {
            let weighted: f32 = vectorised(
                #[inline(always)]
                || {
                    let mut lanes = [0f32; 16];
                    let (entries, products) = (entries.row(row), products.row(row));
                    for start in (0..size).step_by(16) {
                        for (lane, col) in (start..size.min(start + 16)).enumerate() {
                            lanes[lane] += scale[col] * entries[col] * products[col];
                        }
                    }
                    lanes.iter().sum()
                },
            );
            let inverse = scale[row] * scale[row];
            EPSILON * products.get(row, row) * inverse * inverse + inverse * scale[row] * weighted
        };
        let parts = map_chunks(size, size, |rows| rows.map(slope).collect::<Vec<f32>>());
        let own = parts.into_iter().flatten().map(|slope| 0.5 * weight * slope).collect();
        Smoothness { products, weight, scale, own }
    }

    /// Adds `-λ q_i q_j K_ij` to row `i`.
    fn add_to(&self, row: usize, momentum: &mut [f32]) {
        let factor = -self.weight * self.scale[row];
        let (products, scale) = (self.products.row(row), &self.scale);
        vectorised(
            #[inline(always)]
            || {
                for ((momentum, product), scale) in momentum.iter_mut().zip(products).zip(scale) {
                    *momentum += factor * scale * product;
                }
            },
        );
    }
}

/// Row sums `d`.
pub(super) fn row_sums(entries: &Mat) -> Vec<f32> {
    reduce_rows(entries, simd::sum).as_slice().to_vec()
}

/// `‖S - A‖` (Frobenius).
fn distance(entries: &Mat, given: &SparseMat) -> f32 {
    let size = entries.rows();
    let square = |row: usize| {
        let mut difference = entries.row(row).to_vec();
        given.row(row).for_each(|(col, weight)| difference[col as usize] -= weight);
        f64::from(vectorised(
            #[inline(always)]
            || simd::dot(&difference, &difference),
        ))
    };
    let parts = map_chunks(size, size, |rows| rows.map(square).sum::<f64>());
    parts.into_iter().sum::<f64>().sqrt() as f32
}

/// Replaces every entry by a function of it and its momentum.
fn update(entries: &mut Mat, momentum: &Mat, f: impl Fn(f32, f32) -> f32 + Sync + Copy) {
    let size = entries.cols();
    fill_rows(entries.as_mut_slice(), size, size, |first, part| {
        vectorised(
            #[inline(always)]
            || {
                for (entry, momentum) in part.iter_mut().zip(&momentum.as_slice()[first * size..]) {
                    *entry = f(*entry, *momentum);
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matmul;

    const SIZE: usize = 6;

    fn given() -> SparseMat {
        let pairs = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)];
        let both = pairs.iter().flat_map(|&(a, b)| [(a, b, 1.0), (b, a, 1.0)]);
        SparseMat::from_triplets(SIZE, SIZE, both.collect())
    }

    /// A symmetric matrix of positive entries.
    fn somewhere() -> Mat {
        Mat::from_fn(SIZE, SIZE, |a, b| 0.1 + 0.8 * (((a + b) * (a * b + 3)) % 7) as f32 / 7.0)
    }

    fn features() -> Mat {
        Mat::from_fn(SIZE, 3, |row, col| ((row * 5 + col * 3) % 4) as f32)
    }

    /// `Â x` in double precision.
    fn spread(entries: &Mat, x: &Mat) -> Vec<f64> {
        let scale: Vec<f64> = (0..SIZE)
            .map(|i| (entries.row(i).iter().map(|&s| f64::from(s)).sum::<f64>() + 1.0).powf(-0.5))
            .collect();
        let entry = |i: usize, j: usize| {
            (f64::from(entries.get(i, j)) + f64::from(u8::from(i == j))) * scale[i] * scale[j]
        };
        let at = |i: usize, c: usize| (0..SIZE).map(|j| entry(i, j) * f64::from(x.get(j, c))).sum::<f64>();
        (0..SIZE).flat_map(|i| (0..x.cols()).map(move |c| at(i, c))).collect()
    }

    fn smoothness(entries: &Mat, x: &Mat) -> f64 {
        let degree: Vec<f64> =
            (0..SIZE).map(|i| entries.row(i).iter().map(|&s| f64::from(s)).sum()).collect();
        let scale: Vec<f64> = degree.iter().map(|d| (d + f64::from(EPSILON)).powf(-0.5)).collect();
        let product =
            |i: usize, j: usize| (0..x.cols()).map(|c| f64::from(x.get(i, c) * x.get(j, c))).sum::<f64>();
        (0..SIZE)
            .map(|i| {
                let across: f64 = (0..SIZE)
                    .map(|j| scale[i] * scale[j] * f64::from(entries.get(i, j)) * product(i, j))
                    .sum();
                degree[i] * scale[i] * scale[i] * product(i, i) - across
            })
            .sum()
    }

    fn norm(entries: &Mat) -> f64 {
        let given = given().to_dense();
        let squares = entries.as_slice().iter().zip(given.as_slice()).map(|(s, a)| f64::from(s - a).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// The gradient in one pass against symmetric differences of the loss itself.
    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let (rows, gradients) =
            (features(), Mat::from_fn(SIZE, 3, |row, col| (row as f32 - 2.0) * 0.1 + col as f32));
        // A loss that is linear in what is propagated, so that its gradient P is the same everywhere.
        let linear = |entries: &Mat| -> f64 {
            let spread = spread(entries, &rows);
            spread.iter().zip(gradients.as_slice()).map(|(x, p)| x * f64::from(*p)).sum()
        };
        let weight = 0.3;
        let loss = |entries: &Mat| {
            norm(entries) + linear(entries) + f64::from(weight) * smoothness(entries, &features())
        };
        let entries = somewhere();
        let as_mat = |x: &Mat| {
            let values: Vec<f32> = spread(&entries, x).into_iter().map(|v| v as f32).collect();
            Mat::from_slice(SIZE, 3, &values)
        };
        let through = Through {
            spread_gradients: as_mat(&gradients),
            spread_rows: as_mat(&rows),
            gradients: gradients.clone(),
            rows: rows.clone(),
        };
        let products = matmul(&features(), &features().transposed());
        let mut graph = LearnedGraph { momentum: Mat::zeros(SIZE, SIZE), entries: Rc::new(entries.clone()) };
        let degrees = row_sums(&entries);
        let smooth = Smoothness::of(&entries, &products, &degrees, weight);
        graph.remember(&given(), &through, &degrees, Some(&smooth));
        for (i, j) in [(0, 1), (2, 5), (3, 4), (1, 1)] {
            let shifted = |by: f32| {
                let mut shifted = entries.clone();
                shifted.row_mut(i)[j] += by;
                if i != j {
                    shifted.row_mut(j)[i] += by;
                }
                loss(&shifted)
            };
            let both = if i == j { 1.0 } else { 2.0 };
            let expected = (shifted(1e-2) - shifted(-1e-2)) / (2e-2 * both);
            let found = f64::from(graph.momentum.get(i, j));
            assert!(
                (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                "{i} {j}: {found} for {expected}"
            );
            assert!((graph.momentum.get(j, i) - graph.momentum.get(i, j)).abs() < 1e-5);
        }
    }

    #[test]
    fn without_a_pull_the_graph_stays_as_given() {
        let nothing = || Mat::zeros(SIZE, 1);
        let through = Through {
            gradients: nothing(),
            rows: nothing(),
            spread_gradients: nothing(),
            spread_rows: nothing(),
        };
        let mut graph = LearnedGraph::of(&given());
        graph.step(
            &given(),
            &through,
            None,
            Pull { rate: 0.1, sparsity: 0.0, low_rank: 0.0, smoothness: 0.0 },
        );
        assert_eq!(*graph.entries, given().to_dense());
        graph.step(
            &given(),
            &through,
            None,
            Pull { rate: 0.1, sparsity: 1.0, low_rank: 0.0, smoothness: 0.0 },
        );
        assert_eq!(graph.entries.get(0, 1), 0.9);
        graph.step(
            &given(),
            &through,
            None,
            Pull { rate: 1.0, sparsity: 0.0, low_rank: 9.0, smoothness: 0.0 },
        );
        assert!(graph.entries.as_slice().iter().all(|entry| *entry == 0.0));
    }
}
