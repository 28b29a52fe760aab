//! Results as a page: one file that opens offline, with tables, figures, and the numbers behind them.
//!
//! [`Report`] gathers the folders of suites and of training runs; [`Report::html`] lays them out. Figures are drawn here,
//! as SVG; the page's script only offers downloads and lets the reader walk through a run's graphs.

mod figures;
mod page;
pub mod paper;
mod svg;
mod tables;
mod view;

use std::path::{Path, PathBuf};

use crate::bench::{CellRecord, Suite, read_cells};
use crate::error::{Error, Result};
pub use tables::AccuracyTable;
pub use view::{Looked, RunView};

/// The results of one suite.
pub struct SuiteResults {
    /// Where they stand.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// The version that made them.
    pub version: String,
    /// What was run.
    pub suite: Suite,
    /// What came out.
    pub records: Vec<CellRecord>,
}

/// Everything that goes on one page.
#[derive(Default)]
pub struct Report {
    /// Suites, in the order in which they were named.
    pub suites: Vec<SuiteResults>,
    /// Training runs.
    pub runs: Vec<RunView>,
}

impl SuiteResults {
    /// Reads a folder that `lhs bench` made.
    pub fn read(folder: &Path) -> Result<Self> {
        let (manifest, records) = read_cells(folder)?;
        if records.is_empty() {
            return Err(Error::input(folder, "", "no cell is finished yet", "let `lhs bench` run first"));
        }
        Ok(SuiteResults {
            folder: folder.to_path_buf(),
            name: manifest.name,
            version: manifest.version,
            suite: manifest.suite,
            records,
        })
    }

    /// Accuracies of all cells.
    pub fn table(&self) -> AccuracyTable {
        AccuracyTable::new(&self.suite, &self.records)
    }
}

impl Report {
    /// Adds a suite, if it belongs with the others.
    pub fn add(&mut self, suite: SuiteResults) -> Result<()> {
        for other in &self.suites {
            let problem = if other.name == suite.name {
                format!("both hold results of the suite `{}`", suite.name)
            } else if other.version != suite.version {
                format!("they were made by lhs {} and {}", other.version, suite.version)
            } else {
                continue;
            };
            let folders =
                format!("{} and {} do not belong together", other.folder.display(), suite.folder.display());
            return Err(Error::data(format!("{folders}: {problem}"), "make a report of each"));
        }
        self.suites.push(suite);
        Ok(())
    }

    /// The page.
    pub fn html(&self) -> String {
        page::page(self)
    }
}
