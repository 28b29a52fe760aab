//! GraphML: the format that most tools for graphs share.

use std::path::Path;

use super::Export;
use super::xml::{self, Document, Escaped};
use crate::error::Result;

/// Writes a document.
pub(super) fn write(export: &Export, path: &Path) -> Result<()> {
    Document::create(export, path, |document| {
        document.put(format_args!("<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"))?;
        write_keys(export, document)?;
        let name = Escaped(export.name);
        document.put(format_args!("  <graph id=\"{name}\" edgedefault=\"undirected\">\n"))?;
        write_nodes(export, document)?;
        write_edges(export, document)?;
        document.put(format_args!("  </graph>\n</graphml>\n"))
    })
}

fn write_keys(export: &Export, document: &mut Document) -> Result<()> {
    for (place, (name, column)) in export.columns.iter().enumerate() {
        let (name, kind) = (Escaped(name), xml::kind(column));
        document.put(format_args!(
            "  <key id=\"d{place}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>\n"
        ))?;
    }
    document
        .put(format_args!("  <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n"))
}

fn write_nodes(export: &Export, document: &mut Document) -> Result<()> {
    for (node, id) in export.node_ids.iter().enumerate() {
        document.put(format_args!("    <node id=\"{}\">", Escaped(id)))?;
        for (place, (_, column)) in export.columns.iter().enumerate() {
            if let Some(value) = column.text(node) {
                document.put(format_args!("<data key=\"d{place}\">{}</data>", Escaped(&value)))?;
            }
        }
        document.put(format_args!("</node>\n"))?;
    }
    Ok(())
}

fn write_edges(export: &Export, document: &mut Document) -> Result<()> {
    for &edge in &export.edges {
        let (source, target) = export.ends(edge);
        let (source, target, weight) = (Escaped(source), Escaped(target), edge.2);
        document.put(format_args!(
            "    <edge source=\"{source}\" target=\"{target}\"><data key=\"weight\">{weight:?}</data></edge>\n"
        ))?;
    }
    Ok(())
}
