//! A suite as it is written down: TOML that names the axes of a grid.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::settings::place;
use super::splits::SplitSpec;
use crate::error::{Error, Result};
use crate::metrics::{Metric, Threshold};

/// What to run. All axes are crossed, but for variants, which belong to one model each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What it shows, in one line.
    pub title: String,
    /// The table of the paper to hold it against: `clean`, `evasion` or `clustering`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Files, folders, or names of fetched graphs.
    pub datasets: Vec<String>,
    /// Whether `models` are ways of clustering: `latent-kmeans`, `latent-spectral`, `agc`.
    #[serde(default)]
    pub clustering: bool,
    /// Names of models.
    pub models: Vec<String>,
    /// Whether the direction of edges is kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub directed: bool,
    /// Splits that come with the data, by their numbers, or how to draw some; if not given, all that come with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub splits: Option<SplitSpec>,
    /// How many splits are drawn, if they are.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub num_splits: usize,
    /// Seeds of training and attacks.
    #[serde(default = "first_seed")]
    pub seeds: Vec<u64>,
    /// The seed of attacks, where it is not that of the training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attack_seed: Option<u64>,
    /// Whether models are scored on the clean data, too.
    #[serde(default = "yes")]
    pub clean: bool,
    /// Whether the settings found for a dataset are used, or the defaults.
    #[serde(default = "yes")]
    pub found_settings: bool,
    /// Whether of the settings found those count that every model was given the same time for.
    #[serde(default)]
    pub one_budget: bool,
    /// Whether the heterophily of training and test nodes is measured, in the given graph and the latent ones.
    #[serde(default)]
    pub measure_shift: bool,
    /// What early stopping looks at and tables show; if not given, early stopping does as the settings say, and tables show
    /// ROC AUC of two classes and accuracy of more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// The class that is looked for; if not given, a rule finds it where there are two classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive_class: Option<String>,
    /// From which probability on a node is taken for that class, where there are two; if not given, the likelier class wins,
    /// unless there is a metric other than accuracy: then it is chosen at the validation nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// Settings by model, over all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Table>,
    /// Attacks on the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<AttackAxis>,
    /// Models with other settings, beside the models as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
}

/// An attack at some strengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackAxis {
    /// Its name.
    pub name: String,
    /// How strong it is.
    pub rates: Vec<f64>,
    /// Whether it comes before training.
    #[serde(default)]
    pub poisoning: bool,
    /// Whether the test nodes and their edges are there in training, if it comes after it. If not, models learn without them: what a
    /// model remembers of the training graph then helps it as little as in the world.
    #[serde(default)]
    pub transductive: bool,
    /// How often it is crafted, with other seeds.
    #[serde(default = "once")]
    pub repeats: u64,
    /// Its other settings.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub settings: Table,
}

impl AttackAxis {
    /// Whether models learn without the test nodes: before training, the whole graph is attacked.
    pub fn inductive(&self) -> bool {
        !self.poisoning && !self.transductive
    }
}

/// A model with other settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What it is called in tables.
    pub name: String,
    /// Which model.
    pub model: String,
    /// What is different.
    pub set: Table,
}

impl Default for Suite {
    /// Nothing named yet: seed 0, one draw, clean cells, settings found for each dataset.
    fn default() -> Self {
        Suite {
            title: String::new(),
            paper: None,
            datasets: Vec::new(),
            clustering: false,
            models: Vec::new(),
            directed: false,
            splits: None,
            num_splits: one(),
            seeds: first_seed(),
            attack_seed: None,
            clean: yes(),
            found_settings: yes(),
            one_budget: false,
            measure_shift: false,
            metric: None,
            positive_class: None,
            threshold: None,
            settings: BTreeMap::new(),
            attacks: Vec::new(),
            variants: Vec::new(),
        }
    }
}

fn first_seed() -> Vec<u64> {
    vec![0]
}

fn yes() -> bool {
    true
}

fn once() -> u64 {
    1
}

fn one() -> usize {
    1
}

fn is_one(number: &usize) -> bool {
    *number == 1
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What models are judged by, as far as it was said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judging {
    /// The figure that counts.
    pub metric: Option<Metric>,
    /// How decisions come of probabilities, where there are two classes.
    pub threshold: Option<Threshold>,
}

impl Judging {
    /// Whether nothing was said that changes a decision or what is learned.
    pub fn is_plain(&self) -> bool {
        matches!(self.metric, None | Some(Metric::Accuracy))
            && matches!(self.threshold, None | Some(Threshold::Half))
    }

    /// The figure that is shown.
    pub fn shown(&self, num_classes: usize) -> Metric {
        self.metric.unwrap_or_else(|| Metric::usual(num_classes))
    }

    /// How decisions come of probabilities.
    pub fn threshold(&self, num_classes: usize) -> Threshold {
        match num_classes {
            2 => self.threshold.unwrap_or_else(|| Threshold::usual(self.metric)),
            _ => Threshold::Half,
        }
    }
}

impl Suite {
    /// What its models are judged by.
    pub fn judging(&self) -> Judging {
        Judging { metric: self.metric, threshold: self.threshold }
    }

    /// Reads a suite; `file` is named in errors.
    pub fn parse(text: &str, file: &Path) -> Result<Self> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            Error::input(
                file,
                place(text, &error),
                error.message(),
                "the reference lists what a suite can hold",
            )
        })
    }
}

impl FromStr for Suite {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Suite::parse(text, Path::new("suite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_has_sensible_defaults() {
        let text = "title = \"t\"\ndatasets = [\"a\"]\nmodels = [\"gcn\"]\n[[attacks]]\nname = \"dice\"\nrates = [0.1]\n";
        let suite = Suite::parse(text, Path::new("s.toml")).unwrap();
        assert_eq!((suite.seeds.as_slice(), suite.splits.as_ref(), suite.clean), (&[0][..], None, true));
        assert_eq!((suite.attacks[0].repeats, suite.attacks[0].poisoning), (1, false));
        assert!(!suite.attacks[0].transductive && suite.attacks[0].inductive());
        let written = toml::to_string(&suite).unwrap();
        assert_eq!(Suite::parse(&written, Path::new("s.toml")).unwrap(), suite);
    }

    #[test]
    fn a_wrong_key_names_file_and_line() {
        let error = Suite::parse("title = \"t\"\nmodel = [\"gcn\"]\n", Path::new("s.toml")).unwrap_err();
        assert!(error.to_string().starts_with("s.toml: line 2: unknown field `model`"), "{error}");
    }
}
