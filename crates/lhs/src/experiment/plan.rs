//! A suite with its data, laid out as cells, in jobs: cells that one trained model serves.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toml::Table;

use super::cell::{AttackId, Cell, CellId};
use super::cell_filter::{CellFilter, Shard};
use super::data::Data;
use super::fingerprint;
use super::found_settings::{self, Search};
use super::method::{ConfiguredMethod, Method};
use super::settings::{self, Layer};
use super::splits::{NumberedSplit, SplitSpec};
use super::suite::{AttackAxis, Judging, Suite, Variant};
use crate::attacks::{self, Attack};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Origin, Split};
use crate::io::LoadOptions;
use crate::metrics::{Threshold, class_named};
use crate::models::Registry;
use crate::training::ClassWeights;

/// An attack with its settings.
pub struct PlannedAttack {
    /// Which.
    pub id: AttackId,
    /// Its settings, complete.
    pub settings: Table,
    /// The attack.
    pub attack: Box<dyn Attack>,
    /// Whether the models that it meets learned without the test nodes.
    pub inductive: bool,
}

/// One model to train, and the cells that need it.
pub struct Job {
    /// Place of the data in the plan.
    pub data: usize,
    /// What is trained.
    pub method: ConfiguredMethod,
    /// The split.
    pub split: NumberedSplit,
    /// The seed of the training.
    pub seed: u64,
    /// The seed of attacks.
    pub attack_seed: u64,
    /// Place of the attack on what it learns from.
    pub poison: Option<usize>,
    /// Whether it learns without the test nodes.
    pub inductive: bool,
    /// What the model is judged by.
    pub judging: Judging,
    /// What is scored.
    pub cells: Vec<Cell>,
}

/// What is to be done.
pub struct Plan {
    /// Whether heterophily is measured.
    pub measure_shift: bool,
    /// The data.
    pub data: Vec<Arc<Data>>,
    /// The attacks.
    pub attacks: Vec<PlannedAttack>,
    /// The work.
    pub jobs: Vec<Job>,
}

impl Plan {
    /// Loads the data that a suite names, checks everything else that it names, and lays out its cells. All that is wrong
    /// is said at once; `file` is where the suite stands.
    pub fn load(suite: &Suite, file: &Path, registry: &Registry) -> Result<Self> {
        let mut problems = Vec::new();
        let data = load(suite, &mut problems);
        Self::checked(suite, file, data, registry, problems)
    }

    /// The same on data that is there already, whatever the suite calls it.
    pub fn on(suite: &Suite, data: Vec<Data>, registry: &Registry) -> Result<Self> {
        Self::checked(suite, Path::new("suite"), data, registry, Vec::new())
    }

    fn checked(
        suite: &Suite,
        file: &Path,
        data: Vec<Data>,
        registry: &Registry,
        mut problems: Vec<String>,
    ) -> Result<Self> {
        problems.splice(0..0, wrong_axes(suite));
        let methods = methods(suite, registry, &mut problems);
        let attacks = planned_attacks(suite, &mut problems);
        let data: Vec<Arc<Data>> =
            data.into_iter().map(|data| Arc::new(looking_for(suite, data, &mut problems))).collect();
        let mut jobs = Vec::new();
        for (place, found) in data.iter().enumerate() {
            let configured = configured(suite, file, &methods, found, &mut problems);
            let splits = splits(suite, &found.dataset, &mut problems);
            for method in &configured {
                for &seed in &suite.seeds {
                    for split in &splits {
                        let at = At { suite, attacks: &attacks, place, data: found, split, seed };
                        jobs.extend(at.jobs(method));
                    }
                }
            }
        }
        refuse(file, &problems)?;
        if jobs.iter().all(|job| job.cells.is_empty()) {
            return Err(nothing_left(file, "give the suite clean cells or attacks"));
        }
        Ok(Plan { measure_shift: suite.measure_shift, data, attacks, jobs })
    }

    /// The part that is wanted.
    pub fn filtered(mut self, filter: &CellFilter) -> Result<Self> {
        self.keep(|id| filter.wants(id));
        if self.jobs.is_empty() {
            return Err(nothing_left(Path::new("suite"), "name values that the suite has"));
        }
        Ok(self)
    }

    /// One of several shares; it may be empty.
    pub fn sharded(mut self, shard: Shard) -> Self {
        self.keep(|id| shard.wants(id));
        self
    }

    fn keep(&mut self, wanted: impl Fn(&CellId) -> bool) {
        self.jobs.iter_mut().for_each(|job| job.cells.retain(|cell| wanted(&cell.id)));
        self.jobs.retain(|job| !job.cells.is_empty());
    }

    /// Whether the course of training is kept: once per model and dataset.
    pub(super) fn keeps_curve(&self, job: &Job, cell: &Cell) -> bool {
        let first = self.jobs.iter().find(|other| other.data == job.data && other.poison.is_none());
        let same = |first: &Job| (first.split.number, first.seed) == (job.split.number, job.seed);
        let alike = |first: &Job| same(first) && first.inductive == job.inductive;
        cell.attack.is_none() && first.is_some_and(alike)
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.jobs.iter().flat_map(|job| &job.cells)
    }
}

/// What is wrong with the axes themselves: nothing on them, or the same twice.
fn wrong_axes(suite: &Suite) -> Vec<String> {
    let named = match &suite.splits {
        Some(SplitSpec::List(numbers)) => numbers.iter().map(usize::to_string).collect(),
        _ => Vec::new(),
    };
    let variants = suite.variants.iter().map(|variant| format!("{} of {}", variant.name, variant.model));
    let axes = [
        ("datasets", suite.datasets.clone(), true),
        ("models", suite.models.clone(), true),
        ("seeds", suite.seeds.iter().map(u64::to_string).collect(), true),
        ("splits", named, matches!(suite.splits, Some(SplitSpec::List(_)))),
        ("variants", variants.collect(), false),
    ];
    let mut problems = Vec::new();
    for (axis, values, needed) in axes {
        if values.is_empty() && needed {
            problems.push(format!("`{axis}` is empty, so there is nothing to run"));
        }
        let mut seen = BTreeSet::new();
        let repeated = values.iter().filter(|value| !seen.insert(*value));
        problems.extend(repeated.map(|value| format!("`{axis}` names {value} twice")));
    }
    if suite.clustering && (!suite.attacks.is_empty() || suite.measure_shift) {
        problems.push(
            "clusterings are neither attacked nor measured: leave out attacks and `measure_shift`".into(),
        );
    }
    problems
}

fn refuse(file: &Path, problems: &[String]) -> Result<()> {
    let things = match problems.len() {
        0 => return Ok(()),
        1 => "1 thing is".into(),
        count => format!("{count} things are"),
    };
    let all = problems.iter().map(|problem| format!("\n  - {problem}")).collect::<String>();
    Err(Error::input(file, "", format!("{things} wrong:{all}"), "nothing was run; mend these first"))
}

fn nothing_left(file: &Path, remedy: &str) -> Error {
    Error::input(file, "", "no cell is left to run", remedy)
}

/// The methods, variants of unknown ones aside.
fn methods(suite: &Suite, registry: &Registry, problems: &mut Vec<String>) -> Vec<Method> {
    let mut found = Vec::new();
    for name in &suite.models {
        match Method::find(name, suite.clustering, registry) {
            Ok(method) => found.push(method),
            Err(error) => problems.push(one_line(&error)),
        }
    }
    let named = suite.variants.iter().map(|variant| (&variant.model, format!("variant `{}`", variant.name)));
    let named = named.chain(suite.settings.keys().map(|name| (name, format!("[settings.{name}]"))));
    for (name, place) in named {
        if !suite.models.contains(name) {
            problems.push(format!("{place}: the model `{name}` is not among `models`"));
        }
    }
    found
}

fn planned_attacks(suite: &Suite, problems: &mut Vec<String>) -> Vec<PlannedAttack> {
    let mut planned = Vec::new();
    for axis in &suite.attacks {
        if axis.rates.is_empty() || axis.repeats == 0 {
            problems.push(format!("attack `{}` has no rates or no repeats", axis.name));
        }
        match on_axis(axis) {
            Ok(found) => planned.extend(found),
            Err(error) => problems.push(format!("attack `{}`: {}", axis.name, one_line(&error))),
        }
    }
    planned
}

fn on_axis(axis: &AttackAxis) -> Result<Vec<PlannedAttack>> {
    let kind = attacks::kind(&axis.name)?;
    let own = Layer::from_table(axis.settings.clone());
    let mut planned = Vec::new();
    for &rate in &axis.rates {
        let mut settings = settings::layered_over(&(kind.defaults)(), std::slice::from_ref(&own))?;
        settings.insert("rate".into(), rate.into());
        for repeat in 0..axis.repeats {
            let id = AttackId { name: axis.name.clone(), rate, poisoning: axis.poisoning, repeat };
            let attack = (kind.build)(&settings)?;
            if axis.poisoning && !attack.parts().is_empty() {
                return Err(Error::setting(
                    "poisoning",
                    format!("`{}` compares what one trained model says under several attacks", axis.name),
                    "let it come after training, or name its attacks one by one",
                ));
            }
            let inductive = axis.inductive();
            planned.push(PlannedAttack { id, settings: settings.clone(), attack, inductive });
        }
    }
    Ok(planned)
}

fn load(suite: &Suite, problems: &mut Vec<String>) -> Vec<Data> {
    let (mut found, mut names): (Vec<Data>, BTreeSet<String>) = Default::default();
    for source in &suite.datasets {
        match Data::load(Path::new(source), &LoadOptions::directed(suite.directed)) {
            Ok(data) if !names.insert(data.record.name.clone()) => {
                problems.push(format!("two datasets are called `{}`", data.record.name));
            }
            Ok(data) => found.push(data),
            Err(error) => problems.push(one_line(&error)),
        }
    }
    found
}

/// The methods and their variants, with their settings for a dataset.
fn configured(
    suite: &Suite,
    file: &Path,
    methods: &[Method],
    data: &Data,
    problems: &mut Vec<String>,
) -> Vec<ConfiguredMethod> {
    let mut found = Vec::new();
    let mut add = |method: Method, variant: Option<&Variant>| {
        let settings = settings_of(suite, file, &method, &data.dataset.own_origin(), variant);
        match settings.and_then(|settings| weighs_known_classes(&settings, data).map(|()| settings)) {
            Ok(settings) => {
                let variant = variant.map(|variant| variant.name.clone());
                found.push(ConfiguredMethod { method, variant, settings });
            }
            Err(error) => {
                let problem = one_line(&error);
                // The same mistake is made on every dataset.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
    };
    for &method in methods {
        add(method, None);
        let own = suite.variants.iter().filter(|variant| variant.model == method.name());
        own.for_each(|variant| add(method, Some(variant)));
    }
    found
}

/// Refuses weights of classes that the data does not have.
fn weighs_known_classes(settings: &Table, data: &Data) -> Result<()> {
    let Some(value) = settings::get(settings, "training.class_weights") else { return Ok(()) };
    let ClassWeights::Given(weights) = ClassWeights::try_from(value.clone())? else { return Ok(()) };
    let names = data.dataset.labels().names();
    let known = weights.iter().try_for_each(|(class, _)| class_named(class, names).map(|_| ()));
    known.map_err(|error| match error {
        Error::Data { problem, remedy } => Error::setting("training.class_weights", problem, remedy),
        other => other,
    })
}

fn settings_of(
    suite: &Suite,
    file: &Path,
    method: &Method,
    origin: &Origin,
    variant: Option<&Variant>,
) -> Result<Table> {
    let own: Vec<&Table> =
        (suite.settings.get(method.name()).into_iter()).chain(variant.map(|variant| &variant.set)).collect();
    let Method::Model(kind) = method else {
        return match own.is_empty() {
            true => Ok(Table::new()),
            false => {
                Err(Error::setting(method.name(), "ways of clustering have no settings", "leave them out"))
            }
        };
    };
    let mut layers = Vec::new();
    if suite.found_settings {
        let search = if suite.one_budget { Search::OneBudget } else { Search::Widest };
        layers.extend(found_settings::layer(origin, kind, search)?.map(|(layer, _)| layer));
    }
    layers.extend(suite.metric.map(settings::watched_by).filter(|layer| layer.fits(kind)));
    layers.extend(own.into_iter().map(|table| Layer::from_table(table.clone()).in_file(file)));
    let settings = settings::layered(kind, &layers)?;
    (kind.build)(&settings).map(|_| settings)
}

/// The data with the class that the suite looks for.
fn looking_for(suite: &Suite, data: Data, problems: &mut Vec<String>) -> Data {
    let names = data.dataset.labels().names();
    if matches!(suite.threshold, Some(Threshold::Auto | Threshold::At(_))) && names.len() != 2 {
        let (name, count) = (&data.record.name, names.len());
        problems.push(format!("`threshold` needs two classes, and {name} has {count}: leave it out"));
    }
    let Some(name) = &suite.positive_class else { return data };
    match class_named(name, names) {
        Ok(class) => data.looking_for(class),
        Err(error) => {
            problems.push(format!("{}: {}", data.record.name, one_line(&error)));
            data
        }
    }
}

fn splits(suite: &Suite, dataset: &Dataset, problems: &mut Vec<String>) -> Vec<NumberedSplit> {
    let spec = suite.splits.clone().unwrap_or(SplitSpec::All);
    let seed = suite.seeds.first().copied().unwrap_or(0);
    spec.resolve(dataset, suite.num_splits, seed).unwrap_or_else(|error| {
        problems.push(one_line(&error));
        Vec::new()
    })
}

/// A dataset under a split and a seed.
struct At<'a> {
    suite: &'a Suite,
    attacks: &'a [PlannedAttack],
    place: usize,
    data: &'a Data,
    split: &'a NumberedSplit,
    seed: u64,
}

impl At<'_> {
    /// One job for the model trained on clean data, one for that trained without the test nodes, and one for each attack before
    /// training; those that nobody asks for are left out. Clean data is scored under every protocol of the suite.
    fn jobs(&self, method: &ConfiguredMethod) -> Vec<Job> {
        let places = |wanted: fn(&PlannedAttack) -> bool| {
            let all = (0..self.attacks.len()).filter(move |&place| wanted(&self.attacks[place]));
            all.map(Some).collect::<Vec<_>>()
        };
        let poisoning = places(|attack| attack.id.poisoning);
        let without_test = places(|attack| attack.inductive);
        let mut whole = places(|attack| !attack.id.poisoning && !attack.inductive);
        let only_inductive = !without_test.is_empty() && whole.is_empty() && poisoning.is_empty();
        if self.suite.clean && !only_inductive {
            whole.insert(0, None);
        }
        let mut jobs = vec![self.job(method, (None, false), whole)];
        if !without_test.is_empty() {
            let clean = self.suite.clean.then_some(None);
            jobs.push(self.job(method, (None, true), clean.into_iter().chain(without_test).collect()));
        }
        jobs.extend(poisoning.into_iter().map(|place| self.job(method, (place, false), vec![place])));
        jobs.retain(|job| !job.cells.is_empty());
        jobs
    }

    fn job(
        &self,
        method: &ConfiguredMethod,
        (poison, inductive): (Option<usize>, bool),
        scored: Vec<Option<usize>>,
    ) -> Job {
        let mut job = Job {
            data: self.place,
            method: method.clone(),
            split: self.split.clone(),
            seed: self.seed,
            attack_seed: self.suite.attack_seed.unwrap_or(self.seed),
            poison,
            inductive,
            judging: self.suite.judging(),
            cells: Vec::new(),
        };
        let attack = |place: usize| &self.attacks[place];
        let cell =
            |place: Option<usize>| job.cell(self.data, place, place.map(attack), self.suite.measure_shift);
        job.cells = scored.into_iter().map(cell).collect();
        job
    }
}

impl Job {
    /// A cell of this job; its key holds everything that its result depends on.
    pub(super) fn cell(
        &self,
        data: &Data,
        place: Option<usize>,
        attack: Option<&PlannedAttack>,
        measure_shift: bool,
    ) -> Cell {
        let id = CellId {
            dataset: data.record.name.clone(),
            model: self.method.method.name().to_string(),
            variant: self.method.variant.clone(),
            split: self.split.number,
            seed: self.seed,
            attack: attack.map(|attack| attack.id.clone()),
            inductive: self.inductive,
        };
        let mut depends_on = vec![
            json!(env!("CARGO_PKG_VERSION")),
            json!(data.record.sha256),
            json!(of_split(&self.split.split)),
            json!(self.method.hashed()),
            json!(attack.map(|attack| (&attack.settings, self.attack_seed))),
            json!(measure_shift),
            json!(id),
        ];
        // Where nothing was said, cells of earlier builds are the same.
        let positive = data.dataset.details().positive_class;
        if !self.judging.is_plain() || positive.is_some() {
            depends_on.push(json!([self.judging.metric, self.judging.threshold, positive]));
        }
        let depends_on = Value::Array(depends_on);
        Cell { id, key: fingerprint::of_text(&depends_on.to_string()), attack: place }
    }
}

/// A hash of the nodes of a split, which need not come with the data.
fn of_split(split: &Split) -> String {
    fingerprint::of_text(&json!([split.train, split.val, split.test]).to_string())
}

/// An error as an entry of a list.
fn one_line(error: &Error) -> String {
    error.to_string().replace("\n  hint: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_says_which_search_its_settings_come_from() {
        let settings = |keys: &str| {
            let text = format!("title = \"t\"\ndatasets = [\"texas\"]\nmodels = [\"gcn\"]\n{keys}");
            let suite: Suite = text.parse().unwrap();
            let gcn = Method::find("gcn", false, &Registry::default()).unwrap();
            let origin = found_settings::shipped_for("texas");
            settings_of(&suite, Path::new("s.toml"), &gcn, &origin, None).unwrap()
        };
        let (widest, one_budget) = (settings(""), settings("one_budget = true"));
        assert_ne!(widest, one_budget);
        assert!([widest, one_budget].iter().all(|found| *found != settings("found_settings = false")));
    }
}
