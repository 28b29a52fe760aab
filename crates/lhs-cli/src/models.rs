//! `lhs models`: what can be trained, and the settings of each.

use serde_json::{Value, json};

use super::output::Global;
use super::selection::DEFAULT_MODEL;
use lhs::error::Result;
use lhs::experiment::settings::{defaults, leaves};
use lhs::models::{ModelKind, SearchSpace, kind, kinds};

/// List the models, or the settings of one
#[derive(Debug, clap::Args)]
pub struct ModelsArgs {
    /// The model whose settings to show
    name: Option<String>,
}

/// Runs the command.
pub fn run(args: &ModelsArgs, global: &Global) -> Result<()> {
    match &args.name {
        Some(name) => one(kind(name)?, global),
        None => all(global),
    }
    Ok(())
}

fn all(global: &Global) {
    for kind in kinds() {
        let mark = if kind.name == DEFAULT_MODEL { " (default)" } else { "" };
        global.say(format_args!("{:<12} {}{mark}", kind.name, kind.summary));
    }
    let list: Vec<Value> = kinds()
        .iter()
        .map(
            |kind| json!({"name": kind.name, "summary": kind.summary, "default": kind.name == DEFAULT_MODEL}),
        )
        .collect();
    global.document(&json!({ "models": list }));
}

fn one(kind: &ModelKind, global: &Global) {
    let defaults = defaults(kind);
    let search = (kind.search)();
    let space_of = |key: &str| search.iter().find(|(name, _)| *name == key).map(|(_, space)| space);
    let settings = leaves(&defaults);
    let width = settings.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    global.say(format_args!("{}: {}", kind.name, kind.summary));
    for (key, default) in &settings {
        let space =
            space_of(key).map_or_else(String::new, |space| format!("   tuned over {}", in_words(space)));
        global.say(format_args!("  {key:<width$} = {default}{space}"));
    }
    let list: Vec<Value> = settings
        .iter()
        .map(|(key, default)| json!({"name": key, "default": default, "search": space_of(key).map(in_words)}))
        .collect();
    global.document(&json!({"name": kind.name, "summary": kind.summary, "settings": list}));
}

/// A search space for people.
fn in_words(space: &SearchSpace) -> String {
    match space {
        SearchSpace::Choice(values) => {
            values.iter().map(toml::Value::to_string).collect::<Vec<_>>().join(", ")
        }
        SearchSpace::Uniform(low, high) => format!("{low} to {high}"),
        SearchSpace::LogUniform(low, high) => format!("{low} to {high}, logarithmically"),
    }
}
