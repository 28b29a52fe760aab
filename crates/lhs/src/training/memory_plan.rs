//! How much memory a training will need, told beforehand from sizes and settings.
//!
//! A [`MemoryPlan`] counts in bytes what lies in memory together at the worst moment: the data, what is prepared from the graph,
//! the parameters with what the optimiser keeps of each, and what the tape keeps of one step. Models say how many numbers those
//! are ([`Amounts`]); all arithmetic saturates, so no setting is too absurd to be planned.

use std::iter::Sum;
use std::ops::{Add, Mul};

use serde::Serialize;

use super::Task;
use crate::graph::Features;

/// Bytes of a number.
const NUMBER: u64 = 4;
/// Copies of every parameter: value, best value so far, two moments of Adam, gradient.
const COPIES: u64 = 5;
/// What every process needs: code, threads and their buffers.
const PROCESS: u64 = 24 << 20;

/// A count that stays at its largest value instead of overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Count(count as u64)
    }
}

impl<C: Into<Count>> Add<C> for Count {
    type Output = Count;

    fn add(self, other: C) -> Count {
        Count(self.0.saturating_add(other.into().0))
    }
}

impl<C: Into<Count>> Mul<C> for Count {
    type Output = Count;

    fn mul(self, other: C) -> Count {
        Count(self.0.saturating_mul(other.into().0))
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count(0), |sum, count| sum + count)
    }
}

/// The product of some sizes.
pub fn product<const N: usize>(sizes: [usize; N]) -> Count {
    sizes.into_iter().fold(Count(1), |product, size| product * size)
}

/// The sizes that the memory of a training follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSizes {
    /// Nodes.
    pub nodes: usize,
    /// Stored entries of the adjacency matrix: twice the edges of a graph without direction.
    pub entries: usize,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Feature columns.
    pub features: usize,
    /// Stored feature values.
    pub values: usize,
    /// Whether features are stored sparse.
    pub sparse: bool,
    /// Classes.
    pub classes: usize,
    /// Nodes of the training and validation parts.
    pub labelled: usize,
}

impl DataSizes {
    /// Those of a task.
    pub fn of(task: &Task<'_>) -> Self {
        DataSizes {
            nodes: task.graph.num_nodes(),
            entries: task.graph.adjacency().nnz(),
            directed: task.graph.is_directed(),
            features: task.features.dim(),
            values: task.features.values().len(),
            sparse: matches!(task.features, Features::Sparse(_)),
            classes: task.num_classes,
            labelled: task.train.nodes.len() + task.val.nodes.len(),
        }
    }

    /// Bytes of graph and features.
    fn bytes(&self) -> Count {
        let index = if self.sparse { 2 } else { 1 };
        (Count::from(self.entries) + product([self.values, index])) * 4usize + product([self.nodes, 16])
    }

    /// Numbers of a matrix of the shape of the graph, with its transpose.
    pub fn propagation(&self) -> Count {
        Count::from(self.entries) * 4usize + product([self.nodes, 4])
    }

    /// Numbers of the features as a network reads them: the input and a copy with some dropped.
    pub fn input(&self) -> Count {
        Count::from(self.values) * if self.sparse { 4usize } else { 2usize }
    }
}

/// How many numbers a training keeps at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Made once from graph and features.
    pub prepared: Count,
    /// Parameters.
    pub parameters: Count,
    /// On the tape in one step.
    pub activations: Count,
}

impl Amounts {
    /// Those of a network of some layers, each of which reads a graph. `copies` is how many matrices of the width of a
    /// layer its tape keeps.
    pub fn layered(sizes: &DataSizes, hidden: usize, layers: usize, copies: usize) -> Self {
        let inner = layers.saturating_sub(1);
        let first = if inner == 0 { sizes.classes } else { hidden };
        let between = product([inner.saturating_sub(1), hidden, hidden]);
        let last = if inner == 0 { Count(0) } else { product([hidden, sizes.classes]) };
        Amounts {
            prepared: sizes.propagation() + sizes.input(),
            parameters: product([sizes.features, first]) + between + last,
            activations: (product([inner, hidden]) + sizes.classes) * product([sizes.nodes, copies]),
        }
    }

    /// The same with some more.
    pub fn and(self, prepared: Count, parameters: Count, activations: Count) -> Self {
        Amounts {
            prepared: self.prepared + prepared,
            parameters: self.parameters + parameters,
            activations: self.activations + activations,
        }
    }
}

/// What a training will need, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPlan {
    /// The process, graph and features, which are there before training begins.
    pub data: u64,
    /// What is made of the graph once.
    pub structure: u64,
    /// Parameters, and what the optimiser keeps of each.
    pub parameters: u64,
    /// What the tape keeps of one step.
    pub activations: u64,
}

impl MemoryPlan {
    /// The plan of a model that keeps so many numbers.
    pub fn of(sizes: &DataSizes, amounts: &Amounts) -> Self {
        MemoryPlan {
            data: (sizes.bytes() + Count(PROCESS)).0,
            structure: (amounts.prepared * Count(NUMBER)).0,
            parameters: (amounts.parameters * Count(NUMBER * COPIES)).0,
            activations: (amounts.activations * Count(NUMBER)).0,
        }
    }

    /// What must be free when training begins.
    pub fn beyond_data(&self) -> u64 {
        self.structure.saturating_add(self.parameters).saturating_add(self.activations)
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.beyond_data().saturating_add(self.data)
    }
}

/// Bytes for people: `3.2 GB`.
pub fn readable(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overflows() {
        let most = usize::MAX;
        let sizes = DataSizes {
            nodes: most,
            entries: most,
            directed: true,
            features: most,
            values: most,
            sparse: true,
            classes: most,
            labelled: most,
        };
        let plan = MemoryPlan::of(&sizes, &Amounts::layered(&sizes, most, most, most));
        assert_eq!((plan.total(), plan.parameters), (u64::MAX, u64::MAX));
        assert_eq!(product([most, 0]), Count(0));
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(readable(999), "999 bytes");
        assert_eq!(readable(3_210_000_000), "3.2 GB");
        assert_eq!(readable(u64::MAX), "18.4 EB");
    }
}
