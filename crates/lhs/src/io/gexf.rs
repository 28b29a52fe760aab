//! GEXF, as Gephi and NetworkX write it, and as [this program does](super::export).
//!
//! `<attributes>` declare what nodes have, `<attvalue>` gives the values. The `label` of a `<node>` is what Gephi shows beside it,
//! often its id, and not a class. Graphs that change in time and nodes inside of others are refused. An edge without a weight weighs 1,
//! as the format says.

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
    is_kind(source, Kind::Gexf)
}

/// Reads a dataset; it is called like the file.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let (xml, _) = Xml::open(source, "gexf")?;
    let graph = Attributed::new(source);
    let mut document =
        Document { xml, of_nodes: HashMap::new(), of_edges: HashMap::new(), graph, directed: false };
    document.graph.usual_weight = Some(1.0);
    let mut graphs = 0;
    while let Some(element) = document.xml.child()? {
        match element.name.as_str() {
            "graph" if graphs == 0 => {
                graphs += 1;
                document.graph(&element)?;
            }
            "graph" => return Err(document.xml.wrong("the file holds several graphs", "keep one <graph>")),
            _ => document.xml.skip()?,
        }
    }
    document.graph.finish(options)
}

/// Name and type of a declared attribute.
type Declared = (String, String);

struct Document<'a> {
    xml: Xml<'a>,
    of_nodes: HashMap<String, Declared>,
    of_edges: HashMap<String, Declared>,
    graph: Attributed<'a>,
    directed: bool,
}

impl Document<'_> {
    fn graph(&mut self, element: &Element) -> Result<()> {
        self.directed = element.get("defaultedgetype") == Some("directed");
        if element.get("mode") == Some("dynamic") {
            return Err(self.xml.wrong(
                "this graph changes in time (mode=\"dynamic\"), which is not understood",
                "export one moment of it as a static graph",
            ));
        }
        while let Some(child) = self.xml.child()? {
            match child.name.as_str() {
                "attributes" => self.attributes(&child)?,
                "nodes" => self.nodes()?,
                "edges" => self.edges()?,
                _ => self.xml.skip()?,
            }
        }
        Ok(())
    }

    fn attributes(&mut self, element: &Element) -> Result<()> {
        let of_nodes = element.get("class") != Some("edge");
        while let Some(child) = self.xml.child()? {
            if child.name != "attribute" {
                self.xml.skip()?;
                continue;
            }
            let id = self.xml.need(&child, "id")?;
            let name = child.get("title").unwrap_or(&id).to_string();
            let kind = child.get("type").unwrap_or("string").to_string();
            while let Some(inner) = self.xml.child()? {
                let text = self.xml.text()?;
                if inner.name == "default" && of_nodes {
                    let value = self.parse(&name, &kind, &text)?;
                    self.graph.default(&name, value);
                }
            }
            let declared = if of_nodes { &mut self.of_nodes } else { &mut self.of_edges };
            if declared.insert(id.clone(), (name, kind)).is_some() {
                return Err(self.xml.wrong(
                    format!("two attributes have the id {}", quoted(&id)),
                    "give every <attribute> its own",
                ));
            }
        }
        Ok(())
    }

    fn nodes(&mut self) -> Result<()> {
        while let Some(child) = self.xml.child()? {
            if child.name != "node" {
                self.xml.skip()?;
                continue;
            }
            let node =
                self.graph.node(self.xml.need(&child, "id")?).map_err(|error| self.xml.locate(error))?;
            if let Some(caption) = child.get("label") {
                self.graph.captions.push((node, caption.to_string()));
            }
            while let Some(inner) = self.xml.child()? {
                match inner.name.as_str() {
                    "attvalues" => self.values()?,
                    "nodes" | "edges" => {
                        return Err(self.xml.wrong(
                            "nodes inside of other nodes are not understood",
                            "export the graph without a hierarchy",
                        ));
                    }
                    _ => self.xml.skip()?,
                }
            }
        }
        Ok(())
    }

    fn values(&mut self) -> Result<()> {
        while let Some(child) = self.xml.child()? {
            self.xml.skip()?;
            if child.name != "attvalue" {
                continue;
            }
            let (name, kind) = self.declared(&child, &self.of_nodes)?;
            let value = self.parse(&name, &kind, &self.xml.need(&child, "value")?)?;
            self.graph.value(&name, value).map_err(|error| self.xml.locate(error))?;
        }
        Ok(())
    }

    fn edges(&mut self) -> Result<()> {
        while let Some(child) = self.xml.child()? {
            if child.name != "edge" {
                self.xml.skip()?;
                continue;
            }
            let (source, target) = (self.xml.need(&child, "source")?, self.xml.need(&child, "target")?);
            let directed = match child.get("type") {
                Some("directed") => true,
                Some("undirected" | "mutual") => false,
                _ => self.directed,
            };
            let mut weight = child.get("weight").map(|text| self.weight(text)).transpose()?;
            while let Some(inner) = self.xml.child()? {
                if inner.name == "attvalues" {
                    self.edge_values(&mut weight)?;
                } else {
                    self.xml.skip()?;
                }
            }
            self.graph.edge(&source, &target, weight, directed).map_err(|error| self.xml.locate(error))?;
        }
        Ok(())
    }

    fn edge_values(&mut self, weight: &mut Option<f64>) -> Result<()> {
        while let Some(child) = self.xml.child()? {
            self.xml.skip()?;
            if child.name != "attvalue" {
                continue;
            }
            let (name, _) = self.declared(&child, &self.of_edges)?;
            if name.eq_ignore_ascii_case("weight") && weight.is_none() {
                *weight = Some(self.weight(&self.xml.need(&child, "value")?)?);
            } else if !name.eq_ignore_ascii_case("weight") {
                self.graph.other_edge_attribute(&name);
            }
        }
        Ok(())
    }

    fn declared(&self, value: &Element, among: &HashMap<String, Declared>) -> Result<Declared> {
        // Version 1.0 of the format said `id`.
        let id = value.get("for").or(value.get("id")).unwrap_or_default();
        among.get(id).cloned().ok_or_else(|| {
            self.xml.wrong(
                format!("no <attribute> has the id {}", quoted(id)),
                "declare every attribute before its values",
            )
        })
    }

    fn weight(&self, text: &str) -> Result<f64> {
        text.trim().parse().map_err(|_| {
            self.xml.wrong(format!("the weight {} is not a number", quoted(text)), "write numbers like 0.5")
        })
    }

    fn parse(&self, name: &str, kind: &str, text: &str) -> Result<Value> {
        Value::parse(kind, text).ok_or_else(|| -> Error {
            let (text, name, kind) = (quoted(text), quoted(name), quoted(kind));
            self.xml.wrong(
                format!("{name} is declared as {kind}, but has the value {text}"),
                "correct the value or the type",
            )
        })
    }
}

#[cfg(test)]
mod tests;
