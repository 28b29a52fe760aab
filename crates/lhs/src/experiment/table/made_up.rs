//! Finished cells that nobody ran, for the tests.

use std::path::Path;

use serde_json::json;

use crate::experiment::{AttackId, CellId, CellRecord, Suite};

/// A suite that names its data and models in another order than the alphabet's.
pub fn suite() -> Suite {
    let text = "title = \"t\"\ndatasets = [\"files/b.npz\", \"a\"]\nmodels = [\"mlp\", \"lhs\"]\n\
                [[attacks]]\nname = \"dice\"\nrates = [0.5]\n\
                [[attacks]]\nname = \"dice\"\nrates = [0.5]\npoisoning = true\n\
                [[variants]]\nname = \"wide\"\nmodel = \"lhs\"\nset = { hidden = 9 }\n";
    Suite::parse(text, Path::new("made-up.toml")).unwrap()
}

/// A cell with an accuracy; training took `split + 1` seconds. An attack is `dice` at 0.5, before training or not.
pub fn record(
    dataset: &str,
    (model, variant): (&str, Option<&str>),
    split: usize,
    poisoning: Option<bool>,
    accuracy: f64,
) -> CellRecord {
    let attack = poisoning.map(|poisoning| AttackId { name: "dice".into(), rate: 0.5, poisoning, repeat: 0 });
    let (dataset, model, variant) = (dataset.into(), model.into(), variant.map(str::to_string));
    let result = json!({
        "train_accuracy": accuracy,
        "val_accuracy": accuracy,
        "test_accuracy": accuracy,
        "test_macro_f1": accuracy,
        "train_seconds": split as f64 + 1.0,
        "epochs": 10,
        "peak_memory_bytes": 3_000_000,
    });
    CellRecord {
        key: String::new(),
        id: CellId { dataset, model, variant, split, seed: 0, attack, inductive: false },
        data_sha256: String::new(),
        settings: Default::default(),
        settings_sha256: String::new(),
        lhs_version: String::new(),
        result: Some(serde_json::from_value(result).unwrap()),
        error: None,
    }
}

/// A cell that failed.
pub fn failed(dataset: &str, contestant: (&str, Option<&str>), split: usize) -> CellRecord {
    let error = Some("it <broke>".into());
    CellRecord { result: None, error, ..record(dataset, contestant, split, None, 0.0) }
}

/// Cells of every kind, in no order, with accuracies whose sum depends on the order of its terms.
pub fn cells() -> Vec<CellRecord> {
    let mut cells = Vec::new();
    for contestant in [("lhs", Some("wide")), ("lhs", None), ("mlp", None)] {
        for (split, accuracy) in [0.1, 99.7, 1e-9, 33.3].into_iter().enumerate() {
            cells.push(record("a", contestant, split, None, accuracy));
            cells.push(record("b", contestant, split, Some(true), accuracy / 3.0));
            cells.push(record("b", contestant, split, Some(false), accuracy / 2.0));
            cells.push(record("b", contestant, split, None, accuracy));
        }
    }
    cells
}
