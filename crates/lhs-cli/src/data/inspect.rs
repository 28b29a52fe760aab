//! `lhs data inspect`: a dataset at a glance.

use crate::output::Global;
use crate::reading::SourceArgs;

use lhs::error::Result;
use lhs::graph::summary::Summary;

/// Show what is in a dataset
///
/// Size, degrees, components, duplicate nodes, features, classes, splits, and how heterophilic the graph
/// is: everything worth knowing before training on it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs data inspect texas.npz
  lhs data inspect my-graph/
  lhs data inspect --edges follows.tsv --labels parties.csv
  lhs data inspect cora --json | jq .edge_homophily

With --json, one object: name, nodes, edges, directed, weighted,
degree {min, median, mean, max}, isolated_nodes, components, largest_component,
features {columns, density, sparse, empty_nodes}, classes [{name, nodes}], unlabelled,
edge_homophily, node_homophily, heterophily_histogram (ten bins over 0 to 1),
duplicates {groups, nodes, nodes_with_equal_features}, splits [{train, val, test}],
warnings.")]
pub struct InspectArgs {
    #[command(flatten)]
    source: SourceArgs,
}

/// Runs the command.
pub fn run(args: &InspectArgs, global: &Global) -> Result<()> {
    let dataset = args.source.read(global)?;
    let summary = global.busy("measuring", || Summary::of(&dataset));
    global.say(summary.to_string().trim_end());
    global.warn(&summary.warnings);
    global.document(&summary);
    Ok(())
}
