//! What to try next: the defaults, then what was published, then random settings and small steps from the best ones in
//! turn.
//!
//! A proposal depends on the seed, the number of the trial and the trials before its batch, and on
//! nothing else: a search that was interrupted, or ran on other threads, proposes the same.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use toml::{Table, Value};

use super::Trial;
use crate::experiment::parallel::seed_of;
use crate::experiment::settings;
use crate::models::SearchSpace;

/// Settings that are searched, by their dotted names.
pub type Space = Vec<(&'static str, SearchSpace)>;

/// So many trials make "the best ones" mean something.
const ENOUGH: usize = 8;
/// A step goes at most so far across the range of a setting.
const STEP: f64 = 0.3;

/// Where a search begins.
pub struct Start<'a> {
    /// The settings of the first trial, complete.
    pub base: &'a Table,
    /// Those of the next ones, as TOML; only what is searched is taken from them.
    pub published: &'a [&'a str],
}

/// Proposes the complete settings of a trial.
pub fn propose(start: &Start<'_>, space: &Space, history: &[Trial], seed: u64, trial: usize) -> Table {
    let base = start.base;
    if trial == 0 {
        return base.clone();
    }
    if let Some(published) = start.published.get(trial - 1) {
        return with(base, space, &published.parse().unwrap_or_default());
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed_of(seed, trial as u64));
    let best = best_half(history);
    let explore = best.is_empty() || trial % 2 == 1;
    if explore {
        random(base, space, &mut rng)
    } else {
        near(best[rng.random_range(0..best.len())], space, &mut rng)
    }
}

/// The best half of the trials that were run to the end, which are few and good, of equals the earlier; none at first.
fn best_half(history: &[Trial]) -> Vec<&Table> {
    if history.len() < ENOUGH {
        return Vec::new();
    }
    let mut finished: Vec<&Trial> = history.iter().filter(|trial| trial.finished).collect();
    finished.sort_by(|a, b| b.value().total_cmp(&a.value()).then(a.trial.cmp(&b.trial)));
    finished.truncate(finished.len().div_ceil(2));
    finished.into_iter().map(|trial| &trial.settings).collect()
}

fn with(base: &Table, space: &Space, published: &Table) -> Table {
    let mut table = base.clone();
    for (key, _) in space {
        if let Some(value) = settings::get(published, key) {
            settings::insert(&mut table, key, value.clone());
        }
    }
    table
}

fn random(base: &Table, space: &Space, rng: &mut ChaCha8Rng) -> Table {
    let mut table = base.clone();
    for (key, range) in space {
        let value = match range {
            SearchSpace::Choice(values) if values.is_empty() => continue,
            SearchSpace::Choice(values) => values[rng.random_range(0..values.len())].clone(),
            range => number(range, rng.random(), settings::get(base, key)),
        };
        settings::insert(&mut table, key, value);
    }
    table
}

/// Moves about half of the settings (and at least one) of a good trial a little.
fn near(parent: &Table, space: &Space, rng: &mut ChaCha8Rng) -> Table {
    let mut table = parent.clone();
    let surely = rng.random_range(0..space.len().max(1));
    for (index, (key, range)) in space.iter().enumerate() {
        let moved = rng.random_bool(0.5) || index == surely;
        let (forward, step) = (rng.random_bool(0.5), rng.random::<f64>() - rng.random::<f64>());
        let current = settings::get(parent, key);
        if !moved {
            continue;
        }
        let value = match range {
            SearchSpace::Choice(values) if values.is_empty() => continue,
            SearchSpace::Choice(values) => neighbour(values, current, forward),
            range => number(range, position(range, current) + STEP * step, current),
        };
        settings::insert(&mut table, key, value);
    }
    table
}

/// The value beside the current one; the ends turn back.
fn neighbour(values: &[Value], current: Option<&Value>, forward: bool) -> Value {
    let last = values.len() - 1;
    let place = values.iter().position(|value| Some(value) == current).unwrap_or(last / 2);
    let next = match (forward, place) {
        (true, place) if place == last => last.saturating_sub(1),
        (true, place) => place + 1,
        (false, 0) => 1.min(last),
        (false, place) => place - 1,
    };
    values[next].clone()
}

/// The number at a position 0..=1 of its range, in the type of `like`.
fn number(range: &SearchSpace, position: f64, like: Option<&Value>) -> Value {
    let position = position.clamp(0.0, 1.0);
    let value = match *range {
        SearchSpace::Uniform(low, high) => low + position * (high - low),
        SearchSpace::LogUniform(low, high) => {
            (low.ln() + position * (high.ln() - low.ln())).exp().clamp(low, high)
        }
        SearchSpace::Choice(_) => position,
    };
    if matches!(like, Some(Value::Integer(_))) {
        Value::Integer(value.round() as i64)
    } else {
        Value::Float(readable(value))
    }
}

/// Four digits are enough for a setting, and a person can read them.
fn readable(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn position(range: &SearchSpace, value: Option<&Value>) -> f64 {
    let value = value.and_then(|value| value.as_float().or_else(|| value.as_integer().map(|i| i as f64)));
    let position = match (range, value) {
        (SearchSpace::Uniform(low, high), Some(value)) => (value - low) / (high - low),
        (SearchSpace::LogUniform(low, high), Some(value)) if value > 0.0 => {
            (value / low).ln() / (high / low).ln()
        }
        (SearchSpace::LogUniform(..), Some(_)) => 0.0,
        _ => 0.5,
    };
    if position.is_finite() { position.clamp(0.0, 1.0) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Table {
        "hidden = 64\nrate = 0.01\ndropout = 0.5\nwidth = 3\n".parse().unwrap()
    }

    fn space() -> Space {
        vec![
            ("hidden", SearchSpace::Choice([16, 32, 64].map(Value::Integer).to_vec())),
            ("rate", SearchSpace::LogUniform(1e-4, 1e-1)),
            ("dropout", SearchSpace::Uniform(0.0, 0.9)),
            ("width", SearchSpace::Uniform(1.0, 9.0)),
        ]
    }

    fn start(base: &Table) -> Start<'_> {
        Start { base, published: &[] }
    }

    #[test]
    fn what_was_published_comes_second() {
        let start = Start { base: &base(), published: &["hidden = 16\nunknown = 1"] };
        let mut expected = base();
        expected.insert("hidden".into(), Value::Integer(16));
        assert_eq!(propose(&start, &space(), &[], 1, 1), expected);
    }

    #[test]
    fn what_models_publish_can_be_tried() {
        for kind in crate::models::kinds() {
            let space = (kind.search)();
            for text in kind.published {
                let published: Table = text.parse().unwrap();
                for (key, _) in settings::leaves(&published) {
                    assert!(space.iter().any(|(searched, _)| *searched == key), "{}: {key}", kind.name);
                }
                (kind.build)(&with(&(kind.defaults)(), &space, &published)).unwrap();
            }
        }
    }

    fn history() -> Vec<Trial> {
        let trial = |number: usize| Trial {
            trial: number,
            finished: true,
            settings: propose(&start(&base()), &space(), &[], 1, number),
            values: vec![number as f64],
            seconds: 0.0,
        };
        (0..12).map(trial).collect()
    }

    #[test]
    fn the_defaults_come_first_and_proposals_repeat() {
        let history = history();
        assert_eq!(propose(&start(&base()), &space(), &history, 1, 0), base());
        for number in [1, 2, 20, 21] {
            let proposal = propose(&start(&base()), &space(), &history, 1, number);
            assert_eq!(proposal, propose(&start(&base()), &space(), &history, 1, number));
            assert_ne!(proposal, propose(&start(&base()), &space(), &history, 2, number));
        }
    }

    #[test]
    fn proposals_stay_in_range_and_keep_their_types() {
        let history = history();
        for number in 1..400 {
            let proposal = propose(&start(&base()), &space(), &history, 7, number);
            assert!([16, 32, 64].contains(&proposal["hidden"].as_integer().unwrap()));
            assert!((1e-4..=1e-1).contains(&proposal["rate"].as_float().unwrap()));
            assert!((0.0..=0.9).contains(&proposal["dropout"].as_float().unwrap()));
            assert!((1..=9).contains(&proposal["width"].as_integer().unwrap()));
        }
    }

    #[test]
    fn every_second_trial_stays_near_a_good_one() {
        let history = history();
        let good: Vec<&Table> = history[6..].iter().map(|trial| &trial.settings).collect();
        for number in (100..200).step_by(2) {
            let proposal = propose(&start(&base()), &space(), &history, 7, number);
            let rate = |table: &Table| table["rate"].as_float().unwrap().ln();
            let reach = STEP * (1e3f64).ln() + 1e-3;
            assert!(good.iter().any(|parent| (rate(parent) - rate(&proposal)).abs() < reach));
        }
    }
}
