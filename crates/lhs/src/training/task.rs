//! What a model may see while it learns: test labels are not in here.

use crate::error::Result;
use crate::graph::{Dataset, Features, Graph, Labelled, Split};

/// A dataset under one split, without its test labels.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The graph to learn on.
    pub graph: &'a Graph,
    /// The features of all nodes.
    pub features: &'a Features,
    /// Number of classes.
    pub num_classes: usize,
    /// What the model learns from.
    pub train: Labelled,
    /// What early stopping looks at.
    pub val: Labelled,
}

impl<'a> Task<'a> {
    /// Takes from a dataset what a split allows a model to see.
    pub fn new(dataset: &'a Dataset, split: &Split) -> Result<Self> {
        dataset.check_trainable()?;
        split.validate(dataset.labels())?;
        let labelled = |part: &[u32]| Labelled {
            nodes: part.to_vec(),
            classes: part.iter().filter_map(|&n| dataset.labels().get(n as usize)).collect(),
        };
        Ok(Task {
            graph: dataset.graph(),
            features: dataset.features(),
            num_classes: dataset.num_classes(),
            train: labelled(&split.train),
            val: labelled(&split.val),
        })
    }
}
