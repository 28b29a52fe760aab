//! The rows of a table, whatever it is kept in: text, JSON lines, Parquet; each cell as text.

use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::Path;

use super::json_rows::JsonRows;
use super::text_rows::TextRows;
use crate::error::{Error, Result};
use crate::io::open::open;
use crate::io::recognise::{Kind, recognise};

/// A table that is read row by row; no memory is taken per row.
pub(super) struct Rows<'a> {
    path: &'a Path,
    source: Box<dyn RowSource>,
    row: Row,
    /// What the columns are called, where the file says so by itself.
    names: Option<Vec<String>>,
    held_back: bool,
}

/// Where rows come from.
pub(super) trait RowSource {
    /// Goes to the next row; false at the end.
    fn next(&mut self, row: &mut Row) -> Result<bool>;

    /// What the number of a row counts.
    fn counted(&self) -> &'static str {
        "line"
    }
}

/// One row.
#[derive(Default)]
pub(super) struct Row {
    pub text: String,
    pub fields: Vec<Range<usize>>,
    pub number: u64,
}

impl Row {
    pub fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &str) {
        let start = self.text.len();
        self.text.push_str(cell);
        self.fields.push(start..self.text.len());
    }
}

impl<'a> Rows<'a> {
    pub fn open(path: &'a Path) -> Result<Self> {
        if path.is_dir() {
            return Err(Error::input(path, "", "this is a folder, not a table", "name the file"));
        }
        match recognise(path)? {
            Kind::Parquet => return Self::open_parquet(path),
            Kind::Text | Kind::Json | Kind::Gzip => {}
            Kind::Empty => return Err(empty(path)),
            other => return Err(other.refuse(path).unwrap_or_else(|| no_table(path))),
        }
        let mut bytes = open(path)?;
        let start = bytes.fill_buf().map_err(|error| unpacked(path, error))?;
        let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
        if matches!(first, Some(b'{' | b'[')) {
            let source = JsonRows::open(path)?;
            let names = Some(source.names().to_vec());
            return Ok(Rows { path, source: Box::new(source), row: Row::default(), names, held_back: false });
        }
        let source = Box::new(TextRows::new(path, bytes));
        Ok(Rows { path, source, row: Row::default(), names: None, held_back: false })
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &'a Path) -> Result<Self> {
        let source = super::parquet_rows::ParquetRows::open(path)?;
        let names = Some(source.names().to_vec());
        Ok(Rows { path, source: Box::new(source), row: Row::default(), names, held_back: false })
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &'a Path) -> Result<Self> {
        Err(Error::input(
            path,
            "",
            "this is a Parquet file, which this build cannot read",
            "save the table as CSV",
        ))
    }

    /// What the columns are called, where the file says so by itself.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Goes to the next row; false at the end of the table.
    pub fn advance(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.held_back) {
            return Ok(true);
        }
        self.source.next(&mut self.row)
    }

    /// Goes to the first row, which must exist.
    pub fn first(&mut self) -> Result<()> {
        if self.advance()? {
            return Ok(());
        }
        Err(empty(self.path))
    }

    /// Makes the next [`Rows::advance`] stay at this row.
    pub fn hold_back(&mut self) {
        self.held_back = true;
    }

    pub fn num_columns(&self) -> usize {
        self.row.fields.len()
    }

    pub fn field(&self, column: usize) -> &str {
        &self.row.text[self.row.fields[column].clone()]
    }

    /// All cells of the row.
    pub fn cells(&self) -> Vec<String> {
        (0..self.num_columns()).map(|column| self.field(column).to_string()).collect()
    }

    /// The number of the row in the file.
    pub fn number(&self) -> u64 {
        self.row.number
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
            self.place(),
            format!("found {} {columns} instead of {expected}", self.num_columns()),
            format!("every row needs {meaning}; put text that holds the separator between double quotes"),
        ))
    }

    /// Where this row stands.
    pub fn place(&self) -> String {
        format!("{} {}", self.source.counted(), self.row.number)
    }

    /// An error at a column of this row.
    pub fn wrong(&self, column: usize, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("{}, column {}", self.place(), column + 1), problem, remedy)
    }
}

fn empty(path: &Path) -> Error {
    Error::input(path, "", "the table is empty", "check that the right file was given")
}

fn no_table(path: &Path) -> Error {
    Error::input(
        path,
        "",
        "this is a whole graph, not a table",
        "give it as the dataset, without other tables",
    )
}

/// What went wrong while reading, which may be the packing.
pub(super) fn unpacked(path: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidInput | InvalidData | UnexpectedEof => {
            Error::input(path, "", format!("the packed file is damaged: {error}"), "fetch or pack it again")
        }
        _ => Error::io("read", path)(error),
    }
}

/// All of a file, unpacked; refused where that would be more than could be meant.
pub(super) fn read_all(path: &Path) -> Result<Vec<u8>> {
    const MOST: u64 = 8 << 30;
    let mut bytes = Vec::new();
    open(path)?.take(MOST).read_to_end(&mut bytes).map_err(|error| unpacked(path, error))?;
    if bytes.len() as u64 == MOST {
        return Err(Error::input(path, "", "there are more than 8 GiB in this file", "divide it"));
    }
    Ok(bytes)
}

/// Whether a header calls a column by one of these names.
pub(super) fn is_called(field: &str, names: &[&str]) -> bool {
    names.iter().any(|name| field.eq_ignore_ascii_case(name))
}

/// What people call the column that names a node.
pub(super) const NODE: &[&str] =
    &["node", "id", "node_id", "nodeid", "node id", "name", "index", "__index_level_0__", ""];

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
