//! The arguments that several commands share: which data, which splits, which model with which settings.

use std::path::{Path, PathBuf};

use toml::Table;

use super::output::Global;
use super::reading::{ReadingArgs, SourceArgs, with_flags};
use lhs::attacks::AttackKind;
use lhs::error::{Error, Result};
use lhs::experiment::Run;
use lhs::experiment::found_settings::{self, Search};
use lhs::experiment::settings::{self, Layer};
use lhs::experiment::splits::{NumberedSplit, SplitSpec};
use lhs::graph::Dataset;
use lhs::io::{self, LoadOptions, Source};
use lhs::models::{self, ModelKind};

/// The model when none is named.
pub const DEFAULT_MODEL: &str = "lhs";

/// Which data, and which nodes of it are learned from.
#[derive(Debug, clap::Args)]
pub struct DataSelection {
    #[command(flatten)]
    pub source: SourceArgs,
    /// `all`, a number, a range such as 0-2, shares such as random:0.6,0.2,0.2 (of every class alike) or group:0.6,0.2,0.2
    /// (whole groups), times such as time:2026-01-01,2026-03-01, or final [default: all splits of the data, else random]
    #[arg(long, value_name = "SPEC")]
    pub split: Option<SplitSpec>,
    /// How many random splits to draw [default: 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    pub num_splits: Option<u16>,
}

/// Data with the splits that were chosen.
pub struct Selected {
    /// The data.
    pub dataset: Dataset,
    /// Where it came from.
    pub source: Source,
    /// The choice, in words.
    pub spec: SplitSpec,
    /// The splits.
    pub splits: Vec<NumberedSplit>,
}

impl DataSelection {
    /// Loads the data and takes the splits from it.
    pub fn load(&self, global: &Global) -> Result<Selected> {
        let dataset = self.source.load(global)?;
        let source = self.source.source()?;
        let spec = self.split.clone().unwrap_or_else(|| SplitSpec::default_for(&dataset));
        let random = matches!(spec, SplitSpec::Random(_) | SplitSpec::Group(_));
        if self.split.is_none() && random {
            global.note(format_args!("note: the data has no splits; using --split {spec}"));
        }
        if self.num_splits.is_some() && !random {
            return Err(Error::setting(
                "--num-splits",
                "only random splits can be drawn",
                "add --split random:0.6,0.2,0.2",
            ));
        }
        let num_random = usize::from(self.num_splits.unwrap_or(1));
        let splits =
            spec.resolve(&dataset, num_random, global.seed).map_err(|error| error.in_file(source.path()))?;
        warn_of_unlearnable_classes(&dataset, &splits, global);
        warn_of_telling_features(&dataset, global);
        Ok(Selected { dataset, source, spec, splits })
    }
}

/// Loads data as the command line says, and passes its warnings on.
pub fn load(data: &Path, directed: bool, global: &Global) -> Result<Dataset> {
    load_with(data, &global.load_options(directed), global)
}

/// Loads data so that the model of a run can predict on it: columns are prepared as those that it learned from.
pub fn load_for(run: &Run, data: &Path, global: &Global) -> Result<Dataset> {
    load_with(data, &run.data().prediction_options(), global)
}

/// The same of any source, with what the command line says over how the run's data was read.
pub fn load_tables_for(
    run: &Run,
    source: &Source,
    reading: &ReadingArgs,
    global: &Global,
) -> Result<Dataset> {
    let told = global.load_options(run.data().directed);
    let mut options = reading.over(run.data().prediction_options());
    options.header = told.header.or(options.header);
    let dataset = global.busy("reading", || source.load(&options)).map_err(with_flags)?;
    global.warn(dataset.warnings());
    Ok(dataset)
}

/// Loads data and passes its warnings on.
pub fn load_with(data: &Path, options: &LoadOptions, global: &Global) -> Result<Dataset> {
    let dataset = global.busy("reading", || io::load(data, options)).map_err(with_flags)?;
    global.warn(dataset.warnings());
    Ok(dataset)
}

fn warn_of_unlearnable_classes(dataset: &Dataset, splits: &[NumberedSplit], global: &Global) {
    for NumberedSplit { number, split } in splits {
        for class in split.classes_without_training(dataset.labels()) {
            let name = &dataset.labels().names()[class as usize];
            global.note(format_args!(
                "warning: split {number}: class {name} has no training node and is never predicted"
            ));
        }
    }
}

/// A feature that is there at all nodes of a class and at no others may be the class itself under another name: then every figure is
/// about nothing.
fn warn_of_telling_features(dataset: &Dataset, global: &Global) {
    const ENOUGH: usize = 20;
    let (labels, columns) = (dataset.labels(), dataset.features().dim());
    let sizes = labels.class_sizes();
    if sizes.iter().sum::<usize>() < ENOUGH {
        return;
    }
    let mut nonzeros = vec![0usize; columns * sizes.len()];
    for node in 0..labels.len() {
        let Some(class) = labels.get(node) else { continue };
        for (column, _) in dataset.features().row_nonzeros(node) {
            nonzeros[column as usize * sizes.len() + class as usize] += 1;
        }
    }
    for column in 0..columns {
        let counts = &nonzeros[column * sizes.len()..][..sizes.len()];
        let whole = counts.iter().zip(&sizes).filter(|(count, size)| **count == **size && **size > 0).count();
        let some = counts.iter().filter(|count| **count > 0).count();
        if whole == 1 && some == 1 {
            global.note(format_args!(
                "warning: feature `{}` tells a class at every labelled node: if it was made from the classes, leave it out \
                 (--ignore-columns)",
                dataset.feature_name(column)
            ));
        }
    }
}

/// The model of that name, in whatever case it was typed.
pub fn named_model(name: &str) -> Result<&'static ModelKind> {
    models::kind(&name.to_lowercase())
}

/// Which model with which settings.
#[derive(Debug, clap::Args)]
pub struct ModelSelection {
    /// The model; `lhs models` lists them
    #[arg(long, value_name = "NAME", default_value = DEFAULT_MODEL)]
    pub model: String,
    /// A file of settings, one section per model
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One setting, such as dropout=0.3; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Ignore the settings found for this data
    #[arg(long)]
    pub no_config: bool,
}

impl ModelSelection {
    /// The model of that name.
    pub fn kind(&self) -> Result<&'static ModelKind> {
        named_model(&self.model)
    }

    /// Defaults, then what was found for the dataset, then `--config`, then `--set`. Everything that does
    /// not need the data is checked first, by [`ModelSelection::own_layers`].
    pub fn settings(&self, kind: &ModelKind, dataset: &Dataset, global: &Global) -> Result<Table> {
        let mut layers = Vec::new();
        if !self.no_config
            && let Some((layer, file)) = found_settings::layer(&dataset.own_origin(), kind, Search::Widest)?
        {
            global.note(format_args!("note: settings from {}", file.display()));
            layers.push(layer);
        }
        layers.extend(self.own_layers(kind)?);
        settings::layered(kind, &layers)
    }

    /// What the command line says, checked against the model.
    pub fn own_layers(&self, kind: &ModelKind) -> Result<Vec<Layer>> {
        let file = self.config.iter().map(|file| Layer::from_file(file, kind));
        let set = self.set.iter().map(|assignment| Layer::from_assignment(assignment));
        let layers = file.chain(set).collect::<Result<Vec<_>>>()?;
        settings::layered(kind, &layers)?;
        Ok(layers)
    }
}

/// The settings of an attack: its defaults, then `--set`.
pub fn attack_settings(kind: &AttackKind, set: &[String]) -> Result<Table> {
    let layers = set.iter().map(|assignment| Layer::from_assignment(assignment));
    settings::layered_over(&(kind.defaults)(), &layers.collect::<Result<Vec<_>>>()?)
}
