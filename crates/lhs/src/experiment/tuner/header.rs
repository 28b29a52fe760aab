//! How settings were found, for the comment lines above them.

use super::{Found, Trial, Tuner};

/// The comment lines: the command, what it took, and what it came to.
pub fn comments(command: &str, tuner: &Tuner<'_>, split: &str, found: &Found, best: &Trial) -> Vec<String> {
    let finished = found.trials.iter().filter(|trial| trial.finished).count();
    let training: f64 = found.trials.iter().chain(&found.cut_off).map(|trial| trial.seconds).sum();
    let budget = tuner.budget.map_or_else(
        || "no time limit".into(),
        |budget| format!("at most {} s per sitting", budget.as_secs()),
    );
    let count = best.values.len();
    let part = if best.finished {
        String::new()
    } else {
        format!(" on {count} of {} splits, when time was up", tuner.splits.len())
    };
    let defaults = found.trials.first().filter(|trial| trial.trial == 0);
    let compared = defaults
        .and_then(|first| first.value_on(count))
        .map_or_else(String::new, |mean| format!(" (first trial, the defaults: {mean:.2} %)"));
    vec![
        format!("Found by: {command}"),
        format!(
            "Trials: {} ({finished} finished, {} given up, {} cut off); budget: {budget}, {training:.0} s of training; seed: {}; lhs {}",
            found.trials.len() + found.cut_off.len(),
            found.trials.len() - finished,
            found.cut_off.len(),
            tuner.seed,
            env!("CARGO_PKG_VERSION"),
        ),
        format!(
            "Splits: {} ({}) of {}, SHA-256 of the data {}",
            split,
            tuner.splits.len(),
            tuner.data.record.name,
            tuner.data.record.sha256
        ),
        format!(
            "Mean validation {}: {:.2} %{part}{compared}; trial {}",
            tuner.metric,
            best.value(),
            best.trial
        ),
    ]
}
