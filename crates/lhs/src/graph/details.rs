//! What is known about a dataset beside what models compute with: names, origin, and what was done to its columns.

use serde::{Deserialize, Serialize};

use super::preparation::Preparation;

/// Everything optional about a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Names of the feature columns, where they have any: one per column, no two alike.
    pub feature_names: Option<Vec<String>>,
    /// The class that is looked for, such as fraud: ranked lists and curves are about it.
    pub positive_class: Option<u32>,
    /// When each node came to be, in seconds since 1970, where that is known.
    pub times: Option<Vec<Option<f64>>>,
    /// A group of each node that no split may tear apart, such as a household; empty where there is none.
    pub groups: Option<Vec<String>>,
    /// The data that this is a changed copy of.
    pub origin: Option<Origin>,
    /// How raw columns became features, to be repeated on other data.
    pub preparation: Option<Preparation>,
}

impl Details {
    /// What is known of some of the nodes, which are then another dataset than the origin's.
    pub(super) fn subset(&self, nodes: &[u32]) -> Self {
        Details {
            times: self.times.as_ref().map(|times| nodes.iter().map(|&n| times[n as usize]).collect()),
            groups: self
                .groups
                .as_ref()
                .map(|groups| nodes.iter().map(|&n| groups[n as usize].clone()).collect()),
            origin: None,
            ..self.clone()
        }
    }
}

/// The data that some other data is a changed copy of: attacked, converted, or with other splits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// How it was called.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
}
