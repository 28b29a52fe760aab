//! The latent structure: a graph in which neighbours share a class, learned from a graph in which they do not.
//!
//! [`views`] turns features or edges into one row of numbers per node; [`self_expression`] writes every row as
//! a combination of the others; [`low_rank`] keeps the leading directions of that; [`latent_graph`] joins the
//! nodes that point the same way; [`refiner`] embeds the result for another round. [`learner`] goes the whole
//! way; [`agreement`] lets the training labels choose on it, and [`node_identity`] finds the nodes of the training
//! graph again in another one.

pub mod agreement;
mod inputs;
pub mod latent_graph;
pub mod learner;
pub mod low_rank;
pub mod node_identity;
pub mod refiner;
mod saved;
pub mod self_expression;
pub mod views;

pub(crate) use inputs::settle;
pub use inputs::{Bases, Inputs, Profiles};
pub use latent_graph::{LARGE, Search};
pub use learner::{Choices, FittedStructure, Join, Structure, StructureConfig, Views};
pub use refiner::{Constraint, RefinerConfig};
pub use self_expression::SelfExpression;
