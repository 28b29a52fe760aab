//! GEXF for Gephi, with the nodes in the colours of their classes.
//!
//! Version 1.2draft, not 1.3: Gephi reads both, NetworkX reads 1.3 only since its version 3.6.

use std::path::Path;

use super::classes::Classes;
use super::xml::{self, Document, Escaped};
use super::{Export, palette};
use crate::error::Result;

/// Writes a document.
pub(super) fn write(export: &Export, path: &Path) -> Result<()> {
    Document::create(export, path, |document| {
        document.put(format_args!(
            "<gexf xmlns=\"http://www.gexf.net/1.2draft\" \
             xmlns:viz=\"http://www.gexf.net/1.2draft/viz\" version=\"1.2\">\n"
        ))?;
        let (version, name) = (env!("CARGO_PKG_VERSION"), Escaped(export.name));
        document.put(format_args!(
            "  <meta><creator>lhs {version}</creator><description>{name}</description></meta>\n"
        ))?;
        document.put(format_args!("  <graph mode=\"static\" defaultedgetype=\"undirected\">\n"))?;
        write_attributes(export, document)?;
        write_nodes(export, document)?;
        write_edges(export, document)?;
        document.put(format_args!("  </graph>\n</gexf>\n"))
    })
}

fn write_attributes(export: &Export, document: &mut Document) -> Result<()> {
    document.put(format_args!("    <attributes class=\"node\" mode=\"static\">\n"))?;
    for (place, (name, column)) in export.columns.iter().enumerate() {
        let (name, kind) = (Escaped(name), xml::kind(column));
        document.put(format_args!("      <attribute id=\"{place}\" title=\"{name}\" type=\"{kind}\"/>\n"))?;
    }
    document.put(format_args!("    </attributes>\n"))
}

fn write_nodes(export: &Export, document: &mut Document) -> Result<()> {
    let classes = Classes::first(export);
    document.put(format_args!("    <nodes>\n"))?;
    for (node, id) in export.node_ids.iter().enumerate() {
        let id = Escaped(id);
        document.put(format_args!("      <node id=\"{id}\" label=\"{id}\"><attvalues>"))?;
        for (place, (_, column)) in export.columns.iter().enumerate() {
            if let Some(value) = column.text(node) {
                let value = Escaped(&value);
                document.put(format_args!("<attvalue for=\"{place}\" value=\"{value}\"/>"))?;
            }
        }
        document.put(format_args!("</attvalues>"))?;
        if let Some(classes) = &classes {
            let [r, g, b] = classes.of[node].map_or(palette::UNKNOWN, palette::colour);
            document.put(format_args!("<viz:color r=\"{r}\" g=\"{g}\" b=\"{b}\"/>"))?;
        }
        document.put(format_args!("</node>\n"))?;
    }
    document.put(format_args!("    </nodes>\n"))
}

fn write_edges(export: &Export, document: &mut Document) -> Result<()> {
    document.put(format_args!("    <edges>\n"))?;
    for (number, &edge) in export.edges.iter().enumerate() {
        let (source, target) = export.ends(edge);
        let (source, target, weight) = (Escaped(source), Escaped(target), edge.2);
        document.put(format_args!(
            "      <edge id=\"{number}\" source=\"{source}\" target=\"{target}\" weight=\"{weight:?}\"/>\n"
        ))?;
    }
    document.put(format_args!("    </edges>\n"))
}
