//! Settings that were found for a dataset: one file per dataset, a section per model.
//!
//! `configs/DATASET.toml` in the working folder (where `lhs tune` writes) is asked first, then the file of
//! that name that came with the binary. To ship another file, put it into `configs/` and name it here.

use std::path::{Path, PathBuf};

use super::settings::Layer;
use crate::error::{Error, Result};
use crate::models::ModelKind;

/// Name of a dataset, and the text of its settings.
const SHIPPED: &[(&str, &str)] = &[
    ("actor", include_str!("../../configs/actor.toml")),
    ("chameleon", include_str!("../../configs/chameleon.toml")),
    ("citeseer", include_str!("../../configs/citeseer.toml")),
    ("cora", include_str!("../../configs/cora.toml")),
    ("cornell", include_str!("../../configs/cornell.toml")),
    ("cornell-geom", include_str!("../../configs/cornell-geom.toml")),
    ("pubmed", include_str!("../../configs/pubmed.toml")),
    ("squirrel", include_str!("../../configs/squirrel.toml")),
    ("texas", include_str!("../../configs/texas.toml")),
    ("wisconsin", include_str!("../../configs/wisconsin.toml")),
];

/// The shipped settings of a dataset, whatever the case of its name.
pub fn config(dataset: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(name, _)| name.eq_ignore_ascii_case(dataset)).map(|(_, text)| *text)
}

/// The settings found for a model on a dataset, if there are any, and the file they stand in.
pub fn layer(dataset: &str, kind: &ModelKind) -> Result<Option<(Layer, PathBuf)>> {
    let file = file_name(dataset);
    let local = match std::fs::read_to_string(&file) {
        Ok(text) => Layer::from_config(&text, &file, kind)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("read", &file)(error)),
    };
    if let Some(layer) = local {
        return Ok(Some((layer, file)));
    }
    let Some(text) = config(dataset) else { return Ok(None) };
    let file = Path::new("(shipped)").join(file);
    Ok(Layer::from_config(text, &file, kind)?.map(|layer| (layer, file)))
}

/// `configs/DATASET.toml`.
pub fn file_name(dataset: &str) -> PathBuf {
    Path::new("configs").join(format!("{}.toml", slug(dataset)))
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let on_disk = std::fs::read_dir(folder).map(|files| {
            files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "toml")).count()
        });
        assert_eq!(on_disk.unwrap_or(0), SHIPPED.len(), "name each file of configs/ in SHIPPED");
        SHIPPED.iter().for_each(|(name, text)| assert_valid(text, Path::new(name)));
    }

    #[test]
    fn settings_under_one_budget_are_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/one-budget");
        let files: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty());
        for file in files {
            assert_valid(&std::fs::read_to_string(&file).unwrap(), &file);
        }
    }

    fn assert_valid(text: &str, file: &Path) {
        for kind in models::kinds() {
            if let Some(layer) = Layer::from_config(text, file, kind).unwrap() {
                crate::eval::settings::layered(kind, &[layer]).unwrap();
            }
        }
    }

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(slug("cora"), "cora");
        assert_eq!(slug("../my data/x"), "..-my-data-x");
        assert_eq!((slug(".."), slug("")), ("data".to_string(), "data".to_string()));
    }
}
