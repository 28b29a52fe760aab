//! A column of texts as numbers of classes.

use std::collections::HashMap;

use super::{Column, Export};

/// The different texts of a column, and which of them each node has.
pub(super) struct Classes<'a> {
    /// Whole numbers by value, then texts in order: the same classes are always numbered alike.
    pub names: Vec<&'a str>,
    /// By node; `None` when missing.
    pub of: Vec<Option<usize>>,
}

impl<'a> Classes<'a> {
    pub fn new(texts: &'a [Option<String>]) -> Self {
        let mut names: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        names.sort_unstable_by_key(|name| (name.parse().unwrap_or(i64::MAX), *name));
        names.dedup();
        let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(n, &name)| (name, n)).collect();
        let of = texts.iter().map(|text| text.as_deref().map(|name| numbers[name])).collect();
        Classes { names, of }
    }

    /// No classes at all.
    pub fn unknown(nodes: usize) -> Self {
        Classes { names: Vec::new(), of: vec![None; nodes] }
    }

    /// The first column of texts.
    pub fn first(export: &'a Export) -> Option<Self> {
        export.columns.iter().find_map(|(_, column)| match column {
            Column::Text(texts) => Some(Classes::new(texts)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_numbered_in_their_own_order() {
        let texts = [Some("b"), Some("10"), None, Some("9"), Some("b"), Some("")];
        let texts = texts.map(|text| text.map(String::from));
        let classes = Classes::new(&texts);
        assert_eq!(classes.names, ["9", "10", "", "b"]);
        assert_eq!(classes.of, [Some(3), Some(1), None, Some(0), Some(3), Some(2)]);
    }
}
