//! What every model does with its settings: defaults, reading, ranges.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use super::SearchSpace;
use crate::error::{Error, Result};
use crate::graph::{Features, Graph};

/// The defaults of a config as a table.
pub(super) fn defaults<C: Default + Serialize>() -> Table {
    Table::try_from(C::default()).unwrap_or_default()
}

/// A config from a table.
pub(super) fn read<C: DeserializeOwned>(table: &Table) -> Result<C> {
    table.clone().try_into().map_err(|error: toml::de::Error| {
        Error::data(
            format!("the settings cannot be read: {}", error.to_string().trim_end().replace('\n', " ")),
            "the reference lists the settings with their defaults",
        )
    })
}

pub(super) fn at_least_one(key: &str, value: usize) -> Result<()> {
    in_range(value >= 1, key, value, "choose 1 or more")
}

pub(super) fn at_most(key: &str, value: usize, most: usize) -> Result<()> {
    in_range(value <= most, key, value, &format!("choose {most} or less"))
}

pub(super) fn odd(key: &str, value: usize) -> Result<()> {
    in_range(value % 2 == 1, key, value, "choose an odd number, such as 3 or 5")
}

pub(super) fn not_negative(key: &str, value: f32) -> Result<()> {
    in_range(value >= 0.0 && value.is_finite(), key, value, "choose 0 or a positive number")
}

pub(super) fn positive(key: &str, value: f32) -> Result<()> {
    in_range(value > 0.0 && value.is_finite(), key, value, "choose a positive number")
}

/// A share that may also be all.
pub(super) fn share(key: &str, value: f32) -> Result<()> {
    in_range((0.0..=1.0).contains(&value), key, value, "choose a share from 0 to 1")
}

pub(super) fn share_below_one(key: &str, value: f32) -> Result<()> {
    in_range((0.0..1.0).contains(&value), key, value, "choose a share from 0 up to, not including, 1")
}

fn in_range(good: bool, key: &str, value: impl Display, remedy: &str) -> Result<()> {
    if good { Ok(()) } else { Err(Error::setting(key, format!("{value} is out of range"), remedy)) }
}

/// Refuses features with other columns than those that the model learned from.
pub(super) fn same_columns(features: &Features, learned: usize) -> Result<()> {
    if features.dim() == learned {
        return Ok(());
    }
    Err(Error::data(
        format!("the data has {} feature columns, the model was trained on {learned}", features.dim()),
        "predict on data with the same feature columns in the same order",
    ))
}

/// Refuses a graph with another number of nodes than a model that has weights for each.
pub(super) fn same_nodes(graph: &Graph, learned: usize) -> Result<()> {
    if graph.num_nodes() == learned {
        return Ok(());
    }
    Err(Error::data(
        format!("the graph has {} nodes, the model has weights for {learned}", graph.num_nodes()),
        "predict on the nodes that it was trained on, in the same order, or train a model that takes new nodes, \
         such as lhs",
    ))
}

/// What is searched for every network, and what is particular to one.
pub(super) fn search<const N: usize>(
    widths: impl IntoIterator<Item = i64>,
    particular: [(&'static str, SearchSpace); N],
) -> Vec<(&'static str, SearchSpace)> {
    let common = [
        ("hidden", SearchSpace::choice(widths)),
        ("dropout", SearchSpace::Uniform(0.0, 0.9)),
        ("normalise_features", SearchSpace::choice([false, true])),
        ("training.learning_rate", SearchSpace::LogUniform(1e-3, 5e-2)),
        ("training.weight_decay", SearchSpace::LogUniform(1e-6, 5e-2)),
    ];
    particular.into_iter().chain(common).collect()
}

impl SearchSpace {
    /// One of these values.
    pub fn choice<V: Into<toml::Value>>(values: impl IntoIterator<Item = V>) -> Self {
        SearchSpace::Choice(values.into_iter().map(Into::into).collect())
    }
}
