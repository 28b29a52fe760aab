//! One `.npz` file per graph, in the layout of the *heterophilous-graphs* collection; and in the layouts of others, see below.
//!
//! | member | shape | meaning |
//! |---|---|---|
//! | `node_features` | `[nodes, columns]` | numbers of any kind, dense; may be missing |
//! | `node_labels` | `[nodes]` | class numbers; negative: unknown; may be missing |
//! | `edges` | `[edges, 2]` | node numbers, each undirected pair once |
//! | `train_masks`, `val_masks`, `test_masks` | `[splits, nodes]` or `[nodes]` | optional |
//!
//! [`write()`] adds members of our own, so that nothing but the name is lost (that is the file's name):
//!
//! | member | shape | meaning |
//! |---|---|---|
//! | `features_indptr`, `features_indices`, `features_values`, `features_shape` | | sparse features (CSR) instead of `node_features` |
//! | `class_names`, `node_ids` | `[bytes]` | a JSON array of strings in UTF-8 |
//! | `edge_weights` | `[edges]` | positive numbers |
//! | `directed` | `[]` | whether `edges` go from the first node to the second |
//! | `feature_names`, `node_groups` | `[bytes]` | likewise |
//! | `node_times` | `[nodes]` | seconds since 1970; NaN: unknown |
//! | `lhs_details` | `[bytes]` | what lhs noted: what this is a copy of, how its features were prepared |
//!
//! Archives of others, recognised by the names of their members:
//!
//! | members | from |
//! |---|---|
//! | `edge_index` `[2, edges]`, `x`, `y`, `train_mask`, … | `numpy.savez` of PyTorch Geometric's data |
//! | `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`, `attr_data`, …, `labels` | Nettack, DeepRobust, GNNBench |
//! | `data`, `indices`, `indptr`, `shape`, `format` | `scipy.sparse.save_npz` of an adjacency matrix |
//!
//! [`LoadOptions::directed`] keeps the direction of a file whose `directed` is true. In a file without that member edges
//! go from the first node to the second, unless the first is the smaller one in every pair: whoever lists pairs so has no direction
//! to tell, and the option changes nothing.

mod adjacency;
mod archive;
mod features;
mod torch_geometric;
mod writer;

use std::path::Path;

use super::LoadOptions;
use super::edge_list::believable;
use super::marker::Marker;
use super::recognise::{Kind, is_kind};
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Details, Features, Graph, Labels, Repairs};
use crate::linalg::{Pattern, SparseMat};

pub(super) use archive::{Archive, MaskShape};
pub(super) use features::Growing;
pub(super) use writer::{ArchiveWriter, mask};
pub use writer::{FeatureLayout, write};

/// Whether `source` looks like this format.
pub fn is_here(source: &Path) -> bool {
    is_kind(source, Kind::Npz)
}

/// Reads a dataset; it is called like the file.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let mut archive = Archive::open(source)?;
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if archive.has("edges") {
        return read_own(&mut archive, name, options).map_err(|error| error.in_file(source));
    }
    let (parts, notes) = if archive.has("edge_index") {
        torch_geometric::read(&mut archive, name, options)?
    } else if adjacency::is_here(&archive) {
        adjacency::read(&mut archive, name, options)?
    } else {
        return Err(archive.missing("edges"));
    };
    Dataset::new(parts).map(|dataset| dataset.with_notes(notes)).map_err(|error| error.in_file(source))
}

fn read_own(archive: &mut Archive, name: String, options: &LoadOptions) -> Result<Dataset> {
    // The labels come first: they say how many nodes there are, and prove it with as much data.
    let labels = if archive.has("node_labels") { Some(read_labels(archive)?) } else { None };
    let node_ids = read_strings(archive, "node_ids")?;
    let num_nodes = match (&labels, &node_ids) {
        (Some(labels), _) => labels.len(),
        (None, Some(ids)) => ids.len(),
        (None, None) => rows_of_features(archive)?,
    };
    let (graph, repairs) = read_graph(archive, num_nodes, options)?;
    let features = read_features(archive, num_nodes)?;
    let (mut details, marker) = read_details(archive)?;
    let mut notes = Vec::new();
    let prepared = marker.as_ref().is_some_and(|marker| marker.holds_for(&features));
    let features =
        if prepared { features } else { super::prepare(features, &mut details, options, &mut notes)? };
    let masks = ["train_masks", "val_masks", "test_masks"];
    let parts = DatasetParts {
        name,
        graph,
        repairs,
        features,
        node_ids,
        splits: archive.splits(masks, MaskShape::SplitsNodes, num_nodes)?,
        labels: match labels {
            Some(labels) => labels,
            None => Labels::new(vec![None; num_nodes], Vec::new())?,
        },
        details,
    };
    let dataset = Dataset::new(parts)?.with_notes(notes);
    match &marker {
        Some(marker) => marker.complete(dataset),
        None => Ok(dataset),
    }
}

/// What lhs noted about the data.
const DETAILS: &str = "lhs_details";

fn read_details(archive: &mut Archive) -> Result<(Details, Option<Marker>)> {
    let times = match archive.has("node_times") {
        true => Some(archive.with("node_times", |array| {
            array.expect_shape(&[None], "[nodes]")?;
            array.into_vec::<f64>()
        })?),
        false => None,
    };
    let details = Details {
        feature_names: read_strings(archive, "feature_names")?,
        times: times.map(|times| times.into_iter().map(|time| (!time.is_nan()).then_some(time)).collect()),
        groups: read_strings(archive, "node_groups")?,
        ..Details::default()
    };
    let marker = read_strings(archive, DETAILS)?.and_then(|texts| texts.into_iter().next());
    let marker = marker.map(|text| Marker::from_json(&text)).transpose();
    Ok((details, marker.map_err(|error| archive.locate(error, DETAILS))?))
}

/// The number of nodes, where neither labels nor ids say it.
fn rows_of_features(archive: &mut Archive) -> Result<usize> {
    if archive.has("features_indptr") {
        let bounds = archive.with("features_indptr", |array| Ok(array.header().shape.first().copied()))?;
        return Ok(bounds.unwrap_or(0).saturating_sub(1));
    }
    if archive.has("node_features") {
        let edges = archive.with("edges", |array| Ok(array.header().shape.first().copied().unwrap_or(0)))?;
        return archive.with("node_features", |array| match array.header().shape[..] {
            [rows, 0] => believable(rows as u64, edges),
            [rows, ..] => Ok(rows),
            [] => Ok(0),
        });
    }
    let error = Error::data(
        "neither node_labels, node_features nor node_ids say how many nodes there are",
        "add one of these arrays; a label of -1 is unknown",
    );
    Err(archive.locate(error, "edges"))
}

fn read_labels(archive: &mut Archive) -> Result<Labels> {
    let numbers = archive.integers("node_labels", &[None], "[nodes]")?;
    let labels = match read_strings(archive, "class_names")? {
        None => Labels::from_numbers(&numbers),
        Some(names) => numbered(&numbers, names),
    };
    labels.map_err(|error| archive.locate(error, "node_labels"))
}

/// Labels whose numbers stand for names; a negative number is unknown.
fn numbered(numbers: &[i64], names: Vec<String>) -> Result<Labels> {
    // Too large for u32 is too large for any list of names, which `Labels` then says.
    let class = |&n: &i64| (n >= 0).then(|| u32::try_from(n).unwrap_or(u32::MAX));
    Labels::new(numbers.iter().map(class).collect(), names)
}

fn read_graph(archive: &mut Archive, num_nodes: usize, options: &LoadOptions) -> Result<(Graph, Repairs)> {
    let ends = archive.integers("edges", &[None, Some(2)], "[edges, 2]: transpose [2, edges]")?;
    let edges = pairs(&ends, num_nodes).map_err(|error| archive.locate(error, "edges"))?;
    let mut weights = None;
    if archive.has("edge_weights") {
        weights = Some(archive.with("edge_weights", |array| {
            array.expect_shape(&[Some(edges.len())], "[edges]: one weight per edge")?;
            array.into_vec::<f32>()
        })?);
    }
    let directed = options.directed
        && if archive.has("directed") { read_directed(archive)? } else { edges.iter().any(|(a, b)| a > b) };
    let graph = Graph::build(num_nodes, &edges, weights.as_deref(), directed);
    graph.map_err(|error| archive.locate(error, "edge_weights"))
}

fn pairs(ends: &[i64], num_nodes: usize) -> Result<Vec<(u32, u32)>> {
    let node = |edge: usize, end: i64| {
        u32::try_from(end).ok().filter(|&end| (end as usize) < num_nodes).ok_or_else(|| {
            Error::data(
                format!("edge {edge}: node {end} out of range (num_nodes = {num_nodes})"),
                "node numbers start at 0; every end of an edge must be a node",
            )
        })
    };
    ends.as_chunks::<2>().0.iter().enumerate().map(|(e, &[a, b])| Ok((node(e, a)?, node(e, b)?))).collect()
}

fn read_directed(archive: &mut Archive) -> Result<bool> {
    Ok(archive.integers("directed", &[], "[], a single true or false")?.first().is_some_and(|&d| d != 0))
}

fn read_features(archive: &mut Archive, num_nodes: usize) -> Result<Features> {
    if !archive.has("node_features") && !archive.has("features_shape") {
        return Ok(Features::none(num_nodes));
    }
    if archive.has("node_features") {
        return archive.with("node_features", |array| features::read(array, num_nodes));
    }
    let shape = archive.integers("features_shape", &[Some(2)], "[2]: nodes and columns")?;
    let dim = match shape[..] {
        [rows, dim] if usize::try_from(rows) == Ok(num_nodes) => u32::try_from(dim).ok(),
        _ => None,
    };
    let dim = dim.ok_or_else(|| {
        let problem = format!("{shape:?} is not the shape of features for {num_nodes} nodes");
        archive.locate(Error::data(problem, "give the number of nodes and of columns"), "features_shape")
    })?;
    let indptr = archive.integers("features_indptr", &[Some(num_nodes + 1)], "[nodes + 1]")?;
    let indices = archive.integers("features_indices", &[None], "[entries]")?;
    let values = archive.with("features_values", |array| {
        array.expect_shape(&[Some(indices.len())], "[entries]: one value per index")?;
        array.into_vec::<f32>()
    })?;
    let indptr = bounds(&indptr, indices.len()).map_err(|e| archive.locate(e, "features_indptr"))?;
    let indices = columns(&indptr, &indices, dim).map_err(|e| archive.locate(e, "features_indices"))?;
    let pattern = Pattern::new(num_nodes, dim as usize, indptr, indices);
    Ok(Features::from_sparse(SparseMat::new(pattern.into(), values)))
}

fn bounds(indptr: &[i64], num_entries: usize) -> Result<Vec<usize>> {
    if indptr.first() == Some(&0) && indptr.last() == Some(&(num_entries as i64)) && indptr.is_sorted() {
        return Ok(indptr.iter().map(|&bound| bound as usize).collect());
    }
    Err(Error::data(
        format!("the bounds of the rows do not ascend from 0 to {num_entries}"),
        "write the indptr of a scipy csr_matrix",
    ))
}

fn columns(indptr: &[usize], indices: &[i64], dim: u32) -> Result<Vec<u32>> {
    for (row, range) in indptr.windows(2).enumerate() {
        let row_indices = &indices[range[0]..range[1]];
        let in_range = row_indices.iter().all(|&col| (0..i64::from(dim)).contains(&col));
        if !in_range || !row_indices.is_sorted_by(|a, b| a < b) {
            return Err(Error::data(
                format!("the columns of node {row} do not ascend within 0..{dim}"),
                "write the indices of a scipy csr_matrix after sum_duplicates()",
            ));
        }
    }
    Ok(indices.iter().map(|&col| col as u32).collect())
}

fn read_strings(archive: &mut Archive, member: &str) -> Result<Option<Vec<String>>> {
    if !archive.has(member) {
        return Ok(None);
    }
    archive.with(member, |array| {
        array.expect_shape(&[None], "[bytes]: a JSON array of strings in UTF-8")?;
        let bytes: Vec<u8> = array.into_vec::<i64>()?.into_iter().map(|byte| byte as u8).collect();
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::data(
                format!("this is not a JSON array of strings: {error}"),
                "write numpy.frombuffer(json.dumps(names).encode(), 'uint8')",
            )
        })
    })
}

#[cfg(test)]
mod tests;
