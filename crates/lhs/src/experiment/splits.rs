//! Which splits to run: those that come with the data, some of them, or random ones.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::graph::preparation::times;
use crate::graph::{Dataset, Split};

/// Which splits are wanted; as text `all`, `3`, `0-2`, `0,2,5` or `random:0.6,0.2,0.2`.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitSpec {
    /// Every split that comes with the data.
    All,
    /// Those from the first number to the last, which may be the same.
    Range(usize, usize),
    /// Those of these numbers.
    List(Vec<usize>),
    /// Drawn by shares of training, validation and test nodes, each class divided alike.
    Random([f64; 3]),
    /// Drawn likewise, whole groups of nodes at a time.
    Group([f64; 3]),
    /// Training nodes before the first time, validation nodes before the second, test nodes after it.
    Time(f64, f64),
    /// All labels to learn from.
    Final,
}

/// A split with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedSplit {
    /// Its number among the splits of the data, or of the draw.
    pub number: usize,
    /// Its nodes.
    pub split: Split,
}

/// What data without splits gets when none is asked for.
pub const DEFAULT_RANDOM: SplitSpec = SplitSpec::Random([0.6, 0.2, 0.2]);

impl SplitSpec {
    /// What to run when the user does not say: all splits of the data, or a random one if it has none.
    pub fn default_for(dataset: &Dataset) -> Self {
        if dataset.splits().is_empty() { DEFAULT_RANDOM } else { SplitSpec::All }
    }

    /// The splits themselves. Random split `k` of `num_random` is drawn with `seed + k`.
    pub fn resolve(&self, dataset: &Dataset, num_random: usize, seed: u64) -> Result<Vec<NumberedSplit>> {
        let fixed = dataset.splits();
        match self {
            SplitSpec::All if fixed.is_empty() => Err(Error::data(
                format!("{} comes without splits", dataset.name()),
                format!("draw some: `{DEFAULT_RANDOM}`"),
            )),
            SplitSpec::All => Ok(numbered(fixed.iter().cloned())),
            SplitSpec::Range(first, last) => take(dataset, *first..=*last),
            SplitSpec::List(numbers) => take(dataset, numbers.iter().copied()),
            SplitSpec::Random([train, val, test]) => {
                let draw = |k| Split::random(dataset.labels(), *train, *val, *test, seed.wrapping_add(k));
                let splits = (0..num_random as u64).map(draw).collect::<Result<Vec<_>>>()?;
                Ok(numbered(splits))
            }
            SplitSpec::Group(shares) => {
                let groups = dataset.details().groups.as_deref().ok_or_else(|| {
                    lacking(dataset, "groups", "say which column holds them (`group` column)")
                })?;
                let draw = |k| Split::grouped(dataset.labels(), groups, *shares, seed.wrapping_add(k));
                Ok(numbered((0..num_random as u64).map(draw).collect::<Result<Vec<_>>>()?))
            }
            SplitSpec::Time(train_until, val_until) => {
                let times = dataset.details().times.as_deref().ok_or_else(|| {
                    lacking(dataset, "times", "say which column holds them (`time` column)")
                })?;
                Ok(numbered([Split::by_time(dataset.labels(), times, *train_until, *val_until)]))
            }
            SplitSpec::Final => Ok(numbered([Split::all_for_training(dataset.labels())])),
        }
    }
}

fn lacking(dataset: &Dataset, what: &str, remedy: &str) -> Error {
    Error::data(format!("{} has no {what} to split by", dataset.name()), remedy)
}

fn numbered(splits: impl IntoIterator<Item = Split>) -> Vec<NumberedSplit> {
    splits.into_iter().enumerate().map(|(number, split)| NumberedSplit { number, split }).collect()
}

fn take(dataset: &Dataset, numbers: impl Iterator<Item = usize> + Clone) -> Result<Vec<NumberedSplit>> {
    let fixed = dataset.splits();
    if let Some(missing) = numbers.clone().find(|&number| number >= fixed.len()) {
        return Err(no_such_split(dataset, missing));
    }
    Ok(numbers.map(|number| NumberedSplit { number, split: fixed[number].clone() }).collect())
}

fn no_such_split(dataset: &Dataset, number: usize) -> Error {
    let remedy = match dataset.splits().len() {
        0 => format!("draw one: `{DEFAULT_RANDOM}`"),
        count => format!("choose one of 0 to {}", count - 1),
    };
    Error::data(format!("{} has no split {number}", dataset.name()), remedy)
}

impl FromStr for SplitSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::setting(
                "split",
                format!("`{text}` is not a split"),
                "give `all`, a number such as `0`, a range such as `0-2`, a list such as `0,2,5`, shares such as \
                 `random:0.6,0.2,0.2` (of every class alike) or `group:0.6,0.2,0.2` (whole groups), times such as \
                 `time:2026-01-01,2026-03-01`, or `final` (all labels to learn from)",
            )
        };
        match text.split_once(':') {
            None if text == "all" => Ok(SplitSpec::All),
            None if text == "final" => Ok(SplitSpec::Final),
            None => numbers(text).ok_or_else(wrong),
            Some(("random" | "stratified", list)) => shares(list).map(SplitSpec::Random).ok_or_else(wrong),
            Some(("group", list)) => shares(list).map(SplitSpec::Group).ok_or_else(wrong),
            Some(("time", list)) => {
                let (first, second) = list.split_once(',').ok_or_else(wrong)?;
                let time = |text: &str| times::seconds(text).or_else(|| text.trim().parse().ok());
                match (time(first), time(second)) {
                    (Some(first), Some(second)) if first <= second => Ok(SplitSpec::Time(first, second)),
                    _ => Err(wrong()),
                }
            }
            Some(_) => Err(wrong()),
        }
    }
}

/// Three shares of a whole, of which the last may be 0.
fn shares(list: &str) -> Option<[f64; 3]> {
    let shares: Vec<f64> = list.split(',').map(|share| share.trim().parse().ok()).collect::<Option<_>>()?;
    let shares: [f64; 3] = shares.try_into().ok()?;
    let good =
        shares[0] > 0.0 && shares[1] > 0.0 && shares[2] >= 0.0 && shares.iter().sum::<f64>() <= 1.0 + 1e-9;
    good.then_some(shares)
}

/// `3`, `0-2` or `0,2,5`.
fn numbers(text: &str) -> Option<SplitSpec> {
    if text.contains(',') {
        return text
            .split(',')
            .map(|number| number.trim().parse().ok())
            .collect::<Option<_>>()
            .map(SplitSpec::List);
    }
    let Some((first, last)) = text.split_once('-') else {
        return text.parse().ok().map(|number| SplitSpec::Range(number, number));
    };
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(SplitSpec::Range(first, last))
}

impl fmt::Display for SplitSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitSpec::All => write!(f, "all"),
            SplitSpec::Range(first, last) if first == last => write!(f, "{first}"),
            SplitSpec::Range(first, last) => write!(f, "{first}-{last}"),
            SplitSpec::List(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                write!(f, "{}", numbers.join(","))
            }
            SplitSpec::Random([train, val, test]) => write!(f, "random:{train},{val},{test}"),
            SplitSpec::Group([train, val, test]) => write!(f, "group:{train},{val},{test}"),
            SplitSpec::Time(first, second) => write!(f, "time:{},{}", time(*first), time(*second)),
            SplitSpec::Final => write!(f, "final"),
        }
    }
}

/// A time as people write it, where that says all of it.
fn time(seconds: f64) -> String {
    let text = times::text(seconds);
    match text.strip_suffix("T00:00:00Z") {
        Some(day) if times::seconds(day) == Some(seconds) => day.to_string(),
        _ if times::seconds(&text) == Some(seconds) => text,
        _ => seconds.to_string(),
    }
}

impl Serialize for SplitSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SplitSpec::List(numbers) => numbers.serialize(serializer),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for SplitSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a list of numbers, or a text such as \"all\", \"0-2\" or \"random:0.6,0.2,0.2\""
        )]
        enum Written {
            Numbers(Vec<usize>),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Numbers(numbers) => Ok(SplitSpec::List(numbers)),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_and_written_back() {
        for text in [
            "all",
            "7",
            "0-2",
            "0,2,5",
            "random:0.6,0.2,0.2",
            "random:0.8,0.2,0",
            "group:0.5,0.2,0.3",
            "time:2026-01-01,2026-03-01",
            "time:2026-01-01T12:30:00Z,2026-03-01",
            "time:1.5,7.25",
            "final",
        ] {
            assert_eq!(text.parse::<SplitSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "some",
            "-1",
            "2-0",
            "1-",
            "1.5",
            "random",
            "random:0.6,0.2",
            "random:0.6,0.6,0.2",
            "random:NaN,0.2,0.2",
            "random:0.5,0,0.5",
            "time:2026-03-01,2026-01-01",
            "time:soon,later",
            "weekly:1,2,3",
        ] {
            let error = text.parse::<SplitSpec>().unwrap_err().to_string();
            assert!(error.contains("random:0.6,0.2,0.2"), "{text}: {error}");
        }
    }
}
