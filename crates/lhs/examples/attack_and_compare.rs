//! Attack a graph and compare two models: after the attack the convolution has lost much more than LHS.
//!
//! ```text
//! cargo run --release -p lhs --example attack_and_compare
//! ```

use lhs::attacks::injected::InjectedConfig;
use lhs::models::gcn::Gcn;
use lhs::prelude::*;

fn main() -> lhs::Result<()> {
    let made_up =
        SynthConfig { nodes: 600, homophily: 0.7, mean_degree: 12.0, signal: 1.0, ..SynthConfig::default() };
    let dataset = made_up.generate(1)?;
    let split = &dataset.splits()[0];
    let task = Task::new(&dataset, split)?;
    let (gcn, lhs) = (Gcn::default().fit(&task)?, Lhs::default().fit(&task)?);

    // Evasion: the models were trained on the clean graph and meet the attacked one.
    let attack = InjectedConfig { rate: 1.0, ..InjectedConfig::default() };
    let attacked = attack.perturb(&AttackContext::new(&dataset, split), 0)?;
    println!("{} edges were added around {} test nodes", attacked.record.edges_added, split.test.len());

    println!("model   clean  attacked");
    let mut losses = Vec::new();
    for (name, model) in [("gcn", &gcn as &dyn NodeClassifier), ("lhs", &lhs)] {
        let [clean, after] = [&dataset, &attacked.dataset].map(|data| accuracy(model, data, split));
        let (clean, after) = (clean?, after?);
        println!("{name:<5} {clean:>7.1} {after:>9.1}");
        losses.push(clean - after);
    }
    assert!(losses[0] > 15.0, "the convolution averages over the new neighbours: {losses:?}");
    assert!(losses[1] < losses[0], "LHS loses less: {losses:?}");
    Ok(())
}

/// Accuracy at the test nodes, in percent.
fn accuracy(model: &dyn NodeClassifier, dataset: &Dataset, split: &Split) -> lhs::Result<f64> {
    let probabilities = model.predict(dataset.graph(), dataset.features())?;
    let predictions = Predictions::new(dataset, dataset.labels().names(), probabilities)?;
    Ok(100.0 * predictions.confusion(split.test.iter().copied()).accuracy().unwrap_or(0.0))
}
