//! `lhs completions` and `lhs man`: what a shell and a reader of manuals want to know of the arguments.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

use super::output::{Global, print};
use lhs::error::{Error, Result};

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write one per command
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// The folder to write lhs.1, lhs-train.1, … to [default: lhs.1 on stdout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `lhs completions`.
pub fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "lhs", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Runs `lhs man`.
pub fn man(args: &ManArgs, global: &Global) -> Result<()> {
    let command = super::Cli::command();
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(Error::io("write", "stdout"))?;
        return print(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    clap_mangen::generate_to(command, folder).map_err(Error::io("write", folder))?;
    global.say(format_args!("manual pages in {}", folder.display()));
    global.document(&serde_json::json!({ "out": folder }));
    Ok(())
}
