//! Projected gradient attacks on the edges: PGD (Xu et al. 2019) over all pairs, and PRBCD (Geisler et al. 2021) over a
//! block of random pairs that is renewed as it goes.
//!
//! Each candidate has a share `p` of being flipped. A step climbs the loss of the victim itself on the graph in which every candidate is
//! flipped by its share, `p ← p + η ∇`, and projects back to `0 ≤ p ≤ 1`, `Σp ≤ budget`. In PRBCD, candidates whose share is back at 0
//! are then replaced by new random ones, so that nothing of size `n²` is ever stored. In the end several whole graphs are tried: the
//! pairs with the largest shares flipped, and samples that go by the shares; the one on which the victim gets fewest test nodes right is kept.
//!
//! A victim that does not tell gradients is judged by, but a small graph convolution (see `surrogate`) is climbed in its place. That one
//! also judges where there is no victim yet, or where it is asked for (`stand_in`). What a victim holds fixed when it tells gradients, it
//! holds fixed here: through `lhs`, who is joined to whom in the latent graph is that of the clean graph until the end, when samples are judged.
//! Cost per step: a gradient of the victim over `m + block` edges; and a prediction per sample.

use serde::{Deserialize, Serialize};

use super::block::{Block, num_pairs};
use super::edges::{EdgeEdits, arrow, flip, share_of_edges, too_few};
use super::surrogate::{Surrogate, labelled};
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Features, Graph, Labelled, Split};
use crate::linalg::random::derive;
use crate::models::relaxed::best_wrong;
use crate::models::{FlipQuestion, Goal, NodeClassifier};

/// The length of a step, per flip in the budget and per node.
const STEP: f64 = 1000.0;
/// PGD keeps every pair: more nodes than this need another attack.
const MOST_NODES: usize = 3000;

/// Settings of PRBCD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrbcdConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Pairs that are looked at together, 1 or more.
    pub block: usize,
    /// Steps in which the block is renewed.
    pub steps: usize,
    /// Steps after that.
    pub last_steps: usize,
    /// Graphs that are tried in the end, 1 or more.
    pub samples: usize,
    /// Whether a graph convolution is attacked in place of the victim.
    pub stand_in: bool,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

/// Settings of PGD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PgdConfig {
    /// Flips per edge, 0..=1.
    pub rate: f64,
    /// Steps.
    pub steps: usize,
    /// Graphs that are tried in the end, 1 or more.
    pub samples: usize,
    /// Whether a graph convolution is attacked in place of the victim.
    pub stand_in: bool,
    /// Whether a node may lose its last edge.
    pub may_isolate: bool,
}

impl Default for PrbcdConfig {
    fn default() -> Self {
        PrbcdConfig {
            rate: 0.05,
            block: 250_000,
            steps: 100,
            last_steps: 25,
            samples: 20,
            stand_in: false,
            may_isolate: false,
        }
    }
}

impl Default for PgdConfig {
    fn default() -> Self {
        PgdConfig { rate: 0.05, steps: 100, samples: 20, stand_in: false, may_isolate: false }
    }
}

impl Attack for PrbcdConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        at_least_one("block", self.block)?;
        at_least_one("samples", self.samples)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn looks_at_victim(&self) -> bool {
        !self.stand_in
    }

    fn trains_victim(&self) -> bool {
        false
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let budget = self.budget(context.dataset, context.split);
        // Fewer candidates than flips could not spend the budget.
        let block = Block::new(context.dataset.num_nodes(), self.block.max(2 * budget), derive(seed, &[2]));
        let climb = Climb {
            renewing: self.steps,
            steps: self.steps + self.last_steps,
            samples: self.samples,
            stand_in: self.stand_in,
            may_isolate: self.may_isolate,
            budget,
        };
        climb.run(context, block, seed)
    }
}

impl Attack for PgdConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 1.0)?;
        at_least_one("samples", self.samples)
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, _: &Split) -> usize {
        share_of_edges(self.rate, dataset.graph())
    }

    fn looks_at_victim(&self) -> bool {
        !self.stand_in
    }

    fn trains_victim(&self) -> bool {
        false
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        let nodes = context.dataset.num_nodes();
        if nodes > MOST_NODES {
            return Err(Error::data(
                format!("pgd looks at all pairs of nodes, which is too much for {nodes} nodes"),
                format!("prbcd does the same for more than {MOST_NODES}"),
            ));
        }
        let budget = self.budget(context.dataset, context.split);
        let climb = Climb {
            renewing: 0,
            steps: self.steps,
            samples: self.samples,
            stand_in: self.stand_in,
            may_isolate: self.may_isolate,
            budget,
        };
        climb.run(context, Block::new(nodes, num_pairs(nodes), derive(seed, &[2])), seed)
    }
}

/// Refuses 0.
fn at_least_one(key: &str, value: usize) -> Result<()> {
    match value {
        0 => Err(Error::setting(key, "0 is out of range", "choose 1 or more")),
        _ => Ok(()),
    }
}

/// How to climb.
struct Climb {
    /// Steps after which the block is renewed.
    renewing: usize,
    steps: usize,
    samples: usize,
    stand_in: bool,
    may_isolate: bool,
    budget: usize,
}

impl Climb {
    fn run(&self, context: &AttackContext<'_>, mut block: Block, seed: u64) -> Result<Change> {
        if self.budget == 0 {
            return Ok(Change::default());
        }
        let targets = &labelled(context, &context.split.test)?;
        let (graph, features) = (context.graph(), context.dataset.features());
        let whose = |model| Loss { model, graph, features, targets };
        let victim = context.victim.filter(|_| !self.stand_in).map(whose);
        let tells = match &victim {
            // A single candidate costs little.
            Some(victim) => victim.gradient(&block.pairs[..1], &[0.0])?.is_some(),
            None => false,
        };
        let surrogate = if tells { None } else { Some(Surrogate::train(context, derive(seed, &[1]))?) };
        let surrogate = surrogate.as_ref().map(|surrogate| whose(surrogate.model()));
        let (climbed, judge) = match (&surrogate, &victim) {
            (Some(surrogate), Some(victim)) => (surrogate, victim),
            (Some(only), None) | (None, Some(only)) => (only, only),
            (None, None) => unreachable!("a surrogate is trained where no victim tells gradients"),
        };
        let count = self.steps + self.samples;
        let per_step = STEP * self.budget as f64 / context.dataset.num_nodes() as f64;
        for step in 0..self.steps {
            context.step(step, count)?;
            let slow = ((step + 1).saturating_sub(self.renewing).max(1) as f64).sqrt();
            let Some(gradient) = climbed.gradient(&block.pairs, &block.shares)? else { break };
            block.climb(&gradient, (per_step / slow) as f32, self.budget);
            if step < self.renewing {
                block.renew();
            }
        }
        let mut best: Option<(Strength, Vec<(u32, u32)>)> = None;
        for sample in 0..self.samples {
            context.step(self.steps + sample, count)?;
            let flips = match sample {
                0 => self.first_few(context.dataset.graph(), block.by_share())?,
                _ => self.first_few(context.dataset.graph(), block.sampled(sample as u64))?,
            };
            let strength = judge.strength(&flips)?;
            if best.as_ref().is_none_or(|(most, _)| strength > *most) {
                best = Some((strength, flips));
            }
        }
        Ok(best.map(|(_, flips)| flips).unwrap_or_default().into())
    }

    /// As many of the pairs as the budget allows, the first that may be flipped.
    fn first_few(&self, graph: &Graph, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Vec<(u32, u32)>> {
        let mut edits = EdgeEdits::new(graph, self.may_isolate);
        for (a, b) in pairs {
            if edits.len() == self.budget {
                return Ok(edits.into_flips());
            }
            edits.flip(a, b);
        }
        match edits.len() {
            found if found < self.budget => Err(too_few(found, self.budget, "of the candidates")),
            _ => Ok(edits.into_flips()),
        }
    }
}

/// How many targets are lost, and by how much all are behind in the mean: the larger, the stronger.
type Strength = (usize, f32);

/// What is climbed: the loss of a model at the targets.
struct Loss<'a> {
    model: &'a dyn NodeClassifier,
    /// The clean graph; its edges may have a direction.
    graph: &'a Graph,
    features: &'a Features,
    targets: &'a Labelled,
}

impl Loss<'_> {
    /// What flipping each of some pairs would do, where they are flipped by these shares; none if the model cannot say.
    fn gradient(&self, pairs: &[(u32, u32)], shares: &[f32]) -> Result<Option<Vec<f32>>> {
        let Loss { model, graph, features, targets } = *self;
        let question = |candidates| FlipQuestion { candidates, shares, targets, goal: Goal::WithOneBudget };
        if !graph.is_directed() {
            return model.edge_gradient(graph, features, &question(pairs));
        }
        // Of the arrows between two nodes, the gradient of one stands for both.
        let there = |pair: (u32, u32)| graph.has_edge(pair.0, pair.1).then_some(pair);
        let arrow_at =
            |&(a, b): &(u32, u32)| there((a, b)).or(there((b, a))).unwrap_or_else(|| arrow(graph, (a, b)));
        let arrows: Vec<(u32, u32)> = pairs.iter().map(arrow_at).collect();
        model.edge_gradient(graph, features, &question(&arrows))
    }

    /// What the model loses when some pairs are flipped.
    fn strength(&self, flips: &[(u32, u32)]) -> Result<Strength> {
        let probabilities = self.model.predict(&flip(self.graph, flips)?.graph, self.features)?;
        let Labelled { nodes, classes } = self.targets;
        let leads = nodes.iter().zip(classes).map(|(&node, &class)| {
            let row = probabilities.row(node as usize);
            best_wrong(row, class).map_or(0.0, |best| row[best]) - row[class as usize]
        });
        let leads: Vec<f32> = leads.collect();
        let lost = leads.iter().filter(|lead| **lead >= 0.0).count();
        Ok((lost, leads.iter().sum::<f32>() / leads.len() as f32))
    }
}

/// PRBCD in the list of attacks.
pub const PRBCD: AttackKind = AttackKind {
    name: "prbcd",
    summary: "climbs the victim's loss over blocks of random pairs",
    defaults: registry::defaults::<PrbcdConfig>,
    build: registry::build::<PrbcdConfig>,
};

/// PGD in the list of attacks.
pub const PGD: AttackKind = AttackKind {
    name: "pgd",
    summary: "climbs the victim's loss over all pairs (small graphs)",
    defaults: registry::defaults::<PgdConfig>,
    build: registry::build::<PgdConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;
    use crate::models::Model;
    use crate::models::gcn::Gcn;
    use crate::models::linkx::Linkx;
    use crate::training::Task;

    /// How many test nodes a victim gets right after an attack of few steps.
    fn right(victim: &dyn NodeClassifier, dataset: &Dataset, attack: &PrbcdConfig) -> usize {
        let split = &dataset.splits()[0];
        let context = AttackContext { victim: Some(victim), ..AttackContext::new(dataset, split) };
        let flips = attack.perturb(&context, 3).unwrap();
        let loss = Loss {
            model: victim,
            graph: flips.dataset.graph(),
            features: dataset.features(),
            targets: &labelled(&context, &split.test).unwrap(),
        };
        split.test.len() - loss.strength(&[]).unwrap().0
    }

    #[test]
    fn whoever_attacks_the_victim_itself_takes_more_from_it_than_whoever_attacks_another() {
        let config = SynthConfig { nodes: 300, homophily: 0.7, ..SynthConfig::default() };
        let dataset = config.generate(3).unwrap();
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        let (gcn, linkx) = (Gcn::default().fit(&task).unwrap(), Linkx::default().fit(&task).unwrap());
        let attack = PrbcdConfig { rate: 0.1, block: 20_000, steps: 20, last_steps: 5, ..Default::default() };
        let other = PrbcdConfig { stand_in: true, ..attack.clone() };
        let (itself, other) = (right(&linkx, &dataset, &attack), right(&linkx, &dataset, &other));
        assert!(itself < other, "{itself} against {other}");
        let one = PrbcdConfig { samples: 1, ..attack.clone() };
        assert!(right(&gcn, &dataset, &attack) <= right(&gcn, &dataset, &one));
    }
}
