//! Golden bits: what every model, every attack and the structure compute on made-up graphs, and `lhs train` on two real
//! ones, as hashes. A refactoring leaves `crates/lhs/tests/golden/` alone; a commit that changes results records it anew and says why:
//!
//! ```text
//! LHS_RECORD_GOLDEN=1 cargo test golden
//! ```
//!
//! Bits are the same on any number of threads, but not on any processor: instruction sets round differently, so there
//! is one file for each. What has no record for a machine's kind yet is not compared, and the test says so: whoever changes results on
//! one kind of machine takes their old records out of the other files.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lhs::graph::Graph;
use lhs::linalg::Mat;
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lhs/tests/golden").join(format!("{}.txt", processor()))
}

fn read(file: &Path) -> Option<BTreeMap<String, String>> {
    let text = fs::read_to_string(file).ok()?;
    let pair = |line: &str| line.split_once(' ').map(|(name, hash)| (name.to_string(), hash.to_string()));
    Some(text.lines().filter_map(pair).collect())
}

/// Compares with what is recorded under these names, or records it.
pub fn hold(found: &[(String, String)]) {
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
    let (known, new): (Vec<_>, Vec<_>) = found.iter().partition(|(name, _)| recorded.contains_key(name));
    if !new.is_empty() {
        let names: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
        println!("not recorded on this kind of processor: {names:?}");
    }
    let changed = known.iter().filter(|(name, hash)| recorded[name] != *hash);
    let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
    assert!(changed.is_empty(), "other bits than in {}: {changed:?}", file.display());
}

/// A hash that grows.
#[derive(Default)]
pub struct Hash(pub Sha256);

impl Hash {
    pub fn numbers(mut self, mat: &Mat) -> Self {
        self.0.update((mat.rows() as u64).to_le_bytes());
        mat.as_slice().iter().for_each(|value| self.0.update(value.to_le_bytes()));
        self
    }

    pub fn graph(mut self, graph: &Graph) -> Self {
        for (from, to, weight) in graph.weighted_edges() {
            self.0.update([from.to_le_bytes(), to.to_le_bytes(), weight.to_le_bytes()].concat());
        }
        self
    }

    pub fn done(self) -> String {
        self.0.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }
}
