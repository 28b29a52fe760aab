//! Who votes: one model that reads every bucket's graph, or a model for each bucket.
//!
//! Voter `t` says what its model says on the graph of bucket `t` with all features. Whatever else it reads of edges was frozen
//! when it learned:
//!
//! - against evasion, one model learns from the bucket graphs of a training graph that is trusted, a bucket in each step;
//! - against poisoning, where the training graph itself may have been changed, model `t` learns from bucket `t` alone, and
//!   the models share nothing but the rule for their seeds.
//!
//! Either way an edge of the graph that is predicted on reaches the voter of its bucket, and no other.
//! Cost: one training and `T` predictions, or `T` trainings on sparse graphs.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use toml::Table;

use super::{Buckets, Votes};
use crate::error::{Error, Result};
use crate::graph::{Features, Graph};
use crate::linalg::random::derive;
use crate::models::{ModelKind, NodeClassifier};
use crate::quality::confusion::predicted_classes;
use crate::training::{Copies, EpochRecord, Observer, Session, Task};

/// Early stopping looks at so many buckets at most: each costs a forward pass in every epoch.
const JUDGES: usize = 5;

/// Models that have learned to vote.
pub struct Voters {
    buckets: Buckets,
    num_classes: usize,
    /// One for all buckets, or one for each.
    models: Vec<Box<dyn NodeClassifier>>,
}

impl Voters {
    /// Learns what a model of this kind, with these settings, says on bucket graphs.
    pub fn fit(
        (kind, settings): (&ModelKind, &Table),
        task: &Task<'_>,
        buckets: Buckets,
        poisoning: bool,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if !poisoning && !kind.learns_from_copies {
            return Err(Error::data(
                format!("{} cannot learn from bucket graphs: it is made for one training graph", kind.name),
                "certify it against poisoning, where each bucket has a model of its own, or choose a model such as lhs or gcn",
            ));
        }
        buckets.check_edges(task.graph)?;
        let graphs = buckets.graphs(task.graph)?;
        let model = (kind.build)(settings)?;
        let models = if poisoning {
            let done = AtomicUsize::new(0);
            let fit = |bucket: usize| {
                let task = Task { graph: &graphs[bucket], ..task.clone() };
                let seed = derive(seed, &[bucket as u64]);
                let fitted = model.fit_with(&task, seed, &mut Session::watched_by(&Quiet(observer)))?;
                observer.step(1 + done.fetch_add(1, Ordering::Relaxed), buckets.count());
                Ok(fitted)
            };
            (0..buckets.count()).into_par_iter().map(fit).collect::<Result<_>>()?
        } else {
            let val = &graphs[..graphs.len().min(JUDGES)];
            let copies = Copies { train: &graphs, val, weight: 1.0, val_weight: 1.0 };
            let task = Task { copies, ..task.clone() };
            vec![model.fit_with(&task, seed, &mut Session::watched_by(observer))?]
        };
        Ok(Voters { buckets, num_classes: task.num_classes, models })
    }

    /// What each says on a graph of the training nodes, who are called so.
    pub fn votes(&self, graph: &Graph, features: &Features, ids: &[String]) -> Result<Votes> {
        self.buckets.check_ids(ids)?;
        let say = |(bucket, graph): (usize, Graph)| {
            let model = &self.models[bucket % self.models.len()];
            Ok(predicted_classes(&model.predict(&graph, features)?))
        };
        let voters = self.buckets.graphs(graph)?.into_iter().enumerate().map(say);
        Ok(Votes::new(self.num_classes, voters.collect::<Result<_>>()?))
    }
}

/// Trainings side by side, whose epochs nobody could tell apart.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn stopping(&self) -> bool {
        self.0.stopping()
    }

    fn epoch(&self, _: &EpochRecord) {}
}
