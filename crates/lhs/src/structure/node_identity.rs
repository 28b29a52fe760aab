//! Which nodes of a graph the model has met before.
//!
//! An adjacency profile says *whom* a node is joined to, so its columns are the nodes of the training graph,
//! and a model that reads profiles must find them again in the graph that it predicts on: under the same
//! number (edges changed, nodes appended) or, when the nodes were renumbered, by their features.

use std::collections::HashMap;

use crate::graph::Features;
use crate::linalg::random::derive;

/// The nodes that a model was trained on, by a fingerprint of their features.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeIdentity {
    fingerprints: Vec<u64>,
}

impl NodeIdentity {
    /// Remembers the nodes of a training graph.
    pub fn of(features: &Features) -> Self {
        NodeIdentity {
            fingerprints: (0..features.num_nodes()).map(|node| fingerprint(features, node)).collect(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// For each node of a graph, which known node it is; `None` for a new one.
    pub fn find(&self, features: &Features) -> Vec<Option<u32>> {
        let found: Vec<u64> = (0..features.num_nodes()).map(|node| fingerprint(features, node)).collect();
        let places = unique_places(&self.fingerprints);
        let place = |node: usize| places.get(&found[node]).copied().flatten();
        let stayed = found.iter().zip(&self.fingerprints).filter(|(now, then)| now == then).count();
        let moved = (0..found.len()).filter(|&node| place(node).is_some_and(|p| p as usize != node)).count();
        if moved > stayed {
            let found_places = unique_places(&found);
            let alone = |node: usize| found_places.get(&found[node]).is_some_and(Option::is_some);
            return (0..found.len()).map(|node| place(node).filter(|_| alone(node))).collect();
        }
        (0..found.len()).map(|node| (node < self.len()).then_some(node as u32)).collect()
    }

    /// The fingerprint of each node.
    pub fn fingerprints(&self) -> &[u64] {
        &self.fingerprints
    }

    /// The nodes of these fingerprints.
    pub fn from_fingerprints(fingerprints: Vec<u64>) -> Self {
        NodeIdentity { fingerprints }
    }
}

/// Where each fingerprint stands; `None` for one that stands at several places and so identifies nobody.
fn unique_places(fingerprints: &[u64]) -> HashMap<u64, Option<u32>> {
    let mut places = HashMap::with_capacity(fingerprints.len());
    for (place, fingerprint) in (0u32..).zip(fingerprints) {
        places.entry(*fingerprint).and_modify(|known| *known = None).or_insert(Some(place));
    }
    places
}

fn fingerprint(features: &Features, node: usize) -> u64 {
    let parts = features.row_nonzeros(node).into_iter();
    parts.fold(0, |hash, (column, value)| derive(hash, &[u64::from(column), u64::from(value.to_bits())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    fn features(rows: &[[f32; 2]]) -> Features {
        Features::Dense(Mat::from_slice(rows.len(), 2, &rows.concat()))
    }

    #[test]
    fn nodes_keep_their_numbers_unless_they_were_renumbered() {
        let known = NodeIdentity::of(&features(&[[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [3.0, 1.0]]));
        let same = features(&[[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [3.0, 1.0], [9.0, 9.0]]);
        assert_eq!(known.find(&same), [Some(0), Some(1), Some(2), Some(3), None], "one was appended");
        let noisy = features(&[[1.1, 0.0], [2.1, 0.0], [3.1, 1.0], [3.1, 1.0]]);
        assert_eq!(known.find(&noisy), [Some(0), Some(1), Some(2), Some(3)], "features changed in place");
        let renumbered = features(&[[3.0, 1.0], [1.0, 0.0], [8.0, 8.0], [2.0, 0.0]]);
        assert_eq!(known.find(&renumbered), [None, Some(0), None, Some(1)], "twins cannot be told apart");
    }
}
