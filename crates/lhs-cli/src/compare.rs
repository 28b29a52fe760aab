//! `lhs compare`: training runs side by side.

use std::path::PathBuf;

use clap::ValueEnum;

use super::output::{self, Global};
use lhs::error::Result;
use lhs::experiment::Run;
use lhs::report::compare::Comparison;

/// Hold training runs against each other
///
/// One row per run: scores as mean ± standard deviation over its splits, seconds to train on one, memory, and the
/// settings in which runs of one model differ. Every run is then held against the first, over the splits that both were
/// trained on; from six such pairs on with a paired permutation test.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs compare runs/cora-gcn runs/cora-lhs
  lhs compare runs/cora-* --format markdown
  lhs compare runs/cora-gcn runs/cora-lhs --json

With --json, one object: runs, differences (each run against the first: splits, points, p_value), notes.")]
pub struct CompareArgs {
    /// Run folders that `lhs train` made; the first is what the others are held against
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// How the table is printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

/// How a table can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned, for a terminal
    Text,
    /// Markdown
    Markdown,
    /// LaTeX
    Latex,
    /// CSV
    Csv,
}

/// Runs the command.
pub fn run(args: &CompareArgs, global: &Global) -> Result<()> {
    let runs = args.runs.iter().map(|folder| Run::open(folder)).collect::<Result<Vec<Run>>>()?;
    let comparison = Comparison::new(&runs)?;
    print(&comparison, args.format, global)?;
    global.document(&comparison);
    Ok(())
}

/// The table, and below it, where people read, what the differences are worth.
pub fn print(comparison: &Comparison, format: TableFormat, global: &Global) -> Result<()> {
    comparison.notes.iter().for_each(|note| global.note(format_args!("warning: {note}")));
    if global.json {
        return Ok(());
    }
    let table = comparison.table();
    let text = match format {
        TableFormat::Text => table.plain(),
        TableFormat::Markdown => table.markdown(),
        TableFormat::Latex => table.latex(),
        TableFormat::Csv => table.csv(),
    };
    output::print(&text)?;
    if format == TableFormat::Text {
        comparison.differences.iter().for_each(|difference| global.say(difference));
    }
    Ok(())
}
