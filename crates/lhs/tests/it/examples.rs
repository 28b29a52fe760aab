//! The examples, which assert what they print. `cargo test` builds them beside this program.

use std::path::PathBuf;
use std::process::Command;

fn run(name: &str) {
    let this = std::env::current_exe().unwrap();
    let folder: PathBuf = this.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is not built: `cargo test` without --test builds it", program.display());
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    assert!(!output.stdout.is_empty(), "{name} prints what it found");
}

#[test]
fn ranked_list() {
    run("ranked_list");
}

#[test]
fn attack_and_compare() {
    run("attack_and_compare");
}

#[test]
fn own_network() {
    run("own_network");
}

#[test]
fn clustering() {
    run("clustering");
}

#[test]
fn own_model() {
    run("own_model");
}

#[test]
#[cfg(feature = "report")]
fn suite_and_report() {
    run("suite_and_report");
}
