//! The rows of a text table, whatever wrote it: comma, tab, semicolon or blanks between the columns,
//! quotes, comments, Windows line ends, a byte order mark.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};

/// What stands between two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiter {
    Byte(u8),
    Blanks,
}

/// A table that is read row by row; no memory is taken per row.
pub(super) struct Rows<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    line: String,
    fields: Vec<Range<usize>>,
    number: u64,
    delimiter: Option<Delimiter>,
    held_back: bool,
}

impl<'a> Rows<'a> {
    pub fn open(path: &'a Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        Ok(Rows {
            path,
            reader: BufReader::with_capacity(1 << 20, file),
            line: String::new(),
            fields: Vec::new(),
            number: 0,
            delimiter: None,
            held_back: false,
        })
    }

    /// Goes to the next row that is neither blank nor a comment; false at the end of the table.
    pub fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.held_back) {
            return Ok(true);
        }
        loop {
            if !self.read_line()? {
                return Ok(false);
            }
            let content = self.line.trim_start();
            if !content.is_empty() && !content.starts_with('#') {
                self.split()?;
                return Ok(true);
            }
        }
    }

    /// Goes to the first row, which must exist.
    pub fn first(&mut self) -> Result<()> {
        if self.advance()? {
            return Ok(());
        }
        Err(Error::input(self.path, "", "the table is empty", "check that the right file was given"))
    }

    /// Makes the next [`Rows::advance`] stay at this row.
    pub fn hold_back(&mut self) {
        self.held_back = true;
    }

    pub fn num_columns(&self) -> usize {
        self.fields.len()
    }

    pub fn field(&self, column: usize) -> &str {
        &self.line[self.fields[column].clone()]
    }

    /// A number that can be computed with.
    pub fn finite(&self, column: usize, what: &str) -> Result<f32> {
        let text = self.field(column);
        match text.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.wrong(
                column,
                format!("{what} `{text}` is not a finite number"),
                "write numbers like 0.5 or -3e2; replace missing values by 0 or the column's mean",
            )),
        }
    }

    /// Refuses a row that is longer or shorter than the table.
    pub fn expect_columns(&self, expected: usize, meaning: &str) -> Result<()> {
        if self.num_columns() == expected {
            return Ok(());
        }
        let columns = if self.num_columns() == 1 { "column" } else { "columns" };
        Err(Error::input(
            self.path,
            format!("line {}", self.number),
            format!("found {} {columns} instead of {expected}", self.num_columns()),
            format!("every row needs {meaning}; put text that holds the separator between double quotes"),
        ))
    }

    /// An error at a column of this row.
    pub fn wrong(&self, column: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("line {}, column {}", self.number, column + 1), problem, remedy)
    }

    fn read_line(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        match self.reader.read_line(&mut self.line) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Error::input(
                    self.path,
                    format!("line {}", self.number),
                    "the text is not UTF-8",
                    "save the table as UTF-8 text (a binary file does not belong here)",
                ));
            }
            Err(error) => return Err(Error::io("read", self.path)(error)),
        }
        self.line.truncate(self.line.trim_end_matches(['\n', '\r']).len());
        if self.number == 1 && self.line.starts_with('\u{feff}') {
            self.line.drain(..'\u{feff}'.len_utf8());
        }
        Ok(true)
    }

    fn split(&mut self) -> Result<()> {
        let delimiter = *self.delimiter.get_or_insert_with(|| detect(&self.line));
        self.fields.clear();
        let end = self.line.len();
        let mut at = 0;
        loop {
            at = self.skip_blanks(at, end, delimiter);
            if delimiter == Delimiter::Blanks && at == end {
                return Ok(());
            }
            let quoted = at < end && self.line.as_bytes()[at] == b'"';
            at = if quoted { self.quoted_field(at + 1, end)? } else { self.plain_field(at, end, delimiter) };
            at = self.skip_blanks(at, end, delimiter);
            match delimiter {
                _ if at == end => return Ok(()),
                Delimiter::Blanks => {}
                Delimiter::Byte(byte) if self.line.as_bytes()[at] == byte => at += 1,
                Delimiter::Byte(_) => {
                    let column = self.fields.len() - 1;
                    return Err(self.wrong(
                        column,
                        "text after the closing quote",
                        "write a double quote inside a quoted text twice: \"\"",
                    ));
                }
            }
        }
    }

    fn skip_blanks(&self, mut at: usize, end: usize, delimiter: Delimiter) -> usize {
        let bytes = self.line.as_bytes();
        while at < end && (bytes[at] == b' ' || bytes[at] == b'\t') && delimiter != Delimiter::Byte(bytes[at])
        {
            at += 1;
        }
        at
    }

    /// A field without quotes: up to the separator, blanks at its end left out.
    fn plain_field(&mut self, start: usize, end: usize, delimiter: Delimiter) -> usize {
        let bytes = &self.line.as_bytes()[start..end];
        let length = bytes.iter().position(|&byte| match delimiter {
            Delimiter::Byte(separator) => byte == separator,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        });
        let stop = start + length.unwrap_or(bytes.len());
        let text = self.line[start..stop].trim_ascii_end();
        self.fields.push(start..start + text.len());
        stop
    }

    /// A field between quotes. One with `""` inside is written out behind the line.
    fn quoted_field(&mut self, start: usize, end: usize) -> Result<usize> {
        let mut stop = start;
        let mut doubled = false;
        loop {
            match self.line[stop..end].find('"') {
                None => {
                    return Err(self.wrong(self.fields.len(), "a quote is opened and not closed", ""));
                }
                Some(length) => stop += length,
            }
            if self.line[stop + 1..end].starts_with('"') {
                doubled = true;
                stop += 2;
            } else {
                break;
            }
        }
        if doubled {
            let text = self.line[start..stop].replace("\"\"", "\"");
            let place = self.line.len();
            self.line.push_str(&text);
            self.fields.push(place..self.line.len());
        } else {
            self.fields.push(start..stop);
        }
        Ok(stop + 1)
    }
}

/// The separator that the first row holds most often, outside quotes.
fn detect(line: &str) -> Delimiter {
    let mut counts = [(b'\t', 0), (b',', 0), (b';', 0)];
    let mut quoted = false;
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(separator, _)| *separator == byte && !quoted) {
            *count += 1;
        }
    }
    // The first of equals wins: `max_by_key` would take the last.
    let most = counts.into_iter().rev().max_by_key(|&(_, count)| count);
    match most {
        Some((separator, 1..)) => Delimiter::Byte(separator),
        _ => Delimiter::Blanks,
    }
}

/// Whether a header calls a column by one of these names.
pub(super) fn is_called(field: &str, names: &[&str]) -> bool {
    names.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// What people call the column that names a node.
pub(super) const NODE: &[&str] = &["node", "id", "node_id", "nodeid", "node id", "name", "index", ""];

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Vec<String>>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path)?;
        let mut all = Vec::new();
        while rows.advance()? {
            all.push((0..rows.num_columns()).map(|c| rows.field(c).to_string()).collect());
        }
        Ok(all)
    }

    #[test]
    fn every_separator_is_understood() {
        for text in ["a,b\nc , d\n", "a\tb\nc\td", "a;b\r\n\r\nc;d\r\n", "# note\na  b\n c d \n"] {
            assert_eq!(rows(text).unwrap(), [["a", "b"], ["c", "d"]], "{text:?}");
        }
        assert_eq!(rows("a\t\tb").unwrap(), [["a", "", "b"]]);
        assert_eq!(rows("a,b,").unwrap(), [["a", "b", ""]]);
    }

    #[test]
    fn quotes_keep_separators_and_quotes() {
        let text = "\u{feff}\"Smith, J.\",\"say \"\"hé\"\"\"\r\n\"\",\" x \"\n";
        assert_eq!(rows(text).unwrap(), [["Smith, J.", "say \"hé\""], ["", " x "]]);
    }

    #[test]
    fn broken_quotes_are_named() {
        let error = rows("a,b\nc,\"d\n").unwrap_err().to_string();
        assert!(error.ends_with("t.csv: line 2, column 2: a quote is opened and not closed"), "{error}");
        let error = rows("a,\"b\"c\n").unwrap_err().to_string();
        assert!(error.contains("line 1, column 2: text after the closing quote"), "{error}");
    }
}
