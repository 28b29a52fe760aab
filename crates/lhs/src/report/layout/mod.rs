//! Where the nodes of a graph stand on a map.
//!
//! Forces: every node pushes every other away, `m_j / d`; edges pull their ends together, so that a node tends to the
//! weighted mean of its neighbours; a weak pull to the middle keeps parts that nothing joins on the map. A node's mass
//! `m` is 1 and the weight of its edges, which gives hubs the room that they need.
//!
//! Coarse before fine: neighbours are merged until few are left, these are laid out, and each finer graph starts where
//! its coarser one ended. Pushes are summed over a tree of squares, `O(N log N)` a step (Barnes and Hut 1986; the forces
//! follow Jacomy et al. 2014, the levels Walshaw 2003).
//!
//! A position depends on the graph alone: no generator is drawn from, and no sum on the order in which threads finish.

mod coarse;
mod tree;

use rayon::prelude::*;

use crate::graph::Graph;
use coarse::Level;
use tree::Tree;

/// How hard nodes push.
const PUSH: f64 = 1.0;
/// How hard the middle pulls, as a share of how hard neighbours pull.
const MIDDLE: f64 = 0.02;
/// How far a node goes towards where the forces want it, in a step.
const STEP: f64 = 0.6;
/// Steps on the coarsest graph, and on the graph itself.
const STEPS: (usize, usize) = (120, 60);
/// Positions on the map go from 0 to this.
const LAST: f64 = 65_535.0;

/// A place in the plane.
type Point = [f64; 2];

/// A place for each node of a graph, from 0 to 65535 both ways; directions of edges are left out.
pub fn layout(graph: &Graph) -> Vec<[u16; 2]> {
    let mut levels = vec![Level::of(graph)];
    while let Some(coarser) = levels.last_mut().and_then(Level::merged) {
        levels.push(coarser);
    }
    let mut points: Vec<Point> = Vec::new();
    for (depth, level) in levels.iter().enumerate().rev() {
        points = match levels.get(depth + 1) {
            None => spiral(level.len()),
            Some(coarser) => level.spread(coarser, &points),
        };
        let steps = if depth + 1 == levels.len() { STEPS.0 } else { STEPS.1 };
        settle(level, &mut points, steps);
    }
    on_the_map(&points)
}

/// Places that no two share: a sunflower's.
fn spiral(count: usize) -> Vec<Point> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let place = |node: usize| {
        let (radius, angle) = (10.0 * (node as f64 + 0.5).sqrt(), golden * node as f64);
        [radius * angle.cos(), radius * angle.sin()]
    };
    (0..count).map(place).collect()
}

/// Moves the nodes of a level for some steps, by less and less.
fn settle(level: &Level, points: &mut Vec<Point>, steps: usize) {
    let widest = (level.total_mass() * PUSH / MIDDLE).sqrt();
    for step in 0..steps {
        let limit = 0.25 * widest * (1.0 - step as f64 / steps as f64).powi(2) + 1e-3 * widest;
        let tree = Tree::new(points, level.masses());
        let moved = |node: usize| {
            let ([x, y], push, pull) = (points[node], tree.push(points[node]), level.pull(node, points));
            let by = [0, 1].map(|way| STEP * (PUSH * push[way] + pull[way] - MIDDLE * [x, y][way]));
            let length = by[0].hypot(by[1]).max(1e-12);
            let scale = (limit / length).min(1.0);
            [x + scale * by[0], y + scale * by[1]]
        };
        *points = (0..points.len()).into_par_iter().map(moved).collect();
    }
}

/// Places scaled to the map. A few nodes far out are moved to its edge, or all others would share a dot.
fn on_the_map(points: &[Point]) -> Vec<[u16; 2]> {
    let middle = [0, 1].map(|way| quantile(points, 0.5, |point| point[way]));
    let far = |point: &Point| (point[0] - middle[0]).abs().max((point[1] - middle[1]).abs());
    let reach = quantile(points, 0.99, far).max(quantile(points, 1.0, far) / 2.0).max(1e-9);
    let on = |value: f64, middle: f64| {
        let share = ((value - middle) / reach).clamp(-1.0, 1.0);
        (LAST * (0.5 + 0.49 * share)).round() as u16
    };
    points.iter().map(|point| [on(point[0], middle[0]), on(point[1], middle[1])]).collect()
}

fn quantile(points: &[Point], share: f64, of: impl Fn(&Point) -> f64) -> f64 {
    let mut values: Vec<f64> = points.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    fn distance(a: [u16; 2], b: [u16; 2]) -> f64 {
        (f64::from(a[0]) - f64::from(b[0])).hypot(f64::from(a[1]) - f64::from(b[1]))
    }

    /// Two cliques that one edge joins.
    fn cliques() -> Graph {
        let clique = |from: u32| (from..from + 20).flat_map(move |a| (a + 1..from + 20).map(move |b| (a, b)));
        let edges: Vec<(u32, u32)> = clique(0).chain(clique(20)).chain([(0, 20)]).collect();
        Graph::from_edges(40, &edges).unwrap().0
    }

    #[test]
    fn what_is_joined_stands_together() {
        let places = layout(&cliques());
        let mean = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
            let all: Vec<f64> = pairs.map(|(a, b)| distance(places[a], places[b])).collect();
            all.iter().sum::<f64>() / all.len() as f64
        };
        let within = mean(&mut (0..20).flat_map(|a| (0..a).map(move |b| (a, b))));
        let between = mean(&mut (0..20).flat_map(|a| (20..40).map(move |b| (a, b))));
        assert!(3.0 * within < between, "{within} within, {between} between");
    }

    #[test]
    fn threads_do_not_move_anybody() {
        let dataset = SynthConfig { nodes: 400, ..SynthConfig::default() }.generate(0).unwrap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| layout(dataset.graph()))
        };
        let places = with(1);
        assert_eq!(places, with(3));
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 390, "{} places", distinct.len());
    }

    #[test]
    fn odd_graphs_have_a_map() {
        for (nodes, edges) in [(0, vec![]), (1, vec![]), (2, vec![]), (50, vec![])] {
            let graph = Graph::from_edges(nodes, &edges).unwrap().0;
            assert_eq!(layout(&graph).len(), nodes);
        }
        // A star: its points are spread around the middle.
        let star: Vec<(u32, u32)> = (1..200).map(|leaf| (0, leaf)).collect();
        let places = layout(&Graph::from_edges(200, &star).unwrap().0);
        let left = (1..200).filter(|&leaf| places[leaf][0] < places[0][0]).count();
        assert!((60..140).contains(&left), "{left} of 199 to the left");
    }
}
