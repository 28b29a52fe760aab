//! `lhs data synth`: a graph with a known truth.

use std::path::PathBuf;

use super::super::output::Global;
use super::target::Target;
use lhs::error::Result;
use lhs::graph::synth::{Compatibility, SynthConfig};
use lhs::io::tables::Untidy;

/// Make a synthetic graph
///
/// A contextual stochastic block model: balanced classes, as many edges within classes as the homophily
/// says, features that are a mean per class plus unit noise, and random 60/20/20 splits. The same --seed
/// makes the same graph.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs data synth --out toy/
  lhs data synth --out hard.npz --nodes 5000 --homophily 0.05 --signal 1 --seed 7
  lhs data synth --out fraud/ --nodes 3000 --class-shares 0.95,0.05 --homophily 0.915 --missing 0.05 --categories 2

With --json, one object: path, format, nodes, edges, directed, features, classes, splits.")]
pub struct SynthArgs {
    /// The .npz file or the folder to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = SynthConfig::default().nodes)]
    nodes: usize,
    /// Number of classes
    #[arg(long, value_name = "N", default_value_t = SynthConfig::default().classes)]
    classes: usize,
    /// Share of the nodes in each class, such as 0.95,0.05 [default: all alike]
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    class_shares: Vec<f64>,
    /// Share of the numbers that are missing, in a folder of tables
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    missing: f64,
    /// Columns of words, in a folder of tables
    #[arg(long, value_name = "N", default_value_t = 0)]
    categories: usize,
    /// Edges per node
    #[arg(long, value_name = "X", default_value_t = SynthConfig::default().mean_degree)]
    mean_degree: f64,
    /// Share of the edges that join nodes of one class, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = SynthConfig::default().homophily)]
    homophily: f64,
    /// Which classes the other edges join
    #[arg(long, value_enum, default_value_t = Pattern::Cyclic)]
    compatibility: Pattern,
    /// Number of feature columns
    #[arg(long, value_name = "N", default_value_t = SynthConfig::default().features)]
    features: usize,
    /// Distance of the class means in the features, in units of the noise
    #[arg(long, value_name = "X", default_value_t = SynthConfig::default().signal)]
    signal: f64,
    /// Number of random splits
    #[arg(long, value_name = "N", default_value_t = SynthConfig::default().splits)]
    num_splits: usize,
    /// Overwrite what is there
    #[arg(long)]
    force: bool,
}

/// [`Compatibility`] for the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Pattern {
    /// Mostly the next class, so that neighbours tell a node's class without sharing it
    Cyclic,
    /// Any other class
    Uniform,
    /// Classes are made of roles, and edges lead to a partner role: whom a node knows tells its class, not of what class they are
    Roles,
}

/// Runs the command.
pub fn run(args: &SynthArgs, global: &Global) -> Result<()> {
    let target = Target::new(&args.out, None, args.force)?;
    // The shares say how many classes there are.
    let classes = if args.class_shares.is_empty() { args.classes } else { args.class_shares.len() };
    let config = SynthConfig {
        nodes: args.nodes,
        classes,
        class_shares: args.class_shares.clone(),
        mean_degree: args.mean_degree,
        homophily: args.homophily,
        compatibility: match args.compatibility {
            Pattern::Cyclic => Compatibility::Cyclic,
            Pattern::Uniform => Compatibility::Uniform,
            Pattern::Roles => Compatibility::Roles,
        },
        features: args.features,
        signal: args.signal,
        splits: args.num_splits,
    };
    let untidy = Untidy { missing: args.missing, words: args.categories };
    untidy.validate()?;
    let dataset = config.generate(global.seed)?;
    global.warn(dataset.warnings());
    if untidy == Untidy::default() {
        target.write(&dataset, global)
    } else {
        target.write_untidy(&dataset, untidy, global)
    }
}
