//! A table of words: aligned for terminals, and as Markdown, CSV and LaTeX.

use std::fmt::Write;

use super::text::{in_latex, in_markdown};

/// A head, and rows of the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Names of the columns.
    pub head: Vec<String>,
    /// What stands in them.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// For a terminal: columns of one width, numbers at the right.
    pub fn plain(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let widest = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(widest).collect();
        let mut text = String::new();
        for line in lines() {
            let mut row = String::new();
            for (column, (word, width)) in line.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let _ = match self.is_number(column) {
                    true => write!(row, "{gap}{word:>width$}"),
                    false => write!(row, "{gap}{word:width$}"),
                };
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let row = |words: &[String]| {
            let words: Vec<String> = words.iter().map(|word| in_markdown(word)).collect();
            format!("| {} |\n", words.join(" | "))
        };
        let rule = |column| if self.is_number(column) { "---:|" } else { "---|" };
        let rules: String = (0..self.head.len()).map(rule).collect();
        let rows: String = self.rows.iter().map(|words| row(words)).collect();
        format!("{}|{rules}\n{rows}", row(&self.head))
    }

    /// Comma-separated.
    pub fn csv(&self) -> String {
        const SOUND: &str = "rows can be written to memory";
        let mut table = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        std::iter::once(&self.head).chain(&self.rows).for_each(|row| table.write_record(row).expect(SOUND));
        String::from_utf8(table.into_inner().expect(SOUND)).expect("text stays text")
    }

    /// A LaTeX tabular.
    pub fn latex(&self) -> String {
        let row = |words: &[String]| {
            let words: Vec<String> = words.iter().map(|word| in_latex(word).replace('±', "$\\pm$")).collect();
            format!("{} \\\\\n", words.join(" & "))
        };
        let columns: String =
            (0..self.head.len()).map(|c| if self.is_number(c) { 'r' } else { 'l' }).collect();
        let rows: String = self.rows.iter().map(|words| row(words)).collect();
        let head = row(&self.head);
        format!("\\begin{{tabular}}{{{columns}}}\n\\hline\n{head}\\hline\n{rows}\\hline\n\\end{{tabular}}\n")
    }

    /// Whether a column holds numbers alone.
    fn is_number(&self, column: usize) -> bool {
        let mut words =
            self.rows.iter().map(|row| row[column].as_str()).filter(|word| !word.is_empty()).peekable();
        let number = |word: &str| {
            word.split([' ', '±']).filter(|part| !part.is_empty()).all(|p| p.parse::<f64>().is_ok())
        };
        words.peek().is_some() && words.all(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_in_four_formats() {
        let row = |words: [&str; 2]| words.map(String::from).to_vec();
        let grid = Grid {
            head: row(["run", "accuracy"]),
            rows: vec![row(["a_b|", "7.50 ± 1.00"]), row(["c", "10.00"])],
        };
        assert_eq!(grid.plain(), "run      accuracy\na_b|  7.50 ± 1.00\nc           10.00\n");
        assert_eq!(
            grid.markdown(),
            "| run | accuracy |\n|---|---:|\n| a_b\\| | 7.50 ± 1.00 |\n| c | 10.00 |\n"
        );
        assert_eq!(grid.csv(), "run,accuracy\na_b|,7.50 ± 1.00\nc,10.00\n");
        let latex = grid.latex();
        assert!(
            latex.contains("{lr}") && latex.contains("a\\_b\\textbar{} & 7.50 $\\pm$ 1.00 \\\\\n"),
            "{latex}"
        );
    }
}
