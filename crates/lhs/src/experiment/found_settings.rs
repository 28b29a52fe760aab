//! Settings that were found for a dataset: one file per dataset, a section per model.
//!
//! `configs/DATASET.toml` in the working folder (where `lhs tune` writes) is asked first, then the file of
//! that name that came with the binary. To ship another file, put it into `configs/` and name it here.

use std::path::{Path, PathBuf};

use super::settings::Layer;
use crate::error::{Error, Result};
use crate::models::ModelKind;

/// Which of the settings found for a dataset are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Those of the widest search, in `configs/`.
    Widest,
    /// Those of the search that gives every model the same, in `configs/one-budget/` where the widest one was another.
    OneBudget,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$((concat!("configs/", $name, ".toml"), include_str!(concat!("../../configs/", $name, ".toml")))),*]
    };
}

/// File, and its text.
const SHIPPED: &[(&str, &str)] = shipped![
    "actor",
    "chameleon",
    "citeseer",
    "cora",
    "cornell",
    "cornell-geom",
    "pubmed",
    "squirrel",
    "texas",
    "wisconsin",
    "one-budget/actor",
    "one-budget/chameleon",
    "one-budget/citeseer",
    "one-budget/cora",
    "one-budget/cornell",
    "one-budget/pubmed",
    "one-budget/squirrel",
    "one-budget/texas",
    "one-budget/wisconsin",
];

/// The settings found for a model on a dataset, if there are any, and the file they stand in.
pub fn layer(dataset: &str, kind: &ModelKind, search: Search) -> Result<Option<(Layer, PathBuf)>> {
    if search == Search::OneBudget
        && let Some(found) = layer_in(Path::new("configs/one-budget").join(base_name(dataset)), kind)?
    {
        return Ok(Some(found));
    }
    layer_in(file_name(dataset), kind)
}

fn layer_in(file: PathBuf, kind: &ModelKind) -> Result<Option<(Layer, PathBuf)>> {
    let local = match std::fs::read_to_string(&file) {
        Ok(text) => Layer::from_config(&text, &file, kind)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("read", &file)(error)),
    };
    if let Some(layer) = local {
        return Ok(Some((layer, file)));
    }
    let Some(text) = shipped(&file) else { return Ok(None) };
    let file = Path::new("(shipped)").join(file);
    Ok(Layer::from_config(text, &file, kind)?.map(|layer| (layer, file)))
}

/// The text that came with the binary, whatever the case of the dataset's name.
fn shipped(file: &Path) -> Option<&'static str> {
    let same = |known: &str| file.to_str().is_some_and(|file| known.eq_ignore_ascii_case(file));
    SHIPPED.iter().find(|(known, _)| same(known)).map(|(_, text)| *text)
}

/// `configs/DATASET.toml`.
pub fn file_name(dataset: &str) -> PathBuf {
    Path::new("configs").join(base_name(dataset))
}

fn base_name(dataset: &str) -> String {
    format!("{}.toml", slug(dataset))
}

/// A name as part of a file name: whatever is not a letter, a digit, `.`, `_` or `-` becomes a `-`.
pub fn slug(name: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let slug: String = name.chars().map(|c| if safe(c) { c } else { '-' }).collect();
    if slug.chars().all(|c| c == '.') { "data".into() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models;

    #[test]
    fn every_file_in_configs_is_shipped_and_valid() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let count = |folder: &str| {
            let files = std::fs::read_dir(root.join(folder)).unwrap();
            files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "toml")).count()
        };
        let on_disk = count("configs") + count("configs/one-budget");
        assert_eq!(on_disk, SHIPPED.len(), "name each file of configs/ in SHIPPED");
        for (file, text) in SHIPPED {
            for kind in models::kinds() {
                if let Some(layer) = Layer::from_config(text, Path::new(file), kind).unwrap() {
                    crate::experiment::settings::layered(kind, &[layer]).unwrap();
                }
            }
        }
    }

    #[test]
    fn one_budget_falls_back_to_the_only_search_there_was() {
        let file = |model: &str, search: Search| {
            layer("texas", models::kind(model).unwrap(), search).unwrap().unwrap().1
        };
        assert!(file("lhs", Search::OneBudget).ends_with("configs/one-budget/texas.toml"));
        assert!(file("lhs", Search::Widest).ends_with("configs/texas.toml"));
        assert!(file("h2gcn", Search::OneBudget).ends_with("configs/texas.toml"));
    }

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(slug("cora"), "cora");
        assert_eq!(slug("../my data/x"), "..-my-data-x");
        assert_eq!((slug(".."), slug("")), ("data".to_string(), "data".to_string()));
    }
}
