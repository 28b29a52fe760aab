//! Models that are one network, trained on cross-entropy at the training nodes: everything that they share.
//!
//! A file of such a model says what its settings are (by `network_settings!`, and [`Architecture::check`]), what it learns
//! ([`Architecture::parameters`]), what it needs of a graph ([`Architecture::prepare`]) and how class scores come of
//! that ([`Architecture::scores`]). Fitting, predicting, saving and loading are here, once.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::hardening::{self, Attacked};
use super::relaxed::{FlipQuestion, Flips};
use super::trial::Trial;
use super::{FittedModel, Model, ModelInfo, NodeClassifier, SavedModel, settings};
use crate::autograd::Var;
use crate::error::Result;
use crate::graph::{Features, Graph};
use crate::linalg::Mat;
use crate::linalg::random::derive;
use crate::training::{
    Amounts, DataSizes, MemoryPlan, Mixture, Network, Parameters, Session, Task, TrainingConfig,
    probabilities, train,
};

/// Matrices of the width of a layer that the tape keeps of it: products, sums, activations, what is left after dropout, and
/// gradients on their way.
pub const TAPE_COPIES: usize = 8;

/// The numbers that the shapes of a network's parameters follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Feature columns.
    pub features: usize,
    /// Classes.
    pub classes: usize,
    /// Nodes of the graph that was learned on, for networks with weights for each node.
    pub nodes: usize,
}

/// Settings among which are those that every network has.
pub trait NetworkSettings {
    /// Those.
    fn shared(&self) -> Shared<'_>;
}

/// The settings that every network has, by which it is checked and trained.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// Width of the hidden layers, 1 or more.
    pub hidden: usize,
    /// Number of layers, 1 or more, where it can be chosen.
    pub layers: Option<usize>,
    /// Share of the units dropped while training, 0..1.
    pub dropout: f32,
    /// How much attacked copies of the graph count in training, 0..=1.
    pub hardening: f32,
    /// How the network is trained.
    pub training: &'a TrainingConfig,
}

impl Shared<'_> {
    /// Checks the ranges.
    pub fn check(&self) -> Result<()> {
        settings::at_least_one("hidden", self.hidden)?;
        settings::at_least_one("layers", self.layers.unwrap_or(1))?;
        settings::share_below_one("dropout", self.dropout)?;
        settings::share("hardening", self.hardening)?;
        self.training.validate("training")
    }
}

/// The settings of a model that is one network.
pub trait Architecture: ModelInfo + NetworkSettings {
    /// What the network needs of a graph and its features, on the tape: made once per fit or prediction.
    type Prepared;

    /// Checks the ranges of the settings that are the network's own.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Fresh parameters, in the order in which [`Architecture::scores`] reads them.
    fn parameters(&self, sizes: Sizes, seed: u64) -> Parameters;

    /// Prepares a graph. What is costly and needs no labels goes through [`Session::shared`].
    fn prepare(
        &self,
        graph: &Graph,
        features: &Features,
        session: &mut Session<'_>,
    ) -> Result<Self::Prepared>;

    /// Class scores before the softmax, `[n, classes]`; `dropout_seed` is `None` when predicting.
    fn scores(&self, prepared: &Self::Prepared, parameters: &[Var], dropout_seed: Option<u64>) -> Var;

    /// Scores while training, and a term added to the cross-entropy.
    fn training_scores(
        &self,
        prepared: &Self::Prepared,
        parameters: &[Var],
        seed: u64,
    ) -> (Var, Option<Var>) {
        (self.scores(prepared, parameters, Some(seed)), None)
    }

    /// Prepares a graph in which candidates are flipped by some share, for gradients with respect to edges; none for networks
    /// that do not tell them.
    fn prepare_flips(&self, flips: &Flips<'_>) -> Option<Self::Prepared> {
        let _ = flips;
        None
    }

    /// How many numbers training on data of these sizes keeps at once.
    fn amounts(&self, sizes: &DataSizes) -> Amounts {
        let Shared { hidden, layers, .. } = self.shared();
        Amounts::layered(sizes, hidden, layers.unwrap_or(2), TAPE_COPIES)
    }

    /// A network that computes the scores of some nodes alone, where most of its cost is not shared between nodes.
    fn for_some(&self) -> Option<&dyn ForSome<Self::Prepared>> {
        None
    }
}

/// Scores of some nodes, without those of all.
pub trait ForSome<Prepared> {
    /// [`Architecture::scores`] of these nodes, in this order.
    fn scores_of(
        &self,
        nodes: &Rc<[u32]>,
        prepared: &Prepared,
        parameters: &[Var],
        dropout_seed: Option<u64>,
    ) -> Var;
}

/// A network that has learned.
#[derive(Clone, Debug)]
pub struct Fitted<A> {
    pub(super) architecture: A,
    sizes: Sizes,
    pub(super) parameters: Parameters,
}

impl<A: Architecture> Model for A {
    type Fitted = Fitted<A>;
    const LEARNS_FROM_COPIES: bool = true;

    fn validate(&self) -> Result<()> {
        self.shared().check()?;
        self.check()
    }

    fn memory(&self, sizes: &DataSizes) -> MemoryPlan {
        let mut amounts = self.amounts(sizes);
        if self.shared().hardening > 0.0 {
            amounts.prepared = amounts.prepared * (1 + hardening::ALL_COPIES);
        }
        MemoryPlan::of(sizes, &amounts)
    }

    fn fit_with(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Fitted<A>> {
        self.validate()?;
        self.ensure_fits(&DataSizes::of(task))?;
        if self.shared().hardening > 0.0 {
            return self.fit_hardened(task, seed, session);
        }
        self.fit_on(task, seed, session)
    }
}

/// Training as it is, and hardened.
trait Fit: Architecture {
    /// Learns on a task and on the copies that it comes with.
    fn fit_on(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Fitted<Self>> {
        let sizes =
            Sizes { features: task.features.dim(), classes: task.num_classes, nodes: task.graph.num_nodes() };
        let mut parameters = self.parameters(sizes, seed);
        let mut on = |graph: &Graph| {
            let prepared = self.prepare(graph, task.features, session)?;
            Ok(Net { architecture: self, prepared })
        };
        let (network, copies) = (on(task.graph)?, task.copies.map(&mut on)?);
        let objective = Mixture::new(&network, &copies, task, self.shared().training)?;
        train(
            "classifier",
            &objective,
            &mut parameters,
            self.shared().training,
            derive(seed, &[1]),
            session,
        )?;
        Ok(Fitted { architecture: self.clone(), sizes, parameters })
    }

    /// Learns on a task and on copies of its graph that attack what was learned before.
    fn fit_hardened(&self, task: &Task<'_>, seed: u64, session: &mut Session<'_>) -> Result<Fitted<Self>> {
        let share = self.shared().hardening;
        let mut attacked = Attacked::none();
        for round in 0..hardening::ROUNDS {
            let observer = Trial(session.observer);
            let trial = &mut observer.session(session.memo);
            let victim = self.fit_on(&attacked.beside(task, share)?, seed, trial)?;
            let predict = |graph: &Graph| victim.predict(graph, task.features);
            let seed = derive(seed, &[2, round as u64]);
            attacked.add(Attacked::by_asking(&predict, task, share, seed, observer.0)?);
        }
        self.fit_on(&attacked.beside(task, share)?, seed, session)
    }
}

impl<A: Architecture> Fit for A {}

impl<A: Architecture> Fitted<A> {
    /// The network on a graph.
    fn on(&self, graph: &Graph, features: &Features) -> Result<Net<'_, A>> {
        settings::same_columns(features, self.sizes.features)?;
        if A::TRANSDUCTIVE {
            settings::same_nodes(graph, self.sizes.nodes)?;
        }
        let prepared = self.architecture.prepare(graph, features, &mut Session::default())?;
        Ok(Net { architecture: &self.architecture, prepared })
    }
}

impl<A: Architecture> NodeClassifier for Fitted<A> {
    fn predict(&self, graph: &Graph, features: &Features) -> Result<Mat> {
        Ok(probabilities(&self.on(graph, features)?, &self.parameters.constants()))
    }

    fn edge_gradient(
        &self,
        graph: &Graph,
        features: &Features,
        question: &FlipQuestion<'_>,
    ) -> Result<Option<Vec<f32>>> {
        settings::same_columns(features, self.sizes.features)?;
        if A::TRANSDUCTIVE {
            settings::same_nodes(graph, self.sizes.nodes)?;
        }
        let shares = Var::parameter(Mat::column(question.shares));
        let flips = Flips { graph, features, candidates: question.candidates, shares: &shares };
        let gradient = |prepared| {
            let scores = self.architecture.scores(&prepared, &self.parameters.constants(), None);
            question.gradient(&scores, &shares)
        };
        Ok(self.architecture.prepare_flips(&flips).map(gradient))
    }

    /// The class scores, which every network has.
    fn embeddings(&self, graph: &Graph, features: &Features) -> Result<Option<Mat>> {
        let scores = self.on(graph, features)?.scores(&self.parameters.constants(), None);
        Ok(Some(scores.value().clone()))
    }

    fn embeddings_are(&self) -> &'static str {
        "class scores"
    }

    fn saved(&self) -> Result<SavedModel> {
        SavedModel::new(&self.architecture, &self.sizes, self.parameters.tensors())
    }
}

impl<A: Architecture> FittedModel for Fitted<A> {
    fn restore(saved: &SavedModel) -> Result<Self> {
        let architecture: A = saved.settings()?;
        let sizes: Sizes = saved.state()?;
        let mut parameters = architecture.parameters(sizes, 0);
        parameters.restore(&saved.contents.tensors)?;
        Ok(Fitted { architecture, sizes, parameters })
    }
}

struct Net<'a, A: Architecture> {
    architecture: &'a A,
    prepared: A::Prepared,
}

impl<A: Architecture> Network for Net<'_, A> {
    fn scores(&self, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        self.architecture.scores(&self.prepared, parameters, dropout_seed)
    }

    fn training_scores(&self, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        self.architecture.training_scores(&self.prepared, parameters, seed)
    }

    fn scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], dropout_seed: Option<u64>) -> Var {
        match self.architecture.for_some() {
            Some(some) => some.scores_of(nodes, &self.prepared, parameters, dropout_seed),
            None => self.scores(parameters, dropout_seed).gather_rows(nodes),
        }
    }

    fn training_scores_of(&self, nodes: &Rc<[u32]>, parameters: &[Var], seed: u64) -> (Var, Option<Var>) {
        match self.architecture.for_some() {
            Some(_) => (self.scores_of(nodes, parameters, Some(seed)), None),
            None => {
                let (scores, extra) = self.training_scores(parameters, seed);
                (scores.gather_rows(nodes), extra)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;
    use crate::models::gcn::Gcn;
    use crate::training::Copies;

    #[test]
    fn a_copy_that_is_the_graph_changes_nothing_but_the_dropout_drawn() {
        let dataset = SynthConfig { nodes: 60, ..SynthConfig::default() }.generate(1).unwrap();
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let mut config = Gcn { dropout: 0.0, ..Gcn::default() };
        config.training.epochs = 20;
        let fit = |copies: Copies<'_>| {
            let task = Task { copies, ..task.clone() };
            let fitted = config.fit_with(&task, 0, &mut Session::default()).unwrap();
            fitted.predict(dataset.graph(), dataset.features()).unwrap()
        };
        let same = [dataset.graph().clone()];
        let alone = fit(Copies::default());
        assert_eq!(alone, fit(Copies { train: &same, val: &same, weight: 0.0, val_weight: 0.0 }));
        assert_eq!(alone, fit(Copies { train: &same, val: &same, weight: 1.0, val_weight: 1.0 }));
        let empty = [Graph::from_edges(dataset.num_nodes(), &[]).unwrap().0];
        assert_ne!(alone, fit(Copies { train: &empty, val: &empty, weight: 0.5, val_weight: 0.5 }));
    }

    #[test]
    fn a_hardened_network_learns_something_else_and_meets_no_copies_beside_its_own() {
        let dataset = SynthConfig { nodes: 60, ..SynthConfig::default() }.generate(1).unwrap();
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let mut config = Gcn::default();
        config.training.epochs = 5;
        let plain = config.fit(&task).unwrap().predict(dataset.graph(), dataset.features()).unwrap();
        let hardened = Gcn { hardening: 0.5, ..config };
        let fitted = hardened.fit(&task).unwrap();
        assert_ne!(plain, fitted.predict(dataset.graph(), dataset.features()).unwrap());
        let copies = [dataset.graph().clone()];
        let copies = Copies { train: &copies, val: &[], weight: 1.0, val_weight: 0.0 };
        let error = hardened.fit(&Task { copies, ..task.clone() }).unwrap_err().to_string();
        assert!(error.contains("hardening") && error.contains("choose 0"), "{error}");
        let error = Gcn { hardening: 1.5, ..hardened }.fit(&task).unwrap_err().to_string();
        assert!(error.contains("1.5 is out of range"), "{error}");
    }
}
