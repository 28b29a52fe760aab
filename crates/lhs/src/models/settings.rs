//! What every model does with its settings: defaults, reading, ranges.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::SearchSpace;
use crate::error::{Error, Result, nearest};
use crate::graph::{Features, Graph};
use crate::training::{ClassWeights, TrainingConfig};

/// The defaults of a config as a table.
pub(super) fn defaults<C: Default + Serialize>() -> Table {
    Table::try_from(C::default()).unwrap_or_default()
}

/// Settings that had another name before, so that whoever knows the old one finds the new one.
const RENAMED: [(&str, &str); 3] = [
    ("members", "ensemble_size"),
    ("least_support", "trust"),
    ("structure.bootstrap", "structure.given_share"),
];

/// What a setting that is no more is called now, if it is one that was renamed.
pub fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

/// A config from a table; of a key that there is not, the error names the right one.
pub(super) fn read<C: Default + Serialize + DeserializeOwned>(table: &Table) -> Result<C> {
    table.clone().try_into().map_err(|error: toml::de::Error| {
        unknown_key(table, &defaults::<C>()).unwrap_or_else(|| {
            Error::data(
                format!("the settings cannot be read: {}", error.to_string().trim_end().replace('\n', " ")),
                "the reference lists the settings with their defaults",
            )
        })
    })
}

fn unknown_key(table: &Table, defaults: &Table) -> Option<Error> {
    let names = keys(defaults);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let unknown = keys(table).into_iter().find(|key| !names.contains(&key.as_str()))?;
    let remedy = match renamed(&unknown).filter(|new| names.contains(new)) {
        Some(new) => format!("it is called `{new}` now"),
        None => nearest(&unknown, &names),
    };
    Some(Error::setting(unknown, "there is no such setting", remedy))
}

/// The dotted names of all settings.
fn keys(table: &Table) -> Vec<String> {
    let of = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => keys(inner).into_iter().map(|rest| format!("{key}.{rest}")).collect(),
        _ => vec![key.clone()],
    };
    table.iter().flat_map(of).collect()
}

/// Declares the settings of a network with their defaults: first its own, then what all networks share, which is
/// described and checked here, once. In TOML all are of one level: `hidden`, `layers`, its own, `dropout`,
/// `normalise_features`, `hardening`, `training`. A comment above a shared setting takes the place of the usual one; `layers` may be
/// left out.
///
/// A macro and not a struct of shared settings inside of each: `Gcn { hidden: 32, ..Gcn::default() }` is how a program
/// writes settings, and serde's `flatten` would let unknown keys pass.
macro_rules! network_settings {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty = $default:expr,)* }
        shared {
            $(#[doc = $hidden_doc:literal])*
            hidden: $hidden:expr,
            $(#[doc = $dropout_doc:literal])*
            dropout: $dropout:expr,
            normalise_features: $normalise_features:expr,
            $(#[doc = $training_doc:literal])*
            training: $training:expr,
            $($(#[doc = $layers_doc:literal])* layers: $layers:expr,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            #[doc = network_settings!(@doc "Width of the hidden layers, 1 or more."; $($hidden_doc)*)]
            pub hidden: usize,
            $(
                #[doc = network_settings!(@doc "Number of layers, 1 or more."; $($layers_doc)*)]
                pub layers: usize,
            )?
            $($(#[$doc])* pub $field: $type,)*
            #[doc = network_settings!(@doc "Share of the inputs and hidden units dropped while training, 0..1."; $($dropout_doc)*)]
            pub dropout: f32,
            /// Scale every row of features to sum 1.
            pub normalise_features: bool,
            /// How much copies of the graph that an attacker changed count in training, 0 (nothing) to 1.
            pub hardening: f32,
            #[doc = network_settings!(@doc "How it is trained."; $($training_doc)*)]
            pub training: $crate::training::TrainingConfig,
        }

        impl Default for $name {
            fn default() -> Self {
                $name {
                    hidden: $hidden,
                    $(layers: $layers,)?
                    $($field: $default,)*
                    dropout: $dropout,
                    normalise_features: $normalise_features,
                    hardening: 0.0,
                    training: $training,
                }
            }
        }

        impl $crate::models::architecture::NetworkSettings for $name {
            fn shared(&self) -> $crate::models::architecture::Shared<'_> {
                $crate::models::architecture::Shared {
                    hidden: self.hidden,
                    layers: network_settings!(@layers self $(, $layers)?),
                    dropout: self.dropout,
                    hardening: self.hardening,
                    training: &self.training,
                }
            }
        }
    };
    (@doc $usual:literal;) => { $usual };
    (@doc $usual:literal; $($own:literal)+) => { concat!($($own, "\n"),+) };
    (@layers $config:expr) => { None };
    (@layers $config:expr, $default:expr) => { Some($config.layers) };
}

pub(super) use network_settings;

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

/// Refuses class weights, for a model whose loss has no place for them.
pub(super) fn weighs_no_classes(training: &TrainingConfig) -> Result<()> {
    if training.class_weights == ClassWeights::None {
        return Ok(());
    }
    Err(Error::setting(
        "training.class_weights",
        "this model cannot weigh classes",
        "choose none, or another model, such as lhs",
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::gcn::Gcn;
    use crate::models::lhs::Lhs;

    fn problem<C: Default + Serialize + DeserializeOwned>(text: &str) -> String {
        read::<C>(&text.parse().unwrap()).err().unwrap().to_string()
    }

    #[test]
    fn unknown_keys_are_refused_and_the_right_ones_named() {
        assert!(problem::<Gcn>("hiden = 3").contains("did you mean `hidden`?"));
        assert!(problem::<Gcn>("training.epoch = 3").contains("did you mean `training.epochs`?"));
        assert!(problem::<Lhs>("members = 1").contains("it is called `ensemble_size` now"));
        let share = problem::<Lhs>("structure.bootstrap = 0.5");
        assert!(share.contains("it is called `structure.given_share` now"), "{share}");
        assert!(problem::<Gcn>("hidden = 'wide'").contains("cannot be read"));
    }

    #[test]
    fn shared_settings_stand_among_the_own_ones() {
        let names = |table: Table| table.keys().cloned().collect::<Vec<_>>();
        let found = names(defaults::<crate::models::appnp::Appnp>());
        assert_eq!(
            found,
            ["hidden", "steps", "restart", "dropout", "normalise_features", "hardening", "training"]
        );
        assert!(names(defaults::<Gcn>()).contains(&"layers".to_string()));
    }
}
