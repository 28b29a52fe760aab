//! What an attack is given: the data, the split, perhaps a trained victim, and somebody who watches.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::models::NodeClassifier;

/// Where an attack takes place.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The clean data.
    pub dataset: &'a Dataset,
    /// Whose test nodes are attacked.
    pub split: &'a Split,
    /// The trained model that will be scored, if there is one: only adaptive attacks look at it.
    pub victim: Option<&'a dyn NodeClassifier>,
    /// Who is told how far the attack is, and may stop it.
    pub watch: Watch<'a>,
}

impl<'a> Scene<'a> {
    /// No victim, nobody watching.
    pub fn new(dataset: &'a Dataset, split: &'a Split) -> Self {
        Scene { dataset, split, victim: None, watch: Watch::default() }
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

/// Whoever waits for a long attack.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Set to true to stop at the next step.
    pub stop: Option<&'a AtomicBool>,
    /// Told of the steps done and all steps.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl Watch<'_> {
    /// To be called once per step: tells how far the attack is, or ends it.
    pub fn step(&self, done: usize, of: usize) -> Result<()> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted {
                remedy: "nothing was kept; the same command begins again".into(),
            });
        }
        if let Some(progress) = self.progress {
            progress(done, of);
        }
        Ok(())
    }
}
