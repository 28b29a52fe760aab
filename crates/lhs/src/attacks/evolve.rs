//! An evolutionary search with questions to the victim: for what has no gradient.
//!
//! Every test node has a population of sets of new neighbours, as large as `rate` allows (see `neighbours`: budget and kind of
//! change are those of `adaptive`). The first generation are the draws of `adaptive`: neighbours of donors of one other class.
//! In every generation as many children are made as there are parents: a few fresh draws, and sets crossed from two parents, the better
//! ones preferred, of which a few neighbours are exchanged for those of other donors of the same class. The father may be the fittest set of
//! another test node of the same class: what misled one may mislead the other. All nodes try their first child
//! at once, then their second, so a generation costs as many questions as the population is large. The fittest of parents and
//! children live on: for each node by itself (`scope = "target"`), or whole graphs by what the victim loses (`global`).
//! In the end what does most counts, of all that was tried together and the best of each node.
//! Cost: `population * generations` predictions; before training, as many trainings, at most `retrainings`.

use std::collections::{HashMap, HashSet};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::neighbours::{Asked, Best, Budget, Neighbours, pairs};
use super::{Attack, AttackContext, AttackKind, Change, in_range, registry};
use crate::error::{Error, Result};
use crate::graph::{Dataset, Split};
use crate::linalg::random::{derive, generator};

/// What the seeds of children are derived with, apart from those of draws.
const CHILDREN: u64 = u64::MAX - 2;
/// One child in so many is a fresh draw.
const FRESH: usize = 8;
/// Nodes of the same class among which a father is looked for.
const RIVALS: usize = 4;

/// What makes an edge set fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// By how much the best wrong class is likelier than the true one.
    #[default]
    Margin,
    /// How unlikely the true class is.
    Probability,
}

/// Who is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Each node's sets, by what becomes of that node.
    #[default]
    Target,
    /// Whole graphs, by how many test nodes are lost.
    Global,
}

/// Settings of the attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvolveConfig {
    /// New neighbours per old one, 0..=100.
    pub rate: f64,
    /// Edge sets that live at once, 1 or more.
    pub population: usize,
    /// Generations, the first draws included, 1 or more.
    pub generations: usize,
    /// `margin` or `probability`.
    pub fitness: Fitness,
    /// `target` or `global`.
    pub scope: Scope,
    /// How often the victim is trained again at most where the attack comes before training.
    pub retrainings: usize,
    /// Whether LHS with default settings is asked in place of the victim.
    pub stand_in: bool,
}

impl Default for EvolveConfig {
    fn default() -> Self {
        EvolveConfig {
            rate: 1.0,
            population: 8,
            generations: 6,
            fitness: Fitness::Margin,
            scope: Scope::Target,
            retrainings: 4,
            stand_in: false,
        }
    }
}

/// A set of new neighbours, the class of whose donors it mimics, and how fit it is.
#[derive(Clone)]
struct Individual {
    neighbours: Vec<u32>,
    class: Option<u32>,
    fitness: f32,
}

/// One individual for each test node: what is tried at once.
type Cohort = Vec<Individual>;

impl Attack for EvolveConfig {
    fn validate(&self) -> Result<()> {
        in_range("rate", self.rate, 100.0)?;
        for (key, value) in [("population", self.population), ("generations", self.generations)] {
            if value == 0 {
                return Err(Error::setting(key, "0 is out of range", "choose 1 or more"));
            }
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
        let asked = Asked::new(context, self.stand_in, seed)?;
        let (population, generations) = if asked.learns_again() {
            let population = self.population.min(self.retrainings.div_ceil(2)).max(1);
            (population, self.generations.min(self.retrainings / population).max(1))
        } else {
            (self.population, self.generations)
        };
        let count = population * generations;
        let mut best = Best::new(context.split.test.len());
        let mut living: Vec<Cohort> = Vec::new();
        for generation in 0..generations {
            for slot in 0..population {
                context.step(generation * population + slot, count)?;
                // Children of one generation have the same parents.
                let parents = if generation == 0 { &[] } else { &living[..population] };
                let child = self.child(context, parents, generation * population + slot, seed);
                let child = self.tried(&asked, child, &mut best)?;
                living.push(child);
            }
            self.select(&mut living, population);
        }
        Ok(pairs(context.split, &best.settled(&asked)?).into())
    }
}

impl EvolveConfig {
    /// What is tried as number `number`.
    fn child(&self, context: &AttackContext<'_>, parents: &[Cohort], number: usize, seed: u64) -> Cohort {
        let AttackContext { dataset, split, .. } = *context;
        let budget = Budget { rate: self.rate };
        // The draws of an attack by questions.
        let seed = derive(seed, &[number as u64]);
        let fresh = |node: u32| {
            let (neighbours, class) = budget.mimicry(dataset, node, None, seed);
            Individual { neighbours, class, fitness: f32::NEG_INFINITY }
        };
        let labels = dataset.labels();
        let mut places: HashMap<Option<u32>, Vec<usize>> = HashMap::new();
        for (place, &node) in split.test.iter().enumerate() {
            places.entry(labels.get(node as usize)).or_default().push(place);
        }
        let born = |(place, &node): (usize, &u32)| {
            if parents.is_empty() || number.is_multiple_of(FRESH) {
                return fresh(node);
            }
            let mut rng = generator(derive(seed, &[CHILDREN]), u64::from(node));
            let mother = &parents[preferred(parents.len(), &mut rng)][place];
            let father = if rng.random_range(0..2) == 0 {
                parents[preferred(parents.len(), &mut rng)][place].neighbours.clone()
            } else {
                // What misled others of the same class may mislead this node, too.
                let alike = &places[&labels.get(node as usize)];
                let drawn = (0..RIVALS).map(|_| alike[rng.random_range(0..alike.len())]);
                let fitness = |place: &usize| parents[0][*place].fitness;
                let rival = drawn.max_by(|a, b| fitness(a).total_cmp(&fitness(b))).unwrap_or(place);
                let joined = |&other: &u32| other == node || dataset.graph().has_edge(node, other);
                let theirs = parents[0][rival].neighbours.iter().copied();
                theirs.filter(|other| !joined(other)).collect()
            };
            let other = budget.mimicry(dataset, node, mother.class, derive(seed, &[CHILDREN])).0;
            Individual {
                neighbours: crossed(&mother.neighbours, &father, &other, &mut rng),
                fitness: f32::NEG_INFINITY,
                ..mother.clone()
            }
        };
        split.test.iter().enumerate().map(born).collect()
    }

    /// A cohort with its fitness.
    fn tried(&self, asked: &Asked<'_>, mut cohort: Cohort, best: &mut Best) -> Result<Cohort> {
        let tried: Neighbours = cohort.iter().map(|one| one.neighbours.clone()).collect();
        let answer = asked.ask(&tried)?;
        best.take(&tried, &answer);
        for (place, one) in cohort.iter_mut().enumerate() {
            one.fitness = match self.fitness {
                Fitness::Margin => answer.leads[place],
                Fitness::Probability => -answer.own[place],
            };
        }
        Ok(cohort)
    }

    /// Leaves the fittest, the best first.
    fn select(&self, living: &mut Vec<Cohort>, population: usize) {
        match self.scope {
            Scope::Target => {
                let nodes = living.first().map_or(0, Vec::len);
                for place in 0..nodes {
                    let mut ranked: Vec<Individual> =
                        living.iter().map(|cohort| cohort[place].clone()).collect();
                    ranked.sort_by(|a, b| b.fitness.total_cmp(&a.fitness));
                    living.iter_mut().zip(ranked).for_each(|(cohort, one)| cohort[place] = one);
                }
            }
            Scope::Global => {
                let lost = |one: &&Individual| {
                    one.fitness > if self.fitness == Fitness::Margin { 0.0 } else { -0.5 }
                };
                let worth = |cohort: &Cohort| {
                    let sum: f32 = cohort.iter().map(|one| one.fitness).sum();
                    cohort.iter().filter(lost).count() as f32 + sum / (1.0 + cohort.len() as f32)
                };
                living.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
            }
        }
        living.truncate(population);
    }
}

/// The place of a parent, the better ones more often.
fn preferred(count: usize, rng: &mut ChaCha8Rng) -> usize {
    rng.random_range(0..count).min(rng.random_range(0..count))
}

/// As many neighbours as the mother has: some of hers and of the father's, and some of other donors.
fn crossed(mother: &[u32], father: &[u32], others: &[u32], rng: &mut ChaCha8Rng) -> Vec<u32> {
    let size = mother.len();
    let shares: [usize; 2] = [rng.random_range(0..=size), rng.random_range(0..=size.div_ceil(4))];
    let mut pools = [father.to_vec(), others.to_vec(), mother.to_vec()];
    pools.iter_mut().for_each(|pool| pool.shuffle(rng));
    let mut taken = HashSet::new();
    let mut child = Vec::new();
    let [father, others, mother] = &pools;
    let parts =
        [(others, shares[1].min(size)), (father, shares[0]), (mother, size), (father, size), (others, size)];
    for (pool, most) in parts {
        let room = most.min(size - child.len());
        child.extend(pool.iter().copied().filter(|&other| taken.insert(other)).take(room));
    }
    child
}

/// The attack in the list of attacks.
pub const KIND: AttackKind = AttackKind {
    name: "evolve",
    summary: "breeds sets of new neighbours for test nodes by what the victim says of them",
    defaults: registry::defaults::<EvolveConfig>,
    build: registry::build::<EvolveConfig>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_as_many_neighbours_as_its_mother_and_none_twice() {
        let (mother, father): (Vec<u32>, Vec<u32>) = ((0..10).collect(), (5..15).collect());
        let mut seen = HashSet::new();
        for seed in 0..50 {
            let others: Vec<u32> = (20..30).collect();
            let child = crossed(&mother, &father, &others, &mut generator(seed, 0));
            let distinct: HashSet<u32> = child.iter().copied().collect();
            assert_eq!((child.len(), distinct.len()), (10, 10));
            seen.extend(distinct);
        }
        assert_eq!(seen.len(), 25, "everybody is chosen now and then");
    }
}
