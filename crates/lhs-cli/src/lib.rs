//! The command line: arguments, and one file per subcommand.

mod attack;
mod audit;
mod bench;
mod certify;
mod clock;
mod cluster;
mod compare;
mod completions;
mod crash;
mod data;
mod demo;
mod evaluate;
mod explain;
mod export_embeddings;
mod figures;
mod interrupt;
mod judging;
mod memory_plan;
mod models;
mod output;
mod predict;
mod progress;
mod reading;
mod report;
mod selection;
mod structure;
mod train;
mod tune;

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::{Parser, Subcommand};
use output::Global;

use lhs::error::{Error, Result};

/// Node classifiers that keep working when somebody tampers with the graph
#[derive(Debug, Parser)]
#[command(name = "lhs", version, propagate_version = true)]
#[command(after_help = "Exit codes: 0 done, 1 the machine failed, 2 wrong usage or input, 130 interrupted.")]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Data(data::DataArgs),
    Train(train::TrainArgs),
    Predict(predict::PredictArgs),
    Evaluate(evaluate::EvaluateArgs),
    Explain(explain::ExplainArgs),
    ExportEmbeddings(export_embeddings::ExportEmbeddingsArgs),
    Structure(structure::StructureArgs),
    Attack(attack::AttackArgs),
    Audit(audit::AuditArgs),
    Certify(certify::CertifyArgs),
    Cluster(cluster::ClusterArgs),
    Links(cluster::LinksArgs),
    Bench(bench::BenchArgs),
    Report(report::ReportArgs),
    Compare(compare::CompareArgs),
    Tune(tune::TuneArgs),
    Models(models::ModelsArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

/// Parses the arguments, of which the first is the name of the program, runs the command and returns its exit code: 0 done,
/// 1 the machine failed, 2 wrong usage or bad input, 130 interrupted.
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    clock::remember(&args);
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to hear that the stream is gone.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match crash::guarded(|| run(&cli)) {
        None => 1,
        Some(Ok(())) => 0,
        Some(Err(error)) => complain(&error),
    }
}

fn run(cli: &Cli) -> Result<()> {
    let global = &cli.global;
    start_threads(global.num_threads()?)?;
    match &cli.command {
        Command::Demo(args) => demo::run(args, global),
        Command::Data(args) => data::run(args, global),
        Command::Train(args) => train::run(args, global),
        Command::Predict(args) => predict::run(args, global),
        Command::Evaluate(args) => evaluate::run(args, global),
        Command::Explain(args) => explain::run(args, global),
        Command::ExportEmbeddings(args) => export_embeddings::run(args, global),
        Command::Structure(args) => structure::run(args, global),
        Command::Attack(args) => attack::run(args, global),
        Command::Audit(args) => audit::run(args, global),
        Command::Certify(args) => certify::run(args, global),
        Command::Cluster(args) => cluster::run(args, global),
        Command::Links(args) => cluster::run_links(args, global),
        Command::Bench(args) => bench::run(args, global),
        Command::Report(args) => report::run(args, global),
        Command::Compare(args) => compare::run(args, global),
        Command::Tune(args) => tune::run(args, global),
        Command::Models(args) => models::run(args, global),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => completions::man(args, global),
    }
}

/// The pool for kernels outside of experiments, which bring pools of their own.
fn start_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Error::setting("--threads", error.to_string(), "try --threads 1"))
}

/// Says what went wrong and returns the exit code. A reader that closed the pipe has heard enough: that
/// is no error.
fn complain(error: &Error) -> u8 {
    match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => 0,
        error => {
            eprintln!("error: {error}");
            exit_code(error)
        }
    }
}

/// 2 when the user can mend the input, 130 when interrupted, 1 when the machine failed.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Interrupted { .. } => 130,
        error if error.can_be_mended() => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_fit_together() {
        super::Cli::command().debug_assert();
    }
}
