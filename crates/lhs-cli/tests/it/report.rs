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
    let explorer = held(&page, "explorer");
    assert_eq!(explorer["ids"].as_array().unwrap().len(), 150);
    let chances: i64 =
        explorer["probabilities"][3].as_array().unwrap().iter().map(|p| p.as_i64().unwrap()).sum();
    assert!((chances - 1000).abs() <= 3, "{chances}");

    let Some(dom) = opened(&bench, "17") else { return };
    assert!(dom.contains("node 17, ") && dom.contains(" latent</output>"), "the explorer says nothing");
    let drawn = dom.split("class=\"pair\"").nth(1).unwrap();
    assert!(drawn.matches("<circle").count() >= 4, "both neighbourhoods are drawn");
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
        .args(["--no-first-run", "--disable-background-networking"])
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
    let p: f64 = rows[1][9].parse().unwrap();
    assert!((0.0..=1.0).contains(&p) && rows[2][9].is_empty(), "lhs is not held against itself");
    let latex = bench.text("report cells --format latex");
    assert!(latex.contains("\\begin{tabular}{llrrr}") && latex.contains("\\pm"));
}

#[test]
fn what_cannot_be_shown_is_said() {
    let bench = bench();
    bench.text("report cells");
    assert!(bench.fails("report cells").contains("this file exists"));
    assert!(bench.fails("report nowhere --out b.html").contains("no such folder"));
    assert!(bench.fails("report run --format csv").contains("no tables"));
    fs::create_dir(bench.path("empty")).unwrap();
    assert!(bench.fails("report empty --out b.html").contains("no results"));
    bench.text("bench grid.toml --out again --only model=mlp");
    assert!(bench.fails("report cells again --out b.html").contains("do not belong together"));
}
