//! `lhs certify` through the binary, and where its certificate is shown.

use std::fs;

use lhs::graph::DatasetParts;

use super::workbench::Workbench;

const QUICK: &str = "--model gcn --set training.epochs=20";

fn bench() -> Workbench {
    let bench = Workbench::after(&["data synth --out plain.npz --nodes 80 --num-splits 2"]);
    let parts = bench.load("plain.npz").into_parts();
    let ids: Vec<String> = (0..80).map(|node| format!("account-{node}")).collect();
    bench.save(DatasetParts { node_ids: Some(ids), ..parts }, "toy.npz");
    bench
}

#[test]
fn scripts_read_the_curve_and_every_node() {
    let bench = bench();
    let told = bench.json(&format!("certify toy.npz --split 0 --buckets 5 {QUICK}"));
    let curve: Vec<f64> =
        told["certified_accuracy"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!((curve.len(), &told["buckets"], &told["poisoning"]), (3, &5.into(), &false.into()));
    assert_eq!(told["vote_accuracy"].as_f64(), Some(curve[0]));
    assert!(
        curve.is_sorted_by(|a, b| a >= b) && told["mlp_accuracy"].is_number() && told["seconds"].is_number()
    );
    let nodes = told["per_node"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[3]["node"]), (80, &"account-3".into()));
    assert!(nodes.iter().all(|node| node["radius"].as_u64().unwrap() <= 2));
    assert_eq!(told, {
        let mut again = bench.json(&format!("certify toy.npz --split 0 --buckets 5 {QUICK} --threads 1"));
        for key in ["seconds", "per_split"] {
            again[key] = told[key].clone();
        }
        again
    });
    assert_eq!(bench.files().len(), 2, "nothing is written without --out");

    let told = bench.json(&format!("certify toy.npz --buckets 3 --poisoning {QUICK}"));
    assert_eq!(told["per_split"].as_array().unwrap().len(), 2);
    assert!(told["per_node"].is_null() && told["per_split"][1]["per_node"].is_array());
    assert!(
        bench
            .text(&format!("certify toy.npz --split 1 --buckets 3 --node account-4 {QUICK}"))
            .contains("node account-4: class")
    );
}

#[test]
fn a_run_is_certified_and_shows_it() {
    let bench = bench();
    bench.text(&format!("train toy.npz --split 0-1 --out run {QUICK}"));
    assert!(!bench.text("explain run --node account-7").contains("certified"));
    let told = bench.json("certify run --buckets 5");
    assert_eq!((&told["model"], told["per_split"].as_array().unwrap().len()), (&"gcn".into(), 2));
    assert!(bench.fails("certify run --buckets 5").contains("--force"));
    bench.text("certify run --buckets 5 --split 0 --force");
    let table = fs::read_to_string(bench.path("run/certificate/split-0/predictions.csv")).unwrap();
    assert!(table.lines().next().unwrap().ends_with(",radius"), "{table}");

    let node = bench.json("explain run --node account-7 --split 0")["certified"].clone();
    let line = table.lines().find(|line| line.starts_with("account-7,")).unwrap();
    assert_eq!(node["nodes"][0]["radius"].to_string(), line.rsplit(',').next().unwrap());
    assert!(
        bench.text("explain run --node account-7 --split 0").contains(": the vote of 5 buckets says class")
    );
    let said = bench.fails("explain run --node account-7 --certificate toy.npz");
    assert!(said.contains("no certificate"), "{said}");

    bench.text("report run run/certificate --split 0 --out page.html");
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.matches("What no attacker can change").count() == 2 && page.contains("at every radius"));
    assert!(bench.text("report run/certificate --format csv").contains("mlp,2,"));
}

#[test]
fn what_cannot_be_certified_says_why() {
    let bench = bench();
    let refused = |args: &str, words: &str| {
        let said = bench.fails(&format!("certify {args}"));
        assert!(said.contains(words), "{args}: {said}");
    };
    refused("toy.npz --buckets 1", "cannot vote");
    refused("toy.npz --buckets 100000", "more than the");
    refused("toy.npz --model pro-gnn", "cannot learn from bucket graphs");
    refused("toy.npz --model nothing", "there is no model");
    refused("toy.npz --node account-99", "no node `account-99`");
    refused(&format!("toy.npz --on plain.npz {QUICK}"), "another id");
    refused("nowhere.npz", "nowhere.npz");
    bench.text(&format!("train toy.npz --split 0 --out run {QUICK}"));
    refused("run --split 1", "split 1 of the run is not finished");
    refused("run --model mlp", "a run brings its model");
    let parts = bench.load("toy.npz").into_parts();
    let ids = (0..80).map(|node| format!("site-{node}")).collect();
    bench.save(DatasetParts { node_ids: Some(ids), ..parts }, "toy.npz");
    refused("run", "not what it was when the run was trained");
}
