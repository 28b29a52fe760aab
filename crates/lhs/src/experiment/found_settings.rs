//! Settings that were found for a dataset: one file per dataset, a section per model.
//!
//! `configs/DATASET.toml` in the working folder (where `lhs tune` writes) is asked first, then the files that came with the
//! binary. A file says in its section `[data]` which data it is about. To ship another file, put it into `configs/` and name it
//! here.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::config_file;
use super::settings::Layer;
use crate::error::{Error, Result};
use crate::graph::Origin;
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

/// The section that says which data a file is about.
pub(super) const DATA: &str = "data";

/// The settings found for a model on some data, if there are any, and the file they stand in. They are found by what the data
/// is, or is a copy of, whatever its file is called.
pub fn layer(origin: &Origin, kind: &ModelKind, search: Search) -> Result<Option<(Layer, PathBuf)>> {
    if search == Search::OneBudget
        && let Some(found) = layer_in("configs/one-budget", origin, kind)?
    {
        return Ok(Some(found));
    }
    layer_in("configs", origin, kind)
}

fn layer_in(folder: &str, origin: &Origin, kind: &ModelKind) -> Result<Option<(Layer, PathBuf)>> {
    let file = Path::new(folder).join(base_name(&origin.name));
    if let Some(text) = text_of(&file)?
        && is_about(&text, &file, origin)?
        && let Some(layer) = Layer::from_config(&text, &file, kind)?
    {
        return Ok(Some((layer, file)));
    }
    for (name, text) in SHIPPED {
        let name = Path::new(name);
        if name.parent() == Some(Path::new(folder)) && is_about(text, name, origin)? {
            let file = Path::new("(shipped)").join(name);
            return Ok(Layer::from_config(text, &file, kind)?.map(|layer| (layer, file)));
        }
    }
    Ok(None)
}

fn text_of(file: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", file)(error)),
    }
}

/// The data that a settings file is about, by SHA-256 of its content; none if it does not say.
fn data_of(text: &str, file: &Path) -> Result<Option<Vec<String>>> {
    #[derive(Deserialize)]
    struct About {
        data: Option<Known>,
    }
    #[derive(Deserialize)]
    struct Known {
        sha256: Vec<String>,
    }
    let about: About = toml::from_str(text).map_err(|error| {
        Error::input(
            file,
            super::settings::place(text, &error),
            error.message(),
            "write `sha256 = [\"…\"]` under [data]",
        )
    })?;
    Ok(about.data.map(|data| data.sha256))
}

fn is_about(text: &str, file: &Path, origin: &Origin) -> Result<bool> {
    Ok(data_of(text, file)?.is_some_and(|known| known.contains(&origin.sha256)))
}

/// Refuses to mix the settings of different data in one file.
pub fn check_data(file: &Path, origin: &Origin) -> Result<()> {
    let Some(text) = text_of(file)? else { return Ok(()) };
    match data_of(&text, file)? {
        Some(known) if !known.contains(&origin.sha256) => Err(Error::input(
            file,
            "section [data]",
            format!("these settings were found for other data than {}", origin.name),
            "write to another file, or remove this one",
        )),
        _ => Ok(()),
    }
}

/// Says in a settings file which data it is about.
pub fn write_data(file: &Path, origin: &Origin) -> Result<()> {
    let text = text_of(file)?.unwrap_or_default();
    if data_of(&text, file)?.is_some() {
        return Ok(());
    }
    let table = Table::from_iter([("sha256".to_string(), Value::Array(vec![origin.sha256.clone().into()]))]);
    let comment = "The data that these settings are for, by its content: whatever the file is called.";
    config_file::write_section(file, DATA, &[comment.to_string()], &table)
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

/// The data that a shipped file is about.
#[cfg(test)]
pub(super) fn shipped_for(name: &str) -> Origin {
    let shipped = SHIPPED.iter().find(|(file, _)| *file == format!("configs/{name}.toml"));
    let known = shipped.and_then(|(file, text)| data_of(text, Path::new(file)).unwrap()).unwrap();
    Origin { name: name.into(), sha256: known[0].clone() }
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
            layer(&shipped_for("texas"), models::kind(model).unwrap(), search).unwrap().unwrap().1
        };
        assert!(file("gcn", Search::OneBudget).ends_with("configs/one-budget/texas.toml"));
        assert!(file("gcn", Search::Widest).ends_with("configs/texas.toml"));
        assert!(file("h2gcn", Search::OneBudget).ends_with("configs/texas.toml"));
    }

    #[test]
    fn settings_follow_the_content_and_not_the_name() {
        let lhs = models::kind("lhs").unwrap();
        let renamed = Origin { name: "mine".into(), ..shipped_for("cora") };
        assert!(layer(&renamed, lhs, Search::Widest).unwrap().unwrap().1.ends_with("configs/cora.toml"));
        let stranger = Origin { name: "cora".into(), sha256: "0".repeat(64) };
        assert!(layer(&stranger, lhs, Search::Widest).unwrap().is_none());
    }

    #[test]
    fn a_file_is_about_one_dataset() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let (mine, other) = (shipped_for("cora"), shipped_for("texas"));
        check_data(&file, &mine).unwrap();
        std::fs::write(&file, "[lhs]\nhidden = 8\n").unwrap();
        write_data(&file, &mine).unwrap();
        check_data(&file, &mine).unwrap();
        assert!(check_data(&file, &other).unwrap_err().to_string().contains("other data than texas"));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(Layer::from_config(&text, &file, models::kind("lhs").unwrap()).unwrap().is_some());
    }

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(slug("cora"), "cora");
        assert_eq!(slug("../my data/x"), "..-my-data-x");
        assert_eq!((slug(".."), slug("")), ("data".to_string(), "data".to_string()));
    }
}
