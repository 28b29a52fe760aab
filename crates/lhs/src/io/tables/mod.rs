//! Plain tables, the form in which people have their own data.
//!
//! | table | columns | |
//! |---|---|---|
//! | `edges` | `source,target` and optionally `weight` | the header may be left out; weights of repeated edges are added |
//! | `features` | a node and raw columns, or `node,column,value` | optional; the long form may leave zeros out |
//! | `labels` | `node,label` | optional; an empty label is unknown; may be a column of the features instead |
//! | `splits` | `split,node,part` | optional; the part is train, val or test |
//!
//! Each is text (`.csv`, `.tsv`; columns stand apart by comma, tab, semicolon or blanks, whichever the first row uses; lines that
//! begin with `#` are comments), JSON lines (`.jsonl`) or Parquet, the first two also packed (`.gz`). Which column is what is told by
//! [`ColumnNames`] or by well-known names; raw columns become features by a [`crate::graph::preparation`]. Nodes are named by any text. If all of them are whole numbers they are ordered by
//! value, otherwise as they first appear in the features, then the labels, then the edges. Classes are
//! ordered by value if all are whole numbers, otherwise by text.

mod attributes;
mod edges;
mod features;
mod header;
mod ids;
mod json_lists;
mod json_rows;
mod labels;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod repeated;
mod roles;
mod rows;
mod splits;
mod text_rows;
mod untidy;
mod write;

use std::path::{Path, PathBuf};

use ids::{Ids, Order};
use rows::Rows;

use serde::{Deserialize, Serialize};

use super::{LoadOptions, marker};
use crate::error::{Error, Result};
use crate::graph::preparation::{Preparation, prepare_matrix};
use crate::graph::{Dataset, DatasetParts, Details, Features, Graph, Labels};

pub(in crate::io) use edges::Edges;
pub use repeated::RepeatedEdges;
pub use roles::ColumnNames;
pub use untidy::Untidy;
pub use write::write;

/// Columns of the labels that lhs itself writes.
const TIME: &str = "time";
const GROUP: &str = "group";

/// Endings of files that hold tables.
const ENDINGS: [&str; 9] =
    ["csv", "tsv", "csv.gz", "tsv.gz", "parquet", "jsonl", "jsonl.gz", "ndjson", "json"];

/// Where the tables of a dataset are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Whether `source` is a folder with an edge table.
pub fn is_here(source: &Path) -> bool {
    edge_table(source).is_some()
}

/// Reads the tables of a folder, or a single table of edges.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    if source.is_file() {
        return read_files(&TableFiles { edges: source.to_path_buf(), ..Default::default() }, options);
    }
    let edges = edge_table(source).ok_or_else(|| {
        Error::input(source, "", "no edges.csv or edges.tsv in this folder", "name the edge table so")
    })?;
    let files = TableFiles {
        edges,
        features: table_in(source, "features"),
        labels: table_in(source, "labels"),
        splits: table_in(source, "splits"),
    };
    // What lhs wrote knows more than tables can say.
    match marker::beside(source)? {
        Some(marker) => read_marked(&files, &marker, options),
        None => read_files(&files, options),
    }
}

/// Tables that lhs wrote: their features are prepared already, unless somebody changed them since.
fn read_marked(files: &TableFiles, marker: &marker::Marker, options: &LoadOptions) -> Result<Dataset> {
    let mut columns = options.columns.clone();
    columns.time = columns.time.or_else(|| marker.times.then(|| TIME.to_string()));
    columns.group = columns.group.or_else(|| marker.groups.then(|| GROUP.to_string()));
    let as_written = LoadOptions { columns: columns.clone(), ..LoadOptions::as_is(options.directed) };
    let as_written =
        LoadOptions { header: options.header, repeated_edges: options.repeated_edges, ..as_written };
    let dataset = read_files(files, &as_written)?;
    if marker.holds_for(dataset.features()) {
        return marker.complete(dataset);
    }
    let dataset = read_files(files, &LoadOptions { columns, ..options.clone() })?;
    marker.complete(dataset)
}

/// Reads tables wherever they are.
pub fn read_files(files: &TableFiles, options: &LoadOptions) -> Result<Dataset> {
    let mut ids = Ids::default();
    let features = files.features.as_deref().map(|path| Ok((path, features::read(path, options, &mut ids)?)));
    let features: Option<(&Path, features::Found)> = features.transpose()?;
    let labels =
        files.labels.as_deref().map(|path| labels::read(path, options.header, &options.columns, &mut ids));
    let labels = labels.transpose()?;
    let (edges, edge_notes) = edges::read(&files.edges, options.header, &options.columns, &mut ids)?;
    let (edges, repeated) = options.repeated_edges.joined(edges, options.directed);
    let splits = files.splits.as_deref().map(|path| splits::read(path, &ids)).transpose()?;
    let order = ids.into_order();
    let num_nodes = order.rank.len();
    let (graph, repairs) = build(edges, &order, options).map_err(|error| error.in_file(&files.edges))?;
    let mut notes = Vec::new();
    let mut details = Details::default();
    let mut found_labels = None;
    let features = match features {
        None => Features::none(num_nodes),
        Some((path, found)) => {
            notes.extend(found.notes);
            found_labels = found.labels;
            details.times = found.attributes.times(&order);
            details.groups = found.attributes.groups(&order);
            arranged(found.table, path, &order, options, &mut details, &mut notes)?
        }
    };
    if let Some(found) = labels {
        notes.extend(found.notes);
        details.times = details.times.or_else(|| found.attributes.times(&order));
        details.groups = details.groups.or_else(|| found.attributes.groups(&order));
        found_labels = Some(found.labels);
    }
    check_found(files, options, found_labels.is_some(), &details)?;
    notes.extend(edge_notes);
    notes.extend((repeated > 0).then(|| repeated_rows(repeated, options)));
    let parts = DatasetParts {
        name: name(&files.edges),
        graph,
        repairs,
        features,
        labels: match found_labels {
            Some(table) => table.arrange(&order)?,
            None => Labels::new(vec![None; num_nodes], Vec::new())?,
        },
        splits: splits::arrange(splits.unwrap_or_default(), &order),
        node_ids: order.names,
        details,
    };
    // What is still wrong after this is in the splits, or there are no nodes at all.
    Dataset::new(parts)
        .map(|dataset| dataset.with_notes(notes))
        .map_err(|error| error.in_file(files.splits.as_deref().unwrap_or(&files.edges)))
}

/// The features in their final order, and what is known of their columns.
fn arranged(
    table: features::Table,
    path: &Path,
    order: &Order,
    options: &LoadOptions,
    details: &mut Details,
    notes: &mut Vec<String>,
) -> Result<Features> {
    let preparation = match &table {
        features::Table::Dense { preparation, .. } => Some(preparation.clone()),
        features::Table::Sparse { .. } => None,
    };
    let (features, said) = table.arrange(path, order, options)?;
    notes.extend(said);
    match preparation {
        // Rows of numbers whose columns have no names.
        Some(Preparation { columns, .. }) if columns.is_empty() && features.dim() > 0 => {
            let names: Vec<String> = (0..features.dim()).map(|column| column.to_string()).collect();
            match prepare_matrix(&features, &names, &options.prepare).map_err(|error| error.in_file(path))? {
                None => Ok(features),
                Some((prepared, fitted)) => {
                    notes.extend(fitted.notes);
                    details.feature_names = Some(fitted.preparation.feature_names());
                    details.preparation = Some(fitted.preparation);
                    Ok(prepared)
                }
            }
        }
        Some(preparation) => {
            details.feature_names = Some(preparation.feature_names());
            details.preparation = Some(preparation);
            Ok(features)
        }
        None => Ok(features),
    }
}

/// Refuses names of columns that no table has.
fn check_found(files: &TableFiles, options: &LoadOptions, labels: bool, details: &Details) -> Result<()> {
    let ColumnNames { label, time, group, .. } = &options.columns;
    // Data to predict on need not have labels, times or groups.
    if options.preparation.is_some() {
        return Ok(());
    }
    let lacking = [
        (label, labels, "the classes"),
        (time, details.times.is_some(), "the times of nodes"),
        (group, details.groups.is_some(), "the groups of nodes"),
    ];
    for (name, found, what) in lacking {
        if let (Some(name), false) = (name, found) {
            let file = files.features.as_deref().or(files.labels.as_deref()).unwrap_or(&files.edges);
            return Err(Error::input(
                file,
                "",
                format!("no table of features or labels has a column `{name}` ({what})"),
                "name a column of one of these tables",
            ));
        }
    }
    Ok(())
}

/// A dataset with the edges of a table instead of its own; the table names the nodes as the dataset does.
pub fn with_edges(dataset: Dataset, path: &Path, options: &LoadOptions) -> Result<Dataset> {
    let mut ids = Ids::default();
    for node in 0..dataset.num_nodes() {
        ids.number(&dataset.node_id(node))?;
    }
    let (edges, notes) = edges::read(path, options.header, &options.columns, &mut ids)?;
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
    Ok(dataset.with_graph(graph)?.with_notes(notes.into_iter().chain(repeated_note)))
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
    table_in(folder, "edges")
}

/// The table of a folder that is called so, whatever it is kept in.
fn table_in(folder: &Path, name: &str) -> Option<PathBuf> {
    ENDINGS.map(|ending| folder.join(format!("{name}.{ending}"))).into_iter().find(|path| path.is_file())
}

/// The name of the file, or of the folder when the file is just called `edges`.
fn name(edges: &Path) -> String {
    let file = edges.file_name().unwrap_or_default().to_string_lossy();
    let stem = ENDINGS.iter().rev().find_map(|ending| file.strip_suffix(&format!(".{ending}")));
    let stem = stem.unwrap_or(&file);
    let full = edges.canonicalize().unwrap_or_else(|_| edges.to_path_buf());
    let folder = full.parent().and_then(Path::file_name).filter(|_| stem == "edges");
    folder.map_or_else(|| stem.to_string(), |folder| folder.to_string_lossy().into_owned())
}
