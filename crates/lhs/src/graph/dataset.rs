//! A graph with its features, labels and splits, validated once.

use std::collections::HashSet;

use super::preparation::Preparation;
use super::{Details, Features, Graph, Labels, Origin, Repairs, Split};
use crate::error::{Error, Result};

/// Everything a model learns from. [`Dataset::new`] is the only way to make one, so what holds there
/// holds everywhere: sizes agree, numbers are finite, splits are disjoint sets of labelled nodes.
#[derive(Clone, Debug)]
pub struct Dataset {
    name: String,
    graph: Graph,
    features: Features,
    labels: Labels,
    node_ids: Option<Vec<String>>,
    splits: Vec<Split>,
    details: Details,
    warnings: Vec<String>,
}

/// The parts of a [`Dataset`] before they are checked against each other.
#[derive(Clone, Debug)]
pub struct DatasetParts {
    /// How the data is called in tables and run folders.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// What was repaired while the graph was built.
    pub repairs: Repairs,
    /// One row per node.
    pub features: Features,
    /// One class, or unknown, per node.
    pub labels: Labels,
    /// The user's own names of the nodes; `None` when they are 0, 1, 2, …
    pub node_ids: Option<Vec<String>>,
    /// Fixed splits that come with the data; may be empty.
    pub splits: Vec<Split>,
    /// Names, origin and whatever else may be known.
    pub details: Details,
}

impl Dataset {
    /// Checks the parts against each other and counts what was repaired.
    pub fn new(parts: DatasetParts) -> Result<Self> {
        let DatasetParts { name, graph, repairs, features, labels, node_ids, splits, details } = parts;
        let num_nodes = graph.num_nodes();
        if num_nodes == 0 {
            return Err(Error::data("the graph has no nodes", "check that the right file was given"));
        }
        same_size("rows of features", features.num_nodes(), num_nodes)?;
        same_size("labels", labels.len(), num_nodes)?;
        if let Some(ids) = &node_ids {
            same_size("node ids", ids.len(), num_nodes)?;
            check_ids(ids)?;
        }
        features.check_finite()?;
        check_details(&details, num_nodes, features.dim(), labels.num_classes())?;
        for (index, split) in splits.iter().enumerate() {
            split.validate(&labels).map_err(|error| match error {
                Error::Data { problem, remedy } => Error::data(format!("split {index}: {problem}"), remedy),
                other => other,
            })?;
        }
        let warnings = warnings(&graph, repairs, &features);
        Ok(Dataset { name, graph, features, labels, node_ids, splits, details, warnings })
    }

    /// How the data is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The splits that came with the data.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The user's own names of the nodes, if they are not plain numbers.
    pub fn node_ids(&self) -> Option<&[String]> {
        self.node_ids.as_deref()
    }

    /// A node's name as the user wrote it.
    pub fn node_id(&self, node: usize) -> String {
        self.node_ids.as_ref().map_or_else(|| node.to_string(), |ids| ids[node].clone())
    }

    /// The node that the user calls so.
    pub fn find_node(&self, id: &str) -> Option<usize> {
        match &self.node_ids {
            Some(ids) => ids.iter().position(|own| own == id),
            None => id.parse().ok().filter(|&node| node < self.num_nodes()),
        }
    }

    /// Names of the feature columns, where they have any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.details.feature_names.as_deref()
    }

    /// A feature column's name, or its number.
    pub fn feature_name(&self, column: usize) -> String {
        self.feature_names().map_or_else(|| column.to_string(), |names| names[column].clone())
    }

    /// Everything else that is known.
    pub fn details(&self) -> &Details {
        &self.details
    }

    /// The data that this is a changed copy of.
    pub fn origin(&self) -> Option<&Origin> {
        self.details.origin.as_ref()
    }

    /// The data whose settings suit this: what it is a copy of, or itself.
    pub fn own_origin(&self) -> Origin {
        let own = || Origin { name: self.name.clone(), sha256: super::content::content_sha256(self) };
        self.origin().cloned().unwrap_or_else(own)
    }

    /// The same, knowing what it is if somebody changes it from now on.
    pub fn remembering_origin(mut self) -> Self {
        self.details.origin = Some(self.own_origin());
        self
    }

    /// The same with another class that is looked for.
    pub fn with_positive_class(mut self, class: Option<u32>) -> Self {
        self.details.positive_class = class.filter(|&class| (class as usize) < self.num_classes());
        self
    }

    /// How raw columns became features.
    pub fn preparation(&self) -> Option<&Preparation> {
        self.details.preparation.as_ref()
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.graph.num_nodes()
    }

    /// Number of classes.
    pub fn num_classes(&self) -> usize {
        self.labels.num_classes()
    }

    /// The same with remarks about how it was read, before its own.
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.warnings.splice(0..0, notes);
        self
    }

    /// What was repaired or looks odd; the command line prints these.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Refuses data that no classifier can be trained on.
    pub fn check_trainable(&self) -> Result<()> {
        let present = self.labels.class_sizes().iter().filter(|&&size| size > 0).count();
        match present {
            0 => Err(Error::data("no node has a label", "add a label table; training needs labelled nodes")),
            1 => Err(Error::data(
                "all labelled nodes have the same class",
                "a classifier needs at least two classes",
            )),
            _ => Ok(()),
        }
    }

    /// The same with a class that is looked for, if it is one of its classes.
    pub fn looking_for(mut self, class: u32) -> Self {
        self.details.positive_class = Some(class).filter(|&class| (class as usize) < self.num_classes());
        self
    }

    /// The same data with other splits.
    pub fn with_splits(self, splits: Vec<Split>) -> Result<Self> {
        let warnings = self.warnings.clone();
        let mut dataset = Self::new(DatasetParts { splits, ..self.into_parts() })?;
        dataset.warnings = warnings;
        Ok(dataset)
    }

    /// The same nodes under another graph: what an attack returns.
    pub fn with_graph(self, graph: Graph) -> Result<Self> {
        Self::new(DatasetParts { graph, ..self.into_parts() })
    }

    /// The same nodes with other features.
    pub fn with_features(self, features: Features) -> Result<Self> {
        let mut parts = self.into_parts();
        // Other columns have other names.
        if features.dim() != parts.features.dim() {
            (parts.details.feature_names, parts.details.preparation) = (None, None);
        }
        Self::new(DatasetParts { features, ..parts })
    }

    /// The nodes named (ascending, without repeats) and the edges among them.
    pub fn subset(&self, nodes: &[u32]) -> Result<Self> {
        let number = |node: &u32| nodes.binary_search(node).ok().map(|new| new as u32);
        let renumber = |part: &[u32]| part.iter().filter_map(number).collect();
        let splits = self.splits.iter().map(|split| Split {
            train: renumber(&split.train),
            val: renumber(&split.val),
            test: renumber(&split.test),
        });
        Self::new(DatasetParts {
            name: self.name.clone(),
            graph: self.graph.induced(nodes)?,
            repairs: Repairs::default(),
            features: self.features.select(nodes),
            labels: self.labels.select(nodes),
            node_ids: Some(nodes.iter().map(|&n| self.node_id(n as usize)).collect()),
            splits: splits.collect(),
            details: self.details.subset(nodes),
        })
    }

    /// The parts, to build another dataset from.
    pub fn into_parts(self) -> DatasetParts {
        DatasetParts {
            name: self.name,
            graph: self.graph,
            repairs: Repairs::default(),
            features: self.features,
            labels: self.labels,
            node_ids: self.node_ids,
            splits: self.splits,
            details: self.details,
        }
    }
}

fn same_size(what: &str, found: usize, num_nodes: usize) -> Result<()> {
    if found == num_nodes {
        return Ok(());
    }
    Err(Error::data(
        format!("{found} {what} for {num_nodes} nodes"),
        "features, labels and graph must describe the same nodes",
    ))
}

/// Checks what is optional against what is not.
fn check_details(details: &Details, num_nodes: usize, columns: usize, classes: usize) -> Result<()> {
    if let Some(times) = &details.times {
        same_size("times", times.len(), num_nodes)?;
    }
    if let Some(groups) = &details.groups {
        same_size("groups", groups.len(), num_nodes)?;
    }
    if let Some(class) = details.positive_class.filter(|&class| class as usize >= classes) {
        return Err(Error::data(format!("there is no class {class}"), "name a class that the labels have"));
    }
    let Some(names) = &details.feature_names else { return Ok(()) };
    if names.len() != columns {
        return Err(Error::data(
            format!("{} names for {columns} feature columns", names.len()),
            "give every column a name",
        ));
    }
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Error::data(
            format!("two feature columns are called `{name}`"),
            "give every column a name of its own",
        )),
    }
}

/// Refuses two nodes of one id: whoever is matched by id would be one of them by chance.
fn check_ids(ids: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(ids.len());
    match ids.iter().find(|id| !seen.insert(id.as_str())) {
        None => Ok(()),
        Some(id) => {
            Err(Error::data(format!("two nodes are called `{id}`"), "give every node an id of its own"))
        }
    }
}

fn warnings(graph: &Graph, repairs: Repairs, features: &Features) -> Vec<String> {
    let isolated = (0..graph.num_nodes()).filter(|&n| graph.degree(n) == 0).count();
    let mut warnings = Vec::new();
    let mut say = |count: usize, one: &str, many: &str, consequence: &str| {
        if count > 0 {
            warnings.push(format!("{count} {}{consequence}", if count == 1 { one } else { many }));
        }
    };
    say(repairs.self_loops, "self loop", "self loops", " dropped");
    say(repairs.duplicates, "duplicate edge", "duplicate edges", " dropped");
    if !graph.is_directed() {
        say(isolated, "node has", "nodes have", " no edges");
    }
    if features.dim() == 0 {
        warnings.push("there are no features: models see the edges only".to_string());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    fn parts() -> DatasetParts {
        let (graph, repairs) = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 2)]).unwrap();
        DatasetParts {
            name: "toy".into(),
            graph,
            repairs,
            features: Features::Dense(Mat::from_fn(4, 2, |r, c| (r + c) as f32)),
            labels: Labels::from_numbers(&[0, 1, 0, 1]).unwrap(),
            node_ids: None,
            details: Details::default(),
            splits: vec![Split { train: vec![0, 1], val: vec![2], test: vec![3] }],
        }
    }

    #[test]
    fn repairs_and_isolated_nodes_are_reported() {
        let dataset = Dataset::new(parts()).unwrap();
        assert_eq!(dataset.warnings(), ["1 self loop dropped", "1 node has no edges"]);
    }

    #[test]
    fn sizes_must_agree() {
        let error = Dataset::new(DatasetParts { features: Features::none(3), ..parts() });
        assert!(error.unwrap_err().to_string().starts_with("3 rows of features for 4 nodes"));
    }

    #[test]
    fn two_nodes_of_one_id_are_refused() {
        let ids = ["a", "b", "a", "c"].map(String::from).to_vec();
        let error = Dataset::new(DatasetParts { node_ids: Some(ids), ..parts() });
        assert!(error.unwrap_err().to_string().starts_with("two nodes are called `a`"));
    }

    #[test]
    fn one_class_cannot_be_trained_on() {
        let labels = Labels::from_numbers(&[0; 4]).unwrap();
        let dataset = Dataset::new(DatasetParts { labels, splits: vec![], ..parts() }).unwrap();
        assert!(dataset.check_trainable().is_err());
    }

    #[test]
    fn a_subset_keeps_edges_ids_and_labels() {
        let dataset = Dataset::new(DatasetParts { splits: vec![], ..parts() }).unwrap();
        let subset = dataset.subset(&[1, 2, 3]).unwrap();
        assert_eq!(subset.graph().edges().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(subset.node_id(0), "1");
        assert_eq!(subset.labels().get(2), Some(1));
    }
}
