//! Where a command writes a dataset, and in which format.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::output::Global;
use lhs::error::{Error, Result};
use lhs::graph::Dataset;
use lhs::io::tables::Untidy;
use lhs::io::{geom_gcn, npz, tables};

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One compressed file
    Npz,
    /// A folder of plain tables
    Tables,
    /// A folder as the Geom-GCN benchmark has them
    GeomGcn,
}

/// A place that may be written to.
pub struct Target {
    path: PathBuf,
    format: Format,
}

/// What was written.
#[derive(Serialize)]
struct Written<'a> {
    path: &'a Path,
    format: Format,
    nodes: usize,
    edges: usize,
    directed: bool,
    features: usize,
    classes: usize,
    splits: usize,
}

impl Target {
    /// Checks, before any work is done, that nothing would be overwritten against the user's will.
    pub fn new(path: &Path, format: Option<Format>, force: bool) -> Result<Self> {
        let is_npz = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npz"));
        let format = format.unwrap_or(if is_npz { Format::Npz } else { Format::Tables });
        if format == Format::Npz {
            check_file(path, force)?;
        } else {
            check_folder(path, force)?;
        }
        Ok(Target { path: path.to_path_buf(), format })
    }

    /// Writes the dataset.
    pub fn save(&self, dataset: &Dataset) -> Result<()> {
        match self.format {
            Format::Npz => npz::write(dataset, &self.path, layout(dataset)),
            Format::Tables => tables::write(dataset, &self.path),
            Format::GeomGcn => geom_gcn::write(dataset, &self.path),
        }
    }

    /// Writes the dataset as tables with gaps and words, and says so.
    pub fn write_untidy(&self, dataset: &Dataset, untidy: Untidy, global: &Global) -> Result<()> {
        if self.format != Format::Tables {
            return Err(Error::input(
                &self.path,
                "",
                "gaps and words need a folder of tables",
                "name a folder, or leave out --missing and --categories",
            ));
        }
        untidy.write(dataset, &self.path, global.seed)?;
        self.say_written(dataset, global)
    }

    /// Writes the dataset and says so.
    pub fn write(&self, dataset: &Dataset, global: &Global) -> Result<()> {
        self.save(dataset)?;
        self.say_written(dataset, global)
    }

    fn say_written(&self, dataset: &Dataset, global: &Global) -> Result<()> {
        let written = Written {
            path: &self.path,
            format: self.format,
            nodes: dataset.num_nodes(),
            edges: dataset.graph().num_edges(),
            directed: dataset.graph().is_directed(),
            features: dataset.features().dim(),
            classes: dataset.num_classes(),
            splits: dataset.splits().len(),
        };
        global.say(format_args!(
            "wrote {}: {} nodes, {} edges, {} features, {} classes, {} splits",
            self.path.display(),
            written.nodes,
            written.edges,
            written.features,
            written.classes,
            written.splits
        ));
        if written.directed {
            global.note("note: the edges keep their direction; read them with --directed");
        }
        global.document(&written);
        Ok(())
    }
}

/// Features written out in full are what other tools read; past a gigabyte they are kept sparse all the same.
fn layout(dataset: &Dataset) -> npz::FeatureLayout {
    let entries = dataset.num_nodes().saturating_mul(dataset.features().dim());
    if entries <= 1 << 28 { npz::FeatureLayout::Dense } else { npz::FeatureLayout::AsStored }
}

fn check_file(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        return Err(Error::input(path, "", "this is a folder", "name a file such as graph.npz"));
    }
    if path.exists() && !force { Err(taken(path)) } else { Ok(()) }
}

fn check_folder(path: &Path, force: bool) -> Result<()> {
    if path.is_file() {
        return Err(Error::input(path, "", "this is a file, and the format needs a folder", "name a folder"));
    }
    let occupied = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if occupied && !force { Err(taken(path)) } else { Ok(()) }
}

fn taken(path: &Path) -> Error {
    Error::input(path, "", "there is something there already", "choose another place, or add --force")
}
