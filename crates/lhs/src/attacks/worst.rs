//! The worst of several attacks, node by node: what a table should show.
//!
//! A node is right only if it is right under every attack that is listed. That is not one changed graph: a model is scored on
//! what each attack leaves, with the same `rate`, and for every test node that answer counts in which the true class is the farthest
//! behind. Source: the usual "worst case over attacks" of image classification (Croce and Hein 2020), here for nodes.
//! Cost: that of all attacks.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{Attack, AttackContext, AttackKind, Change, Part, in_range, registry};
use crate::error::{Error, Result, nearest};
use crate::graph::{Dataset, Split};

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorstConfig {
    /// How strong each of them is.
    pub rate: f64,
    /// Names of attacks, or tables of a `name` and settings.
    pub attacks: Vec<Value>,
}

impl Default for WorstConfig {
    fn default() -> Self {
        WorstConfig { rate: 1.0, attacks: vec!["injected".into(), "adaptive".into(), "evolve".into()] }
    }
}

/// The attacks, built.
pub struct Worst {
    rate: f64,
    parts: Vec<Part>,
}

impl WorstConfig {
    /// Builds the attacks.
    pub fn build(&self) -> Result<Worst> {
        in_range("rate", self.rate, 100.0)?;
        if self.attacks.is_empty() {
            return Err(Error::setting(
                "attacks",
                "there is none",
                "name some, such as `adaptive` and `evolve`",
            ));
        }
        let parts = self.attacks.iter().map(|named| part(named, self.rate)).collect::<Result<Vec<_>>>()?;
        Ok(Worst { rate: self.rate, parts })
    }
}

/// One of the attacks.
fn part(named: &Value, rate: f64) -> Result<Part> {
    let refused = |problem: String| {
        Error::setting(
            "attacks",
            problem,
            "write names, or tables such as { name = \"adaptive\", mode = \"gradient\" }",
        )
    };
    let (name, own) = match named {
        Value::String(name) => (name.as_str(), Table::new()),
        Value::Table(table) => {
            let name = table.get("name").and_then(Value::as_str);
            (name.ok_or_else(|| refused(format!("{named} has no name")))?, table.clone())
        }
        other => return Err(refused(format!("{other} is neither a name nor a table"))),
    };
    let kind = registry::kind(name)?;
    if kind.name == KIND.name {
        return Err(refused("`worst` cannot be one of its own attacks".into()));
    }
    let mut settings = (kind.defaults)();
    for (key, value) in own.into_iter().filter(|(key, _)| key != "name") {
        if key == "rate" {
            return Err(refused(format!("`{name}` has a rate of its own, but all are equally strong")));
        }
        if !settings.contains_key(&key) {
            let known: Vec<&str> = settings.keys().map(String::as_str).collect();
            return Err(Error::setting(
                "attacks",
                format!("`{name}` has no setting `{key}`"),
                nearest(&key, &known),
            ));
        }
        settings.insert(key, value);
    }
    settings.insert("rate".into(), rate.into());
    Ok(Part { name: kind.name, attack: (kind.build)(&settings)?, settings })
}

impl Attack for Worst {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 100.0)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    /// That of the attack which may do the most.
    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        self.parts.iter().map(|part| part.attack.budget(dataset, split)).max().unwrap_or(0)
    }

    fn looks_at_victim(&self) -> bool {
        self.parts.iter().any(|part| part.attack.looks_at_victim())
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn plan(&self, _context: &AttackContext<'_>, _seed: u64) -> Result<Change> {
        if self.rate == 0.0 {
            return Ok(Change::default());
        }
        let names: Vec<String> = self.parts.iter().map(|part| format!("`{}`", part.name)).collect();
        Err(Error::data(
            "`worst` judges every node by the attack that hurts it most, and no single graph can hold that",
            format!("score a trained model under it, or carry out one of {}", names.join(", ")),
        ))
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "worst",
    summary: "the worst of several attacks for each node by itself; for scoring, not for a changed graph",
    defaults: registry::defaults::<WorstConfig>,
    build: |table| Ok(Box::new(registry::read::<WorstConfig>(table)?.build()?)),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn build(attacks: &str) -> Result<Worst> {
        let table: Table = format!("rate = 0.5\nattacks = {attacks}").parse().unwrap();
        registry::read::<WorstConfig>(&table)?.build()
    }

    #[test]
    fn attacks_are_named_with_or_without_settings() {
        let worst = build("[\"evolve\", { name = \"adaptive\", mode = \"gradient\" }]").unwrap();
        let names: Vec<&str> = worst.parts.iter().map(|part| part.name).collect();
        assert_eq!(names, ["evolve", "adaptive"]);
        assert_eq!(worst.parts[1].settings["mode"].as_str(), Some("gradient"));
        assert!(worst.parts.iter().all(|part| part.attack.rate() == 0.5));
    }

    #[test]
    fn nonsense_is_answered_with_what_is_meant() {
        for (attacks, said) in [
            ("[]", "there is none"),
            ("[\"evolv\"]", "did you mean `evolve`?"),
            ("[\"worst\"]", "one of its own"),
            ("[3]", "neither a name nor a table"),
            ("[{ mode = \"gradient\" }]", "has no name"),
            ("[{ name = \"adaptive\", mod = \"gradient\" }]", "did you mean `mode`?"),
            ("[{ name = \"adaptive\", rate = 2.0 }]", "equally strong"),
            ("[{ name = \"adaptive\", mode = \"gradeint\" }]", "gradeint"),
        ] {
            let error = build(attacks).err().expect(attacks).to_string();
            assert!(error.contains(said), "{attacks}: {error}");
        }
    }
}
