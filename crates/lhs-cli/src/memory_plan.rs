//! `lhs train --plan`: what a training will need of memory, and whether the machine has it.

use serde::Serialize;

use super::output::Global;
use lhs::error::Result;
use lhs::experiment::splits::NumberedSplit;
use lhs::graph::Dataset;
use lhs::models::AnyModel;
use lhs::training::memory_plan::readable;
use lhs::training::{DataSizes, MemoryPlan, Task, available_bytes};

/// The document for scripts; all but the last in bytes.
#[derive(Serialize)]
struct Document<'a> {
    dataset: &'a str,
    model: &'a str,
    #[serde(flatten)]
    plan: MemoryPlan,
    total: u64,
    /// What is free now; null where the system does not say.
    available: Option<u64>,
    fits: bool,
}

/// The sizes of the largest task among some splits.
pub fn sizes(dataset: &Dataset, splits: &[NumberedSplit]) -> Result<Option<DataSizes>> {
    let labelled = |split: &&NumberedSplit| split.split.train.len() + split.split.val.len();
    let largest = splits.iter().max_by_key(labelled);
    largest.map(|split| Ok(DataSizes::of(&Task::new(dataset, &split.split)?))).transpose()
}

/// Shows the plan, and says if it cannot be carried out.
pub fn show(
    model: &AnyModel,
    name: &str,
    sizes: &DataSizes,
    dataset: &Dataset,
    global: &Global,
) -> Result<()> {
    let plan = model.memory(sizes);
    let available = available_bytes();
    let verdict = model.ensure_fits(sizes);
    global.say(format_args!("memory that {name} will need on {}, about", dataset.name()));
    for (part, bytes) in [
        ("process and data", plan.data),
        ("structure, made of the graph once", plan.structure),
        ("parameters and optimiser", plan.parameters),
        ("activations of one step", plan.activations),
        ("total", plan.total()),
    ] {
        global.say(format_args!("{:>12}  {part}", readable(bytes)));
    }
    match available {
        Some(bytes) => global.say(format_args!("{:>12}  free now, beside the data", readable(bytes))),
        None => global.say("this system does not say how much memory is free"),
    }
    global.document(&Document {
        dataset: dataset.name(),
        model: name,
        plan,
        total: plan.total(),
        available,
        fits: verdict.is_ok(),
    });
    verdict
}
