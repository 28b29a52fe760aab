//! An attack that knows the defence: test nodes take on the neighbourhoods of other classes.
//!
//! LHS looks at whom a node is joined to, so random foreign neighbours are noise to it, but the neighbours of *one*
//! foreign node are a signal: joined to them, a test node looks like that node, in its adjacency profile and in the
//! latent graph. Each test node of degree `d` may be joined to `ceil(rate * max(d, 1))` nodes: the neighbours of a donor
//! of another class, and of further donors of that class if they do not suffice. The attacker may ask the victim: in
//! each of `queries` rounds all test nodes try a new donor at once, and each keeps the one with which the victim gave
//! its class the least probability. Without a victim, LHS with default settings is trained and asked.
//!
//! With `mode = "gradient"` that is where it begins. From there it climbs the victim's own loss, as PRBCD (Geisler et al. 2021)
//! does a surrogate's, with the same budget at each node: in every step the victim says, at the graph as it is attacked now, what each
//! of a block of candidates would do (neighbours of donors, and random nodes, drawn anew), every node exchanges its worst new neighbours for
//! the best candidates, and the victim is asked on what that gives. A node that gained keeps it, one that did not tries
//! half as many exchanges in the next step. The latent graph is found again in each step and held fixed in between.
//! In the end what does most counts, of all that was tried together and the best of each node.
//!
//! Before training, the victim is trained again for each question, `retrainings` times, and gradients treat what it learned
//! as given. Cost: `queries` predictions, and one more and a gradient for each of `steps`.

use std::collections::{BTreeSet, HashSet};

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::neighbours::{Answer, Asked, Best, Budget, Neighbours, pairs};
use super::{Attack, AttackContext, AttackKind, Change, edges, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Graph, Labelled, Split};
use crate::linalg::random::{derive, generator};
use crate::models::{FlipQuestion, Goal};

/// What the seed of gradient steps is derived with, apart from that of the queries.
const CLIMBING: u64 = u64::MAX - 1;

/// How the attacker goes about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Asks what becomes of its draws.
    #[default]
    Query,
    /// Climbs the victim's loss.
    Gradient,
}

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveConfig {
    /// New neighbours per old one, 0..=100.
    pub rate: f64,
    /// `query` asks what becomes of draws; `gradient` goes on from there by gradients through the victim.
    pub mode: Mode,
    /// How often the victim is asked about draws; 0 takes the first donor.
    pub queries: usize,
    /// Gradient steps.
    pub steps: usize,
    /// Candidates at each test node in a step, 1 or more; at nodes with a larger budget, twice that.
    pub block: usize,
    /// How often the victim is trained again where the attack comes before training.
    pub retrainings: usize,
    /// Whether LHS with default settings is asked in place of the victim.
    pub stand_in: bool,
}

impl Default for AdaptiveConfig {
    fn default() -> Self {
        AdaptiveConfig {
            rate: 1.0,
            mode: Mode::Query,
            queries: 8,
            steps: 12,
            block: 128,
            retrainings: 4,
            stand_in: false,
        }
    }
}

impl Attack for AdaptiveConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 100.0)?;
        if self.block == 0 {
            return Err(Error::setting("block", "0 is out of range", "choose 1 or more"));
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn budget(&self, dataset: &Dataset, split: &Split) -> usize {
        Budget { rate: self.rate }.of(dataset, split)
    }

    fn looks_at_victim(&self) -> bool {
        !self.stand_in
    }

    fn plan(&self, context: &AttackContext<'_>, seed: u64) -> Result<Change> {
        if self.rate == 0.0 {
            return Ok(Change::default());
        }
        let asked = || Asked::new(context, self.stand_in, seed);
        let found = match self.mode {
            Mode::Query if self.queries == 0 => self.drawn(context, seed, 0),
            Mode::Query => self.query(context, &asked()?, seed)?,
            Mode::Gradient => self.climb(context, &asked()?, seed)?,
        };
        Ok(pairs(context.split, &found).into())
    }
}

impl AdaptiveConfig {
    fn drawn(&self, context: &AttackContext<'_>, seed: u64, draw: usize) -> Neighbours {
        Budget { rate: self.rate }.drawn(context.dataset, context.split, seed, draw)
    }

    /// The draws after which the victim gives nodes' classes the least probability.
    fn query(&self, context: &AttackContext<'_>, asked: &Asked<'_>, seed: u64) -> Result<Neighbours> {
        let queries = if asked.learns_again() { self.retrainings } else { self.queries };
        let mut best = self.drawn(context, seed, 0);
        let mut least = vec![f32::INFINITY; best.len()];
        for query in 0..queries {
            context.step(query, queries)?;
            let tried = self.drawn(context, seed, query);
            let answer = asked.ask(&tried)?;
            for (place, candidate) in tried.into_iter().enumerate() {
                if answer.own[place] < least[place] {
                    (least[place], best[place]) = (answer.own[place], candidate);
                }
            }
        }
        Ok(best)
    }

    /// From the best draws uphill.
    fn climb(&self, context: &AttackContext<'_>, asked: &Asked<'_>, seed: u64) -> Result<Neighbours> {
        let (queries, steps) = if asked.learns_again() {
            (self.retrainings.div_ceil(2), self.retrainings / 2)
        } else {
            (self.queries.max(1), self.steps)
        };
        let count = queries + steps;
        let mut best = Best::new(context.split.test.len());
        for query in 0..queries {
            context.step(query, count)?;
            let tried = self.drawn(context, seed, query);
            best.take(&tried, &asked.ask(&tried)?);
        }
        let mut exchanges: Vec<usize> = best.each.iter().map(Vec::len).collect();
        // At the graph that is stepped from somebody has to be asked once, too: whoever learns again.
        let mut here = if asked.learns_again() { Some(asked.ask(&best.each)?) } else { None };
        for step in 0..steps {
            context.step(queries + step, count)?;
            let seed = derive(seed, &[CLIMBING, step as u64]);
            let at = match here.take() {
                Some(answer) => answer,
                None => asked.ask(&best.each)?,
            };
            let tried = self.stepped(context, asked, (&best.each, &at), &exchanges, seed)?;
            let answer = asked.ask(&tried)?;
            let better = best.take(&tried, &answer);
            for (exchanges, better) in exchanges.iter_mut().zip(better) {
                *exchanges = if better { *exchanges } else { exchanges.div_ceil(2) };
            }
            here = asked.learns_again().then_some(answer);
        }
        best.settled(asked)
    }

    /// The neighbours after a step from some, in which each node exchanges so many at most.
    fn stepped(
        &self,
        context: &AttackContext<'_>,
        asked: &Asked<'_>,
        (from, at): (&[Vec<u32>], &Answer),
        exchanges: &[usize],
        seed: u64,
    ) -> Result<Neighbours> {
        let AttackContext { dataset, split, .. } = *context;
        let offered: Neighbours = (split.test.iter().zip(from))
            .map(|(&node, taken)| self.candidates((dataset, &at.graph), node, taken, seed))
            .collect();
        // Pairs that are flipped would be flipped back.
        let mut all: BTreeSet<(u32, u32)> = pairs(split, &offered).into_iter().collect();
        all.extend(pairs(split, from));
        let all: Vec<(u32, u32)> = all.into_iter().collect();
        let arrows: Vec<(u32, u32)> = all.iter().map(|&pair| edges::arrow(&at.graph, pair)).collect();
        let (nodes, classes) = (split.test.iter())
            .filter_map(|&node| Some((node, dataset.labels().get(node as usize)?)))
            .unzip();
        let targets = Labelled { nodes, classes };
        let question = FlipQuestion {
            candidates: &arrows,
            shares: &vec![0.0; arrows.len()],
            targets: &targets,
            goal: Goal::AtEachNode,
        };
        let gradient = asked.who(at).edge_gradient(&at.graph, dataset.features(), &question)?;
        let gradient = gradient.ok_or_else(|| {
            Error::data(
                "the victim does not say what an edge more or less would do, and `mode = \"gradient\"` goes by that",
                "choose `mode = \"query\"`, or the attack `evolve`",
            )
        })?;
        let slope = |a: u32, b: u32| {
            all.binary_search(&(a.min(b), a.max(b))).map_or(f32::NEG_INFINITY, |place| gradient[place])
        };
        let step = |place: usize| {
            let node = split.test[place];
            // What is there is worth what its loss would cost.
            let mut kept: Vec<(f32, u32)> =
                from[place].iter().map(|&other| (-slope(node, other), other)).collect();
            let mut new: Vec<(f32, u32)> =
                offered[place].iter().map(|&other| (slope(node, other), other)).collect();
            kept.sort_by(|a, b| a.0.total_cmp(&b.0));
            new.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (old, new) in kept.iter_mut().zip(&new).take(exchanges[place]) {
                if new.0 > old.0 {
                    *old = *new;
                }
            }
            kept.into_iter().map(|(_, other)| other).collect()
        };
        Ok((0..split.test.len()).map(step).collect())
    }

    /// Nodes that a node could be joined to: neighbours of donors of every other class, and as many nodes at random.
    fn candidates(
        &self,
        (dataset, attacked): (&Dataset, &Graph),
        node: u32,
        taken: &[u32],
        seed: u64,
    ) -> Vec<u32> {
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let mut rng = generator(seed, u64::from(node));
        let wanted = self.block.max(2 * taken.len());
        let mut known: HashSet<u32> = graph.neighbours(node as usize).iter().copied().collect();
        known.extend(attacked.neighbours(node as usize).iter().chain(taken).copied().chain([node]));
        let mut found = Vec::new();
        // Nodes of other classes are rare where one class is large.
        for _ in 0..wanted {
            if found.len() * 2 >= wanted {
                break;
            }
            let donor = rng.random_range(0..dataset.num_nodes());
            if labels.get(donor).is_some() && labels.get(donor) != labels.get(node as usize) {
                found.extend(graph.neighbours(donor).iter().copied().filter(|&other| known.insert(other)));
            }
        }
        found.truncate(wanted.div_ceil(2).max(taken.len()));
        for _ in 0..wanted {
            let other = rng.random_range(0..dataset.num_nodes() as u32);
            if found.len() < wanted && known.insert(other) {
                found.push(other);
            }
        }
        found
    }
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "adaptive",
    summary: "gives test nodes the neighbours of other classes: what the victim or its gradients say works best",
    defaults: registry::defaults::<AdaptiveConfig>,
    build: registry::build::<AdaptiveConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;
    use crate::models::gcn::Gcn;
    use crate::models::{Model, NodeClassifier};
    use crate::training::Task;

    #[test]
    fn gradients_lose_more_nodes_than_as_many_draws() {
        let dataset =
            SynthConfig { nodes: 400, homophily: 0.6, ..SynthConfig::default() }.generate(1).unwrap();
        let split = &dataset.splits()[0];
        let victim = Gcn::default().fit(&Task::new(&dataset, split).unwrap()).unwrap();
        let context = AttackContext { victim: Some(&victim), ..AttackContext::new(&dataset, split) };
        let right = |attack: &AdaptiveConfig| {
            let attacked = attack.perturb(&context, 3).unwrap().dataset;
            let probabilities = victim.predict(attacked.graph(), attacked.features()).unwrap();
            let right = |&&node: &&u32| {
                let (row, class) =
                    (probabilities.row(node as usize), dataset.labels().get(node as usize).unwrap());
                (0..row.len()).all(|other| other == class as usize || row[other] < row[class as usize])
            };
            split.test.iter().filter(right).count()
        };
        let query = right(&AdaptiveConfig { rate: 0.5, queries: 20, ..AdaptiveConfig::default() });
        let gradient =
            AdaptiveConfig { rate: 0.5, queries: 4, steps: 8, mode: Mode::Gradient, ..Default::default() };
        assert!(right(&gradient) < query, "{} against {query}", right(&gradient));
    }
}
