//! Latent homophilic structures: node classifiers that keep working when somebody tampers with the graph.
#![warn(missing_docs)]

pub mod autograd;
pub mod cli;
pub mod error;
pub mod eval;
pub mod graph;
pub mod io;
pub mod linalg;
pub mod models;

pub use error::{Error, Result};
