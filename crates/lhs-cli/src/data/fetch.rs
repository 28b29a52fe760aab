//! `lhs data fetch`: public graphs over the network.

use std::path::PathBuf;

use indicatif::ProgressBar;

use super::super::output::Global;
use lhs::error::{Error, Result};
use lhs::io::cache::cache_folder;
use lhs::io::fetch::{Fetched, Fetcher, NAMES, Progress};

/// Fetch public graphs
///
/// Every file is checked against a known SHA-256. A download that breaks off goes on where it stopped.
/// Graphs in the cache folder can then be used by their bare names, as in `lhs data inspect texas`.
///
/// Graphs: texas, cornell, wisconsin, chameleon, squirrel, actor, cora, citeseer, pubmed,
/// chameleon_filtered, squirrel_filtered, minesweeper, tolokers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs data fetch texas chameleon
  lhs data fetch all --base-url https://mirror.example/graphs

The cache folder is $LHS_CACHE, or lhs in the platform's cache folder (~/.cache on Linux).

With --json, a list of objects: name, path, downloaded (bytes; 0 if already there).")]
pub struct FetchArgs {
    /// Names of graphs, or all
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Folder to keep them in [default: the cache folder]
    #[arg(long, value_name = "DIR")]
    dest: Option<PathBuf>,
    /// A mirror to ask instead of the files' homes: the folder that holds texas.npz and raw/ [env: LHS_MIRROR]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
}

/// Runs the command.
pub fn run(args: &FetchArgs, global: &Global) -> Result<()> {
    let dest = args.dest.clone().or_else(cache_folder).ok_or_else(|| {
        Error::data("no cache folder: neither LHS_CACHE nor HOME is set", "say where to with --dest")
    })?;
    let mirror = args.base_url.clone().or_else(|| std::env::var("LHS_MIRROR").ok());
    let fetcher = Fetcher { mirror: mirror.filter(|url| !url.is_empty()), ..Fetcher::new(dest) };
    let names: Vec<&str> = match args.names.iter().any(|name| name == "all") {
        true => NAMES.to_vec(),
        false => args.names.iter().map(String::as_str).collect(),
    };
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let mut bars = Bars { global, current: None };
        let fetched = fetcher.fetch(name, &mut |progress| bars.show(progress))?;
        bars.clear();
        global.say(told(&fetched));
        all.push(fetched);
    }
    global.document(&all);
    Ok(())
}

fn told(fetched: &Fetched) -> String {
    let how = match fetched.downloaded {
        0 => "already there".to_string(),
        bytes => format!("{bytes} bytes fetched"),
    };
    format!("{}: {} ({how})", fetched.name, fetched.path.display())
}

/// A bar for the file that is being downloaded.
struct Bars<'a> {
    global: &'a Global,
    current: Option<(String, ProgressBar)>,
}

impl Bars<'_> {
    fn show(&mut self, progress: Progress) {
        if self.current.as_ref().is_none_or(|(file, _)| file != progress.file) {
            self.clear();
            let bar = self.global.progress(progress.total, progress.file);
            self.current = Some((progress.file.to_string(), bar));
        }
        if let Some((_, bar)) = &self.current {
            bar.set_position(progress.done);
        }
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.current.take() {
            bar.finish_and_clear();
        }
    }
}
