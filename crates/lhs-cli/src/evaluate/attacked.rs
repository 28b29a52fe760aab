//! `lhs evaluate --attack`: the models of a run on attacked versions of their own data.

use std::path::Path;

use serde::Serialize;
use toml::Table;

use super::super::interrupt;
use super::super::output::Global;
use super::super::selection::attack_settings;
use super::{finished_splits, own_data};
use lhs::attacks::{self, Watch};
use lhs::error::Result;
use lhs::eval::parallel;
use lhs::eval::robustness::{Robustness, RobustnessOutcome, Victim, When};
use lhs::eval::run::RunFolder;
use lhs::models::ModelKind;

/// How strongly and how often is attacked.
#[derive(Debug, clap::Args)]
pub struct AttackedArgs {
    /// How strong the attack is; several, as in 0.5,1,2, are run one after the other [default: the attack's]
    #[arg(long, value_name = "RATES", value_delimiter = ',', requires = "attack")]
    #[arg(allow_negative_numbers = true)]
    rate: Vec<f64>,
    /// How often each split is attacked, with other seeds
    #[arg(long, value_name = "N", default_value_t = 3, requires = "attack")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Attack before training: each model learns again, with the run's settings, on the attacked data
    #[arg(long, requires = "attack")]
    poisoning: bool,
    /// One setting of the attack, such as keep=0.5; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "attack")]
    set: Vec<String>,
}

/// The document for scripts: the outcome, and what led to it.
#[derive(Serialize)]
struct Document<'a> {
    run: &'a Path,
    dataset: &'a str,
    model: &'a str,
    attack: &'a str,
    settings: &'a Table,
    seed: u64,
    splits: usize,
    repeats: u16,
    poisoning: bool,
    #[serde(flatten)]
    outcome: &'a RobustnessOutcome,
}

/// Attacks and scores.
pub fn run(
    name: &str,
    args: &AttackedArgs,
    run: &RunFolder,
    model: &ModelKind,
    global: &Global,
) -> Result<()> {
    let kind = attacks::kind(name)?;
    let mut settings = attack_settings(kind, &args.set)?;
    let attacks = if args.rate.is_empty() {
        vec![(kind.build)(&settings)?]
    } else {
        args.rate.iter().map(|&rate| kind.at_rate(&settings, rate)).collect::<Result<Vec<_>>>()?
    };
    settings.remove("rate");
    let dataset =
        own_data(run, "only a run's own data is attacked: train again on what there is now", global)?;
    let splits = finished_splits(run, global)?;
    let threads = global.num_threads()?;
    let victims =
        parallel::map(splits.len(), threads, |cell| Victim::of_run(run, model, &dataset, splits[cell]))?;
    let bar = global.progress((attacks.len() * splits.len() * usize::from(args.repeats)) as u64, name);
    let config = (model.build)(run.settings())?;
    let when = if args.poisoning {
        When::BeforeTraining { config: &config, seed: run.manifest().seed }
    } else {
        When::AfterTraining
    };
    // Several attacks run side by side: the steps shown are those of whichever spoke last.
    let progress = |done: usize, of: usize| bar.set_message(format!("step {done} of {of}"));
    let outcome = Robustness {
        dataset: &dataset,
        classes: &run.manifest().classes,
        victims: &victims,
        when,
        attacks: &attacks,
        repeats: usize::from(args.repeats),
        seed: global.seed,
        threads,
        watch: Watch { stop: Some(interrupt::flag()), progress: Some(&progress) },
        finished: &|_| bar.inc(1),
    }
    .run();
    bar.finish_and_clear();
    let outcome = outcome.map_err(|error| error.in_file(&run.manifest().dataset.path))?;
    global.say(format_args!(
        "{} on {} under {name}{}; accuracy in percent at the test nodes, over {} × {}",
        model.name,
        dataset.name(),
        if args.poisoning { " before training" } else { "" },
        counted(splits.len(), "split"),
        counted(usize::from(args.repeats), "repeat"),
    ));
    say(&outcome, global);
    global.document(&Document {
        run: run.path(),
        dataset: dataset.name(),
        model: model.name,
        attack: name,
        settings: &settings,
        seed: global.seed,
        splits: splits.len(),
        repeats: args.repeats,
        poisoning: args.poisoning,
        outcome: &outcome,
    });
    Ok(())
}

fn say(outcome: &RobustnessOutcome, global: &Global) {
    let heterophily = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |h| format!("{h:.3}"));
    let before = outcome.rates.first().and_then(|rate| rate.heterophily_before_mean);
    global.say(" rate  accuracy    std   mean H  edges added  removed");
    global.say(format_args!(
        "clean  {:>8.2} {:>6.2} {:>8}",
        outcome.clean_test_accuracy_mean,
        outcome.clean_test_accuracy_std,
        heterophily(before)
    ));
    for at in &outcome.rates {
        let after = heterophily(at.heterophily_after_mean);
        global.say(format_args!(
            "{:>5}  {:>8.2} {:>6.2} {after:>8} {:>12.1} {:>8.1}",
            at.rate, at.test_accuracy_mean, at.test_accuracy_std, at.edges_added_mean, at.edges_removed_mean
        ));
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
