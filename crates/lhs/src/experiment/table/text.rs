//! Accuracy tables as text: for terminals, and as Markdown, CSV and LaTeX.

use std::fmt::Write;

use super::{AccuracyTable, Column};

/// More columns than these are hard to read in a terminal: the table is turned.
const WIDE: usize = 6;
/// Every column of a terminal's table has room for a mean and a spread.
const ROOM: usize = 14;

impl AccuracyTable {
    /// For a terminal: one line per dataset and state, or one per model where there are many models.
    pub fn plain(&self) -> String {
        let lines: Vec<String> = (0..self.lines.len()).map(|line| self.line_name(line)).collect();
        let columns: Vec<String> = self.columns.iter().map(Column::to_string).collect();
        if columns.len() > WIDE {
            aligned(&columns, &lines, |side, head| self.entry(head, side).to_string())
        } else {
            aligned(&lines, &columns, |side, head| self.entry(side, head).to_string())
        }
    }

    /// A Markdown table, with the paper's figures in brackets.
    pub fn markdown(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|column| in_markdown(&column.to_string())).collect();
        let mut text = format!("| data | state | {} |\n|---|---|", heads.join(" | "));
        text.push_str(&"---|".repeat(self.columns.len()));
        for (place, line) in self.lines.iter().enumerate() {
            let _ =
                write!(text, "\n| {} | {} |", in_markdown(&line.dataset), in_markdown(&self.state(place)));
            for (column, entry) in self.entries(place) {
                let bold = if self.is_best(place, column) { "**" } else { "" };
                let paper = entry.paper.map_or(String::new(), |paper| format!(" ({:.2})", paper.mean));
                let _ = write!(text, " {bold}{entry}{bold}{paper} |");
            }
        }
        text + "\n"
    }

    /// One row per entry.
    pub fn csv(&self) -> String {
        let header = [
            "dataset",
            "state",
            "model",
            "cells",
            "failed",
            "mean",
            "std",
            "paper_mean",
            "paper_std",
            "p_against_lhs",
            "metric",
        ];
        let places = (0..self.lines.len()).flat_map(|line| (0..self.columns.len()).map(move |c| (line, c)));
        csv_text(header, places.map(|(line, column)| self.csv_row(line, column)))
    }

    fn csv_row(&self, line: usize, column: usize) -> [String; 11] {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
        let entry = self.entry(line, column);
        [
            self.lines[line].dataset.clone(),
            self.lines[line].state(),
            self.columns[column].to_string(),
            entry.cells().to_string(),
            entry.failed.to_string(),
            number(entry.mean()),
            number(entry.std().filter(|_| entry.cells() > 1)),
            number(entry.paper.map(|paper| paper.mean)),
            number(entry.paper.and_then(|paper| paper.std)),
            number(self.p_value(line, column)),
            self.metric(line).name().to_string(),
        ]
    }

    /// A LaTeX tabular.
    pub fn latex(&self) -> String {
        let heads: Vec<String> = self.columns.iter().map(|column| in_latex(&column.to_string())).collect();
        let mut text = format!(
            "\\begin{{tabular}}{{ll{}}}\n\\hline\ndata & state & {} \\\\\n\\hline\n",
            "r".repeat(self.columns.len()),
            heads.join(" & ")
        );
        for (place, line) in self.lines.iter().enumerate() {
            let entries: Vec<String> =
                self.entries(place).map(|(column, _)| self.latex_entry(place, column)).collect();
            let (dataset, state) = (in_latex(&line.dataset), in_latex(&self.state(place)));
            let _ = writeln!(text, "{dataset} & {state} & {} \\\\", entries.join(" & "));
        }
        text + "\\hline\n\\end{tabular}\n"
    }

    fn latex_entry(&self, line: usize, column: usize) -> String {
        let entry = self.entry(line, column);
        let Some(mean) = entry.mean() else { return "--".into() };
        let mean =
            if self.is_best(line, column) { format!("\\mathbf{{{mean:.2}}}") } else { format!("{mean:.2}") };
        match entry.std() {
            Some(std) => format!("${mean} \\pm {std:.2}$"),
            None => format!("${mean}$"),
        }
    }
}

/// Columns of equal width: `sides` down the left, `heads` along the top.
fn aligned(sides: &[String], heads: &[String], entry: impl Fn(usize, usize) -> String) -> String {
    let width = |text: &String| text.chars().count();
    let first = sides.iter().map(width).max().unwrap_or(0);
    let widths: Vec<usize> = heads.iter().map(|head| width(head).max(ROOM)).collect();
    let mut text = " ".repeat(first);
    for (head, width) in heads.iter().zip(&widths) {
        let _ = write!(text, "  {head:>width$}");
    }
    for (place, side) in sides.iter().enumerate() {
        let _ = write!(text, "\n{side:first$}");
        for (head, width) in widths.iter().enumerate() {
            let _ = write!(text, "  {:>width$}", entry(place, head));
        }
    }
    text
}

/// Rows of one length as CSV; whatever they hold is quoted where it must be.
pub fn csv_text<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    const SOUND: &str = "rows of one length can be written to memory";
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(header).expect(SOUND);
    rows.into_iter().for_each(|row| table.write_record(row).expect(SOUND));
    let bytes = table.into_inner().expect(SOUND);
    String::from_utf8(bytes).expect("text stays text")
}

/// A cell of a Markdown table: nothing in it ends the cell or becomes markup. Underscores within words are harmless.
pub(super) fn in_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '|' | '<' | '*' | '`' | '[' => safe.extend(['\\', character]),
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

/// Text that LaTeX prints as it is.
pub(super) fn in_latex(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => safe.push_str("\\textbackslash{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            // The default encoding has other signs in the places of these.
            '<' => safe.push_str("\\textless{}"),
            '>' => safe.push_str("\\textgreater{}"),
            '|' => safe.push_str("\\textbar{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => safe.extend(['\\', character]),
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::table::made_up::{cells, record, suite};

    #[test]
    fn names_cannot_break_out_of_a_table() {
        assert_eq!(in_latex("\\{}$&#_^~%"), {
            "\\textbackslash{}\\{\\}\\$\\&\\#\\_\\textasciicircum{}\\textasciitilde{}\\%"
        });
        let odd = "a|b\\|\"c\",\nd";
        let table = AccuracyTable::new(&suite(), &[record(odd, ("m&m", None), 0, None, 50.0)]);
        assert_eq!(
            table.markdown(),
            "| data | state | m&m |\n|---|---|---|\n| a\\|b\\\\\\|\"c\", d | clean | 50.00 |\n"
        );
        assert!(table.latex().contains("& m\\&m \\\\") && table.latex().contains("$50.00$"));
        let csv = table.csv();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let row = reader.records().next().unwrap().unwrap();
        assert_eq!((&row[0], &row[2], &row[5]), (odd, "m&m", "50.0000"));
    }

    #[test]
    fn many_columns_turn_the_table() {
        let narrow = AccuracyTable::new(&suite(), &cells()).plain();
        assert!(narrow.lines().next().unwrap().contains("lhs (wide)"), "{narrow}");
        assert_eq!(narrow.lines().count(), 1 + 4);
        let models: Vec<String> = (0..7).map(|place| format!("m{place}")).collect();
        let records: Vec<_> =
            models.iter().map(|model| record("b", (model.as_str(), None), 0, None, 50.0)).collect();
        let turned = AccuracyTable::new(&suite(), &records).plain();
        assert_eq!(turned.lines().count(), 1 + 7);
        assert_eq!(turned.lines().nth(1), Some("m0           50.00"));
        assert_eq!(turned.lines().next(), Some("           b clean"));
    }
}
