//! What an attack is given: the data, the split, perhaps a trained victim, and somebody who watches.

use crate::error::{Error, Result};
use crate::graph::{Dataset, Graph, Split};
use crate::models::NodeClassifier;
use crate::training::Observer;

/// Trains the victim again, with its own settings, on other data of the same nodes.
pub type Retrain<'a> = dyn Fn(&Dataset) -> Result<Box<dyn NodeClassifier>> + 'a;

/// Where an attack takes place.
#[derive(Clone, Copy)]
pub struct AttackContext<'a> {
    /// The clean data. Attacks plan on pairs of nodes, so [`super::Attack::prepare`] shows them a dataset without direction.
    pub dataset: &'a Dataset,
    /// Its graph with the direction of its edges, where `dataset` has lost it.
    pub directed: Option<&'a Graph>,
    /// Whose test nodes are attacked.
    pub split: &'a Split,
    /// The trained model that will be scored, if there is one: only adaptive attacks look at it.
    pub victim: Option<&'a dyn NodeClassifier>,
    /// The victim's training, if the attack comes before it: adaptive attacks ask whoever learned on what they leave.
    pub retrain: Option<&'a Retrain<'a>>,
    /// Is told how far the attack is, and may stop it.
    pub observer: &'a dyn Observer,
}

impl<'a> AttackContext<'a> {
    /// No victim, nobody watching.
    pub fn new(dataset: &'a Dataset, split: &'a Split) -> Self {
        AttackContext { dataset, directed: None, split, victim: None, retrain: None, observer: &() }
    }

    /// The graph that is changed in the end.
    pub(super) fn graph(&self) -> &'a Graph {
        self.directed.unwrap_or(self.dataset.graph())
    }

    /// To be called once per step: tells how far the attack is, or ends it.
    pub fn step(&self, done: usize, of: usize) -> Result<()> {
        self.observer.proceed()?;
        self.observer.step(done, of);
        Ok(())
    }

    /// Refuses data without features: for attacks that change them, or learn a model from them.
    pub(super) fn need_features(&self) -> Result<()> {
        if self.dataset.features().dim() > 0 {
            return Ok(());
        }
        Err(Error::data(
            format!("{} has no features, which this attack works with", self.dataset.name()),
            "choose data with features, or an attack that looks at edges alone, such as `dice` or `adaptive`",
        ))
    }
}
