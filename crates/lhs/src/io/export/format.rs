//! The formats by name and by the end of a file's name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::{Error, Result, nearest};

/// The formats that other tools open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// NumPy arrays.
    Npz,
    /// A table of edges with a table of nodes beside it.
    Csv,
    /// GraphML, with typed attributes.
    GraphMl,
    /// GEXF, with the colours that Gephi shows.
    Gexf,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Npz, Self::Csv, Self::GraphMl, Self::Gexf];

    /// The format's name, which also ends the names of its files.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Npz => "npz",
            ExportFormat::Csv => "csv",
            ExportFormat::GraphMl => "graphml",
            ExportFormat::Gexf => "gexf",
        }
    }

    /// The format that the end of a file's name asks for.
    pub fn of_path(path: &Path) -> Result<Self> {
        let end = path.extension().unwrap_or_default();
        Self::ALL.into_iter().find(|format| end.eq_ignore_ascii_case(format.name())).ok_or_else(|| {
            Error::input(
                path,
                "",
                "the end of the name does not say in which format to export",
                "name a file that ends in .npz, .csv, .graphml or .gexf",
            )
        })
    }

    /// The files that an export to `path` writes.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        match self {
            ExportFormat::Csv => vec![path.to_path_buf(), super::csv::node_table(path)],
            _ => vec![path.to_path_buf()],
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ExportFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            Error::data(format!("no export format `{name}`"), nearest(name, &Self::ALL.map(Self::name)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ends_of_files_agree() {
        for format in ExportFormat::ALL {
            assert_eq!(format.to_string().parse::<ExportFormat>().unwrap(), format);
            let path = PathBuf::from(format!("a.b/latent.{}", format.name().to_uppercase()));
            assert_eq!(ExportFormat::of_path(&path).unwrap(), format);
        }
        let error = "grafml".parse::<ExportFormat>().unwrap_err().to_string();
        assert_eq!(error, "no export format `grafml`\n  hint: did you mean `graphml`?");
        for path in ["latent.xml", "latent", "graph.npz/latent", ""] {
            let error = ExportFormat::of_path(Path::new(path)).unwrap_err();
            assert!(error.to_string().contains("ends in .npz, .csv, .graphml or .gexf"), "{error}");
            assert!(error.can_be_mended());
        }
    }

    #[test]
    fn only_tables_have_a_second_file() {
        let path = Path::new("out/latent.csv");
        assert_eq!(ExportFormat::Csv.files(path), [path, Path::new("out/latent.nodes.csv")]);
        assert_eq!(ExportFormat::Gexf.files(Path::new("a.gexf")), [Path::new("a.gexf")]);
    }
}
