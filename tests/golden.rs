//! Golden bits: what every model, every attack and the structure compute on made-up graphs, and `lhs train` on two real
//! ones, as hashes. A refactoring leaves `tests/golden/` alone; a commit that changes results records it anew and says why:
//!
//! ```text
//! LHS_RECORD_GOLDEN=1 cargo test --test golden
//! ```
//!
//! Bits are the same on any number of threads, but not on any processor: instruction sets round differently, so there
//! is one file for each. On a machine whose kind has no file yet, nothing is compared, and the test says so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use lhs::attacks::{self, Scene};
use lhs::graph::synth::SynthConfig;
use lhs::graph::{Dataset, Graph};
use lhs::linalg::Mat;
use lhs::models::{self, ModelKind, Task};
use lhs::training::Session;
use sha2::{Digest, Sha256};

/// Recording reads and writes one file from several tests.
static FILE: Mutex<()> = Mutex::new(());

/// The kind of processor: what decides how sums are rounded.
fn processor() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl") {
            return "x86-64-v4";
        }
        if has!("avx2") && has!("fma") {
            return "x86-64-v3";
        }
    }
    std::env::consts::ARCH
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{}.txt", processor()))
}

fn read(file: &Path) -> Option<BTreeMap<String, String>> {
    let text = fs::read_to_string(file).ok()?;
    let pair = |line: &str| line.split_once(' ').map(|(name, hash)| (name.to_string(), hash.to_string()));
    Some(text.lines().filter_map(pair).collect())
}

/// Compares with what is recorded under these names, or records it.
fn hold(found: &[(String, String)]) {
    let _one_at_a_time = FILE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let file = file();
    let recorded = read(&file);
    if std::env::var_os("LHS_RECORD_GOLDEN").is_some() {
        let mut all = recorded.unwrap_or_default();
        all.extend(found.iter().cloned());
        let lines: String = all.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        return fs::write(&file, lines).unwrap();
    }
    let Some(recorded) = recorded else {
        return println!("{} is not there: nothing was compared on this kind of processor", file.display());
    };
    let changed: Vec<&str> = found
        .iter()
        .filter(|(name, hash)| recorded.get(name) != Some(hash))
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(changed.is_empty(), "other bits than in {}: {changed:?}", file.display());
}

#[derive(Default)]
struct Hash(Sha256);

impl Hash {
    fn numbers(mut self, mat: &Mat) -> Self {
        self.0.update((mat.rows() as u64).to_le_bytes());
        mat.as_slice().iter().for_each(|value| self.0.update(value.to_le_bytes()));
        self
    }

    fn graph(mut self, graph: &Graph) -> Self {
        for (from, to, weight) in graph.weighted_edges() {
            self.0.update([from.to_le_bytes(), to.to_le_bytes(), weight.to_le_bytes()].concat());
        }
        self
    }

    fn done(self) -> String {
        self.0.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Two graphs: one whose neighbours agree, and a larger one whose neighbours do not.
fn graphs() -> [(&'static str, Dataset); 2] {
    let alike = SynthConfig { nodes: 150, classes: 3, homophily: 0.8, features: 12, ..Default::default() };
    let unlike = SynthConfig { nodes: 240, classes: 4, homophily: 0.1, ..Default::default() };
    [("alike", alike.generate(11).unwrap()), ("unlike", unlike.generate(12).unwrap())]
}

fn quick(kind: &ModelKind) -> toml::Table {
    let mut settings = (kind.defaults)();
    settings["training"].as_table_mut().unwrap().insert("epochs".into(), 20.into());
    settings
}

#[test]
fn models() {
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        for kind in models::kinds() {
            let config = (kind.build)(&quick(kind)).unwrap();
            let model = config.fit(&task, 5, &mut Session::default()).unwrap();
            let probabilities = model.predict(dataset.graph(), dataset.features()).unwrap();
            found.push((
                format!("model/{}/{graph}", kind.name),
                Hash::default().numbers(&probabilities).done(),
            ));
        }
    }
    hold(&found);
}

#[test]
fn attacks() {
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let split = &dataset.splits()[0];
        let gcn = models::kind("gcn").unwrap();
        let config = (gcn.build)(&quick(gcn)).unwrap();
        let task = Task::new(&dataset, split).unwrap();
        let victim = config.fit(&task, 5, &mut Session::default()).unwrap();
        for kind in attacks::kinds() {
            let mut settings = (kind.defaults)();
            for (key, number) in
                [("steps", 3), ("last_steps", 2), ("count", 4), ("queries", 1), ("epochs", 5)]
            {
                if let Some(value) = settings.get_mut(key) {
                    *value = number.into();
                }
            }
            let attack = kind.at_rate(&settings, 0.2).unwrap();
            let scene = Scene { victim: Some(victim.as_ref()), ..Scene::new(&dataset, split) };
            let attacked = attack.perturb(&scene, 5).unwrap();
            let mut hash = Hash::default().graph(attacked.dataset.graph());
            attacked.split.test.iter().for_each(|node| hash.0.update(node.to_le_bytes()));
            for node in 0..dataset.num_nodes() {
                for (column, value) in attacked.dataset.features().row_nonzeros(node) {
                    hash.0.update([column.to_le_bytes(), value.to_le_bytes()].concat());
                }
            }
            found.push((format!("attack/{}/{graph}", kind.name), hash.done()));
        }
    }
    hold(&found);
}

#[test]
fn structure() {
    let kind = models::kind("lhs").unwrap();
    let mut settings = quick(kind);
    let refined = settings["structure"].as_table_mut().unwrap();
    refined.insert("rounds".into(), 2.into());
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let task = Task::new(&dataset, &dataset.splits()[1]).unwrap();
        let model = (kind.build)(&settings).unwrap().fit(&task, 6, &mut Session::default()).unwrap();
        let structure = model.structure(dataset.graph(), dataset.features()).unwrap().unwrap();
        let mut hash =
            Hash::default().numbers(&structure.inputs.profiles).numbers(&structure.inputs.features);
        for round in &structure.rounds {
            hash = hash.graph(round);
        }
        found.push((format!("structure/{graph}"), hash.done()));
    }
    hold(&found);
}

/// The published settings, the binary and everything in between.
#[test]
fn training_on_real_graphs() {
    let Some(data) = std::env::var_os("LHS_DATA") else { return println!("LHS_DATA is not set: skipped") };
    let mut found = Vec::new();
    for graph in ["texas", "chameleon"] {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_lhs"))
            .current_dir(folder.path())
            .arg("train")
            .arg(Path::new(&data).join(format!("{graph}.npz")))
            .args(["--split", "0", "--out", "run", "--quiet"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut hash = Hash::default();
        hash.0.update(fs::read(folder.path().join("run/split-0/predictions.csv")).unwrap());
        found.push((format!("train/{graph}"), hash.done()));
    }
    hold(&found);
}
