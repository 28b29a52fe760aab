//! Graphs with fewer and fewer nodes, each made by merging neighbours of the one before.

use super::Point;
use crate::graph::Graph;

/// So few nodes need no coarser graph.
const FEW: usize = 24;
/// Merging goes on while it leaves at most this share of the nodes.
const SHRINKS: f64 = 0.9;

/// A graph of one level: neighbours of each node with weights, both ways.
pub struct Level {
    starts: Vec<usize>,
    ends: Vec<(u32, f64)>,
    masses: Vec<f64>,
    /// The node of the coarser level that each was merged into.
    merged_into: Vec<u32>,
}

impl Level {
    /// A graph as it is, with weights whose mean is 1.
    pub fn of(graph: &Graph) -> Self {
        let mean = f64::from(graph.mean_weight());
        let scale = if mean > 0.0 { 1.0 / mean } else { 1.0 };
        let edges = graph.weighted_edges().filter(|&(a, b, weight)| a != b && weight > 0.0);
        let edges = edges.map(|(a, b, weight)| (a, b, scale * f64::from(weight))).collect();
        Self::with_edges(vec![1.0; graph.num_nodes()], edges)
    }

    /// From own masses and edges that may repeat; each edge adds its weight to the mass of both ends.
    fn with_edges(mut masses: Vec<f64>, edges: Vec<(u32, u32, f64)>) -> Self {
        let both = edges.into_iter().flat_map(|(a, b, weight)| [(a, b, weight), (b, a, weight)]);
        let mut both: Vec<(u32, u32, f64)> = both.collect();
        both.sort_by_key(|&(a, b, _)| (a, b));
        both.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0.0 };
            same
        });
        let mut starts = vec![0; masses.len() + 1];
        for &(a, _, weight) in &both {
            starts[a as usize + 1] += 1;
            masses[a as usize] += weight;
        }
        (1..starts.len()).for_each(|node| starts[node] += starts[node - 1]);
        let ends = both.into_iter().map(|(_, b, weight)| (b, weight)).collect();
        Level { starts, ends, masses, merged_into: Vec::new() }
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.masses.len()
    }

    /// The masses of its nodes.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The mass of all nodes.
    pub fn total_mass(&self) -> f64 {
        self.masses.iter().sum()
    }

    fn neighbours(&self, node: usize) -> &[(u32, f64)] {
        &self.ends[self.starts[node]..self.starts[node + 1]]
    }

    /// Where its neighbours pull a node.
    pub fn pull(&self, node: usize, points: &[Point]) -> Point {
        let [x, y] = points[node];
        let mut sum = [0.0, 0.0];
        for &(other, weight) in self.neighbours(node) {
            let [other_x, other_y] = points[other as usize];
            sum = [sum[0] + weight * (other_x - x), sum[1] + weight * (other_y - y)];
        }
        sum.map(|sum| sum / self.masses[node])
    }

    /// The next coarser level; none where merging would hardly help.
    pub fn merged(&mut self) -> Option<Level> {
        if self.len() <= FEW {
            return None;
        }
        let (groups, count) = self.groups();
        if count as f64 > SHRINKS * self.len() as f64 {
            return None;
        }
        // Edges within a group are gone with their pull, and with the mass that they gave.
        let mut masses = vec![0.0; count];
        for (node, &group) in groups.iter().enumerate() {
            let weight: f64 = self.neighbours(node).iter().map(|(_, weight)| weight).sum();
            masses[group as usize] += self.masses[node] - weight;
        }
        let mut edges = Vec::new();
        for (node, &group) in groups.iter().enumerate() {
            let others =
                self.neighbours(node).iter().map(|&(other, weight)| (groups[other as usize], weight));
            edges.extend(
                others.filter(|(other, _)| group < *other).map(|(other, weight)| (group, other, weight)),
            );
        }
        self.merged_into = groups;
        Some(Self::with_edges(masses, edges))
    }

    /// A group for each node, and how many there are: pairs of neighbours, light ones first; who finds all neighbours
    /// taken joins the nearest of them; those without neighbours go in pairs.
    fn groups(&self) -> (Vec<u32>, usize) {
        const NONE: u32 = u32::MAX;
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.masses[a].total_cmp(&self.masses[b]).then(a.cmp(&b)));
        let (mut groups, mut count) = (vec![NONE; self.len()], 0u32);
        let mut lonely = None;
        for node in order {
            if groups[node] != NONE {
                continue;
            }
            let nearness = |&(other, weight): &(u32, f64)| weight / self.masses[other as usize];
            let nearest = |free: bool| {
                let own = self.neighbours(node).iter();
                let fitting = own.filter(|(other, _)| (groups[*other as usize] == NONE) == free);
                fitting.max_by(|a, b| nearness(a).total_cmp(&nearness(b)).then(b.0.cmp(&a.0)))
            };
            match (nearest(true), nearest(false)) {
                (Some(&(other, _)), _) => {
                    (groups[node], groups[other as usize]) = (count, count);
                    count += 1;
                }
                (None, Some(&(other, _))) => groups[node] = groups[other as usize],
                (None, None) => match lonely.take() {
                    Some(group) => groups[node] = group,
                    None => {
                        (groups[node], lonely) = (count, Some(count));
                        count += 1;
                    }
                },
            }
        }
        (groups, count as usize)
    }

    /// Places for its nodes around those of the coarser level that they were merged into.
    pub fn spread(&self, coarser: &Level, points: &[Point]) -> Vec<Point> {
        let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
        let place = |(node, &group): (usize, &u32)| {
            let (centre, radius) = (points[group as usize], coarser.masses[group as usize].sqrt());
            let angle = golden * node as f64;
            [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()]
        };
        self.merged_into.iter().enumerate().map(place).collect()
    }
}
