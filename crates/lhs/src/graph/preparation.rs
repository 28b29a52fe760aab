//! How raw columns, with gaps, words and amounts, become features; kept, so that other data is treated alike.

use serde::{Deserialize, Serialize};

/// What is done to each raw column, in the order of the features that come of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// The columns that are read; all others are left out.
    pub columns: Vec<ColumnRule>,
}

/// What is done to a raw column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnRule {
    /// What the column is called.
    pub name: String,
    /// What is done to it.
    #[serde(flatten)]
    pub rule: Rule,
}

/// What can be done to a raw column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Rule {
    /// It holds numbers, or times, which count as seconds since 1970.
    Number {
        /// What stands in a gap; without it a gap is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f32>,
        /// Whether a second feature says where the gaps were.
        #[serde(default)]
        flag: bool,
        /// How the numbers are scaled.
        scale: Scaling,
    },
    /// It holds words: a feature for each of them, 1 where it stands.
    Words {
        /// Those with a feature of their own.
        values: Vec<String>,
        /// Whether a feature stands for all others, also those that were never seen.
        other: bool,
        /// Whether a feature stands for gaps.
        missing: bool,
    },
}

/// How numbers are scaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// As they are.
    None,
    /// To mean 0 and deviation 1.
    Standard {
        /// What is taken off.
        mean: f64,
        /// What is divided by.
        deviation: f64,
    },
    /// To their rank among the numbers that were learned from, spread evenly over -1..=1.
    Rank {
        /// Numbers at evenly spaced ranks, ascending.
        quantiles: Vec<f32>,
    },
}
