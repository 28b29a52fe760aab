//! The arrays of PyTorch Geometric's `Data`, saved with `numpy.savez`.
//!
//! | member | shape | |
//! |---|---|---|
//! | `edge_index` | `[2, edges]` | both directions of an undirected edge |
//! | `edge_weight` | `[edges]` | optional |
//! | `x` | `[nodes, columns]` | optional |
//! | `y` | `[nodes]` or `[nodes, 1]` | class numbers, negative: unknown; optional |
//! | `train_mask`, `val_mask`, `test_mask` | `[nodes]` or `[nodes, splits]` | optional |
//! | `num_nodes` | `[]` | where neither `x` nor `y` say it |

use super::{Archive, MaskShape, features, pairs};
use crate::error::{Error, Result};
use crate::graph::{DatasetParts, Details, Features, Labels};
use crate::io::LoadOptions;
use crate::io::edge_list::{EdgeList, believable};

pub(super) fn read(
    archive: &mut Archive,
    name: String,
    options: &LoadOptions,
) -> Result<(DatasetParts, Vec<String>)> {
    let labels = if archive.has("y") { Some(read_labels(archive)?) } else { None };
    let ends = archive.integers("edge_index", &[Some(2), None], "[2, edges]: transpose [edges, 2]")?;
    let (sources, targets) = ends.split_at(ends.len() / 2);
    let num_nodes = match &labels {
        Some(labels) => labels.len(),
        None => num_nodes(archive, sources.len())?,
    };
    let ends: Vec<i64> = sources.iter().zip(targets).flat_map(|(&a, &b)| [a, b]).collect();
    let edges = pairs(&ends, num_nodes).map_err(|error| archive.locate(error, "edge_index"))?;
    let mut weights = None;
    if archive.has("edge_weight") {
        weights = Some(archive.with("edge_weight", |array| {
            array.expect_shape(&[Some(edges.len())], "[edges]: one weight per edge")?;
            array.into_vec::<f32>()
        })?);
    }
    let list = EdgeList::from_entries(edges, weights).and_then(|list| list.build(num_nodes, options));
    let (graph, repairs, notes) = list.map_err(|error| archive.locate(error, "edge_weight"))?;
    let features = if archive.has("x") {
        archive.with("x", |array| features::read(array, num_nodes))?
    } else {
        Features::none(num_nodes)
    };
    let parts = DatasetParts {
        name,
        graph,
        repairs,
        features,
        labels: match labels {
            Some(labels) => labels,
            None => Labels::new(vec![None; num_nodes], Vec::new())?,
        },
        node_ids: None,
        splits: archive.splits(["train_mask", "val_mask", "test_mask"], MaskShape::NodesSplits, num_nodes)?,
        details: Details::default(),
    };
    Ok((parts, notes))
}

fn read_labels(archive: &mut Archive) -> Result<Labels> {
    let numbers = archive.with("y", |array| {
        match array.header().shape[..] {
            [_, 1] => {}
            [_, columns] if columns > 1 => {
                return Err(Error::data(
                    format!("{columns} answers per node, but a node has one class"),
                    "save one column: y=data.y[:, 0], or y=data.y.argmax(1) if the columns stand for classes",
                ));
            }
            _ => array.expect_shape(&[None], "[nodes]")?,
        }
        array.into_vec::<i64>()
    })?;
    Labels::from_numbers(&numbers).map_err(|error| archive.locate(error, "y"))
}

fn num_nodes(archive: &mut Archive, edges: usize) -> Result<usize> {
    if archive.has("x") {
        return archive.with("x", |array| match array.header().shape[..] {
            [rows, 0] => believable(rows as u64, edges),
            [rows, ..] => Ok(rows),
            [] => Ok(0),
        });
    }
    if archive.has("num_nodes") {
        let number = archive.integers("num_nodes", &[], "[], a single number")?[0];
        return believable(u64::try_from(number).unwrap_or(u64::MAX), edges)
            .map_err(|error| archive.locate(error, "num_nodes"));
    }
    let error = Error::data("neither x nor y say how many nodes there are", "add num_nodes=data.num_nodes");
    Err(archive.locate(error, "edge_index"))
}
