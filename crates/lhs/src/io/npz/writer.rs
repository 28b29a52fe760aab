//! A dataset as an archive of arrays that NumPy opens with `allow_pickle=False`.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use serde::Serialize;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::error::{Error, Result};
use crate::graph::{Dataset, Features};
use crate::io::marker::Marker;
use crate::io::{atomic, npy};
use crate::linalg::SparseMat;

/// How features are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureLayout {
    /// Sparse features sparsely, which only this program reads; dense ones as below.
    #[default]
    AsStored,
    /// Always as the dense `node_features` that other programs expect.
    Dense,
}

/// Writes everything that [`read`](super::read) reads. The same data always gives the same bytes.
pub fn write(dataset: &Dataset, path: &Path, layout: FeatureLayout) -> Result<()> {
    ArchiveWriter::create(path, |archive| {
        match (dataset.features(), layout) {
            (Features::Sparse(mat), FeatureLayout::AsStored) => write_sparse(archive, mat)?,
            (features, _) => write_dense(archive, features)?,
        }
        write_labels(archive, dataset)?;
        write_graph(archive, dataset)?;
        if let Some(ids) = dataset.node_ids() {
            archive.add_strings("node_ids", ids)?;
        }
        write_details(archive, dataset)?;
        write_splits(archive, dataset)
    })
}

/// An archive in the making.
pub(in crate::io) struct ArchiveWriter<'a> {
    zip: ZipWriter<&'a mut BufWriter<File>>,
    path: &'a Path,
}

impl ArchiveWriter<'_> {
    /// Makes the file at once or not at all.
    pub fn create(path: &Path, fill: impl FnOnce(&mut ArchiveWriter<'_>) -> Result<()>) -> Result<()> {
        atomic::write(path, |file| {
            let mut archive = ArchiveWriter { zip: ZipWriter::new(file), path };
            fill(&mut archive)?;
            archive.zip.finish().map(drop).map_err(|error| Error::io("write", path)(error.into()))
        })
    }

    /// Adds an array with as many values as its shape needs.
    pub fn add<T: npyz::AutoSerialize>(
        &mut self,
        member: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = T>,
    ) -> Result<()> {
        let elements = shape.iter().product::<usize>() as u64;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .large_file(elements >= 1 << 28);
        let started = self.zip.start_file(format!("{member}.npy"), options);
        started.map_err(|error| Error::io("write", self.path)(error.into()))?;
        npy::write(&mut self.zip, shape, values).map_err(Error::io("write", self.path))
    }

    /// Adds texts as a JSON array in UTF-8: NumPy's own strings all take the room of the longest.
    pub fn add_strings<S: Serialize>(&mut self, member: &str, strings: &[S]) -> Result<()> {
        let json =
            serde_json::to_vec(strings).map_err(|error| Error::io("write", self.path)(error.into()))?;
        self.add(member, &[json.len()], json)
    }
}

/// A list of nodes as a mask.
pub(in crate::io) fn mask(nodes: &[u32], num_nodes: usize) -> Vec<bool> {
    let mut mask = vec![false; num_nodes];
    for &node in nodes {
        mask[node as usize] = true;
    }
    mask
}

fn write_sparse(archive: &mut ArchiveWriter<'_>, mat: &SparseMat) -> Result<()> {
    let (pattern, entries) = (&mat.pattern, mat.values.len());
    archive.add("features_shape", &[2], [mat.rows() as i64, mat.cols() as i64])?;
    archive.add("features_indptr", &[mat.rows() + 1], pattern.indptr().iter().map(|&bound| bound as i64))?;
    archive.add("features_indices", &[entries], pattern.indices().iter().copied())?;
    archive.add("features_values", &[entries], mat.values.iter().copied())
}

fn write_dense(archive: &mut ArchiveWriter<'_>, features: &Features) -> Result<()> {
    let shape = [features.num_nodes(), features.dim()];
    let rows = (0..features.num_nodes()).flat_map(|node| {
        let mut row = vec![0f32; features.dim()];
        for (col, value) in features.row_nonzeros(node) {
            row[col as usize] = value;
        }
        row
    });
    archive.add("node_features", &shape, rows)
}

fn write_labels(archive: &mut ArchiveWriter<'_>, dataset: &Dataset) -> Result<()> {
    let labels = dataset.labels();
    let numbers = (0..labels.len()).map(|node| labels.get(node).map_or(-1, i64::from));
    archive.add("node_labels", &[labels.len()], numbers)?;
    archive.add_strings("class_names", labels.names())
}

fn write_graph(archive: &mut ArchiveWriter<'_>, dataset: &Dataset) -> Result<()> {
    let graph = dataset.graph();
    let ends = graph.edges().flat_map(|(a, b)| [i64::from(a), i64::from(b)]);
    archive.add("edges", &[graph.num_edges(), 2], ends)?;
    if graph.weights().is_some() {
        archive.add("edge_weights", &[graph.num_edges()], graph.weighted_edges().map(|(_, _, w)| w))?;
    }
    archive.add("directed", &[], [graph.is_directed()])
}

fn write_details(archive: &mut ArchiveWriter<'_>, dataset: &Dataset) -> Result<()> {
    let details = dataset.details();
    if let Some(names) = &details.feature_names {
        archive.add_strings("feature_names", names)?;
    }
    if let Some(times) = &details.times {
        archive.add("node_times", &[times.len()], times.iter().map(|time| time.unwrap_or(f64::NAN)))?;
    }
    if let Some(groups) = &details.groups {
        archive.add_strings("node_groups", groups)?;
    }
    match Marker::of(dataset) {
        Some(marker) => archive.add_strings(super::DETAILS, &[marker.to_json()?]),
        None => Ok(()),
    }
}

fn write_splits(archive: &mut ArchiveWriter<'_>, dataset: &Dataset) -> Result<()> {
    let (splits, num_nodes) = (dataset.splits(), dataset.num_nodes());
    if splits.is_empty() {
        return Ok(());
    }
    for (part, member) in ["train_masks", "val_masks", "test_masks"].into_iter().enumerate() {
        let masks = splits.iter().flat_map(|split| mask(split.parts()[part].1, num_nodes));
        archive.add(member, &[splits.len(), num_nodes], masks)?;
    }
    Ok(())
}
