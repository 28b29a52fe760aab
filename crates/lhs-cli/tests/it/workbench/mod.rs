//! The binary at work in a folder of its own.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use lhs::graph::{Dataset, DatasetParts};
use lhs::io::{LoadOptions, load, npz};
use serde_json::Value;
use tempfile::TempDir;

/// A folder to run commands in.
pub struct Workbench {
    folder: TempDir,
}

impl Workbench {
    /// Runs some commands first, in an empty folder.
    pub fn after(commands: &[&str]) -> Self {
        let bench = Workbench { folder: tempfile::tempdir().unwrap() };
        commands.iter().for_each(|command| drop(bench.text(command)));
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn load(&self, name: &str) -> Dataset {
        load(self.path(name), &LoadOptions::default()).unwrap()
    }

    pub fn save(&self, parts: DatasetParts, name: &str) {
        npz::write(&Dataset::new(parts).unwrap(), &self.path(name), npz::FeatureLayout::AsStored).unwrap();
    }

    pub fn files(&self) -> BTreeSet<PathBuf> {
        fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    pub fn lhs(&self, args: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lhs"));
        command.current_dir(self.folder.path()).args(args.split_whitespace()).output().unwrap()
    }

    pub fn text(&self, args: &str) -> String {
        let output = self.lhs(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.text(&format!("{args} --json"))).unwrap()
    }

    /// What a command that must fail says; it must not leave anything behind.
    pub fn fails(&self, args: &str) -> String {
        let before = self.files();
        let output = self.lhs(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        assert_eq!((self.files(), output.stdout.len()), (before, 0), "{args}: something was written");
        said
    }
}
