//! Which attribute is the class.
//!
//! The one that was named. Otherwise the only one that is called like a class and can be one: numbers that are not whole, a `label`
//! that is different for every node, and the `y` of a drawing cannot. If there are two, neither is guessed.

use std::collections::{BTreeMap, HashSet};

use super::{Attributed, Column, Value};
use crate::error::{Error, Result};
use crate::graph::Labels;
use crate::io::npy::quoted;

const CALLED: [&str; 5] = ["label", "class", "y", "category", "target"];

/// Where the classes are.
pub(super) enum Class {
    /// In the column with this number.
    Column(usize),
    /// In what is shown beside each node.
    Captions,
}

impl Class {
    /// The class of each node, as text.
    pub fn values(&self, graph: &Attributed) -> Vec<Option<String>> {
        let num_nodes = graph.ids.len();
        match *self {
            Class::Column(place) => {
                graph.columns[place].filled(num_nodes).map(|value| value.map(text)).collect()
            }
            Class::Captions => {
                let mut values = vec![None; num_nodes];
                for (node, caption) in &graph.captions {
                    values[*node as usize] = Some(caption.clone());
                }
                values
            }
        }
    }
}

/// Chooses the class; what was decided against, and why, goes to the notes.
pub(super) fn choose(
    graph: &Attributed,
    told: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Option<Class>> {
    if let Some(name) = told {
        return named(graph, name).map(Some);
    }
    let mut candidates = Vec::new();
    for (place, column) in graph.columns.iter().enumerate() {
        if !CALLED.iter().any(|called| column.name.eq_ignore_ascii_case(called)) {
            continue;
        }
        match unfit(graph, column) {
            None => candidates.push(place),
            Some(reason) => {
                notes.push(format!("{} is not taken for the class: {reason}", quoted(&column.name)))
            }
        }
    }
    match candidates[..] {
        [] => {
            if graph.columns.is_empty() || captions_repeat(graph) {
                remark_on_captions(graph, notes);
            }
            Ok(None)
        }
        [place] => Ok(Some(Class::Column(place))),
        _ => {
            let names = listed(candidates.iter().map(|&place| &graph.columns[place].name));
            Err(Error::data(
                format!("each of these attributes could be the class: {names}"),
                "say which one is (label column)",
            ))
        }
    }
}

fn named(graph: &Attributed, name: &str) -> Result<Class> {
    let exactly = |column: &Column| column.name == name;
    let nearly = |column: &Column| column.name.eq_ignore_ascii_case(name);
    let place = graph.columns.iter().position(exactly).or_else(|| graph.columns.iter().position(nearly));
    if let Some(place) = place {
        return Ok(Class::Column(place));
    }
    if name.eq_ignore_ascii_case("label") && !graph.captions.is_empty() {
        return Ok(Class::Captions);
    }
    let names = listed(graph.columns.iter().map(|column| &column.name));
    let names = if names.is_empty() { "no attributes".to_string() } else { names };
    Err(Error::data(
        format!("no attribute of the nodes is called {}", quoted(name)),
        format!("the nodes have {names}"),
    ))
}

/// Why an attribute that is called like a class cannot be one.
fn unfit(graph: &Attributed, column: &Column) -> Option<&'static str> {
    let values = || column.values.iter().map(|(_, value)| value);
    if values().any(|value| matches!(value, Value::Number(number) if number.fract() != 0.0)) {
        return Some("it holds numbers that are not whole");
    }
    if column.name.eq_ignore_ascii_case("y")
        && graph.columns.iter().any(|other| other.name.eq_ignore_ascii_case("x"))
    {
        return Some("with `x` beside it, it is a place in a drawing");
    }
    let mut seen = HashSet::new();
    let is_label = column.name.eq_ignore_ascii_case("label");
    if is_label
        && column.is_text()
        && column.values.len() > 1
        && values().all(|value| seen.insert(text(value)))
    {
        return Some("it is different for every node, like a name");
    }
    None
}

fn captions_repeat(graph: &Attributed) -> bool {
    let mut seen = HashSet::new();
    graph.captions.iter().any(|(node, caption)| {
        !caption.is_empty() && *caption != graph.ids[*node as usize] && !seen.insert(caption.as_str())
    })
}

fn remark_on_captions(graph: &Attributed, notes: &mut Vec<String>) {
    if captions_repeat(graph) {
        notes.push(
            "several nodes show the same `label`, which is taken for a caption; if it is the class, say so (label column `label`)"
                .to_string(),
        );
    }
}

/// A value as the name of a class: a whole number without a point.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => (*number as i64).to_string(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Text(text) => text.clone(),
    }
}

/// Classes in the order of their numbers, or of their names if not all are whole numbers. An empty name is unknown.
pub(in crate::io) fn labels(values: Option<Vec<Option<String>>>, num_nodes: usize) -> Result<Labels> {
    let values = values.unwrap_or_else(|| vec![None; num_nodes]);
    let mut number_of: BTreeMap<&str, u32> = BTreeMap::new();
    for name in values.iter().flatten().filter(|name| !name.is_empty()) {
        number_of.insert(name, 0);
    }
    let mut names: Vec<&str> = number_of.keys().copied().collect();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().ok());
    }
    for (number, name) in (0..).zip(&names) {
        number_of.insert(name, number);
    }
    let classes =
        values.iter().map(|name| name.as_deref().and_then(|name| number_of.get(name).copied())).collect();
    Labels::new(classes, names.iter().map(|name| name.to_string()).collect())
}

/// Names in a sentence, not more than some.
pub(super) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    const SHOWN: usize = 10;
    let left = names.len().saturating_sub(SHOWN);
    let shown = names.take(SHOWN).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if left > 0 { format!("{shown} and {left} more") } else { shown }
}
