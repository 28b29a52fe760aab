//! `lhs explain`: why a trained model says what it says about a node.

use std::path::PathBuf;

use serde_json::json;

use super::certify::{CERTIFICATE, survives};
use super::evaluate::own_data;
use super::output::{Global, counted};
use super::predict::chosen;
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::load_for;
use lhs::certify::{CertificateRecord, CertifiedNode};
use lhs::error::{Error, Result, near};
use lhs::experiment::Run;
use lhs::explain::{Change, ExplainOptions, Explanation, Flip, Influence, Subject};
use lhs::graph::Dataset;
use lhs::models::Registry;

/// At most so many ids are suggested.
const SUGGESTED: usize = 3;

/// Say why a trained model gives a node its class
///
/// Everything but the channels is found by predicting again without an edge or a feature, or with one more edge: what is
/// said is what the model would do.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs explain runs/accounts-lhs --node a17
  lhs explain runs/accounts-lhs --node a17 --node a18 --top 5
  lhs explain runs/accounts-lhs --node a17 --data changed.npz --json")]
pub struct ExplainArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// The id of a node; may be repeated
    #[arg(long, value_name = "ID", required = true)]
    node: Vec<String>,
    /// Data to explain on [default: the run's own data]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// The split whose model is asked [default: the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// A folder that `lhs certify` made, which says how many edges a prediction survives [default: RUN/certificate, if it is there]
    #[arg(long, value_name = "FOLDER")]
    certificate: Option<PathBuf>,
    /// How many neighbours and features are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
}

/// Runs the command.
pub fn run(args: &ExplainArgs, global: &Global) -> Result<()> {
    let (run, number) = chosen(&args.run, args.split, global)?;
    let trained = run.trained(&Registry::default(), number)?;
    let dataset = match &args.data {
        Some(named) => load_for(&run, named, global)?,
        None => own_data(&run, "to explain on it all the same: --data", global)?,
    };
    let in_file = |error: Error| match &args.data {
        Some(named) => error.in_file(named),
        None => error,
    };
    let dataset = trained.with_columns(&dataset).map_err(in_file)?;
    let nodes = args.node.iter().map(|id| find(&dataset, id)).collect::<Result<Vec<usize>>>()?;
    let classes = &run.data().classes;
    let arranged = trained.arranged(&dataset, classes).map_err(in_file)?;
    let subject = Subject {
        model: trained.model.as_ref(),
        dataset: &arranged.dataset,
        classes,
        learned_from: &arranged.learned_from,
    };
    let options = ExplainOptions { top: args.top, ..ExplainOptions::default() };
    let certificate = Certificate::of(args, &run, number)?;
    let (mut told, mut certified) = (Vec::new(), Vec::new());
    for (&node, id) in nodes.iter().zip(&args.node) {
        let progress = Progress::new(global, Counts::Steps, 0, id);
        let found = Explanation::of(&subject, arranged.place(node), &options, &progress);
        progress.done();
        let stopped =
            || "nothing was written; a smaller --top does not make it faster, fewer nodes do".into();
        let found = found.map_err(in_file).map_err(|error| how_to_go_on(error, stopped))?;
        let certain = certificate.as_ref().map(|certificate| certificate.node(id)).transpose()?;
        say(&found, &options, run.model_name(), global);
        if let (Some(certificate), Some(node)) = (&certificate, &certain) {
            certificate.say(node, global);
        }
        certified.extend(certain);
        told.push(found);
    }
    global.document(&json!({
        "run": args.run,
        "model": run.model_name(),
        "split": number,
        "dataset": dataset.name(),
        "nodes": told,
        "certified": certificate.map(|certificate| json!({
            "folder": certificate.folder,
            "buckets": certificate.record.buckets,
            "poisoning": certificate.record.poisoning,
            "nodes": certified,
        })),
    }));
    Ok(())
}

/// What was certified about the nodes of a split.
struct Certificate {
    folder: PathBuf,
    record: CertificateRecord,
    /// The predictions with their radii.
    table: PathBuf,
}

impl Certificate {
    /// The one that was named, or the run's own; of other data than the run's only one that was named.
    fn of(args: &ExplainArgs, run: &Run, split: usize) -> Result<Option<Self>> {
        let own = run.path().join(CERTIFICATE);
        let folder = match &args.certificate {
            Some(folder) => folder.clone(),
            None if args.data.is_none() => own,
            None => return Ok(None),
        };
        let Some(record) = CertificateRecord::read(&folder)? else {
            return match &args.certificate {
                Some(folder) => Err(Error::input(
                    folder,
                    "",
                    "there is no certificate in it",
                    "give a folder that `lhs certify` made",
                )),
                None => Ok(None),
            };
        };
        let table = CertificateRecord::predictions(&folder, split);
        if !table.exists() {
            let splits =
                record.per_split.iter().map(|own| own.split.to_string()).collect::<Vec<_>>().join(", ");
            return match &args.certificate {
                Some(_) => Err(Error::input(
                    folder,
                    "",
                    format!("split {split} is not certified; certified are: {splits}"),
                    "explain one of these (--split), or certify this one",
                )),
                None => Ok(None),
            };
        }
        Ok(Some(Certificate { folder, record, table }))
    }

    fn node(&self, id: &str) -> Result<CertifiedNode> {
        CertifiedNode::find(&self.table, id)
    }

    fn say(&self, node: &CertifiedNode, global: &Global) {
        let Certificate { record, .. } = self;
        let threat = if record.poisoning { "before training or after it" } else { "after training" };
        global.say(format_args!(
            "  certified against edges changed {threat}: the vote of {} buckets says class {}, {}",
            record.buckets,
            node.prediction,
            survives(node.radius)
        ));
    }
}

/// The node of that id; the error names those that are nearly called so.
fn find(dataset: &Dataset, id: &str) -> Result<usize> {
    dataset.find_node(id).ok_or_else(|| {
        let near: Vec<String> = near(id, dataset.node_ids().unwrap_or_default(), SUGGESTED)
            .into_iter()
            .map(|id| format!("`{id}`"))
            .collect();
        let (first, last) = (dataset.node_id(0), dataset.node_id(dataset.num_nodes().saturating_sub(1)));
        let remedy = if near.is_empty() {
            format!("give one of its {} ids, from {first} to {last}", dataset.num_nodes())
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        Error::setting("--node", format!("{} has no node `{id}`", dataset.name()), remedy)
    })
}

fn say(told: &Explanation, options: &ExplainOptions, model: &str, global: &Global) {
    let label = match &told.label {
        Some(label) if *label == told.prediction => ", as its label says".to_string(),
        Some(label) => format!(", its label says class {label}"),
        None => String::new(),
    };
    let learned = if told.learned_from { "; the model learned from it" } else { "" };
    global.say(format_args!(
        "node {}: {model} says class {}, {:.1} %{label}{learned}",
        told.node,
        told.prediction,
        percent(told.probability)
    ));
    let others = told.probabilities.iter().skip(1).take(options.top);
    let others: Vec<String> =
        others.map(|c| format!("class {} {:.1} %", c.class, percent(c.probability))).collect();
    if !others.is_empty() {
        global.say(format_args!("  otherwise: {}", others.join(", ")));
    }
    say_contributions(told, global);
    say_features(told, global);
    say_neighbours(told, global);
    say_flips(told, global);
    say_trust(told, global);
}

fn say_contributions(told: &Explanation, global: &Global) {
    if let (Some(channels), Some(next)) = (&told.channels, &told.runner_up) {
        let lead: f32 = channels.iter().map(|channel| channel.lead).sum();
        global.say(format_args!("  what its lead of {lead:+.2} over class {next} is made of (scores):"));
        for channel in channels {
            global.say(format_args!("    {:+8.2}  {}", channel.lead, channel.name));
        }
    }
    let without = |fall: Option<f32>, what: &str, nothing: &str| match fall {
        Some(fall) => global.say(format_args!(
            "  without {what}: class {} {:.1} %",
            told.prediction,
            percent(told.probability - fall)
        )),
        None => global.say(format_args!("  {nothing}")),
    };
    without(told.all_features, "its own features", "the data has no features");
    without(told.all_edges, "its edges", "it has no edges");
}

fn say_features(told: &Explanation, global: &Global) {
    if told.features.looked.all == 0 {
        return;
    }
    global.say(format_args!("  features that decide (points of class {} that each adds):", told.prediction));
    for feature in &told.features.most {
        let what = &feature.what;
        global.say(format_args!(
            "    {:+8.1}  feature {} = {} (instead of {})",
            percent(feature.fall),
            what.name,
            rounded(what.value),
            rounded(what.replaced_by)
        ));
    }
    say_partial(&told.features, "features", global);
}

fn say_neighbours(told: &Explanation, global: &Global) {
    if told.neighbours.looked.all > 0 {
        global.say(format_args!(
            "  neighbours that decide (points of class {} that each adds):",
            told.prediction
        ));
    }
    for neighbour in &told.neighbours.most {
        let what = &neighbour.what;
        let direction = if what.incoming { ", the edge leads here" } else { "" };
        global.say(format_args!(
            "    {:+8.1}  {}, {}{direction}",
            percent(neighbour.fall),
            what.node,
            class_of(what.training_class.as_deref(), &what.prediction)
        ));
    }
    say_partial(&told.neighbours, "edges", global);
    if let (Some(latent), Some(all)) = (&told.latent_neighbours, told.num_latent_neighbours) {
        global
            .say(format_args!("  nearest of {} in the latent graph (likeness):", counted(all, "neighbour")));
        for other in latent {
            let class = class_of(other.training_class.as_deref(), &other.prediction);
            global.say(format_args!("    {:8.2}  {}, {class}", other.weight, other.node));
        }
    }
}

fn class_of(training: Option<&str>, predicted: &str) -> String {
    match training {
        Some(class) => format!("class {class} (learned from)"),
        None => format!("probably class {predicted}"),
    }
}

fn say_partial<T>(influence: &Influence<T>, what: &str, global: &Global) {
    if influence.is_partial() {
        global.say(format_args!(
            "    looked at {} of {} {what} one by one: those of the groups that matter most",
            influence.looked.singly, influence.looked.all
        ));
    }
}

fn say_flips(told: &Explanation, global: &Global) {
    let one = |flip: &Flip| {
        let edge = match flip.change {
            Change::Removed => format!("without the edge to {}", flip.node),
            Change::Added => format!("with a new edge to {}", flip.node),
        };
        format!("{edge}: class {}, {:.1} %", flip.prediction, percent(flip.probability))
    };
    let tried = format!("{} taken away, {} added", told.neighbours.looked.singly, told.additions_tried);
    if told.flips.is_empty() {
        global.say(format_args!("  none of the single edges tried changes the prediction ({tried})"));
        return;
    }
    global.say(format_args!("  single edges that change the prediction ({tried}):"));
    told.flips.iter().for_each(|flip| global.say(format_args!("    {}", one(flip))));
}

fn say_trust(told: &Explanation, global: &Global) {
    let Some(trust) = &told.edge_trust else { return };
    match trust.diagnosis() {
        Some(found) => global.say(format_args!("  {found}")),
        None => global.say("  all given edges count alike; nothing speaks for trusting plausible ones more"),
    }
    if !told.edges_left_out.is_empty() {
        let left_out = told.edges_left_out.join(", ");
        global.say(format_args!("  of its own edges, those to {left_out} are left out"));
    }
}

/// Three digits after the point, where they are needed.
fn rounded(value: f32) -> f32 {
    (f64::from(value) * 1000.0).round() as f32 / 1000.0
}

fn percent(share: f32) -> f32 {
    100.0 * share
}
