//! The edge table: `source,target` and, if there is one, `weight`; the header is optional.

use std::path::Path;

use super::ids::Ids;
use super::rows::{Rows, is_called};
use crate::error::Result;

const SOURCE: &[&str] = &[
    "source",
    "src",
    "from",
    "head",
    "start",
    "u",
    "node1",
    "node_1",
    "id1",
    "source_id",
    "fromnodeid",
    "citing",
    "follower",
    "parent",
];
const TARGET: &[&str] = &[
    "target",
    "dst",
    "to",
    "tail",
    "end",
    "v",
    "node2",
    "node_2",
    "id2",
    "target_id",
    "tonodeid",
    "cited",
    "followee",
    "child",
];
const WEIGHT: &[&str] = &["weight", "w", "value"];

/// Pairs of node numbers in the order of the table, with their weights if it has any.
pub(super) struct Edges {
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<f32>>,
}

pub(super) fn read(path: &Path, ids: &mut Ids) -> Result<Edges> {
    let header = has_header(path)?;
    let mut rows = Rows::open(path)?;
    rows.first()?;
    let weighted = rows.num_columns() == 3;
    let (columns, meaning) = if weighted {
        (3, "a source, a target and a weight")
    } else {
        (2, "a source and a target, and no more than a weight beside them")
    };
    if header {
        check_names(&rows)?;
    } else {
        rows.hold_back();
    }
    let mut edges = Edges { pairs: Vec::new(), weights: weighted.then(Vec::new) };
    while rows.advance()? {
        rows.expect_columns(columns, meaning)?;
        let pair = (super::node(&rows, 0, ids)?, super::node(&rows, 1, ids)?);
        edges.pairs.push(pair);
        if let Some(weights) = &mut edges.weights {
            weights.push(weight(&rows)?);
        }
    }
    Ok(edges)
}

/// Whether the first row names the columns. Ids can be any text, so only the well-known names tell, or text
/// above numbers; any other first row is an edge.
fn has_header(path: &Path) -> Result<bool> {
    let mut rows = Rows::open(path)?;
    rows.first()?;
    if rows.num_columns() < 2 {
        return Ok(false);
    }
    if is_called(rows.field(0), SOURCE) && is_called(rows.field(1), TARGET) {
        return Ok(true);
    }
    if rows.num_columns() == 3 && is_called(rows.field(2), WEIGHT) {
        return Ok(true);
    }
    let is_whole = |rows: &Rows, column| rows.field(column).parse::<i64>().is_ok();
    let text = !is_whole(&rows, 0) && !is_whole(&rows, 1);
    Ok(text && rows.advance()? && rows.num_columns() >= 2 && is_whole(&rows, 0) && is_whole(&rows, 1))
}

/// Refuses a header whose third column is something else than a weight, before it is read as one.
fn check_names(rows: &Rows) -> Result<()> {
    if rows.num_columns() == 3 && !is_called(rows.field(2), WEIGHT) {
        return Err(rows.wrong(
            2,
            format!("column `{}` is not understood", rows.field(2)),
            "an edge table has the columns source, target and, optionally, weight; take the others out",
        ));
    }
    Ok(())
}

fn weight(rows: &Rows) -> Result<f32> {
    let weight = rows.finite(2, "the weight")?;
    if weight > 0.0 {
        return Ok(weight);
    }
    Err(rows.wrong(
        2,
        format!("the weight {weight} is not positive"),
        "remove the edge, or give it a positive weight",
    ))
}
