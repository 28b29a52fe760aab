//! Tests of the pivot.

use super::*;
use crate::experiment::table::made_up::{cells, failed, record, suite};

#[test]
fn neither_order_nor_sums_depend_on_what_was_finished_first() {
    let (suite, mut records) = (suite(), cells());
    let table = AccuracyTable::new(&suite, &records);
    let names: Vec<String> = table.columns.iter().map(Column::to_string).collect();
    assert_eq!(names, ["mlp", "lhs", "lhs (wide)"]);
    let states: Vec<String> = table.lines.iter().map(Line::to_string).collect();
    assert_eq!(states, ["b clean", "b dice 0.5", "b dice 0.5 before training", "a clean"]);
    for _ in 0..records.len() {
        records.rotate_left(1);
        assert_eq!(AccuracyTable::new(&suite, &records), table);
    }
}

#[test]
fn an_entry_sums_up_its_cells() {
    let records = [
        record("b", ("mlp", None), 0, None, 50.0),
        record("b", ("mlp", None), 1, None, 60.0),
        failed("b", ("mlp", None), 2),
        record("b", ("lhs", None), 0, None, 70.0),
        record("b", ("lhs", None), 1, None, 80.0),
    ];
    let table = AccuracyTable::new(&suite(), &records);
    let mlp = table.entry(0, 0);
    assert_eq!((mlp.mean(), mlp.std(), mlp.cells(), mlp.failed), (Some(55.0), Some(5.0), 2, 1));
    assert_eq!(
        (mlp.to_string().as_str(), table.is_best(0, 0), table.is_best(0, 1)),
        ("55.00 ± 5.00", false, true)
    );
    assert_eq!((table.p_value(0, 0), table.p_value(0, 1)), (None, None), "two pairs say nothing");
    let rows = table.rows();
    assert_eq!((rows.len(), rows[0].failed, rows[0].train_seconds_mean), (2, 1, Some(1.5)));
}

#[test]
fn six_pairs_have_a_p_value_and_one_cell_has_no_spread() {
    let cells = |model: &str, accuracy: f64| {
        (0..6).map(|split| record("b", (model, None), split, None, accuracy)).collect::<Vec<_>>()
    };
    let table = AccuracyTable::new(&suite(), &[cells("mlp", 50.0), cells("lhs", 60.0)].concat());
    assert_eq!(table.p_value(0, 0), Some(2.0 / 64.0));
    let one = AccuracyTable::new(&suite(), &cells("mlp", 50.0)[..1]);
    assert_eq!((one.entry(0, 0).std(), one.rows()[0].test_accuracy_std), (None, None));
    assert_eq!(one.entry(0, 0).to_string(), "50.00");
}

#[test]
fn a_line_shows_what_its_models_were_judged_by() {
    let judged = |split: usize, auc: Option<f64>| {
        let mut record = record("b", ("mlp", None), split, None, 50.0);
        let scores = &mut record.result.as_mut().unwrap().scores;
        (scores.metric, scores.test_roc_auc) = (auc.map(|_| Metric::RocAuc), auc);
        record
    };
    let new = [judged(0, Some(80.0)), judged(1, Some(90.0))];
    let table = AccuracyTable::new(&suite(), &new);
    assert_eq!((table.metric(0), table.entry(0, 0).mean()), (Metric::RocAuc, Some(85.0)));
    assert_eq!((table.line_name(0), table.state(0)), ("b clean, ROC AUC".into(), "clean, ROC AUC".into()));
    let row = &table.rows()[0];
    assert_eq!((row.test_accuracy_mean, row.test_metric_mean), (Some(50.0), Some(85.0)));
    // Beside cells that have no such figure, all are compared by what they have.
    let mixed = AccuracyTable::new(&suite(), &[judged(0, Some(80.0)), judged(1, None)]);
    assert_eq!((mixed.metric(0), mixed.entry(0, 0).mean()), (Metric::Accuracy, Some(50.0)));
    let chosen = AccuracyTable::showing(Some(Metric::MacroF1), &suite(), &new);
    assert_eq!(chosen.line_name(0), "b clean, macro F1");
}

#[test]
fn empty_entries_are_no_rows_and_failed_ones_are() {
    let records = [record("b", ("mlp", None), 0, None, 50.0), failed("a", ("lhs", None), 0)];
    let table = AccuracyTable::new(&suite(), &records);
    let rows = table.rows();
    assert_eq!((table.lines.len(), table.columns.len(), rows.len()), (2, 2, 2));
    assert_eq!((rows[1].dataset.as_str(), rows[1].failed, rows[1].test_accuracy_mean), ("a", 1, None));
    assert_eq!(
        (table.entry(1, 1).to_string(), table.entry(0, 1).to_string()),
        ("failed".into(), String::new())
    );
}
