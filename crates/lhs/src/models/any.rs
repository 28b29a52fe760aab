//! A model whose kind is known only at run time, such as one that was asked for by its name.

use super::{Model, NodeClassifier};
use crate::error::Result;
use crate::training::{DataSizes, MemoryPlan, Session, Task};

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

    /// [`Model::memory`].
    pub fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        self.0.memory_of(sizes)
    }

    /// [`Model::ensure_fits`].
    pub fn ensure_fits(&self, sizes: &DataSizes) -> Result<()> {
        self.0.ensure_it_fits(sizes)
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

    fn memory_of(&self, sizes: &DataSizes) -> MemoryPlan;

    fn ensure_it_fits(&self, sizes: &DataSizes) -> Result<()>;
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

    fn memory_of(&self, sizes: &DataSizes) -> MemoryPlan {
        self.memory(sizes)
    }

    fn ensure_it_fits(&self, sizes: &DataSizes) -> Result<()> {
        self.ensure_fits(sizes)
    }
}
