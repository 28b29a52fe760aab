//! Own tables to a ranked list: who among the accounts without a label looks most like a fraud?
//!
//! ```text
//! cargo run --release -p lhs --example ranked_list
//! ```

use std::fs;

use lhs::prelude::*;

fn main() -> lhs::Result<()> {
    let folder = tempfile::tempdir().expect("a folder for the tables");
    write_tables(folder.path());

    let dataset = load(folder.path(), &LoadOptions::default())?;
    let split = Split::random(dataset.labels(), 0.6, 0.2, 0.2, 0)?; // unlabelled accounts are in no part
    let model = Lhs::default().fit(&Task::new(&dataset, &split)?)?;
    let probabilities = model.predict(dataset.graph(), dataset.features())?;

    let fraud =
        dataset.labels().names().iter().position(|name| name == "fraud").expect("a class of this name");
    let mut ranked: Vec<usize> =
        (0..dataset.num_nodes()).filter(|&n| dataset.labels().get(n).is_none()).collect();
    ranked.sort_by(|&a, &b| probabilities.row(b)[fraud].total_cmp(&probabilities.row(a)[fraud]));
    println!("most likely frauds among {} accounts without a label:", ranked.len());
    for &node in ranked.iter().take(5) {
        println!("  {:<12} {:.3}", dataset.node_id(node), probabilities.row(node)[fraud]);
    }

    let predictions = Predictions::new(&dataset, dataset.labels().names(), probabilities)?;
    let test = predictions.confusion(split.test.iter().copied());
    println!("right at the test nodes: {:.1} %", 100.0 * test.accuracy().unwrap_or(0.0));

    // What to expect: every third account is a fraud, those that have no label included.
    let found = ranked.iter().take(10).filter(|&&node| is_fraud(&dataset.node_id(node))).count();
    assert!(found >= 9, "{found} of the first ten are frauds");
    assert!(test.accuracy() > Some(0.9));
    Ok(())
}

/// The truth that only this example knows: every third account.
fn is_fraud(id: &str) -> bool {
    id.trim_start_matches("account-").parse::<usize>().is_ok_and(|number| number % 3 == 0)
}

/// edges.csv, labels.csv and features.csv of 240 accounts; every eighth has no label. Frauds pay others, not each other.
fn write_tables(folder: &std::path::Path) {
    let accounts = 0..240usize;
    let id = |number: usize| format!("account-{number}");
    let mut edges = String::from("source,target\n");
    for number in accounts.clone() {
        for step in 1..=6 {
            let other = (number * 7 + step * 31) % 240;
            // A fraud's partners are never frauds; others pay whom they like.
            let partner = if number % 3 == 0 && other % 3 == 0 { other + 1 } else { other };
            if partner != number {
                edges += &format!("{},{}\n", id(number), id(partner));
            }
        }
    }
    let mut labels = String::from("node,label\n");
    let mut features = String::from("node,payments,age\n");
    for number in accounts {
        let class = if number % 8 == 5 {
            ""
        } else if number % 3 == 0 {
            "fraud"
        } else {
            "honest"
        };
        labels += &format!("{},{class}\n", id(number));
        let noise = (number * 37 % 11) as f64 / 10.0;
        features += &format!(
            "{},{:.2},{:.2}\n",
            id(number),
            f64::from(u8::from(number % 3 == 0)) + noise,
            1.0 - noise
        );
    }
    for (name, text) in [("edges.csv", edges), ("labels.csv", labels), ("features.csv", features)] {
        fs::write(folder.join(name), text).expect("a table");
    }
}
