//! Rings: who stands at which distance from a node, counted by class.
//!
//! Ring `k` of node `i` holds the nodes whose distance from `i` is exactly `k`; in a directed graph the distance follows
//! the arrows. `H_k(i)` is the share of other classes among the ring's nodes of known class, `H_{a..b}(i)` the same over
//! the union of the rings `a..b`. `H_1` is the node heterophily of [`super::heterophily`].
//!
//! Exact, by a breadth-first search from 64 nodes at once: bit `b` of a node's word says whether source `b` has
//! reached it. A level takes one pass over the edges, and hubs cost what their edges cost. The counts come from
//! counters that stand upright: word `p` holds bit `p` of 64 counts. Cost: `sources / 64 * hops * edges` word
//! operations, `3 * nodes` words per thread, nothing of size `nodes * nodes`.

use rayon::prelude::*;

use super::{Graph, Labels};

/// Sources that fit into a word.
const BATCH: usize = 64;

/// The nodes of known class in one or more rings of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// Of another class.
    pub other: u32,
    /// Of any known class.
    pub all: u32,
}

/// The counts of some nodes' rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rings {
    hops: usize,
    /// Ring after ring of the first source, then of the second, and so on; `None` for a source of unknown class.
    counts: Vec<Option<RingCount>>,
}

impl Rings {
    /// Counts the rings `1..=hops` of some nodes; the same on any number of threads.
    pub fn count(graph: &Graph, labels: &Labels, sources: &[u32], hops: usize) -> Self {
        if hops == 1 {
            // Nobody need be reached to count one's own neighbours.
            return Rings {
                hops,
                counts: sources.par_iter().map(|&source| nearest(graph, labels, source)).collect(),
            };
        }
        let batches: Vec<Vec<Option<RingCount>>> =
            sources.par_chunks(BATCH).map(|sources| batch(graph, labels, sources, hops)).collect();
        Rings { hops, counts: batches.concat() }
    }

    /// How many nodes were asked for.
    pub fn num_sources(&self) -> usize {
        self.counts.len() / self.hops.max(1)
    }

    /// The union of the rings `first..=last`, counted from 1, of the source at a place in the list; `None` when its
    /// class is unknown.
    pub fn within(&self, source: usize, first: usize, last: usize) -> Option<RingCount> {
        let rings = &self.counts[source * self.hops..(source + 1) * self.hops];
        rings[first - 1..last].iter().try_fold(RingCount::default(), |sum, ring| {
            let ring = (*ring)?;
            Some(RingCount { other: sum.other + ring.other, all: sum.all + ring.all })
        })
    }

    /// `H` over those rings; undefined, not 0, when they hold no node of known class.
    pub fn heterophily(&self, source: usize, first: usize, last: usize) -> Option<f64> {
        let count = self.within(source, first, last)?;
        (count.all > 0).then(|| f64::from(count.other) / f64::from(count.all))
    }
}

/// The first ring of a node.
fn nearest(graph: &Graph, labels: &Labels, source: u32) -> Option<RingCount> {
    let own = labels.get(source as usize)?;
    let mut count = RingCount::default();
    for class in graph.neighbours(source as usize).iter().filter_map(|&other| labels.get(other as usize)) {
        count.all += 1;
        count.other += u32::from(class != own);
    }
    Some(count)
}

/// The rings of up to 64 sources, source after source.
fn batch(graph: &Graph, labels: &Labels, sources: &[u32], hops: usize) -> Vec<Option<RingCount>> {
    let mut frontier = vec![0u64; graph.num_nodes()];
    let mut sources_of_class = vec![0u64; labels.num_classes()];
    for (bit, &source) in sources.iter().enumerate() {
        frontier[source as usize] |= 1 << bit;
        if let Some(class) = labels.get(source as usize) {
            sources_of_class[class as usize] |= 1 << bit;
        }
    }
    let mut seen = frontier.clone();
    let mut next = vec![0u64; graph.num_nodes()];
    let mut counts = vec![None; sources.len() * hops];
    for hop in 0..hops {
        spread(graph, &frontier, &mut next);
        let (mut all, mut other) = (Tally::default(), Tally::default());
        for (node, (new, seen)) in next.iter_mut().zip(&mut seen).enumerate() {
            *new &= !*seen;
            *seen |= *new;
            if let Some(class) = labels.get(node) {
                all.add(*new);
                other.add(*new & !sources_of_class[class as usize]);
            }
        }
        for (bit, &source) in sources.iter().enumerate() {
            counts[bit * hops + hop] = labels
                .get(source as usize)
                .map(|_| RingCount { other: other.count(bit), all: all.count(bit) });
        }
        std::mem::swap(&mut frontier, &mut next);
        next.fill(0);
    }
    counts
}

/// Hands each node's word to its neighbours.
fn spread(graph: &Graph, frontier: &[u64], next: &mut [u64]) {
    for (node, &word) in frontier.iter().enumerate().filter(|(_, word)| **word != 0) {
        for &neighbour in graph.neighbours(node) {
            next[neighbour as usize] |= word;
        }
    }
}

/// 64 counters, one per bit of the words added: `planes[p]` holds bit `p` of each.
#[derive(Default)]
struct Tally {
    planes: [u64; 32],
}

impl Tally {
    /// Adds 1 to the counters whose bits are set. Half of the additions carry one plane on, a quarter two, …
    fn add(&mut self, mut word: u64) {
        for plane in &mut self.planes {
            if word == 0 {
                return;
            }
            let carry = *plane & word;
            *plane ^= word;
            word = carry;
        }
    }

    fn count(&self, bit: usize) -> u32 {
        self.planes.iter().enumerate().map(|(p, plane)| ((plane >> bit & 1) as u32) << p).sum()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::graph::heterophily::node_heterophily;
    use crate::linalg::random::generator;

    /// Edges between random nodes, a hub with many, some nodes alone; some classes unknown.
    fn random_graph(seed: u64, num_nodes: usize, directed: bool) -> (Graph, Labels) {
        let mut rng = generator(seed, 0);
        let mut node = |to: usize| rng.random_range(0..to as u32);
        let reach = num_nodes - num_nodes / 10;
        let mut edges: Vec<(u32, u32)> = (0..num_nodes).map(|_| (node(reach), node(reach))).collect();
        edges.extend((0..num_nodes / 8).map(|_| (0, node(reach))));
        let classes: Vec<i64> = (0..num_nodes).map(|_| i64::from(node(4)) - 1).collect();
        let graph = Graph::build(num_nodes, &edges, None, directed).unwrap().0;
        (graph, Labels::from_numbers(&classes).unwrap())
    }

    /// One search at a time, with a queue.
    fn naive(graph: &Graph, labels: &Labels, source: usize, hops: usize) -> Vec<Option<RingCount>> {
        let mut distance = vec![usize::MAX; graph.num_nodes()];
        distance[source] = 0;
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            for &next in graph.neighbours(node) {
                if distance[next as usize] == usize::MAX {
                    distance[next as usize] = distance[node] + 1;
                    queue.push_back(next as usize);
                }
            }
        }
        let ring = |hop: usize| {
            let own = labels.get(source)?;
            let ring = (0..graph.num_nodes()).filter(|&node| distance[node] == hop);
            let classes: Vec<u32> = ring.filter_map(|node| labels.get(node)).collect();
            let other = classes.iter().filter(|class| **class != own).count() as u32;
            Some(RingCount { other, all: classes.len() as u32 })
        };
        (1..=hops).map(ring).collect()
    }

    #[test]
    fn rings_are_those_of_one_search_per_node() {
        for (seed, num_nodes, directed) in [(0, 30, false), (1, 64, false), (2, 65, true), (3, 400, false)] {
            let (graph, labels) = random_graph(seed, num_nodes, directed);
            let sources: Vec<u32> = (0..num_nodes as u32).rev().collect();
            let rings = Rings::count(&graph, &labels, &sources, 5);
            assert_eq!(rings.num_sources(), num_nodes);
            for (place, &source) in sources.iter().enumerate() {
                let expected = naive(&graph, &labels, source as usize, 5);
                let found: Vec<_> = (1..=5).map(|ring| rings.within(place, ring, ring)).collect();
                assert_eq!(found, expected, "node {source} of {num_nodes}");
                let joint = expected[1..4].iter().flatten().fold((0, 0), |s, c| (s.0 + c.other, s.1 + c.all));
                let found = rings.within(place, 2, 4).map_or((0, 0), |count| (count.other, count.all));
                assert_eq!(found, joint);
            }
        }
    }

    #[test]
    fn the_first_ring_is_the_node_heterophily() {
        let (graph, labels) = random_graph(7, 200, false);
        let sources: Vec<u32> = (0..200).collect();
        let rings = Rings::count(&graph, &labels, &sources, 1);
        let found: Vec<Option<f32>> =
            (0..200).map(|node| rings.heterophily(node, 1, 1).map(|h| h as f32)).collect();
        assert_eq!(found, node_heterophily(&graph, &labels));
        assert!(found.contains(&None) && found.iter().flatten().any(|h| *h > 0.0));
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let (graph, labels) = random_graph(9, 500, false);
        let sources: Vec<u32> = (0..500).step_by(2).collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Rings::count(&graph, &labels, &sources, 4))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn upright_counters_count() {
        let mut tally = Tally::default();
        for number in 0u64..1000 {
            tally.add(u64::from(number % 3 == 0) | 1 << 63);
        }
        assert_eq!((tally.count(0), tally.count(1), tally.count(63)), (334, 0, 1000));
    }
}
