//! Classes of the nodes, some of which may be unknown.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::linalg::random::hash;

/// What decides who is drawn where some of many labels are enough.
const DRAWN_WITH: u64 = 0x5EED;

/// Stands for "unknown" in the compact form.
const UNKNOWN: u32 = u32::MAX;

/// One class per node, or unknown, with the names of the classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    classes: Vec<u32>,
    names: Vec<String>,
}

impl Labels {
    /// Class numbers index `names`.
    pub fn new(classes: Vec<Option<u32>>, names: Vec<String>) -> Result<Self> {
        if let Some((node, class)) = classes
            .iter()
            .enumerate()
            .find_map(|(n, c)| c.filter(|&c| c as usize >= names.len()).map(|c| (n, c)))
        {
            return Err(Error::data(
                format!("node {node} has class {class}, but there are {} classes", names.len()),
                "class numbers start at 0",
            ));
        }
        Ok(Labels { classes: classes.into_iter().map(|c| c.unwrap_or(UNKNOWN)).collect(), names })
    }

    /// Class numbers that name themselves; a negative number means unknown.
    pub fn from_numbers(numbers: &[i64]) -> Result<Self> {
        let top = numbers.iter().copied().max().unwrap_or(-1);
        if top >= numbers.len().max(1) as i64 {
            return Err(Error::data(
                format!("class number {top} is larger than the number of nodes"),
                "number the classes 0, 1, 2, …",
            ));
        }
        let classes = numbers.iter().map(|&c| u32::try_from(c).ok()).collect();
        Self::new(classes, (0..=top).map(|c| c.to_string()).collect())
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// A node's class; `None` when unknown.
    pub fn get(&self, node: usize) -> Option<u32> {
        Some(self.classes[node]).filter(|&class| class != UNKNOWN)
    }

    /// Number of classes.
    pub fn num_classes(&self) -> usize {
        self.names.len()
    }

    /// Names of the classes, by class number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many nodes have each class.
    pub fn class_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.num_classes()];
        for &class in self.classes.iter().filter(|&&c| c != UNKNOWN) {
            sizes[class as usize] += 1;
        }
        sizes
    }

    /// How many nodes have no known class.
    pub fn num_unknown(&self) -> usize {
        self.classes.iter().filter(|&&c| c == UNKNOWN).count()
    }

    /// The labels of the nodes named, in that order.
    pub fn select(&self, nodes: &[u32]) -> Self {
        Labels {
            classes: nodes.iter().map(|&n| self.classes[n as usize]).collect(),
            names: self.names.clone(),
        }
    }
}

/// Nodes with their classes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labelled {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// The class of each of them.
    pub classes: Vec<u32>,
}

impl Labelled {
    /// Which of so many nodes these are.
    pub fn marked_among(&self, num_nodes: usize) -> Vec<bool> {
        let mut marked = vec![false; num_nodes];
        self.nodes.iter().for_each(|&node| marked[node as usize] = true);
        marked
    }

    /// All of them where there are no more than `most`; else so many, drawn by a hash of the node.
    pub fn at_most(&self, most: usize) -> Cow<'_, Labelled> {
        if self.nodes.len() <= most {
            return Cow::Borrowed(self);
        }
        let mut places: Vec<usize> = (0..self.nodes.len()).collect();
        places.select_nth_unstable_by_key(most, |&place| (hash(DRAWN_WITH, self.nodes[place]), place));
        places.truncate(most);
        places.sort_unstable();
        let (nodes, classes) =
            places.into_iter().map(|place| (self.nodes[place], self.classes[place])).unzip();
        Cow::Owned(Labelled { nodes, classes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_unknown() {
        let labels = Labels::from_numbers(&[1, -1, 0, 1]).unwrap();
        assert_eq!((labels.get(0), labels.get(1)), (Some(1), None));
        assert_eq!(labels.class_sizes(), [1, 2]);
        assert_eq!(labels.num_unknown(), 1);
    }

    #[test]
    fn absurd_class_numbers_are_refused() {
        assert!(Labels::from_numbers(&[0, 1 << 40]).is_err());
    }
}
