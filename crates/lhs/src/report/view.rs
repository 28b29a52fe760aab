//! A training run, looked at: its splits, its latent graph, and a node's neighbourhood in both graphs.

use super::explorer::Explorer;
use super::figures::{self, Figure};
use super::latent;
use crate::error::Result;
use crate::experiment::CellRecord;
use crate::graph::{Dataset, Split};
use crate::models::NodeClassifier;
use crate::structure::Structure;
use crate::training::EpochRecord;

/// Nodes that the page keeps, at most: beyond, it would take long to open.
const NODES: usize = 20_000;

/// What a page shows of a run.
///
/// Scores and curves are read from its records. What no record holds is computed from the model: its latent structure,
/// where the weight of the latent graph lies, how heavy edges within and between classes are, and for the explorer the
/// probabilities and neighbours of every node.
pub struct RunView {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// The split that is looked at closely.
    pub split: usize,
    /// What the model decided.
    pub remarks: Vec<String>,
    /// Scores of all splits.
    pub results: Vec<CellRecord>,
    /// Pictures.
    pub(super) figures: Vec<Figure>,
    /// For walking through the graphs; only of models that learn a structure.
    pub(super) explorer: Option<Explorer>,
}

/// What a view is made from.
pub struct RunViewInput<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// The split that is looked at closely, and its number.
    pub split: (&'a Split, usize),
    /// The model that was trained on it.
    pub model: &'a dyn NodeClassifier,
    /// Its name.
    pub name: &'a str,
    /// Names of its classes.
    pub classes: &'a [String],
    /// Its training curve.
    pub curve: &'a [EpochRecord],
    /// Scores of all splits.
    pub results: Vec<CellRecord>,
}

impl RunView {
    /// Looks at a run.
    pub fn new(input: RunViewInput<'_>) -> Result<Self> {
        let (dataset, model) = (input.dataset, input.model);
        let curve = figures::curve("While training", &[(input.name.to_string(), input.curve)]);
        let mut figures: Vec<Figure> = curve.into_iter().collect();
        let mut explorer = None;
        if let Some(structure) = model.structure(dataset.graph(), dataset.features())? {
            figures.extend(latent::figures(dataset, structure.latent())?);
            explorer = explorable(&input, &structure)?;
        }
        Ok(RunView {
            dataset: dataset.name().into(),
            model: input.name.into(),
            split: input.split.1,
            remarks: model.diagnostics(),
            results: input.results,
            figures,
            explorer,
        })
    }

    /// What it is called.
    pub fn title(&self) -> String {
        format!("{} on {}, split {}", self.model, self.dataset, self.split)
    }
}

/// The explorer, unless the graph is too large for a page.
fn explorable(input: &RunViewInput<'_>, structure: &Structure) -> Result<Option<Explorer>> {
    let small = input.dataset.num_nodes() <= NODES;
    small.then(|| Explorer::new(input, structure)).transpose()
}
