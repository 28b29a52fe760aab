//! What a command says, and where: results on stdout, everything else on stderr.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use lhs::error::{Error, Result};
use lhs::io::LoadOptions;
use lhs::io::tables::RepeatedEdges;

/// More threads than any machine has cores for is a slip of the finger.
const MOST_THREADS: usize = 1024;

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
    /// What models decided in all detail, not in a few sentences
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// One JSON document on stdout instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Whether the first row of tables names the columns [default: decided by comparing it with the rest]
    #[arg(long, global = true, value_enum, value_name = "YES|NO")]
    pub header: Option<YesNo>,
    /// What becomes of the weights of edges that a table repeats [default: sum]
    #[arg(long, global = true, value_enum, value_name = "HOW")]
    pub repeated_edges: Option<Repeated>,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum YesNo {
    /// The first row names the columns
    Yes,
    /// The first row is data
    No,
}

/// What becomes of the weights of repeated edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Repeated {
    /// They are added
    Sum,
    /// Their mean counts
    Mean,
    /// The largest counts
    Max,
    /// The first counts
    First,
}

impl Global {
    /// How data is read.
    pub fn load_options(&self, directed: bool) -> LoadOptions {
        LoadOptions {
            directed,
            header: self.header.map(|answer| answer == YesNo::Yes),
            repeated_edges: match self.repeated_edges {
                None | Some(Repeated::Sum) => RepeatedEdges::Sum,
                Some(Repeated::Mean) => RepeatedEdges::Mean,
                Some(Repeated::Max) => RepeatedEdges::Max,
                Some(Repeated::First) => RepeatedEdges::First,
            },
            ..LoadOptions::default()
        }
    }

    /// How many threads to use.
    pub fn num_threads(&self) -> Result<usize> {
        match self.threads {
            None => Ok(std::thread::available_parallelism().map_or(1, NonZero::get)),
            Some(threads @ 1..=MOST_THREADS) => Ok(threads),
            Some(threads) => Err(Error::setting(
                "--threads",
                format!("{threads} is out of range"),
                format!("give a number from 1 to {MOST_THREADS}; without it all cores are used"),
            )),
        }
    }

    /// What a model says of itself: a few sentences, or everything under `--verbose`.
    pub fn remarks<'a>(&self, summary: &'a [String], details: &'a [String]) -> &'a [String] {
        if self.verbose || summary.is_empty() { details } else { summary }
    }

    /// A line of the result, for people; silent under `--json`.
    pub fn say(&self, text: impl std::fmt::Display) {
        if !self.json {
            print_or_leave(&format!("{text}\n"));
        }
    }

    /// The result, for programs; silent without `--json`.
    pub fn document(&self, value: &impl Serialize) {
        if self.json {
            print_or_leave(&format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default()));
        }
    }

    /// A remark that is not part of the result.
    pub fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            // Nobody is left to hear that stderr is gone.
            let _ = writeln!(io::stderr(), "{text}");
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

    /// Does some work of unknown length, with a sign of life on a terminal.
    pub fn busy<R>(&self, what: &str, work: impl FnOnce() -> R) -> R {
        let target = if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let spinner =
            ProgressBar::with_draw_target(None, target).with_style(style).with_prefix(what.to_string());
        spinner.enable_steady_tick(Duration::from_millis(200));
        let result = work();
        spinner.finish_and_clear();
        result
    }
}

/// `1 split`, `2 splits`.
pub fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Writes to stdout. A reader that has heard enough (`lhs models | head -1`) ends the program quietly, as
/// it does other tools; any other failure, such as a full disk, is an error.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(Error::io("write", Path::new("stdout")))
}

fn print_or_leave(text: &str) {
    if let Err(error) = print(text) {
        std::process::exit(i32::from(super::complain(&error)));
    }
}
