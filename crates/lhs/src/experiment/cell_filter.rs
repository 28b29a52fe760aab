//! Part of a plan: some values of some fields, or one of several equal shares.

use std::fmt;
use std::str::FromStr;

use super::cell::CellId;
use super::fingerprint;
use crate::error::{Error, Result, nearest};

const FIELDS: [&str; 7] = ["dataset", "model", "variant", "split", "seed", "attack", "rate"];

/// Which cells are wanted: those that have one of the values in every field that is named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellFilter {
    wanted: Vec<(String, Vec<String>)>,
}

impl CellFilter {
    /// Reads `field=value,value,field=value`; a value without a field belongs to the field before it.
    pub fn parse(text: &str) -> Result<Self> {
        let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
        for piece in text.split(',').map(str::trim) {
            let value = match piece.split_once('=') {
                Some((field, value)) => {
                    let field = field.trim();
                    if !FIELDS.contains(&field) {
                        let problem = format!("there is no field `{field}`");
                        return Err(Error::setting("only", problem, nearest(field, &FIELDS)));
                    }
                    wanted.push((field.to_string(), Vec::new()));
                    value.trim()
                }
                None => piece,
            };
            let Some((_, values)) = wanted.last_mut().filter(|_| !value.is_empty()) else {
                return Err(Error::setting(
                    "only",
                    format!("`{text}` names no field and value"),
                    "write it like dataset=texas,model=lhs,gcn",
                ));
            };
            values.push(value.to_string());
        }
        Ok(CellFilter { wanted })
    }

    /// Whether a cell is wanted.
    pub fn wants(&self, cell: &CellId) -> bool {
        self.wanted.iter().all(|(field, values)| values.iter().any(|value| has(cell, field, value)))
    }
}

/// One of several shares of a plan, for several machines. Cells that need the same trained model stay together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which share, from 1.
    pub number: u64,
    /// Of how many.
    pub of: u64,
}

impl Shard {
    /// Whether a cell belongs to this share: a hash of what it is decides, so that every machine decides the same.
    pub fn wants(&self, cell: &CellId) -> bool {
        let trained = serde_json::to_string(&cell.trained()).unwrap_or_default();
        let digits = fingerprint::of_text(&trained);
        let hash = u64::from_str_radix(&digits[..16], 16).unwrap_or(0);
        hash % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text.split_once('/').map(|(number, of)| (number.trim().parse(), of.trim().parse()));
        match numbers {
            Some((Ok(number), Ok(of))) if number >= 1 && number <= of => Ok(Shard { number, of }),
            _ => Err(Error::setting(
                "shard",
                format!("`{text}` is not a share"),
                "write it like 2/8: the second of eight, counted from 1",
            )),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

fn has(cell: &CellId, field: &str, value: &str) -> bool {
    let attack = cell.attack.as_ref();
    match field {
        "dataset" => cell.dataset == value,
        "model" => cell.model == value,
        "variant" => cell.variant.as_deref().unwrap_or("none") == value,
        "split" => cell.split.to_string() == value,
        "seed" => cell.seed.to_string() == value,
        "attack" => attack.map_or("none", |attack| &attack.name) == value,
        _ => value.parse().is_ok_and(|rate: f64| attack.map_or(0.0, |attack| attack.rate) == rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::AttackId;

    fn cell(dataset: &str, model: &str, attack: Option<(&str, f64)>) -> CellId {
        let attack =
            attack.map(|(name, rate)| AttackId { name: name.into(), rate, poisoning: false, repeat: 0 });
        CellId {
            dataset: dataset.into(),
            model: model.into(),
            variant: None,
            split: 3,
            seed: 0,
            attack,
            inductive: false,
        }
    }

    #[test]
    fn values_without_a_field_belong_to_the_one_before() {
        let filter = CellFilter::parse("model=lhs,gcn,dataset=texas").unwrap();
        assert!(filter.wants(&cell("texas", "gcn", None)) && filter.wants(&cell("texas", "lhs", None)));
        assert!(!filter.wants(&cell("texas", "mlp", None)) && !filter.wants(&cell("cora", "lhs", None)));
        let filter = CellFilter::parse("attack=none, dice,rate=0,0.50").unwrap();
        assert!(filter.wants(&cell("a", "b", None)) && filter.wants(&cell("a", "b", Some(("dice", 0.5)))));
        assert!(!filter.wants(&cell("a", "b", Some(("dice", 0.1)))));
    }

    #[test]
    fn every_cell_belongs_to_one_share_and_stays_with_its_model() {
        let shards: Vec<Shard> = (1..=4).map(|number| Shard { number, of: 4 }).collect();
        let mut sizes = [0; 4];
        for split in 0..40 {
            let clean = CellId { split, ..cell("texas", "gcn", None) };
            let attacked = CellId { split, ..cell("texas", "gcn", Some(("dice", 0.5))) };
            let mine = |id: &CellId| shards.iter().position(|shard| shard.wants(id)).unwrap();
            assert_eq!(shards.iter().filter(|shard| shard.wants(&clean)).count(), 1);
            assert_eq!(mine(&clean), mine(&attacked));
            sizes[mine(&clean)] += 1;
        }
        assert!(sizes.iter().all(|&size| size > 2), "{sizes:?}");
        for text in ["", "1", "0/4", "5/4", "1/0", "a/b", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/8".parse::<Shard>().unwrap().to_string(), "2/8");
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, said) in [
            ("", "names no field"),
            ("lhs", "names no field"),
            ("modle=lhs", "did you mean `model`?"),
            ("model=", "names no field"),
        ] {
            let error = CellFilter::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
