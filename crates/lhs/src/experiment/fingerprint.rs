//! What exactly was learned from: SHA-256 of the input files, and of the data that was read from them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::graph::{Dataset, Features};
use crate::io::cache;

/// A file with its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The file.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// The files that a dataset's source stands for, with their hashes: the file itself, the files of a
/// folder, those that begin with a Planetoid prefix, or that of a fetched graph.
pub fn input_files(source: &Path) -> Result<Vec<InputFile>> {
    let hash = |path: PathBuf| hash_file(&path).map(|sha256| InputFile { path, sha256 });
    files_behind(source)?.into_iter().map(hash).collect()
}

fn files_behind(source: &Path) -> Result<Vec<PathBuf>> {
    if source.is_file() {
        return Ok(vec![source.to_path_buf()]);
    }
    if source.is_dir() {
        return files_in(source, "");
    }
    match (source.file_name(), cache::fetched(source)) {
        (_, Some(file)) => Ok(vec![file]),
        (Some(prefix), None) => {
            let folder = source.parent().filter(|parent| !parent.as_os_str().is_empty());
            files_in(folder.unwrap_or(Path::new(".")), &format!("{}.", prefix.to_string_lossy()))
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// The files of a folder whose names begin with `prefix`, sorted.
fn files_in(folder: &Path, prefix: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)))
        .collect();
    files.sort();
    Ok(files)
}

fn hash_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io("read", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(Error::io("read", path))? {
            0 => return Ok(hex(hasher)),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// SHA-256 over everything a model can see of a dataset, whatever file it came from.
pub fn of_dataset(dataset: &Dataset) -> String {
    let mut hasher = Sha256::new();
    let mut put = |what: &str, numbers: &mut dyn Iterator<Item = u64>| {
        hasher.update(what.as_bytes());
        numbers.for_each(|number| hasher.update(number.to_le_bytes()));
    };
    let graph = dataset.graph();
    put("nodes", &mut [dataset.num_nodes() as u64, u64::from(graph.is_directed())].into_iter());
    put("bounds", &mut graph.adjacency().indptr().iter().map(|&bound| bound as u64));
    put("neighbours", &mut graph.adjacency().indices().iter().map(|&node| u64::from(node)));
    put("weights", &mut graph.weights().unwrap_or_default().iter().map(|w| u64::from(w.to_bits())));
    put("features", &mut std::iter::once(dataset.features().dim() as u64));
    if let Features::Sparse(mat) = dataset.features() {
        put("bounds", &mut mat.pattern.indptr().iter().map(|&bound| bound as u64));
        put("columns", &mut mat.pattern.indices().iter().map(|&column| u64::from(column)));
    }
    put("values", &mut dataset.features().values().iter().map(|v| u64::from(v.to_bits())));
    let labels = dataset.labels();
    put("labels", &mut (0..labels.len()).map(|n| labels.get(n).map_or(u64::MAX, u64::from)));
    for split in dataset.splits() {
        for (name, part) in split.parts() {
            put(name, &mut part.iter().map(|&node| u64::from(node)));
        }
    }
    for name in labels.names().iter().chain(dataset.node_ids().unwrap_or_default()) {
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    hex(hasher)
}

/// SHA-256 of a text, in hexadecimal.
pub fn of_text(text: &str) -> String {
    hex(Sha256::new().chain_update(text.as_bytes()))
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{DatasetParts, Graph, Labels, Repairs};
    use crate::linalg::Mat;

    fn dataset(edges: &[(u32, u32)], feature: f32, labels: &[i64]) -> Dataset {
        Dataset::new(DatasetParts {
            name: "toy".into(),
            graph: Graph::from_edges(3, edges).unwrap().0,
            repairs: Repairs::default(),
            features: Features::Dense(Mat::full(3, 1, feature)),
            labels: Labels::from_numbers(labels).unwrap(),
            node_ids: None,
            splits: vec![],
            details: Default::default(),
        })
        .unwrap()
    }

    #[test]
    fn any_change_of_the_data_changes_the_hash() {
        let hashes = [
            of_dataset(&dataset(&[(0, 1)], 1.0, &[0, 1, 0])),
            of_dataset(&dataset(&[(0, 2)], 1.0, &[0, 1, 0])),
            of_dataset(&dataset(&[(0, 1)], 2.0, &[0, 1, 0])),
            of_dataset(&dataset(&[(0, 1)], 1.0, &[0, 1, -1])),
        ];
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash));
        }
        assert_eq!(hashes[0], of_dataset(&dataset(&[(0, 1)], 1.0, &[0, 1, 0])));
    }

    #[test]
    fn files_folders_and_prefixes_are_hashed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ind.cora.x", "ind.cora.y", "other"] {
            fs::write(folder.path().join(name), b"abc").unwrap();
        }
        let count = |source: PathBuf| input_files(&source).unwrap().len();
        assert_eq!(count(folder.path().to_path_buf()), 3);
        assert_eq!(count(folder.path().join("ind.cora")), 2);
        let files = input_files(&folder.path().join("other")).unwrap();
        assert_eq!(files[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
