//! An adjacency matrix in compressed rows: what Nettack and DeepRobust share their graphs in, and what `scipy.sparse.save_npz` writes.
//!
//! | member | |
//! |---|---|
//! | `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape` | the adjacency matrix |
//! | `attr_data`, `attr_indices`, `attr_indptr`, `attr_shape`, or `attr_matrix` `[nodes, columns]` | features; optional |
//! | `labels` `[nodes]` | class numbers; negative: unknown; optional |
//! | `node_names`, `attr_names`, `class_names` | texts; optional |
//!
//! `adj_matrix.data` and so on mean the same. SciPy's own members have no prefix; such a graph has neither features nor labels.

use super::{Archive, bounds, features, numbered};
use crate::error::{Error, Result};
use crate::graph::{DatasetParts, Details, Features, Labels};
use crate::io::LoadOptions;
use crate::io::edge_list::{EdgeList, believable};
use crate::linalg::SparseMat;

const ADJACENCY: [&str; 3] = ["adj_", "adj_matrix.", "adj_matrix_"];
const ATTRIBUTES: [&str; 3] = ["attr_", "attr_matrix.", "attr_matrix_"];

pub(super) fn is_here(archive: &Archive) -> bool {
    prefix(archive, &ADJACENCY).is_some() || archive.has("shape") && archive.has("format")
}

pub(super) fn read(
    archive: &mut Archive,
    name: String,
    options: &LoadOptions,
) -> Result<(DatasetParts, Vec<String>)> {
    let prefix_of_own = prefix(archive, &ADJACENCY);
    let matrix = Matrix::read(archive, prefix_of_own.unwrap_or(""), prefix_of_own.is_none())?;
    let place = format!("{}indices", prefix_of_own.unwrap_or(""));
    let num_nodes = matrix.square().map_err(|error| archive.locate(error, &place))?;
    let pairs = matrix.entries.iter().map(|&(row, column, _)| (row, column)).collect();
    let weights = matrix.entries.iter().map(|&(_, _, value)| value).collect();
    let list = EdgeList::from_entries(pairs, Some(weights)).and_then(|list| list.build(num_nodes, options));
    let (graph, repairs, mut notes) = list.map_err(|error| archive.locate(error, &place))?;
    let features = read_features(archive, num_nodes)?;
    let labels = read_labels(archive, num_nodes, &mut notes)?;
    let feature_names =
        names(archive, "attr_names", features.dim(), &mut notes).filter(|names| are_distinct(names));
    let node_ids = names(archive, "node_names", num_nodes, &mut notes);
    let details = Details { feature_names, ..Details::default() };
    let parts =
        DatasetParts { name, graph, repairs, features, labels, node_ids, splits: Vec::new(), details };
    Ok((parts, notes))
}

fn prefix(archive: &Archive, prefixes: &[&'static str]) -> Option<&'static str> {
    prefixes.iter().copied().find(|prefix| archive.has(&format!("{prefix}indices")))
}

/// A sparse matrix as the entries that are stored.
struct Matrix {
    rows: u64,
    columns: u64,
    entries: Vec<(u32, u32, f32)>,
}

impl Matrix {
    fn read(archive: &mut Archive, prefix: &str, has_format: bool) -> Result<Self> {
        let format = if has_format { read_format(archive)? } else { "csr".to_string() };
        let member = |name: &str| format!("{prefix}{name}");
        let shape = archive.integers(&member("shape"), &[Some(2)], "[2]: rows and columns")?;
        let [Ok(rows), Ok(columns)] = [shape[0], shape[1]].map(u64::try_from) else {
            let error = Error::data(format!("{shape:?} is not a shape"), "get the file again");
            return Err(archive.locate(error, &member("shape")));
        };
        let values = archive.with(&member("data"), |array| {
            array.expect_shape(&[None], "[entries]")?;
            array.into_vec::<f32>()
        })?;
        let ends = match format.as_str() {
            "csr" => compressed(archive, prefix, rows, values.len())?,
            "csc" => {
                compressed(archive, prefix, columns, values.len())?.into_iter().map(|(a, b)| (b, a)).collect()
            }
            "coo" => {
                let first = archive.integers(&member("row"), &[Some(values.len())], "[entries]")?;
                let second = archive.integers(&member("col"), &[Some(values.len())], "[entries]")?;
                first.into_iter().zip(second).collect()
            }
            other => {
                let error = Error::data(
                    format!("a sparse matrix in the format {} is not read", crate::io::npy::quoted(other)),
                    "save it as compressed rows: scipy.sparse.save_npz('graph.npz', matrix.tocsr())",
                );
                return Err(archive.locate(error, "format"));
            }
        };
        let entry = |((row, column), value): ((i64, i64), f32)| {
            let within = |end: i64, count: u64| u32::try_from(end).ok().filter(|&end| u64::from(end) < count);
            match (within(row, rows), within(column, columns)) {
                (Some(row), Some(column)) => Ok((row, column, value)),
                _ => Err(Error::data(
                    format!(
                        "the entry in row {row}, column {column} is outside of {rows} rows and {columns} columns"
                    ),
                    "rows and columns are counted from 0",
                )),
            }
        };
        let entries = ends.into_iter().zip(values).map(entry).collect::<Result<_>>();
        let entries = entries.map_err(|error| archive.locate(error, &member("indices")))?;
        Ok(Matrix { rows, columns, entries })
    }

    /// The number of nodes, if this can be an adjacency matrix.
    fn square(&self) -> Result<usize> {
        if self.rows == self.columns {
            return believable(self.rows, self.entries.len());
        }
        Err(Error::data(
            format!(
                "{} rows and {} columns are no adjacency matrix, which is square",
                self.rows, self.columns
            ),
            "give the matrix that says which nodes are joined",
        ))
    }
}

/// Row and column of each entry, from the bounds of the rows.
fn compressed(archive: &mut Archive, prefix: &str, rows: u64, entries: usize) -> Result<Vec<(i64, i64)>> {
    let member = |name: &str| format!("{prefix}{name}");
    let indices = archive.integers(&member("indices"), &[Some(entries)], "[entries]: one index per value")?;
    let indptr = archive.integers(&member("indptr"), &[None], "[rows + 1]")?;
    if indptr.len() as u64 != rows.saturating_add(1) {
        let problem = format!("{} bounds do not make {rows} rows", indptr.len());
        let error = Error::data(problem, "write the indptr of a scipy csr_matrix");
        return Err(archive.locate(error, &member("indptr")));
    }
    let indptr = bounds(&indptr, entries).map_err(|error| archive.locate(error, &member("indptr")))?;
    let rows = indptr
        .windows(2)
        .enumerate()
        .flat_map(|(row, range)| std::iter::repeat_n(row as i64, range[1] - range[0]));
    Ok(rows.zip(indices).collect())
}

/// SciPy's own word for how the matrix is stored.
fn read_format(archive: &mut Archive) -> Result<String> {
    Ok(archive.texts("format")?.into_iter().next().unwrap_or_default())
}

fn read_features(archive: &mut Archive, num_nodes: usize) -> Result<Features> {
    if let Some(prefix) = prefix(archive, &ATTRIBUTES) {
        let matrix = Matrix::read(archive, prefix, false)?;
        let columns = usize::try_from(matrix.columns).ok().filter(|&columns| u32::try_from(columns).is_ok());
        return match columns {
            Some(columns) if matrix.rows == num_nodes as u64 => {
                Ok(Features::from_sparse(SparseMat::from_triplets(num_nodes, columns, matrix.entries)))
            }
            _ => {
                let problem = format!(
                    "{} rows and {} columns of features for {num_nodes} nodes",
                    matrix.rows, matrix.columns
                );
                Err(archive.locate(Error::data(problem, "give one row per node"), &format!("{prefix}shape")))
            }
        };
    }
    match ["attr_matrix", "attr"].into_iter().find(|member| archive.has(member)) {
        Some(member) => archive.with(member, |array| features::read(array, num_nodes)),
        None => Ok(Features::none(num_nodes)),
    }
}

fn read_labels(archive: &mut Archive, num_nodes: usize, notes: &mut Vec<String>) -> Result<Labels> {
    if !archive.has("labels") {
        return Labels::new(vec![None; num_nodes], Vec::new());
    }
    let numbers = archive.integers("labels", &[Some(num_nodes)], "[nodes]: one class number per node")?;
    let classes = numbers.iter().copied().max().unwrap_or(-1).saturating_add(1);
    let names = match archive.has("class_names") {
        true => names(archive, "class_names", usize::try_from(classes).unwrap_or(0), notes)
            .filter(|names| are_distinct(names)),
        false => None,
    };
    let labels = match names {
        Some(names) => numbered(&numbers, names),
        None => Labels::from_numbers(&numbers),
    };
    labels.map_err(|error| archive.locate(error, "labels"))
}

/// Names that may be missing. If they cannot be had, numbers do.
fn names(archive: &mut Archive, member: &str, count: usize, notes: &mut Vec<String>) -> Option<Vec<String>> {
    if !archive.has(member) {
        return None;
    }
    match archive.texts(member) {
        Ok(names) if names.len() == count => return Some(names),
        Ok(names) => notes.push(format!("{member} is left out: {} names for {count}", names.len())),
        Err(Error::Input { problem, .. }) => notes.push(format!("{member} is left out: {problem}")),
        Err(error) => notes.push(format!("{member} is left out: {error}")),
    }
    None
}

fn are_distinct(names: &[String]) -> bool {
    let mut seen = std::collections::HashSet::new();
    names.iter().all(|name| seen.insert(name))
}
