//! `lhs data`: inspect, convert, make and fetch datasets.

mod convert;
mod fetch;
mod inspect;
mod synth;
pub(super) mod target;

use clap::Subcommand;

use super::output::Global;
use lhs::error::Result;

/// Look at datasets, convert them, make synthetic ones, fetch public ones
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::InspectArgs),
    Convert(convert::ConvertArgs),
    Synth(synth::SynthArgs),
    Fetch(fetch::FetchArgs),
}

/// Runs the command.
pub fn run(args: &DataArgs, global: &Global) -> Result<()> {
    match &args.command {
        Command::Inspect(args) => inspect::run(args, global),
        Command::Convert(args) => convert::run(args, global),
        Command::Synth(args) => synth::run(args, global),
        Command::Fetch(args) => fetch::run(args, global),
    }
}
