//! The command line: arguments, and one file per subcommand.

mod data;
mod output;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use output::Global;

/// Node classifiers that keep working when somebody tampers with the graph
#[derive(Debug, Parser)]
#[command(name = "lhs", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Data(data::DataArgs),
}

/// Parses the arguments, runs the command and returns its exit code: 0 done, 1 the machine failed,
/// 2 wrong usage or bad input, 130 interrupted.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Data(args) => data::run(args, &cli.global),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
