//! The list of attacks that the command line and reports know by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{
    Attack, adaptive, dice, evolve, features, fga, injected, metattack, nettack, ood, prbcd, random, worst,
};
use crate::error::{Error, Result};

/// An attack as the command line knows it.
pub struct AttackKind {
    /// The name given to `lhs attack`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Every setting with its default; one of them is `rate`.
    pub defaults: fn() -> Table,
    /// Reads settings (a complete table) and checks their ranges.
    pub build: fn(&Table) -> Result<Box<dyn Attack>>,
}

impl AttackKind {
    /// The attack with these settings at another strength.
    pub fn at_rate(&self, settings: &Table, rate: f64) -> Result<Box<dyn Attack>> {
        let mut settings = settings.clone();
        settings.insert("rate".into(), Value::Float(rate));
        (self.build)(&settings)
    }
}

/// All attacks, in the order in which they are listed.
pub fn kinds() -> &'static [AttackKind] {
    &[
        injected::KIND,
        ood::KIND,
        random::KIND,
        dice::KIND,
        metattack::KIND,
        prbcd::PRBCD,
        prbcd::PGD,
        fga::KIND,
        nettack::KIND,
        adaptive::KIND,
        evolve::KIND,
        worst::KIND,
        features::NOISE,
        features::MASKING,
    ]
}

/// The attack of that name; the error names the nearest one.
pub fn kind(name: &str) -> Result<&'static AttackKind> {
    kinds().iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names: Vec<&str> = kinds().iter().map(|kind| kind.name).collect();
        Error::setting("attack", format!("there is no attack `{name}`"), crate::error::nearest(name, &names))
    })
}

/// The defaults of a config as a table: [`AttackKind::defaults`] of every attack.
pub(super) fn defaults<C: Default + Serialize>() -> Table {
    Table::try_from(C::default()).unwrap_or_default()
}

/// A config from a table, its ranges checked: [`AttackKind::build`] of every attack.
pub(super) fn build<C: Attack + DeserializeOwned + 'static>(table: &Table) -> Result<Box<dyn Attack>> {
    let config: C = read(table)?;
    config.validate()?;
    Ok(Box::new(config))
}

/// A config from a table.
pub(super) fn read<C: DeserializeOwned>(table: &Table) -> Result<C> {
    table.clone().try_into().map_err(|error: toml::de::Error| {
        Error::data(
            format!("the settings of the attack cannot be read: {}", error.message()),
            "the reference lists the settings with their defaults",
        )
    })
}
