//! Figures that fit the question, through the binary: a rare class among many accounts.

use std::fs;
use std::path::Path;

use lhs::graph::{Dataset, DatasetParts, Features, Graph, Labels, Repairs, Split};
use lhs::linalg::Mat;
use serde_json::Value;

use crate::workbench::Workbench;

const ACCOUNTS: usize = 240;
const FAST: &str = "--model mlp --set training.epochs=40 --set hidden=8 --set dropout=0.0";

/// One account in ten is fraud, told apart by its features more or less; every sixth has no label.
fn accounts() -> Dataset {
    let is_fraud = |n: usize| n % 10 == 3;
    let class = |n: usize| (n % 6 != 5).then_some(u32::from(is_fraud(n)));
    let noise = |n: usize, c: usize| (((n * 37 + c * 101) * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0;
    let names = vec!["ok".to_string(), "fraud".to_string()];
    let labels = Labels::new((0..ACCOUNTS).map(class).collect(), names).unwrap();
    let edges: Vec<(u32, u32)> = (1..ACCOUNTS as u32).map(|n| (n - 1, n)).collect();
    let splits = (0..2).map(|seed| Split::random(&labels, 0.4, 0.3, 0.3, seed).unwrap()).collect();
    Dataset::new(DatasetParts {
        name: "accounts".into(),
        graph: Graph::from_edges(ACCOUNTS, &edges).unwrap().0,
        repairs: Repairs::default(),
        features: Features::Dense(Mat::from_fn(ACCOUNTS, 3, |n, c| {
            noise(n, c) + if is_fraud(n) { 0.8 } else { 0.0 }
        })),
        labels,
        node_ids: Some((0..ACCOUNTS).map(|n| format!("account {n}")).collect()),
        splits,
        details: Default::default(),
    })
    .unwrap()
}

fn bench() -> Workbench {
    let bench = Workbench::after(&[]);
    bench.save(accounts().into_parts(), "accounts.npz");
    bench
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn scripts_get_every_figure() {
    let bench = bench();
    let document = bench.json(&format!("train accounts.npz --out run {FAST}"));
    for key in "test_roc_auc test_average_precision test_balanced_accuracy test_macro_f1 majority_accuracy"
        .split(' ')
    {
        let mean = number(&document[&format!("{key}_mean")]);
        let splits: Vec<f64> =
            document["per_split"].as_array().unwrap().iter().map(|row| number(&row[key])).collect();
        assert!((splits.iter().sum::<f64>() / 2.0 - mean).abs() < 1e-9, "{key}: {document}");
        assert!((0.0..=100.0).contains(&mean), "{key}");
    }
    assert_eq!(
        (document["metric"].as_str(), document["positive_class"].as_str()),
        (Some("roc_auc"), Some("fraud"))
    );
    assert!(number(&document["majority_accuracy_mean"]) > 85.0);
    assert_eq!(document["settings"]["training"]["monitor"], "accuracy", "early stopping is as it was");
    // What was found is found again.
    let again = bench.json("evaluate run");
    for key in
        ["test_roc_auc_mean", "test_average_precision_mean", "test_accuracy_mean", "majority_accuracy_mean"]
    {
        assert_eq!(again[key], document[key], "{key}");
    }
    assert_eq!(again["per_split"][1]["classes"], document["per_split"][1]["classes"]);
    let classes = document["per_split"][0]["classes"].as_array().unwrap();
    assert_eq!((classes.len(), classes[1]["class"].as_str()), (2, Some("fraud")));
    assert!(classes[1]["support"].as_u64() > Some(0) && classes[1]["recall"].is_f64());
    let attacked = bench.json("evaluate run --attack random --rate 0.5 --repeats 1");
    let at = &attacked["rates"][0];
    assert!(at["test_roc_auc_mean"].is_f64() && at["cells"][0]["test_average_precision"].is_f64(), "{at}");
    let predicted = bench.json("predict run --data accounts.npz --split 0");
    assert!(predicted["other_roc_auc"].is_f64() && predicted["other_average_precision"].is_f64());
}

#[test]
fn rankings_make_no_sense_of_one_class() {
    let bench = bench();
    // All test nodes of the split are ok.
    let labels = accounts().labels().clone();
    let of = |wanted: &dyn Fn(usize) -> bool| {
        (0..ACCOUNTS).filter(|&n| labels.get(n).is_some() && wanted(n)).map(|n| n as u32).collect::<Vec<_>>()
    };
    let split = Split {
        train: of(&|n| n % 3 == 0),
        val: of(&|n| n % 3 == 1),
        test: of(&|n| n % 3 == 2 && labels.get(n) == Some(0)),
    };
    bench.save(DatasetParts { splits: vec![split], ..accounts().into_parts() }, "one.npz");
    let document = bench.json(&format!("train one.npz --no-save {FAST}"));
    assert!(document["test_roc_auc_mean"].is_null() && document["test_average_precision_mean"].is_null());
    let row = document["per_split"][0].as_object().unwrap();
    assert!(row["test_roc_auc"].is_null() && row["test_average_precision"].is_null());
    assert!(
        document["test_accuracy_mean"].is_f64() && document["test_accuracy_std"].is_null(),
        "of one split"
    );
    let text = bench.text(&format!("train one.npz --no-save {FAST}"));
    assert!(!text.contains('±'), "{text}");
}

#[test]
fn people_see_what_counts_and_are_warned() {
    let bench = bench();
    // Nobody is sure enough.
    let output = bench.lhs(&format!("train accounts.npz --no-save {FAST} --threshold 1"));
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for wanted in
        ["ROC AUC", "average precision", "balanced accuracy", "macro F1", "most frequent class", "precision"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(said.contains("does not beat always naming the most frequent class"), "{said}");
    assert!(
        said.contains(
            "no node was predicted to be `fraud`: try --class-weights auto or --metric average_precision"
        ),
        "{said}"
    );
    assert!(text.contains("taken for `fraud` from this probability on: 1.000"), "{text}");
    let plain = bench.text(&format!("train accounts.npz --no-save {FAST}"));
    assert!(plain.contains("taken for `fraud` from this probability on: 0.5"), "{plain}");
}

#[test]
fn class_weights_find_the_rare_class() {
    let bench = bench();
    let recall = |weights: &str| {
        let document = bench.json(&format!("train accounts.npz --no-save {FAST} {weights}"));
        (number(&document["classes"][1]["recall"]), document["settings"]["training"]["class_weights"].clone())
    };
    let (plain, none) = recall("");
    let (weighed, auto) = recall("--class-weights auto");
    assert!(weighed > plain, "{weighed} after {plain}");
    assert_eq!((none.as_str(), auto.as_str()), (Some("none"), Some("auto")));
    let (given, written) = recall("--class-weights fraud=50,ok=1");
    assert!(given > plain && written[0] == "fraud=50", "{given}, {written}");
    assert_eq!(recall("--set training.class_weights=fraud=50,ok=1").0, given);
    fs::write(bench.path("w.toml"), "[mlp.training.class_weights]\nfraud = 50\n").unwrap();
    assert_eq!(recall("--config w.toml").0, given);
    let wrong = bench.fails(&format!("train accounts.npz {FAST} --class-weights fruad=3"));
    assert!(
        wrong.contains("there is no class `fruad`") && wrong.contains("did you mean `fraud`?"),
        "{wrong}"
    );
    let never = bench.fails("train accounts.npz --model greet --class-weights auto");
    assert!(never.contains("this model cannot weigh classes"), "{never}");
    bench.fails(&format!("train accounts.npz {FAST} --class-weights atuo"));
    bench.fails(&format!("train accounts.npz {FAST} --class-weights fraud=-1"));
}

#[test]
fn the_metric_steers_and_the_threshold_is_kept() {
    let bench = bench();
    let trained = bench.json(&format!("train accounts.npz --out run --metric average_precision {FAST}"));
    assert_eq!(trained["metric"], "average_precision");
    assert_eq!(trained["settings"]["training"]["monitor"], "average_precision");
    let threshold = number(&trained["per_split"][0]["threshold"]);
    assert!((0.0..1.0).contains(&threshold), "{threshold}");
    // The table of the run, prediction and evaluation decide by it.
    let table = bench.text("predict run --data accounts.npz --split 0 --quiet");
    let kept = fs::read_to_string(bench.path("run/split-0/predictions.csv")).unwrap();
    assert_eq!(table, kept);
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let probability: f32 = fields[6].parse().unwrap();
        assert_eq!(fields[2] == "fraud", f64::from(probability) >= threshold, "{line}");
    }
    let again = bench.json("evaluate run");
    assert_eq!(again["test_accuracy_mean"], trained["test_accuracy_mean"]);
    assert_eq!(again["test_metric_mean"], trained["test_average_precision_mean"]);
    let attacked = bench.json("evaluate run --attack random --rate 0.001 --repeats 1");
    assert_eq!(attacked["clean_test_accuracy_mean"], trained["test_accuracy_mean"]);
    assert_eq!(attacked["rates"][0]["cells"][0]["test_accuracy"], trained["per_split"][0]["test_accuracy"]);

    let at = |threshold: &str| {
        let document = bench.json(&format!("train accounts.npz --no-save {FAST} --threshold {threshold}"));
        number(&document["classes"][1]["recall"])
    };
    assert_eq!((at("0"), at("1")), (100.0, 0.0));
    let plain = bench.json(&format!("train accounts.npz --no-save {FAST}"));
    assert_eq!(number(&plain["classes"][1]["recall"]), at("0.5"));
    assert!(plain["per_split"][0]["threshold"].is_null());
    bench.fails(&format!("train accounts.npz {FAST} --threshold 1.5"));
    let set = bench
        .json(&format!("train accounts.npz --no-save --metric roc_auc --set training.monitor=loss {FAST}"));
    assert_eq!(
        (set["settings"]["training"]["monitor"].as_str(), set["metric"].as_str()),
        (Some("loss"), Some("roc_auc"))
    );
    let wrong = bench.fails(&format!("train accounts.npz --metric roc_acu {FAST}"));
    assert!(wrong.contains("roc_auc"), "{wrong}");
}

#[test]
fn the_positive_class_can_be_named() {
    let bench = bench();
    let trained = bench.json(&format!("train accounts.npz --out run --positive-class ok {FAST}"));
    assert_eq!(trained["positive_class"], "ok");
    let own = bench.json("evaluate run");
    assert_eq!(own["test_average_precision_mean"], trained["test_average_precision_mean"]);
    let other = bench.json("evaluate run --positive-class fraud");
    assert!(number(&other["test_average_precision_mean"]) < number(&own["test_average_precision_mean"]));
    assert_eq!(other["test_accuracy_mean"], own["test_accuracy_mean"], "decisions stay");
    for command in [
        "train accounts.npz --model mlp",
        "evaluate run",
        "predict run --data accounts.npz",
        "tune accounts.npz --trials 1",
    ] {
        let wrong = bench.fails(&format!("{command} --positive-class fruad"));
        assert!(
            wrong.contains("there is no class `fruad`") && wrong.contains("did you mean `fraud`?"),
            "{wrong}"
        );
    }
}

#[test]
fn a_ranked_list_is_what_was_asked_for() {
    let bench = bench();
    bench.text(&format!("train accounts.npz --out run {FAST}"));
    let predict = "predict run --data accounts.npz --split 0 --only unlabelled --sort-by fraud";
    let document = bench.json(&format!("{predict} --top 7"));
    let list = document["ranked"].as_array().unwrap();
    assert_eq!((list.len(), document["sorted_by"].as_str()), (7, Some("fraud")));
    let probabilities: Vec<f64> = list.iter().map(|line| number(&line["probability"])).collect();
    assert!(probabilities.is_sorted_by(|a, b| a >= b), "{probabilities:?}");
    for line in list {
        let id: usize = line["node"].as_str().unwrap().strip_prefix("account ").unwrap().parse().unwrap();
        assert!(id % 6 == 5 && line["label"].is_null() && line["part"].is_null(), "{line}");
    }
    let text = bench.text(&format!("{predict} --top 3 --quiet"));
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("p(fraud)") && text.contains(list[0]["node"].as_str().unwrap()), "{text}");
    bench.text(&format!("{predict} --out list.csv --quiet"));
    let csv = fs::read_to_string(bench.path("list.csv")).unwrap();
    assert_eq!(
        (csv.lines().next(), csv.lines().count()),
        (Some("rank,node,p_fraud,prediction,label,part"), 41)
    );
    assert!(csv.lines().nth(1).unwrap().contains(list[0]["node"].as_str().unwrap()));
    let test = bench.json("predict run --data accounts.npz --split 0 --only test --sort-by ok --top 2");
    assert!(
        test["ranked"]
            .as_array()
            .unwrap()
            .iter()
            .all(|line| line["part"] == "test" && line["label"].is_string())
    );
    // Without a class to sort by, the usual table of these nodes.
    let table = bench.text("predict run --data accounts.npz --split 0 --only unlabelled --quiet");
    assert_eq!(table.lines().count(), 41);
    let wrong = bench.fails("predict run --data accounts.npz --sort-by fruad");
    assert!(wrong.contains("did you mean `fraud`?"), "{wrong}");
    bench.fails("predict run --data accounts.npz --top 3");
}

#[test]
fn a_search_and_a_suite_go_by_the_metric() {
    let bench = bench();
    let tuned = bench
        .json("tune accounts.npz --model mlp --trials 2 --metric average_precision --set training.epochs=10");
    assert_eq!(tuned["metric"], "average_precision");
    let config = fs::read_to_string(bench.path("configs/accounts.toml")).unwrap();
    assert!(
        config.contains("--metric average_precision") && config.contains("Mean validation average precision"),
        "{config}"
    );
    let trained = bench.json("train accounts.npz --model mlp --no-save --metric average_precision");
    assert_eq!(trained["val_metric_mean"], tuned["val_metric_mean"]);
    let suite = "title = \"t\"\ndatasets = [\"accounts.npz\"]\nmodels = [\"mlp\"]\nfound_settings = false\n\
                 [settings.mlp.training]\nepochs = 10\n";
    fs::write(bench.path("plain.toml"), suite).unwrap();
    let plain = bench.json("bench plain.toml --out plain");
    assert_eq!(plain["rows"][0]["metric"], "roc_auc");
    assert!(plain["rows"][0]["test_accuracy_mean"].is_f64());
    fs::write(bench.path("f1.toml"), format!("metric = \"macro_f1\"\npositive_class = \"fraud\"\n{suite}"))
        .unwrap();
    let by_f1 = bench.json("bench f1.toml --out f1");
    assert_eq!(by_f1["rows"][0]["metric"], "macro_f1");
    let cells = fs::read_to_string(bench.path("f1/cells.jsonl")).unwrap();
    assert!(cells.contains("\"monitor\":\"macro_f1\"") && cells.contains("\"threshold\":"), "{cells}");
    let table = bench.text("report plain --format csv --metric balanced_accuracy");
    assert!(table.contains("balanced_accuracy"), "{table}");
    fs::write(bench.path("bad.toml"), format!("positive_class = \"frod\"\n{suite}")).unwrap();
    assert!(bench.fails("bench bad.toml").contains("there is no class `frod`"));
}

#[test]
fn graphs_of_two_classes_report_what_the_field_does() {
    let Some(data) = std::env::var_os("LHS_DATA") else { return println!("LHS_DATA is not set: skipped") };
    let bench = Workbench::after(&[]);
    for graph in ["minesweeper", "tolokers"] {
        let file = Path::new(&data).join(format!("{graph}.npz"));
        let command = format!(
            "train {} --model mlp --no-config --no-save --split 0 --set training.epochs=3 --set hidden=8",
            file.display()
        );
        let document = bench.json(&command);
        assert_eq!(
            (document["metric"].as_str(), document["positive_class"].as_str()),
            (Some("roc_auc"), Some("1"))
        );
        assert!(number(&document["test_roc_auc_mean"]) > 40.0, "{graph}");
        assert!(number(&document["majority_accuracy_mean"]) > 70.0, "{graph}");
    }
}
