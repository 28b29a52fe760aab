//! `lhs demo`: the main job on a graph made on the spot; no files, no downloads.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::interrupt;
use super::output::Global;
use lhs::attacks::{self, Attack, Scene, Watch};
use lhs::error::{Error, Result};
use lhs::eval::experiment::split_seed;
use lhs::eval::metrics::predicted_classes;
use lhs::eval::robustness::{Robustness, Victim, When, attack_seed};
use lhs::eval::structure::{Description, describe, export};
use lhs::eval::{parallel, run};
use lhs::graph::Dataset;
use lhs::graph::synth::SynthConfig;
use lhs::io::export::ExportFormat;
use lhs::io::npz;
use lhs::models::{self, ModelKind};
use lhs::training::{EpochRecord, Session, Task};

/// The models that are shown, in this order; the last learns a structure.
const SHOWN: [&str; 3] = ["mlp", "gcn", "lhs"];
/// How many of the made-up splits are trained on.
const SPLITS: usize = 3;

/// See it work: trains on a made-up graph, attacks it, and says what happened; needs no files
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Number of nodes of the graph
    #[arg(long, default_value_t = 1000, value_name = "N")]
    nodes: usize,
    /// Share of the edges that join two nodes of one class
    #[arg(long, default_value_t = 0.15, value_name = "SHARE")]
    homophily: f64,
    /// Where to write the graph, the attacked graph and the latent graph [default: runs/demo, with a number
    /// if that is taken]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// What the demo found.
#[derive(Serialize)]
struct Document {
    nodes: usize,
    edges: usize,
    classes: usize,
    models: Vec<ModelFigures>,
    graphs: Vec<Description>,
    written: Vec<PathBuf>,
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
    let config = SynthConfig {
        nodes: args.nodes,
        homophily: args.homophily,
        mean_degree: 20.0,
        signal: 1.0,
        splits: SPLITS,
        ..SynthConfig::default()
    };
    let dataset = config.generate(global.seed)?;
    global.say(format_args!(
        "A made-up graph: {} nodes, {} edges, {} classes; {:.0} % of the edges join nodes of one class.",
        dataset.num_nodes(),
        dataset.graph().num_edges(),
        dataset.num_classes(),
        100.0 * args.homophily
    ));
    let attack = attacks::kind("injected")?;
    let attack = [(attack.build)(&(attack.defaults)())?];
    global.say(format_args!(
        "Test accuracy in percent over {SPLITS} random splits, then again after an attacker has about doubled\n\
         the edges of every test node with edges to other classes:"
    ));
    global.say("        clean  attacked");
    let progress = global.progress((SHOWN.len() * SPLITS) as u64, "training");
    let mut figures = Vec::new();
    let mut learned = Vec::new();
    for name in SHOWN {
        let kind = models::kind(name)?;
        let victims = train(kind, &dataset, global, &|| progress.inc(1))?;
        let found = score(&dataset, &victims, &attack, global)?;
        progress.suspend(|| {
            global.say(format_args!("  {name:4} {:6.2}    {:6.2}   {}", found.0, found.1, kind.summary));
        });
        figures.push(ModelFigures { model: kind.name, clean: found.0, attacked: found.1 });
        learned = victims;
    }
    progress.finish_and_clear();
    let folder = args.out.clone().unwrap_or_else(|| run::free_name(Path::new("runs"), "demo"));
    let (graphs, written) = keep(&dataset, &learned[0], attack[0].as_ref(), &folder, global)?;
    say_graphs(&graphs, global);
    for remark in learned[0].model.diagnostics() {
        global.say(format_args!("  {remark}"));
    }
    for file in &written {
        global.say(format_args!("wrote {}", file.display()));
    }
    global.say("Next: `lhs data inspect YOUR_DATA`, then `lhs train YOUR_DATA`.");
    global.document(&Document {
        nodes: dataset.num_nodes(),
        edges: dataset.graph().num_edges(),
        classes: dataset.num_classes(),
        models: figures,
        graphs,
        written,
    });
    Ok(())
}

/// The model trained on each split, with its default settings.
fn train(
    kind: &ModelKind,
    dataset: &Dataset,
    global: &Global,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Victim>> {
    let config = (kind.build)(&(kind.defaults)())?;
    parallel::map(dataset.splits().len(), global.num_threads()?, |number| {
        let split = &dataset.splits()[number];
        let task = Task::new(dataset, split)?;
        let mut quiet = |_: &EpochRecord| {};
        let mut session =
            Session { stop: Some(interrupt::flag()), on_epoch: Some(&mut quiet), ..Session::default() };
        let model = config.fit_with(&task, split_seed(global.seed, number), &mut session).map_err(
            |error| match error {
                Error::Interrupted { .. } => Error::Interrupted { remedy: "the demo keeps nothing".into() },
                other => other,
            },
        )?;
        done();
        Ok(Victim { number, split: split.clone(), model })
    })
}

/// Mean test accuracy before and after the attack, in percent.
fn score(
    dataset: &Dataset,
    victims: &[Victim],
    attack: &[Box<dyn Attack>; 1],
    global: &Global,
) -> Result<(f64, f64)> {
    let outcome = Robustness {
        dataset,
        classes: dataset.labels().names(),
        victims,
        when: When::AfterTraining,
        attacks: attack,
        repeats: 1,
        seed: global.seed,
        threads: global.num_threads()?,
        watch: Watch::default(),
        finished: &|_| {},
    }
    .run()?;
    Ok((outcome.clean_test_accuracy_mean, outcome.rates[0].test_accuracy_mean))
}

/// Writes the graphs, and compares them, of one split.
fn keep(
    dataset: &Dataset,
    learned: &Victim,
    attack: &dyn Attack,
    folder: &Path,
    global: &Global,
) -> Result<(Vec<Description>, Vec<PathBuf>)> {
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let seed = attack_seed(global.seed, learned.number);
    let attacked = attack.perturb(&Scene::new(dataset, &learned.split), seed)?.dataset;
    let mut graphs = Vec::new();
    let mut exported = None;
    for (name, graph) in [("clean", dataset.graph()), ("attacked", attacked.graph())] {
        graphs.push(describe(&format!("given, {name}"), graph, dataset, &learned.split));
        if let Some(structure) = learned.model.structure(graph, dataset.features())? {
            let latent = structure.latent().clone();
            graphs.push(describe(&format!("latent, {name}"), &latent, dataset, &learned.split));
            exported.get_or_insert(latent);
        }
    }
    let mut written = vec![folder.join("graph.npz"), folder.join("attacked.npz")];
    npz::write(dataset, &written[0], npz::FeatureLayout::Dense)?;
    npz::write(&attacked, &written[1], npz::FeatureLayout::Dense)?;
    if let Some(latent) = exported {
        let predicted = predicted_classes(&learned.model.predict(dataset.graph(), dataset.features())?);
        let file = folder.join("latent.gexf");
        export(dataset, &latent, &learned.split, dataset.labels().names(), &predicted)
            .write(&file, ExportFormat::Gexf)?;
        written.push(file);
    }
    Ok((graphs, written))
}

fn say_graphs(graphs: &[Description], global: &Global) {
    global.say("Share of the weight at test nodes that leads to their own class:");
    for graph in graphs {
        let share = graph.homophily_test.unwrap_or(0.0);
        global.say(format_args!("  {:<18} {:5.1} %   {} edges", graph.name, 100.0 * share, graph.edges));
    }
}
