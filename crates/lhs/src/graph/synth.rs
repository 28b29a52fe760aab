//! Made-up graphs with a known truth: the contextual stochastic block model.
//!
//! Nodes are divided evenly among classes. Of `nodes * mean_degree / 2` edges the share `homophily` joins
//! two nodes of one class, the rest joins two classes, which [`Compatibility`] chooses. Features are a mean
//! per class plus unit Gaussian noise; the means are `signal` apart.
//! With `class_shares` classes differ in size, and edges are dealt so that all classes have the same mean degree as far as
//! possible: a rare class is not given away by its degree.
//! Model: Deshpande, Sen, Montanari and Mossel, *Contextual stochastic block models*, NeurIPS 2018, with
//! numbers of edges fixed instead of drawn. Cost: linear in edges and in nodes times features.

use std::collections::HashSet;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{Dataset, DatasetParts, Features, Graph, Labels, Split};
use crate::error::{Error, Result};
use crate::linalg::Mat;

/// Share of the edges between classes that follow the preference, if there is one.
const PREFERRED: f64 = 0.8;
/// Roles in a class, where edges follow them.
const ROLES: usize = 4;
/// Drawing pairs until a new one comes up is quick as long as this share of them is not exceeded.
const FULL: f64 = 0.9;

/// Which classes the edges between classes join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compatibility {
    /// Four of five go from a class to the next, the last being followed by the first: who a node's
    /// neighbours are then tells its class even if none of them shares it. Needs four classes to differ
    /// from `Uniform`.
    #[default]
    Cyclic,
    /// Any other class, each as likely.
    Uniform,
    /// Every class is made of four roles, and each role has a partner in another class: four of five edges lead to the partner. Nodes
    /// of one role know the same nodes, but what classes these have says little.
    Roles,
}

/// What graph to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SynthConfig {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of classes, at least 2; their sizes differ by one at the most, unless shares are given.
    pub classes: usize,
    /// Share of the nodes in each class, in sum 1; none: all alike.
    pub class_shares: Vec<f64>,
    /// Edges per node.
    pub mean_degree: f64,
    /// Share of the edges within a class, 0..=1.
    pub homophily: f64,
    /// Which classes the other edges join.
    pub compatibility: Compatibility,
    /// Number of feature columns; 0 for none.
    pub features: usize,
    /// Distance of the class means, in units of the noise.
    pub signal: f64,
    /// Number of random 60/20/20 splits.
    pub splits: usize,
}

impl Default for SynthConfig {
    fn default() -> Self {
        SynthConfig {
            nodes: 1000,
            classes: 5,
            class_shares: Vec::new(),
            mean_degree: 10.0,
            homophily: 0.2,
            compatibility: Compatibility::Cyclic,
            features: 32,
            signal: 2.0,
            splits: 10,
        }
    }
}

impl SynthConfig {
    /// Makes the graph; the same seed makes the same one.
    pub fn generate(&self, seed: u64) -> Result<Dataset> {
        self.validate()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let blocks = Blocks::draw(self, &mut rng);
        let edges = blocks.edges(self, &mut rng);
        let (graph, repairs) = Graph::from_edges(self.nodes, &edges)?;
        let features = blocks.features(self, &mut rng);
        let names = (0..self.classes).map(|class| class.to_string()).collect();
        let labels = Labels::new(blocks.class_of.iter().map(|&class| Some(class)).collect(), names)?;
        let splits = (0..self.splits).map(|_| Split::random(&labels, 0.6, 0.2, 0.2, rng.random()));
        let splits = splits.collect::<Result<Vec<_>>>()?;
        let name = "synth".to_string();
        Dataset::new(DatasetParts {
            name,
            graph,
            repairs,
            features,
            labels,
            node_ids: None,
            splits,
            details: Default::default(),
        })
    }

    /// Checks the ranges, and that there are pairs enough for the edges.
    pub fn validate(&self) -> Result<()> {
        let check = |good: bool, key: &str, problem: String, remedy: &str| {
            if good { Ok(()) } else { Err(Error::setting(key, problem, remedy)) }
        };
        let (nodes, classes) = (self.nodes, self.classes);
        check(classes >= 2, "classes", format!("{classes} is too few"), "there must be at least 2")?;
        let fits = nodes >= 5 * classes && u32::try_from(nodes).is_ok();
        check(fits, "nodes", format!("{nodes} nodes for {classes} classes"), "give every class at least 5")?;
        let share = (0.0..=1.0).contains(&self.homophily);
        check(share, "homophily", format!("{} is out of range", self.homophily), "it is a share, 0 to 1")?;
        let sound = self.signal.is_finite() && self.signal >= 0.0;
        check(sound, "signal", format!("{} is out of range", self.signal), "it must be 0 or more")?;
        let sound = self.mean_degree.is_finite() && self.mean_degree >= 0.0;
        check(sound, "mean_degree", format!("{} is out of range", self.mean_degree), "it must be 0 or more")?;
        let (intra, inter) = self.edge_counts();
        if !self.class_shares.is_empty() {
            self.check_shares()?;
            let sizes = self.sizes();
            let within = self.edges_within(&sizes);
            let pairs = |size: usize| size as f64 * (size as f64 - 1.0) / 2.0;
            let between = sizes.iter().map(|&size| size as f64 * (nodes - size) as f64).sum::<f64>() / 2.0;
            let enough = sizes.iter().zip(&within).all(|(&size, &edges)| edges as f64 <= FULL * pairs(size))
                && inter as f64 <= FULL * between;
            let problem = format!("{} leaves too few pairs of nodes without an edge", self.mean_degree);
            return check(enough, "mean_degree", problem, "make the graph larger, or the degree smaller");
        }
        let room = self.room();
        let preferred = match self.compatibility {
            Compatibility::Cyclic => PREFERRED,
            Compatibility::Uniform => 0.0,
            // There are twice as many pairs of partners as classes, each with a sixteenth of the room of a pair of classes.
            Compatibility::Roles => PREFERRED * 2.0 * ROLES as f64,
        };
        let enough = intra as f64 <= FULL * room.within
            && inter as f64 <= FULL * room.between
            && preferred * inter as f64 <= FULL * room.preferred;
        let problem = format!("{} leaves too few pairs of nodes without an edge", self.mean_degree);
        check(enough, "mean_degree", problem, "make the graph larger, or the degree smaller")
    }

    /// Edges within classes and between them.
    fn edge_counts(&self) -> (usize, usize) {
        let all = (self.nodes as f64 * self.mean_degree / 2.0).round();
        let intra = (all * self.homophily).round();
        (intra as usize, (all - intra) as usize)
    }

    fn check_shares(&self) -> Result<()> {
        let shares = &self.class_shares;
        let sum: f64 = shares.iter().sum();
        if shares.len() == self.classes
            && shares.iter().all(|share| *share > 0.0)
            && (sum - 1.0).abs() < 1e-6
            && self.sizes().iter().all(|&size| size >= 5)
        {
            return Ok(());
        }
        Err(Error::setting(
            "class_shares",
            format!("{shares:?} are no shares of {} classes", self.classes),
            "give each class a positive share, in sum 1, of at least 5 nodes",
        ))
    }

    /// Nodes in each class.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> =
            self.class_shares.iter().map(|share| (share * self.nodes as f64).round() as usize).collect();
        let others: usize = sizes.iter().skip(1).sum();
        sizes[0] = self.nodes.saturating_sub(others);
        sizes
    }

    /// Edges within each class: what its nodes lack of the mean degree after those between classes.
    fn edges_within(&self, sizes: &[usize]) -> Vec<usize> {
        let (intra, inter) = self.edge_counts();
        let all: f64 = sizes.iter().map(|&size| (size * (self.nodes - size)) as f64).sum();
        let lacking = sizes.iter().map(|&size| {
            let between = 2.0 * inter as f64 * (size * (self.nodes - size)) as f64 / all;
            ((self.mean_degree * size as f64 - between) / 2.0).max(0.0)
        });
        let lacking: Vec<f64> = lacking.collect();
        let total: f64 = lacking.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut within: Vec<usize> =
            lacking.iter().map(|edges| (edges / total * intra as f64).round() as usize).collect();
        let others: usize = within.iter().skip(1).sum();
        within[0] = intra.saturating_sub(others);
        within
    }

    /// Number of pairs of nodes, with every class taken to have the same size.
    fn room(&self) -> Room {
        let (classes, size) = (self.classes as f64, (self.nodes / self.classes) as f64);
        let pairs_of_classes = classes * (classes - 1.0) / 2.0;
        Room {
            within: classes * size * (size - 1.0) / 2.0,
            between: pairs_of_classes * size * size,
            preferred: classes.min(pairs_of_classes) * size * size,
        }
    }
}

struct Room {
    within: f64,
    between: f64,
    preferred: f64,
}

/// The nodes by class.
struct Blocks {
    class_of: Vec<u32>,
    members: Vec<Vec<u32>>,
    roles: Option<Roles>,
}

/// The nodes by role, where edges follow roles.
struct Roles {
    role_of: Vec<usize>,
    members: Vec<Vec<u32>>,
    /// The partner of each.
    partner: Vec<usize>,
}

impl Roles {
    fn draw(classes: &[Vec<u32>], nodes: usize, rng: &mut ChaCha8Rng) -> Self {
        let of_class = |members: &Vec<u32>| -> Vec<Vec<u32>> {
            (0..ROLES).map(|role| members.iter().skip(role).step_by(ROLES).copied().collect()).collect()
        };
        let members: Vec<Vec<u32>> = classes.iter().flat_map(of_class).collect();
        let mut role_of = vec![0; nodes];
        for (role, nodes) in members.iter().enumerate() {
            nodes.iter().for_each(|&node| role_of[node as usize] = role);
        }
        let mut order: Vec<usize> = (0..members.len()).collect();
        // Partners stand side by side, and are of two classes.
        while order.chunks_exact(2).any(|pair| pair[0] / ROLES == pair[1] / ROLES) {
            order.shuffle(rng);
        }
        let mut partner = vec![0; order.len()];
        for pair in order.chunks_exact(2) {
            (partner[pair[0]], partner[pair[1]]) = (pair[1], pair[0]);
        }
        Roles { role_of, members, partner }
    }
}

impl Blocks {
    fn draw(config: &SynthConfig, rng: &mut ChaCha8Rng) -> Self {
        let mut class_of: Vec<u32> = if config.class_shares.is_empty() {
            (0..config.nodes).map(|node| (node % config.classes) as u32).collect()
        } else {
            (0u32..).zip(config.sizes()).flat_map(|(class, size)| std::iter::repeat_n(class, size)).collect()
        };
        class_of.shuffle(rng);
        let mut members = vec![Vec::new(); config.classes];
        for (node, &class) in class_of.iter().enumerate() {
            members[class as usize].push(node as u32);
        }
        let roles = (config.compatibility == Compatibility::Roles && config.class_shares.is_empty())
            .then(|| Roles::draw(&members, config.nodes, rng));
        Blocks { class_of, members, roles }
    }

    fn edges(&self, config: &SynthConfig, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
        if !config.class_shares.is_empty() {
            return self.unequal_edges(config, rng);
        }
        let (intra, inter) = config.edge_counts();
        let mut seen = HashSet::with_capacity(intra + inter);
        let mut edges = Vec::with_capacity(intra + inter);
        for within in [true, false] {
            let enough = edges.len() + if within { intra } else { inter };
            while edges.len() < enough {
                let a = rng.random_range(0..config.nodes as u32);
                let members = if within { self.own(a) } else { self.others(a, config, rng) };
                let b = members[rng.random_range(0..members.len())];
                let edge = (a.min(b), a.max(b));
                if a != b && seen.insert(edge) {
                    edges.push(edge);
                }
            }
        }
        edges
    }

    /// The class of a node.
    fn own(&self, node: u32) -> &[u32] {
        &self.members[self.class_of[node as usize] as usize]
    }

    /// Those of other classes among whom a neighbour of a node is drawn.
    fn others(&self, node: u32, config: &SynthConfig, rng: &mut ChaCha8Rng) -> &[u32] {
        if let Some(roles) = &self.roles
            && rng.random_bool(PREFERRED)
        {
            return &roles.members[roles.partner[roles.role_of[node as usize]]];
        }
        &self.members[other_class(self.class_of[node as usize] as usize, config, rng)]
    }

    fn unequal_edges(&self, config: &SynthConfig, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
        let mut seen = HashSet::new();
        let mut edges = Vec::new();
        let mut draw = |count: usize, rng: &mut ChaCha8Rng, pair: &dyn Fn(&mut ChaCha8Rng) -> (u32, u32)| {
            let enough = edges.len() + count;
            while edges.len() < enough {
                let (a, b) = pair(rng);
                let edge = (a.min(b), a.max(b));
                if a != b && seen.insert(edge) {
                    edges.push(edge);
                }
            }
        };
        let sizes: Vec<usize> = self.members.iter().map(Vec::len).collect();
        for (members, count) in self.members.iter().zip(config.edges_within(&sizes)) {
            let one = |rng: &mut ChaCha8Rng| members[rng.random_range(0..members.len())];
            draw(count, rng, &|rng| (one(rng), one(rng)));
        }
        let any = |rng: &mut ChaCha8Rng| rng.random_range(0..config.nodes as u32);
        draw(config.edge_counts().1, rng, &|rng| {
            loop {
                let (a, b) = (any(rng), any(rng));
                if self.class_of[a as usize] != self.class_of[b as usize] {
                    return (a, b);
                }
            }
        });
        edges
    }

    fn features(&self, config: &SynthConfig, rng: &mut ChaCha8Rng) -> Features {
        let means = class_means(config, rng);
        let mut noise = Gaussian::default();
        Features::Dense(Mat::from_fn(config.nodes, config.features, |node, column| {
            (means[self.class_of[node] as usize][column] + noise.draw(rng)) as f32
        }))
    }
}

fn other_class(own: usize, config: &SynthConfig, rng: &mut ChaCha8Rng) -> usize {
    let classes = config.classes;
    if config.compatibility == Compatibility::Cyclic && rng.random_bool(PREFERRED) {
        return (own + 1) % classes;
    }
    (own + rng.random_range(1..classes)) % classes
}

/// Vectors in random directions, `signal` apart: at right angles, as long as there are dimensions enough.
fn class_means(config: &SynthConfig, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut gaussian = Gaussian::default();
    let mut units: Vec<Vec<f64>> = Vec::with_capacity(config.classes);
    for _ in 0..config.classes {
        let mut unit: Vec<f64> = (0..config.features).map(|_| gaussian.draw(rng)).collect();
        if config.classes <= config.features {
            for earlier in &units {
                let overlap = dot(&unit, earlier);
                unit.iter_mut().zip(earlier).for_each(|(u, e)| *u -= overlap * e);
            }
        }
        let length = dot(&unit, &unit).sqrt().max(f64::MIN_POSITIVE);
        unit.iter_mut().for_each(|u| *u /= length);
        units.push(unit);
    }
    let scale = config.signal / 2f64.sqrt();
    units.into_iter().map(|unit| unit.into_iter().map(|u| u * scale).collect()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Standard normal numbers by the polar method, which makes two at a time.
#[derive(Default)]
struct Gaussian {
    spare: Option<f64>,
}

impl Gaussian {
    fn draw(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (rng.random_range(-1.0..1.0f64), rng.random_range(-1.0..1.0f64));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::heterophily::edge_homophily;
    use super::*;

    fn any_config() -> impl Strategy<Value = SynthConfig> {
        (100usize..600, 2usize..7, 1.0..12.0, 0.0..1.0, 0usize..3).prop_map(
            |(nodes, classes, mean_degree, homophily, pattern)| {
                let patterns = [Compatibility::Cyclic, Compatibility::Uniform, Compatibility::Roles];
                let compatibility = patterns[pattern];
                SynthConfig {
                    nodes,
                    classes,
                    mean_degree,
                    homophily,
                    compatibility,
                    features: 4,
                    splits: 2,
                    ..Default::default()
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn degree_homophily_and_balance_are_as_asked(config in any_config(), seed: u64) {
            prop_assume!(config.validate().is_ok());
            let dataset = config.generate(seed).unwrap();
            let degree = 2.0 * dataset.graph().num_edges() as f64 / config.nodes as f64;
            prop_assert!((degree - config.mean_degree).abs() < 0.02, "degree {degree}");
            let homophily = f64::from(edge_homophily(dataset.graph(), dataset.labels()).unwrap());
            prop_assert!((homophily - config.homophily).abs() < 0.02, "homophily {homophily}");
            let sizes = dataset.labels().class_sizes();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            prop_assert_eq!(dataset.splits().len(), 2);
        }
    }

    #[test]
    fn a_rare_class_has_its_share_and_the_same_degree() {
        let shares = vec![0.95, 0.05];
        let config = SynthConfig {
            nodes: 2000,
            classes: 2,
            class_shares: shares,
            homophily: 0.92,
            splits: 0,
            ..Default::default()
        };
        let dataset = config.generate(1).unwrap();
        assert_eq!(dataset.labels().class_sizes(), [1900, 100]);
        let homophily = edge_homophily(dataset.graph(), dataset.labels()).unwrap();
        assert!((homophily - 0.92).abs() < 0.01, "{homophily}");
        let rare = (0..2000).filter(|&node| dataset.labels().get(node) == Some(1));
        let degree = rare.map(|node| dataset.graph().degree(node)).sum::<usize>() as f64 / 100.0;
        assert!((degree - 10.0).abs() < 1.0, "{degree}");
    }

    #[test]
    fn a_seed_makes_one_graph() {
        let config = SynthConfig::default();
        let (a, b, c) =
            (config.generate(1).unwrap(), config.generate(1).unwrap(), config.generate(2).unwrap());
        assert_eq!((a.graph(), a.features(), a.splits()), (b.graph(), b.features(), b.splits()));
        assert_ne!(a.graph(), c.graph());
    }

    #[test]
    fn the_cycle_shows_in_the_edges_between_classes() {
        let dataset = SynthConfig { nodes: 2000, ..Default::default() }.generate(3).unwrap();
        let class = |node: u32| dataset.labels().get(node as usize).unwrap();
        let between: Vec<u32> =
            dataset.graph().edges().map(|(a, b)| (5 + class(a) - class(b)) % 5).filter(|d| *d != 0).collect();
        let next = between.iter().filter(|&&d| d == 1 || d == 4).count() as f64 / between.len() as f64;
        // Four of five by preference, and half of the rest by chance.
        assert!((next - 0.9).abs() < 0.02, "{next}");
    }

    #[test]
    fn class_means_are_the_signal_apart() {
        let config = SynthConfig { nodes: 20_000, signal: 3.0, features: 8, splits: 0, ..Default::default() };
        let dataset = config.generate(5).unwrap();
        let mut sums = vec![[0f64; 8]; 5];
        let mut squares = 0.0;
        for node in 0..20_000 {
            for (column, value) in dataset.features().row_nonzeros(node) {
                sums[dataset.labels().get(node).unwrap() as usize][column as usize] +=
                    f64::from(value) / 4000.0;
                squares += f64::from(value).powi(2) / 20_000.0;
            }
        }
        let distance = sums[0].iter().zip(&sums[3]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        assert!((distance - 3.0).abs() < 0.1, "{distance}");
        // Unit noise in eight dimensions, and means of squared length signal^2 / 2.
        assert!((squares - 8.0 - 4.5).abs() < 0.2, "{squares}");
    }

    #[test]
    fn impossible_graphs_are_refused() {
        let base = SynthConfig::default;
        for (config, key) in [
            (SynthConfig { classes: 1, ..base() }, "classes"),
            (SynthConfig { nodes: 9, ..base() }, "nodes"),
            (SynthConfig { class_shares: vec![0.5, 0.5], ..base() }, "class_shares"),
            (SynthConfig { classes: 2, class_shares: vec![1.5, -0.5], ..base() }, "class_shares"),
            (SynthConfig { homophily: 1.5, ..base() }, "homophily"),
            (SynthConfig { signal: f64::NAN, ..base() }, "signal"),
            (SynthConfig { mean_degree: -1.0, ..base() }, "mean_degree"),
            (SynthConfig { nodes: 100, mean_degree: 90.0, ..base() }, "mean_degree"),
            (SynthConfig { nodes: 100, mean_degree: 30.0, homophily: 1.0, ..base() }, "mean_degree"),
            (SynthConfig { nodes: 100, mean_degree: 60.0, homophily: 0.0, ..base() }, "mean_degree"),
        ] {
            let error = config.generate(0).unwrap_err().to_string();
            assert!(error.starts_with(&format!("setting `{key}`")), "{error}");
        }
    }
}
