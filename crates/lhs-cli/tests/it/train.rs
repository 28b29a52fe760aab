//! Training, predicting, evaluating and tuning through the binary, on a small graph.

use crate::toy;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lhs::graph::{Dataset, DatasetParts, Features, Split};
use lhs::io::npz;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with the toy data as `toy.npz`, to run commands in.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench { folder };
        bench.save(&toy::dataset(), "toy.npz");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn save(&self, dataset: &Dataset, name: &str) {
        npz::write(dataset, &self.path(name), npz::FeatureLayout::AsStored).unwrap();
    }

    fn lhs(&self, args: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lhs"));
        command.current_dir(self.folder.path()).args(args.split(' ')).output().unwrap()
    }

    fn text(&self, args: &str) -> String {
        let output = self.lhs(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.text(&format!("{args} --json"))).unwrap()
    }

    fn fails(&self, args: &str) -> String {
        let output = self.lhs(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {said}");
        said
    }
}

const FAST: &str = "--model mlp --set training.epochs=15 --set hidden=8";

#[test]
fn scripts_get_the_promised_document() {
    let bench = Bench::new();
    let document = bench.json(&format!("train toy.npz --split all {FAST}"));
    let keys: Vec<&String> = document.as_object().unwrap().keys().take(9).collect();
    let promised = "dataset model splits test_accuracy_mean test_accuracy_std val_accuracy_mean seconds \
                    peak_memory_bytes per_split";
    assert_eq!(keys, promised.split(' ').collect::<Vec<_>>());
    assert_eq!((&document["dataset"], &document["splits"]), (&"toy".into(), &10.into()));
    assert_eq!(document["per_split"].as_array().unwrap().len(), 10);
    assert!(document["test_accuracy_mean"].as_f64().unwrap() > 50.0);
    assert_eq!(document["settings"]["hidden"], 8);
}

#[test]
fn a_run_is_saved_evaluated_and_predicts() {
    let bench = Bench::new();
    let text = bench.text(&format!("train toy.npz {FAST}"));
    assert!(text.contains(" mean ") && text.contains("saved in runs/toy-mlp\n"), "{text}");
    assert!(bench.text(&format!("train toy.npz --split 0 {FAST}")).contains("saved in runs/toy-mlp-2\n"));

    let trained = bench.json("evaluate runs/toy-mlp");
    let cells = fs::read_to_string(bench.path("runs/toy-mlp/cells.jsonl")).unwrap();
    let cells: Vec<Value> = cells.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let fourth = cells.iter().find(|cell| cell["split"] == 4).unwrap();
    assert_eq!(trained["per_split"][4]["test_accuracy"], fourth["result"]["test_accuracy"]);
    assert!(bench.text("evaluate runs/toy-mlp --data toy.npz").contains("precision   recall"));

    let table = bench.text("predict runs/toy-mlp --data toy.npz --split 4");
    let saved = fs::read_to_string(bench.path("runs/toy-mlp/split-4/predictions.csv")).unwrap();
    let probabilities =
        |table: &str| table.lines().map(|line| line.split(',').skip(5).collect()).collect::<Vec<String>>();
    assert_eq!(probabilities(&table), probabilities(&saved));
    let summary = bench.json("predict runs/toy-mlp --data toy.npz --out p.csv");
    assert_eq!((summary["nodes"].as_u64(), bench.path("p.csv").is_file()), (Some(90), true));
}

/// The same data with its rows the other way round; with or without the names of the nodes.
fn reversed(dataset: &Dataset, ids: bool) -> Dataset {
    let last = dataset.num_nodes() as u32 - 1;
    let parts = dataset.clone().into_parts();
    let edges: Vec<(u32, u32)> = parts.graph.edges().map(|(a, b)| (last - a, last - b)).collect();
    let order: Vec<u32> = (0..=last).rev().collect();
    let turned = |part: &[u32]| {
        let mut nodes: Vec<u32> = part.iter().map(|node| last - node).collect();
        nodes.sort_unstable();
        nodes
    };
    let splits = parts.splits.iter();
    let splits =
        splits.map(|s| Split { train: turned(&s.train), val: turned(&s.val), test: turned(&s.test) });
    Dataset::new(DatasetParts {
        graph: lhs::graph::Graph::from_edges(dataset.num_nodes(), &edges).unwrap().0,
        features: parts.features.select(&order),
        labels: parts.labels.select(&order),
        node_ids: ids.then(|| order.iter().map(|&node| dataset.node_id(node as usize)).collect()),
        splits: splits.collect(),
        ..parts
    })
    .unwrap()
}

/// Prediction and part of each node, by its id.
fn by_id(table: &str) -> std::collections::BTreeMap<String, (String, String)> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let row = |row: csv::StringRecord| (row[0].to_string(), (row[2].to_string(), row[4].to_string()));
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[test]
fn nodes_are_matched_by_id_in_any_order() {
    let bench = Bench::new();
    bench.save(&reversed(&toy::dataset(), true), "turned.npz");
    let bare = DatasetParts { features: Features::none(90), ..toy::dataset().into_parts() };
    let bare = Dataset::new(bare).unwrap();
    bench.save(&bare, "bare.npz");
    bench.save(&reversed(&bare, true), "bare-turned.npz");
    for (model, data) in [("linkx", ""), ("glognn", ""), ("lhs", ""), ("gcn", ""), ("lhs", "bare")] {
        let (run, files) = (
            format!("run-{model}{data}"),
            if data.is_empty() { ["toy", "turned"] } else { ["bare", "bare-turned"] },
        );
        bench.text(&format!(
            "train {}.npz --split 0 --model {model} --set training.epochs=15 --out {run}",
            files[0]
        ));
        let [there, turned] =
            files.map(|file| by_id(&bench.text(&format!("predict {run} --data {file}.npz"))));
        assert_eq!(there, turned, "{run}: another order changes nothing");
        assert_eq!(
            there.values().filter(|(_, part)| part == "train").count(),
            45,
            "the column `part` is filled"
        );
        let [there, turned] = files.map(|file| bench.json(&format!("evaluate {run} --data {file}.npz")));
        // Sums over the nodes are taken in the order of the rows.
        let rounded = |document: &Value| {
            let split = document["per_split"][0].as_object().unwrap().clone();
            let figures = split.into_iter().filter_map(|(key, value)| Some((key, value.as_f64()?)));
            figures.map(|(key, value)| (key, (value * 1e6).round())).collect::<Vec<_>>()
        };
        assert_eq!(rounded(&there), rounded(&turned), "{run}");
    }
}

#[test]
fn nodes_without_ids_are_matched_by_position_only_if_that_is_right() {
    let bench = Bench::new();
    let nameless = Dataset::new(DatasetParts { node_ids: None, ..toy::dataset().into_parts() }).unwrap();
    bench.save(&nameless, "nameless.npz");
    bench.save(&reversed(&nameless, false), "turned.npz");
    for model in ["linkx", "lhs"] {
        bench.text(&format!(
            "train nameless.npz --split 0 --model {model} --set training.epochs=5 --out {model}"
        ));
        bench.text(&format!("predict {model} --data nameless.npz"));
        for command in ["predict", "evaluate"] {
            let said = bench.fails(&format!("{command} {model} --data turned.npz"));
            assert!(said.contains("nothing says that the nodes of turned are those"), "{said}");
        }
    }
    // Other data of the same size is not scored, whatever the model.
    bench.text("train nameless.npz --split 0 --model gcn --set training.epochs=5 --out gcn");
    bench.fails("evaluate gcn --data turned.npz");
    // It predicts on others, but says of nobody that he was learned from.
    let parts = |table: &str| by_id(table).values().filter(|(_, part)| !part.is_empty()).count();
    assert_eq!(parts(&bench.text("predict gcn --data turned.npz")), 0);
    assert!(parts(&bench.text("predict gcn --data nameless.npz")) > 45);
    // Ids on one side alone match nobody: the number of a row is nobody's id.
    bench.save(&toy::dataset(), "named.npz");
    assert_eq!(parts(&bench.text("predict gcn --data named.npz")), 0);
    bench.fails("predict lhs --data named.npz");
}

#[test]
fn predictions_go_where_they_are_sent() {
    let bench = Bench::new();
    bench.text(&format!("train toy.npz --split 0 --out run {FAST}"));
    let predict = "predict run --data toy.npz";
    let table = bench.text(predict);
    assert_eq!(bench.text(&format!("{predict} --out -")), table);
    bench.text(&format!("{predict} --out p.csv"));
    assert_eq!(fs::read_to_string(bench.path("p.csv")).unwrap(), table);
    assert!(bench.fails(&format!("{predict} --out p.csv")).contains("replace it with --force"));
    bench.text(&format!("{predict} --out p.csv --force"));
    bench.text(&format!("{predict} --out /dev/null"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(bench.path("p.csv"), bench.path("link.csv")).unwrap();
        fs::write(bench.path("p.csv"), "old").unwrap();
        bench.text(&format!("{predict} --out link.csv"));
        assert!(fs::symlink_metadata(bench.path("link.csv")).unwrap().is_symlink(), "the link stays one");
        assert_eq!(fs::read_to_string(bench.path("p.csv")).unwrap(), table);
    }
    let document = bench.json(predict);
    let rows = document["predictions"].as_array().unwrap();
    assert_eq!((rows.len(), rows[7]["node"].as_str()), (90, Some("node 7")));
    assert!(
        rows[7]["p_0"].is_f64()
            && document["training_accuracy"].is_f64()
            && document["other_accuracy"].is_f64()
    );
    assert!(bench.json(&format!("{predict} --out q.csv"))["predictions"].is_null());
}

#[test]
fn settings_of_a_run_make_the_same_run() {
    let bench = Bench::new();
    let first = bench.json(&format!("train toy.npz --split 0 {FAST}"));
    let again =
        bench.json("train toy.npz --split 0 --model mlp --no-save --config runs/toy-mlp/settings.toml");
    assert_eq!(
        (&first["settings"], &first["test_accuracy_mean"]),
        (&again["settings"], &again["test_accuracy_mean"])
    );
    assert_eq!(again["run"], Value::Null);
}

#[test]
fn changed_data_is_noticed() {
    let bench = Bench::new();
    bench.text(&format!("train toy.npz --split 0 {FAST}"));
    let edges: Vec<(u32, u32)> = (0..89).map(|n| (n, (n * 7 + 1) % 90)).collect();
    let graph = lhs::graph::Graph::from_edges(90, &edges).unwrap().0;
    bench.save(&toy::dataset().with_graph(graph).unwrap(), "toy.npz");
    assert!(bench.fails("evaluate runs/toy-mlp").contains("SHA-256 differs"));
    assert!(bench.fails(&format!("train toy.npz --split 0 --resume {FAST}")).contains("SHA-256 of the data"));
    bench.text("evaluate runs/toy-mlp --data toy.npz");
    bench.save(&toy::dataset().subset(&(0..60).collect::<Vec<_>>()).unwrap(), "less.npz");
    assert!(bench.fails("evaluate runs/toy-mlp --data less.npz").contains("does not have the 90 nodes"));
}

#[test]
fn data_without_splits_gets_random_ones() {
    let bench = Bench::new();
    bench.save(
        &Dataset::new(DatasetParts { splits: vec![], ..toy::dataset().into_parts() }).unwrap(),
        "bare.npz",
    );
    let output = bench.lhs(&format!("train bare.npz --no-save {FAST}"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("using --split random:0.6,0.2,0.2"));
    let document =
        bench.json(&format!("train bare.npz --no-save --split random:0.5,0.2,0.3 --num-splits 3 {FAST}"));
    assert_eq!(document["splits"], 3);
    assert!(bench.fails(&format!("train bare.npz --split all {FAST}")).contains("comes without splits"));
    assert!(bench.fails(&format!("train toy.npz --split 0 --num-splits 3 {FAST}")).contains("--num-splits"));
}

#[test]
fn wrong_settings_name_the_right_ones() {
    let bench = Bench::new();
    fs::write(bench.path("my.toml"), "[mlp]\ndropuot = 0.1\n").unwrap();
    let error = bench.fails("train toy.npz --model mlp --config my.toml");
    assert!(
        error.contains("my.toml: setting `dropuot`") && error.contains("did you mean `dropout`?"),
        "{error}"
    );
    assert!(bench.fails("train toy.npz --set hiden=3").contains("did you mean `hidden`?"));
    assert!(bench.fails("train toy.npz --set hidden=wide").contains("a whole number"));
    assert!(bench.fails("train toy.npz --set hidden=0").contains("out of range"));
    assert!(bench.fails("train toy.npz --config none.toml").contains("none.toml"));
    assert!(bench.fails("train toy.npz --split 77").contains("choose one of 0 to 9"));
    assert!(bench.fails("train none.npz").contains("no such dataset"));
}

#[test]
fn tuning_writes_settings_that_training_finds() {
    let bench = Bench::new();
    let tune = "tune toy.npz --model mlp --trials 4 --set training.epochs=15";
    let found = bench.json(tune);
    assert_eq!((found["trials"].as_u64(), found["out"].as_str()), (Some(4), Some("configs/toy.toml")));
    let config = fs::read_to_string(bench.path("configs/toy.toml")).unwrap();
    assert!(config.starts_with("# Found by: lhs tune toy.npz --model mlp --trials 4"), "{config}");
    let again = bench.json(tune);
    assert_eq!(again["settings"], found["settings"], "the study is finished: nothing is run again");
    let trained = bench.json("train toy.npz --model mlp --no-save");
    assert_eq!(trained["val_accuracy_mean"], found["val_accuracy_mean"]);
    let plain = bench.json("train toy.npz --model mlp --no-save --no-config --set training.epochs=2");
    assert_eq!(plain["settings"]["training"]["epochs"], 2);
}

#[test]
#[cfg(unix)]
fn an_interrupted_training_goes_on_to_the_same_bits() {
    let bench = Bench::new();
    // Long enough that the signal comes in the middle, however fast the machine.
    let settings =
        "--model mlp --split 0 --set training.epochs=30000 --set training.patience=30000 --set hidden=16";
    let mut child = Command::new(env!("CARGO_BIN_EXE_lhs"));
    child.current_dir(bench.folder.path()).args(format!("train toy.npz --out a {settings}").split(' '));
    let child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    while !bench.path("a/split-0").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("saved in a; the same command with --resume goes on"), "{said}");
    assert!(bench.path("a/split-0/checkpoint-classifier.safetensors").is_file());

    bench.text(&format!("train toy.npz --out a --resume {settings}"));
    bench.text(&format!("train toy.npz --out b --threads 1 {settings}"));
    for file in ["model.lhs", "curve.jsonl", "predictions.csv"] {
        let read = |run: &str| fs::read(bench.path(run).join("split-0").join(file)).unwrap();
        assert!(read("a") == read("b"), "{file} differs");
    }
    assert!(!Path::new(&bench.path("a/split-0/checkpoint-classifier.safetensors")).exists());
}
