//! `lhs report`: results of suites and training runs as a page, or as tables for papers.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::certify::CERTIFICATE;
use super::compare::{self, TableFormat};
use super::evaluate::own_data;
use super::output::{self, Global};
use super::predict::best_split;
use lhs::certify::CertificateRecord;
use lhs::error::{Error, Result};
use lhs::experiment::Run;
use lhs::io::atomic;
use lhs::metrics::Metric;
use lhs::models::Registry;
use lhs::report::compare::Comparison;
use lhs::report::{Report, RunView, RunViewInput, SuiteResults};

/// Show results: a page that opens offline, or tables
///
/// Folders of `lhs bench` become tables and figures; a run of `lhs train` becomes a closer look at one model: how good its
/// answers are, its worst errors, a map of the given and the latent graph, and a node explorer. Several may be put on
/// one page. A run that was certified shows its certificate, too. As tables, runs become one that compares them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs report runs/bench-clean runs/bench-evasion --out report.html
  lhs report runs/squirrel-lhs --out squirrel.html
  lhs report runs/bench-clean --format markdown
  lhs report runs/cora-gcn runs/cora-lhs --format latex")]
pub struct ReportArgs {
    /// Folders that `lhs bench`, `lhs train` or `lhs certify` made
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// What to make; tables are printed
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// The split of a run that is looked at closely [default: the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// What tables show: accuracy, balanced_accuracy, macro_f1, roc_auc or average_precision [default: what the models were judged by]
    #[arg(long, value_name = "METRIC")]
    metric: Option<Metric>,
    /// Replace the page if it is there
    #[arg(long)]
    force: bool,
}

/// What can be made of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One self-contained page.
    Html,
    /// Tables in Markdown.
    Markdown,
    /// Tables as CSV.
    Csv,
    /// Tables in LaTeX.
    Latex,
}

impl Format {
    fn of_tables(self) -> TableFormat {
        match self {
            Format::Markdown | Format::Html => TableFormat::Markdown,
            Format::Csv => TableFormat::Csv,
            Format::Latex => TableFormat::Latex,
        }
    }
}

/// Runs the command.
pub fn run(args: &ReportArgs, global: &Global) -> Result<()> {
    if args.format == Format::Html && args.out.exists() && !args.force {
        return Err(Error::input(&args.out, "", "this file exists", "replace it with --force"));
    }
    let (mut report, mut runs) = (Report::default(), Vec::new());
    for folder in &args.folders {
        match Run::open(folder) {
            Ok(run) => runs.push(run),
            Err(_) => match CertificateRecord::read(folder)? {
                Some(record) => report.certificates.push(record),
                None => report.add(SuiteResults::read(folder)?.showing(args.metric))?,
            },
        }
    }
    if args.format == Format::Html {
        for run in &runs {
            report.runs.push(global.busy("looking", || view(run, args.split, global))?);
        }
        return write(&report, &args.out, global);
    }
    if !runs.is_empty() {
        compare::print(&Comparison::new(&runs)?, args.format.of_tables(), global)?;
    }
    report.certificate_tables().iter().try_for_each(|table| output::print(table))?;
    report.suites.iter().try_for_each(|suite| {
        let table = suite.table();
        // A title of several lines would leave the comment, or the paragraph.
        let title = suite.suite.title.replace('\n', " ");
        output::print(&match args.format {
            Format::Markdown => format!("{title}\n\n{}\n", table.markdown()),
            Format::Latex => format!("% {title}\n{}\n", table.latex()),
            Format::Csv | Format::Html => table.csv(),
        })
    })
}

fn write(report: &Report, out: &Path, global: &Global) -> Result<()> {
    let html = report.html();
    atomic::write_bytes(out, html.as_bytes())?;
    global.say(format_args!("wrote {}: {:.1} MB", out.display(), html.len() as f64 / 1e6));
    global.document(&json!({
        "path": out,
        "bytes": html.len(),
        "suites": report.suites.iter().map(|suite| &suite.name).collect::<Vec<_>>(),
        "certificates": report.certificates.iter().map(|record| &record.dataset).collect::<Vec<_>>(),
        "runs": report.runs.iter().map(RunView::title).collect::<Vec<_>>(),
    }));
    Ok(())
}

fn view(run: &Run, split: Option<usize>, global: &Global) -> Result<RunView> {
    let number = split.map_or_else(|| best_split(run, global), Ok)?;
    let dataset = own_data(run, "a page shows the data that was learned from: train again", global)?;
    let certificate = CertificateRecord::read(&run.path().join(CERTIFICATE))?;
    RunView::new(RunViewInput {
        dataset: &dataset,
        manifest: run.manifest(),
        split: (&run.split(&dataset, number)?, number),
        model: run.model(&Registry::default(), number)?.as_ref(),
        name: run.model_name(),
        classes: &run.data().classes,
        curve: &run.curve(number)?,
        results: run.results().into_iter().cloned().collect(),
        certificate: certificate.as_ref(),
    })
}
