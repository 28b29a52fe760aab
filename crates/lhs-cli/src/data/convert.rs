//! `lhs data convert`: a dataset in another format, whole or in part.

use std::path::PathBuf;
use std::str::FromStr;

use crate::output::Global;
use crate::reading::SourceArgs;

use super::target::{Format, Target};
use lhs::error::{Error, Result};
use lhs::graph::components::Components;
use lhs::graph::{Dataset, Split};

/// Write a dataset in another format
///
/// On the way it can be reduced to its largest connected component and given new random splits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs data convert cora --to cora-tables/
  lhs data convert my-graph/ --to my-graph.npz --splits random:0.6,0.2,0.2
  lhs data convert cora --to lcc/ --largest-component --splits random:0.1,0.1,0.8

With --json, one object: path, format, nodes, edges, directed, features, classes, splits.")]
pub struct ConvertArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The file or folder to write
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    /// [default: npz for a path that ends in .npz, otherwise tables]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Keep the largest connected component only; fixed splits lose the other nodes
    #[arg(long)]
    largest_component: bool,
    /// Replace the splits by random ones with these shares of every class: random:TRAIN,VAL,TEST
    #[arg(long, value_name = "SHARES")]
    splits: Option<RandomShares>,
    /// How many random splits
    #[arg(long, value_name = "N", default_value_t = 10, requires = "splits")]
    num_splits: u64,
    /// Overwrite what is there
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(args: &ConvertArgs, global: &Global) -> Result<()> {
    let target = Target::new(&args.to, args.format, args.force)?;
    let mut dataset = args.source.load(global)?.remembering_origin();
    if args.splits.is_some() {
        dataset = dataset.with_splits(Vec::new())?;
    }
    if args.largest_component {
        dataset = largest_component(&dataset)?;
    }
    if let Some(shares) = &args.splits {
        let splits = shares.draw(&dataset, args.num_splits, global.seed)?;
        dataset = dataset.with_splits(splits)?;
    }
    target.write(&dataset, global)
}

fn largest_component(dataset: &Dataset) -> Result<Dataset> {
    let nodes = Components::of(dataset.graph()).largest();
    let kept = |part: &[u32]| part.iter().any(|node| nodes.binary_search(node).is_ok());
    for (number, split) in dataset.splits().iter().enumerate() {
        if let Some((part, _)) = split.parts().into_iter().find(|(_, part)| !kept(part)) {
            return Err(Error::data(
                format!("the largest component leaves the {part} part of split {number} empty"),
                "make new splits with --splits random:0.6,0.2,0.2",
            ));
        }
    }
    dataset.subset(&nodes)
}

/// The shares of a random split.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RandomShares {
    train: f64,
    val: f64,
    test: f64,
}

impl RandomShares {
    fn draw(&self, dataset: &Dataset, number: u64, seed: u64) -> Result<Vec<Split>> {
        let one = |k| Split::random(dataset.labels(), self.train, self.val, self.test, seed.wrapping_add(k));
        (0..number).map(one).collect()
    }
}

impl FromStr for RandomShares {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let shares =
            text.strip_prefix("random:").map(|list| list.split(',').map(|share| share.trim().parse()));
        match shares.map(Iterator::collect::<std::result::Result<Vec<f64>, _>>) {
            Some(Ok(shares)) if shares.len() == 3 => {
                Ok(RandomShares { train: shares[0], val: shares[1], test: shares[2] })
            }
            _ => Err("write three shares like random:0.6,0.2,0.2".to_string()),
        }
    }
}
