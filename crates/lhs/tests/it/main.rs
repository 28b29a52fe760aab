//! The library as its users see it, in one test program.

mod architecture;
mod attacks;
mod certify;
mod examples;
mod export;
mod formats;
mod golden;
mod golden_file;
mod import;
mod lhs_model;
mod memory;
mod models;
mod runs;
mod structure;
mod tables;
mod toy;
mod tune;
mod untidy_tables;
