//! `lhs demo`: the main job on graphs made on the spot; no files, no downloads.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::clock;
use super::output::Global;
use super::progress::{Counts, Progress, how_to_go_on};
use lhs::attacks::{Attack, AttackContext};
use lhs::error::{Error, Result};
use lhs::experiment::table::AccuracyTable;
use lhs::experiment::{
    AttackAxis, Data, IfPresent, Job, Manifest, OnError, Plan, Runner, Store, Suite, attack_seed, free_name,
};
use lhs::graph::synth::{Compatibility, SynthConfig};
use lhs::graph::{Dataset, DatasetParts, Split};
use lhs::io::export::ExportFormat;
use lhs::io::npz;
use lhs::metrics::description::{Description, describe, export};
use lhs::metrics::predicted_classes;
use lhs::models::{self, NodeClassifier, Registry};

/// The models that are shown, in this order; the last learns a structure.
const SHOWN: [&str; 3] = ["mlp", "gcn", "lhs"];
/// How many of the made-up splits are trained on.
const SPLITS: usize = 3;

/// The graphs that are made: a name, what it is like, and who is joined to whom beyond one's own class.
const GRAPHS: [(&str, &str, Compatibility); 3] = [
    ("roles", "who knows the same nodes is of one class, whatever class those are of", Compatibility::Roles),
    ("cyclic", "most neighbours are of the class after one's own", Compatibility::Cyclic),
    ("uniform", "neighbours are of any other class: edges say little", Compatibility::Uniform),
];

/// See it work: trains on made-up graphs, attacks them, and says what happened; needs no files
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Number of nodes of each graph
    #[arg(long, default_value_t = 1000, value_name = "N")]
    nodes: usize,
    /// Share of the edges that join two nodes of one class
    #[arg(long, default_value_t = 0.15, value_name = "SHARE")]
    homophily: f64,
    /// Where to write the graphs, the attacked graphs and the latent graphs [default: runs/demo, with a number
    /// if that is taken]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// What the demo found.
#[derive(Serialize)]
struct Document {
    graphs: Vec<Found>,
    written: Vec<PathBuf>,
}

/// What was found on one graph.
#[derive(Serialize)]
struct Found {
    name: &'static str,
    nodes: usize,
    edges: usize,
    classes: usize,
    models: Vec<ModelFigures>,
    graphs: Vec<Description>,
}

/// Test accuracy of one model in percent.
#[derive(Serialize)]
struct ModelFigures {
    model: &'static str,
    clean: f64,
    attacked: f64,
}

/// Runs the command.
pub fn run(args: &DemoArgs, global: &Global) -> Result<()> {
    let data = GRAPHS.iter().map(|(name, _, pattern)| made_up(args, name, *pattern, global.seed));
    let data = data.collect::<Result<Vec<_>>>()?;
    global.say(format_args!(
        "Three made-up graphs of {} nodes; {:.0} % of the edges join nodes of one class, and features alone say little.",
        args.nodes,
        100.0 * args.homophily
    ));
    global.say(format_args!(
        "Test accuracy in percent over {SPLITS} random splits, then again after an attacker has about doubled\n\
         the edges of every test node with edges to other classes:"
    ));
    let folder = args.out.clone().unwrap_or_else(|| free_name(Path::new("runs"), "demo"));
    let suite = suite(global.seed);
    let plan = Plan::on(&suite, data, &Registry::default())?;
    let manifest =
        Manifest::new("demo", &suite, &plan).keeping_models().begun(clock::now(), clock::command());
    let store = Store::open(&folder, &manifest, IfPresent::Resume)?;
    let figures = measure(&suite, &plan, &store, global)?;
    let (mut graphs, mut written) = (Vec::new(), Vec::new());
    for (place, ((name, about, _), models)) in GRAPHS.into_iter().zip(figures).enumerate() {
        global.say(format_args!("\n{name}: {about}"));
        global.say("        clean  attacked");
        for ModelFigures { model, clean, attacked } in &models {
            let summary = models::kind(model)?.summary;
            global.say(format_args!("  {model:4} {clean:6.2}    {attacked:6.2}   {summary}"));
        }
        let of_ours = |job: &&Job| job.data == place && job.method.method.name() == SHOWN[SHOWN.len() - 1];
        let job = plan.jobs.iter().find(of_ours).ok_or_else(|| Error::data("no model was trained", ""))?;
        let model = models::load(store.model_folder(&job.cells[0].id).join("model.lhs"))?;
        let learned = Learned { model, split: &job.split.split, number: job.split.number };
        let dataset = &plan.data[place].dataset;
        let (compared, files) = keep(dataset, &learned, plan.attacks[0].attack.as_ref(), &folder, global)?;
        say_graphs(&compared, global);
        for remark in global.remarks(&learned.model.summary(), &learned.model.diagnostics()) {
            global.say(format_args!("  {remark}"));
        }
        let (nodes, edges, classes) =
            (dataset.num_nodes(), dataset.graph().num_edges(), dataset.num_classes());
        graphs.push(Found { name, nodes, edges, classes, models, graphs: compared });
        written.extend(files);
    }
    global.say("");
    for file in &written {
        global.say(format_args!("wrote {}", file.display()));
    }
    global.say("Next: `lhs data inspect YOUR_DATA`, then `lhs train YOUR_DATA`.");
    global.document(&Document { graphs, written });
    Ok(())
}

/// One of the graphs.
fn made_up(args: &DemoArgs, name: &str, compatibility: Compatibility, seed: u64) -> Result<Data> {
    let config = SynthConfig {
        nodes: args.nodes,
        homophily: args.homophily,
        compatibility,
        // Small graphs have room for fewer edges.
        mean_degree: (args.nodes as f64 / 20.0).min(20.0),
        signal: 1.0,
        splits: SPLITS,
        ..SynthConfig::default()
    };
    let parts = config.generate(seed)?.into_parts();
    Data::new(Dataset::new(DatasetParts { name: name.into(), ..parts })?)
}

/// Three models with their defaults, on clean and on attacked data.
fn suite(seed: u64) -> Suite {
    Suite {
        title: "Made-up graphs, before and after an attack".into(),
        datasets: GRAPHS.map(|(name, ..)| name.into()).to_vec(),
        models: SHOWN.map(String::from).to_vec(),
        seeds: vec![seed],
        found_settings: false,
        attacks: vec![AttackAxis {
            name: "injected".into(),
            rates: vec![1.0],
            poisoning: false,
            // What is kept and shown are the models of the clean graphs.
            transductive: true,
            repeats: 1,
            settings: Default::default(),
        }],
        ..Suite::default()
    }
}

/// Trains, attacks and scores: the figures of each graph.
fn measure(suite: &Suite, plan: &Plan, store: &Store, global: &Global) -> Result<Vec<Vec<ModelFigures>>> {
    let progress = Progress::new(global, Counts::Cells, plan.cells().count(), "training");
    let outcome = Runner::new(plan)
        .store(store)
        .keep_models()
        .threads(global.num_threads()?)
        .observer(&progress)
        .on_error(OnError::Stop)
        .run();
    progress.done();
    let kept = || format!("the same command with --out {} goes on", store.folder().display());
    let records = outcome.map_err(|error| how_to_go_on(error, kept))?.records;
    let table = AccuracyTable::new(suite, &records);
    let mean = |line: usize, column: usize| table.entry(line, column).mean().unwrap_or(0.0);
    // Of each graph a line for the clean one, and one for the attacked one.
    let of_graph = |graph: usize| {
        let figures = SHOWN.iter().enumerate();
        figures
            .map(|(column, &model)| {
                let (clean, attacked) = (mean(2 * graph, column), mean(2 * graph + 1, column));
                ModelFigures { model, clean, attacked }
            })
            .collect()
    };
    Ok((0..GRAPHS.len()).map(of_graph).collect())
}

/// A model, and the split that it was trained on.
struct Learned<'a> {
    model: Box<dyn NodeClassifier>,
    split: &'a Split,
    number: usize,
}

/// Writes the graphs of one split, and compares them; the latent graph of each round.
fn keep(
    dataset: &Dataset,
    learned: &Learned<'_>,
    attack: &dyn Attack,
    folder: &Path,
    global: &Global,
) -> Result<(Vec<Description>, Vec<PathBuf>)> {
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let seed = attack_seed(global.seed, learned.number);
    let attacked = attack.perturb(&AttackContext::new(dataset, learned.split), seed)?.dataset;
    let mut graphs = Vec::new();
    let mut exported = None;
    for (name, graph) in [("clean", dataset.graph()), ("attacked", attacked.graph())] {
        graphs.push(describe(&format!("given, {name}"), graph, dataset, learned.split));
        if let Some(structure) = learned.model.structure(graph, dataset.features())? {
            for (round, latent) in structure.rounds.iter().enumerate() {
                graphs.push(describe(
                    &format!("latent, {name}, round {round}"),
                    latent,
                    dataset,
                    learned.split,
                ));
            }
            exported.get_or_insert(structure.latent().clone());
        }
    }
    let file = |kind: &str| folder.join(format!("{}{kind}", dataset.name()));
    let mut written = vec![file(".npz"), file("-attacked.npz")];
    npz::write(dataset, &written[0], npz::FeatureLayout::Dense)?;
    npz::write(&attacked, &written[1], npz::FeatureLayout::Dense)?;
    if let Some(latent) = exported {
        let predicted = predicted_classes(&learned.model.predict(dataset.graph(), dataset.features())?);
        let file = file("-latent.gexf");
        export(dataset, &latent, learned.split, dataset.labels().names(), &predicted)
            .write(&file, ExportFormat::Gexf)?;
        written.push(file);
    }
    Ok((graphs, written))
}

fn say_graphs(graphs: &[Description], global: &Global) {
    global.say("  Share of the weight at test nodes that leads to their own class:");
    for graph in graphs {
        let share = graph.homophily_test.unwrap_or(0.0);
        global.say(format_args!("    {:<26} {:5.1} %   {} edges", graph.name, 100.0 * share, graph.edges));
    }
}
