//! `lhs export-embeddings`: what a trained model reads the classes from, one row of numbers per node, for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::evaluate::own_data;
use super::output::Global;
use super::predict::chosen;
use super::selection::load_for;
use lhs::error::{Error, Result};
use lhs::experiment::Arranged;
use lhs::graph::Dataset;
use lhs::io::parquet::{self, Column};
use lhs::io::{atomic, npy};
use lhs::linalg::Mat;
use lhs::metrics::predicted_classes;
use lhs::models::Registry;

/// Write the codes that a trained model classifies, one row per node
///
/// For lhs: the own code of each node (features, then profile), then its means over the hops on the latent graph and on the given
/// one, side by side, of the first of its encoders. For other networks: the class scores before the softmax.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lhs export-embeddings runs/accounts-lhs --out codes.npy     (and codes.ids.csv: node, prediction, part)
  lhs export-embeddings runs/accounts-lhs --out codes.csv --data others.npz")]
pub struct ExportEmbeddingsArgs {
    /// The run folder that `lhs train` made
    run: PathBuf,
    /// Where to write: .npy (float32, with a table of ids beside it), .csv or .parquet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Other data than the run's own
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// The split whose model is asked [default: the best at its validation nodes]
    #[arg(long, value_name = "K")]
    split: Option<usize>,
    /// Replace the files if they are there
    #[arg(long)]
    force: bool,
}

/// How the rows are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    Parquet,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("csv") => Ok(Format::Csv),
            Some("parquet") => Ok(Format::Parquet),
            _ => Err(Error::input(
                path,
                "",
                "the format is not known",
                "give a name that ends in .npy, .csv or .parquet",
            )),
        }
    }
}

/// Runs the command.
pub fn run(args: &ExportEmbeddingsArgs, global: &Global) -> Result<()> {
    let format = Format::of(&args.out)?;
    let ids = (format == Format::Npy).then(|| args.out.with_extension("ids.csv"));
    let files = || std::iter::once(&args.out).chain(&ids);
    if let Some(taken) = files().find(|file| file.exists() && !args.force) {
        return Err(Error::input(taken, "", "this file exists", "replace it with --force"));
    }
    let (run, number) = chosen(&args.run, args.split, global)?;
    let trained = run.trained(&Registry::default(), number)?;
    let dataset = match &args.data {
        Some(named) => load_for(&run, named, global)?,
        None => own_data(&run, "to use it all the same: --data", global)?,
    };
    let in_file = |error: Error| error.in_file(args.data.as_ref().unwrap_or(&run.data().path));
    let dataset = trained.with_columns(&dataset).map_err(in_file)?;
    let arranged = trained.arranged(&dataset, &run.data().classes).map_err(in_file)?;
    let (graph, features) = (arranged.dataset.graph(), arranged.dataset.features());
    let found = global.busy("encoding", || trained.model.embeddings(graph, features)).map_err(in_file)?;
    let codes = found.ok_or_else(|| {
        Error::input(
            &args.run,
            "",
            format!("{} cannot show its codes", run.model_name()),
            "lhs, and every model but bm-gcn, greet and pro-gnn, can",
        )
    })?;
    let places: Vec<u32> = (0..dataset.num_nodes()).map(|node| arranged.place(node) as u32).collect();
    let codes = codes.select_rows(&places);
    let predicted = predicted_classes(&trained.model.predict(graph, features).map_err(in_file)?);
    let rows =
        Rows { dataset: &dataset, arranged: &arranged, predicted: &predicted, classes: &run.data().classes };
    match &ids {
        Some(ids) => {
            let (shape, values) = ([codes.rows(), codes.cols()], codes.as_slice().iter().copied());
            atomic::write(&args.out, |mut out| {
                npy::write(&mut out, &shape, values).map_err(Error::io("write", &args.out))
            })?;
            atomic::write(ids, |out| rows.write(out, None, ids))?;
        }
        None if format == Format::Parquet => rows.write_parquet(&codes, &args.out)?,
        None => atomic::write(&args.out, |out| rows.write(out, Some(&codes), &args.out))?,
    }
    let what = trained.model.embeddings_are();
    files().for_each(|file| global.say(format_args!("wrote {}", file.display())));
    global.say(format_args!("{} nodes, {} columns: {what}", codes.rows(), codes.cols()));
    global.document(&json!({
        "run": args.run,
        "model": run.model_name(),
        "split": number,
        "dataset": dataset.name(),
        "nodes": codes.rows(),
        "columns": codes.cols(),
        "what": what,
        "written": files().collect::<Vec<_>>(),
    }));
    Ok(())
}

/// The table of the nodes.
struct Rows<'a> {
    dataset: &'a Dataset,
    arranged: &'a Arranged<'a>,
    /// By place among the arranged nodes.
    predicted: &'a [u32],
    classes: &'a [String],
}

impl Rows<'_> {
    /// Id, prediction and part of every node, and its code if there is one.
    fn write(&self, out: impl Write, codes: Option<&Mat>, path: &Path) -> Result<()> {
        let failed = |error: csv::Error| match error.into_kind() {
            csv::ErrorKind::Io(source) => Error::io("write", path)(source),
            other => Error::data(format!("cannot write {}: {other:?}", path.display()), ""),
        };
        let mut table = csv::Writer::from_writer(out);
        let columns = codes.map_or(0, Mat::cols);
        let names = ["node", "prediction", "part"].map(String::from).into_iter();
        table.write_record(names.chain((0..columns).map(|column| format!("c{column}")))).map_err(failed)?;
        for node in 0..self.dataset.num_nodes() {
            let place = self.arranged.place(node);
            let about = [
                self.dataset.node_id(node),
                self.classes[self.predicted[place] as usize].clone(),
                self.part(place as u32).to_string(),
            ];
            let code = codes.map_or(&[][..], |codes| codes.row(node));
            table.write_record(about.into_iter().chain(code.iter().map(f32::to_string))).map_err(failed)?;
        }
        table.flush().map_err(Error::io("write", path))
    }

    /// The same as a Parquet file.
    fn write_parquet(&self, codes: &Mat, path: &Path) -> Result<()> {
        let nodes = || 0..self.dataset.num_nodes();
        let texts = |of: &dyn Fn(usize) -> String| Column::Text(nodes().map(of).collect());
        let class = |node: usize| self.classes[self.predicted[self.arranged.place(node)] as usize].clone();
        let part = |node: usize| self.part(self.arranged.place(node) as u32).to_string();
        let mut columns = vec![
            ("node".to_string(), texts(&|node| self.dataset.node_id(node))),
            ("prediction".to_string(), texts(&class)),
            ("part".to_string(), texts(&part)),
        ];
        columns.extend((0..codes.cols()).map(|column| {
            (format!("c{column}"), Column::Numbers(nodes().map(|node| codes.get(node, column)).collect()))
        }));
        parquet::write(path, &columns)
    }

    fn part(&self, place: u32) -> &'static str {
        let split = &self.arranged.split;
        let parts = [("train", &split.train), ("val", &split.val), ("test", &split.test)];
        parts.into_iter().find(|(_, nodes)| nodes.binary_search(&place).is_ok()).map_or("", |(name, _)| name)
    }
}
