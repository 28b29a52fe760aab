//! How settings were found, for the comment lines above them.

use super::study::About;
use super::{Found, Trial};

/// The comment lines: the command, what it took, and what it came to.
pub fn comments(
    command: &str,
    about: &About,
    found: &Found,
    best: &Trial,
    budget_seconds: Option<u64>,
) -> Vec<String> {
    let finished = found.trials.iter().filter(|trial| trial.finished).count();
    let training: f64 = found.trials.iter().map(|trial| trial.seconds).sum();
    let budget =
        budget_seconds.map_or_else(|| "no time limit".into(), |s| format!("at most {s} s per sitting"));
    let defaults = found.trials.first().filter(|trial| trial.trial == 0 && trial.finished);
    let compared = defaults.map_or_else(String::new, |first| {
        format!(" (first trial, the defaults: {:.2} %)", first.val_accuracy())
    });
    vec![
        format!("Found by: {command}"),
        format!(
            "Trials: {} ({finished} finished, {} given up); budget: {budget}, {training:.0} s of training; seed: {}; lhs {}",
            found.trials.len(),
            found.trials.len() - finished,
            about.seed,
            about.lhs_version,
        ),
        format!(
            "Splits: {} ({}) of {}, SHA-256 of the data {}",
            about.split, about.num_splits, about.dataset, about.sha256
        ),
        format!("Mean validation accuracy: {:.2} %{compared}; trial {}", best.val_accuracy(), best.trial),
    ]
}
