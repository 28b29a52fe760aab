//! Metattack: the edges themselves are trained to make training go wrong (Zügner and Günnemann 2019).
//!
//! A linear graph convolution `softmax(Â²X W₁W₂)` is trained on the labelled nodes; the gradient of its
//! loss elsewhere by every entry of the adjacency matrix, through all steps of that training, says what flipping a
//! pair is worth to first order: `gradient * (1 - 2A_uv)`. The best pair is flipped, and all of it is done again until
//! `rate` of the edges are spent. `self` attacks the unlabelled nodes, whose classes the surrogate predicts once on the
//! clean graph; `train` attacks the labelled nodes. No pair is flipped twice, and no node loses its last edge. Weights
//! of edges are not looked at.
//!
//! `inner` trains and goes back through the training, `surrogate` carries the gradient back to `Â`, `scores` scans
//! the pairs. All of it is exact; no `N x N` gradient is stored: `O(L (N + F))` memory, `L` labelled nodes. Each gradient
//! starts from random weights of its own, as in DeepRobust: pairs that hurt one start only are not chosen for long.
//! Where one gradient per flip takes too long, `flips_per_gradient` of the best pairs are flipped at once, spread over
//! the nodes.

mod inner;
mod input;
mod scores;
mod surrogate;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::inner::Descent;
use self::scores::{Candidate, Rules, Scores};
use self::surrogate::Surrogate;
use super::edges::{EdgeEdits, flip, share_of_edges, too_few};
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Graph, Labelled, Split, normalise};
use crate::training::Auto;

/// Up to this budget `auto` is the published attack,
const SMALL: usize = 1400;
/// unless its gradients take too long: each costs about the square of the number of labelled nodes.
const MOST_WORK: usize = 4_000_000_000;
/// About as many gradients does `auto` allow itself beyond.
const GRADIENTS: usize = 150;
/// Candidates looked at per pair that is flipped.
const CANDIDATES: usize = 20;

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetattackConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Whose loss is raised: `self` (the unlabelled nodes') or `train` (the labelled nodes').
    pub variant: Variant,
    /// Pairs flipped per gradient, 1 or more; 1 is the published attack, which `auto` is up to 1400 flips, fewer where
    /// over 1690 nodes are labelled; beyond, it takes about 150 gradients.
    pub flips_per_gradient: Auto<usize>,
    /// Steps of the surrogate's training, 1 or more.
    pub epochs: usize,
    /// Width of the surrogate's hidden layer, 1 or more.
    pub hidden: usize,
    /// Step size of the surrogate's training, above 0.
    pub learning_rate: f32,
    /// Momentum of the surrogate's training, 0..1.
    pub momentum: f32,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

/// Whose loss is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// That of the unlabelled nodes, their classes predicted on the clean graph: meta-self.
    #[serde(rename = "self")]
    Unlabelled,
    /// That of the labelled nodes: meta-train.
    #[serde(rename = "train")]
    Labelled,
}

impl Default for MetattackConfig {
    fn default() -> Self {
        MetattackConfig {
            rate: 0.05,
            variant: Variant::Unlabelled,
            flips_per_gradient: Auto::CHOOSE,
            epochs: 100,
            hidden: 16,
            learning_rate: 0.1,
            momentum: 0.9,
            may_isolate: false,
        }
    }
}

impl MetattackConfig {
    fn flips_per_gradient(&self, budget: usize, labelled: usize) -> usize {
        let published = budget <= SMALL && budget * labelled * labelled <= MOST_WORK;
        let chosen = if published { 1 } else { (budget / GRADIENTS).max(1) };
        self.flips_per_gradient.given().unwrap_or(chosen)
    }

    fn surrogate<'a>(&self, dataset: &'a Dataset, split: &Split, seed: u64) -> Result<Surrogate<'a>> {
        let class = |&node: &u32| dataset.labels().get(node as usize).map(|class| (node, class));
        let (nodes, classes): (Vec<u32>, Vec<u32>) = split.train.iter().filter_map(class).unzip();
        if nodes.is_empty() {
            return Err(Error::data(
                format!(
                    "{} has no labelled training nodes, and metattack trains a surrogate",
                    dataset.name()
                ),
                "choose a split with training nodes, or the attack `dice`",
            ));
        }
        let shape = (self.hidden, dataset.num_classes());
        let descent =
            Descent { steps: self.epochs, learning_rate: self.learning_rate, momentum: self.momentum };
        Ok(Surrogate::new(dataset.features(), Labelled { nodes, classes }, shape, descent, seed))
    }

    /// The nodes whose loss is raised, with the classes that count as right.
    fn attacked(&self, surrogate: &Surrogate<'_>, graph: &Graph) -> Result<Labelled> {
        if self.variant == Variant::Labelled {
            return Ok(surrogate.labelled().clone());
        }
        let places = surrogate.places(graph.num_nodes());
        let nodes: Vec<u32> =
            (0..graph.num_nodes() as u32).filter(|&n| places[n as usize].is_none()).collect();
        if nodes.is_empty() {
            return Err(Error::data(
                "every node is labelled, so there is none to attack",
                "choose another split, or the setting variant = \"train\"",
            ));
        }
        let predicted =
            surrogate.predict(&normalise::symmetric_with_self_loops(graph)).ok_or_else(|| self.diverged())?;
        let classes = nodes.iter().map(|&node| predicted[node as usize]).collect();
        Ok(Labelled { nodes, classes })
    }

    fn diverged(&self) -> Error {
        Error::setting(
            "learning_rate",
            format!("the surrogate's training diverges at {}", self.learning_rate),
            "choose a smaller one",
        )
    }
}

impl Attack for MetattackConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        let at_least_one = |key: &str, value: usize| match value {
            0 => Err(Error::setting(key, "0 is too few", "choose 1 or more")),
            _ => Ok(()),
        };
        at_least_one("epochs", self.epochs)?;
        at_least_one("hidden", self.hidden)?;
        at_least_one("flips_per_gradient", self.flips_per_gradient.given().unwrap_or(1))?;
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            let problem = format!("{} is out of range", self.learning_rate);
            return Err(Error::setting("learning_rate", problem, "choose a number above 0"));
        }
        if !(0.0..1.0).contains(&self.momentum) {
            let problem = format!("{} is out of range", self.momentum);
            return Err(Error::setting("momentum", problem, "choose a number from 0 to below 1"));
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let budget = self.budget(context.dataset, context.split);
        if budget == 0 {
            return Ok(Change::default());
        }
        let num_nodes = context.dataset.num_nodes();
        let pairs: Vec<(u32, u32)> = context.dataset.graph().edges().collect();
        let (clean, _) = Graph::from_edges(num_nodes, &pairs)?; // without weights
        context.need_features()?;
        let surrogate = self.surrogate(context.dataset, context.split, seed)?;
        let attacked = self.attacked(&surrogate, &clean)?;
        let places = surrogate.places(num_nodes);
        let at_once = self.flips_per_gradient(budget, surrogate.labelled().nodes.len());

        let mut edits = EdgeEdits::new(&clean, self.may_isolate);
        let mut flips: Vec<(u32, u32)> = Vec::with_capacity(budget);
        let mut closed: Vec<Vec<u32>> = vec![Vec::new(); num_nodes];
        let mut graph = clean.clone();
        for round in 1.. {
            context.step(flips.len(), budget)?;
            let propagation = normalise::symmetric_with_self_loops(&graph);
            let factors =
                surrogate.differentiate(&propagation, &attacked, round).ok_or_else(|| self.diverged())?;
            let scores = Scores::new(&propagation, &factors, &places);
            drop(factors);
            let rules = Rules { graph: &graph, closed: &closed, may_isolate: self.may_isolate };
            let count = at_once.min(budget - flips.len());
            let chosen = spread(&scores.best(CANDIDATES * count, &rules), count, &mut edits);
            if chosen.is_empty() {
                return Err(too_few(flips.len(), budget, "pairs"));
            }
            chosen.iter().for_each(|&(low, high)| closed[low as usize].push(high));
            flips.extend(chosen);
            if flips.len() == budget {
                break;
            }
            graph = flip(&clean, &flips)?.graph;
        }
        Ok(flips.into())
    }
}

/// Flips `count` of the candidates, which come best first, and returns them. Two flips at one node change each other's
/// worth most: no node is touched twice before no other candidates are left, nor three times before that, and so on.
fn spread(candidates: &[Candidate], count: usize, edits: &mut EdgeEdits<'_>) -> Vec<(u32, u32)> {
    let mut chosen = Vec::with_capacity(count);
    let mut touched: HashMap<u32, usize> = HashMap::new();
    let mut left: Vec<(u32, u32)> = candidates.iter().map(|candidate| candidate.pair).collect();
    for limit in 1.. {
        left.retain(|&(low, high)| {
            let busy = [low, high].iter().any(|node| touched.get(node).is_some_and(|&times| times >= limit));
            if busy || chosen.len() == count {
                return true;
            }
            // Of two edges that together are all that a node has, the second must stay: the edits refuses it.
            if edits.flip(low, high) {
                chosen.push((low, high));
                [low, high].iter().for_each(|&node| *touched.entry(node).or_default() += 1);
            }
            false
        });
        if left.is_empty() || chosen.len() == count {
            break;
        }
    }
    chosen
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "metattack",
    summary: "flips the pairs that make training go wrong most: variant self or train",
    defaults: registry::defaults::<MetattackConfig>,
    build: registry::build::<MetattackConfig>,
};

#[cfg(test)]
mod tests;
