//! What tables say of nodes for the sake of splits: when they came to be, and whom they belong with.

use super::ids::Order;
use super::roles::{ColumnNames, Header};
use super::rows::Rows;
use crate::error::Result;
use crate::graph::preparation::{is_gap, times};

/// Times and groups by provisional node number.
#[derive(Default)]
pub(super) struct Attributes {
    time: Option<usize>,
    group: Option<usize>,
    times: Vec<Option<f64>>,
    groups: Vec<String>,
}

impl Attributes {
    /// Of a table in which some of the columns may stand that the user named.
    pub fn in_table(header: &Header<'_>, columns: &ColumnNames) -> Self {
        Attributes {
            time: header.named(columns.time.as_ref()),
            group: header.named(columns.group.as_ref()),
            ..Attributes::default()
        }
    }

    /// The columns that are read here.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.time.into_iter().chain(self.group)
    }

    pub fn add(&mut self, rows: &Rows<'_>, node: u32) -> Result<()> {
        let node = node as usize;
        if let Some(column) = self.time {
            let text = rows.field(column);
            let time =
                times::seconds(text).or_else(|| text.parse().ok().filter(|time: &f64| time.is_finite()));
            if time.is_none() && !is_gap(text) {
                return Err(rows.wrong(
                    column,
                    format!("`{text}` is not a time"),
                    "write times like 2026-01-31, 2026-01-31T12:00:00Z, or as numbers",
                ));
            }
            self.times.resize(self.times.len().max(node + 1), None);
            self.times[node] = time;
        }
        if let Some(column) = self.group {
            self.groups.resize(self.groups.len().max(node + 1), String::new());
            self.groups[node] =
                if is_gap(rows.field(column)) { String::new() } else { rows.field(column).into() };
        }
        Ok(())
    }

    /// Times in the final order, if the table has them.
    pub fn times(&self, order: &Order) -> Option<Vec<Option<f64>>> {
        self.time.map(|_| arranged(&self.times, order))
    }

    /// Groups in the final order, if the table has them.
    pub fn groups(&self, order: &Order) -> Option<Vec<String>> {
        self.group.map(|_| arranged(&self.groups, order))
    }
}

fn arranged<T: Clone + Default>(values: &[T], order: &Order) -> Vec<T> {
    let mut out = vec![T::default(); order.rank.len()];
    for (value, &node) in values.iter().zip(&order.rank) {
        out[node as usize] = value.clone();
    }
    out
}
