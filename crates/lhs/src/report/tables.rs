//! Accuracy tables: for the page, and as Markdown, CSV and LaTeX.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::paper::{self, Figure};
use super::svg::escaped;
use crate::bench::{AttackId, CellRecord, Suite};
use crate::eval::metrics;
use crate::eval::significance::paired_p_value;

/// The model that the others are held against.
const OURS: &str = "lhs";

/// One entry: a model, or a variant of it, on a dataset in some state.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Accuracies in percent, by split, seed and repeat.
    pub accuracies: BTreeMap<(usize, u64, u64), f64>,
    /// Cells that failed.
    pub failed: usize,
    /// What the paper says.
    pub paper: Option<Figure>,
}

/// Datasets in their states against models and variants.
pub struct AccuracyTable {
    /// Dataset and state.
    pub lines: Vec<(String, String)>,
    /// Models and variants.
    pub columns: Vec<String>,
    /// Entries by line and column.
    pub entries: Vec<Vec<Entry>>,
}

impl Entry {
    fn values(&self) -> Vec<f64> {
        self.accuracies.values().copied().collect()
    }

    /// Mean accuracy; none if nothing was finished.
    pub fn mean(&self) -> Option<f64> {
        (!self.accuracies.is_empty()).then(|| metrics::mean(&self.values()))
    }

    /// Its spread.
    pub fn std(&self) -> f64 {
        metrics::std(&self.values())
    }

    /// p-value of the difference to another entry over what both have in common.
    fn against(&self, other: &Entry) -> Option<f64> {
        let pairs =
            self.accuracies.iter().filter_map(|(key, value)| Some(other.accuracies.get(key)? - value));
        let differences: Vec<f64> = pairs.collect();
        if differences.len() < 2 { None } else { paired_p_value(&differences) }
    }

    fn text(&self) -> String {
        match self.mean() {
            Some(mean) if self.accuracies.len() > 1 => format!("{mean:.2} ± {:.2}", self.std()),
            Some(mean) => format!("{mean:.2}"),
            None if self.failed > 0 => "failed".into(),
            None => String::new(),
        }
    }
}

/// What a model or variant is called.
pub fn contestant(record: &CellRecord) -> String {
    match &record.id.variant {
        Some(variant) => format!("{}, {variant}", record.id.model),
        None => record.id.model.clone(),
    }
}

/// What state the data was in.
pub fn state(attack: Option<&AttackId>) -> String {
    match attack {
        None => "clean".into(),
        Some(attack) => {
            format!("{} {}{}", attack.name, attack.rate, if attack.poisoning { ", poisoning" } else { "" })
        }
    }
}

impl AccuracyTable {
    /// Sums up the cells of a suite.
    pub fn new(suite: &Suite, records: &[CellRecord]) -> Self {
        let mut table = AccuracyTable { lines: Vec::new(), columns: Vec::new(), entries: Vec::new() };
        for record in records {
            let id = &record.id;
            let line = (id.dataset.clone(), state(id.attack.as_ref()));
            let line = place(&mut table.lines, line);
            let column = place(&mut table.columns, contestant(record));
            table.entries.resize_with(table.lines.len(), Vec::new);
            table.entries.iter_mut().for_each(|row| row.resize_with(table.columns.len(), Entry::default));
            let entry = &mut table.entries[line][column];
            match &record.result {
                Some(measured) => {
                    let repeat = id.attack.as_ref().map_or(0, |attack| attack.repeat);
                    entry.accuracies.insert((id.split, id.seed, repeat), measured.scores.test_accuracy);
                }
                None => entry.failed += 1,
            }
            // The paper's attacks have one strength: ours at its default is the nearest to it.
            let strength = id.attack.as_ref().is_none_or(|attack| attack.rate == 1.0);
            if let (Some(of), None, true) = (&suite.paper, &id.variant, strength) {
                let attack = id.attack.as_ref().map(|attack| attack.name.as_str());
                entry.paper = paper::figure(of, &id.model, &id.dataset, attack);
            }
        }
        table
    }

    fn ours(&self, line: usize) -> Option<&Entry> {
        let column = self.columns.iter().position(|column| column == OURS)?;
        Some(&self.entries[line][column]).filter(|entry| entry.mean().is_some())
    }

    fn best(&self, line: usize) -> Option<f64> {
        self.entries[line].iter().filter_map(Entry::mean).max_by(f64::total_cmp)
    }

    fn is_best(&self, line: usize, entry: &Entry) -> bool {
        self.columns.len() > 1 && entry.mean().is_some() && entry.mean() == self.best(line)
    }

    /// For the page: the paper's figure and the difference below ours, and how sure the difference to LHS is.
    pub fn html(&self) -> String {
        let mut html = "<div class=\"scroll\"><table><thead><tr><th>data<th>state".to_string();
        for column in &self.columns {
            let _ = write!(html, "<th class=\"number\">{}", escaped(column));
        }
        html.push_str("<tbody>");
        for (line, (dataset, state)) in self.lines.iter().enumerate() {
            let _ = write!(html, "<tr><th>{}<td>{}", escaped(dataset), escaped(state));
            for (column, entry) in self.columns.iter().zip(&self.entries[line]) {
                let text = escaped(&entry.text());
                let _ = match self.is_best(line, entry) {
                    true => write!(html, "<td class=\"number\"><b>{text}</b>"),
                    false => write!(html, "<td class=\"number\">{text}"),
                };
                if let (Some(paper), Some(mean)) = (entry.paper, entry.mean()) {
                    let _ = write!(
                        html,
                        "<small>paper {:.2} <span class=\"{}\">{:+.2}</span></small>",
                        paper.mean,
                        if mean >= paper.mean { "up" } else { "down" },
                        mean - paper.mean
                    );
                }
                let others = self.ours(line).filter(|_| column != OURS);
                if let Some(p) = others.and_then(|ours| entry.against(ours)) {
                    let _ = write!(
                        html,
                        "<small title=\"paired permutation test against lhs\">p {}</small>",
                        p_value(p)
                    );
                }
            }
        }
        html + "</table></div>"
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let mut text = format!("| data | state | {} |\n", self.columns.join(" | "));
        text.push_str(&format!("|---|---|{}\n", "---|".repeat(self.columns.len())));
        for (line, (dataset, state)) in self.lines.iter().enumerate() {
            let _ = write!(text, "| {dataset} | {state} |");
            for entry in &self.entries[line] {
                let own = entry.text();
                let own = if self.is_best(line, entry) { format!("**{own}**") } else { own };
                let paper = entry.paper.map_or(String::new(), |paper| format!(" ({:.2})", paper.mean));
                let _ = write!(text, " {own}{paper} |");
            }
            text.push('\n');
        }
        text
    }

    /// One row per entry.
    pub fn csv(&self) -> String {
        let mut text =
            "dataset,state,model,cells,failed,mean,std,paper_mean,paper_std,p_against_lhs\n".to_string();
        for (line, (dataset, state)) in self.lines.iter().enumerate() {
            for (column, entry) in self.columns.iter().zip(&self.entries[line]) {
                let number = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
                let p = self.ours(line).filter(|_| column != OURS).and_then(|ours| entry.against(ours));
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{}",
                    quoted(dataset),
                    quoted(state),
                    quoted(column),
                    entry.accuracies.len(),
                    entry.failed,
                    number(entry.mean()),
                    number(entry.mean().map(|_| entry.std())),
                    number(entry.paper.map(|paper| paper.mean)),
                    number(entry.paper.map(|paper| paper.std)),
                    number(p)
                );
            }
        }
        text
    }

    /// A LaTeX tabular.
    pub fn latex(&self) -> String {
        let safe = |text: &str| text.replace('_', "\\_").replace('%', "\\%").replace('&', "\\&");
        let heads: Vec<String> = self.columns.iter().map(|column| safe(column)).collect();
        let mut text = format!(
            "\\begin{{tabular}}{{ll{}}}\n\\hline\ndata & state & {} \\\\\n\\hline\n",
            "r".repeat(self.columns.len()),
            heads.join(" & ")
        );
        for (line, (dataset, state)) in self.lines.iter().enumerate() {
            let entries: Vec<String> = self.entries[line]
                .iter()
                .map(|entry| match entry.mean() {
                    Some(mean) if self.is_best(line, entry) => {
                        format!("$\\mathbf{{{mean:.2}}} \\pm {:.2}$", entry.std())
                    }
                    Some(mean) => format!("${mean:.2} \\pm {:.2}$", entry.std()),
                    None => "--".into(),
                })
                .collect();
            let _ = writeln!(text, "{} & {} & {} \\\\", safe(dataset), safe(state), entries.join(" & "));
        }
        text + "\\hline\n\\end{tabular}\n"
    }
}

fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|other| *other == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// A field of a CSV file.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
