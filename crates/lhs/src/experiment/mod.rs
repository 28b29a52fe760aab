//! The one way in which anything is trained, attacked and scored more than once.
//!
//! A [`Suite`] says what to run: datasets × splits × models × attacks × rates × seeds × settings. A [`Plan`] lays it out as
//! [`Cell`]s, those that need the same trained model side by side in a [`Job`]. A [`Runner`] trains, attacks and
//! scores; a [`Store`] keeps every finished cell on disk at once, so that a killed process loses only what it was working
//! on; [`table`] sums the cells up. [`Tuner`] is a suite whose next cells depend on the last ones. An [`Observer`] is told
//! how it goes, and may stop it.
//! The numbers of a cell depend on data, settings and seeds alone: not on threads, on the order, or on interruptions.
//!
//! ```
//! use lhs::prelude::*;
//!
//! # fn main() -> lhs::Result<()> {
//! let suite: Suite = "title = \"a look\"\ndatasets = [\"made-up\"]\nmodels = [\"mlp\", \"gcn\"]".parse()?;
//! let dataset = SynthConfig { nodes: 120, splits: 2, ..SynthConfig::default() }.generate(0)?;
//! let plan = Plan::on(&suite, vec![Data::new(dataset)?], &Registry::default())?;
//! let outcome = Runner::new(&plan).run()?;
//! assert_eq!(outcome.records.len(), 4, "two models on two splits");
//! # Ok(())
//! # }
//! ```

mod cell;
mod cell_filter;
mod checkpoint;
mod columns;
pub mod config_file;
mod data;
pub mod fingerprint;
pub mod found_settings;
mod inductive;
mod job;
mod matched;
pub mod memory;
mod method;
mod observer;
pub mod parallel;
mod plan;
mod run;
mod runner;
pub mod settings;
pub mod shipped;
pub mod splits;
mod store;
mod suite;
pub mod table;
pub mod tuner;

pub use cell::{AttackId, Cell, CellId, CellRecord, Heterophily, Measured};
pub use cell_filter::{CellFilter, Shard};
pub use data::{Data, DataRecord};
pub use job::{attack_seed, split_seed};
pub use method::{ConfiguredMethod, Method};
pub use observer::Observer;
pub use plan::{Job, Plan, PlannedAttack};
pub use run::{Arranged, Run, TrainedModel, free_name, last_name, write_settings};
pub use runner::{OnError, Outcome, Runner, Scoring};
pub use store::{IfPresent, Manifest, Store, merge, read_cells};
pub use suite::{AttackAxis, Judging, Suite, Variant};
pub use tuner::Tuner;
