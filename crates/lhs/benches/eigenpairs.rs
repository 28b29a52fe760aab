//! Leading eigenpairs of the self-expression of made-up rows: our block Lanczos beside faer's two matrix-free solvers,
//! Krylov-Schur (`partial_eigen`) and Lanczos (`partial_self_adjoint_eigen`).
//!
//! `cargo bench -p lhs --bench eigenpairs [-- --nodes 2277] [--spectrum flat]`. All get the same operator (diagonal
//! plus rank d, in `f32`) and the same tolerance, 1e-4 of the largest eigenvalue. Times are milliseconds on 1 and on 2
//! threads, the least of three (of one above 10,000 nodes). `cols` are the columns that the operator was applied to,
//! `found` the pairs within the tolerance, `resid` the largest `‖Av − λv‖ / |λ₁|` of them, `differ` the largest
//! difference between one of our eigenvalues and the one in its place over `|λ₁|` (above 0: a larger one is missing
//! there), `bits` whether one and two threads agree in all of them.
//!
//! Every row is a process of its own, ended after a time: faer's solvers orthogonalise until every product is below the
//! rounding error that they expect, and have no limit. Their vectors are `f64` here; in `f32` Lanczos hangs as well.

use std::fmt;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::LinOp;
use faer::matrix_free::eigen::{
    partial_eigen, partial_eigen_scratch, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use faer::{MatMut, MatRef, Par};
use lhs::linalg::random::generator;
use lhs::linalg::{EigenOptions, Mat, SymmetricOperator, leading_eigenpairs};
use lhs::structure::SelfExpression;
use rand::RngExt;

const NODES: [usize; 3] = [2277, 5201, 19717];
const DIMS: [usize; 2] = [128, 256];
const RANKS: [usize; 3] = [41, 25, 17];
/// As `StructureConfig` has it.
const RIDGE: f32 = 0.7;

fn main() {
    let option = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1)
    };
    let flat = option("--spectrum").is_some_and(|spectrum| spectrum == "flat");
    if let Some(row) = option("--row") {
        let numbers: Vec<usize> = row.split(',').map(|number| number.parse().expect("a number")).collect();
        return row_of_table(numbers[0], numbers[1], numbers[2], flat);
    }
    let only = option("--nodes").and_then(|number| number.parse::<usize>().ok());
    println!("spectrum of the rows: {}", if flat { "flat" } else { "decaying" });
    println!("{:>6} {:>4} {:>3} {:>8}", "n", "d", "r", Solved::HEAD);
    for nodes in NODES.into_iter().filter(|&nodes| only.is_none_or(|only| only == nodes)) {
        let limit = Duration::from_secs(if nodes > 10_000 { 60 } else { 15 });
        for (dim, rank) in DIMS.into_iter().flat_map(|dim| RANKS.map(|rank| (dim, rank))) {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.args(["--row", &format!("{nodes},{dim},{rank}")]);
            command.args(["--spectrum", if flat { "flat" } else { "decaying" }]);
            let (mut child, start) = (command.spawn().expect("a process"), Instant::now());
            while child.try_wait().expect("a process").is_none() {
                if start.elapsed() > limit {
                    child.kill().and_then(|()| child.wait()).expect("an end");
                    println!(" no end within {} s", limit.as_secs());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn row_of_table(nodes: usize, dim: usize, rank: usize, flat: bool) {
    let expression = SelfExpression::new(&rows(nodes, dim, flat), RIDGE);
    let op = Counted { expression: &expression, columns: AtomicUsize::new(0) };
    let options = EigenOptions::default();
    let repeats = if nodes > 10_000 { 1 } else { 3 };
    let say = |name: &str, solve: &(dyn Fn() -> (Vec<f32>, Mat, usize) + Sync), ours: Option<&Solved>| {
        print!("{nodes:>6} {dim:>4} {rank:>3} {name:>8}");
        std::io::stdout().flush().expect("a terminal");
        let solved = Solved::of(&op, repeats, solve);
        solved.print(&op, ours);
        solved
    };
    let ours = || {
        let pairs = leading_eigenpairs(&op, rank, &options);
        let found = if pairs.converged { rank } else { 0 };
        (pairs.values, pairs.vectors, found)
    };
    let ours = say("ours", &ours, None);
    assert!(ours.same_bits, "our bits must not depend on the number of threads");
    let tolerance = options.tolerance * ours.values[0].abs();
    say("schur", &|| krylov_schur(&op, rank, tolerance), Some(&ours));
    say("lanczos", &|| lanczos(&op, rank, tolerance), Some(&ours));
}

/// Unit rows `[n, d]`; the share of a column in their length falls like `1 / (1 + column)`, or not at all.
fn rows(nodes: usize, dim: usize, flat: bool) -> Mat {
    let mut rng = generator(1, 0);
    let mut rows = Mat::from_fn(nodes, dim, |_, col| {
        let normal = (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
        if flat { normal } else { normal / (1.0 + col as f32).sqrt() }
    });
    for row in 0..nodes {
        let length = rows.row(row).iter().map(|value| value * value).sum::<f32>().sqrt();
        rows.row_mut(row).iter_mut().for_each(|value| *value /= length);
    }
    rows
}

/// What a solver returned, and the least time it took on one thread and on two.
struct Solved {
    values: Vec<f32>,
    vectors: Mat,
    found: usize,
    columns: usize,
    milliseconds: [f64; 2],
    same_bits: bool,
}

impl Solved {
    const HEAD: &str = "solver |      ms 1      ms 2   cols  found    resid   differ   bits";

    fn of(op: &Counted<'_>, repeats: usize, solve: &(dyn Fn() -> (Vec<f32>, Mat, usize) + Sync)) -> Self {
        let mut results = Vec::new();
        let mut milliseconds = [f64::INFINITY; 2];
        for (place, least) in milliseconds.iter_mut().enumerate() {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(place + 1).build().expect("threads");
            for _ in 0..repeats {
                op.columns.store(0, Ordering::Relaxed);
                let start = Instant::now();
                results.push(pool.install(solve));
                *least = least.min(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        let same_bits = results.windows(2).all(|pair| pair[0] == pair[1]);
        let (values, vectors, found) = results.swap_remove(0);
        let columns = op.columns.load(Ordering::Relaxed);
        Solved { values, vectors, found, columns, milliseconds, same_bits }
    }

    fn print(&self, op: &Counted<'_>, ours: Option<&Self>) {
        let reference = ours.unwrap_or(self);
        let largest = f64::from(reference.values[0].abs());
        let pairs = reference.values.iter().zip(&self.values[..self.found]);
        let differ = pairs.map(|(a, b)| f64::from(a.abs() - b.abs()) / largest);
        let differ = differ.fold(0.0, |most: f64, other| if other.abs() > most.abs() { other } else { most });
        let [one, two] = self.milliseconds;
        let (columns, found, count) = (self.columns, self.found, self.values.len());
        let (residual, bits) = (self.residual(op) / largest, if self.same_bits { "same" } else { "differ" });
        println!(
            " | {one:>9.1} {two:>9.1} {columns:>6} {:>6} {residual:>8.1e} {differ:>+8.1e} {bits:>6}",
            format!("{found}/{count}")
        );
    }

    fn residual(&self, op: &Counted<'_>) -> f64 {
        let image = op.expression.apply(&self.vectors);
        let part = |row, col| {
            f64::from(image.get(row, col))
                - f64::from(self.values[col]) * f64::from(self.vectors.get(row, col))
        };
        let norm = |col| (0..image.rows()).map(|row| part(row, col).powi(2)).sum::<f64>().sqrt();
        (0..self.found).map(norm).fold(0.0, f64::max)
    }
}

fn start(n: usize) -> faer::Col<f64> {
    let mut rng = generator(0, 0);
    faer::Col::from_fn(n, |_| rng.random::<f64>() - 0.5)
}

fn krylov_schur(op: &Counted<'_>, rank: usize, tolerance: f32) -> (Vec<f32>, Mat, usize) {
    let (n, par) = (op.dim(), Par::Seq);
    let mut memory = MemBuffer::new(partial_eigen_scratch::<f64>(op, rank, par, Default::default()));
    let stack = MemStack::new(&mut memory);
    let mut values = vec![faer::c64::new(0.0, 0.0); rank];
    let mut vectors = faer::Mat::<faer::c64>::zeros(n, rank);
    let (start, tolerance) = (start(n), tolerance.into());
    let params = Default::default();
    let info =
        partial_eigen(vectors.as_mut(), &mut values, op, start.as_ref(), tolerance, par, stack, params);
    let values = values.into_iter().map(|value| value.re as f32).collect();
    (values, Mat::from_fn(n, rank, |row, col| vectors[(row, col)].re as f32), info.n_converged_eigen)
}

fn lanczos(op: &Counted<'_>, rank: usize, tolerance: f32) -> (Vec<f32>, Mat, usize) {
    let (n, par) = (op.dim(), Par::Seq);
    let mut memory =
        MemBuffer::new(partial_self_adjoint_eigen_scratch::<f64>(op, rank, par, Default::default()));
    let stack = MemStack::new(&mut memory);
    let (mut values, mut vectors) = (vec![0.0f64; rank], faer::Mat::<f64>::zeros(n, rank));
    let (start, tolerance) = (start(n), tolerance.into());
    let params = Default::default();
    let info = partial_self_adjoint_eigen(
        vectors.as_mut(),
        &mut values,
        op,
        start.as_ref(),
        tolerance,
        par,
        stack,
        params,
    );
    let values = values.into_iter().map(|value| value as f32).collect();
    (values, Mat::from_fn(n, rank, |row, col| vectors[(row, col)] as f32), info.n_converged_eigen)
}

/// The operator, counting the columns that it is applied to.
struct Counted<'a> {
    expression: &'a SelfExpression,
    columns: AtomicUsize,
}

impl SymmetricOperator for Counted<'_> {
    fn dim(&self) -> usize {
        self.expression.dim()
    }

    fn apply(&self, block: &Mat) -> Mat {
        self.columns.fetch_add(block.cols(), Ordering::Relaxed);
        self.expression.apply(block)
    }
}

impl fmt::Debug for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

impl LinOp<f64> for Counted<'_> {
    fn apply_scratch(&self, _cols: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.dim()
    }

    fn ncols(&self) -> usize {
        self.dim()
    }

    fn apply(&self, mut out: MatMut<'_, f64>, block: MatRef<'_, f64>, _par: Par, _stack: &mut MemStack) {
        let block = Mat::from_fn(block.nrows(), block.ncols(), |row, col| block[(row, col)] as f32);
        let image = SymmetricOperator::apply(self, &block);
        for col in 0..image.cols() {
            for row in 0..image.rows() {
                out[(row, col)] = image.get(row, col).into();
            }
        }
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, block: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        LinOp::apply(self, out, block, par, stack);
    }
}
