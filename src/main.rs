//! The command-line tool; see [`lhs::cli`].

fn main() -> std::process::ExitCode {
    lhs::cli::main()
}
