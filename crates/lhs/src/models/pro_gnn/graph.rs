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
use crate::linalg::parallel::{map_both_rows, map_chunks, map_rows};
use crate::linalg::simd::{self, vectorised};
use crate::linalg::{Mat, Shrinker, SparseMat, matmul};

/// Memory of the gradient.
const MOMENTUM: f32 = 0.9;
/// Added to the degrees in the smoothness, as in the authors' code.
const EPSILON: f32 = 1e-3;
/// Rows that a thread works on at a time: enough for products over them to be worth their preparation, few enough to
/// stay in its cache.
const TOGETHER: usize = 64;

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
    /// Shrinks singular values, from the vectors that were left the last time.
    pub shrinker: Shrinker,
    /// What several parts of an epoch ask about the entries.
    pub measured: Measured,
}

/// Row sums and distance from the given graph.
pub(super) struct Measured {
    /// `d`.
    pub degrees: Vec<f32>,
    /// `‖S - A‖` (Frobenius).
    distance: f32,
}

impl LearnedGraph {
    /// Begins with the given graph.
    pub fn of(given: &SparseMat) -> Self {
        let size = given.rows();
        Self::resumed(given, given.to_dense(), Mat::zeros(size, size), Shrinker::default())
    }

    /// Goes on from where another one was.
    pub fn resumed(given: &SparseMat, mut entries: Mat, momentum: Mat, shrinker: Shrinker) -> Self {
        let measured = settle(&mut entries, given, |entry| entry);
        LearnedGraph { entries: Rc::new(entries), momentum, shrinker, measured }
    }

    /// One step of gradient descent, then the proximal steps and the bounds. `products` is `K`, where smoothness pulls.
    pub fn step(&mut self, given: &SparseMat, through: &Through, products: Option<&Mat>, pull: Pull) {
        let gradient = self.gradient(through, products, pull.smoothness);
        let moved = move |entry: f32, momentum: f32| entry - pull.rate * momentum;
        let bounded = move |entry: f32| (entry - pull.rate * pull.sparsity).clamp(0.0, 1.0);
        if pull.low_rank == 0.0 {
            self.measured = self.follow(given, &gradient, move |entry, by| bounded(moved(entry, by)));
            return;
        }
        self.follow(given, &gradient, moved);
        let mut shrunk = self.shrinker.shrink(&self.entries, pull.rate * pull.low_rank);
        self.measured = settle(&mut shrunk, given, bounded);
        self.entries = Rc::new(shrunk);
    }

    fn gradient<'a>(&self, through: &Through, products: Option<&'a Mat>, smoothness: f32) -> Gradient<'a> {
        let Measured { degrees, distance } = &self.measured;
        let smooth = products.map(|products| Smoothness::of(&self.entries, products, degrees, smoothness));
        let closeness = 1.0 / distance.max(f32::MIN_POSITIVE);
        let (left, right) = through.halves(degrees);
        let mut own = through.own(degrees);
        if let Some(smooth) = &smooth {
            own.iter_mut().zip(&smooth.own).for_each(|(own, more)| *own += more);
        }
        Gradient {
            // Of S = A itself, the norm has no slope.
            closeness: if closeness.is_finite() && closeness < 1e30 { closeness } else { 0.0 },
            left,
            right: right.transposed(),
            own,
            smooth,
        }
    }

    /// `momentum ← 0.9 momentum + gradient`, then `S ← f(S, momentum)`, entry by entry: one walk through the memory.
    fn follow(
        &mut self,
        given: &SparseMat,
        gradient: &Gradient<'_>,
        f: impl Fn(f32, f32) -> f32 + Sync + Copy,
    ) -> Measured {
        let size = self.entries.rows();
        let entries = Rc::make_mut(&mut self.entries).as_mut_slice();
        let parts = map_both_rows(
            self.momentum.as_mut_slice(),
            entries,
            size,
            TOGETHER,
            |first, momentum, entries| {
                let some: Vec<u32> = (first..first + momentum.len() / size).map(|row| row as u32).collect();
                let network = matmul(&gradient.left.select_rows(&some), &gradient.right); // [chunk, n]
                let rows = momentum.chunks_exact_mut(size).zip(entries.chunks_exact_mut(size));
                let measure = |(offset, (momentum, entries)): (usize, (&mut [f32], &mut [f32]))| {
                    let row = first + offset;
                    gradient.add_to(row, momentum, entries, network.row(offset));
                    given
                        .row(row)
                        .for_each(|(col, weight)| momentum[col as usize] -= gradient.closeness * weight);
                    vectorised(
                        #[inline(always)]
                        || entries.iter_mut().zip(&*momentum).for_each(|(entry, by)| *entry = f(*entry, *by)),
                    );
                    measure_row(entries, given.row(row))
                };
                rows.enumerate().map(measure).collect()
            },
        );
        Measured::of(parts)
    }
}

/// The gradient of everything but the proximal terms, in parts that are cheap to keep.
struct Gradient<'a> {
    /// `1 / ‖S - A‖`.
    closeness: f32,
    /// `½ diag(r) [P Q]`, `[n, 2w]`.
    left: Mat,
    /// `(diag(r) [Q P])ᵀ`, `[2w, n]`.
    right: Mat,
    /// Half of what a row, and a column, adds to all of its entries.
    own: Vec<f32>,
    smooth: Option<Smoothness<'a>>,
}

impl Gradient<'_> {
    /// A row of `momentum ← 0.9 momentum + gradient`, but for the entries of the given graph.
    fn add_to(&self, row: usize, momentum: &mut [f32], entries: &[f32], network: &[f32]) {
        let (size, closeness, of_row) = (momentum.len(), self.closeness, self.own[row]);
        let (entries, network, own) = (&entries[..size], &network[..size], &self.own[..size]);
        vectorised(
            #[inline(always)]
            move || {
                for col in 0..size {
                    let gradient = closeness.mul_add(entries[col], network[col]) + of_row + own[col];
                    momentum[col] = MOMENTUM.mul_add(momentum[col], gradient);
                }
                if let Some(smooth) = &self.smooth {
                    smooth.add_to(row, momentum);
                }
            },
        );
    }
}

impl Measured {
    /// From the row sums and squared distances of chunks of rows.
    fn of(parts: Vec<Vec<(f32, f64)>>) -> Self {
        let square: f64 = parts.iter().map(|part| part.iter().map(|(_, square)| square).sum::<f64>()).sum();
        Measured {
            degrees: parts.into_iter().flatten().map(|(sum, _)| sum).collect(),
            distance: square.sqrt() as f32,
        }
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
            let weighted = vectorised(
                #[inline(always)]
                || weighted_dot(entries.row(row), products.row(row), &scale),
            );
            let inverse = scale[row] * scale[row];
            EPSILON * products.get(row, row) * inverse * inverse + inverse * scale[row] * weighted
        };
        let parts = map_chunks(size, size, |rows| rows.map(slope).collect::<Vec<f32>>());
        let own = parts.into_iter().flatten().map(|slope| 0.5 * weight * slope).collect();
        Smoothness { products, weight, scale, own }
    }

    /// Adds `-λ q_i q_j K_ij` to row `i`.
    #[inline(always)]
    fn add_to(&self, row: usize, momentum: &mut [f32]) {
        let factor = -self.weight * self.scale[row];
        for ((momentum, product), scale) in momentum.iter_mut().zip(self.products.row(row)).zip(&self.scale) {
            *momentum += factor * scale * product;
        }
    }
}

/// `Σ_j a_j b_j c_j`, in sixteen fixed lanes.
#[inline(always)]
fn weighted_dot(a: &[f32], b: &[f32], c: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest), (c, c_rest)) =
        (a.as_chunks::<16>(), b.as_chunks::<16>(), c.as_chunks::<16>());
    let mut lanes = [0f32; 16];
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for lane in 0..16 {
            lanes[lane] = (a[lane] * b[lane]).mul_add(c[lane], lanes[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).zip(c_rest).map(|((a, b), c)| a * b * c);
    lanes.iter().sum::<f32>() + rest.sum::<f32>()
}

/// Row sums `d`.
pub(super) fn row_sums(entries: &Mat) -> Vec<f32> {
    reduce_rows(entries, simd::sum).as_slice().to_vec()
}

/// The sum of a row of `S`, and the square of its distance from the row of the given graph.
fn measure_row(entries: &mut [f32], given: impl Iterator<Item = (u32, f32)>) -> (f32, f64) {
    let sum = vectorised(
        #[inline(always)]
        || simd::sum(entries),
    );
    // Subtracted for a moment: squares of both, subtracted from each other, would leave no digits where S is near A.
    let before: Vec<(usize, f32)> = given
        .map(|(col, weight)| {
            let entry = &mut entries[col as usize];
            (col as usize, std::mem::replace(entry, *entry - weight))
        })
        .collect();
    let square = vectorised(
        #[inline(always)]
        || simd::dot(entries, entries),
    );
    before.into_iter().for_each(|(col, entry)| entries[col] = entry);
    (sum, f64::from(square))
}

/// Replaces every entry by a function of it.
fn settle(entries: &mut Mat, given: &SparseMat, f: impl Fn(f32) -> f32 + Sync + Copy) -> Measured {
    let size = entries.cols();
    let parts = map_rows(entries.as_mut_slice(), size, TOGETHER, |first, part| {
        let rows = part.chunks_exact_mut(size).enumerate();
        let measure = |(offset, entries): (usize, &mut [f32])| {
            vectorised(
                #[inline(always)]
                || entries.iter_mut().for_each(|entry| *entry = f(*entry)),
            );
            measure_row(entries, given.row(first + offset))
        };
        rows.map(measure).collect()
    });
    Measured::of(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let nothing = Mat::zeros(SIZE, SIZE);
        let mut graph = LearnedGraph::resumed(&given(), entries.clone(), nothing, Shrinker::default());
        let gradient = graph.gradient(&through, Some(&products), weight);
        graph.follow(&given(), &gradient, |entry, _| entry);
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
