//! The label table, `node,label` (an empty label is an unknown one), and the split table, `split,node,part`.

use std::collections::BTreeMap;
use std::path::Path;

use super::header::{Decision, FirstRow};
use super::ids::{Ids, Order};
use super::rows::{NODE, Rows, is_called};
use crate::error::{Error, Result, nearest};
use crate::graph::{Labels, Split};

const LABEL: &[&str] = &["label", "class", "y", "category", "target"];

/// The provisional number of each class in the order of mention, by provisional node number.
#[derive(Default)]
pub(super) struct Table {
    of_node: Vec<Mention>,
    classes: BTreeMap<String, u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mention {
    None,
    Unknown,
    Class(u32),
}

/// What was read, and a remark about it.
pub(super) fn read(path: &Path, told: Option<bool>, ids: &mut Ids) -> Result<(Table, Option<String>)> {
    let mut rows = Rows::open(path)?;
    rows.first()?;
    rows.expect_columns(2, "a node and a label")?;
    let recognised = is_called(rows.field(0), NODE) || is_called(rows.field(1), LABEL);
    let first_row = FirstRow { path, told, known: ids, id_columns: &[0], recognised, recurring: &[1] };
    let Decision { header, note } = first_row.decide()?;
    if !header {
        rows.hold_back();
    }
    let mut table = Table::default();
    while rows.advance()? {
        rows.expect_columns(2, "a node and a label")?;
        let node = super::node(&rows, 0, ids)? as usize;
        table.of_node.resize(ids.len().max(table.of_node.len()), Mention::None);
        let mention = table.mention(rows.field(1));
        let slot = &mut table.of_node[node];
        if *slot != Mention::None && *slot != mention {
            return Err(rows.wrong(
                1,
                format!("node `{}` has another label further up", rows.field(0)),
                "keep one row per node",
            ));
        }
        *slot = mention;
    }
    Ok((table, note))
}

impl Table {
    fn mention(&mut self, label: &str) -> Mention {
        if label.is_empty() {
            return Mention::Unknown;
        }
        if let Some(&class) = self.classes.get(label) {
            return Mention::Class(class);
        }
        let class = self.classes.len() as u32;
        self.classes.insert(label.to_string(), class);
        Mention::Class(class)
    }

    /// One class per node in the final order; nodes that the table leaves out are unknown.
    pub fn arrange(self, order: &Order) -> Result<Labels> {
        let mut classes: Vec<(String, u32)> = self.classes.into_iter().collect();
        if classes.iter().all(|(name, _)| name.parse::<i64>().is_ok()) {
            classes.sort_by_key(|(name, _)| name.parse::<i64>().ok());
        }
        let mut rank = vec![0u32; classes.len()];
        for (place, &(_, class)) in classes.iter().enumerate() {
            rank[class as usize] = place as u32;
        }
        let mut of_node = vec![None; order.rank.len()];
        for (&node, &mention) in order.rank.iter().zip(&self.of_node) {
            if let Mention::Class(class) = mention {
                of_node[node as usize] = Some(rank[class as usize]);
            }
        }
        Labels::new(of_node, classes.into_iter().map(|(name, _)| name).collect())
    }
}

/// Splits under provisional node numbers, ordered by their number, or by name if they are not numbered.
pub(super) fn read_splits(path: &Path, ids: &Ids) -> Result<Vec<Split>> {
    let mut rows = Rows::open(path)?;
    rows.first()?;
    rows.expect_columns(3, "a split, a node and a part")?;
    if !is_called(rows.field(2), &["part"]) {
        rows.hold_back();
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
pub(super) fn arrange_splits(mut splits: Vec<Split>, order: &Order) -> Vec<Split> {
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
