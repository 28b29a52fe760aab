//! `--only dataset=texas,cora,model=lhs`: part of a grid.

use super::grid::CellId;
use crate::error::{Error, Result, nearest};

const FIELDS: [&str; 7] = ["dataset", "model", "variant", "split", "seed", "attack", "rate"];

/// Which cells are wanted: those that have one of the values in every field that is named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Only {
    wanted: Vec<(String, Vec<String>)>,
}

impl Only {
    /// Reads `field=value,value,field=value`; a value without a field belongs to the field before it.
    pub fn parse(text: &str) -> Result<Self> {
        let mut wanted: Vec<(String, Vec<String>)> = Vec::new();
        for piece in text.split(',').map(str::trim) {
            let value = match piece.split_once('=') {
                Some((field, value)) => {
                    let field = field.trim();
                    if !FIELDS.contains(&field) {
                        let problem = format!("there is no field `{field}`");
                        return Err(Error::setting("--only", problem, nearest(field, &FIELDS)));
                    }
                    wanted.push((field.to_string(), Vec::new()));
                    value.trim()
                }
                None => piece,
            };
            let Some((_, values)) = wanted.last_mut().filter(|_| !value.is_empty()) else {
                return Err(Error::setting(
                    "--only",
                    format!("`{text}` names no field and value"),
                    "write it like dataset=texas,model=lhs,gcn",
                ));
            };
            values.push(value.to_string());
        }
        Ok(Only { wanted })
    }

    /// Whether a cell is wanted.
    pub fn wants(&self, cell: &CellId) -> bool {
        self.wanted.iter().all(|(field, values)| values.iter().any(|value| has(cell, field, value)))
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
    use crate::bench::AttackId;

    fn cell(dataset: &str, model: &str, attack: Option<(&str, f64)>) -> CellId {
        let attack =
            attack.map(|(name, rate)| AttackId { name: name.into(), rate, poisoning: false, repeat: 0 });
        CellId { dataset: dataset.into(), model: model.into(), variant: None, split: 3, seed: 0, attack }
    }

    #[test]
    fn values_without_a_field_belong_to_the_one_before() {
        let only = Only::parse("model=lhs,gcn,dataset=texas").unwrap();
        assert!(only.wants(&cell("texas", "gcn", None)) && only.wants(&cell("texas", "lhs", None)));
        assert!(!only.wants(&cell("texas", "mlp", None)) && !only.wants(&cell("cora", "lhs", None)));
        let only = Only::parse("attack=none, dice,rate=0,0.50").unwrap();
        assert!(only.wants(&cell("a", "b", None)) && only.wants(&cell("a", "b", Some(("dice", 0.5)))));
        assert!(!only.wants(&cell("a", "b", Some(("dice", 0.1)))));
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, said) in [
            ("", "names no field"),
            ("lhs", "names no field"),
            ("modle=lhs", "did you mean `model`?"),
            ("model=", "names no field"),
        ] {
            let error = Only::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
