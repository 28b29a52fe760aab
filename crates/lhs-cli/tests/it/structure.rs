//! `lhs structure` through the binary, on a small made-up graph.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn lhs(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lhs"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn json(folder: &Path, line: &str) -> Value {
    let output = lhs(folder, &format!("{line} --json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(folder: &Path, line: &str) -> String {
    let output = lhs(folder, line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_learned_structure_can_be_looked_at_and_taken_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    json(here, "data synth --out toy.npz --nodes 150 --num-splits 2");
    let quick =
        "--set training.epochs=5 --set structure.refiner.epochs=2 --set structure.rounds_must_pay=false";
    let trained = json(here, &format!("train toy.npz --out run {quick}"));
    assert_eq!(trained["model"], "lhs", "the default model");
    assert!(trained["per_split"][0]["remarks"][0].as_str().unwrap().starts_with("views: "));

    let seen = json(
        here,
        "structure run --split 1 --node 7 --export a.gexf --export a.graphml --export a.csv --export a.npz",
    );
    let names: Vec<&str> =
        seen["graphs"].as_array().unwrap().iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["given", "round 0", "round 1", "round 2"]);
    let latent = &seen["graphs"][3];
    assert!(latent["edges"].as_u64().unwrap() > 0 && latent["homophily_test"].is_number());
    assert_eq!(seen["node"]["id"], "7");
    for file in ["a.gexf", "a.graphml", "a.csv", "a.nodes.csv", "a.npz"] {
        assert!(here.join(file).exists(), "{file}");
    }
    let inspected = json(here, "data inspect a.npz");
    assert_eq!(inspected["nodes"], 150, "{inspected}");
    let text = String::from_utf8(lhs(here, "structure run --node 7").stdout).unwrap();
    assert!(text.contains("node 7: class") && text.contains("latent:"), "{text}");

    assert!(error(here, "structure run --export a.gexf").contains("--force"));
    assert!(error(here, "structure run --export a.txt").contains("gexf"));
    assert!(error(here, "structure run --node nobody").contains("no node `nobody`"));
    assert!(error(here, "structure run --round 9").contains("choose 0 to 2"));
    json(here, "train toy.npz --model mlp --out other --set training.epochs=2");
    assert!(error(here, "structure other").contains("--model lhs"));
}
