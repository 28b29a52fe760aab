//! `lhs train --final`: once more, from all labels, when nothing is left to choose.

use std::path::Path;

use toml::Table;

use super::super::output::Global;
use super::super::predict::FINAL;
use super::super::progress::{Counts, Progress, how_to_go_on};
use lhs::error::Result;
use lhs::experiment::splits::SplitSpec;
use lhs::experiment::{
    CellRecord, Data, IfPresent, Manifest, OnError, Plan, Run, Runner, Store, Suite, settings,
};
use lhs::metrics::Threshold;
use lhs::models::{ModelKind, Registry};

/// What the splits found.
pub struct Last<'a> {
    pub kind: &'a ModelKind,
    pub suite: &'a Suite,
    pub settings: &'a Table,
    pub records: &'a [CellRecord],
    /// The run that it goes into.
    pub folder: &'a Path,
}

impl Last<'_> {
    /// Trains, and keeps the model in a folder of its own within the run.
    pub fn train(&self, data: &Data, global: &Global) -> Result<()> {
        let epochs = self.epochs()?;
        global.note(format_args!("note: learning from all labels, for {epochs} epochs"));
        let mut settings = self.settings.clone();
        for key in ["training.epochs", "training.patience"] {
            settings::insert(&mut settings, key, (epochs as i64).into());
        }
        let suite = Suite {
            splits: Some(SplitSpec::Final),
            num_splits: 1,
            settings: [(self.kind.name.to_string(), settings)].into(),
            threshold: self.threshold().or(self.suite.threshold),
            ..self.suite.clone()
        };
        let data = Data { dataset: data.dataset.clone(), record: data.record.clone() };
        let plan = Plan::on(&suite, vec![data], &Registry::default())?;
        let folder = self.folder.join(FINAL);
        let manifest = Manifest::new("train", &suite, &plan).keeping_models();
        let if_present = if folder.exists() { IfPresent::Resume } else { IfPresent::Refuse };
        let store = Store::open(&folder, &manifest, if_present)?;
        let progress = Progress::new(global, Counts::Cells, 1, "all labels");
        let runner =
            Runner::new(&plan).threads(global.num_threads()?).observer(&progress).on_error(OnError::Stop);
        let outcome = runner.store(&store).keep_models().run();
        progress.done();
        let kept =
            || "what the splits found is kept; the same command with --resume goes on from there".to_string();
        outcome.map(drop).map_err(|error| how_to_go_on(error, kept))
    }

    /// The middle one of the numbers of epochs after which trainings were best.
    fn epochs(&self) -> Result<usize> {
        let run = Run::open(self.folder)?;
        let number = |key: &str| settings::get(self.settings, key).and_then(|value| value.as_integer());
        let most = number("training.epochs").unwrap_or(i64::MAX) as usize;
        let patience = number("training.patience").unwrap_or(0) as usize;
        let mut found = Vec::new();
        for record in self.records {
            let curve = run.curve(record.id.split)?;
            // The last stage is the one that these settings are about, and all of its kind: `classifier-1`, `classifier-2`, …
            let Some(last) = curve.last().map(|epoch| kind_of(&epoch.stage).to_string()) else { continue };
            let mut stages: Vec<&str> = curve
                .iter()
                .map(|epoch| epoch.stage.as_str())
                .filter(|stage| kind_of(stage) == last)
                .collect();
            stages.dedup();
            for stage in stages {
                let run = curve.iter().filter(|epoch| epoch.stage == stage).count();
                // Patience ran out so many epochs after the best one.
                found.push(if run < most { run.saturating_sub(patience) } else { run }.max(1));
            }
        }
        found.sort_unstable();
        Ok(found.get(found.len() / 2).copied().unwrap_or(1))
    }

    /// The middle one of the thresholds that were chosen at validation nodes.
    fn threshold(&self) -> Option<Threshold> {
        let chosen = self.records.iter().filter_map(|record| record.result.as_ref()?.threshold);
        let mut chosen: Vec<f64> = chosen.collect();
        chosen.sort_by(f64::total_cmp);
        chosen.get(chosen.len() / 2).copied().map(Threshold::At)
    }
}

fn kind_of(stage: &str) -> &str {
    stage.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-')
}
