//! A table of edges and, beside it, one of nodes: isolated nodes and attributes have no place among edges.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::{Export, check};
use crate::error::{Error, Result};
use crate::io::atomic;

/// Where the nodes of `latent.csv` go: `latent.nodes.csv`.
pub(super) fn node_table(path: &Path) -> PathBuf {
    path.with_extension("nodes.csv")
}

/// Writes both tables.
pub(super) fn write(export: &Export, path: &Path) -> Result<()> {
    check::ids(export.node_ids.iter()).map_err(|error| error.in_file(path))?;
    // The table of nodes takes its place once that of the edges is written but not yet in its place, so
    // that a full disk leaves both old tables as they were.
    atomic::write(path, |out| {
        let mut table = table(out);
        let failed = |error: csv::Error| Error::io("write", path)(error.into());
        table.write_record(["source", "target", "weight"]).map_err(failed)?;
        for &edge in &export.edges {
            let ((source, target), weight) = (export.ends(edge), format!("{:?}", edge.2));
            table.write_record([source, target, &weight]).map_err(failed)?;
        }
        table.flush().map_err(Error::io("write", path))?;
        write_nodes(export, &node_table(path))
    })
}

fn write_nodes(export: &Export, path: &Path) -> Result<()> {
    atomic::write(path, |out| {
        let mut table = table(out);
        let failed = |error: csv::Error| Error::io("write", path)(error.into());
        let names = export.columns.iter().map(|(name, _)| name.as_str());
        table.write_record(std::iter::once("id").chain(names)).map_err(failed)?;
        for (node, id) in export.node_ids.iter().enumerate() {
            table.write_field(id).map_err(failed)?;
            for (_, column) in &export.columns {
                table
                    .write_field(column.text(node).unwrap_or(Cow::Borrowed("")).as_bytes())
                    .map_err(failed)?;
            }
            table.write_record(None::<&[u8]>).map_err(failed)?;
        }
        table.flush().map_err(Error::io("write", path))
    })
}

/// A table that this program reads too: an id that begins with `#` is quoted, or its line would be a comment.
fn table(out: &mut BufWriter<File>) -> csv::Writer<&mut BufWriter<File>> {
    csv::WriterBuilder::new().comment(Some(b'#')).from_writer(out)
}
