//! The figures that can be chosen to judge by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, nearest};

/// What models are judged by; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Share of the nodes that are right.
    Accuracy,
    /// Mean over the classes of the share that is right.
    BalancedAccuracy,
    /// Mean of the classes' F1 scores.
    MacroF1,
    /// How often a node of the positive class ranks before another.
    RocAuc,
    /// Precision along the ranking, weighted by the recall that it adds.
    AveragePrecision,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 5] = [
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::MacroF1,
        Metric::RocAuc,
        Metric::AveragePrecision,
    ];

    /// What is shown first where nobody chose: ROC AUC of two classes, as the field reports it, else accuracy.
    pub fn usual(num_classes: usize) -> Self {
        if num_classes == 2 { Metric::RocAuc } else { Metric::Accuracy }
    }

    /// The word for it in settings.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced_accuracy",
            Metric::MacroF1 => "macro_f1",
            Metric::RocAuc => "roc_auc",
            Metric::AveragePrecision => "average_precision",
        }
    }
}

/// As a heading says it.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced accuracy",
            Metric::MacroF1 => "macro F1",
            Metric::RocAuc => "ROC AUC",
            Metric::AveragePrecision => "average precision",
        })
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wanted = text.to_lowercase().replace(['-', ' '], "_");
        Metric::ALL.into_iter().find(|metric| metric.name() == wanted).ok_or_else(|| {
            let names = Metric::ALL.map(Metric::name);
            Error::setting("metric", format!("there is no metric `{text}`"), nearest(&wanted, &names))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse::<Metric>().unwrap(), metric);
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), metric);
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
        let problem = "roc_acu".parse::<Metric>().unwrap_err().to_string();
        assert!(problem.contains("did you mean `roc_auc`?"), "{problem}");
    }
}
