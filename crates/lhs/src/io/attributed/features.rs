//! Attributes of numbers, true and false as named feature columns.

use super::class::{Class, listed};
use super::{Attributed, Column, Value};
use crate::error::{Error, Result};
use crate::graph::Features;
use crate::io::npy::quoted;
use crate::linalg::SparseMat;

/// How Gephi's GraphML says where and how large it draws a node. Only if all of them are there they mean that.
const DRAWING: [&str; 6] = ["size", "r", "g", "b", "x", "y"];
/// A default that is not 0 is written out for every node that lacks a value: a short file could ask for any amount of it.
const MOST_DEFAULTS: usize = 1 << 24;

/// The features with the names of their columns; what is left out goes to the notes.
pub(super) fn columns(
    graph: &Attributed,
    class: Option<&Class>,
    notes: &mut Vec<String>,
) -> Result<(Features, Vec<String>)> {
    let class = match class {
        Some(Class::Column(place)) => Some(*place),
        _ => None,
    };
    let drawn = DRAWING.iter().all(|name| graph.columns.iter().any(|column| column.name == *name));
    let is_drawing = |column: &Column| drawn && DRAWING.contains(&column.name.as_str());
    let others =
        graph.columns.iter().enumerate().filter(|(place, _)| Some(*place) != class).map(|(_, column)| column);
    let (drawing, others): (Vec<_>, Vec<_>) = others.partition(|column| is_drawing(column));
    let (texts, numbers): (Vec<_>, Vec<_>) = others.into_iter().partition(|column| column.is_text());
    for (left_out, reason) in [(drawing, "how nodes are drawn is"), (texts, "texts are no features and are")]
    {
        if !left_out.is_empty() {
            notes.push(format!("{reason} left out: {}", listed(left_out.iter().map(|column| &column.name))));
        }
    }
    let num_nodes = graph.ids.len();
    let mut triplets = Vec::new();
    let mut defaults = 0;
    for (place, column) in (0u32..).zip(&numbers) {
        if column.default.is_some() {
            defaults += num_nodes - column.values.len();
            check_defaults(defaults, column)?;
        } else if column.values.len() < num_nodes {
            return Err(missing(graph, column));
        }
        for (node, value) in (0u32..).zip(column.filled(num_nodes)) {
            let number = number(graph, node, column, value)?;
            if number != 0.0 {
                triplets.push((node, place, number));
            }
        }
    }
    if numbers.is_empty() {
        return Ok((Features::none(num_nodes), Vec::new()));
    }
    let features = Features::from_sparse(SparseMat::from_triplets(num_nodes, numbers.len(), triplets));
    Ok((features, numbers.iter().map(|column| column.name.clone()).collect()))
}

fn number(graph: &Attributed, node: u32, column: &Column, value: Option<&Value>) -> Result<f32> {
    let number = match value {
        Some(Value::Number(number)) => *number as f32,
        Some(Value::Flag(flag)) => f32::from(u8::from(*flag)),
        _ => return Err(missing(graph, column)),
    };
    if number.is_finite() {
        return Ok(number);
    }
    Err(Error::data(
        format!(
            "node {}: {} is not a finite number",
            quoted(&graph.ids[node as usize]),
            quoted(&column.name)
        ),
        "give every node a number, or take the attribute out",
    ))
}

fn missing(graph: &Attributed, column: &Column) -> Error {
    let empty: Vec<_> =
        column.filled(graph.ids.len()).zip(&graph.ids).filter(|(value, _)| value.is_none()).collect();
    let first = empty.first().map_or("", |(_, id)| id.as_str());
    let more = match empty.len() {
        0 | 1 => String::new(),
        more => format!(", nor have {} others", more - 1),
    };
    Error::data(
        format!("node {} has no value for the attribute {}{more}", quoted(first), quoted(&column.name)),
        "give every node a value, or take the attribute out",
    )
}

fn check_defaults(defaults: usize, column: &Column) -> Result<()> {
    if defaults <= MOST_DEFAULTS {
        return Ok(());
    }
    Err(Error::data(
        format!("the default of {} and others would be written out {defaults} times", quoted(&column.name)),
        "write the values at the nodes, or take these attributes out",
    ))
}
