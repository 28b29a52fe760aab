//! A dataset as a folder of plain tables that [`super::read`] reads back.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{GROUP, TIME};
use crate::error::{Error, Result};
use crate::graph::preparation::times;
use crate::graph::{Dataset, Features};
use crate::io::{atomic, marker};

/// Every name that a table of the folder can have. The edges come last: a folder without them is no dataset.
const TABLES: [&str; 6] =
    ["features.csv", "labels.csv", "splits.csv", marker::FILE, "edges.tsv", "edges.csv"];

/// Writes `edges.csv`, `labels.csv` and, where the dataset has them, `features.csv` and `splits.csv`, in the
/// place of whatever tables the folder holds. Old tables stay until all the new ones are on disk.
pub fn write(dataset: &Dataset, folder: &Path) -> Result<()> {
    let stage = Stage { folder: folder.join(format!(".writing.{}", std::process::id())) };
    fs::create_dir_all(&stage.folder).map_err(Error::io("create", folder))?;
    let table = |name: &str, fill: fn(&Dataset, &mut Sink) -> Result<()>| {
        let path = folder.join(name);
        atomic::write(&stage.folder.join(name), |writer| fill(dataset, &mut Sink { path: &path, writer }))
    };
    if dataset.features().dim() > 0 {
        table("features.csv", features)?;
    }
    table("labels.csv", labels)?;
    if !dataset.splits().is_empty() {
        table("splits.csv", splits)?;
    }
    if let Some(marker) = marker::Marker::of(dataset) {
        marker.write(&stage.folder)?;
    }
    table("edges.csv", edges)?;
    stage.publish(folder)
}

/// The folder in which the tables wait until all of them are written.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn publish(&self, folder: &Path) -> Result<()> {
        for name in TABLES {
            let (from, to) = (self.folder.join(name), folder.join(name));
            if from.exists() {
                fs::rename(&from, &to).map_err(Error::io("write", &to))?;
            } else if to.exists() {
                fs::remove_file(&to).map_err(Error::io("remove", &to))?;
            }
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A file being written, and its name for errors.
struct Sink<'a> {
    path: &'a Path,
    writer: &'a mut BufWriter<File>,
}

impl Sink<'_> {
    fn line(&mut self, line: std::fmt::Arguments) -> Result<()> {
        writeln!(self.writer, "{line}").map_err(Error::io("write", self.path))
    }
}

fn edges(dataset: &Dataset, sink: &mut Sink) -> Result<()> {
    let ids = ids(dataset)?;
    let graph = dataset.graph();
    if graph.weights().is_none() {
        sink.line(format_args!("source,target"))?;
        return graph
            .edges()
            .try_for_each(|(a, b)| sink.line(format_args!("{},{}", ids(a as usize), ids(b as usize))));
    }
    sink.line(format_args!("source,target,weight"))?;
    graph
        .weighted_edges()
        .try_for_each(|(a, b, w)| sink.line(format_args!("{},{},{w}", ids(a as usize), ids(b as usize))))
}

fn features(dataset: &Dataset, sink: &mut Sink) -> Result<()> {
    let ids = ids(dataset)?;
    match dataset.features() {
        Features::Dense(mat) => {
            let name = |column: usize| match dataset.feature_names() {
                Some(names) => quoted(&names[column]),
                None => Ok(format!("f{column}")),
            };
            let header = (0..mat.cols()).map(name).collect::<Result<Vec<String>>>()?;
            sink.line(format_args!("node,{}", header.join(",")))?;
            let mut line = String::new();
            for node in 0..mat.rows() {
                line.clear();
                for value in mat.row(node) {
                    line.push(',');
                    line.push_str(&value.to_string());
                }
                sink.line(format_args!("{}{line}", ids(node)))?;
            }
            Ok(())
        }
        Features::Sparse(mat) => {
            sink.line(format_args!("node,column,value"))?;
            // A zero in the last column of the first node keeps the number of columns, and one for every
            // node without features keeps the order of the nodes.
            let last = mat.cols() - 1;
            for node in 0..mat.rows() {
                let row = dataset.features().row_nonzeros(node);
                if row.is_empty() || (node == 0 && row.iter().all(|&(column, _)| column as usize != last)) {
                    sink.line(format_args!("{},{last},0", ids(node)))?;
                }
                for (column, value) in row {
                    sink.line(format_args!("{},{column},{value}", ids(node)))?;
                }
            }
            Ok(())
        }
    }
}

fn labels(dataset: &Dataset, sink: &mut Sink) -> Result<()> {
    let ids = ids(dataset)?;
    let labels = dataset.labels();
    let names = labels.names().iter().map(|name| quoted(name)).collect::<Result<Vec<_>>>()?;
    let details = dataset.details();
    let time = |node: usize| match &details.times {
        Some(times) => format!(",{}", times[node].map_or_else(String::new, time_text)),
        None => String::new(),
    };
    let group = |node: usize| match &details.groups {
        Some(groups) => quoted(&groups[node]).map(|group| format!(",{group}")),
        None => Ok(String::new()),
    };
    let header = |there: bool, name: &str| if there { format!(",{name}") } else { String::new() };
    let (times, groups) = (header(details.times.is_some(), TIME), header(details.groups.is_some(), GROUP));
    sink.line(format_args!("node,label{times}{groups}"))?;
    for node in 0..labels.len() {
        let name = labels.get(node).map_or("", |class| names[class as usize].as_str());
        sink.line(format_args!("{},{name}{}{}", ids(node), time(node), group(node)?))?;
    }
    Ok(())
}

/// A time that reads back as itself.
fn time_text(seconds: f64) -> String {
    let text = times::text(seconds);
    if times::seconds(&text) == Some(seconds) { text } else { seconds.to_string() }
}

fn splits(dataset: &Dataset, sink: &mut Sink) -> Result<()> {
    let ids = ids(dataset)?;
    sink.line(format_args!("split,node,part"))?;
    for (number, split) in dataset.splits().iter().enumerate() {
        for (part, nodes) in split.parts() {
            for &node in nodes {
                sink.line(format_args!("{number},{},{part}", ids(node as usize)))?;
            }
        }
    }
    Ok(())
}

/// The ids as they stand in a table.
fn ids(dataset: &Dataset) -> Result<impl Fn(usize) -> String> {
    let names = dataset.node_ids().map(|ids| ids.iter().map(|id| quoted(id)).collect::<Result<Vec<_>>>());
    let names = names.transpose()?;
    Ok(move |node: usize| names.as_ref().map_or_else(|| node.to_string(), |names| names[node].clone()))
}

/// A text that reads back as itself.
fn quoted(text: &str) -> Result<String> {
    if text.contains(['\n', '\r']) {
        return Err(Error::data(
            format!("the name {text:?} holds a line break, which a table cannot keep"),
            "rename the node or class, or write an .npz file",
        ));
    }
    let plain = !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['#', '\u{feff}'])
        && !text.contains([',', '"', ';', '\t']);
    Ok(if plain { text.to_string() } else { format!("\"{}\"", text.replace('"', "\"\"")) })
}
