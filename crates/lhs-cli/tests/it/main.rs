//! The binary as a user calls it, in one test program.

mod attack;
mod audit;
mod bench;
mod book;
mod certify;
mod data;
mod explain;
mod fetch;
mod golden;
#[path = "../../../lhs/tests/it/golden_file.rs"]
mod golden_file;
mod metrics;
mod mistakes;
mod report;
mod structure;
#[path = "../../../lhs/tests/it/toy/mod.rs"]
mod toy;
mod train;
mod usage;
mod workbench;
