//! Whether a training fits into memory, and which setting would make it fit.

use toml::{Table, Value};

use super::{Model, settings};
use crate::error::{Error, Result};
use crate::training::memory_plan::readable;
use crate::training::{DataSizes, available_bytes};

/// No machine can address more, whether or not it says what it has.
const ADDRESSABLE: u64 = 1 << 47;

/// Refuses a training that cannot fit into what is free.
pub(super) fn ensure_fits<M: Model>(model: &M, sizes: &DataSizes) -> Result<()> {
    ensure_fits_into(model, sizes, available_bytes().unwrap_or(ADDRESSABLE))
}

fn ensure_fits_into<M: Model>(model: &M, sizes: &DataSizes, available: u64) -> Result<()> {
    let fits = |model: &M| model.memory(sizes).beyond_data() <= available;
    if fits(model) {
        return Ok(());
    }
    let table = Table::try_from(model).unwrap_or_default();
    let fitting = |key: &str, value: i64| {
        let mut table = table.clone();
        put(&mut table, key, value);
        settings::read::<M>(&table).is_ok_and(|model| model.validate().is_ok() && fits(&model))
    };
    let numbers = numbers(&table, &settings::defaults::<M>());
    let helpful = numbers.iter().find_map(|(key, value)| Some((key, largest(*value, |v| fitting(key, v))?)));
    let problem = format!(
        "training would need about {} of memory, {} are free",
        readable(model.memory(sizes).beyond_data()),
        readable(available)
    );
    Err(match helpful {
        Some((key, most)) => Error::setting(key, problem, format!("{key} = {most} or less would fit")),
        None => {
            let key = numbers.first().map_or("hidden", |(key, _)| key.as_str());
            let default = M::default();
            let remedy = if fits(&default) {
                "the defaults of the model would fit".to_string()
            } else {
                "no single setting makes it fit: choose a smaller graph or another model".to_string()
            };
            Error::setting(key, problem, remedy)
        }
    })
}

/// The whole-number settings, those that are larger than usual first, then `hidden`, then the others.
fn numbers(table: &Table, defaults: &Table) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    collect(table, defaults, "", &mut found);
    found.sort_by_key(|(key, _, unusual)| (!unusual, key != "hidden"));
    found.into_iter().map(|(key, value, _)| (key, value)).collect()
}

fn collect(table: &Table, defaults: &Table, prefix: &str, found: &mut Vec<(String, i64, bool)>) {
    for (key, value) in table {
        let usual = defaults.get(key);
        match value {
            Value::Integer(value) => {
                let unusual = usual.and_then(Value::as_integer).is_none_or(|usual| *value > usual);
                found.push((format!("{prefix}{key}"), *value, unusual));
            }
            Value::Table(inner) => {
                let empty = Table::new();
                let usual = usual.and_then(Value::as_table).unwrap_or(&empty);
                collect(inner, usual, &format!("{prefix}{key}."), found);
            }
            _ => {}
        }
    }
}

fn put(table: &mut Table, key: &str, value: i64) {
    match key.split_once('.') {
        None => {
            table.insert(key.into(), Value::Integer(value));
        }
        Some((outer, rest)) => {
            if let Some(inner) = table.get_mut(outer).and_then(Value::as_table_mut) {
                put(inner, rest, value);
            }
        }
    }
}

/// The largest number below one that does not do, if 1 or another does.
fn largest(too_large: i64, fits: impl Fn(i64) -> bool) -> Option<i64> {
    let (mut low, mut high) = (1, too_large);
    if high <= low || !fits(low) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::gcn::Gcn;
    use crate::models::lhs::Lhs;

    const SIZES: DataSizes = DataSizes {
        nodes: 10_000,
        entries: 100_000,
        directed: false,
        features: 500,
        values: 5_000_000,
        sparse: false,
        classes: 5,
        labelled: 8_000,
    };

    #[test]
    fn the_setting_that_is_to_blame_is_named_with_what_would_fit() {
        let wide = Gcn { hidden: 1_000_000, ..Gcn::default() };
        let error = ensure_fits_into(&wide, &SIZES, 2 << 30).unwrap_err();
        let Error::Setting { key, remedy, .. } = &error else { panic!("{error}") };
        assert_eq!(key, "hidden");
        let most: usize = remedy.split_whitespace().nth(2).unwrap().parse().unwrap();
        ensure_fits_into(&Gcn { hidden: most, ..Gcn::default() }, &SIZES, 2 << 30).unwrap();
        assert!(ensure_fits_into(&Gcn { hidden: most + 1, ..Gcn::default() }, &SIZES, 2 << 30).is_err());
        ensure_fits_into(&Gcn::default(), &SIZES, 2 << 30).unwrap();
    }

    #[test]
    fn settings_in_groups_are_found_and_hopeless_ones_are_said_to_be() {
        let mut deep = Lhs::default();
        deep.structure.refiner.folds = 1_000_000_000;
        let error = ensure_fits_into(&deep, &SIZES, 4 << 30).unwrap_err().to_string();
        assert!(error.contains("structure.refiner.folds"), "{error}");
        let error = ensure_fits_into(&Gcn::default(), &SIZES, 1 << 10).unwrap_err().to_string();
        assert!(error.contains("smaller graph"), "{error}");
        let both = Gcn { hidden: 1_000_000, layers: 1_000_000, ..Gcn::default() };
        let error = ensure_fits_into(&both, &SIZES, 4 << 30).unwrap_err().to_string();
        assert!(error.contains("would fit"), "{error}");
    }
}
