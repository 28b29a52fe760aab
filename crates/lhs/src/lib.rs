//! Latent homophilic structures: node classifiers that keep working when somebody tampers with the graph.
//!
//! Data flows one way through it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`error`] | errors that carry the file, the place and the remedy |
//! | [`linalg`] | dense and sparse kernels, leading eigenpairs, ridge, all-pairs search; no graph words |
//! | [`autograd`] | the tape: variables, ops with their backward beside their forward, Adam |
//! | [`graph`] | [`graph::Graph`], [`graph::Dataset`], splits, heterophily, normalisation, made-up graphs |
//! | [`io`] | one file per format, and the download of public graphs |
//! | [`training`] | the one training loop, and how it is watched, stopped and resumed |
//! | [`structure`] | the latent structure: views, self-expression, low-rank filter, latent graph, refiner |
//! | [`models`] | [`models::NodeClassifier`], one file per model |
//! | [`attacks`] | [`attacks::Attack`]: a graph in, an attacked graph and a record out, one file per attack |
//! | [`cluster`] | clustering and link prediction on the latent structure |
//! | [`eval`] | metrics, experiments over splits, attacks on trained models, run folders, tuning |
//! | [`mod@bench`] | suites: grids of data, models and attacks, run so that nothing finished is lost |
//! | [`report`] | results as a page that opens offline, and as tables |
//!
//! From a file to predictions:
//!
//! ```
//! use lhs::graph::synth::SynthConfig;
//! use lhs::io::{LoadOptions, load, npz};
//! use lhs::models::{Model, NodeClassifier, lhs::Lhs};
//! use lhs::training::Task;
//!
//! # fn main() -> lhs::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let file = folder.path().join("graph.npz");
//! # let made_up = SynthConfig { nodes: 300, homophily: 0.8, ..SynthConfig::default() }.generate(0)?;
//! # npz::write(&made_up, &file, npz::FeatureLayout::Dense)?;
//! let dataset = load(&file, &LoadOptions::default())?; // validated once, here
//! let split = &dataset.splits()[0];
//! let task = Task::new(&dataset, split)?; // has no test labels in it
//! let model = Lhs::default().fit(&task)?;
//! let probabilities = model.predict(dataset.graph(), dataset.features())?; // [nodes, classes]
//!
//! let classes = lhs::eval::metrics::predicted_classes(&probabilities);
//! let right = |node: &&u32| Some(classes[**node as usize]) == dataset.labels().get(**node as usize);
//! let accuracy = split.test.iter().filter(right).count() as f32 / split.test.len() as f32;
//! assert!(accuracy > 0.8);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

pub mod attacks;
pub mod autograd;
pub mod bench;
pub mod cluster;
pub mod error;
pub mod eval;
pub mod graph;
pub mod io;
pub mod linalg;
pub mod models;
#[cfg(feature = "report")]
pub mod report;
pub mod structure;
pub mod training;

pub use error::{Error, Result};
