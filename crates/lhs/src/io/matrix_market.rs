//! MatrixMarket coordinate files (`.mtx`): the entries of an adjacency matrix, as SciPy and SuiteSparse write them.
//!
//! ```text
//! %%MatrixMarket matrix coordinate pattern symmetric
//! % comments
//! 4 4 3
//! 2 1
//! 3 1
//! 4 2
//! ```
//!
//! The graph has neither features nor labels. A symmetric matrix is an undirected graph. Dense (`array`), complex and skew-symmetric
//! matrices are refused.

use std::io::BufRead;
use std::path::Path;

use super::LoadOptions;
use super::attributed::name;
use super::edge_list::{EdgeList, believable};
use super::recognise::{Kind, is_kind};
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Details, Features, Labels};
use crate::io::npy::quoted;

/// Whether `source` is such a file.
pub fn is_here(source: &Path) -> bool {
    is_kind(source, Kind::MatrixMarket)
}

/// Reads a dataset; it is called like the file.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let mut lines =
        Lines { path: source, reader: super::open::open(source)?, line: String::new(), number: 0 };
    let form = Form::read(&mut lines)?;
    let (num_nodes, entries) = size(&mut lines)?;
    let mut pairs = Vec::new();
    let mut weights = form.has_values.then(Vec::new);
    while lines.advance()? {
        if pairs.len() as u64 == entries {
            return Err(
                lines.wrong(format!("there are more than the {entries} entries of the second line"), DAMAGED)
            );
        }
        pairs.push(lines.entry(num_nodes, &mut weights)?);
    }
    if pairs.len() as u64 != entries {
        return Err(lines.wrong(format!("{} entries instead of {entries}", pairs.len()), DAMAGED));
    }
    assemble(source, num_nodes, pairs, weights, form.symmetric, options)
        .map_err(|error| error.in_file(source))
}

const DAMAGED: &str = "the file is damaged or was not written to its end; get it again";

fn assemble(
    source: &Path,
    num_nodes: u64,
    pairs: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    symmetric: bool,
    options: &LoadOptions,
) -> Result<Dataset> {
    let num_nodes = believable(num_nodes, pairs.len())?;
    let mut edges = EdgeList::from_entries(pairs, weights)?;
    edges.directed &= !symmetric;
    let (graph, repairs, notes) = edges.build(num_nodes, options)?;
    let dataset = Dataset::new(DatasetParts {
        name: name(source),
        graph,
        repairs,
        features: Features::none(num_nodes),
        labels: Labels::new(vec![None; num_nodes], Vec::new())?,
        node_ids: None,
        splits: Vec::new(),
        details: Details::default(),
    })?;
    Ok(dataset.with_notes(notes))
}

/// What the first line says.
struct Form {
    has_values: bool,
    symmetric: bool,
}

impl Form {
    fn read(lines: &mut Lines) -> Result<Self> {
        lines.next_line()?;
        let words: Vec<String> = lines.line.split_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [_, "matrix", layout, field, symmetry] = words[..] else {
            return Err(lines.wrong(
                format!("the first line is not understood: {}", quoted(&lines.line)),
                "it should read like %%MatrixMarket matrix coordinate real general",
            ));
        };
        let refuse = |what: &str, remedy: &str| {
            Err(lines.wrong(format!("{what} is not an adjacency matrix that is read"), remedy))
        };
        if layout != "coordinate" {
            return refuse(
                &format!("a dense matrix (`{}`)", quoted(layout).trim_matches('"')),
                "write a sparse one: scipy.io.mmwrite('graph.mtx', scipy.sparse.coo_matrix(matrix))",
            );
        }
        let has_values = match field {
            "pattern" => false,
            "real" | "integer" | "double" | "unsigned-integer" => true,
            other => {
                return refuse(
                    &format!("a matrix of {} numbers", quoted(other)),
                    "weights of edges are real numbers",
                );
            }
        };
        let symmetric = match symmetry {
            "general" => false,
            "symmetric" => true,
            other => {
                return refuse(
                    &format!("a matrix that is {}", quoted(other)),
                    "write it as general or symmetric",
                );
            }
        };
        Ok(Form { has_values, symmetric })
    }
}

/// The number of nodes, and of entries.
fn size(lines: &mut Lines) -> Result<(u64, u64)> {
    if !lines.advance()? {
        return Err(lines.wrong("the size of the matrix is missing", DAMAGED));
    }
    let numbers: Option<Vec<u64>> = lines.line.split_whitespace().map(|word| word.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[rows, columns, entries]) if rows == columns => Ok((rows, entries)),
        Some(&[rows, columns, _]) => Err(lines.wrong(
            format!("{rows} rows and {columns} columns are no adjacency matrix, which is square"),
            "give the matrix that says which nodes are joined; features and labels can stand in tables",
        )),
        _ => Err(lines.wrong(
            format!("rows, columns and the number of entries are needed, found {}", quoted(&lines.line)),
            DAMAGED,
        )),
    }
}

struct Lines<'a> {
    path: &'a Path,
    reader: Box<dyn BufRead>,
    line: String,
    number: u64,
}

impl Lines<'_> {
    /// Goes to the next line that is neither empty nor a comment.
    fn advance(&mut self) -> Result<bool> {
        while self.next_line()? {
            let content = self.line.trim();
            if !content.is_empty() && !content.starts_with('%') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_line(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        match self.reader.read_line(&mut self.line) {
            Ok(count) => Ok(count > 0),
            Err(error) => Err(self.wrong(format!("the line cannot be read: {error}"), DAMAGED)),
        }
    }

    fn entry(&self, num_nodes: u64, weights: &mut Option<Vec<f32>>) -> Result<(u32, u32)> {
        let mut words = self.line.split_whitespace();
        let mut node = || -> Result<u32> {
            let word = words.next().unwrap_or_default();
            let number = word.parse::<u64>().ok().filter(|number| (1..=num_nodes).contains(number));
            number.and_then(|number| u32::try_from(number - 1).ok()).ok_or_else(|| {
                self.wrong(
                    format!("{} is not a node from 1 to {num_nodes}", quoted(word)),
                    "rows and columns are counted from 1",
                )
            })
        };
        let pair = (node()?, node()?);
        if let Some(weights) = weights {
            let word = words.next().unwrap_or_default();
            let weight = word.parse::<f32>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0);
            weights.push(weight.ok_or_else(|| {
                self.wrong(
                    format!("the value {} is no weight of an edge", quoted(word)),
                    "weights are positive numbers",
                )
            })?);
        }
        match words.next() {
            None => Ok(pair),
            Some(more) => Err(self.wrong(format!("{} is too much in this line", quoted(more)), DAMAGED)),
        }
    }

    fn wrong(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("line {}", self.number), problem, remedy)
    }
}

#[cfg(test)]
mod tests;
