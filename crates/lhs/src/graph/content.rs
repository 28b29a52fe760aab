//! What a dataset is, whatever file it came from: SHA-256 of its content.

use sha2::{Digest, Sha256};

use super::{Dataset, Features};

/// SHA-256 of graph, features and classes: of what settings are found for. Names, ids and splits are not in it.
pub fn content_sha256(dataset: &Dataset) -> String {
    let mut hasher = Sha256::new();
    let graph = dataset.graph();
    hasher.update([u8::from(graph.is_directed())]);
    hasher.update((dataset.num_nodes() as u64).to_le_bytes());
    for (a, b, weight) in graph.weighted_edges() {
        let weight = if graph.weights().is_some() { weight.to_bits() } else { 0 };
        hasher.update([a.to_le_bytes(), b.to_le_bytes(), weight.to_le_bytes()].concat());
    }
    add_features(&mut hasher, dataset.features());
    let labels = dataset.labels();
    (0..labels.len()).for_each(|node| hasher.update(labels.get(node).unwrap_or(u32::MAX).to_le_bytes()));
    hex(hasher)
}

/// SHA-256 of features, whatever form they are kept in.
pub fn features_sha256(features: &Features) -> String {
    let mut hasher = Sha256::new();
    add_features(&mut hasher, features);
    hex(hasher)
}

fn add_features(hasher: &mut Sha256, features: &Features) {
    hasher.update((features.dim() as u64).to_le_bytes());
    let mut row = Vec::new();
    for node in 0..features.num_nodes() {
        row.clear();
        row.extend_from_slice(&(node as u64).to_le_bytes());
        for (column, value) in features.row_nonzeros(node) {
            row.extend_from_slice(&column.to_le_bytes());
            row.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        hasher.update(&row);
    }
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
