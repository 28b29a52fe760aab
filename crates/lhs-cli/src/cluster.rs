//! `lhs cluster` and `lhs links`: nodes into groups, and edges that were held out.

use clap::ValueEnum;
use serde_json::json;

use super::interrupt;
use super::output::Global;
use super::selection::{DataSelection, Selected};
use lhs::cluster::links::{LinkScores, Links, links};
use lhs::cluster::{By, Fit, Method, cluster, fit};
use lhs::error::Result;
use lhs::experiment::parallel;
use lhs::experiment::split_seed;
use lhs::experiment::splits::NumberedSplit;
use lhs::metrics::statistics as metrics;
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
    selected.dataset.check_trainable()?;
    let method = if args.method == MethodArg::Agc { Method::Agc } else { Method::Latent };
    let by = if args.by == ByArg::Spectral { By::Spectral } else { By::Kmeans };
    let fits = over_splits(&selected, "clustering", global, |numbered, seed, session| {
        let groups = cluster(&selected.dataset, &numbered.split, method, by, seed, session)?;
        fit(&selected.dataset, &numbered.split, &groups)
    })?;
    let column = |of: &dyn Fn(&Fit) -> f64| {
        let values: Vec<f64> = fits.iter().map(of).collect();
        (metrics::mean(&values), metrics::std(&values))
    };
    let name = selected.dataset.name();
    global.say(format_args!("{name}, {method:?} by {by:?}, {} splits", fits.len()));
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
        "{name}: {} edges held out, {} splits",
        found.first().map_or(0, |links| links.held_out),
        found.len()
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
