//! Which public graphs there are, which files they consist of and where those live.

use crate::error::{Error, Result, nearest};

pub use crate::io::cache::PUBLIC_GRAPHS as NAMES;

const HETEROPHILOUS: &str =
    "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data/";
const PLANETOID: &str = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/";
const GEOM_GCN: &str = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master/splits/";

/// Where the Planetoid pickles stand in a mirror and in the cache.
pub(super) const PLANETOID_FOLDER: &str = "raw/planetoid/";
/// Where the fixed splits stand in a mirror and in the cache.
pub(super) const SPLITS_FOLDER: &str = "raw/geom-gcn/splits/";

/// The files that a graph consists of.
pub(super) enum Parts {
    /// The file is the graph.
    Npz(String),
    /// The graph has to be put together from these.
    Planetoid(Vec<String>),
}

/// The files of a graph, by their paths in a mirror.
pub(super) fn parts(name: &str) -> Result<Parts> {
    if !NAMES.contains(&name) {
        let names = [&NAMES[..], &["all"]].concat();
        return Err(Error::data(format!("no graph called `{name}` can be fetched"), nearest(name, &names)));
    }
    if !["cora", "citeseer", "pubmed"].contains(&name) {
        return Ok(Parts::Npz(format!("{name}.npz")));
    }
    let ends = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];
    let graph = ends.iter().map(|end| format!("{PLANETOID_FOLDER}ind.{name}.{end}"));
    let splits = (0..10).map(|k| format!("{SPLITS_FOLDER}{name}_split_0.6_0.2_{k}.npz"));
    Ok(Parts::Planetoid(graph.chain(splits).collect()))
}

/// The address of a file, at its home or in a mirror.
pub(super) fn url(path: &str, mirror: Option<&str>) -> String {
    if let Some(mirror) = mirror {
        return format!("{}/{path}", mirror.trim_end_matches('/'));
    }
    if let Some(file) = path.strip_prefix(PLANETOID_FOLDER) {
        return format!("{PLANETOID}{file}");
    }
    if let Some(file) = path.strip_prefix(SPLITS_FOLDER) {
        return format!("{GEOM_GCN}{file}");
    }
    format!("{HETEROPHILOUS}{path}")
}

#[cfg(test)]
mod tests {
    use super::super::pinned;
    use super::*;

    #[test]
    fn every_file_of_every_graph_is_pinned() {
        let mut needed = Vec::new();
        for name in NAMES {
            match parts(name).unwrap() {
                Parts::Npz(path) => needed.push(path),
                Parts::Planetoid(paths) => needed.extend(paths),
            }
        }
        let mut pinned: Vec<String> = pinned::FILES.iter().map(|file| file.path.to_string()).collect();
        needed.sort();
        pinned.sort();
        assert_eq!(needed, pinned);
        assert!(pinned::FILES.iter().all(|file| file.sha256.len() == 64 && file.bytes > 0));
    }

    #[test]
    fn files_are_asked_for_at_home_or_in_the_mirror() {
        let splits = "raw/geom-gcn/splits/cora_split_0.6_0.2_3.npz";
        assert_eq!(url("texas.npz", None), format!("{HETEROPHILOUS}texas.npz"));
        assert_eq!(url("raw/planetoid/ind.cora.x", None), format!("{PLANETOID}ind.cora.x"));
        assert_eq!(url(splits, None), format!("{GEOM_GCN}cora_split_0.6_0.2_3.npz"));
        assert_eq!(url(splits, Some("http://here/data/")), format!("http://here/data/{splits}"));
    }

    #[test]
    fn a_wrong_name_gets_the_nearest() {
        let error = parts("corra").err().unwrap().to_string();
        assert!(error.ends_with("did you mean `cora`?"), "{error}");
    }
}
