//! `lhs cluster` and `lhs links`: nodes into groups, and edges that were held out.

use clap::ValueEnum;
use serde_json::json;

use super::interrupt;
use super::output::{Global, counted};
use super::progress::{Counts, Progress, how_to_go_on};
use super::selection::{DataSelection, Selected};
use lhs::cluster::links::{LinkScores, Links, links};
use lhs::cluster::{By, Fit, Method};
use lhs::error::Result;
use lhs::experiment::splits::NumberedSplit;
use lhs::experiment::{Data, OnError, Plan, Runner, Suite, parallel, split_seed};
use lhs::metrics::statistics as metrics;
use lhs::models::Registry;
use lhs::training::Session;

/// Cluster the nodes, and hold the clusters against the classes
///
/// `latent` trains a plain graph convolution over the latent structure, from the training labels, and clusters its
/// embeddings; `agc` smooths the features over the given graph and uses no labels.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs cluster chameleon
  lhs cluster wisconsin --method agc
  lhs cluster squirrel --by spectral --split 0 --json")]
pub struct ClusterArgs {
    #[command(flatten)]
    data: DataSelection,
    /// What is clustered
    #[arg(long, value_enum, default_value_t = MethodArg::Latent)]
    method: MethodArg,
    /// How
    #[arg(long, value_enum, default_value_t = ByArg::Kmeans)]
    by: ByArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// Embeddings over the latent structure, learned from the training labels.
    Latent,
    /// Smoothed features; no labels.
    Agc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByArg {
    /// k-means.
    Kmeans,
    /// Spectral clustering.
    Spectral,
}

/// Predict edges that were held out, by the latent structure
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs links chameleon
  lhs links cora --share 0.2 --split 0 --json")]
pub struct LinksArgs {
    #[command(flatten)]
    data: DataSelection,
    /// Share of the edges to hold out
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    share: f64,
}

/// Runs `lhs cluster`.
pub fn run(args: &ClusterArgs, global: &Global) -> Result<()> {
    let selected = args.data.load(global)?;
    let name = selected.dataset.name().to_string();
    let method = if args.method == MethodArg::Agc { Method::Agc } else { Method::Latent };
    let by = if args.by == ByArg::Spectral { By::Spectral } else { By::Kmeans };
    let fits = fits(method_name(method, by), args, selected, global)?;
    let column = |of: &dyn Fn(&Fit) -> f64| {
        let values: Vec<f64> = fits.iter().map(of).collect();
        (metrics::mean(&values), metrics::std(&values))
    };
    global.say(format_args!("{name}, {method:?} by {by:?}, {}", counted(fits.len(), "split")));
    global.say("                 accuracy, %        NMI            ARI");
    for (part, of) in [("test nodes", true), ("all nodes", false)] {
        let pick = move |fit: &Fit| if of { fit.test } else { fit.all };
        let [accuracy, nmi, ari] =
            [column(&|fit| pick(fit).accuracy), column(&|fit| pick(fit).nmi), column(&|fit| pick(fit).ari)];
        global.say(format_args!(
            "{part:<12} {:>8.2} ± {:<5.2} {:>6.3} ± {:<5.3} {:>6.3} ± {:<5.3}",
            accuracy.0, accuracy.1, nmi.0, nmi.1, ari.0, ari.1
        ));
    }
    global.document(&json!({
        "dataset": name,
        "method": method,
        "by": by,
        "splits": fits.len(),
        "test_accuracy_mean": column(&|fit| fit.test.accuracy).0,
        "test_accuracy_std": column(&|fit| fit.test.accuracy).1,
        "accuracy_mean": column(&|fit| fit.all.accuracy).0,
        "accuracy_std": column(&|fit| fit.all.accuracy).1,
        "per_split": fits,
    }));
    Ok(())
}

/// What suites call a way of clustering.
fn method_name(method: Method, by: By) -> &'static str {
    match (method, by) {
        (Method::Agc, _) => "agc",
        (Method::Latent, By::Kmeans) => "latent-kmeans",
        (Method::Latent, By::Spectral) => "latent-spectral",
    }
}

/// How well the clusters fit, split by split.
fn fits(name: &str, args: &ClusterArgs, selected: Selected, global: &Global) -> Result<Vec<Fit>> {
    let suite = Suite {
        title: format!("{name} on {}", selected.dataset.name()),
        datasets: vec![selected.source.path().display().to_string()],
        clustering: true,
        models: vec![name.into()],
        directed: args.data.source.directed,
        splits: Some(selected.spec),
        num_splits: selected.splits.len(),
        seeds: vec![global.seed],
        ..Suite::default()
    };
    let plan = Plan::on(&suite, vec![Data::new(selected.dataset)?], &Registry::default())?;
    let progress = Progress::new(global, Counts::Cells, plan.cells().count(), "clustering");
    let runner =
        Runner::new(&plan).threads(global.num_threads()?).observer(&progress).on_error(OnError::Stop);
    let outcome = runner.run();
    progress.done();
    let nothing = || "nothing was kept; the same command begins again".to_string();
    let records = outcome.map_err(|error| how_to_go_on(error, nothing))?.records;
    Ok(records.into_iter().filter_map(|record| record.result?.clusters).collect())
}

/// Runs `lhs links`.
pub fn run_links(args: &LinksArgs, global: &Global) -> Result<()> {
    let selected = args.data.load(global)?;
    selected.dataset.check_trainable()?;
    let found = over_splits(&selected, "predicting", global, |numbered, seed, session| {
        links(&selected.dataset, &numbered.split, args.share, seed, session)
    })?;
    let name = selected.dataset.name();
    let mean = |of: &dyn Fn(&Links) -> f64| metrics::mean(&found.iter().map(of).collect::<Vec<_>>());
    global.say(format_args!(
        "{name}: {} held out, {}",
        counted(found.first().map_or(0, |links| links.held_out), "edge"),
        counted(found.len(), "split")
    ));
    global.say("                      AUC      AP");
    type Pick = fn(&Links) -> LinkScores;
    let ways: [(&str, Pick); 3] = [
        ("latent structure", |links| links.latent),
        ("common neighbours", |links| links.common_neighbours),
        ("feature cosine", |links| links.feature_cosine),
    ];
    for (way, pick) in ways {
        let (auc, ap) = (mean(&|links| pick(links).auc), mean(&|links| pick(links).ap));
        global.say(format_args!("{way:<18} {auc:>7.4} {ap:>7.4}"));
    }
    global.document(&json!({"dataset": name, "share": args.share, "per_split": found}));
    Ok(())
}

/// Does the same on every split, several at a time.
fn over_splits<T: Send>(
    selected: &Selected,
    what: &str,
    global: &Global,
    work: impl Fn(&NumberedSplit, u64, &mut Session<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let bar = global.progress(selected.splits.len() as u64, what);
    let results = parallel::map(selected.splits.len(), global.num_threads()?, |cell| {
        let numbered = &selected.splits[cell];
        let mut session = Session::watched_by(interrupt::flag());
        let result = work(numbered, split_seed(global.seed, numbered.number), &mut session);
        bar.inc(1);
        result
    });
    bar.finish_and_clear();
    results
}
