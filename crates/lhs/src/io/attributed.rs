//! Graphs whose nodes have named attributes, whatever the format: GraphML, GEXF, node-link JSON.
//!
//! Attributes of numbers, true and false become feature columns of that name. One attribute is [the class](class). Other texts are left
//! out, and a remark names them. Values are kept as the file gives them, so that memory grows with the file alone.

mod class;
mod features;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::LoadOptions;
use super::edge_list::EdgeList;
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Details};
use crate::io::npy::quoted;

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Flag(bool),
    Text(String),
}

impl Value {
    /// A text of a declared type; `None` if it is not of this type.
    pub fn parse(kind: &str, text: &str) -> Option<Self> {
        match kind.to_ascii_lowercase().as_str() {
            "int" | "integer" | "long" | "float" | "double" | "short" | "byte" | "biginteger"
            | "bigdecimal" => text.trim().parse().ok().map(Value::Number),
            "boolean" | "bool" => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => Some(Value::Flag(true)),
                "false" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            _ => Some(Value::Text(text.to_string())),
        }
    }
}

/// One attribute of the nodes.
struct Column {
    name: String,
    /// Node number and value, nodes ascending.
    values: Vec<(u32, Value)>,
    /// What nodes without a value have.
    default: Option<Value>,
}

impl Column {
    /// The value of every node that has one.
    fn filled(&self, num_nodes: usize) -> impl Iterator<Item = Option<&Value>> {
        let mut given = self.values.iter().peekable();
        (0..num_nodes as u32).map(move |node| {
            given.next_if(|(own, _)| *own == node).map(|(_, value)| value).or(self.default.as_ref())
        })
    }

    fn is_text(&self) -> bool {
        self.values
            .iter()
            .map(|(_, value)| value)
            .chain(&self.default)
            .any(|value| matches!(value, Value::Text(_)))
    }
}

/// An edge between two ids, by the number of their first mention.
struct Edge {
    ends: (u32, u32),
    weight: Option<f64>,
    directed: bool,
}

/// A graph in the making.
pub(super) struct Attributed<'a> {
    path: &'a Path,
    /// Every id that a node or an edge has mentioned.
    mentions: HashMap<String, u32>,
    /// The node of each mention, once it has been described.
    node_of: Vec<Option<u32>>,
    ids: Vec<String>,
    columns: Vec<Column>,
    column_of: HashMap<String, usize>,
    edges: Vec<Edge>,
    other_edge_attributes: BTreeSet<String>,
    /// What an edge without a weight weighs where others have one; `None`: every edge needs one.
    pub usual_weight: Option<f64>,
    /// What a program shows beside each node, which is not an attribute.
    pub captions: Vec<(u32, String)>,
}

impl<'a> Attributed<'a> {
    pub fn new(path: &'a Path) -> Self {
        Attributed {
            path,
            mentions: HashMap::new(),
            node_of: Vec::new(),
            ids: Vec::new(),
            columns: Vec::new(),
            column_of: HashMap::new(),
            edges: Vec::new(),
            other_edge_attributes: BTreeSet::new(),
            usual_weight: None,
            captions: Vec::new(),
        }
    }

    /// Adds a node; errors have no file yet.
    pub fn node(&mut self, id: String) -> Result<u32> {
        let mention = self.mention(&id)?;
        let node = self.ids.len() as u32;
        if self.node_of[mention as usize].replace(node).is_some() {
            return Err(Error::data(
                format!("two nodes are called {}", quoted(&id)),
                "give every node an id of its own",
            ));
        }
        self.ids.push(id);
        Ok(node)
    }

    /// Gives the node that was added last a value.
    pub fn value(&mut self, name: &str, value: Value) -> Result<()> {
        let node = self.ids.len().saturating_sub(1) as u32;
        let column = self.column(name);
        if column.values.last().is_some_and(|(last, _)| *last == node) {
            let id = quoted(&self.ids[node as usize]);
            return Err(Error::data(format!("node {id} has {} twice", quoted(name)), "keep one value"));
        }
        column.values.push((node, value));
        Ok(())
    }

    /// What nodes have that are given no value of this name.
    pub fn default(&mut self, name: &str, value: Value) {
        self.column(name).default = Some(value);
    }

    pub fn edge(&mut self, source: &str, target: &str, weight: Option<f64>, directed: bool) -> Result<()> {
        let ends = (self.mention(source)?, self.mention(target)?);
        self.edges.push(Edge { ends, weight, directed });
        Ok(())
    }

    /// An attribute of edges that is not used.
    pub fn other_edge_attribute(&mut self, name: &str) {
        if !self.other_edge_attributes.contains(name) {
            self.other_edge_attributes.insert(name.to_string());
        }
    }

    fn mention(&mut self, id: &str) -> Result<u32> {
        if let Some(&known) = self.mentions.get(id) {
            return Ok(known);
        }
        let next = u32::try_from(self.node_of.len()).ok().filter(|&next| next < u32::MAX);
        let next = next.ok_or_else(|| Error::data("more than 4,294,967,294 nodes", "split the graph"))?;
        self.mentions.insert(id.to_string(), next);
        self.node_of.push(None);
        Ok(next)
    }

    fn column(&mut self, name: &str) -> &mut Column {
        let place = match self.column_of.get(name) {
            Some(&place) => place,
            None => {
                self.column_of.insert(name.to_string(), self.columns.len());
                self.columns.push(Column { name: name.to_string(), values: Vec::new(), default: None });
                self.columns.len() - 1
            }
        };
        &mut self.columns[place]
    }

    /// Everything together. The nodes stand in the order of the file.
    pub fn finish(mut self, options: &LoadOptions) -> Result<Dataset> {
        let path = self.path;
        self.put_together(options).map_err(|error| error.in_file(path))
    }

    fn put_together(&mut self, options: &LoadOptions) -> Result<Dataset> {
        let num_nodes = self.ids.len();
        let (graph, repairs, mut notes) = self.edge_list(options)?.build(num_nodes, options)?;
        let class = class::choose(self, options.columns.label.as_deref(), &mut notes)?;
        let labels = class::labels(class.as_ref().map(|class| class.values(self)), num_nodes)?;
        let (features, names) = features::columns(self, class.as_ref(), &mut notes)?;
        if !self.other_edge_attributes.is_empty() {
            let names = class::listed(self.other_edge_attributes.iter());
            notes.push(format!("edges have more than a weight, which is left out: {names}"));
        }
        let plain = self.ids.iter().enumerate().all(|(node, id)| *id == node.to_string());
        let dataset = Dataset::new(DatasetParts {
            name: name(self.path),
            graph,
            repairs,
            features,
            labels,
            node_ids: (!plain).then(|| std::mem::take(&mut self.ids)),
            splits: Vec::new(),
            details: Details { feature_names: (!names.is_empty()).then_some(names), ..Details::default() },
        })?;
        Ok(dataset.with_notes(notes))
    }

    fn edge_list(&self, options: &LoadOptions) -> Result<EdgeList> {
        let any_weight = self.edges.iter().any(|edge| edge.weight.is_some());
        let any_direction = self.edges.iter().any(|edge| edge.directed);
        let mut list = EdgeList {
            pairs: Vec::new(),
            weights: any_weight.then(Vec::new),
            directed: any_direction,
            zeros: 0,
        };
        for edge in &self.edges {
            let (a, b) = (self.end(edge, edge.ends.0)?, self.end(edge, edge.ends.1)?);
            let weight = if any_weight { self.weight(edge)? } else { 1.0 };
            // Where direction is kept, an edge without one goes both ways.
            let both = any_direction && options.directed && !edge.directed && a != b;
            for pair in [(a, b), (b, a)].into_iter().take(if both { 2 } else { 1 }) {
                list.pairs.push(pair);
                list.weights.iter_mut().for_each(|weights| weights.push(weight));
            }
        }
        Ok(list)
    }

    fn end(&self, edge: &Edge, mention: u32) -> Result<u32> {
        self.node_of[mention as usize].ok_or_else(|| {
            let unknown = quoted(self.mentioned(mention));
            Error::data(
                format!("{} is not one of the nodes, but an edge says so: {}", unknown, self.in_words(edge)),
                "every end of an edge must be a node of the file",
            )
        })
    }

    fn weight(&self, edge: &Edge) -> Result<f32> {
        let weight = edge.weight.or(self.usual_weight).ok_or_else(|| {
            Error::data(
                format!("the edge {} has no weight, but others have one", self.in_words(edge)),
                "give every edge a weight, or none",
            )
        })?;
        let weight32 = weight as f32;
        if weight32.is_finite() && weight32 > 0.0 {
            return Ok(weight32);
        }
        Err(Error::data(
            format!(
                "the edge {} has the weight {weight}, which is not a positive number",
                self.in_words(edge)
            ),
            "remove the edge, or give it a positive weight",
        ))
    }

    fn in_words(&self, edge: &Edge) -> String {
        format!("from {} to {}", quoted(self.mentioned(edge.ends.0)), quoted(self.mentioned(edge.ends.1)))
    }

    /// For errors only: it looks through all of them.
    fn mentioned(&self, mention: u32) -> &str {
        self.mentions.iter().find(|(_, own)| **own == mention).map_or("", |(id, _)| id)
    }
}

/// The name of the file without its endings.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
