//! The binary from outside: what it prints, how it fails, and with which exit code.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn lhs(args: &[&str]) -> Output {
    lhs_in(Path::new("."), args)
}

fn lhs_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lhs")).current_dir(folder).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a command that must fail with an exit code, and returns what it said.
fn fails(code: i32, args: &[&str]) -> String {
    let output = lhs(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(!said.contains("internal error"), "{args:?}: {said}");
    assert_eq!(stdout(&output), "", "{args:?}: nothing but results on stdout");
    said
}

#[test]
fn help_names_every_command() {
    let help = stdout(&lhs(&["--help"]));
    for command in
        ["data", "train", "predict", "evaluate", "attack", "audit", "tune", "models", "completions", "man"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{command} in\n{help}");
    }
    for command in ["train", "predict", "evaluate", "attack", "audit", "tune", "models"] {
        let help = stdout(&lhs(&[command, "--help"]));
        for flag in ["--seed", "--threads", "--quiet", "--json"] {
            assert!(help.contains(flag), "{flag} of {command}");
        }
    }
}

#[test]
fn wrong_usage_is_exit_code_two() {
    fails(2, &[]);
    fails(2, &["trane"]);
    fails(2, &["train"]);
    fails(2, &["tune", "x.npz"]);
    fails(2, &["train", "x.npz", "--resume", "--force"]);
    assert!(fails(2, &["train", "x.npz", "--split", "some"]).contains("random:0.6,0.2,0.2"));
    assert!(fails(2, &["train", "x.npz", "--split", "random:0.6,0.6,0.2"]).contains("random:0.6,0.2,0.2"));
}

#[test]
fn thread_counts_out_of_range_are_refused() {
    for threads in ["0", "1000000"] {
        assert!(fails(2, &["models", "--threads", threads]).contains("from 1 to 1024"));
    }
}

#[test]
fn an_unknown_model_is_named() {
    assert!(fails(2, &["models", "gnc"]).contains("there is no model `gnc`"));
    assert!(fails(2, &["train", "x.npz", "--model", "gnc"]).contains("there is no model `gnc`"));
    assert!(
        fails(2, &["tune", "x.npz", "--trials", "1", "--model", "gnc"]).contains("there is no model `gnc`")
    );
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for args in [&["evaluate", path][..], &["predict", path, "--data", "x.npz"]] {
        assert!(fails(2, args).contains("no results in it: no manifest.json"));
    }
    std::fs::write(folder.path().join("manifest.json"), r#"{"format": 99, "lhs_version": "9.9.9"}"#).unwrap();
    assert!(fails(2, &["evaluate", path]).contains("format 99, made by lhs 9.9.9"));
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&lhs(&["completions", shell])).contains("evaluate"), "{shell}");
    }
    assert!(stdout(&lhs(&["man"])).contains(".TH lhs 1"));
    let folder = tempfile::tempdir().unwrap();
    assert!(lhs_in(folder.path(), &["man", "--out", "pages"]).status.success());
    for page in ["lhs.1", "lhs-train.1", "lhs-tune.1"] {
        assert!(folder.path().join("pages").join(page).is_file(), "{page}");
    }
}

#[test]
fn json_is_one_document() {
    let document: serde_json::Value = serde_json::from_slice(&lhs(&["models", "--json"]).stdout).unwrap();
    assert!(document["models"].is_array());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lhs"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lhs"))
        .args(["completions", "bash"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write stdout: No space left"), "{}", stderr(&output));
}
