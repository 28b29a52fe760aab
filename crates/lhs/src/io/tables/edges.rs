//! The edge table: a source and a target and, if there is one, a weight; the header is optional.

use std::path::Path;

use super::header::{Decision, FirstRow};
use super::ids::Ids;
use super::roles::{ColumnNames, Header};
use super::rows::Rows;
use crate::error::{Error, Result};

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
/// Words within longer names, such as `from_account`.
const SOURCE_WORDS: &[&str] = &["source", "src", "from", "sender", "payer", "buyer", "a", "1", "origin"];
const TARGET_WORDS: &[&str] =
    &["target", "dst", "to", "receiver", "recipient", "payee", "seller", "b", "2", "destination"];
const WEIGHT: &[&str] = &["weight", "w", "value"];

/// Pairs of node numbers in the order of the table, with their weights if it has any.
pub(in crate::io) struct Edges {
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<f32>>,
}

/// Where the ends and the weight of an edge stand.
struct Layout {
    source: usize,
    target: usize,
    weight: Option<usize>,
    /// Columns that are not used.
    unused: Vec<String>,
}

/// What was read, and remarks about it.
pub(super) fn read(
    path: &Path,
    told: Option<bool>,
    columns: &ColumnNames,
    ids: &mut Ids,
) -> Result<(Edges, Vec<String>)> {
    let mut rows = Rows::open(path)?;
    let mut notes = Vec::new();
    let names: Option<Vec<String>> = match rows.names() {
        Some(names) => Some(names.to_vec()),
        None => {
            rows.first()?;
            let first = rows.cells();
            let header = is_header(path, told, columns, &first, ids)?;
            notes.extend(header.note);
            if !header.header {
                rows.hold_back();
            }
            header.header.then_some(first)
        }
    };
    let layout = match &names {
        Some(names) => Layout::of(&Header { path, names }, columns)?,
        None => Layout::without_header(&rows, columns, path)?,
    };
    if let Some(note) = layout.note(path) {
        notes.push(note);
    }
    let width = names.as_ref().map_or(if layout.weight.is_some() { 3 } else { 2 }, Vec::len);
    let meaning = match (width, layout.weight) {
        (2, _) => "a source and a target, and no more than a weight beside them",
        (3, Some(_)) => "a source, a target and a weight",
        _ => "as many columns as the header",
    };
    let mut edges = Edges { pairs: Vec::new(), weights: layout.weight.map(|_| Vec::new()) };
    while rows.advance()? {
        rows.expect_columns(width, meaning)?;
        let pair = (super::node(&rows, layout.source, ids)?, super::node(&rows, layout.target, ids)?);
        edges.pairs.push(pair);
        if let (Some(weights), Some(column)) = (&mut edges.weights, layout.weight) {
            weights.push(weight(&rows, column)?);
        }
    }
    Ok((edges, notes))
}

fn is_header(
    path: &Path,
    told: Option<bool>,
    columns: &ColumnNames,
    first: &[String],
    ids: &Ids,
) -> Result<Decision> {
    if first.len() < 2 {
        return Ok(Decision { header: false, note: None });
    }
    let header = Header { path, names: first };
    let named = [&columns.source, &columns.target, &columns.weight].map(|name| header.named(name.as_ref()));
    // A name that the user gave is no data.
    let told = told.or(named.iter().any(Option::is_some).then_some(true));
    let well_known = header.called(SOURCE).is_some() && header.called(TARGET).is_some();
    let weight = first.len() == 3 && header.called(WEIGHT) == Some(2);
    FirstRow {
        path,
        told,
        known: ids,
        id_columns: &[0, 1],
        recognised: well_known || weight,
        recurring: &[0, 1],
    }
    .decide()
}

impl Layout {
    fn of(header: &Header<'_>, columns: &ColumnNames) -> Result<Self> {
        let names = header.names;
        if names.len() < 2 {
            return Err(Error::input(
                header.path,
                "line 1",
                format!("found {} column instead of 2", names.len()),
                "every row needs a source and a target",
            ));
        }
        let source = header.given(columns.source.as_ref(), "where edges come from")?;
        let target = header.given(columns.target.as_ref(), "where edges go to")?;
        let weight = header.given(columns.weight.as_ref(), "the weights of edges")?;
        let weight = weight.or_else(|| header.called(WEIGHT).filter(|column| names.len() > 2 && *column > 1));
        let recognised = (
            source.or_else(|| header.called(SOURCE)).or_else(|| header.with_word(SOURCE_WORDS)),
            target.or_else(|| header.called(TARGET)).or_else(|| header.with_word(TARGET_WORDS)),
        );
        let (source, target) = match recognised {
            (Some(source), Some(target)) if source != target => (source, target),
            // Two columns, or two and a weight, can only be the ends.
            _ if columns.source.is_none()
                && columns.target.is_none()
                && names.len() - usize::from(weight.is_some()) == 2 =>
            {
                (0, 1)
            }
            _ => {
                return Err(Error::input(
                    header.path,
                    "line 1",
                    format!("which columns are the ends of an edge? There are {}", header.list()),
                    "say which (`source` and `target` column), or call them source and target",
                ));
            }
        };
        let used = [Some(source), Some(target), weight];
        let unused = (0..names.len()).filter(|column| !used.contains(&Some(*column)));
        Ok(Layout { source, target, weight, unused: unused.map(|column| names[column].clone()).collect() })
    }

    fn without_header(rows: &Rows<'_>, columns: &ColumnNames, path: &Path) -> Result<Self> {
        if columns.source.is_some() || columns.target.is_some() || columns.weight.is_some() {
            return Err(Error::input(
                path,
                "line 1",
                "columns are named, but the table has no header",
                "begin the table with a line of names",
            ));
        }
        let weight = (rows.num_columns() == 3).then_some(2);
        Ok(Layout { source: 0, target: 1, weight, unused: Vec::new() })
    }

    /// What the user should hear about columns.
    fn note(&self, path: &Path) -> Option<String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let names: Vec<String> = self.unused.iter().map(|name| format!("`{name}`")).collect();
        let columns = if names.len() == 1 { "column" } else { "columns" };
        (!names.is_empty()).then(|| format!("{file}: {columns} {} not used", names.join(", ")))
    }
}

fn weight(rows: &Rows<'_>, column: usize) -> Result<f32> {
    let weight = rows.finite(column, "the weight")?;
    if weight > 0.0 {
        return Ok(weight);
    }
    Err(rows.wrong(
        column,
        format!("the weight {weight} is not positive"),
        "remove the edge, or give it a positive weight",
    ))
}
