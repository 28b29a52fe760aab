//! `lhs demo`: the main job on a graph made on the spot; no files, no downloads.

use serde::Serialize;

use super::interrupt;
use super::output::Global;
use crate::error::Result;
use crate::eval::experiment::{Experiment, Outcome};
use crate::eval::splits::SplitSpec;
use crate::graph::heterophily::edge_homophily;
use crate::graph::synth::SynthConfig;
use crate::models;

/// The models that are shown, in this order.
const SHOWN: [&str; 2] = ["mlp", "gcn"];
/// How many of the made-up splits are trained on.
const SPLITS: usize = 3;

/// See it work: makes a heterophilic graph, trains on it and says what happened; needs no files
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Number of nodes of the graph
    #[arg(long, default_value_t = SynthConfig::default().nodes, value_name = "N")]
    nodes: usize,
    /// Share of the edges that join two nodes of one class
    #[arg(long, default_value_t = SynthConfig::default().homophily, value_name = "SHARE")]
    homophily: f64,
}

/// What the demo found.
#[derive(Serialize)]
struct Document {
    nodes: usize,
    edges: usize,
    classes: usize,
    edge_homophily: Option<f32>,
    models: Vec<Outcome>,
}

/// Runs the command.
pub fn run(args: &DemoArgs, global: &Global) -> Result<()> {
    let config = SynthConfig {
        nodes: args.nodes,
        homophily: args.homophily,
        splits: SPLITS,
        ..SynthConfig::default()
    };
    let dataset = config.generate(global.seed)?;
    let homophily = edge_homophily(dataset.graph(), dataset.labels());
    global.say(format_args!(
        "A made-up graph: {} nodes, {} edges, {} classes; {:.0} % of the edges join nodes of one class.",
        dataset.num_nodes(),
        dataset.graph().num_edges(),
        dataset.num_classes(),
        100.0 * homophily.unwrap_or(0.0)
    ));
    let splits = SplitSpec::All.resolve(&dataset, SPLITS, global.seed)?;
    global.say(format_args!("Test accuracy in percent over {SPLITS} random splits (60/20/20):"));
    let mut outcomes = Vec::new();
    for name in SHOWN {
        let kind = models::kind(name)?;
        let outcome = Experiment {
            dataset: &dataset,
            kind,
            settings: &(kind.defaults)(),
            splits: &splits,
            seed: global.seed,
            threads: global.num_threads()?,
            stop: Some(interrupt::flag()),
            run: None,
            watch: &(),
        }
        .run()?;
        global.say(format_args!(
            "  {:4} {:6.2} ± {:4.2}   {:.1} s   {}",
            name, outcome.test_accuracy_mean, outcome.test_accuracy_std, outcome.seconds, kind.summary
        ));
        outcomes.push(outcome);
    }
    global.say(verdict(outcomes[0].test_accuracy_mean, outcomes[1].test_accuracy_mean));
    global.say("Next: `lhs data inspect YOUR_DATA`, then `lhs train YOUR_DATA`.");
    global.document(&Document {
        nodes: dataset.num_nodes(),
        edges: dataset.graph().num_edges(),
        classes: dataset.num_classes(),
        edge_homophily: homophily,
        models: outcomes,
    });
    Ok(())
}

/// What the two accuracies mean.
fn verdict(without_edges: f64, with_edges: f64) -> &'static str {
    if with_edges > without_edges {
        "The edges help, although few of them join nodes of one class: which classes a node's neighbours\n\
         have says something about its own. Whoever can add edges can bend these predictions."
    } else {
        "The edges hurt: neighbours mostly disagree, and a plain graph convolution averages a node's own\n\
         features away."
    }
}
