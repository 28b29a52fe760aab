//! The label table: a node and its class (an empty one is unknown), perhaps among other columns.

use std::collections::BTreeMap;
use std::path::Path;

use super::attributes::Attributes;
use super::header::{Decision, FirstRow};
use super::ids::{Ids, Order};
use super::roles::{ColumnNames, Header};
use super::rows::{NODE, Rows, is_called};
use crate::error::{Error, Result};
use crate::graph::Labels;
use crate::graph::preparation::is_gap;

const LABEL: &[&str] = &["label", "class", "y", "category", "target"];
/// What people write where a class is not known, beside the usual gaps.
const UNKNOWN: &[&str] = &["unknown", "unlabelled", "unlabeled"];

/// The provisional number of each class in the order of mention, by provisional node number.
#[derive(Default)]
pub(super) struct Table {
    of_node: Vec<Mention>,
    classes: BTreeMap<String, u32>,
    /// Words that were taken for "not known".
    unknown: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mention {
    None,
    Unknown,
    Class(u32),
}

/// What a table of labels holds.
pub(super) struct Found {
    pub labels: Table,
    pub attributes: Attributes,
    pub notes: Vec<String>,
}

/// Where node and class stand.
struct Layout {
    node: usize,
    label: usize,
}

pub(super) fn read(path: &Path, told: Option<bool>, columns: &ColumnNames, ids: &mut Ids) -> Result<Found> {
    let mut rows = Rows::open(path)?;
    let mut notes = Vec::new();
    let names: Option<Vec<String>> = match rows.names() {
        Some(names) => Some(names.to_vec()),
        None => {
            rows.first()?;
            let first = rows.cells();
            let Decision { header, note } = is_header(path, told, columns, &first, ids)?;
            notes.extend(note);
            if !header {
                rows.hold_back();
            }
            header.then_some(first)
        }
    };
    let (layout, width) = match &names {
        Some(names) => (Layout::of(&Header { path, names }, columns)?, names.len()),
        None => {
            rows.expect_columns(2, "a node and a label")?;
            (Layout { node: 0, label: 1 }, 2)
        }
    };
    let mut attributes = names
        .as_ref()
        .map_or_else(Attributes::default, |names| Attributes::in_table(&Header { path, names }, columns));
    let meaning = if width == 2 { "a node and a label" } else { "as many columns as the header" };
    let mut table = Table::default();
    while rows.advance()? {
        rows.expect_columns(width, meaning)?;
        let node = super::node(&rows, layout.node, ids)?;
        table.add(&rows, node, layout.label, ids.len())?;
        attributes.add(&rows, node)?;
    }
    notes.extend(table.note(path));
    Ok(Found { labels: table, attributes, notes })
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
    let named = [&columns.id, &columns.label].map(|name| header.named(name.as_ref()));
    let told = told.or(named.iter().any(Option::is_some).then_some(true));
    let recognised = is_called(&first[0], NODE) || header.called(LABEL).is_some_and(|column| column > 0);
    FirstRow { path, told, known: ids, id_columns: &[0], recognised, recurring: &[1] }.decide()
}

impl Layout {
    fn of(header: &Header<'_>, columns: &ColumnNames) -> Result<Self> {
        let node = header.given(columns.id.as_ref(), "the ids of the nodes")?;
        let label = header.given(columns.label.as_ref(), "the classes")?;
        let count = header.names.len();
        let node = node.or_else(|| header.called(NODE)).or_else(|| (label != Some(0)).then_some(0));
        let label = label.or_else(|| header.called(LABEL).filter(|column| node != Some(*column)));
        let other = |taken: Option<usize>| (0..count).find(|column| Some(*column) != taken);
        let label = label.or_else(|| if count == 2 { other(node) } else { None });
        let node = node.or_else(|| if count == 2 { other(label) } else { None });
        match (node, label) {
            (Some(node), Some(label)) if node != label => Ok(Layout { node, label }),
            _ => Err(Error::input(
                header.path,
                "line 1",
                format!("which column is the class, and which names the node? There are {}", header.list()),
                "say which (`id` and `label` column), or call them node and label",
            )),
        }
    }
}

impl Table {
    /// Notes the class of a node; `known` is how many nodes are known by now.
    pub fn add(&mut self, rows: &Rows<'_>, node: u32, column: usize, known: usize) -> Result<()> {
        self.of_node.resize(known.max(self.of_node.len()), Mention::None);
        let mention = self.mention(rows.field(column));
        let slot = &mut self.of_node[node as usize];
        if *slot != Mention::None && *slot != mention {
            return Err(rows.wrong(
                column,
                format!("node `{}` has another label further up", rows.field(0)),
                "keep one row per node",
            ));
        }
        *slot = mention;
        Ok(())
    }

    fn mention(&mut self, label: &str) -> Mention {
        if is_gap(label) || is_called(label, UNKNOWN) {
            if !label.is_empty() {
                *self.unknown.entry(label.to_string()).or_default() += 1;
            }
            return Mention::Unknown;
        }
        if let Some(&class) = self.classes.get(label) {
            return Mention::Class(class);
        }
        let class = self.classes.len() as u32;
        self.classes.insert(label.to_string(), class);
        Mention::Class(class)
    }

    /// What the user should hear.
    pub fn note(&self, path: &Path) -> Option<String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let counted: Vec<String> =
            self.unknown.iter().map(|(word, count)| format!("`{word}` ({count} times)")).collect();
        (!counted.is_empty()).then(|| format!("{file}: taken for an unknown class: {}", counted.join(", ")))
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
