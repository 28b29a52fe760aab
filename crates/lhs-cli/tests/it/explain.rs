//! `lhs explain`, `lhs export-embeddings`, `lhs train --plan` through the binary.

use std::fs;

use lhs::graph::DatasetParts;
use lhs::linalg::Mat;
use serde_json::Value;

use super::workbench::Workbench;

const QUICK: &str = "--set training.epochs=8 --set structure.rounds=0";

/// A made-up graph whose nodes have ids, once as it is and once with its rows reversed.
fn bench() -> Workbench {
    let bench = Workbench::after(&["data synth --out plain.npz --nodes 80 --num-splits 1"]);
    let parts = bench.load("plain.npz").into_parts();
    let ids: Vec<String> = (0..80).map(|node| format!("account-{node}")).collect();
    let named = DatasetParts { node_ids: Some(ids), ..parts };
    bench.save(named.clone(), "toy.npz");
    let back: Vec<u32> = (0..80).rev().collect();
    let (graph, _) = lhs::graph::Graph::from_edges(
        80,
        &named.graph.edges().map(|(a, b)| (79 - a, 79 - b)).collect::<Vec<_>>(),
    )
    .unwrap();
    let reversed = DatasetParts {
        graph,
        features: named.features.select(&back),
        labels: named.labels.select(&back),
        node_ids: named.node_ids.as_ref().map(|ids| ids.iter().rev().cloned().collect()),
        splits: Vec::new(),
        ..named
    };
    bench.save(reversed, "reversed.npz");
    bench
}

fn close(a: &Value, b: &Value) -> bool {
    (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-4
}

#[test]
fn a_prediction_is_explained_by_id_in_any_order() {
    let bench = bench();
    bench.text(&format!("train toy.npz --out run {QUICK}"));
    let told = bench.json("explain run --node account-7 --node account-8 --top 3");
    let node = &told["nodes"][0];
    assert_eq!((&node["node"], &told["nodes"][1]["node"]), (&"account-7".into(), &"account-8".into()));
    let channels = node["channels"].as_array().unwrap();
    assert!(channels.iter().any(|channel| channel["name"] == "own features"), "{channels:?}");
    assert!(node["features"]["most"].as_array().unwrap().len() <= 3);
    assert!(node["edge_trust"].is_object() && node["latent_neighbours"].is_array());

    let again = bench.json("explain run --node account-7 --top 3 --data reversed.npz");
    let other = &again["nodes"][0];
    assert_eq!(node["prediction"], other["prediction"]);
    assert!(close(&node["probability"], &other["probability"]), "{node} {other}");
    let neighbours = |node: &Value| {
        let most = node["neighbours"]["most"].as_array().unwrap().clone();
        most.iter().map(|other| other["node"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(neighbours(node).first(), neighbours(other).first());

    let text = bench.text("explain run --node account-7");
    for words in ["node account-7: lhs says", "what its lead", "features that decide", "plausib"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let said = bench.fails("explain run --node acount-7");
    assert!(said.contains("did you mean `account-7`"), "{said}");
    let said = bench.fails("explain run --node zebra");
    assert!(said.contains("from account-0 to account-79"), "{said}");
    assert!(bench.fails("explain nothing --node 1").contains("nothing"));
    bench.text("data synth --out wide.npz --nodes 80 --features 9 --num-splits 1");
    assert!(bench.fails("explain run --node 1 --data wide.npz").contains("wide.npz"));
}

#[test]
fn models_without_channels_are_explained_by_predicting_again() {
    let bench = bench();
    bench.text("train toy.npz --model gcn --out run --set training.epochs=30");
    let told = bench.json("explain run --node account-3");
    let node = &told["nodes"][0];
    assert!(node["channels"].is_null() && node["all_features"].is_number() && node["all_edges"].is_number());
    assert!(bench.text("explain run --node account-3").contains("without its edges"));
}

#[test]
fn codes_are_written_with_their_ids() {
    let bench = bench();
    bench.text(&format!("train toy.npz --out run {QUICK}"));
    let told = bench.json("export-embeddings run --out e.npy");
    assert_eq!(told["nodes"], 80);
    let bytes = fs::read(bench.path("e.npy")).unwrap();
    let columns = told["columns"].as_u64().unwrap() as usize;
    let read = |bytes: &[u8]| {
        let values: Vec<f32> =
            lhs::io::npy::Reader::open(bytes, bytes.len() as u64).unwrap().into_vec().unwrap();
        Mat::from_slice(80, columns, &values)
    };
    let codes = read(&bytes);
    let ids = fs::read_to_string(bench.path("e.ids.csv")).unwrap();
    assert!(ids.starts_with("node,prediction,part\naccount-0,"), "{ids}");

    bench.text("export-embeddings run --out back.npy --data reversed.npz");
    let back = read(&fs::read(bench.path("back.npy")).unwrap());
    let ids = fs::read_to_string(bench.path("back.ids.csv")).unwrap();
    assert!(ids.lines().nth(1).unwrap().starts_with("account-79,"), "rows in the order of the data");
    let same = codes.row(79).iter().zip(back.row(0)).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(same, "{:?}\n{:?}", codes.row(79), back.row(0));

    bench.text("export-embeddings run --out e.csv");
    assert!(fs::read_to_string(bench.path("e.csv")).unwrap().starts_with("node,prediction,part,c0,"));
    assert!(bench.fails("export-embeddings run --out e.npy").contains("--force"));
    bench.text("export-embeddings run --out e.npy --force");
    bench.text("export-embeddings run --out e.parquet");
    assert!(fs::read(bench.path("e.parquet")).unwrap().starts_with(b"PAR1"));
    assert!(bench.fails("export-embeddings run --out e.xlsx").contains(".npy, .csv or .parquet"));

    bench.text("train toy.npz --model gcn --out gcn --set training.epochs=3");
    assert_eq!(bench.json("export-embeddings gcn --out g.npy")["what"], "class scores");
    bench.text("train toy.npz --model bm-gcn --out bm --set training.epochs=3");
    assert!(bench.fails("export-embeddings bm --out b.npy").contains("cannot show"));
}

#[test]
fn the_plan_is_told_and_what_cannot_fit_is_refused_with_a_remedy() {
    let bench = bench();
    let plan = bench.json("train toy.npz --plan");
    let parts = ["data", "structure", "parameters", "activations"].map(|part| plan[part].as_u64().unwrap());
    assert_eq!(parts.iter().sum::<u64>(), plan["total"].as_u64().unwrap());
    assert_eq!(plan["fits"], true);
    assert!(bench.text("train toy.npz --plan").contains("total"));
    assert!(!bench.path("runs").exists(), "a plan trains nothing");
    for model in ["lhs", "gcn", "mlp"] {
        for width in ["1000000000", "1000000000000000000"] {
            let said = bench.fails(&format!("train toy.npz --model {model} --set hidden={width}"));
            assert!(said.contains("`hidden`") && said.contains("or less would fit"), "{said}");
        }
    }
    let said = bench.fails("tune toy.npz --model gcn --set hidden=1000000000 --trials 1");
    assert!(said.contains("hidden"), "{said}");
}

#[test]
fn a_newcomer_reads_sentences_and_others_the_details() {
    let bench = bench();
    let plain = bench.text(&format!("train toy.npz --out run {QUICK}"));
    assert!(plain.contains("iven edges") && !plain.contains("cosine"), "{plain}");
    let verbose = bench.text(&format!("train toy.npz --out other {QUICK} --verbose"));
    assert!(verbose.contains("views: ") && verbose.contains("cosine"), "{verbose}");
    let split = &bench.json(&format!("train toy.npz --no-save {QUICK}"))["per_split"][0];
    assert!(split["summary"].is_array() && split["remarks"].is_array());
}
