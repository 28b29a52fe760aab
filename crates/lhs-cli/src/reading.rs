//! Which data a command reads, and how its tables are understood.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::output::Global;
use lhs::error::{Error, Result};
use lhs::graph::Dataset;
use lhs::graph::preparation::{Missing, PreparationConfig, Scale};
use lhs::io::tables::{ColumnNames, TableFiles};
use lhs::io::{LoadOptions, Source};

const TABLES: &str = "Your own tables";

/// Tables, one by one.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = TABLES)]
pub struct TableArgs {
    /// Table of edges: a source and a target, perhaps a weight; beside DATA, in place of its edges
    #[arg(long, value_name = "FILE")]
    pub edges: Option<PathBuf>,
    /// Table of features: a node and what is known of it (CSV, TSV, also .gz, JSON lines, Parquet), or node,column,value
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    pub features: Option<PathBuf>,
    /// Table of labels: node,label, perhaps among other columns
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    pub labels: Option<PathBuf>,
    /// Table of fixed splits: split,node,part
    #[arg(long, value_name = "FILE", requires = "edges", conflicts_with = "data")]
    pub split_table: Option<PathBuf>,
}

/// What the columns of tables are, and what becomes of them.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = TABLES)]
pub struct ReadingArgs {
    /// The column that names a node [default: recognised]
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// The column of classes, in the table of labels or of features [default: recognised in the labels]
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// Where edges come from [default: recognised]
    #[arg(long, value_name = "NAME")]
    pub source_column: Option<String>,
    /// Where edges go to [default: recognised]
    #[arg(long, value_name = "NAME")]
    pub target_column: Option<String>,
    /// The weights of edges [default: a column called weight]
    #[arg(long, value_name = "NAME")]
    pub weight_column: Option<String>,
    /// When a node came to be, for --split time:…; no feature then
    #[arg(long, value_name = "NAME")]
    pub time_column: Option<String>,
    /// Groups that a split must not tear apart, for --split group:…; no feature then
    #[arg(long, value_name = "NAME")]
    pub group_column: Option<String>,
    /// Columns that are no features
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub ignore_columns: Vec<String>,
    /// Columns whose numbers are names, such as postal codes
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub as_words: Vec<String>,
    /// What becomes of missing values [default: error]
    #[arg(long, value_enum, value_name = "HOW")]
    pub missing: Option<MissingArg>,
    /// Words of a column with a feature of their own, at most; all others share one [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub categories: Option<u32>,
    /// How numbers are scaled [default: measured numbers to mean 0 and deviation 1, very skewed ones by rank]
    #[arg(long, value_enum, value_name = "HOW")]
    pub scale: Option<ScaleArg>,
}

/// What becomes of missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// They are an error
    Error,
    /// The column's mean
    Mean,
    /// The column's median
    Median,
    /// Zero
    Zero,
    /// The mean, and a feature that says where they are
    Flag,
}

/// How numbers are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// To mean 0 and deviation 1
    Standard,
    /// By rank
    Rank,
    /// Not at all
    None,
}

impl ReadingArgs {
    /// How data is read.
    pub fn options(&self, directed: bool, global: &Global) -> LoadOptions {
        self.over(LoadOptions { directed, ..global.load_options(directed) })
    }

    /// Other options, with what the command line says over them.
    pub fn over(&self, options: LoadOptions) -> LoadOptions {
        let own = |ours: &Option<String>, theirs: Option<String>| ours.clone().or(theirs);
        let columns = options.columns;
        let columns = ColumnNames {
            id: own(&self.id_column, columns.id),
            label: own(&self.label_column, columns.label),
            source: own(&self.source_column, columns.source),
            target: own(&self.target_column, columns.target),
            weight: own(&self.weight_column, columns.weight),
            time: own(&self.time_column, columns.time),
            group: own(&self.group_column, columns.group),
            ignored: [columns.ignored, self.ignore_columns.clone()].concat(),
        };
        let prepare = options.prepare;
        let missing = self.missing.map(|missing| match missing {
            MissingArg::Error => Missing::Error,
            MissingArg::Mean => Missing::Mean,
            MissingArg::Median => Missing::Median,
            MissingArg::Zero => Missing::Zero,
            MissingArg::Flag => Missing::Flag,
        });
        let scale = self.scale.map(|scale| match scale {
            ScaleArg::Standard => Scale::Standard,
            ScaleArg::Rank => Scale::Rank,
            ScaleArg::None => Scale::None,
        });
        let prepare = PreparationConfig {
            missing: missing.unwrap_or(prepare.missing),
            categories: self.categories.map_or(prepare.categories, |cap| cap as usize),
            as_words: [prepare.as_words, self.as_words.clone()].concat(),
            scale: scale.unwrap_or(prepare.scale),
        };
        LoadOptions { columns, prepare, ..options }
    }
}

/// The dataset that a path, tables, or both name.
pub fn source(data: Option<&Path>, tables: &TableArgs) -> Result<Source> {
    match (data, &tables.edges) {
        (Some(data), None) => Ok(Source::Data(data.to_path_buf())),
        (Some(data), Some(edges)) => {
            Ok(Source::WithEdges { data: data.to_path_buf(), edges_from: edges.clone() })
        }
        (None, Some(edges)) => Ok(Source::Tables(TableFiles {
            edges: edges.clone(),
            features: tables.features.clone(),
            labels: tables.labels.clone(),
            splits: tables.split_table.clone(),
        })),
        (None, None) => Err(Error::data("no dataset was named", "give DATA or --edges FILE")),
    }
}

/// A dataset by its path or name, or by its tables one by one.
#[derive(Clone, Debug, clap::Args)]
pub struct SourceArgs {
    /// A file (.npz, a table of edges, …), a folder of tables (edges.csv, features.csv, labels.csv, splits.csv), a Geom-GCN
    /// folder, a Planetoid prefix, or the name of a fetched graph
    #[arg(value_name = "DATA", required_unless_present = "edges")]
    pub data: Option<PathBuf>,
    /// Keep the direction of the edges
    #[arg(long)]
    pub directed: bool,
    #[command(flatten)]
    pub tables: TableArgs,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl SourceArgs {
    /// What to read.
    pub fn source(&self) -> Result<Source> {
        source(self.data.as_deref(), &self.tables)
    }

    /// How to read it.
    pub fn options(&self, global: &Global) -> LoadOptions {
        self.reading.options(self.directed, global)
    }

    /// Reads the dataset, and passes its warnings on.
    pub fn load(&self, global: &Global) -> Result<Dataset> {
        let dataset = self.read(global)?;
        global.warn(dataset.warnings());
        Ok(dataset)
    }

    /// Reads the dataset.
    pub fn read(&self, global: &Global) -> Result<Dataset> {
        let (source, options) = (self.source()?, self.options(global));
        global.busy("reading", || source.load(&options)).map_err(with_flags)
    }
}

/// The library says what is wrong with tables in its own words; the flags that settle it are ours.
pub fn with_flags(error: Error) -> Error {
    const FLAGS: [(&str, &str); 7] = [
        ("(`missing`: mean, median, zero or flag)", "(--missing mean, median, zero or flag)"),
        ("(`as_words`)", "(--as-words)"),
        ("(`source` and `target` column)", "(--source-column and --target-column)"),
        ("(`id` and `label` column)", "(--id-column and --label-column)"),
        ("(`scale`: none)", "(--scale none)"),
        ("ignore these columns", "leave these columns out (--ignore-columns)"),
        ("or ignore the column", "or leave the column out (--ignore-columns)"),
    ];
    let said = |remedy: String| FLAGS.iter().fold(remedy, |text, (words, flag)| text.replace(words, flag));
    match error {
        Error::Input { file, place, problem, remedy } => {
            Error::Input { file, place, problem, remedy: said(remedy) }
        }
        Error::Data { problem, remedy } => Error::Data { problem, remedy: said(remedy) },
        other => other,
    }
}
