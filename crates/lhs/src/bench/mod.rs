//! Suites: a grid of datasets, splits, models, attacks, rates, seeds and settings, run cell by cell.
//!
//! A [`Suite`] is a file that says what to run; [`Grid`] lays it out as cells, those that need the same trained model
//! side by side in a [`Job`]; [`Bench`] trains, attacks and scores; [`Store`] keeps every finished cell on disk at once, so
//! that a killed process loses only what it was working on; [`table`] sums the cells up.
//! The numbers of a cell depend on data, settings and seeds alone: not on threads, on the order, or on interruptions.

mod contender;
mod grid;
mod job;
mod only;
mod run;
pub mod shipped;
mod store;
mod suite;
pub mod table;

pub use contender::Contender;
pub use grid::{AttackId, Cell, CellId, Grid, Job};
pub use job::Measured;
pub use only::Only;
pub use run::{Bench, Progress, Summary};
pub use store::{CellRecord, Store, read_cells};
pub use suite::{AttackAxis, Suite, Variant};
