//! Golden bits of `lhs train`: published settings, the binary and everything in between, on two real graphs.

use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::Digest;

use crate::golden_file::{Hash, hold};

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
