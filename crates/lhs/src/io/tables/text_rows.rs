//! Rows of text: comma, tab, semicolon or blanks between the columns, quotes, comments, Windows line ends, a byte order
//! mark. A text between quotes may go on over several lines.

use std::io::{self, BufRead};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::rows::{Row, RowSource, unpacked};
use crate::error::{Error, Result};

/// A text between quotes that is longer than this was never closed.
const LONGEST_QUOTE: usize = 1 << 16;

/// What stands between two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiter {
    Byte(u8),
    Blanks,
}

/// A text table.
pub(super) struct TextRows {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    /// Lines read.
    lines: u64,
    delimiter: Option<Delimiter>,
}

/// Why a line cannot be divided into columns.
enum Broken {
    /// A quote is not closed; so many columns are before it.
    Open(usize),
    /// Something stands behind the closing quote of this column.
    Behind(usize),
}

impl RowSource for TextRows {
    fn next(&mut self, row: &mut Row) -> Result<bool> {
        loop {
            row.clear();
            if !self.read_line(&mut row.text)? {
                return Ok(false);
            }
            let content = row.text.trim_start();
            if !content.is_empty() && !content.starts_with('#') {
                break;
            }
        }
        row.number = self.lines;
        let delimiter = *self.delimiter.get_or_insert_with(|| detect(&row.text));
        loop {
            row.fields.clear();
            let mut splitter = Splitter { text: &mut row.text, fields: &mut row.fields, delimiter };
            match splitter.split() {
                Ok(()) => return Ok(true),
                Err(Broken::Behind(column)) => {
                    let remedy = "write a double quote inside a quoted text twice: \"\"";
                    return Err(self.wrong(row, column, "text after the closing quote", remedy));
                }
                Err(Broken::Open(column)) => {
                    let length = row.text.len();
                    row.text.push('\n');
                    if length > LONGEST_QUOTE || !self.read_line(&mut row.text)? {
                        return Err(self.wrong(row, column, "a quote is opened and not closed", ""));
                    }
                }
            }
        }
    }
}

impl TextRows {
    pub fn new(path: &Path, reader: Box<dyn BufRead>) -> Self {
        TextRows { path: path.to_path_buf(), reader, lines: 0, delimiter: None }
    }

    fn wrong(&self, row: &Row, column: usize, problem: &str, remedy: &str) -> Error {
        Error::input(&self.path, format!("line {}, column {}", row.number, column + 1), problem, remedy)
    }

    /// Adds the next line, without its end, to a text; false if there is none.
    fn read_line(&mut self, text: &mut String) -> Result<bool> {
        self.lines += 1;
        let before = text.len();
        match self.reader.read_line(text) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Error::input(
                    &self.path,
                    format!("line {}", self.lines),
                    "the text is not UTF-8",
                    "save the table as UTF-8 text (a binary file does not belong here)",
                ));
            }
            Err(error) => return Err(unpacked(&self.path, error)),
        }
        text.truncate(before + text[before..].trim_end_matches(['\n', '\r']).len());
        if self.lines == 1 && text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Ok(true)
    }
}

/// Divides a line into columns.
struct Splitter<'a> {
    text: &'a mut String,
    fields: &'a mut Vec<Range<usize>>,
    delimiter: Delimiter,
}

impl Splitter<'_> {
    fn split(&mut self) -> Result<(), Broken> {
        let delimiter = self.delimiter;
        let end = self.text.len();
        let mut at = 0;
        loop {
            at = self.skip_blanks(at, end);
            if delimiter == Delimiter::Blanks && at == end {
                return Ok(());
            }
            let quoted = at < end && self.text.as_bytes()[at] == b'"';
            at = if quoted { self.quoted_field(at + 1, end)? } else { self.plain_field(at, end) };
            at = self.skip_blanks(at, end);
            match delimiter {
                _ if at == end => return Ok(()),
                Delimiter::Blanks => {}
                Delimiter::Byte(byte) if self.text.as_bytes()[at] == byte => at += 1,
                Delimiter::Byte(_) => return Err(Broken::Behind(self.fields.len() - 1)),
            }
        }
    }

    fn skip_blanks(&self, mut at: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        while at < end
            && (bytes[at] == b' ' || bytes[at] == b'\t')
            && self.delimiter != Delimiter::Byte(bytes[at])
        {
            at += 1;
        }
        at
    }

    /// A field without quotes: up to the separator, blanks at its end left out.
    fn plain_field(&mut self, start: usize, end: usize) -> usize {
        let bytes = &self.text.as_bytes()[start..end];
        let length = bytes.iter().position(|&byte| match self.delimiter {
            Delimiter::Byte(separator) => byte == separator,
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
        });
        let stop = start + length.unwrap_or(bytes.len());
        let text = self.text[start..stop].trim_ascii_end();
        self.fields.push(start..start + text.len());
        stop
    }

    /// A field between quotes. One with `""` inside is written out behind the line.
    fn quoted_field(&mut self, start: usize, end: usize) -> Result<usize, Broken> {
        let mut stop = start;
        let mut doubled = false;
        loop {
            match self.text[stop..end].find('"') {
                None => return Err(Broken::Open(self.fields.len())),
                Some(length) => stop += length,
            }
            if self.text[stop + 1..end].starts_with('"') {
                doubled = true;
                stop += 2;
            } else {
                break;
            }
        }
        if doubled {
            let text = self.text[start..stop].replace("\"\"", "\"");
            let place = self.text.len();
            self.text.push_str(&text);
            self.fields.push(place..self.text.len());
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
