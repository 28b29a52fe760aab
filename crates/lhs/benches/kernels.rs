//! How near the kernels come to what the machine can do: CSR times dense on a graph of a million nodes and ten million
//! edges beside the memory bandwidth that a plain loop reaches, and dense products in GFLOP/s. Prints one JSON document.
//!
//! `cargo bench -p lhs --bench kernels [-- --threads 2] [--nodes 1000000] [--degree 20]`; `experiments/peers/kernels.sh` runs
//! PyTorch beside it and prints the shares.
//!
//! Traffic of `S X` with 64 columns, in two ways:
//! - `gathered`: bounds, indices and values once, every row of `X` once for each entry that reads it, the result written once. That
//!   is what is asked of caches and memory together; where neighbours are anywhere, nearly all of it comes from memory.
//! - `compulsory`: the same, but every row of `X` once. No order of work can move less.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use lhs::linalg::random::derive;
use lhs::linalg::{LinearMap, Mat, Pattern, matmul, matmul_tn, spmm};
use rayon::prelude::*;

/// Columns of the dense side of the sparse product.
const COLUMNS: usize = 64;
/// Shape of the dense products: `[n,128] x [128,64]` and `[n,128]ᵀ x [n,64]`.
const WIDE: usize = 128;
/// Rows `n` of the dense products.
const ROWS: [usize; 3] = [10_000, 100_000, 1_000_000];
/// Numbers in each array of the plain loops: far more than caches hold.
const STREAM: usize = 1 << 27;
/// Every piece of work is timed so often, and the best counts.
const REPEATS: usize = 7;

fn main() {
    let option = |name: &str, default: usize| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1).and_then(|number| number.parse().ok()).unwrap_or(default)
    };
    let (threads, nodes, degree) =
        (option("--threads", 2), option("--nodes", 1_000_000), option("--degree", 20));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
    let document = pool.install(|| {
        serde_json::json!({
            "what": concat!("lhs ", env!("CARGO_PKG_VERSION")),
            "threads": threads,
            "bandwidth": bandwidth(),
            "spmm": sparse_product(nodes, degree),
            "gemm": ROWS.map(dense_products).to_vec(),
        })
    });
    println!("{document}");
}

/// The least seconds of some work.
fn seconds<R>(mut work: impl FnMut() -> R) -> f64 {
    let time = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(time).fold(f64::INFINITY, f64::min)
}

/// GB/s of plain loops over all threads. Each byte that a loop names counts once, read or written.
fn bandwidth() -> serde_json::Value {
    /// Numbers that a thread walks at a time.
    const PIECE: usize = 1 << 20;
    let (a, mut b) = (vec![1f32; STREAM], vec![2f32; STREAM]);
    let bytes = (4 * STREAM) as f64;
    let sum = |piece: &[f32]| {
        // Thirty-two lanes: as many additions are under way at once as the loads can feed.
        let mut lanes = [0f32; 32];
        for group in piece.as_chunks::<32>().0 {
            lanes.iter_mut().zip(group).for_each(|(lane, value)| *lane += value);
        }
        lanes.iter().sum::<f32>()
    };
    let read = seconds(|| a.par_chunks(PIECE).map(sum).sum::<f32>());
    let copy =
        seconds(|| b.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).for_each(|(b, a)| b.copy_from_slice(a)));
    serde_json::json!({ "read": bytes / read / 1e9, "copy": 2.0 * bytes / copy / 1e9 })
}

/// `S X` where every node has neighbours anywhere.
fn sparse_product(nodes: usize, degree: usize) -> serde_json::Value {
    let mut indices = vec![0u32; nodes * degree];
    indices.par_chunks_mut(degree).enumerate().for_each(|(node, row)| {
        for (place, col) in row.iter_mut().enumerate() {
            *col = (derive(node as u64, &[place as u64]) % nodes as u64) as u32;
        }
        row.sort_unstable();
    });
    let indptr: Vec<usize> = (0..=nodes).map(|node| node * degree).collect();
    let pattern = Arc::new(Pattern::new(nodes, nodes, indptr, indices));
    let values = vec![1.0 / degree as f32; nodes * degree];
    let x = Mat::from_fn(nodes, COLUMNS, |row, col| ((row * 7 + col * 3) % 11) as f32 - 5.0);
    let seconds = seconds(|| spmm(&pattern, &values, &x));
    let (dense, entries) = ((4 * nodes * COLUMNS) as f64, (nodes * degree) as f64);
    let stored = 8.0 * (nodes + 1) as f64 + 8.0 * entries;
    let (gathered, compulsory) = (stored + entries * (4 * COLUMNS) as f64 + dense, stored + 2.0 * dense);
    serde_json::json!({
        "nodes": nodes,
        "edges": nodes * degree / 2,
        "milliseconds": 1e3 * seconds,
        "gathered": gathered / seconds / 1e9,
        "compulsory": compulsory / seconds / 1e9,
        "gflops": 2.0 * entries * COLUMNS as f64 / seconds / 1e9,
    })
}

/// GFLOP/s of dense products over `rows` rows.
fn dense_products(rows: usize) -> serde_json::Value {
    let sample = |rows: usize, cols: usize| {
        Mat::from_fn(rows, cols, |row, col| {
            (derive(0, &[(row * cols + col) as u64]) >> 40) as f32 / (1 << 24) as f32 - 0.5
        })
    };
    let (a, b, c) = (sample(rows, WIDE), sample(WIDE, COLUMNS), sample(rows, COLUMNS));
    let gflops = |seconds: f64| 2.0 * (rows * WIDE * COLUMNS) as f64 / seconds / 1e9;
    serde_json::json!({
        "rows": rows,
        "matmul": gflops(seconds(|| matmul(&a, &b))),
        "matmul_tn": gflops(seconds(|| matmul_tn(&a, &c))),
        "transposed_times": gflops(seconds(|| a.apply_transposed(&c))),
    })
}
