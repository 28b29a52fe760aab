//! Latent homophilic structures: node classifiers that keep working when somebody tampers with the graph.
//!
//! # From tables to a ranked list
//!
//! ```
//! use lhs::prelude::*;
//!
//! # fn main() -> lhs::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let accounts = SynthConfig { nodes: 300, classes: 2, homophily: 0.2, signal: 2.0, ..SynthConfig::default() }.generate(0)?;
//! # lhs::io::tables::write(&accounts, folder.path())?;
//! # let folder = folder.path();
//! let dataset = load(folder, &LoadOptions::default())?; // edges.csv, labels.csv, features.csv: checked once, here
//! let split = Split::random(dataset.labels(), 0.6, 0.2, 0.2, 0)?;
//! let task = Task::new(&dataset, &split)?; // what a model may see: no test labels
//! let model = Lhs::default().fit(&task)?;
//! let probabilities = model.predict(dataset.graph(), dataset.features())?; // [nodes, classes]
//!
//! let mut ranked: Vec<usize> = (0..dataset.num_nodes()).collect();
//! ranked.sort_by(|&a, &b| probabilities.row(b)[1].total_cmp(&probabilities.row(a)[1]));
//! println!("most likely of class {}: {}", dataset.labels().names()[1], dataset.node_id(ranked[0]));
//!
//! let predictions = Predictions::new(&dataset, dataset.labels().names(), probabilities)?;
//! let accuracy = predictions.confusion(split.test.iter().copied()).accuracy();
//! assert!(accuracy > Some(0.8));
//! # Ok(())
//! # }
//! ```
//!
//! The model can be asked what it decided ([`models::lhs::FittedLhs::choices`], `channels`, `structure`), and kept:
//!
//! ```
//! # use lhs::prelude::*;
//! # fn main() -> lhs::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let file = folder.path().join("m.lhs");
//! # let dataset = SynthConfig { nodes: 120, ..SynthConfig::default() }.generate(0)?;
//! # let task = Task::new(&dataset, &dataset.splits()[0])?;
//! # let mut quick = Lhs::default();
//! # quick.training.epochs = 10;
//! # let model = quick.fit(&task)?;
//! model.save(&file)?;
//! let same = FittedLhs::load(&file)?; // or lhs::models::load, for a model of any kind
//! # assert_eq!(same.predict(task.graph, task.features)?, model.predict(task.graph, task.features)?);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go next
//!
//! - Attack a graph and see who stands: [`attacks`], and the example `attack_and_compare`.
//! - Many datasets, models and attacks under one protocol, resumed after any interruption: [`experiment`].
//! - The latent graph in a network of your own, through the tape: [`structure`], [`autograd`], the example `own_network`.
//! - A model of your own beside the others: [`models::Model`], [`models::architecture::Architecture`], the example `own_model`.
//! - How heterophilic the parts of a dataset are, and how far they shift: [`metrics::audit`].
//!
//! `examples/` holds a short program for each.
//!
//! # The map
//!
//! Data flows one way:
//!
//! | module | what it holds |
//! |---|---|
//! | [`error`] | errors that carry the file, the place and the remedy |
//! | [`linalg`] | dense and sparse kernels, leading eigenpairs, ridge, all-pairs search; no graph words |
//! | [`autograd`] | the tape: variables, ops with their backward beside their forward, Adam |
//! | [`graph`] | [`graph::Graph`], [`graph::Dataset`], splits, heterophily, normalisation, made-up graphs |
//! | [`io`] | one file per format; with the feature `fetch`, the download of public graphs |
//! | [`training`] | [`training::Task`], the one training loop, how it is watched, stopped and resumed |
//! | [`structure`] | the latent structure: views, self-expression, low-rank filter, latent graph, refiner |
//! | [`models`] | [`models::Model`], one file per model |
//! | [`attacks`] | [`attacks::Attack`]: a graph in, an attacked graph and a record out, one file per attack |
//! | [`certify`] | what no attack within a budget can change: [`certify::Certificate`] |
//! | [`explain`] | why a model says what it says about a node: [`explain::Explanation`] |
//! | [`metrics`] | decisions, rankings and probabilities against labels, predictions as tables, heterophily and right-shift, significance |
//! | [`cluster`] | clustering and link prediction on the latent structure |
//! | [`experiment`] | suites, cells, the runner, the store, the search for settings |
//! | `report` | with the feature `report`: results as a page that opens offline, and as tables |
#![warn(missing_docs)]

pub mod attacks;
pub mod autograd;
pub mod certify;
pub mod cluster;
pub mod error;
pub mod experiment;
pub mod explain;
pub mod graph;
pub mod io;
pub mod linalg;
pub mod metrics;
pub mod models;
pub mod prelude;
mod quality;
#[cfg(feature = "report")]
pub mod report;
pub mod structure;
pub mod training;

pub use error::{Error, Result};

/// The Rust snippets of the README and the book, run with the tests of the documentation.
#[cfg(doctest)]
mod snippets {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../book/src/guide/rust.md")]
    struct Guide;
}
