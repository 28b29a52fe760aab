//! Text tables with a heading and columns separated by tabs; errors name the line.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::io::{atomic, npy::quoted};

/// A table whose heading is read and whose lines are still to come.
pub(super) struct Table {
    path: PathBuf,
    reader: BufReader<File>,
    heading: String,
    buffer: Vec<u8>,
    place: usize,
}

/// One line.
pub(super) struct Line<'a> {
    path: &'a Path,
    /// Its number, from 1.
    pub place: usize,
    text: &'a str,
}

impl Table {
    pub fn open(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::input(
                path,
                "",
                "this file is missing",
                "a Geom-GCN folder needs out1_graph_edges.txt and out1_node_feature_label.txt",
            ));
        }
        let reader = BufReader::new(File::open(path).map_err(Error::io("read", path))?);
        let path = path.to_path_buf();
        let mut table = Table { path, reader, heading: String::new(), buffer: Vec::new(), place: 0 };
        table.heading = table.next_line()?.map(|line| line.text.to_string()).unwrap_or_default();
        // Files without a heading would silently lose their first line.
        match table.heading.split('\t').next().unwrap_or_default().trim() {
            "" => Err(table.heading_error("the file is empty")),
            start if start.parse::<f64>().is_ok() => Err(table.heading_error("the heading is missing")),
            _ => Ok(table),
        }
    }

    pub fn heading(&self) -> &str {
        &self.heading
    }

    pub fn heading_error(&self, problem: &str) -> Error {
        let remedy = "the first line names the columns, such as `node_id<tab>feature<tab>label`";
        Error::input(&self.path, "line 1", problem, remedy)
    }

    /// The next line that is not blank.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let read =
                self.reader.read_until(b'\n', &mut self.buffer).map_err(Error::io("read", &self.path))?;
            if read == 0 {
                return Ok(None);
            }
            self.place += 1;
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| {
            let place = format!("line {}", self.place);
            Error::input(&self.path, place, "this is not text in UTF-8", "save the file as plain text")
        })?;
        Ok(Some(Line { path: &self.path, place: self.place, text: text.trim_end_matches(['\n', '\r']) }))
    }
}

impl<'a> Line<'a> {
    /// Exactly as many columns as are asked for.
    pub fn columns<const COUNT: usize>(&self, meaning: &str) -> Result<[&'a str; COUNT]> {
        let columns: Vec<_> = self.text.split('\t').collect();
        let found = columns.len();
        columns.try_into().map_err(|_| {
            self.error(
                format!("{found} columns, expected {COUNT}: {meaning}"),
                "separate the columns by single tabs",
            )
        })
    }

    /// A number of a certain kind.
    pub fn number<T: FromStr>(&self, text: &str, what: &str) -> Result<T> {
        text.trim().parse().map_err(|_| {
            self.error(format!("{} is not {what}", quoted(text)), "correct the line, or leave it out")
        })
    }

    /// Something is wrong here.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("line {}", self.place), problem, remedy)
    }
}

/// Writes a table.
pub(super) fn write(path: &Path, heading: &str, lines: impl Iterator<Item = String>) -> Result<()> {
    atomic::write(path, |file| {
        let mut put = |line: &str| writeln!(file, "{line}").map_err(Error::io("write", path));
        put(heading)?;
        for line in lines {
            put(&line)?;
        }
        Ok(())
    })
}
