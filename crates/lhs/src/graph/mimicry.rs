//! New neighbours that make a node look like one of another class: the neighbours of a *donor* of that class.
//!
//! Random foreign neighbours are noise to whoever looks at whom a node is joined to; the neighbours of one foreign node are a signal.

use std::collections::HashSet;

use rand::RngExt;

use super::Graph;
use crate::linalg::random::generator;

/// Donors tried before a node gives up finding neighbours.
const PATIENCE: usize = 200;

/// Edges at a node of some degree, `rate` for each that it has and at least that of one; rounded up.
pub fn per_neighbour(rate: f64, degree: usize) -> usize {
    // 0.55 * 100 is a hair above 55, which must not become 56.
    (rate * degree.max(1) as f64 * (1.0 - 1e-12)).ceil() as usize
}

/// How many new neighbours `rate` for each old one makes, counting at least one old one; rounded up, and never more than there are
/// other nodes.
pub fn new_neighbours_at(graph: &Graph, rate: f64, node: u32) -> usize {
    let degree = graph.degree(node as usize);
    per_neighbour(rate, degree).min(graph.num_nodes().saturating_sub(1 + degree))
}

/// So many neighbours of nodes of one other class, as far as they are found, and that class, which is drawn unless it is given; none for
/// a node without a class.
pub fn mimicry(
    graph: &Graph,
    class_of: &dyn Fn(usize) -> Option<u32>,
    node: u32,
    wanted: usize,
    class: Option<u32>,
    seed: u64,
) -> (Vec<u32>, Option<u32>) {
    let Some(own) = class_of(node as usize) else { return (Vec::new(), None) };
    let mut rng = generator(seed, u64::from(node));
    let mut taken: HashSet<u32> = graph.neighbours(node as usize).iter().copied().chain([node]).collect();
    let (mut copied, mut class) = (Vec::new(), class);
    for _ in 0..PATIENCE {
        let donor = rng.random_range(0..graph.num_nodes());
        let Some(other) = class_of(donor).filter(|&other| other != own) else { continue };
        if *class.get_or_insert(other) != other {
            continue;
        }
        let mut offered = graph.neighbours(donor).to_vec();
        while copied.len() < wanted && !offered.is_empty() {
            let neighbour = offered.swap_remove(rng.random_range(0..offered.len()));
            if taken.insert(neighbour) {
                copied.push(neighbour);
            }
        }
        if copied.len() == wanted {
            break;
        }
    }
    (copied, class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_per_neighbour_is_not_rounded_up() {
        assert_eq!(
            [(0.55, 100), (0.5, 3), (1.0, 0), (2.0, 7)].map(|(r, d)| per_neighbour(r, d)),
            [55, 2, 1, 14]
        );
        assert_eq!([per_neighbour(0.0, 9), per_neighbour(1e-15, 9)], [0, 1]);
    }

    #[test]
    fn a_node_takes_on_the_neighbours_of_one_class() {
        // Nodes 0..3 of class 0, 3..6 of class 1, 6..9 of class 2; 9.. are the neighbours of each class, without a class.
        let edges: Vec<(u32, u32)> =
            (0..9).flat_map(|node| (0..3).map(move |k| (node, 9 + 3 * (node / 3) + k))).collect();
        let (graph, _) = Graph::from_edges(18, &edges).unwrap();
        let class_of = |node: usize| (node < 9).then_some(node as u32 / 3);
        for seed in 0..20 {
            let found = mimicry(&graph, &class_of, 0, 3, None, seed).0;
            assert!(
                found == found.iter().copied().filter(|n| (12..15).contains(n)).collect::<Vec<_>>()
                    || found == found.iter().copied().filter(|n| (15..18).contains(n)).collect::<Vec<_>>()
            );
            assert_eq!(found.len(), 3);
        }
        assert!(mimicry(&graph, &class_of, 12, 3, None, 0).0.is_empty());
        assert_eq!([0.5, 1.0, 2.0, 100.0].map(|rate| new_neighbours_at(&graph, rate, 0)), [2, 3, 6, 14]);
    }
}
