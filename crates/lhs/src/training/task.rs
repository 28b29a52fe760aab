//! What a model may see while it learns: test labels are not in here.

use super::Copies;
use crate::error::Result;
use crate::graph::{Dataset, Features, Graph, Labelled, Split};
use crate::quality::positive::positive_class;

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
    /// Names of the classes, by their numbers; may be empty where nobody asks for a class by name.
    pub class_names: &'a [String],
    /// The class that is looked for, see [`crate::metrics::positive_class`].
    pub positive_class: Option<u32>,
    /// Other versions of the graph to learn on; most models look at the graph alone.
    pub copies: Copies<'a>,
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
        let (train, class_names) = (labelled(&split.train), dataset.labels().names());
        Ok(Task {
            graph: dataset.graph(),
            features: dataset.features(),
            num_classes: dataset.num_classes(),
            positive_class: positive_class(class_names, dataset.details().positive_class, &train.classes),
            train,
            val: labelled(&split.val),
            class_names,
            copies: Copies::default(),
        })
    }
}
