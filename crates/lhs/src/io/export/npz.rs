//! Arrays for NumPy, none of which needs `allow_pickle`.

use std::path::Path;

use super::classes::Classes;
use super::{Column, Export};
use crate::error::Result;
use crate::io::npz::ArchiveWriter;

/// Writes an archive that [`crate::io::npz::read`] reads as well.
pub(super) fn write(export: &Export, path: &Path) -> Result<()> {
    let (nodes, edges) = (export.node_ids.len(), &export.edges);
    ArchiveWriter::create(path, |archive| {
        let ends = edges.iter().flat_map(|&(a, b, _)| [i64::from(a), i64::from(b)]);
        archive.add("edges", &[edges.len(), 2], ends)?;
        archive.add("edge_weights", &[edges.len()], edges.iter().map(|edge| edge.2))?;
        if export.node_ids.iter().enumerate().any(|(node, id)| *id != node.to_string()) {
            archive.add_strings("node_ids", &export.node_ids)?;
        }
        let classes = Classes::first(export).unwrap_or_else(|| Classes::unknown(nodes));
        archive.add("node_labels", &[nodes], numbers(&classes))?;
        archive.add_strings("class_names", &classes.names)?;
        archive.add("node_features", &[nodes, 0], [0f32; 0])?;
        for (name, column) in &export.columns {
            write_column(archive, name, column)?;
        }
        Ok(())
    })
}

fn write_column(archive: &mut ArchiveWriter, name: &str, column: &Column) -> Result<()> {
    let (member, shape) = (format!("node_{name}"), [column.len()]);
    match column {
        Column::Integer(numbers) => archive.add(&member, &shape, numbers.iter().copied()),
        Column::Number(_) => {
            let numbers = (0..column.len()).map(|node| column.number(node).unwrap_or(f64::NAN));
            archive.add(&member, &shape, numbers)
        }
        Column::Text(texts) => {
            let classes = Classes::new(texts);
            archive.add(&member, &shape, numbers(&classes))?;
            archive.add_strings(&format!("names_{name}"), &classes.names)
        }
    }
}

fn numbers(classes: &Classes) -> impl Iterator<Item = i64> {
    classes.of.iter().map(|class| class.map_or(-1, |class| class as i64))
}
