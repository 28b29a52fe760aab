//! Named matrices on disk, in the safetensors format that other tools read too.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::io::atomic;
use crate::linalg::Mat;
use crate::training::Tensors;

/// The one entry of the header's metadata: with two, a hash map would decide their order in the file.
const METADATA: &str = "lhs";

/// Writes tensors with a remark about them, atomically. Same contents: same bytes.
pub fn write(path: &Path, tensors: &Tensors, about: &Value) -> Result<()> {
    let shapes: Vec<[usize; 2]> = tensors.values().map(|mat| [mat.rows(), mat.cols()]).collect();
    let bytes: Vec<Vec<u8>> = tensors.values().map(little_endian).collect();
    let views = tensors.keys().zip(&shapes).zip(&bytes).map(|((name, shape), bytes)| {
        TensorView::new(Dtype::F32, shape.to_vec(), bytes).map(|view| (name.as_str(), view))
    });
    let metadata = HashMap::from([(METADATA.to_string(), about.to_string())]);
    let file = views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| serialize(views, Some(metadata)))
        .map_err(|error| Error::input(path, "", format!("cannot hold these tensors: {error}"), ""))?;
    atomic::write_bytes(path, &file)
}

/// Reads tensors and the remark about them.
pub fn read(path: &Path) -> Result<(Tensors, Value)> {
    let file = std::fs::read(path).map_err(Error::io("read", path))?;
    let damaged = |problem: String| {
        Error::input(path, "", format!("damaged: {problem}"), "delete the file's folder and train again")
    };
    let (_, header) = SafeTensors::read_metadata(&file).map_err(|error| damaged(error.to_string()))?;
    let about = header.metadata().as_ref().and_then(|metadata| metadata.get(METADATA));
    let about = about.map_or(Ok(Value::Null), |text| serde_json::from_str(text));
    let stored = SafeTensors::deserialize(&file).map_err(|error| damaged(error.to_string()))?;
    let mut tensors = Tensors::new();
    for (name, view) in stored.tensors() {
        let mat = matrix(&view).ok_or_else(|| damaged(format!("`{name}` is not a matrix of f32")))?;
        tensors.insert(name, mat);
    }
    Ok((tensors, about.map_err(|error| damaged(error.to_string()))?))
}

fn little_endian(mat: &Mat) -> Vec<u8> {
    mat.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn matrix(view: &TensorView<'_>) -> Option<Mat> {
    let (Dtype::F32, &[rows, cols]) = (view.dtype(), view.shape()) else { return None };
    let mut mat = Mat::scratch(rows, cols);
    let (chunks, _) = view.data().as_chunks::<4>();
    for (value, bytes) in mat.as_mut_slice().iter_mut().zip(chunks) {
        *value = f32::from_le_bytes(*bytes);
    }
    Some(mat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_come_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let tensors = Tensors::from([
            ("empty".to_string(), Mat::zeros(0, 3)),
            ("w".to_string(), Mat::from_slice(2, 2, &[1.5, -0.0, f32::MIN_POSITIVE, 1e30])),
        ]);
        let about = serde_json::json!({"epoch": 3});
        write(&path, &tensors, &about).unwrap();
        let first = std::fs::read(&path).unwrap();
        let (again, remark) = read(&path).unwrap();
        assert_eq!((&again, remark), (&tensors, about.clone()));
        write(&path, &again, &about).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        write(&path, &Tensors::from([("w".to_string(), Mat::zeros(4, 4))]), &Value::Null).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for keep in [0, 4, 20, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..keep]).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("damaged"));
        }
    }
}
