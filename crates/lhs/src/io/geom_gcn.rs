//! Geom-GCN folders: two text tables, and one `.npz` file per split.
//!
//! - `out1_graph_edges.txt`: a heading, then two node numbers per line, from and to;
//! - `out1_node_feature_label.txt`: a heading, then node number, features and class number per line;
//!   columns are separated by tabs, features by commas. Where the heading says `feature_amount:931` (as in
//!   `film`), the features are the numbers of the columns that hold a one, and the largest such number is
//!   931: there are 932 columns. A negative class number means unknown;
//! - `NAME_split_0.6_0.2_K.npz`: masks of split K, in the folder itself, in `../splits` or in
//!   `../../splits`; `NAME` is the name of the folder.
//!
//! The edges have a direction, which is kept with [`LoadOptions::directed`] and forgotten otherwise.

mod table;

use std::fs;
use std::path::{Path, PathBuf};

use super::LoadOptions;
use super::npz::{Archive, ArchiveWriter, MaskShape, mask};
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Features, Graph, Labels, Split};
use crate::linalg::SparseMat;
use table::{Line, Table};

const EDGES: &str = "out1_graph_edges.txt";
const NODES: &str = "out1_node_feature_label.txt";

/// Whether `source` looks like this format.
pub fn is_here(source: &Path) -> bool {
    source.join(EDGES).is_file() || source.join(NODES).is_file()
}

/// Reads a dataset; it is called like the folder.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let name = folder_name(source);
    let nodes = Nodes::read(&source.join(NODES))?;
    let num_nodes = nodes.classes.len();
    let edges = read_edges(&source.join(EDGES), num_nodes)?;
    let in_nodes = |error: Error| error.in_file(&source.join(NODES));
    let (graph, repairs) = Graph::build(num_nodes, &edges, None, options.directed)?;
    let parts = DatasetParts {
        graph,
        repairs,
        features: nodes.features,
        labels: Labels::from_numbers(&nodes.classes).map_err(in_nodes)?,
        node_ids: None,
        splits: read_splits(source, &name, num_nodes)?,
        name,
        details: Default::default(),
    };
    Dataset::new(parts).map_err(|error| error.in_file(source))
}

/// Writes a dataset into a folder, which is made if need be; splits of an older one there are removed.
///
/// The names of nodes and classes are lost, and classes at the end that no node has. Edge weights, which
/// the format cannot hold either, would change the graph: such data is refused.
pub fn write(dataset: &Dataset, folder: &Path) -> Result<()> {
    if dataset.graph().weights().is_some() {
        return Err(Error::data(
            "the graph has edge weights, which Geom-GCN files cannot hold",
            "write an .npz file instead",
        ));
    }
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let edges = dataset.graph().edges().map(|(a, b)| format!("{a}\t{b}"));
    table::write(&folder.join(EDGES), "node_id\tnode_id", edges)?;
    let nodes = (0..dataset.num_nodes()).map(|node| node_line(dataset, node));
    table::write(&folder.join(NODES), "node_id\tfeature\tlabel", nodes)?;
    write_splits(dataset, folder)
}

/// Also for `.` and `..`, which have no name of their own.
fn folder_name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

struct Nodes {
    features: Features,
    classes: Vec<i64>,
}

impl Nodes {
    /// The lines may come in any order; together they must name the nodes 0, 1, 2, … once each.
    fn read(path: &Path) -> Result<Self> {
        let mut table = Table::open(path)?;
        let mut form = FeatureForm::of(&table)?;
        let mut rows = Vec::new();
        while let Some(line) = table.next_line()? {
            let [node, features, class] = line.columns("node number, features, class number")?;
            let node = line.number::<usize>(node, "a node number")?;
            rows.push((
                node,
                line.place,
                form.entries(&line, features)?,
                line.number::<i64>(class, "a class number")?,
            ));
        }
        let num_nodes = rows.len();
        let mut by_node = vec![None; num_nodes];
        for (node, place, entries, class) in rows {
            match by_node.get_mut(node) {
                Some(slot @ None) => *slot = Some((entries, class)),
                taken => {
                    let problem = match taken {
                        Some(_) => format!("node {node} comes twice"),
                        None => format!("node {node} out of range (num_nodes = {num_nodes})"),
                    };
                    let remedy = "number the nodes 0, 1, 2, …, with one line for each";
                    return Err(Error::input(path, format!("line {place}"), problem, remedy));
                }
            }
        }
        let (entries, classes): (Vec<_>, Vec<_>) = by_node.into_iter().flatten().unzip();
        Ok(Nodes { features: form.matrix(&entries), classes })
    }
}

/// How a line lists its features.
enum FeatureForm {
    /// Every value; the first line decides how many there are.
    Values { dim: Option<usize> },
    /// The columns that hold a one.
    Ones { dim: usize },
}

impl FeatureForm {
    fn of(table: &Table) -> Result<Self> {
        let Some((_, amount)) = table.heading().split_once("feature_amount:") else {
            return Ok(FeatureForm::Values { dim: None });
        };
        let digits = amount.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        match digits.parse::<u32>() {
            Ok(last) if last < u32::MAX => Ok(FeatureForm::Ones { dim: last as usize + 1 }),
            _ => Err(table.heading_error("the heading has no number after `feature_amount:`")),
        }
    }

    /// The non-zero entries of one line.
    fn entries(&mut self, line: &Line<'_>, text: &str) -> Result<Vec<(u32, f32)>> {
        match self {
            FeatureForm::Ones { dim } => ones(line, text, *dim),
            FeatureForm::Values { dim } => {
                let (count, entries) = values(line, text)?;
                match *dim.get_or_insert(count) {
                    expected if expected == count => Ok(entries),
                    expected => Err(line.error(
                        format!("{count} features, but the first node has {expected}"),
                        "give every node the same number of features",
                    )),
                }
            }
        }
    }

    fn matrix(&self, rows: &[Vec<(u32, f32)>]) -> Features {
        let dim = match *self {
            FeatureForm::Ones { dim } => dim,
            FeatureForm::Values { dim } => dim.unwrap_or(0),
        };
        if dim == 0 {
            return Features::none(rows.len());
        }
        let row = |(node, row): (u32, &Vec<(u32, f32)>)| {
            row.iter().map(move |&(col, value)| (node, col, value)).collect::<Vec<_>>()
        };
        let triplets = (0u32..).zip(rows).flat_map(row).collect();
        Features::from_sparse(SparseMat::from_triplets(rows.len(), dim, triplets))
    }
}

fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(move |_| !text.trim().is_empty())
}

/// A column that is named twice still holds one.
fn ones(line: &Line<'_>, text: &str, dim: usize) -> Result<Vec<(u32, f32)>> {
    let mut columns = Vec::new();
    for item in items(text) {
        let column = line.number::<u32>(item, "a column number")?;
        if column as usize >= dim {
            return Err(line.error(
                format!("column {column} out of range (columns = {dim})"),
                "columns are numbered from 0 to the `feature_amount` in the heading",
            ));
        }
        columns.push(column);
    }
    columns.sort_unstable();
    columns.dedup();
    Ok(columns.into_iter().map(|column| (column, 1.0)).collect())
}

/// How many values there are, and those that are not zero.
fn values(line: &Line<'_>, text: &str) -> Result<(usize, Vec<(u32, f32)>)> {
    let (mut count, mut entries) = (0u32, Vec::new());
    for item in items(text) {
        let value = line.number::<f32>(item, "a number")?;
        if !value.is_finite() {
            return Err(line.error(
                format!("feature {count} is {value}"),
                "features must be finite numbers; replace missing values (by 0 or the column's mean) first",
            ));
        }
        if value != 0.0 {
            entries.push((count, value));
        }
        count += 1;
    }
    Ok((count as usize, entries))
}

fn read_edges(path: &Path, num_nodes: usize) -> Result<Vec<(u32, u32)>> {
    let mut table = Table::open(path)?;
    let mut edges = Vec::new();
    while let Some(line) = table.next_line()? {
        let ends = line.columns::<2>("two node numbers")?;
        let [from, to] = ends.map(|end| line.number::<u32>(end, "a node number"));
        let edge = (from?, to?);
        let largest = edge.0.max(edge.1);
        if largest as usize >= num_nodes {
            return Err(line.error(
                format!("node {largest} out of range (num_nodes = {num_nodes})"),
                format!("every node must have a line in {NODES}"),
            ));
        }
        edges.push(edge);
    }
    Ok(edges)
}

/// The splits of the first place that has any, by number.
pub(super) fn read_splits(folder: &Path, name: &str, num_nodes: usize) -> Result<Vec<Split>> {
    let places = [folder.to_path_buf(), folder.join("../splits"), folder.join("../../splits")];
    let Some(files) = places.iter().map(|place| split_files(place, name)).find(|files| !files.is_empty())
    else {
        return Ok(Vec::new());
    };
    let mut splits = Vec::new();
    for (_, file) in files {
        let masks = Archive::open(&file)?.splits(
            ["train_mask", "val_mask", "test_mask"],
            MaskShape::SplitsNodes,
            num_nodes,
        )?;
        if masks.is_empty() {
            return Err(Error::input(
                file,
                "",
                "there is no split in this file",
                "it must hold train_mask, val_mask and test_mask, with one entry per node",
            ));
        }
        splits.extend(masks);
    }
    Ok(splits)
}

/// Files with the splits of this dataset, by number.
fn split_files(folder: &Path, name: &str) -> Vec<(u32, PathBuf)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let number = file.strip_prefix(&split_prefix(name)).and_then(|rest| rest.strip_suffix(".npz"));
        files.extend(number.and_then(|n| n.parse().ok()).map(|number| (number, entry.path())));
    }
    files.sort();
    files
}

fn split_prefix(name: &str) -> String {
    format!("{name}_split_0.6_0.2_")
}

fn node_line(dataset: &Dataset, node: usize) -> String {
    let mut values = vec![0f32; dataset.features().dim()];
    for (column, value) in dataset.features().row_nonzeros(node) {
        values[column as usize] = value;
    }
    let values: Vec<_> = values.iter().map(f32::to_string).collect();
    let class = dataset.labels().get(node).map_or(-1, i64::from);
    format!("{node}\t{}\t{class}", values.join(","))
}

fn write_splits(dataset: &Dataset, folder: &Path) -> Result<()> {
    let name = folder_name(folder);
    for (_, old) in split_files(folder, &name) {
        fs::remove_file(&old).map_err(Error::io("remove", &old))?;
    }
    let num_nodes = dataset.num_nodes();
    for (number, split) in dataset.splits().iter().enumerate() {
        let path = folder.join(format!("{}{number}.npz", split_prefix(&name)));
        ArchiveWriter::create(&path, |archive| {
            for (part, nodes) in split.parts() {
                archive.add(&format!("{part}_mask"), &[num_nodes], mask(nodes, num_nodes))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
