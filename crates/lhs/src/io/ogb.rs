//! A folder of the Open Graph Benchmark for node property prediction, as its package downloads it.
//!
//! | file | content, without a header |
//! |---|---|
//! | `raw/edge.csv.gz` | two node numbers per line |
//! | `raw/num-node-list.csv.gz` | the number of nodes |
//! | `raw/node-feat.csv.gz` | the features of a node per line; may be missing |
//! | `raw/node-label.csv.gz` | the class number of a node per line, or nan; may be missing |
//! | `split/SCHEME/{train,valid,test}.csv.gz` | one node number per line; may be missing |
//!
//! Files that are not gzipped are read, too. Everything is read line by line. Several graphs, several kinds of nodes and several answers
//! per node are refused.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::LoadOptions;
use super::edge_list::{EdgeList, believable};
use super::npz::Growing;
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Details, Features, Labels, Split};
use crate::io::npy::quoted;

/// Whether `source` is such a folder.
pub fn is_here(source: &Path) -> bool {
    file(source, "raw/edge").is_some() || file(source, "raw/num-node-dict").is_some()
}

/// Reads a dataset; it is called like the folder.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    if let Some(kinds) = file(source, "raw/num-node-dict") {
        return Err(Error::input(
            kinds,
            "",
            "the graph has several kinds of nodes",
            "convert one kind and its edges to tables",
        ));
    }
    let edges_file = needed(source, "raw/edge")?;
    let pairs = read_edges(&edges_file)?;
    let labels = file(source, "raw/node-label").map(|path| read_labels(&path)).transpose()?;
    let num_nodes = num_nodes(source, labels.as_ref().map(Vec::len), pairs.len())?;
    let list = EdgeList { pairs, weights: None, directed: true, zeros: 0 };
    let (graph, repairs, mut notes) =
        list.build(num_nodes, options).map_err(|error| error.in_file(&edges_file))?;
    if let Some(left_out) = file(source, "raw/edge-feat") {
        notes.push(format!("features of edges are left out: {}", left_out.display()));
    }
    let labels = match labels {
        Some(numbers) => Labels::from_numbers(&numbers),
        None => Labels::new(vec![None; num_nodes], Vec::new()),
    };
    let full = source.canonicalize().unwrap_or_else(|_| source.to_path_buf());
    let parts = DatasetParts {
        name: full.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        graph,
        repairs,
        features: match file(source, "raw/node-feat") {
            Some(path) => read_features(&path, num_nodes)?,
            None => Features::none(num_nodes),
        },
        labels: labels.map_err(|error| error.in_file(&source.join("raw/node-label.csv.gz")))?,
        node_ids: None,
        splits: read_splits(source, num_nodes)?,
        details: Details::default(),
    };
    Dataset::new(parts).map(|dataset| dataset.with_notes(notes)).map_err(|error| error.in_file(source))
}

/// A file of this name, gzipped or not.
fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    [".csv.gz", ".csv"].map(|end| folder.join(format!("{name}{end}"))).into_iter().find(|path| path.is_file())
}

fn needed(folder: &Path, name: &str) -> Result<PathBuf> {
    file(folder, name).ok_or_else(|| {
        Error::input(
            folder.join(format!("{name}.csv.gz")),
            "",
            "this file is missing",
            "give the folder that the package downloaded, whole",
        )
    })
}

fn read_edges(path: &Path) -> Result<Vec<(u32, u32)>> {
    let mut lines = Lines::open(path)?;
    let mut pairs = Vec::new();
    while lines.advance()? {
        match lines.numbers::<u32>("node numbers")?[..] {
            [a, b] => pairs.push((a, b)),
            _ => return Err(lines.wrong("two node numbers are needed", "")),
        }
    }
    Ok(pairs)
}

/// Class numbers; -1 where there is none.
fn read_labels(path: &Path) -> Result<Vec<i64>> {
    let mut lines = Lines::open(path)?;
    let mut labels = Vec::new();
    while lines.advance()? {
        let fields = lines.line.split(',').count();
        if fields != 1 {
            return Err(lines.wrong(
                format!("{fields} answers per node, but a node has one class"),
                "keep the column with the class",
            ));
        }
        let number = lines.numbers::<f64>("a class number")?[0];
        labels.push(if number.is_nan() {
            -1
        } else if number >= 0.0 && number.fract() == 0.0 && number < 1e15 {
            number as i64
        } else {
            return Err(lines.wrong(
                format!("{number} is not a class number"),
                "classes are numbered 0, 1, 2, …; nan is unknown",
            ));
        });
    }
    Ok(labels)
}

fn num_nodes(folder: &Path, labels: Option<usize>, edges: usize) -> Result<usize> {
    let path = needed(folder, "raw/num-node-list")?;
    let mut lines = Lines::open(&path)?;
    let mut counts = Vec::new();
    while lines.advance()? {
        counts.extend(lines.numbers::<u64>("a number of nodes")?);
        if counts.len() > 1 {
            return Err(lines.wrong(
                "the folder holds several graphs",
                "only node property prediction on one graph is read",
            ));
        }
    }
    let [count] = counts[..] else { return Err(lines.wrong("the number of nodes is missing", "")) };
    match labels {
        Some(labels) if labels as u64 != count => {
            Err(lines
                .wrong(format!("{count} nodes, but {labels} labels"), "get the folder again: it is damaged"))
        }
        Some(labels) => Ok(labels),
        None => believable(count, edges).map_err(|error| error.in_file(&path)),
    }
}

fn read_features(path: &Path, num_nodes: usize) -> Result<Features> {
    let mut lines = Lines::open(path)?;
    let mut growing: Option<(usize, Growing)> = None;
    let mut rows = 0;
    while lines.advance()? {
        let row = lines.numbers::<f32>("features")?;
        let (columns, growing) =
            growing.get_or_insert_with(|| (row.len(), Growing::new(num_nodes, row.len())));
        rows += 1;
        if rows > num_nodes {
            return Err(lines.wrong(format!("there are more rows than the {num_nodes} nodes"), ""));
        }
        if row.len() != *columns {
            return Err(lines.wrong(format!("{} features instead of {columns}", row.len()), ""));
        }
        growing.extend(&row);
    }
    match growing {
        Some((_, growing)) if rows == num_nodes => Ok(growing.finish()),
        _ => {
            Err(lines
                .wrong(format!("{rows} rows for {num_nodes} nodes"), "get the folder again: it is damaged"))
        }
    }
}

/// The one split, or none.
fn read_splits(folder: &Path, num_nodes: usize) -> Result<Vec<Split>> {
    let schemes = std::fs::read_dir(folder.join("split")).into_iter().flatten();
    let mut schemes: Vec<PathBuf> =
        schemes.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    schemes.sort();
    match &schemes[..] {
        [] => Ok(Vec::new()),
        [scheme] => {
            let part = |name: &str| read_part(&needed(scheme, name)?, num_nodes);
            Ok(vec![Split { train: part("train")?, val: part("valid")?, test: part("test")? }])
        }
        [first, second, ..] => Err(Error::input(
            folder.join("split"),
            "",
            format!("there are several schemes: {}, {}", first.display(), second.display()),
            "keep the one that you mean in this folder",
        )),
    }
}

fn read_part(path: &Path, num_nodes: usize) -> Result<Vec<u32>> {
    let mut lines = Lines::open(path)?;
    let mut nodes = Vec::new();
    while lines.advance()? {
        for node in lines.numbers::<u32>("a node number")? {
            if node as usize >= num_nodes {
                return Err(lines.wrong(format!("node {node} out of range (num_nodes = {num_nodes})"), ""));
            }
            nodes.push(node);
        }
    }
    nodes.sort_unstable();
    Ok(nodes)
}

/// The lines of a table of numbers.
struct Lines<'a> {
    path: &'a Path,
    reader: Box<dyn BufRead>,
    line: String,
    number: u64,
}

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        Ok(Lines { path, reader: super::open::open(path)?, line: String::new(), number: 0 })
    }

    /// Goes to the next line that is not empty.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            self.number += 1;
            match self.reader.read_line(&mut self.line) {
                Ok(0) => return Ok(false),
                Ok(_) if self.line.trim().is_empty() => {}
                Ok(_) => return Ok(true),
                Err(error) => {
                    return Err(self.wrong(format!("the line cannot be read: {error}"), "get the file again"));
                }
            }
        }
    }

    fn numbers<T: FromStr>(&self, what: &str) -> Result<Vec<T>> {
        let number = |text: &str| {
            let text = text.trim();
            text.parse().map_err(|_| {
                self.wrong(format!("{} found where {what} should be", quoted(text)), "get the file again")
            })
        };
        self.line.split(',').map(number).collect()
    }

    fn wrong(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("line {}", self.number), problem, remedy)
    }
}

#[cfg(test)]
mod tests;
