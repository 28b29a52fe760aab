//! Whether the first row of a table names its columns.
//!
//! Well-known names tell, and so does a comparison with the rows below: text above numbers, or words that occur nowhere
//! else while the words of all other rows do. Ids that another table knows are no header. In doubt the user is asked:
//! a header taken for data becomes a node or a class without a word, and data taken for a header is lost.

use std::collections::HashMap;
use std::path::Path;

use super::ids::Ids;
use super::rows::Rows;
use crate::error::{Error, Result};

/// So many rows are compared with the first.
const COMPARED: usize = 10_000;
/// Fewer rows than this say nothing by being alike.
const ENOUGH: usize = 3;

/// What is known about a table before its first row is judged.
pub(super) struct FirstRow<'a> {
    pub path: &'a Path,
    /// What the user said.
    pub told: Option<bool>,
    /// Ids of the tables read before.
    pub known: &'a Ids,
    /// Columns that hold ids.
    pub id_columns: &'a [usize],
    /// Whether the first row has names that are well known for such a table.
    pub recognised: bool,
    /// Columns whose words come again and again: the ends of edges, or classes.
    pub recurring: &'a [usize],
}

/// What was decided, and on what grounds.
pub(super) struct Decision {
    pub header: bool,
    /// For the user, where no well-known name decided.
    pub note: Option<String>,
}

impl FirstRow<'_> {
    pub fn decide(&self) -> Result<Decision> {
        let mut rows = Rows::open(self.path)?;
        rows.first()?;
        let first: Vec<String> =
            (0..rows.num_columns()).map(|column| rows.field(column).to_string()).collect();
        let settled = |header| Ok(Decision { header, note: None });
        if let Some(told) = self.told {
            return settled(told);
        }
        let id = |column: &usize| first.get(*column);
        let known = self.id_columns.iter().filter_map(id).any(|id| self.known.get(id).is_some());
        match (known, self.recognised) {
            (true, true) => {
                return Err(self.doubt(&first, "its words are well-known names, and ids of another table"));
            }
            (true, false) => return settled(false),
            (false, true) => return settled(true),
            (false, false) => {}
        }
        let below = Below::read(&mut rows, first.len())?;
        let number = |text: &String| text.parse::<f64>().is_ok();
        if (0..first.len()).any(|column| !number(&first[column]) && below.numbers[column]) {
            return Ok(self.header(&first, "it stands above numbers"));
        }
        if first.iter().all(number) {
            return settled(false);
        }
        self.by_words(&first, &below, &mut rows)
    }

    /// Words that occur nowhere else make a header, if all other rows have words that do.
    fn by_words(&self, first: &[String], below: &Below, rows: &mut Rows<'_>) -> Result<Decision> {
        let of = |row: &[String]| -> Vec<String> {
            self.recurring.iter().filter_map(|&column| row.get(column).cloned()).collect()
        };
        let mut counts: HashMap<String, usize> = HashMap::new();
        for row in &below.rows {
            of(row).into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
        let words = of(first);
        if words.iter().any(|word| counts.contains_key(word)) || self.recur(rows, &words)? {
            return Ok(Decision { header: false, note: None });
        }
        let alone = |row: &&Vec<String>| of(row).iter().all(|word| counts[word] == 1);
        if below.rows.len() < ENOUGH || below.rows.iter().any(|row| alone(&row)) {
            return Err(self.doubt(first, "its words occur nowhere else, but neither do those of other rows"));
        }
        Ok(self.header(first, "its words occur nowhere else"))
    }

    /// Whether one of the words occurs in the rows that are left.
    fn recur(&self, rows: &mut Rows<'_>, words: &[String]) -> Result<bool> {
        while rows.advance()? {
            let columns = self.recurring.iter().filter(|&&column| column < rows.num_columns());
            if columns.into_iter().any(|&column| words.iter().any(|word| word == rows.field(column))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn header(&self, first: &[String], why: &str) -> Decision {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let note = format!("{file}: the first row, `{}`, was taken for a header: {why}", first.join(","));
        Decision { header: true, note: Some(note) }
    }

    fn doubt(&self, first: &[String], why: &str) -> Error {
        Error::input(
            self.path,
            "line 1",
            format!("is `{}` a header or data? {why}", first.join(",")),
            "say whether the first row of the tables is a header (yes or no), or give it well-known names: \
             source,target for edges, node,label for labels",
        )
    }
}

/// The rows below the first, as many as are compared.
struct Below {
    rows: Vec<Vec<String>>,
    /// For each column, whether all its values are numbers, and there is one.
    numbers: Vec<bool>,
}

impl Below {
    fn read(rows: &mut Rows<'_>, columns: usize) -> Result<Self> {
        let mut found = Vec::new();
        while found.len() < COMPARED && rows.advance()? {
            found.push(
                (0..rows.num_columns()).map(|column| rows.field(column).to_string()).collect::<Vec<_>>(),
            );
        }
        let is_number = |column: usize| {
            let values =
                || found.iter().filter_map(move |row| row.get(column)).filter(|value| !value.is_empty());
            values().next().is_some() && values().all(|value| value.parse::<f64>().is_ok())
        };
        let numbers = (0..columns).map(is_number).collect();
        Ok(Below { rows: found, numbers })
    }
}
