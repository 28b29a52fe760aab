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
    let training: f64 = found.trials.iter().chain(&found.cut_off).map(|trial| trial.seconds).sum();
    let budget =
        budget_seconds.map_or_else(|| "no time limit".into(), |s| format!("at most {s} s per sitting"));
    let count = best.val_accuracies.len();
    let part = if best.finished {
        String::new()
    } else {
        format!(" on {count} of {} splits, when time was up", about.num_splits)
    };
    let defaults = found.trials.first().filter(|trial| trial.trial == 0);
    let compared = defaults
        .and_then(|first| first.val_accuracy_on(count))
        .map_or_else(String::new, |mean| format!(" (first trial, the defaults: {mean:.2} %)"));
    vec![
        format!("Found by: {command}"),
        format!(
            "Trials: {} ({finished} finished, {} given up, {} cut off); budget: {budget}, {training:.0} s of training; seed: {}; lhs {}",
            found.trials.len() + found.cut_off.len(),
            found.trials.len() - finished,
            found.cut_off.len(),
            about.seed,
            about.lhs_version,
        ),
        format!(
            "Splits: {} ({}) of {}, SHA-256 of the data {}",
            about.split, about.num_splits, about.dataset, about.sha256
        ),
        format!(
            "Mean validation accuracy: {:.2} %{part}{compared}; trial {}",
            best.val_accuracy(),
            best.trial
        ),
    ]
}
