//! The one pivot of finished cells: datasets in their states against models and variants.
//!
//! Means, spreads and p-values over cells are computed here and nowhere else; pages, tables for papers, terminals and
//! scripts show what an [`AccuracyTable`] holds. Neither its order nor its sums depend on which cell was finished first.

mod grid;
#[cfg(test)]
pub(crate) mod made_up;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

pub use grid::Grid;
use serde::Serialize;
pub use text::csv_text;

use crate::experiment::{AttackId, CellId, CellRecord, Suite};
use crate::metrics::significance::paired_p_value;
use crate::metrics::statistics as metrics;

/// The model that the others are held against.
pub const OURS: &str = "lhs";

/// Fewer pairs cannot tell a difference from chance: of five, the smallest p-value is 0.0625.
pub const FEWEST_PAIRS: usize = 6;

/// What the cells of one entry differ in: split, seed and repeat.
pub type CellKey = (usize, u64, u64);

/// An accuracy that somebody published, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, where it was reported.
    pub std: Option<f64>,
}

/// A line of the table: a dataset in some state.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the data.
    pub dataset: String,
    /// What was done to it; none on clean data.
    pub attack: Option<AttackState>,
}

/// An attack at some strength.
#[derive(Clone, Debug, PartialEq)]
pub struct AttackState {
    /// Its name.
    pub name: String,
    /// How strong it is.
    pub rate: f64,
    /// Whether it came before training.
    pub poisoning: bool,
}

/// A column of the table: a model, or a variant of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the model.
    pub model: String,
    /// Name of the variant; none for the model as it is.
    pub variant: Option<String>,
}

/// What was found where a line and a column meet. Maps by key, because sums of floats depend on their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// Accuracies at the test nodes, in percent.
    pub accuracies: BTreeMap<CellKey, f64>,
    /// Seconds to train the models of these cells.
    pub train_seconds: BTreeMap<CellKey, f64>,
    /// The most memory that a process had needed by the end of one of these cells.
    pub peak_memory_bytes: Option<u64>,
    /// How many cells failed.
    pub failed: usize,
    /// What the paper says.
    pub paper: Option<Published>,
}

/// Datasets in their states against models and variants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccuracyTable {
    /// Datasets and states, in the order of the suite.
    pub lines: Vec<Line>,
    /// Models and variants, in the order of the suite.
    pub columns: Vec<Column>,
    /// Entries by line and column.
    entries: Vec<Vec<Entry>>,
}

/// An entry for scripts: all cells that differ in split, seed and repeat alone; accuracies in percent.
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

/// The split, seed and repeat of a cell.
pub fn cell_key(id: &CellId) -> CellKey {
    (id.split, id.seed, id.attack.as_ref().map_or(0, |attack| attack.repeat))
}

impl AttackState {
    /// An attack, whichever of its repeats it is.
    fn of(id: &AttackId) -> Self {
        AttackState { name: id.name.clone(), rate: id.rate, poisoning: id.poisoning }
    }
}

impl Line {
    /// The line that a cell belongs to.
    pub fn of(id: &CellId) -> Self {
        Line { dataset: id.dataset.clone(), attack: id.attack.as_ref().map(AttackState::of) }
    }

    /// What state the data is in.
    pub fn state(&self) -> String {
        match &self.attack {
            None => "clean".into(),
            Some(attack) if attack.poisoning => format!("{} {} before training", attack.name, attack.rate),
            Some(attack) => format!("{} {}", attack.name, attack.rate),
        }
    }

    /// How strong the attack is; 0 on clean data.
    pub fn rate(&self) -> f64 {
        self.attack.as_ref().map_or(0.0, |attack| attack.rate)
    }

    /// Where the suite names it; what it does not name comes last, by name.
    fn place(&self, suite: &Suite) -> (usize, String, usize, String) {
        let dataset = place_of(suite.datasets.iter(), |named| is_called(named, &self.dataset));
        let mut attacks =
            suite.attacks.iter().flat_map(|axis| axis.rates.iter().map(move |rate| (axis, *rate)));
        let state = match &self.attack {
            None => 0,
            Some(own) => attacks
                .position(|(axis, rate)| {
                    axis.name == own.name && axis.poisoning == own.poisoning && rate == own.rate
                })
                .map_or(usize::MAX, |place| place + 1),
        };
        (dataset, self.dataset.clone(), state, self.state())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dataset, self.state())
    }
}

impl Column {
    /// The column that a cell belongs to.
    pub fn of(id: &CellId) -> Self {
        Column { model: id.model.clone(), variant: id.variant.clone() }
    }

    /// Whether it is what the others are held against.
    pub fn is_ours(&self) -> bool {
        self.model == OURS && self.variant.is_none()
    }

    /// Where the suite names it: a model as it is before its variants.
    fn place(&self, suite: &Suite) -> (usize, String, usize, String) {
        let model = place_of(suite.models.iter(), |named| *named == self.model);
        let variant = self.variant.as_ref().map_or(0, |own| {
            place_of(suite.variants.iter(), |variant| variant.name == *own).saturating_add(1)
        });
        (model, self.model.clone(), variant, self.variant.clone().unwrap_or_default())
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(f, "{} ({variant})", self.model),
            None => f.write_str(&self.model),
        }
    }
}

/// Whether a suite that names `named` (a file, a folder or a name) means the dataset called `name`.
fn is_called(named: &str, name: &str) -> bool {
    named == name || Path::new(named).file_stem().is_some_and(|stem| stem == name)
}

fn place_of<T>(mut list: impl Iterator<Item = T>, wanted: impl FnMut(T) -> bool) -> usize {
    list.position(wanted).unwrap_or(usize::MAX)
}

/// Mean of values in the order of their keys; none of nothing.
fn mean_of(values: &BTreeMap<CellKey, f64>) -> Option<f64> {
    let values: Vec<f64> = values.values().copied().collect();
    (!values.is_empty()).then(|| metrics::mean(&values))
}

impl Entry {
    /// An entry with nothing but accuracies.
    pub fn of_accuracies(accuracies: impl IntoIterator<Item = (CellKey, f64)>) -> Self {
        Entry { accuracies: accuracies.into_iter().collect(), ..Entry::default() }
    }

    /// Takes in a cell.
    fn add(&mut self, record: &CellRecord) {
        let Some(measured) = &record.result else {
            self.failed += 1;
            return;
        };
        let key = cell_key(&record.id);
        if let Some(accuracy) = measured.scores.test_accuracy {
            self.accuracies.insert(key, accuracy);
        }
        self.train_seconds.insert(key, measured.train_seconds);
        self.peak_memory_bytes = self.peak_memory_bytes.max(measured.peak_memory_bytes);
    }

    /// Whether no cell belongs to it.
    pub fn is_empty(&self) -> bool {
        self.accuracies.is_empty() && self.failed == 0
    }

    /// How many cells are finished.
    pub fn cells(&self) -> usize {
        self.accuracies.len()
    }

    /// Mean accuracy; none if nothing was finished.
    pub fn mean(&self) -> Option<f64> {
        mean_of(&self.accuracies)
    }

    /// Population standard deviation of the accuracies; none if nothing was finished.
    pub fn std(&self) -> Option<f64> {
        let values: Vec<f64> = self.accuracies.values().copied().collect();
        (!values.is_empty()).then(|| metrics::std(&values))
    }

    /// Mean seconds to train a model.
    pub fn train_seconds_mean(&self) -> Option<f64> {
        mean_of(&self.train_seconds)
    }

    /// p-value of the difference to another entry over the cells that both have; none below [`FEWEST_PAIRS`].
    pub fn p_value_against(&self, other: &Entry) -> Option<f64> {
        let pairs =
            self.accuracies.iter().filter_map(|(key, value)| Some(other.accuracies.get(key)? - value));
        let differences: Vec<f64> = pairs.collect();
        if differences.len() < FEWEST_PAIRS { None } else { paired_p_value(&differences) }
    }
}

/// Mean and spread, or that all failed, or nothing.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match (self.mean(), self.std()) {
            (Some(mean), Some(std)) if self.cells() > 1 => format!("{mean:.2} ± {std:.2}"),
            (Some(mean), _) => format!("{mean:.2}"),
            _ if self.failed > 0 => "failed".into(),
            _ => String::new(),
        };
        f.pad(&text)
    }
}

impl AccuracyTable {
    /// Sums up the cells of a suite. Only what has a cell gets a line or a column.
    pub fn new(suite: &Suite, records: &[CellRecord]) -> Self {
        let mut lines = distinct(records.iter().map(|record| Line::of(&record.id)));
        lines.sort_by_cached_key(|line| line.place(suite));
        let mut columns = distinct(records.iter().map(|record| Column::of(&record.id)));
        columns.sort_by_cached_key(|column| column.place(suite));
        let entries = vec![vec![Entry::default(); columns.len()]; lines.len()];
        let mut table = AccuracyTable { lines, columns, entries };
        for record in records {
            if let Some((line, column)) = table.place(&record.id) {
                table.entries[line][column].add(record);
            }
        }
        table
    }

    /// Holds the entries against published figures.
    pub fn with_paper(mut self, figure: impl Fn(&Line, &Column) -> Option<Published>) -> Self {
        for (line, entries) in self.lines.iter().zip(&mut self.entries) {
            for (column, entry) in self.columns.iter().zip(entries) {
                entry.paper = figure(line, column);
            }
        }
        self
    }

    /// Line and column of a cell, if the table has them.
    pub fn place(&self, id: &CellId) -> Option<(usize, usize)> {
        let (line, column) = (Line::of(id), Column::of(id));
        let line = self.lines.iter().position(|known| *known == line)?;
        Some((line, self.columns.iter().position(|known| *known == column)?))
    }

    /// The entry where a line and a column meet; an empty one where there is no cell.
    pub fn entry(&self, line: usize, column: usize) -> &Entry {
        &self.entries[line][column]
    }

    /// The entries of a line with their columns.
    pub fn entries(&self, line: usize) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries[line].iter().enumerate()
    }

    /// Whether an entry is the best of its line, which needs somebody to be better than.
    pub fn is_best(&self, line: usize, column: usize) -> bool {
        let best = self.entries[line].iter().filter_map(Entry::mean).max_by(f64::total_cmp);
        self.columns.len() > 1 && best.is_some() && self.entry(line, column).mean() == best
    }

    /// The column that the others are held against.
    pub fn ours(&self) -> Option<usize> {
        self.columns.iter().position(Column::is_ours)
    }

    /// p-value of the difference between an entry and ours in its line: a paired permutation test.
    pub fn p_value(&self, line: usize, column: usize) -> Option<f64> {
        let ours = self.ours().filter(|&ours| ours != column)?;
        self.entry(line, column).p_value_against(self.entry(line, ours))
    }

    /// The entries that have cells, line by line.
    pub fn rows(&self) -> Vec<Row> {
        let places = (0..self.lines.len()).flat_map(|line| (0..self.columns.len()).map(move |c| (line, c)));
        let filled = places.filter(|&(line, column)| !self.entry(line, column).is_empty());
        filled.map(|(line, column)| self.row(line, column)).collect()
    }

    fn row(&self, line: usize, column: usize) -> Row {
        let entry = self.entry(line, column);
        let (line, column) = (&self.lines[line], &self.columns[column]);
        Row {
            dataset: line.dataset.clone(),
            attack: line.attack.as_ref().map(|attack| attack.name.clone()),
            rate: line.rate(),
            poisoning: line.attack.as_ref().is_some_and(|attack| attack.poisoning),
            model: column.model.clone(),
            variant: column.variant.clone(),
            cells: entry.cells(),
            failed: entry.failed,
            test_accuracy_mean: entry.mean(),
            test_accuracy_std: entry.std(),
            train_seconds_mean: entry.train_seconds_mean(),
        }
    }
}

/// Each item once, in the order in which they first appear.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    items.for_each(|item| {
        if !found.contains(&item) {
            found.push(item);
        }
    });
    found
}

#[cfg(test)]
mod tests {
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
        assert_eq!((table.p_value(0, 0), table.p_value(0, 1)), (None, None), "two pairs tell nothing");
        let rows = table.rows();
        assert_eq!((rows.len(), rows[0].failed, rows[0].train_seconds_mean), (2, 1, Some(1.5)));
    }

    #[test]
    fn six_pairs_are_needed_to_speak_of_chance() {
        let cells = |splits: usize| {
            let of = |model, accuracy| {
                (0..splits).map(move |split| record("b", (model, None), split, None, accuracy))
            };
            of("mlp", 50.0).chain(of("lhs", 60.0)).collect::<Vec<_>>()
        };
        let p_value = |splits| AccuracyTable::new(&suite(), &cells(splits)).p_value(0, 0);
        // All on the same side: 2 of the 64 ways are as extreme.
        assert_eq!((p_value(5), p_value(6)), (None, Some(2.0 / 64.0)));
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
}
