//! Measuring: metrics, experiments over splits and seeds, run folders, the search for settings.
//!
//! [`experiment`] trains a model on each split and scores it; [`run`] keeps what it made on disk, so that
//! an interrupted run goes on to the same bits; [`robustness`] attacks the data of trained models and scores them again;
//! [`audit`] measures how heterophilic the parts of the data are, and how far they shift; [`structure`] describes graphs
//! and what was learned of them; [`tune`] searches settings by validation accuracy alone.

pub mod audit;
mod checkpoint;
pub mod config_file;
pub mod experiment;
pub mod fingerprint;
pub mod memory;
pub mod metrics;
pub mod parallel;
pub mod predictions;
pub mod robustness;
pub mod run;
pub mod scores;
pub mod settings;
pub mod shift;
pub mod shipped;
pub mod significance;
pub mod splits;
pub mod structure;
pub mod tune;
