//! The one pivot of finished cells: datasets in their states against models and variants.
//!
//! Means, spreads and p-values over cells are computed here and nowhere else; pages, tables for papers, terminals and
//! scripts show what an [`AccuracyTable`] holds. Neither its order nor its sums depend on which cell was finished first.

mod grid;
#[cfg(test)]
pub(crate) mod made_up;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

pub use grid::Grid;
use serde::Serialize;
pub use text::csv_text;

use crate::experiment::{AttackId, CellId, CellRecord, Suite};
use crate::metrics::Metric;
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
    /// Whether models learned without the test nodes.
    pub inductive: bool,
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
    /// What the table shows, at the test nodes, in percent.
    pub values: BTreeMap<CellKey, f64>,
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
    /// What each line shows.
    metrics: Vec<Metric>,
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
    /// Whether the model learned without the test nodes.
    pub inductive: bool,
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
    /// Its population standard deviation; none of one cell.
    pub test_accuracy_std: Option<f64>,
    /// What the table shows.
    pub metric: Metric,
    /// Its mean at the test nodes.
    pub test_metric_mean: Option<f64>,
    /// Its population standard deviation; none of one cell.
    pub test_metric_std: Option<f64>,
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
        let attack = id.attack.as_ref().map(AttackState::of);
        Line { dataset: id.dataset.clone(), attack, inductive: id.inductive }
    }

    /// What state the data is in.
    pub fn state(&self) -> String {
        let inductive = if self.inductive { ", inductive" } else { "" };
        match &self.attack {
            None => format!("clean{inductive}"),
            Some(attack) if attack.poisoning => format!("{} {} before training", attack.name, attack.rate),
            Some(attack) => format!("{} {}{inductive}", attack.name, attack.rate),
        }
    }

    /// How strong the attack is; 0 on clean data.
    pub fn rate(&self) -> f64 {
        self.attack.as_ref().map_or(0.0, |attack| attack.rate)
    }

    /// Where the suite names it; what it does not name comes last, by name.
    fn place(&self, suite: &Suite) -> (usize, String, (bool, usize), String) {
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
        (dataset, self.dataset.clone(), (self.inductive, state), self.state())
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

/// Population standard deviation; none of fewer than two, which have no spread.
fn std_of(values: &BTreeMap<CellKey, f64>) -> Option<f64> {
    let values: Vec<f64> = values.values().copied().collect();
    (values.len() > 1).then(|| metrics::std(&values))
}

impl Entry {
    /// An entry with nothing but accuracies, which are what it shows.
    pub fn of_accuracies(accuracies: impl IntoIterator<Item = (CellKey, f64)>) -> Self {
        let accuracies: BTreeMap<CellKey, f64> = accuracies.into_iter().collect();
        Entry { values: accuracies.clone(), accuracies, ..Entry::default() }
    }

    /// Takes in a cell, of which a metric is shown.
    fn add(&mut self, record: &CellRecord, metric: Metric) {
        let Some(measured) = &record.result else {
            self.failed += 1;
            return;
        };
        let key = cell_key(&record.id);
        if let Some(accuracy) = measured.scores.test_accuracy {
            self.accuracies.insert(key, accuracy);
        }
        if let Some(value) = measured.scores.test(metric) {
            self.values.insert(key, value);
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

    /// Mean of what is shown; none if nothing was finished.
    pub fn mean(&self) -> Option<f64> {
        mean_of(&self.values)
    }

    /// Population standard deviation of what is shown; none of one cell.
    pub fn std(&self) -> Option<f64> {
        std_of(&self.values)
    }

    /// Mean seconds to train a model.
    pub fn train_seconds_mean(&self) -> Option<f64> {
        mean_of(&self.train_seconds)
    }

    /// p-value of the difference to another entry over the cells that both have; none of fewer than six.
    pub fn p_value_against(&self, other: &Entry) -> Option<f64> {
        let pairs = self.values.iter().filter_map(|(key, value)| Some(other.values.get(key)? - value));
        paired_p_value(&pairs.collect::<Vec<f64>>())
    }
}

/// Mean and spread, or that all failed, or nothing.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match (self.mean(), self.std()) {
            (Some(mean), Some(std)) => format!("{mean:.2} ± {std:.2}"),
            (Some(mean), None) => format!("{mean:.2}"),
            _ if self.failed > 0 => "failed".into(),
            _ => String::new(),
        };
        f.pad(&text)
    }
}

impl AccuracyTable {
    /// Sums up the cells of a suite. Only what has a cell gets a line or a column. A line shows the metric of the suite, or
    /// else what its models were judged by.
    pub fn new(suite: &Suite, records: &[CellRecord]) -> Self {
        Self::showing(suite.metric, suite, records)
    }

    /// The same with a metric of one's choice.
    pub fn showing(metric: Option<Metric>, suite: &Suite, records: &[CellRecord]) -> Self {
        let mut lines = distinct(records.iter().map(|record| Line::of(&record.id)));
        lines.sort_by_cached_key(|line| line.place(suite));
        let mut columns = distinct(records.iter().map(|record| Column::of(&record.id)));
        columns.sort_by_cached_key(|column| column.place(suite));
        let entries = vec![vec![Entry::default(); columns.len()]; lines.len()];
        let metrics = lines.iter().map(|line| metric.unwrap_or_else(|| judged_by(line, records))).collect();
        let mut table = AccuracyTable { lines, columns, metrics, entries };
        for record in records {
            if let Some((line, column)) = table.place(&record.id) {
                table.entries[line][column].add(record, table.metrics[line]);
            }
        }
        table
    }

    /// Holds the entries against published figures.
    pub fn with_paper(mut self, figure: impl Fn(&Line, &Column) -> Option<Published>) -> Self {
        // What was published are accuracies.
        let accuracies = self.metrics.iter().map(|metric| *metric == Metric::Accuracy);
        let lines = self.lines.iter().zip(&mut self.entries).zip(accuracies);
        for ((line, entries), _) in lines.filter(|(_, comparable)| *comparable) {
            for (column, entry) in self.columns.iter().zip(entries) {
                entry.paper = figure(line, column);
            }
        }
        self
    }

    /// By which protocols attacks after training were scored, in a sentence; none where there are none.
    pub fn protocol(&self) -> Option<&'static str> {
        let evaded = |line: &&Line| line.attack.as_ref().is_some_and(|attack| !attack.poisoning);
        let evasion: Vec<&Line> = self.lines.iter().filter(evaded).collect();
        let inductive = evasion.iter().filter(|line| line.inductive).count();
        match (inductive, evasion.len()) {
            (_, 0) => None,
            (0, _) => Some("attacks after training are transductive: the test nodes were there in training"),
            (some, all) if some == all => {
                Some("attacks after training are inductive: models learned without the test nodes")
            }
            _ => Some(
                "attacks after training are transductive (the test nodes were there in training), unless a line says inductive",
            ),
        }
    }

    /// What a line shows.
    pub fn metric(&self, line: usize) -> Metric {
        self.metrics[line]
    }

    /// The line in words, with what it shows where that is not accuracy.
    pub fn line_name(&self, line: usize) -> String {
        format!("{}{}", self.lines[line], self.not_accuracy(line))
    }

    /// The state of a line's data, likewise.
    pub fn state(&self, line: usize) -> String {
        format!("{}{}", self.lines[line].state(), self.not_accuracy(line))
    }

    fn not_accuracy(&self, line: usize) -> String {
        match self.metrics[line] {
            Metric::Accuracy => String::new(),
            metric => format!(", {metric}"),
        }
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
        let (entry, metric) = (self.entry(line, column), self.metrics[line]);
        let (line, column) = (&self.lines[line], &self.columns[column]);
        Row {
            dataset: line.dataset.clone(),
            attack: line.attack.as_ref().map(|attack| attack.name.clone()),
            rate: line.rate(),
            poisoning: line.attack.as_ref().is_some_and(|attack| attack.poisoning),
            inductive: line.inductive,
            model: column.model.clone(),
            variant: column.variant.clone(),
            cells: entry.cells(),
            failed: entry.failed,
            test_accuracy_mean: mean_of(&entry.accuracies),
            test_accuracy_std: std_of(&entry.accuracies),
            metric,
            test_metric_mean: entry.mean(),
            test_metric_std: entry.std(),
            train_seconds_mean: entry.train_seconds_mean(),
        }
    }
}

/// What all finished cells of a line were judged by; accuracy, which all have, if they differ.
fn judged_by(line: &Line, records: &[CellRecord]) -> Metric {
    let own = records.iter().filter(|record| Line::of(&record.id) == *line);
    let found = distinct(own.filter_map(|record| Some(record.result.as_ref()?.scores.judged_by())));
    if let [metric] = found[..] { metric } else { Metric::Accuracy }
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
