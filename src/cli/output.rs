//! What a command says, and where: results on stdout, everything else on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Flags that every command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Global {
    /// Seed of everything random; the same seed gives the same bits
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<usize>,
    /// No progress bars, no warnings
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// One JSON document on stdout instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

impl Global {
    /// A line of the result, for people; silent under `--json`.
    pub fn say(&self, text: impl std::fmt::Display) {
        if !self.json {
            println!("{text}");
        }
    }

    /// The result, for programs; silent without `--json`.
    pub fn document(&self, value: &impl Serialize) {
        if self.json {
            println!("{}", serde_json::to_string_pretty(value).unwrap_or_default());
        }
    }

    /// A remark that is not part of the result.
    pub fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// Warnings, such as those of a dataset.
    pub fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            self.note(format_args!("warning: {warning}"));
        }
    }

    /// A progress bar on stderr that draws only on a terminal, and only after a moment.
    pub fn progress(&self, steps: u64, what: &str) -> ProgressBar {
        let target = if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::with_draw_target(Some(steps), target).with_style(style).with_prefix(what.to_string())
    }
}
