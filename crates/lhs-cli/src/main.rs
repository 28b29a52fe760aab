//! The program `lhs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lhs_cli::main_with(std::env::args_os()))
}
