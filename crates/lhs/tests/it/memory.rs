//! No setting, however absurd, ends the program: a training that cannot fit is an error that says so.

use lhs::error::Error;
use lhs::models;
use lhs::prelude::*;
use toml::{Table, Value};

/// Settings of time, not of memory: a training that is asked to go on for ever may do so.
const TIME: [&str; 7] =
    ["epochs", "patience", "perceptron_epochs", "low_rank_every", "network_steps", "rounds", "kernel"];

/// The dotted names of the whole-number settings, and of those that are chosen unless they are given.
fn numbers(table: &Table, prefix: &str, found: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) => numbers(inner, &format!("{prefix}{key}."), found),
            Value::Integer(_) if !TIME.contains(&key.as_str()) => found.push(format!("{prefix}{key}")),
            _ => {}
        }
    }
}

fn put(table: &mut Table, key: &str, value: i64) {
    match key.split_once('.') {
        Some((outer, rest)) => put(table.get_mut(outer).unwrap().as_table_mut().unwrap(), rest, value),
        None => drop(table.insert(key.into(), Value::Integer(value))),
    }
}

#[test]
fn absurd_settings_are_refused_or_harmless() {
    let config = SynthConfig { nodes: 40, features: 8, ..SynthConfig::default() };
    let dataset = config.generate(0).unwrap();
    let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
    let mut refused = 0;
    for kind in models::kinds() {
        let mut defaults = (kind.defaults)();
        if let Some(training) = defaults.get_mut("training").and_then(Value::as_table_mut) {
            training.insert("epochs".into(), Value::Integer(1));
        }
        let mut keys = Vec::new();
        numbers(&defaults, "", &mut keys);
        if kind.name == "lhs" {
            keys.extend(["ensemble_size", "latent_hops", "given_hops", "structure.top_k"].map(String::from));
        }
        for key in keys {
            for value in [1_000_000_001, 1_000_000_000_000_000_001] {
                let mut settings = defaults.clone();
                put(&mut settings, &key, value);
                let fitted = (kind.build)(&settings).and_then(|model| model.fit(&task).map(drop));
                match fitted {
                    Ok(()) => {}
                    Err(Error::Setting { .. }) => refused += 1,
                    Err(other) => panic!("{} {key} = {value}: {other}", kind.name),
                }
                if key == "hidden" {
                    let built = (kind.build)(&settings).unwrap();
                    assert!(built.fit(&task).is_err(), "{} {key} = {value} fits nowhere", kind.name);
                }
            }
        }
    }
    assert!(refused > 50, "only {refused} were refused");
}
