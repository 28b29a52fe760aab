//! `lhs data`: convert, inspect, fetch and make datasets.

use super::output::Global;
use crate::error::Result;

/// Work with datasets
#[derive(Debug, clap::Args)]
pub struct DataArgs {}

/// Runs the command.
pub fn run(_args: &DataArgs, _global: &Global) -> Result<()> {
    Ok(())
}
