//! The split table: `split,node,part`.

use std::collections::BTreeMap;
use std::path::Path;

use super::ids::{Ids, Order};
use super::rows::{Rows, is_called};
use crate::error::{Error, Result, nearest};
use crate::graph::Split;

/// Splits under provisional node numbers, ordered by their number, or by name if they are not numbered.
pub(super) fn read(path: &Path, ids: &Ids) -> Result<Vec<Split>> {
    let mut rows = Rows::open(path)?;
    if rows.names().is_none() {
        rows.first()?;
        rows.expect_columns(3, "a split, a node and a part")?;
        if !is_called(rows.field(2), &["part"]) {
            rows.hold_back();
        }
    }
    let mut splits: BTreeMap<(i64, String), Split> = BTreeMap::new();
    while rows.advance()? {
        rows.expect_columns(3, "a split, a node and a part")?;
        let node = ids.get(rows.field(1)).ok_or_else(|| {
            rows.wrong(
                1,
                format!("no other table mentions the node `{}`", rows.field(1)),
                "splits can only name nodes that have a row or an edge",
            )
        })?;
        let name = rows.field(0).to_string();
        let split = splits.entry((name.parse().unwrap_or(i64::MAX), name)).or_default();
        let part = match rows.field(2) {
            "train" => &mut split.train,
            "val" => &mut split.val,
            "test" => &mut split.test,
            other => {
                return Err(rows.wrong(
                    2,
                    format!("`{other}` is not a part of a split"),
                    nearest(other, &["train", "val", "test"]),
                ));
            }
        };
        part.push(node);
    }
    if splits.is_empty() {
        return Err(Error::input(path, "", "the table has a header and no rows", "leave the file out"));
    }
    Ok(splits.into_values().collect())
}

/// The splits under the final node numbers.
pub(super) fn arrange(mut splits: Vec<Split>, order: &Order) -> Vec<Split> {
    for split in &mut splits {
        for part in [&mut split.train, &mut split.val, &mut split.test] {
            for node in part.iter_mut() {
                *node = order.rank[*node as usize];
            }
            part.sort_unstable();
        }
    }
    splits
}
