//! Results as a page: one file that opens offline, with tables, figures, and the numbers behind them.
//!
//! [`Report`] gathers the folders of suites and of training runs; [`Report::html`] lays them out. [`AccuracyTable`] sums
//! the cells of a suite up, and is the only place that does; [`compare`] holds training runs against each other. Figures are
//! drawn here, as SVG, and nodes are placed on the map here; the page's script shows values that are pointed at, switches
//! series, offers downloads, and lets the reader walk through a run's graphs. All markup goes through `maud`, which
//! escapes every name.

mod certificate;
pub mod compare;
mod embed;
mod explorer;
mod facts;
mod figures;
mod heat;
mod latent;
mod layout;
mod page;
pub mod paper;
mod quality;
mod summary;
mod svg;
mod tables;
mod view;

use std::path::{Path, PathBuf};

use crate::certify::CertificateRecord;
use crate::error::{Error, Result};
use crate::experiment::table::{AccuracyTable, cell_key};
use crate::experiment::{CellRecord, Suite, read_cells};
use crate::metrics::Metric;
pub use facts::{DataFacts, Facts};
pub use view::{RunView, RunViewInput};

/// The results of one suite.
pub struct SuiteResults {
    /// Where they stand.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// The version that made them.
    pub version: String,
    /// When, how and on what.
    pub facts: Facts,
    /// What was run.
    pub suite: Suite,
    /// What came out, in the order of the suite.
    pub records: Vec<CellRecord>,
}

/// Everything that goes on one page.
#[derive(Default)]
pub struct Report {
    /// Suites, in the order in which they were named.
    pub suites: Vec<SuiteResults>,
    /// Training runs.
    pub runs: Vec<RunView>,
    /// Certificates that stand by themselves.
    pub certificates: Vec<CertificateRecord>,
}

impl SuiteResults {
    /// Reads a folder of results.
    pub fn read(folder: &Path) -> Result<Self> {
        let (manifest, mut records) = read_cells(folder)?;
        if records.is_empty() {
            return Err(Error::input(folder, "", "no cell is finished yet", "let the suite run first"));
        }
        // Figures list their series in this order, whatever was finished first.
        let table = AccuracyTable::new(&manifest.suite, &records);
        records.sort_by_cached_key(|record| (table.place(&record.id), cell_key(&record.id)));
        Ok(SuiteResults {
            folder: folder.to_path_buf(),
            facts: Facts::of(&manifest),
            name: manifest.name,
            version: manifest.lhs_version,
            suite: manifest.suite,
            records,
        })
    }

    /// The same with tables that show a metric of one's choice.
    pub fn showing(mut self, metric: Option<Metric>) -> Self {
        self.suite.metric = metric.or(self.suite.metric);
        self
    }

    /// Accuracies of all cells, held against the paper's.
    pub fn table(&self) -> AccuracyTable {
        let table = AccuracyTable::new(&self.suite, &self.records);
        match &self.suite.paper {
            Some(paper) => table.with_paper(|line, column| paper::published(paper, line, column)),
            None => table,
        }
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

    /// The numbers of the certificates, as CSV.
    pub fn certificate_tables(&self) -> Vec<String> {
        self.certificates.iter().map(certificate::table).collect()
    }

    /// The page.
    pub fn html(&self) -> String {
        page::page(self)
    }
}
