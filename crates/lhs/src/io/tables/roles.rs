//! Which column of a table is what: by the name that the user gave, by names that are well known, or by its place.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::rows::is_called;
use crate::error::{Error, Result, nearest};

/// What the user calls the columns; what is not said is recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnNames {
    /// The column that names a node, in the tables of features and labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The column of classes, in the table of labels, else in that of features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where edges come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where edges go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The weights of edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// When a node came to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Groups of nodes that splits keep together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Columns that are no features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// The columns of a table that has a header.
pub(super) struct Header<'a> {
    pub path: &'a Path,
    pub names: &'a [String],
}

impl Header<'_> {
    /// The column that the user named, if there is such a one here.
    pub fn named(&self, name: Option<&String>) -> Option<usize> {
        name.and_then(|name| self.names.iter().position(|own| own == name))
    }

    /// The column that the user named, which must be here.
    pub fn given(&self, name: Option<&String>, what: &str) -> Result<Option<usize>> {
        let Some(name) = name else { return Ok(None) };
        self.named(Some(name)).map(Some).ok_or_else(|| {
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            Error::input(
                self.path,
                "",
                format!("there is no column `{name}` ({what})"),
                nearest(name, &names),
            )
        })
    }

    /// The only column that is called by one of these names; none if there are several.
    pub fn called(&self, names: &[&str]) -> Option<usize> {
        let mut found = (0..self.names.len()).filter(|&column| is_called(&self.names[column], names));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The only column with one of these words in its name, such as `from` in `from_id`.
    pub fn with_word(&self, words: &[&str]) -> Option<usize> {
        let has = |name: &String| name.split(['_', '-', ' ', '.']).any(|part| is_called(part, words));
        let mut found = (0..self.names.len()).filter(|&column| has(&self.names[column]));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// Names for an error.
    pub fn list(&self) -> String {
        self.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}
