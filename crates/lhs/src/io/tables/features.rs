//! The feature table: dense, `node,f1,f2,…`, or long and sparse, `node,column,value`.

use std::path::Path;

use super::ids::{Ids, Order};
use super::rows::{NODE, Rows, is_called};
use crate::error::{Error, Result};
use crate::graph::Features;
use crate::linalg::{Mat, SparseMat};

/// More columns than this are a mistake, such as a node id in the place of the column.
const MOST_COLUMNS: u32 = 1 << 26;

/// Features under provisional node numbers, before the edges have named the rest of the nodes.
pub(super) enum Table {
    /// One row for each of the first nodes.
    Dense { columns: usize, values: Vec<f32> },
    /// Node, column, value; whatever is not there is 0.
    Sparse { columns: usize, entries: Vec<(u32, u32, f32)> },
}

pub(super) fn read(path: &Path, ids: &mut Ids) -> Result<Table> {
    let mut rows = Rows::open(path)?;
    rows.first()?;
    if is_long_form(&rows) {
        return read_sparse(path, rows, ids);
    }
    check_header(&rows)?;
    read_dense(path, rows, ids)
}

impl Table {
    /// One row per node in the final order. Only the sparse form may leave nodes out.
    pub fn arrange(self, path: &Path, order: &Order) -> Result<Features> {
        let num_nodes = order.rank.len();
        match self {
            Table::Dense { columns, values } => {
                let rows = values.len() / columns;
                if rows < num_nodes {
                    return Err(missing_rows(path, rows, order));
                }
                let mut mat = Mat::scratch(num_nodes, columns);
                for (row, &node) in values.chunks_exact(columns).zip(&order.rank) {
                    mat.row_mut(node as usize).copy_from_slice(row);
                }
                Ok(Features::from_dense(mat))
            }
            Table::Sparse { columns, mut entries } => {
                for entry in &mut entries {
                    entry.0 = order.rank[entry.0 as usize];
                }
                entries.sort_by_key(|&(node, column, _)| (node, column));
                check_repeats(path, &entries, order)?;
                entries.dedup_by_key(|entry| (entry.0, entry.1));
                Ok(Features::from_sparse(SparseMat::from_triplets(num_nodes, columns, entries)))
            }
        }
    }
}

fn is_long_form(rows: &Rows) -> bool {
    rows.num_columns() == 3
        && ["node", "column", "value"]
            .iter()
            .enumerate()
            .all(|(column, name)| is_called(rows.field(column), &[name]))
}

/// A table of numbers only could have lost its header or never had one; guessing would lose a node.
fn check_header(rows: &Rows) -> Result<()> {
    let named = is_called(rows.field(0), NODE)
        || (1..rows.num_columns()).any(|column| rows.field(column).parse::<f32>().is_err());
    if rows.num_columns() < 2 {
        return rows.expect_columns(2, "a node and its features");
    }
    if named {
        return Ok(());
    }
    Err(rows.wrong(0, "the header is missing", "begin the table with the line `node,f1,f2,…`"))
}

fn read_dense(path: &Path, mut rows: Rows, ids: &mut Ids) -> Result<Table> {
    let columns = rows.num_columns() - 1;
    let mut values: Vec<f32> = Vec::new();
    while rows.advance()? {
        rows.expect_columns(columns + 1, &format!("a node and its {columns} features"))?;
        let (known, node) = (ids.len(), super::node(&rows, 0, ids)? as usize);
        let start = values.len();
        for column in 1..=columns {
            values.push(rows.finite(column, "the feature")?);
        }
        if node < known {
            let (earlier, again) = values.split_at(start);
            if earlier[node * columns..][..columns] != *again {
                return Err(twice(&rows));
            }
            values.truncate(start);
        }
    }
    if values.is_empty() {
        return Err(no_rows(path));
    }
    Ok(Table::Dense { columns, values })
}

fn read_sparse(path: &Path, mut rows: Rows, ids: &mut Ids) -> Result<Table> {
    let mut entries: Vec<(u32, u32, f32)> = Vec::new();
    let mut columns = 0;
    while rows.advance()? {
        rows.expect_columns(3, "a node, a column number and a value")?;
        let node = super::node(&rows, 0, ids)?;
        let column = column_number(&rows)?;
        columns = columns.max(column as usize + 1);
        entries.push((node, column, rows.finite(2, "the feature")?));
    }
    if entries.is_empty() {
        return Err(no_rows(path));
    }
    Ok(Table::Sparse { columns, entries })
}

fn column_number(rows: &Rows) -> Result<u32> {
    rows.field(1).parse().ok().filter(|&column| column < MOST_COLUMNS).ok_or_else(|| {
        rows.wrong(
            1,
            format!("`{}` is not a column number", rows.field(1)),
            format!("number the feature columns 0, 1, 2, … (below {MOST_COLUMNS})"),
        )
    })
}

fn twice(rows: &Rows) -> Error {
    rows.wrong(
        0,
        format!("node `{}` has a second row with other features", rows.field(0)),
        "keep one row per node",
    )
}

fn no_rows(path: &Path) -> Error {
    Error::input(
        path,
        "",
        "the table has a header and no rows",
        "leave the file out if there are no features",
    )
}

fn check_repeats(path: &Path, sorted: &[(u32, u32, f32)], order: &Order) -> Result<()> {
    let same_place = |pair: &&[(u32, u32, f32)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
    match sorted.windows(2).filter(same_place).find(|pair| pair[0].2 != pair[1].2) {
        None => Ok(()),
        Some(pair) => Err(Error::input(
            path,
            "",
            format!(
                "column {} of node `{}` is both {} and {}",
                pair[0].1,
                order.name(pair[0].0),
                pair[0].2,
                pair[1].2
            ),
            "give each node one value per column",
        )),
    }
}

fn missing_rows(path: &Path, rows: usize, order: &Order) -> Error {
    let missing = order.rank.len() - rows;
    let first = order.name(order.rank[rows..].iter().copied().min().unwrap_or(0));
    let (nodes, verb) = if missing == 1 { ("node", "has") } else { ("nodes", "have") };
    Error::input(
        path,
        "",
        format!("{missing} {nodes} of the other tables {verb} no row here, the first is `{first}`"),
        "add the rows, or use the long form `node,column,value`, where what is left out is 0",
    )
}
