//! `lhs attack`: a dataset with an attacked graph, written for whoever wants to train or predict on it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::Table;

use super::data::target::Target;
use super::output::Global;
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{attack_settings, load};
use lhs::attacks::{self, AttackContext, Record};
use lhs::error::{Error, Result};
use lhs::experiment::settings::leaves;
use lhs::experiment::{Run, attack_seed};
use lhs::graph::{Dataset, Split};
use lhs::models::{NodeClassifier, Registry};

/// Attack a dataset and write what is left of it
///
/// Labels stay as they are, and splits too, unless the attack chooses among the test nodes. The test nodes of the
/// split are what is attacked; their labels may be used.
#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
pub struct AttackArgs {
    /// The attack
    name: String,
    /// An .npz file, a folder, or the name of a fetched graph
    data: PathBuf,
    /// How strong it is; 0 changes nothing [default: the attack's]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Another setting of the attack, such as keep=0.5; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A run whose model of the split is attacked, by attacks that ask their victim [default: a stand-in, trained with its defaults]
    #[arg(long, value_name = "RUN")]
    victim: Option<PathBuf>,
    /// Keep the direction of the edges
    #[arg(long)]
    directed: bool,
    /// The split whose test nodes are attacked
    #[arg(long, value_name = "K", default_value_t = 0)]
    split: usize,
    /// The .npz file or the folder to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Overwrite what is there
    #[arg(long)]
    force: bool,
}

/// The document for scripts: what was written, what changed, and what led to it.
#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    dataset: &'a str,
    attack: &'a str,
    settings: &'a Table,
    split: usize,
    seed: u64,
    edges_before: usize,
    edges_after: usize,
    #[serde(flatten)]
    record: &'a Record,
    added: &'a [(u32, u32)],
    removed: &'a [(u32, u32)],
}

/// Runs the command.
pub fn run(args: &AttackArgs, global: &Global) -> Result<()> {
    let kind = attacks::kind(&args.name)?;
    let mut settings = attack_settings(kind, &args.set)?;
    if let Some(rate) = args.rate {
        settings.insert("rate".into(), rate.into());
    }
    let attack = (kind.build)(&settings)?;
    if !attack.parts().is_empty() {
        return Err(Error::setting(
            "attack",
            format!(
                "`{}` takes the worst of several attacks for each node, which no single graph can hold",
                kind.name
            ),
            format!("score a model under it: `lhs evaluate RUN --attack {}`", kind.name),
        ));
    }
    let target = Target::new(&args.out, None, args.force)?;
    let dataset = load(&args.data, args.directed, global)?.remembering_origin();
    let split = split_of(&dataset, args.split).map_err(|error| error.in_file(&args.data))?;
    let seed = attack_seed(global.seed, args.split);
    let progress = Progress::new(global, Counts::Steps, 0, kind.name);
    let victim = args.victim.as_deref().map(|run| victim(run, &dataset, args.split)).transpose()?;
    let context = AttackContext {
        victim: victim.as_deref(),
        observer: &progress,
        ..AttackContext::new(&dataset, split)
    };
    let attacked = attack.perturb(&context, seed);
    progress.done();
    let nothing = || "nothing was kept; the same command begins again".to_string();
    let attacked = attacked.map_err(|error| how_to_go_on(error, nothing).in_file(&args.data))?;
    let name = dataset.name().to_string();
    let document = Document {
        path: &args.out,
        dataset: &name,
        attack: kind.name,
        settings: &settings,
        split: args.split,
        seed: global.seed,
        edges_before: dataset.graph().num_edges(),
        edges_after: attacked.dataset.graph().num_edges(),
        added: &attacked.added,
        removed: &attacked.removed,
        record: &attacked.record,
    };
    let mut splits = dataset.splits().to_vec();
    splits[args.split] = attacked.split.clone();
    target.save(&attacked.dataset.clone().with_splits(splits)?)?;
    say(&document, attack.rate(), global);
    global.document(&document);
    Ok(())
}

/// The model of a run that was trained on a split of this very data.
fn victim(folder: &Path, dataset: &Dataset, split: usize) -> Result<Box<dyn NodeClassifier>> {
    let run = Run::open(folder)?;
    run.split(dataset, split)?;
    run.model(&Registry::default(), split)
}

/// A split that came with the data: a written file must have it too.
pub(super) fn split_of(dataset: &Dataset, number: usize) -> Result<&Split> {
    dataset.check_trainable()?;
    dataset.splits().get(number).ok_or_else(|| match dataset.splits().len() {
        0 => Error::data(
            "the data comes without splits, and the test nodes must be known",
            "give it some: `lhs data convert DATA --to NEW --splits random:0.6,0.2,0.2`",
        ),
        count => {
            Error::data(format!("there is no split {number}"), format!("choose one of 0 to {}", count - 1))
        }
    })
}

fn say(document: &Document<'_>, rate: f64, global: &Global) {
    let record = document.record;
    let heterophily = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |h| format!("{h:.3}"));
    global.say(format_args!(
        "{} on {}, split {}, rate {rate}, seed {}",
        document.attack, document.dataset, document.split, document.seed
    ));
    global.say(format_args!(
        "edges   {} -> {}: {} added, {} removed, {} allowed",
        document.edges_before, document.edges_after, record.edges_added, record.edges_removed, record.budget
    ));
    if record.feature_rows_changed > 0 {
        global.say(format_args!("features of {} nodes changed", record.feature_rows_changed));
    }
    global.say(format_args!(
        "mean H  {} -> {} at the {} test nodes",
        heterophily(record.heterophily_before),
        heterophily(record.heterophily_after),
        record.test_nodes
    ));
    global.say(format_args!("wrote {} after {:.1} s", document.path.display(), record.seconds));
}

/// The end of the help, with the attacks that there are.
fn examples() -> String {
    let mut text = "Attacks, with their settings:\n".to_string();
    for kind in attacks::kinds() {
        let settings = (kind.defaults)();
        let settings: Vec<String> =
            leaves(&settings).into_iter().map(|(key, default)| format!("{key} = {default}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<12} {}\n  {:<12} {}", kind.name, kind.summary, "", settings.join(", "));
    }
    text + "
Examples:
  lhs attack injected cora --out cora-attacked.npz
  lhs attack injected cora --rate 2 --set keep=0.5 --split 3 --seed 7 --out worse.npz

With --json, one object: path, dataset, attack, settings, split, seed, edges_before, edges_after,
edges_added, edges_removed, feature_rows_changed, test_nodes, budget, heterophily_before,
heterophily_after, seconds; added and removed list the edges as pairs of node numbers."
}
