//! JSON with `nodes` and `links`, as NetworkX writes it (`networkx.node_link_data`) and D3 reads it.
//!
//! ```json
//! {"directed": false, "multigraph": false, "graph": {},
//!  "nodes": [{"id": "ann", "age": 31, "class": "chess"}, {"id": "bob", "age": 58, "class": "rowing"}],
//!  "links": [{"source": "ann", "target": "bob", "weight": 2.0}]}
//! ```
//!
//! `links` may be called `edges`. Ids are texts, numbers or lists of them. A list of numbers is one feature column per number.

use std::path::Path;

use serde_json::{Map, Value as Json};

use super::LoadOptions;
use super::attributed::{Attributed, Value};
use super::recognise::{Kind, is_kind};
use crate::error::{Error, Result};
use crate::graph::Dataset;
use crate::io::npy::quoted;

/// Whether `source` is such a file.
pub fn is_here(source: &Path) -> bool {
    is_kind(source, Kind::NodeLink)
}

/// Reads a dataset; it is called like the file.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let document: Json = serde_json::from_reader(super::open::open(source)?).map_err(|error| {
        Error::input(
            source,
            format!("line {}", error.line()),
            format!("this is not JSON that can be read: {error}"),
            "the file is damaged or was not written to its end; NaN and Infinity are not JSON: write null, or leave them out",
        )
    })?;
    let mut graph = Attributed::new(source);
    fill(&document, &mut graph).map_err(|error| error.in_file(source))?;
    graph.finish(options)
}

fn fill(document: &Json, graph: &mut Attributed) -> Result<()> {
    let links = match (document.get("links"), document.get("edges")) {
        (Some(_), Some(_)) => return Err(Error::data("there are `links` and `edges`", "keep one of them")),
        (Some(links), None) => ("links", links),
        (None, edges) => ("edges", edges.unwrap_or(&Json::Null)),
    };
    for (number, node) in list("nodes", document.get("nodes").unwrap_or(&Json::Null))?.enumerate() {
        let place = format!("node {number} (counted from 0)");
        let node = node?;
        graph.node(id(node, "id", &place)?)?;
        for (name, value) in node.iter().filter(|(name, _)| *name != "id") {
            attribute(graph, name, value)?;
        }
    }
    let directed = matches!(document.get("directed"), Some(Json::Bool(true)));
    for (number, link) in list(links.0, links.1)?.enumerate() {
        let place = format!("edge {number} (counted from 0)");
        let link = link?;
        let (source, target) = (id(link, "source", &place)?, id(link, "target", &place)?);
        let mut weight = None;
        for (name, value) in
            link.iter().filter(|(name, _)| !["source", "target", "key", "id"].contains(&name.as_str()))
        {
            match value {
                Json::Null => {}
                Json::Number(number) if name.eq_ignore_ascii_case("weight") => weight = number.as_f64(),
                _ if name.eq_ignore_ascii_case("weight") => {
                    let text = quoted(&value.to_string());
                    return Err(Error::data(
                        format!("{place}: the weight {text} is not a number"),
                        "write numbers like 0.5",
                    ));
                }
                _ => graph.other_edge_attribute(name),
            }
        }
        graph.edge(&source, &target, weight, directed)?;
    }
    Ok(())
}

/// The objects in a list.
fn list<'j>(name: &str, value: &'j Json) -> Result<impl Iterator<Item = Result<&'j Map<String, Json>>>> {
    let wrong = |problem: String| {
        Error::data(problem, "write the file with json.dump(networkx.node_link_data(graph), file)")
    };
    let items = value.as_array().ok_or_else(|| wrong(format!("`{name}` is not a list")))?;
    let name = name.to_string();
    Ok(items.iter().enumerate().map(move |(place, item)| {
        item.as_object()
            .ok_or_else(|| wrong(format!("`{name}`: entry {place} (counted from 0) is not an object")))
    }))
}

/// An id as text. A text is itself, everything else as JSON writes it.
fn id(object: &Map<String, Json>, name: &str, place: &str) -> Result<String> {
    match object.get(name) {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(value @ (Json::Number(_) | Json::Bool(_) | Json::Array(_))) => Ok(value.to_string()),
        Some(Json::Null | Json::Object(_)) => {
            Err(Error::data(format!("{place}: `{name}` is not an id"), "ids are texts or numbers"))
        }
        None => Err(Error::data(
            format!("{place} has no `{name}`"),
            "nodes have an `id`, edges a `source` and a `target`, as networkx.node_link_data writes them",
        )),
    }
}

fn attribute(graph: &mut Attributed, name: &str, value: &Json) -> Result<()> {
    match value {
        Json::Null => Ok(()),
        Json::Bool(flag) => graph.value(name, Value::Flag(*flag)),
        Json::Number(number) => graph.value(name, Value::Number(number.as_f64().unwrap_or(f64::NAN))),
        Json::String(text) => graph.value(name, Value::Text(text.clone())),
        Json::Array(items) if items.iter().all(|item| item.is_number() || item.is_boolean()) => items
            .iter()
            .enumerate()
            .try_for_each(|(place, item)| attribute(graph, &format!("{name}[{place}]"), item)),
        Json::Array(_) | Json::Object(_) => graph.value(name, Value::Text(value.to_string())),
    }
}

#[cfg(test)]
mod tests;
