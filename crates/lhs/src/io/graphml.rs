//! GraphML, as NetworkX, igraph, Gephi and yEd write it, and as [this program does](super::export).
//!
//! A `<key>` declares an attribute of nodes or edges with its type; nodes and edges give values in `<data>`. The attribute `weight` of
//! edges is their weight. Nested graphs and edges of more than two ends are refused.

use std::collections::HashMap;
use std::path::Path;

use super::LoadOptions;
use super::attributed::{Attributed, Value};
use super::recognise::{Kind, is_kind};
use super::xml::{Element, Xml};
use crate::error::{Error, Result};
use crate::graph::Dataset;
use crate::io::npy::quoted;

/// Whether `source` is such a file.
pub fn is_here(source: &Path) -> bool {
    is_kind(source, Kind::GraphMl)
}

/// Reads a dataset; it is called like the file.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let (xml, _) = Xml::open(source, "graphml")?;
    let mut document = Document { xml, keys: HashMap::new(), graph: Attributed::new(source) };
    let mut graphs = 0;
    while let Some(element) = document.xml.child()? {
        match element.name.as_str() {
            "key" => document.key(&element)?,
            "graph" if graphs == 0 => {
                graphs += 1;
                document.graph(&element)?;
            }
            "graph" => return Err(document.several()),
            _ => document.xml.skip()?,
        }
    }
    document.graph.finish(options)
}

/// A declared attribute.
#[derive(Clone)]
struct Key {
    name: String,
    kind: String,
    of_nodes: bool,
    of_edges: bool,
}

struct Document<'a> {
    xml: Xml<'a>,
    keys: HashMap<String, Key>,
    graph: Attributed<'a>,
}

impl Document<'_> {
    fn key(&mut self, element: &Element) -> Result<()> {
        let id = self.xml.need(element, "id")?;
        let domain = element.get("for").unwrap_or("all");
        let key = Key {
            name: element.get("attr.name").unwrap_or(&id).to_string(),
            kind: element.get("attr.type").unwrap_or("string").to_string(),
            of_nodes: ["node", "all"].contains(&domain),
            of_edges: ["edge", "all"].contains(&domain),
        };
        // Graphics of yEd: elements, not values.
        let graphics = element.get("yfiles.type").is_some();
        while let Some(child) = self.xml.child()? {
            let text = self.xml.text()?;
            if child.name == "default" && key.of_nodes && !graphics {
                let value = self.parse(&key, &text)?;
                self.graph.default(&key.name, value);
            }
        }
        if !graphics && self.keys.insert(id.clone(), key).is_some() {
            return Err(self
                .xml
                .wrong(format!("two keys have the id {}", quoted(&id)), "give every <key> its own"));
        }
        Ok(())
    }

    fn graph(&mut self, element: &Element) -> Result<()> {
        let directed = element.get("edgedefault") == Some("directed");
        while let Some(child) = self.xml.child()? {
            match child.name.as_str() {
                "node" => self.node(&child)?,
                "edge" => self.edge(&child, directed)?,
                "hyperedge" => {
                    return Err(self.xml.wrong(
                        "an edge of more than two nodes (<hyperedge>) is not understood",
                        "write it as edges between pairs of nodes",
                    ));
                }
                _ => self.xml.skip()?,
            }
        }
        Ok(())
    }

    fn node(&mut self, element: &Element) -> Result<()> {
        let id = self.xml.need(element, "id")?;
        self.graph.node(id).map_err(|error| self.xml.locate(error))?;
        while let Some(child) = self.xml.child()? {
            match child.name.as_str() {
                "data" => {
                    let (key, text) = (self.key_of(&child)?, self.xml.text()?);
                    let Some(key) = key.filter(|key| key.of_nodes) else { continue };
                    let value = self.parse(&key, &text)?;
                    self.graph.value(&key.name, value).map_err(|error| self.xml.locate(error))?;
                }
                "graph" => return Err(self.several()),
                _ => self.xml.skip()?,
            }
        }
        Ok(())
    }

    fn edge(&mut self, element: &Element, directed: bool) -> Result<()> {
        let (source, target) = (self.xml.need(element, "source")?, self.xml.need(element, "target")?);
        let directed = match element.get("directed") {
            Some("true" | "1") => true,
            Some("false" | "0") => false,
            _ => directed,
        };
        let mut weight = None;
        while let Some(child) = self.xml.child()? {
            if child.name != "data" {
                self.xml.skip()?;
                continue;
            }
            let (key, text) = (self.key_of(&child)?, self.xml.text()?);
            match key.filter(|key| key.of_edges) {
                Some(key) if key.name.eq_ignore_ascii_case("weight") => {
                    weight = Some(text.trim().parse().map_err(|_| {
                        self.xml.wrong(
                            format!("the weight {} is not a number", quoted(&text)),
                            "write numbers like 0.5",
                        )
                    })?);
                }
                Some(key) => self.graph.other_edge_attribute(&key.name),
                None => {}
            }
        }
        self.graph.edge(&source, &target, weight, directed).map_err(|error| self.xml.locate(error))
    }

    /// The key that a `<data>` names; `None` for what is only drawn.
    fn key_of(&self, data: &Element) -> Result<Option<Key>> {
        let id = self.xml.need(data, "key")?;
        Ok(self.keys.get(&id).cloned())
    }

    fn parse(&self, key: &Key, text: &str) -> Result<Value> {
        Value::parse(&key.kind, text).ok_or_else(|| {
            let (text, name, kind) = (quoted(text), quoted(&key.name), quoted(&key.kind));
            self.xml.wrong(
                format!("{name} is declared as {kind}, but has the value {text}"),
                "correct the value or the type",
            )
        })
    }

    fn several(&self) -> Error {
        self.xml.wrong("the file holds several graphs", "keep one <graph>, without others inside of it")
    }
}

#[cfg(test)]
mod tests;
