//! A weighted graph with attributes of its nodes, for other tools.
//!
//! | format | opened by | what is written |
//! |---|---|---|
//! | [`Npz`](ExportFormat::Npz) | NumPy, and this program | arrays: see below |
//! | [`Csv`](ExportFormat::Csv) | pandas, R, spreadsheets | `NAME.csv` with `source,target,weight`, and `NAME.nodes.csv` beside it |
//! | [`GraphMl`](ExportFormat::GraphMl) | NetworkX, igraph, yEd | one XML file with typed attributes |
//! | [`Gexf`](ExportFormat::Gexf) | Gephi, NetworkX | the same, with the nodes in the colours of their classes |
//!
//! A missing value is left out, or an empty field in a table. Numbers that are not finite count as missing.
//!
//! The arrays are those of [the program's own format](super::npz) for a graph without features, so that it
//! can be inspected like any dataset, and one per column:
//!
//! | member | shape | meaning |
//! |---|---|---|
//! | `edges`, `edge_weights` | `[edges, 2]`, `[edges]` | node numbers, each pair once |
//! | `node_ids` | `[bytes]` | a JSON array of strings in UTF-8; absent when the ids are 0, 1, 2, … |
//! | `node_labels`, `class_names` | `[nodes]`, `[bytes]` | the first column of texts as classes |
//! | `node_features` | `[nodes, 0]` | |
//! | `node_NAME` | `[nodes]` | a column: `int64`, or `float64` with NaN where a number is missing |
//! | `names_NAME` | `[bytes]` | for a column of texts: what its numbers stand for; -1 is missing |

mod check;
mod classes;
mod csv;
mod format;
mod gexf;
mod graphml;
mod npz;
mod palette;
mod xml;

use std::borrow::Cow;
use std::path::Path;

use crate::error::Result;

pub use format::ExportFormat;

/// A weighted undirected graph with columns of node attributes.
#[derive(Clone, Debug, Default)]
pub struct Export<'a> {
    /// How the graph is called.
    pub name: &'a str,
    /// The user's own names of the nodes, no two alike.
    pub node_ids: Vec<String>,
    /// Attributes of the nodes by name, with one value per node. The first column of texts holds the classes.
    pub columns: Vec<(String, Column)>,
    /// Node numbers, each pair once, and a finite weight.
    pub edges: Vec<(u32, u32, f32)>,
}

/// One attribute of all nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Texts, such as names of classes; some may be missing.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Numbers; some may be missing.
    Number(Vec<Option<f64>>),
}

impl Export<'_> {
    /// Writes the [files of the format](ExportFormat::files), whole or not at all, in the place of old ones.
    pub fn write(&self, path: &Path, format: ExportFormat) -> Result<()> {
        check::parts(self).map_err(|error| error.in_file(path))?;
        match format {
            ExportFormat::Npz => npz::write(self, path),
            ExportFormat::Csv => csv::write(self, path),
            ExportFormat::GraphMl => graphml::write(self, path),
            ExportFormat::Gexf => gexf::write(self, path),
        }
    }

    /// The ids of an edge's ends.
    fn ends(&self, (a, b, _): (u32, u32, f32)) -> (&str, &str) {
        (&self.node_ids[a as usize], &self.node_ids[b as usize])
    }
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Text(texts) => texts.len(),
            Column::Integer(numbers) => numbers.len(),
            Column::Number(numbers) => numbers.len(),
        }
    }

    /// A node's value as every format of text writes it; `None` when it is missing.
    fn text(&self, node: usize) -> Option<Cow<'_, str>> {
        match self {
            Column::Text(texts) => texts[node].as_deref().map(Cow::Borrowed),
            Column::Integer(numbers) => Some(numbers[node].to_string().into()),
            // Unlike `{}`, `{:?}` writes very large and very small numbers with an exponent.
            Column::Number(_) => self.number(node).map(|number| format!("{number:?}").into()),
        }
    }

    /// A node's number, if this is a column of numbers and it is finite.
    fn number(&self, node: usize) -> Option<f64> {
        match self {
            Column::Number(numbers) => numbers[node].filter(|number| number.is_finite()),
            _ => None,
        }
    }
}
