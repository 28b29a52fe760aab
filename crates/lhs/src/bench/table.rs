//! Cells summed up: mean and spread over splits, seeds and repeats.

use serde::Serialize;

use super::store::CellRecord;
use crate::eval::metrics;

/// All cells that differ in split, seed and repeat alone; accuracies in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the data.
    pub dataset: String,
    /// Name of the attack; none on clean data.
    pub attack: Option<String>,
    /// How strong it is; 0 on clean data.
    pub rate: f64,
    /// Whether it came before training.
    pub poisoning: bool,
    /// Name of the model.
    pub model: String,
    /// Name of the variant.
    pub variant: Option<String>,
    /// How many cells are finished.
    pub cells: usize,
    /// How many failed.
    pub failed: usize,
    /// Mean accuracy at the test nodes; none if all failed.
    pub test_accuracy_mean: Option<f64>,
    /// Its population standard deviation.
    pub test_accuracy_std: Option<f64>,
    /// Mean time to train a model.
    pub train_seconds_mean: Option<f64>,
}

/// Sums up, in the order in which rows first appear.
pub fn rows(records: &[CellRecord]) -> Vec<Row> {
    let mut groups: Vec<(Row, Vec<f64>, Vec<f64>)> = Vec::new();
    for record in records {
        let row = of(record);
        let place = groups.iter().position(|(known, ..)| same(known, &row)).unwrap_or_else(|| {
            groups.push((row, Vec::new(), Vec::new()));
            groups.len() - 1
        });
        let (row, accuracies, seconds) = &mut groups[place];
        match &record.result {
            Some(measured) => {
                accuracies.push(measured.scores.test_accuracy);
                seconds.push(measured.train_seconds);
            }
            None => row.failed += 1,
        }
    }
    let summed = groups.into_iter().map(|(row, mut accuracies, seconds)| {
        // Sums of floats depend on their order, and cells are finished in any.
        accuracies.sort_by(f64::total_cmp);
        let some = !accuracies.is_empty();
        Row {
            cells: accuracies.len(),
            test_accuracy_mean: some.then(|| metrics::mean(&accuracies)),
            test_accuracy_std: some.then(|| metrics::std(&accuracies)),
            train_seconds_mean: some.then(|| metrics::mean(&seconds)),
            ..row
        }
    });
    summed.collect()
}

fn of(record: &CellRecord) -> Row {
    let (id, attack) = (&record.id, record.id.attack.as_ref());
    Row {
        dataset: id.dataset.clone(),
        attack: attack.map(|attack| attack.name.clone()),
        rate: attack.map_or(0.0, |attack| attack.rate),
        poisoning: attack.is_some_and(|attack| attack.poisoning),
        model: id.model.clone(),
        variant: id.variant.clone(),
        cells: 0,
        failed: 0,
        test_accuracy_mean: None,
        test_accuracy_std: None,
        train_seconds_mean: None,
    }
}

fn same(a: &Row, b: &Row) -> bool {
    let id = |row: &Row| {
        (row.dataset.clone(), row.attack.clone(), row.poisoning, row.model.clone(), row.variant.clone())
    };
    a.rate == b.rate && id(a) == id(b)
}
