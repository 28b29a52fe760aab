//! `lhs report` through the binary: a page that needs nothing else, tables, and what cannot be shown.
//!
//! The page is opened in a browser when `$LHS_CHROMIUM` names one; `.ci/run` sets it.

use std::fs;
use std::process::Command;

use lhs::graph::Labels;
use serde_json::Value;

use crate::workbench::Workbench;

const SUITE: &str = r#"
title = "Names with <b>markup</b> & \"quotes\""
datasets = ["toy.npz"]
models = ["mlp", "gcn", "lhs"]
measure_shift = true

[settings.lhs]
ensemble_size = 1
[settings.lhs.structure]
rounds = 0

[[attacks]]
name = "injected"
rates = [0.5, 1.0]
"#;

/// A folder with a finished suite and a finished run.
fn bench() -> Workbench {
    let bench = Workbench::after(&["data synth --out toy.npz --nodes 150 --homophily 0.2 --num-splits 3"]);
    fs::write(bench.path("grid.toml"), SUITE).unwrap();
    bench.text("bench grid.toml --out cells");
    bench.text("train toy.npz --out run --set ensemble_size=1 --split 1");
    bench
}

#[test]
fn the_page_stands_alone_and_answers() {
    let bench = bench();
    let written = bench.json("report cells run --out page.html");
    assert_eq!(written["suites"], serde_json::json!(["grid"]));
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert_eq!(written["bytes"], page.len());
    // Nothing is fetched: the only addresses are names of formats.
    let addresses = page.matches("http").count();
    assert_eq!(
        addresses,
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count()
    );
    assert!(!page.contains("src=") && !page.contains("<link") && !page.contains("<b>markup</b>"));
    for figure in [
        "toy: injected after training",
        "Right-shift against loss",
        "H in the latent graph",
        "Latent affinity",
    ] {
        assert!(page.contains(figure), "{figure}");
    }
    for said in [
        "lhs is right at ",
        " the most frequent class, ",
        "Without attack, ",
        "fewer than six pairs",
        "<code>lhs train toy.npz --out run ",
        "<time datetime=\"20",
        "150 nodes, ",
        "Who is taken for whom",
        "ROC: ",
        "Precision and recall: ",
        "Calibration: ",
        "Worst errors",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let explorer = held(&page, "explorer");
    assert_eq!(explorer["ids"].as_array().unwrap().len(), 150);
    let chances: i64 =
        explorer["chances"][3].as_array().unwrap().iter().map(|chance| chance[1].as_i64().unwrap()).sum();
    assert!((chances - 1000).abs() <= 3, "{chances}");
    for graph in ["given", "latent"] {
        // Two numbers of two bytes for each node, four signs for three bytes.
        assert_eq!(explorer[graph]["places"].as_str().unwrap().len(), 150 * 4 / 3 * 4, "{graph}");
    }

    let Some(dom) = opened(&bench, "17") else { return };
    assert!(dom.contains("node 17, ") && dom.contains(" latent</output>"), "the explorer says nothing");
    let drawn = dom.split("class=\"near\"").nth(1).unwrap();
    assert!(drawn.matches("<circle").count() >= 2, "a neighbourhood is drawn");
    assert!(drawn.contains(">17</text>"), "ids are there to be read");
    assert_eq!(dom.matches("data-drawn=\"150\"").count(), 2, "both maps are drawn");
    let dom = opened(&bench, "nobody%20%3Cb%3E").unwrap();
    assert!(
        dom.contains("There is no node nobody &lt;b&gt;. The first is 0, the last 149."),
        "an unknown node says so"
    );
}

/// What the page holds for its script: the first value of a kind.
fn held(page: &str, kind: &str) -> Value {
    let json =
        page.split(&format!("data-holds=\"{kind}\">")).nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(json).unwrap()
}

/// The document that a browser makes of `page.html`, opened at a node, if there is a browser; its script must not
/// complain.
fn opened(bench: &Workbench, node: &str) -> Option<String> {
    let browser = std::env::var("LHS_CHROMIUM").ok()?;
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-quic", "--disable-sync"])
        .args(["--disable-component-update"])
        .arg(format!("--user-data-dir={}", bench.path("profile").display()))
        .arg(format!("file://{}#node={node}", bench.path("page.html").display()))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains("CONSOLE"), "{log}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn names_that_look_like_markup_stay_names() {
    let bench = Workbench::after(&["data synth --out toy.npz --nodes 150 --homophily 0.2 --num-splits 3"]);
    let mut parts = bench.load("toy.npz").into_parts();
    let mut ids: Vec<String> = (0..150).map(|node| format!("n{node}")).collect();
    ids[3] = "<!--<script>".into();
    let labels = &parts.labels;
    let classes: Vec<Option<u32>> = (0..150).map(|node| labels.get(node)).collect();
    let mut names = labels.names().to_vec();
    names[0] = "</script><b>".into();
    parts.labels = Labels::new(classes, names).unwrap();
    parts.node_ids = Some(ids);
    bench.save(parts, "odd.npz");
    bench.text("train odd.npz --out run --set ensemble_size=1 --split 1");
    bench.text("report run --out page.html");
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(!page.contains("<!--") && !page.contains("</script><b>"));
    let explorer = held(&page, "explorer");
    assert_eq!(
        (&explorer["ids"][3], &explorer["classes"][0]),
        (&"<!--<script>".into(), &"</script><b>".into())
    );

    let Some(dom) = opened(&bench, "%3C!--%3Cscript%3E") else { return };
    // The page's script is the last thing in it: it ran, and at this very node.
    assert!(dom.contains("node &lt;!--&lt;script&gt;, "), "the explorer says nothing");
    assert!(dom.contains("&lt;/script&gt;&lt;b&gt;"), "the class has its name");
    assert_eq!(dom.matches("data-drawn=\"150\"").count(), 2, "both maps are drawn");
    assert!(!dom.contains("<b></b>") && !dom.contains("</i></script><b>"), "no name is markup");
}

#[test]
fn a_model_without_a_latent_graph_has_a_map_and_errors_too() {
    let bench = Workbench::after(&[
        "data synth --out toy.npz --nodes 150 --classes 2 --homophily 0.2 --num-splits 2",
        "train toy.npz --model mlp --out run --set training.epochs=3",
        "report run --out page.html",
    ]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    let explorer = held(&page, "explorer");
    assert!(explorer["latent"].is_null() && explorer["given"]["places"].is_string());
    assert!(page.contains("ROC: ") && !page.contains("against the rest"), "of two classes, one is asked for");
    let Some(dom) = opened(&bench, "149") else { return };
    assert!(dom.contains("node 149, ") && dom.contains(" given</output>"));
    assert_eq!(dom.matches("data-drawn=\"150\"").count(), 1);
}

#[test]
fn runs_are_compared_over_the_same_splits() {
    let bench = Workbench::after(&[
        "data synth --out toy.npz --nodes 120 --num-splits 7",
        "data synth --out other.npz --nodes 120 --num-splits 7 --seed 1",
        "train toy.npz --model mlp --out a --set training.epochs=5",
        "train toy.npz --model mlp --out b --set training.epochs=6 --set hidden=8",
        "train toy.npz --model gcn --out c --set training.epochs=5 --split 0-2",
        "train toy.npz --model mlp --out d --set training.epochs=5 --split random:0.5,0.2,0.3 --num-splits 7",
        "train other.npz --model mlp --out e --set training.epochs=5",
    ]);
    let found = bench.json("compare a b c d e");
    let run = &found["runs"][1];
    assert_eq!((&run["model"], &run["settings"]["hidden"]), (&"mlp".into(), &"8".into()));
    assert_eq!(found["runs"][0]["splits"].as_array().unwrap().len(), 7);
    assert!(found["runs"][2]["settings"].as_object().unwrap().is_empty(), "no other run of this model");
    let [b, c, d, e] = [0, 1, 2, 3].map(|place| &found["differences"][place]);
    let p = b["p_value"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&p) && b["splits"].as_array().unwrap().len() == 7);
    // By hand, from what the runs say themselves.
    let mean = |run: &Value| run["scores"]["test_accuracy"]["mean"].as_f64().unwrap();
    let points = mean(run) - mean(&found["runs"][0]);
    assert!((b["points"].as_f64().unwrap() - points).abs() < 1e-9);
    assert!(c["p_value"].is_null() && c["splits"].as_array().unwrap().len() == 3, "three pairs tell nothing");
    assert!(d["points"].is_null() && d["reason"].as_str().unwrap().contains("no split in common"));
    assert!(e["points"].is_null() && e["reason"].as_str().unwrap().contains("data differ"));
    assert!(found["notes"][0].as_str().unwrap().contains("different data"));

    let text = bench.text("compare a b");
    assert!(text.contains("hidden=8") && text.contains(" over the same 7 splits (p "), "{text}");
    assert!(bench.text("compare c").contains("test accuracy, %"));
    let latex = bench.text("report a b --format latex");
    assert!(latex.contains("\\begin{tabular}") && latex.contains("$\\pm$"), "{latex}");
    assert!(bench.text("compare a b --format markdown").starts_with("| run | model |"));
    let table = bench.text("report a b --format csv");
    assert_eq!(csv::Reader::from_reader(table.as_bytes()).records().count(), 2);
    assert!(bench.fails("compare toy.npz").contains("no results"));
}

#[test]
fn tables_come_in_three_more_formats() {
    let bench = bench();
    let markdown = bench.text("report cells --format markdown");
    assert_eq!(markdown.lines().filter(|line| line.starts_with("| toy |")).count(), 3, "{markdown}");
    let table = bench.text("report cells --format csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| row[9].is_empty()), "three pairs tell nothing about chance");
    let latex = bench.text("report cells --format latex");
    assert!(latex.contains("\\begin{tabular}{llrrr}") && latex.contains("\\pm"));
}

#[test]
fn what_cannot_be_shown_is_said() {
    let bench = bench();
    bench.text("report cells");
    assert!(bench.fails("report cells").contains("this file exists"));
    assert!(bench.fails("report nowhere --out b.html").contains("no such folder"));
    fs::create_dir(bench.path("empty")).unwrap();
    assert!(bench.fails("report empty --out b.html").contains("no results"));
    bench.text("bench grid.toml --out again --only model=mlp");
    assert!(bench.fails("report cells again --out b.html").contains("do not belong together"));
}
