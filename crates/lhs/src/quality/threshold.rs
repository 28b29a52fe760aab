//! From which probability on a node is taken for positive, where there are two classes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::ranking::Scored;
use crate::error::Error;

/// How the threshold comes about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "toml::Value", into = "toml::Value")]
pub enum Threshold {
    /// The likelier class wins: 0.5.
    Half,
    /// Chosen at the validation nodes.
    Auto,
    /// Given, 0..=1.
    At(f64),
}

impl Threshold {
    /// What is done where nobody said: the likelier class wins, unless something else than accuracy counts.
    pub fn usual(metric: Option<Metric>) -> Self {
        match metric {
            None | Some(Metric::Accuracy) => Threshold::Half,
            Some(_) => Threshold::Auto,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Half => f.pad("0.5"),
            Threshold::Auto => f.pad("auto"),
            Threshold::At(value) => write!(f, "{value}"),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text, text.parse::<f64>()) {
            ("auto", _) => Ok(Threshold::Auto),
            (_, Ok(0.5)) => Ok(Threshold::Half),
            (_, Ok(value)) if (0.0..=1.0).contains(&value) => Ok(Threshold::At(value)),
            _ => Err(Error::setting(
                "threshold",
                format!("`{text}` is no probability"),
                "give auto, or a number from 0 to 1",
            )),
        }
    }
}

impl TryFrom<toml::Value> for Threshold {
    type Error = Error;

    fn try_from(value: toml::Value) -> Result<Self, Error> {
        match value {
            toml::Value::String(text) => text.parse(),
            other => other.to_string().parse(),
        }
    }
}

impl From<Threshold> for toml::Value {
    fn from(threshold: Threshold) -> Self {
        match threshold {
            Threshold::Auto => "auto".into(),
            Threshold::Half => 0.5.into(),
            Threshold::At(value) => value.into(),
        }
    }
}

/// Whether a probability of the positive class is enough.
pub fn is_positive(probability: f32, threshold: f64) -> bool {
    f64::from(probability) >= threshold
}

/// The threshold under which validation nodes come out best: by balanced accuracy if that is what counts, else by the F1 of
/// the positive class; of equals, the nearest to 0.5. `None` unless there are positives and negatives.
pub fn choose(scored: &[Scored], metric: Metric) -> Option<f64> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = sorted.iter().filter(|(_, positive)| *positive).count();
    let negatives = sorted.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let worth = |right: usize, wrong: usize| match metric {
        // The sum of the two recalls times what both are shares of: whole numbers, so that equals are equal.
        Metric::BalancedAccuracy => (right * negatives + (negatives - wrong) * positives) as f64,
        _ => 2.0 * right as f64 / (right + wrong + positives) as f64,
    };
    // Nobody is taken for positive, to begin with.
    let mut best = (worth(0, 0), between(sorted[0].0, f32::INFINITY));
    let (mut right, mut wrong) = (0, 0);
    let steps: Vec<&[Scored]> = sorted.chunk_by(|a, b| a.0 == b.0).collect();
    for (place, tied) in steps.iter().enumerate() {
        right += tied.iter().filter(|(_, positive)| *positive).count();
        wrong = tied.len() + wrong - tied.iter().filter(|(_, positive)| *positive).count();
        let below = steps.get(place + 1).map_or(f32::NEG_INFINITY, |next| next[0].0);
        let (value, threshold) = (worth(right, wrong), between(below, tied[0].0));
        let nearer = (threshold - 0.5).abs() < (best.1 - 0.5).abs();
        if value > best.0 || (value == best.0 && nearer) {
            best = (value, threshold);
        }
    }
    Some(best.1)
}

/// A threshold above `low` and at most `high`: 0.5 if it is, else in the middle.
fn between(low: f32, high: f32) -> f64 {
    let (low, high) = (f64::from(low), f64::from(high));
    if low < 0.5 && 0.5 <= high {
        return 0.5;
    }
    // At the ends, half way to certainty; above 1 there is nobody.
    let (low, high) = (low.max(0.0), if high.is_finite() { high } else { low.max(1.0).next_up() });
    let middle = low + (high - low) / 2.0;
    if middle > low { middle } else { high }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_best_place_between_two_scores_is_found() {
        // All of 0.3 and above: F1 = 2·2/(2+1+2) = 0.8, against 2/3 of the first alone.
        let scored = [(0.8, true), (0.4, false), (0.3, true), (0.1, false), (0.1, false)];
        let found = choose(&scored, Metric::AveragePrecision).unwrap();
        assert!((found - 0.2).abs() < 1e-6, "half way between 0.1 and 0.3: {found}");
        // Where 0.5 is as good as any, it is taken.
        assert_eq!(choose(&[(0.9, true), (0.2, false)], Metric::MacroF1), Some(0.5));
        assert_eq!(choose(&[(0.9, true)], Metric::MacroF1), None);
        assert_eq!(choose(&[(0.9, false)], Metric::MacroF1), None);
    }

    #[test]
    fn words_and_numbers_are_read() {
        assert_eq!("auto".parse::<Threshold>().unwrap(), Threshold::Auto);
        assert_eq!("0.50".parse::<Threshold>().unwrap(), Threshold::Half);
        assert_eq!("0.2".parse::<Threshold>().unwrap(), Threshold::At(0.2));
        assert!(["2", "-0.1", "nan", "often"].iter().all(|text| text.parse::<Threshold>().is_err()));
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Held {
            threshold: Threshold,
        }
        for threshold in [Threshold::Half, Threshold::Auto, Threshold::At(0.25)] {
            let held = Held { threshold };
            assert_eq!(toml::from_str::<Held>(&toml::to_string(&held).unwrap()).unwrap(), held);
            assert_eq!(serde_json::from_str::<Held>(&serde_json::to_string(&held).unwrap()).unwrap(), held);
        }
        assert_eq!(toml::from_str::<Held>("threshold = 1").unwrap().threshold, Threshold::At(1.0));
    }

    fn worth(scored: &[Scored], metric: Metric, threshold: f64) -> f64 {
        let taken = |s: &&Scored| is_positive(s.0, threshold);
        let right = scored.iter().filter(taken).filter(|s| s.1).count() as f64;
        let wrong = scored.iter().filter(taken).filter(|s| !s.1).count() as f64;
        let positives = scored.iter().filter(|s| s.1).count() as f64;
        let negatives = scored.len() as f64 - positives;
        match metric {
            Metric::BalancedAccuracy => right * negatives + (negatives - wrong) * positives,
            _ => 2.0 * right / (right + wrong + positives),
        }
    }

    proptest! {
        #[test]
        fn no_other_threshold_is_better(
            scored in prop::collection::vec((0u8..=10, any::<bool>()), 2..30),
            balanced in any::<bool>(),
        ) {
            let scored: Vec<Scored> = scored.into_iter().map(|(s, p)| (f32::from(s) / 10.0, p)).collect();
            let metric = if balanced { Metric::BalancedAccuracy } else { Metric::RocAuc };
            if let Some(found) = choose(&scored, metric) {
                let best = worth(&scored, metric, found);
                for step in 0..=210 {
                    let other = f64::from(step) / 200.0 - 0.02;
                    prop_assert!(worth(&scored, metric, other) <= best + 1e-12, "{other} beats {found}");
                }
                if worth(&scored, metric, 0.5) >= best {
                    prop_assert_eq!(found, 0.5);
                }
            }
        }
    }
}
