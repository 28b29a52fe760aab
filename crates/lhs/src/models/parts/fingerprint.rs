//! A number for every node that follows from its surroundings and never from its own number: an order of the nodes
//! that means nothing, but is the same however they are numbered.

use crate::graph::{Features, Graph};
use crate::linalg::random::derive;

/// How far a fingerprint looks.
const HOPS: usize = 3;

/// Fingerprints of the shape of the graph around each node, three hops wide (Weisfeiler and Leman 1968).
pub fn of_shape(graph: &Graph) -> Vec<u64> {
    let mut prints = vec![0u64; graph.num_nodes()];
    for _ in 0..HOPS {
        prints = (0..graph.num_nodes())
            .map(|node| {
                // A sum that wraps around is the same in any order.
                let around = graph.neighbours(node).iter().map(|&other| derive(prints[other as usize], &[1]));
                derive(prints[node], &[around.fold(0, u64::wrapping_add)])
            })
            .collect();
    }
    prints
}

/// Fingerprints of the features of each node.
pub fn of_features(features: &Features) -> Vec<u64> {
    let print = |node: usize| {
        let entries = features.row_nonzeros(node).into_iter();
        entries
            .fold(0, |print, (column, value)| derive(print, &[u64::from(column), u64::from(value.to_bits())]))
    };
    (0..features.num_nodes()).map(print).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    #[test]
    fn renumbering_renumbers_the_prints_and_unlike_nodes_differ() {
        let here = of_shape(&Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (1, 4)]).unwrap().0);
        let there = of_shape(&Graph::from_edges(5, &[(4, 3), (3, 2), (2, 1), (3, 0)]).unwrap().0);
        for (node, to) in [4, 3, 2, 1, 0].into_iter().enumerate() {
            assert_eq!(here[node], there[to]);
        }
        assert_eq!(here[0], here[4]);
        assert!(here[0] != here[3] && here[1] != here[2]);
    }

    #[test]
    fn features_have_prints_of_their_own() {
        let prints = of_features(&Features::Dense(Mat::from_slice(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 0.0])));
        assert_eq!(prints[0], prints[2]);
        assert_ne!(prints[0], prints[1]);
    }
}
