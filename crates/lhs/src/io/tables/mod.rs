//! Plain tables, the form in which people have their own data.
//!
//! | table | columns | |
//! |---|---|---|
//! | `edges.csv` or `.tsv` | `source,target` and optionally `weight` | the header may be left out; weights of repeated edges are added |
//! | `features.csv` | `node,f1,f2,…` or `node,column,value` | optional; the long form may leave zeros out |
//! | `labels.csv` | `node,label` | optional; an empty label is unknown |
//! | `splits.csv` | `split,node,part` | optional; the part is train, val or test |
//!
//! Columns stand apart by comma, tab, semicolon or blanks, whichever the first row uses. Lines that begin
//! with `#` are comments. Nodes are named by any text. If all of them are whole numbers they are ordered by
//! value, otherwise as they first appear in the features, then the labels, then the edges. Classes are
//! ordered by value if all are whole numbers, otherwise by text.

mod edges;
mod features;
mod header;
mod ids;
mod labels;
mod repeated;
mod rows;
mod write;

use std::path::{Path, PathBuf};

use ids::{Ids, Order};
use rows::Rows;

use super::LoadOptions;
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Features, Graph, Labels};

pub(in crate::io) use edges::Edges;
pub use repeated::RepeatedEdges;
pub use write::write;

/// Where the tables of a dataset are.
#[derive(Clone, Debug, Default)]
pub struct TableFiles {
    /// Pairs of nodes.
    pub edges: PathBuf,
    /// Features of the nodes; without them models see the edges only.
    pub features: Option<PathBuf>,
    /// Classes of the nodes; without them every class is unknown.
    pub labels: Option<PathBuf>,
    /// Fixed splits.
    pub splits: Option<PathBuf>,
}

/// Whether `source` is a folder with an edge table, or an edge table itself.
pub fn is_here(source: &Path) -> bool {
    if source.is_file() { is_table(source) } else { edge_table(source).is_some() }
}

/// Reads the tables of a folder, or a single table of edges.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    if source.is_file() {
        return read_files(&TableFiles { edges: source.to_path_buf(), ..Default::default() }, options);
    }
    let edges = edge_table(source).ok_or_else(|| {
        Error::input(source, "", "no edges.csv or edges.tsv in this folder", "name the edge table so")
    })?;
    let beside = |name: &str| Some(source.join(name)).filter(|path| path.is_file());
    let files = TableFiles {
        edges,
        features: beside("features.csv"),
        labels: beside("labels.csv"),
        splits: beside("splits.csv"),
    };
    read_files(&files, options)
}

/// Reads tables wherever they are.
pub fn read_files(files: &TableFiles, options: &LoadOptions) -> Result<Dataset> {
    let mut ids = Ids::default();
    let features = files.features.as_deref().map(|path| Ok((path, features::read(path, &mut ids)?)));
    let features = features.transpose()?;
    let labels =
        files.labels.as_deref().map(|path| labels::read(path, options.header, &mut ids)).transpose()?;
    let (labels, labels_note) = labels.unzip();
    let (edges, edges_note) = edges::read(&files.edges, options.header, &mut ids)?;
    let (edges, repeated) = options.repeated_edges.joined(edges, options.directed);
    let repeated_note = (repeated > 0).then(|| repeated_rows(repeated, options));
    let splits = files.splits.as_deref().map(|path| labels::read_splits(path, &ids)).transpose()?;

    let order = ids.into_order();
    let num_nodes = order.rank.len();
    let (graph, repairs) = build(edges, &order, options).map_err(|error| error.in_file(&files.edges))?;
    let parts = DatasetParts {
        name: name(&files.edges),
        graph,
        repairs,
        features: match features {
            Some((path, table)) => table.arrange(path, &order)?,
            None => Features::none(num_nodes),
        },
        labels: match labels {
            Some(table) => table.arrange(&order)?,
            None => Labels::new(vec![None; num_nodes], Vec::new())?,
        },
        splits: labels::arrange_splits(splits.unwrap_or_default(), &order),
        node_ids: order.names,
        details: Default::default(),
    };
    let notes = [labels_note.flatten(), edges_note, repeated_note].into_iter().flatten();
    // What is still wrong after this is in the splits, or there are no nodes at all.
    Dataset::new(parts)
        .map(|dataset| dataset.with_notes(notes))
        .map_err(|error| error.in_file(files.splits.as_deref().unwrap_or(&files.edges)))
}

/// A dataset with the edges of a table instead of its own; the table names the nodes as the dataset does.
pub fn with_edges(dataset: Dataset, path: &Path, options: &LoadOptions) -> Result<Dataset> {
    let mut ids = Ids::default();
    for node in 0..dataset.num_nodes() {
        ids.number(&dataset.node_id(node))?;
    }
    let (edges, note) = edges::read(path, options.header, &mut ids)?;
    let (edges, repeated) = options.repeated_edges.joined(edges, options.directed);
    let edges::Edges { pairs, weights } = edges;
    if ids.len() > dataset.num_nodes() {
        return Err(Error::data(
            format!("{} nodes here are not in {}", ids.len() - dataset.num_nodes(), dataset.name()),
            "name the nodes as in the dataset, from 0 if it has no names",
        )
        .in_file(path));
    }
    let (graph, _) = Graph::build(dataset.num_nodes(), &pairs, weights.as_deref(), options.directed)
        .map_err(|error| error.in_file(path))?;
    let repeated_note = (repeated > 0).then(|| repeated_rows(repeated, options));
    Ok(dataset.with_graph(graph)?.with_notes([note, repeated_note].into_iter().flatten()))
}

fn repeated_rows(count: usize, options: &LoadOptions) -> String {
    let rows =
        if count == 1 { "1 row repeats an edge".into() } else { format!("{count} rows repeat an edge") };
    format!("{rows}: {}", options.repeated_edges.in_words())
}

fn build(
    edges: edges::Edges,
    order: &Order,
    options: &LoadOptions,
) -> Result<(Graph, crate::graph::Repairs)> {
    let edges::Edges { mut pairs, weights } = edges;
    for (source, target) in &mut pairs {
        (*source, *target) = (order.rank[*source as usize], order.rank[*target as usize]);
    }
    Graph::build(order.rank.len(), &pairs, weights.as_deref(), options.directed)
}

/// The provisional number of the node that a field names.
fn node(rows: &Rows, column: usize, ids: &mut Ids) -> Result<u32> {
    let id = rows.field(column);
    if id.is_empty() {
        return Err(rows.wrong(
            column,
            "the name of the node is empty",
            "give every node a name or a number",
        ));
    }
    ids.number(id)
}

fn edge_table(folder: &Path) -> Option<PathBuf> {
    ["edges.csv", "edges.tsv"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
}

/// Whether a file is named like a table.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv") || end.eq_ignore_ascii_case("tsv"))
}

/// The name of the file, or of the folder when the file is just called `edges`.
fn name(edges: &Path) -> String {
    let stem = edges.file_stem().unwrap_or_default();
    let full = edges.canonicalize().unwrap_or_else(|_| edges.to_path_buf());
    let folder = full.parent().and_then(Path::file_name).filter(|_| stem == "edges");
    folder.unwrap_or(stem).to_string_lossy().into_owned()
}
