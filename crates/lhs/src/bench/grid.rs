//! The cells of a suite, in jobs: cells that one trained model serves.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toml::Table;

use super::contender::Contender;
use super::only::Only;
use super::suite::{AttackAxis, Suite, Variant};
use crate::attacks::{self, Attack};
use crate::error::{Error, Result};
use crate::eval::fingerprint;
use crate::eval::settings::{self, Layer};
use crate::eval::shipped::{self, Search};
use crate::graph::Dataset;
use crate::io::{self, LoadOptions};

/// What a cell is, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellId {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// Name of the variant; none for the model as it is.
    pub variant: Option<String>,
    /// Number of the split.
    pub split: usize,
    /// The seed.
    pub seed: u64,
    /// The attack; none on clean data.
    pub attack: Option<AttackId>,
}

/// Which attack on which occasion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttackId {
    /// Its name.
    pub name: String,
    /// How strong it is.
    pub rate: f64,
    /// Whether it came before training.
    pub poisoning: bool,
    /// Which of the repeats.
    pub repeat: u64,
}

/// An attack, ready to strike.
pub struct Strike {
    /// Which.
    pub id: AttackId,
    /// Its settings, complete.
    pub settings: Table,
    /// The attack.
    pub attack: Box<dyn Attack>,
}

/// A dataset, and the hash of all that a model can see of it.
pub struct Data {
    /// The dataset.
    pub dataset: Dataset,
    /// Its SHA-256.
    pub fingerprint: String,
}

/// One number to find.
pub struct Cell {
    /// What it is.
    pub id: CellId,
    /// A hash of everything that its result depends on.
    pub key: String,
    /// Place of its attack among those of the grid.
    pub strike: Option<usize>,
}

/// One model to train, and the cells that need it.
pub struct Job {
    /// Place of the data in the grid.
    pub data: usize,
    /// Who competes.
    pub contender: Contender,
    /// Its settings, complete.
    pub settings: Table,
    /// The split.
    pub split: usize,
    /// The seed.
    pub seed: u64,
    /// Place of the attack on what it learns from.
    pub poison: Option<usize>,
    /// What is scored.
    pub cells: Vec<Cell>,
}

/// A suite with its data, laid out.
pub struct Grid {
    /// Whether heterophily is measured.
    pub measure_shift: bool,
    /// The data.
    pub data: Vec<Data>,
    /// The attacks.
    pub strikes: Vec<Strike>,
    /// The work.
    pub jobs: Vec<Job>,
}

/// A model with complete settings for one dataset.
struct Contestant<'a> {
    contender: Contender,
    variant: Option<&'a str>,
    settings: Table,
}

impl Grid {
    /// Loads the data of a suite, checks everything that it names, and lays out the cells that are wanted. All that is
    /// wrong is said at once.
    pub fn new(suite: &Suite, file: &Path, only: &Only) -> Result<Self> {
        let mut problems = axes(suite);
        let contenders = contenders(suite, &mut problems);
        let strikes = strikes(suite, &mut problems);
        let data = data(suite, &mut problems);
        let mut jobs = Vec::new();
        for (place, found) in data.iter().enumerate() {
            let contestants = contestants(suite, file, &contenders, found, &mut problems);
            let splits = splits(suite, &found.dataset, &mut problems);
            for contestant in &contestants {
                for &seed in &suite.seeds {
                    for &split in &splits {
                        let at = At { suite, strikes: &strikes, data: place, found, split, seed };
                        jobs.extend(at.jobs(contestant));
                    }
                }
            }
        }
        refuse(file, &problems)?;
        Ok(Grid { measure_shift: suite.measure_shift, data, strikes, jobs: wanted(jobs, only, file)? })
    }

    /// Whether the course of training is kept: once per model and dataset.
    pub fn keeps_curve(&self, job: &Job, cell: &Cell) -> bool {
        let first = |other: &&Job| other.data == job.data && other.poison.is_none();
        let first = self.jobs.iter().find(first);
        cell.strike.is_none() && first.is_some_and(|first| (first.split, first.seed) == (job.split, job.seed))
    }

    /// All cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.jobs.iter().flat_map(|job| &job.cells)
    }
}

/// What is wrong with the axes themselves: nothing on them, or the same twice.
fn axes(suite: &Suite) -> Vec<String> {
    let texts = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>();
    let variants = suite.variants.iter().map(|variant| format!("{} of {}", variant.name, variant.model));
    let axes = [
        ("datasets", suite.datasets.clone(), true),
        ("models", suite.models.clone(), true),
        ("seeds", suite.seeds.iter().map(u64::to_string).collect(), true),
        ("splits", texts(suite.splits.as_deref().unwrap_or_default()), suite.splits.is_some()),
        ("variants", variants.collect(), false),
    ];
    let mut problems = Vec::new();
    for (axis, values, needed) in axes {
        if values.is_empty() && needed {
            problems.push(format!("`{axis}` is empty, so there is nothing to run"));
        }
        let mut seen = BTreeSet::new();
        problems.extend(
            values
                .iter()
                .filter(|value| !seen.insert(*value))
                .map(|value| format!("`{axis}` names {value} twice")),
        );
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

/// The jobs with the cells that are wanted.
fn wanted(mut jobs: Vec<Job>, only: &Only, file: &Path) -> Result<Vec<Job>> {
    jobs.iter_mut().for_each(|job| job.cells.retain(|cell| only.wants(&cell.id)));
    jobs.retain(|job| !job.cells.is_empty());
    if jobs.is_empty() {
        return Err(Error::input(
            file,
            "",
            "no cell is left to run",
            "let --only name values that the suite has, and give the suite clean cells or attacks",
        ));
    }
    Ok(jobs)
}

/// The models, variants of unknown ones aside.
fn contenders(suite: &Suite, problems: &mut Vec<String>) -> Vec<Contender> {
    let mut found = Vec::new();
    for name in &suite.models {
        match Contender::find(name, suite.clustering) {
            Ok(contender) => found.push(contender),
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

fn strikes(suite: &Suite, problems: &mut Vec<String>) -> Vec<Strike> {
    let mut strikes = Vec::new();
    for axis in &suite.attacks {
        if axis.rates.is_empty() || axis.repeats == 0 {
            problems.push(format!("attack `{}` has no rates or no repeats", axis.name));
        }
        match strikes_of(axis) {
            Ok(found) => strikes.extend(found),
            Err(error) => problems.push(format!("attack `{}`: {}", axis.name, one_line(&error))),
        }
    }
    strikes
}

fn strikes_of(axis: &AttackAxis) -> Result<Vec<Strike>> {
    let kind = attacks::kind(&axis.name)?;
    let own = Layer::from_table(axis.settings.clone());
    let mut strikes = Vec::new();
    for &rate in &axis.rates {
        let mut settings = settings::layered_over(&(kind.defaults)(), std::slice::from_ref(&own))?;
        settings.insert("rate".into(), rate.into());
        for repeat in 0..axis.repeats {
            let id = AttackId { name: axis.name.clone(), rate, poisoning: axis.poisoning, repeat };
            strikes.push(Strike { id, settings: settings.clone(), attack: (kind.build)(&settings)? });
        }
    }
    Ok(strikes)
}

fn data(suite: &Suite, problems: &mut Vec<String>) -> Vec<Data> {
    let (mut found, mut names): (Vec<Data>, BTreeSet<String>) = Default::default();
    for source in &suite.datasets {
        let loaded = io::load(Path::new(source), &LoadOptions::default());
        match loaded.and_then(|dataset| dataset.check_trainable().map(|()| dataset)) {
            Ok(dataset) if !names.insert(dataset.name().to_string()) => {
                problems.push(format!("two datasets are called `{}`", dataset.name()));
            }
            Ok(dataset) => found.push(Data { fingerprint: fingerprint::of_dataset(&dataset), dataset }),
            Err(error) => problems.push(one_line(&error)),
        }
    }
    found
}

/// The models and their variants, with their settings for a dataset.
fn contestants<'a>(
    suite: &'a Suite,
    file: &Path,
    contenders: &[Contender],
    data: &Data,
    problems: &mut Vec<String>,
) -> Vec<Contestant<'a>> {
    let mut found = Vec::new();
    let mut add = |contender: Contender, variant: Option<&'a Variant>| {
        match settings_of(suite, file, contender, data.dataset.name(), variant) {
            Ok(settings) => {
                let variant = variant.map(|variant| variant.name.as_str());
                found.push(Contestant { contender, variant, settings });
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
    for &contender in contenders {
        add(contender, None);
        let own = suite.variants.iter().filter(|variant| variant.model == contender.name());
        own.for_each(|variant| add(contender, Some(variant)));
    }
    found
}

fn settings_of(
    suite: &Suite,
    file: &Path,
    contender: Contender,
    dataset: &str,
    variant: Option<&Variant>,
) -> Result<Table> {
    let own: Vec<&Table> = (suite.settings.get(contender.name()).into_iter())
        .chain(variant.map(|variant| &variant.set))
        .collect();
    let Contender::Model(kind) = contender else {
        return match own.is_empty() {
            true => Ok(Table::new()),
            false => {
                Err(Error::setting(contender.name(), "ways of clustering have no settings", "leave them out"))
            }
        };
    };
    let mut layers = Vec::new();
    if suite.found_settings {
        let search = if suite.one_budget { Search::OneBudget } else { Search::Widest };
        layers.extend(shipped::layer(dataset, kind, search)?.map(|(layer, _)| layer));
    }
    layers.extend(own.into_iter().map(|table| Layer::from_table(table.clone()).in_file(file)));
    let settings = settings::layered(kind, &layers)?;
    (kind.build)(&settings).map(|_| settings)
}

fn splits(suite: &Suite, dataset: &Dataset, problems: &mut Vec<String>) -> Vec<usize> {
    let count = dataset.splits().len();
    if count == 0 {
        problems.push(format!(
            "{} comes without splits: make some with `lhs data convert DATA --to NEW --splits random:0.6,0.2,0.2`",
            dataset.name()
        ));
        return Vec::new();
    }
    let Some(named) = &suite.splits else { return (0..count).collect() };
    for split in named.iter().filter(|&&split| split >= count) {
        problems.push(format!("{} has no split {split}: choose among 0 to {}", dataset.name(), count - 1));
    }
    named.iter().copied().filter(|&split| split < count).collect()
}

/// A dataset under a split and a seed.
struct At<'a> {
    suite: &'a Suite,
    strikes: &'a [Strike],
    data: usize,
    found: &'a Data,
    split: usize,
    seed: u64,
}

impl At<'_> {
    /// One job for the model trained on clean data, and one for each attack before training.
    fn jobs(&self, contestant: &Contestant<'_>) -> Vec<Job> {
        let places = |poisoning: bool| {
            (0..self.strikes.len()).filter(move |&place| self.strikes[place].id.poisoning == poisoning)
        };
        let mut cells: Vec<Cell> = Vec::new();
        if self.suite.clean {
            cells.push(self.cell(contestant, None));
        }
        cells.extend(places(false).map(|place| self.cell(contestant, Some(place))));
        let mut jobs = vec![self.job(contestant, None, cells)];
        jobs.extend(
            places(true)
                .map(|place| self.job(contestant, Some(place), vec![self.cell(contestant, Some(place))])),
        );
        jobs
    }

    fn job(&self, contestant: &Contestant<'_>, poison: Option<usize>, cells: Vec<Cell>) -> Job {
        Job {
            data: self.data,
            contender: contestant.contender,
            settings: contestant.settings.clone(),
            split: self.split,
            seed: self.seed,
            poison,
            cells,
        }
    }

    fn cell(&self, contestant: &Contestant<'_>, place: Option<usize>) -> Cell {
        let strike = place.map(|place| &self.strikes[place]);
        let id = CellId {
            dataset: self.found.dataset.name().to_string(),
            model: contestant.contender.name().to_string(),
            variant: contestant.variant.map(str::to_string),
            split: self.split,
            seed: self.seed,
            attack: strike.map(|strike| strike.id.clone()),
        };
        let depends_on = json!([
            env!("CARGO_PKG_VERSION"),
            self.found.fingerprint,
            contestant.settings,
            strike.map(|strike| &strike.settings),
            self.suite.measure_shift,
            id,
        ]);
        Cell { id, key: fingerprint::of_text(&depends_on.to_string()), strike: place }
    }
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
            let text = format!("title = \"t\"\ndatasets = [\"texas\"]\nmodels = [\"lhs\"]\n{keys}");
            let suite = Suite::parse(&text, Path::new("s.toml")).unwrap();
            let lhs = Contender::find("lhs", false).unwrap();
            settings_of(&suite, Path::new("s.toml"), lhs, "texas", None).unwrap()
        };
        let (widest, one_budget) = (settings(""), settings("one_budget = true"));
        assert_ne!(widest, one_budget);
        assert!([widest, one_budget].iter().all(|found| *found != settings("found_settings = false")));
    }
}
