//! What must hold before anything is written, because other tools would not complain: they would merge two
//! nodes of one name, or take an edge that stands there twice for two.

use std::collections::HashSet;

use super::{Export, xml};
use crate::error::{Error, Result};

/// Names of columns that mean something else in at least one of the formats.
const TAKEN: [&str; 6] = ["id", "ids", "label", "labels", "features", "viz"];

/// Checks the parts of an export against each other.
pub(super) fn parts(export: &Export) -> Result<()> {
    columns(export)?;
    edges(export)
}

fn columns(export: &Export) -> Result<()> {
    let mut names = HashSet::new();
    for (name, column) in &export.columns {
        if name.is_empty() || TAKEN.iter().any(|taken| name.eq_ignore_ascii_case(taken)) {
            return Err(Error::data(
                format!("a column of nodes cannot be called {name:?}"),
                "choose a longer name, such as `class`: this one has a meaning of its own in some format",
            ));
        }
        if !names.insert(xml::cleaned(name)) {
            return Err(Error::data(format!("two columns are called {name:?}"), "give each its own name"));
        }
        let (found, nodes) = (column.len(), export.node_ids.len());
        if found != nodes {
            return Err(Error::data(
                format!("the column {name:?} has {found} values for {nodes} nodes"),
                "give one value per node",
            ));
        }
    }
    Ok(())
}

fn edges(export: &Export) -> Result<()> {
    let nodes = export.node_ids.len();
    for (edge, &(a, b, weight)) in export.edges.iter().enumerate() {
        if a.max(b) as usize >= nodes {
            let problem = format!("edge {edge}: node {} out of range (num_nodes = {nodes})", a.max(b));
            return Err(Error::data(problem, "node numbers start at 0; every end of an edge must be a node"));
        }
        if !weight.is_finite() {
            return Err(Error::data(
                format!("edge {edge}: the weight {weight} is not finite"),
                "weights must be numbers that other tools can compute with",
            ));
        }
    }
    let pairs = export.edges.iter().map(|&(a, b, _)| (a.min(b), a.max(b)));
    // Graphs list their edges in order, which saves the copy.
    if pairs.clone().is_sorted_by(|x, y| x < y) {
        return Ok(());
    }
    let mut sorted: Vec<_> = pairs.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::data(
            format!("the edge between nodes {} and {} is there twice", pair[0].0, pair[0].1),
            "list each undirected pair once",
        )),
    }
}

/// Checks that ids, in the form in which a format writes them, tell the nodes apart.
pub(super) fn ids(ids: impl ExactSizeIterator<Item = impl AsRef<str> + Eq + std::hash::Hash>) -> Result<()> {
    let remedy = "rename it, or export an .npz file, which numbers the nodes";
    let mut seen = HashSet::with_capacity(ids.len());
    for (node, id) in ids.enumerate() {
        if id.as_ref().is_empty() {
            return Err(Error::data(format!("the id of node {node} is empty"), remedy));
        }
        if let Some(id) = seen.replace(id) {
            let problem = format!("node {node} has the id {:?} of another node", id.as_ref());
            return Err(Error::data(problem, remedy));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    fn export(columns: Vec<(&str, Column)>, edges: Vec<(u32, u32, f32)>) -> Export<'static> {
        Export {
            name: "toy",
            node_ids: ["a", "b", "c"].map(String::from).into(),
            columns: columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect(),
            edges,
        }
    }

    #[track_caller]
    fn refused(export: Export, problem: &str) {
        let error = parts(&export).unwrap_err().to_string();
        assert!(error.starts_with(problem) && error.contains("\n  hint: "), "{error}");
    }

    #[test]
    fn what_other_tools_would_misread_is_refused() {
        let three = || Column::Integer(vec![1, 2, 3]);
        parts(&export(vec![("x", three()), ("y", three())], vec![(2, 1, -0.5), (0, 2, 1.0)])).unwrap();
        refused(export(vec![("Label", three())], vec![]), "a column of nodes cannot be called \"Label\"");
        refused(export(vec![("", three())], vec![]), "a column of nodes cannot be called \"\"");
        refused(export(vec![("x\u{1}", three()), ("x\u{2}", three())], vec![]), "two columns are called");
        refused(export(vec![("x", Column::Text(vec![None]))], vec![]), "the column \"x\" has 1 values for 3");
        refused(export(vec![], vec![(0, 1, 1.0), (1, 3, 1.0)]), "edge 1: node 3 out of range");
        refused(export(vec![], vec![(0, 1, f32::NAN)]), "edge 0: the weight NaN is not finite");
        refused(
            export(vec![], vec![(0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0)]),
            "the edge between nodes 0 and 1",
        );
    }

    #[test]
    fn ids_must_tell_the_nodes_apart() {
        ids(["a", "b", " a"].into_iter()).unwrap();
        let twice = ids(["a", "b", "a"].into_iter()).unwrap_err().to_string();
        assert!(twice.starts_with("node 2 has the id \"a\" of another node\n  hint: "), "{twice}");
        let empty = ids(["a", ""].into_iter()).unwrap_err().to_string();
        assert!(empty.starts_with("the id of node 1 is empty\n  hint: "), "{empty}");
    }
}
