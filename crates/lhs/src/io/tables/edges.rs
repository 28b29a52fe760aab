//! The edge table: `source,target` and, if there is one, `weight`; the header is optional.

use std::path::Path;

use super::header::{Decision, FirstRow};
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
pub(in crate::io) struct Edges {
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<f32>>,
}

/// What was read, and a remark about it.
pub(super) fn read(path: &Path, told: Option<bool>, ids: &mut Ids) -> Result<(Edges, Option<String>)> {
    let mut rows = Rows::open(path)?;
    rows.first()?;
    let names = Names::of(&rows);
    let first_row = FirstRow {
        path,
        told,
        known: ids,
        id_columns: &[0, 1],
        recognised: names != Names::Unknown,
        recurring: &[0, 1],
    };
    let Decision { header, note } =
        if rows.num_columns() < 2 { Decision { header: false, note: None } } else { first_row.decide()? };
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
    let swapped = header && names == Names::TargetFirst;
    let mut edges = Edges { pairs: Vec::new(), weights: weighted.then(Vec::new) };
    while rows.advance()? {
        rows.expect_columns(columns, meaning)?;
        let (first, second) = (super::node(&rows, 0, ids)?, super::node(&rows, 1, ids)?);
        edges.pairs.push(if swapped { (second, first) } else { (first, second) });
        if let Some(weights) = &mut edges.weights {
            weights.push(weight(&rows)?);
        }
    }
    Ok((edges, note))
}

/// What the first row calls its columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    SourceFirst,
    TargetFirst,
    Unknown,
}

impl Names {
    fn of(rows: &Rows) -> Self {
        if rows.num_columns() < 2 {
            return Names::Unknown;
        }
        let (first, second) = (rows.field(0), rows.field(1));
        if is_called(first, TARGET) && is_called(second, SOURCE) {
            return Names::TargetFirst;
        }
        let weight = rows.num_columns() == 3 && is_called(rows.field(2), WEIGHT);
        if is_called(first, SOURCE) && is_called(second, TARGET) || weight {
            return Names::SourceFirst;
        }
        Names::Unknown
    }
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
