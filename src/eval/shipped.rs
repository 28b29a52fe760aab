//! The settings that come with the binary: one file per dataset, a section per model.
//!
//! To ship another file, put it into `configs/` and name it here.

/// Name of a dataset, and the text of its settings.
const SHIPPED: &[(&str, &str)] = &[
    // ("cora", include_str!("../../configs/cora.toml")),
];

/// The shipped settings of a dataset, whatever the case of its name.
pub fn config(dataset: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(name, _)| name.eq_ignore_ascii_case(dataset)).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::eval::settings::Layer;
    use crate::models;

    #[test]
    fn every_file_in_configs_is_shipped_and_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let on_disk = std::fs::read_dir(folder).map(|files| {
            files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "toml")).count()
        });
        assert_eq!(on_disk.unwrap_or(0), SHIPPED.len(), "name each file of configs/ in SHIPPED");
        for (name, text) in SHIPPED {
            for kind in models::kinds() {
                if let Some(layer) = Layer::from_config(text, Path::new(name), kind).unwrap() {
                    crate::eval::settings::layered(kind, &[layer]).unwrap();
                }
            }
        }
    }
}
