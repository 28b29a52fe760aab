//! `lhs structure`: the latent graph that a run learned, in figures, for one node, and for other tools.

use std::path::PathBuf;

use serde_json::json;

use super::evaluate::own_data;
use super::output::Global;
use super::predict::best_split;
use super::selection::load_for;
use lhs::error::{Error, Result};
use lhs::experiment::Run;
use lhs::graph::Dataset;
use lhs::io::export::ExportFormat;
use lhs::metrics::description::{Description, Neighbour, describe, export, neighbourhood};
use lhs::metrics::predicted_classes;
use lhs::models::Registry;

/// At most so many neighbours of a node are printed.
const SHOWN: usize = 20;

/// Look at the latent graph that a run learned
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs structure runs/squirrel-lhs
  lhs structure runs/squirrel-lhs --node 2021
  lhs structure runs/squirrel-lhs --export latent.gexf --export latent.csv")]
pub struct StructureArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// The split whose model is asked [default: the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// A changed version of the run's data, with the same nodes [default: the run's own data]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// The round whose graph is exported and shown [default: the last]
    #[arg(long, value_name = "R")]
    round: Option<usize>,
    /// Show a node's neighbours in the given and in the latent graph
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Write the latent graph: .npz, .csv, .graphml or .gexf; may be repeated
    #[arg(long, value_name = "FILE")]
    export: Vec<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(args: &StructureArgs, global: &Global) -> Result<()> {
    let targets = targets(args)?;
    let run = Run::open(&args.run)?;
    let number = args.split.map_or_else(|| best_split(&run, global), Ok)?;
    let model = run.model(&Registry::default(), number)?;
    let dataset = match &args.data {
        Some(named) => load_for(&run, named, global)?,
        None => own_data(&run, "to look at it all the same: --data", global)?,
    };
    let node = args.node.as_deref().map(|id| find(&dataset, id)).transpose()?;
    let split = run.split(&dataset, number)?;
    let (graph, features) = (dataset.graph(), dataset.features());
    let structure = global.busy("inducing", || model.structure(graph, features))?.ok_or_else(|| {
        Error::input(
            &args.run,
            "",
            format!("{} learns no structure", run.model_name()),
            "train with --model lhs",
        )
    })?;
    let last = structure.rounds.len() - 1;
    let round = args.round.unwrap_or(last);
    let latent = structure.rounds.get(round).ok_or_else(|| {
        Error::setting("--round", format!("there is no round {round}"), format!("choose 0 to {last}"))
    })?;

    let mut descriptions = vec![describe("given", graph, &dataset, &split)];
    for (round, graph) in structure.rounds.iter().enumerate() {
        descriptions.push(describe(&format!("round {round}"), graph, &dataset, &split));
    }
    say_figures(&descriptions, number, &dataset, global);
    let (summary, details) = (model.summary(), model.diagnostics());
    global.remarks(&summary, &details).iter().for_each(|remark| global.say(remark));
    if latent.num_edges() == 0 {
        global.note("warning: no two nodes look alike enough: the latent graph has no edges");
    }
    let shown = node.map(|node| {
        let (given, found) = (neighbourhood(graph, &dataset, node), neighbourhood(latent, &dataset, node));
        say_node(node, &given, &found, &dataset, global);
        json!({"id": dataset.node_id(node), "given": given, "latent": found})
    });
    if !targets.is_empty() {
        let predicted = predicted_classes(&model.predict(graph, features)?);
        let export = export(&dataset, latent, &split, &run.data().classes, &predicted);
        for (path, format) in &targets {
            export.write(path, *format)?;
            global.say(format_args!("wrote {}", path.display()));
        }
    }
    global.document(&json!({
        "run": args.run,
        "dataset": dataset.name(),
        "split": number,
        "round": round,
        "graphs": descriptions,
        "summary": summary,
        "remarks": details,
        "node": shown,
        "written": args.export,
    }));
    Ok(())
}

/// Where to export to; checked before anything is computed.
fn targets(args: &StructureArgs) -> Result<Vec<(PathBuf, ExportFormat)>> {
    let checked = |path: &PathBuf| {
        let format = ExportFormat::of_path(path)?;
        match format.files(path).into_iter().find(|file| file.exists() && !args.force) {
            Some(taken) => Err(Error::input(&taken, "", "this file exists", "replace it with --force")),
            None => Ok((path.clone(), format)),
        }
    };
    args.export.iter().map(checked).collect()
}

fn find(dataset: &Dataset, id: &str) -> Result<usize> {
    dataset.find_node(id).ok_or_else(|| {
        let (first, last) = (dataset.node_id(0), dataset.node_id(dataset.num_nodes().saturating_sub(1)));
        Error::setting(
            "--node",
            format!("{} has no node `{id}`", dataset.name()),
            format!("give one of its {} ids, from {first} to {last}", dataset.num_nodes()),
        )
    })
}

fn say_figures(descriptions: &[Description], split: usize, dataset: &Dataset, global: &Global) {
    global.say(format_args!("latent structure of {}, split {split}; homophily in percent", dataset.name()));
    global.say("graph       edges   train    val   test  mean H  weight  degree   max  isolated");
    let percent =
        |share: Option<f32>| share.map_or_else(|| "-".into(), |share| format!("{:.1}", 100.0 * share));
    for d in descriptions {
        global.say(format_args!(
            "{:<8} {:>8} {:>7} {:>6} {:>6} {:>7} {:>7.2} {:>7.1} {:>5} {:>7.1} %",
            d.name,
            d.edges,
            percent(d.homophily_train),
            percent(d.homophily_val),
            percent(d.homophily_test),
            d.heterophily_test.map_or_else(|| "-".into(), |h| format!("{h:.3}")),
            d.mean_weight,
            d.mean_degree,
            d.max_degree,
            100.0 * d.isolated
        ));
    }
}

fn say_node(node: usize, given: &[Neighbour], latent: &[Neighbour], dataset: &Dataset, global: &Global) {
    let class = dataset.labels().get(node).map(|class| dataset.labels().names()[class as usize].clone());
    let name = class.as_deref().unwrap_or("none");
    global.say(format_args!("node {}: class {name}", dataset.node_id(node)));
    for (title, neighbours) in [("given", given), ("latent", latent)] {
        let same = neighbours.iter().filter(|other| class.is_some() && other.class == class).count();
        global.say(format_args!("  {title}: {} neighbours, {same} of its class", neighbours.len()));
        for other in neighbours.iter().take(SHOWN) {
            let class = other.class.as_deref().unwrap_or("-");
            global.say(format_args!("    {:<12} class {class:<12} weight {:.3}", other.id, other.weight));
        }
        if neighbours.len() > SHOWN {
            global.say(format_args!("    and {} more (all of them with --json)", neighbours.len() - SHOWN));
        }
    }
}
