//! A model whose kind is known only at run time, such as one that was asked for by its name.

use super::{Model, NodeClassifier};
use crate::error::Result;
use crate::training::{Session, Task};

/// The settings of a model of some kind, ready to learn.
pub struct AnyModel(Box<dyn Erased>);

impl AnyModel {
    /// Forgets of which kind a model is.
    pub fn new(model: impl Model) -> Self {
        AnyModel(Box::new(model))
    }

    /// [`Model::fit_with`].
    pub fn fit_with(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Box<dyn NodeClassifier>> {
        self.0.fit_boxed(task, seed, session)
    }

    /// [`Model::fit`].
    pub fn fit(&self, task: &Task<'_>) -> Result<Box<dyn NodeClassifier>> {
        self.fit_with(task, 0, &mut Session::default())
    }
}

/// [`Model`] without its types.
trait Erased: Send + Sync {
    fn fit_boxed(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Box<dyn NodeClassifier>>;
}

impl<M: Model> Erased for M {
    fn fit_boxed(
        &self,
        task: &Task<'_>,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Box<dyn NodeClassifier>> {
        Ok(Box::new(self.fit_with(task, seed, session)?))
    }
}
