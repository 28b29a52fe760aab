//! A suite and its report from Rust: cells on disk that survive interruptions, a table, and a page.
//!
//! ```text
//! cargo run --release -p lhs --features report --example suite_and_report
//! ```

use lhs::experiment::{IfPresent, Manifest};
use lhs::prelude::*;
use lhs::report::{Report, SuiteResults};

const SUITE: &str = r#"
title = "Two models under attack"
datasets = ["made-up"]
models = ["mlp", "gcn"]

[[attacks]]
name = "injected"
rates = [1.0, 2.0]
"#;

fn main() -> lhs::Result<()> {
    let suite: Suite = SUITE.parse()?;
    let dataset =
        SynthConfig { nodes: 300, homophily: 0.8, splits: 2, ..SynthConfig::default() }.generate(5)?;
    let plan = Plan::on(&suite, vec![Data::new(dataset)?], &Registry::default())?;

    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    for sitting in 0..2 {
        let store = Store::open(&results, &Manifest::new("attacked", &suite, &plan), IfPresent::Extend)?;
        let outcome = Runner::new(&plan).store(&store).run()?;
        println!("sitting {sitting}: {} cells run, {} known", outcome.run, outcome.known);
        assert_eq!((outcome.run, outcome.known), if sitting == 0 { (12, 0) } else { (0, 12) });
    }

    let read = SuiteResults::read(&results)?;
    let table = read.table();
    println!("{}", table.markdown());
    assert_eq!((table.lines.len(), table.columns.len()), (3, 2));
    let [clean, attacked] = [0, 2].map(|line| table.entry(line, 1).mean());
    assert!(clean > attacked, "the convolution loses: {clean:?}, then {attacked:?}");

    let mut report = Report::default();
    report.add(read)?;
    let page = report.html();
    assert!(page.contains("Two models under attack"));
    println!("a page of {} kB", page.len() / 1000);
    Ok(())
}
