//! Times one GCN epoch (forward, backward, Adam; hidden 64, sparse input) on Cora and Squirrel, without and
//! with dropout, the same of GAT and GraphSAGE, all three on PubMed, too, and one full InfoNCE step over two 5,201 x 64 views.
//! Prints one JSON document.
//!
//! `LHS_DATA=FOLDER cargo bench --bench epochs -- --threads 1 [--only gcn_cora]`; `experiments/peers/compare.sh` runs it beside PyTorch
//! and PyTorch Geometric.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use lhs::autograd::{InfoNce, Order, Var, gradients};
use lhs::graph::Labelled;
use lhs::io::{LoadOptions, load};
use lhs::linalg::Mat;
use lhs::models::Model;
use lhs::models::gat::Gat;
use lhs::models::gcn::Gcn;
use lhs::models::graphsage::GraphSage;
use lhs::training::{EpochRecord, Observer, Session, Task, TrainingConfig};

fn main() -> lhs::Result<()> {
    let option = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1)
    };
    let threads = option("--threads").and_then(|number| number.parse().ok()).unwrap_or(1);
    let only = option("--only").unwrap_or_default();
    let Some(data) = std::env::var_os("LHS_DATA").map(PathBuf::from) else {
        eprintln!("set LHS_DATA to the folder with cora.npz and squirrel.npz");
        std::process::exit(2);
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    // Inside the pool, as experiments run: from outside, every parallel kernel would wait for a thread to wake up.
    pool.expect("a pool of threads").install(|| measure_all(&data, threads, &only))
}

fn measure_all(data: &Path, threads: usize, only: &str) -> lhs::Result<()> {
    let mut document = serde_json::Map::new();
    document.insert("what".into(), concat!("lhs ", env!("CARGO_PKG_VERSION")).into());
    document.insert("threads".into(), threads.into());
    let mut measure = |name: &str, work: &dyn Fn() -> lhs::Result<serde_json::Value>| {
        if name.starts_with(only) {
            document.insert(name.into(), work()?);
        }
        Ok::<(), lhs::Error>(())
    };
    let (cora, squirrel) = (data.join("cora.npz"), data.join("squirrel.npz"));
    let pubmed = data.join("pubmed.npz");
    measure("gcn_cora", &|| gcn_epoch(&cora, 300, 0.0))?;
    measure("gcn_cora_dropout", &|| gcn_epoch(&cora, 300, 0.5))?;
    measure("gcn_squirrel", &|| gcn_epoch(&squirrel, 100, 0.0))?;
    measure("gcn_squirrel_dropout", &|| gcn_epoch(&squirrel, 100, 0.5))?;
    for (dropout, said) in [(0.0, ""), (0.5, "_dropout")] {
        measure(&format!("gcn_pubmed{said}"), &|| gcn_epoch(&pubmed, 60, dropout))?;
        for (graph, file, epochs) in
            [("cora", &cora, 300), ("squirrel", &squirrel, 60), ("pubmed", &pubmed, 60)]
        {
            measure(&format!("gat_{graph}{said}"), &|| gat_epoch(file, epochs, dropout))?;
            measure(&format!("graphsage_{graph}{said}"), &|| graphsage_epoch(file, epochs, dropout))?;
        }
    }
    measure("info_nce", &|| Ok(info_nce(8)))?;
    println!("{}", serde_json::Value::Object(document));
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] * 1e3
}

fn gcn_epoch(file: &Path, epochs: usize, dropout: f32) -> lhs::Result<serde_json::Value> {
    epoch(file, epochs, |training| Gcn { training, dropout, ..Gcn::default() }, Gcn::default().training)
}

fn gat_epoch(file: &Path, epochs: usize, dropout: f32) -> lhs::Result<serde_json::Value> {
    epoch(file, epochs, |training| Gat { training, dropout, ..Gat::default() }, Gat::default().training)
}

fn graphsage_epoch(file: &Path, epochs: usize, dropout: f32) -> lhs::Result<serde_json::Value> {
    let usual = GraphSage::default().training;
    epoch(file, epochs, |training| GraphSage { training, dropout, ..GraphSage::default() }, usual)
}

fn epoch<M: Model>(
    file: &Path,
    epochs: usize,
    model: impl FnOnce(TrainingConfig) -> M,
    usual: TrainingConfig,
) -> lhs::Result<serde_json::Value> {
    let dataset = load(file, &LoadOptions::default())?;
    // Without validation nodes an epoch is forward, backward and Adam, and nothing else.
    let task = Task { val: Labelled::default(), ..Task::new(&dataset, &dataset.splits()[0])? };
    let config = model(TrainingConfig { epochs, patience: epochs, ..usual });
    let watch = Stamps::default();
    config.fit_with(&task, 0, &mut Session::watched_by(&watch))?;
    let (stamps, final_loss) = watch.0.into_inner().unwrap_or_default();
    let times = stamps.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    let milliseconds = median(times.skip(epochs / 5).collect());
    Ok(serde_json::json!({ "milliseconds": milliseconds, "final_loss": final_loss }))
}

/// When each epoch ended, and the loss of the last.
#[derive(Default)]
struct Stamps(Mutex<(Vec<Instant>, f32)>);

impl Observer for Stamps {
    fn epoch(&self, record: &EpochRecord) {
        if let Ok(mut seen) = self.0.lock() {
            seen.0.push(Instant::now());
            seen.1 = record.train_loss;
        }
    }
}

fn info_nce(repeats: usize) -> serde_json::Value {
    let view = |seed: u32| {
        Var::parameter(Mat::from_fn(5201, 64, |row, col| {
            let hash = ((row * 64 + col) as u32 + seed).wrapping_mul(2_654_435_761) >> 8;
            hash as f32 / (1 << 24) as f32 - 0.5
        }))
    };
    let (first, second) = (view(1), view(7));
    let mut times = Vec::new();
    let mut value = 0.0;
    for _ in 0..repeats {
        let start = Instant::now();
        let loss = InfoNce { temperature: 0.5 }.loss(&first, &second);
        gradients(&loss, &[&first, &second], Order::First);
        value = loss.scalar();
        times.push(start.elapsed().as_secs_f64());
    }
    serde_json::json!({ "milliseconds": median(times.split_off(2)), "loss": value })
}
