//! Named matrices and lists of whole numbers on disk, in the safetensors format that other tools read too.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde_json::Value;

use super::atomic;
use crate::error::{Error, Result};
use crate::linalg::Mat;

/// The one entry of the header's metadata: with two, a hash map would decide their order in the file.
const METADATA: &str = "lhs";

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Matrices by name, saved as `f32`.
    pub tensors: BTreeMap<String, Mat>,
    /// Lists by name, saved as `u64`; no name may also be that of a matrix.
    pub lists: BTreeMap<String, Vec<u64>>,
}

impl From<BTreeMap<String, Mat>> for Contents {
    fn from(tensors: BTreeMap<String, Mat>) -> Self {
        Contents { tensors, lists: BTreeMap::new() }
    }
}

/// Writes contents with a remark about them, atomically. Same contents: same bytes.
pub fn write(path: &Path, contents: &Contents, about: &Value) -> Result<()> {
    let matrices = contents.tensors.iter().map(|(name, mat)| {
        let bytes = mat.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        (name, Dtype::F32, vec![mat.rows(), mat.cols()], bytes)
    });
    let lists = contents.lists.iter().map(|(name, list)| {
        let bytes = list.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        (name, Dtype::U64, vec![list.len()], bytes)
    });
    let all: Vec<_> = matrices.chain(lists).collect();
    let views = all.iter().map(|(name, dtype, shape, bytes)| {
        TensorView::new(*dtype, shape.clone(), bytes).map(|view| (name.as_str(), view))
    });
    let metadata = HashMap::from([(METADATA.to_string(), about.to_string())]);
    let file = views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| serialize(views, Some(metadata)))
        .map_err(|error| Error::input(path, "", format!("cannot hold these tensors: {error}"), ""))?;
    atomic::write_bytes(path, &file)
}

/// Reads contents and the remark about them.
pub fn read(path: &Path) -> Result<(Contents, Value)> {
    let file = std::fs::read(path).map_err(Error::io("read", path))?;
    let damaged = |problem: String| {
        Error::input(path, "", format!("damaged: {problem}"), "it must be made again: train again")
    };
    let (_, header) = SafeTensors::read_metadata(&file).map_err(|error| damaged(error.to_string()))?;
    let about = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA));
    let about = about.map_or(Ok(Value::Null), |text| serde_json::from_str(text));
    let stored = SafeTensors::deserialize(&file).map_err(|error| damaged(error.to_string()))?;
    let mut contents = Contents::default();
    for (name, view) in stored.tensors() {
        match (view.dtype(), view.shape()) {
            (Dtype::F32, &[rows, cols]) => {
                contents.tensors.insert(name, matrix(rows, cols, view.data()));
            }
            (Dtype::U64, &[_]) => {
                let (words, _) = view.data().as_chunks::<8>();
                contents.lists.insert(name, words.iter().map(|word| u64::from_le_bytes(*word)).collect());
            }
            _ => return Err(damaged(format!("`{name}` is neither a matrix of f32 nor a list of u64"))),
        }
    }
    Ok((contents, about.map_err(|error| damaged(error.to_string()))?))
}

fn matrix(rows: usize, cols: usize, bytes: &[u8]) -> Mat {
    let mut mat = Mat::scratch(rows, cols);
    let (words, _) = bytes.as_chunks::<4>();
    for (value, word) in mat.as_mut_slice().iter_mut().zip(words) {
        *value = f32::from_le_bytes(*word);
    }
    mat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let tensors = BTreeMap::from([
            ("empty".to_string(), Mat::zeros(0, 3)),
            ("w".to_string(), Mat::from_slice(2, 2, &[1.5, -0.0, f32::MIN_POSITIVE, 1e30])),
        ]);
        let lists = BTreeMap::from([("nodes".to_string(), vec![0, u64::MAX]), ("none".to_string(), vec![])]);
        let contents = Contents { tensors, lists };
        let about = serde_json::json!({"epoch": 3});
        write(&path, &contents, &about).unwrap();
        let first = std::fs::read(&path).unwrap();
        let (again, remark) = read(&path).unwrap();
        assert_eq!((&again, remark), (&contents, about.clone()));
        write(&path, &again, &about).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let tensors = BTreeMap::from([("w".to_string(), Mat::zeros(4, 4))]);
        write(&path, &tensors.into(), &Value::Null).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for keep in [0, 4, 20, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..keep]).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("damaged"));
        }
    }
}
