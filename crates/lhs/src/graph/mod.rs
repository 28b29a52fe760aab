//! Graphs and what belongs to them: features, labels, splits; heterophily; normalisation.

pub mod components;
pub mod content;
mod dataset;
mod details;
mod features;
pub mod flips;
pub mod heterophily;
mod labels;
pub mod mimicry;
pub mod normalise;
pub mod preparation;
pub mod rings;
mod split;
pub mod summary;
pub mod support;
pub mod synth;
mod topology;

pub use dataset::{Dataset, DatasetParts};
pub use details::{Details, Origin};
pub use features::Features;
pub use labels::{Labelled, Labels};
pub use split::Split;
pub use topology::{Graph, Repairs};
