//! Edges as a file lists them, on their way to a graph.

use super::LoadOptions;
use super::tables::Edges;
use crate::error::{Error, Result};
use crate::graph::{Graph, Repairs};

/// Pairs of node numbers in the order of the file.
pub(super) struct EdgeList {
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<f32>>,
    /// Whether the file says that edges go from the first node to the second.
    pub directed: bool,
    /// Entries that say that there is no edge.
    pub zeros: usize,
}

/// A graph, what was repaired, and remarks about how it was read.
pub(super) type Built = (Graph, Repairs, Vec<String>);

impl EdgeList {
    /// The entries of an adjacency matrix. A symmetric one is that of an undirected graph; a zero is no edge.
    pub fn from_entries(mut pairs: Vec<(u32, u32)>, mut weights: Option<Vec<f32>>) -> Result<Self> {
        let mut zeros = 0;
        if let Some(all) = &mut weights {
            if let Some(place) = all.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
                let ((row, column), weight) = (pairs[place], all[place]);
                return Err(Error::data(
                    format!(
                        "the entry from node {row} to node {column} is {weight}, which no weight of an edge can be"
                    ),
                    "keep positive numbers; leave out what is no edge",
                ));
            }
            zeros = all.iter().filter(|weight| **weight == 0.0).count();
            if zeros > 0 {
                let mut place = 0..all.len();
                pairs.retain(|_| place.next().is_some_and(|place| all[place] != 0.0));
                all.retain(|weight| *weight != 0.0);
            }
        }
        let directed = !is_symmetric(&pairs, weights.as_deref());
        if !directed {
            if let Some(weights) = &mut weights {
                let mut place = 0..pairs.len();
                weights.retain(|_| place.next().is_some_and(|place| pairs[place].0 <= pairs[place].1));
            }
            pairs.retain(|(a, b)| a <= b);
        }
        // Ones say only where the edges are: that `a,b` and `b,a` are both there does not make two of them.
        Ok(EdgeList { pairs, weights: weights.filter(|weights| tells_apart(weights)), directed, zeros })
    }

    /// The graph. Direction is kept if there is one and it is asked for; weights that are all 1 say nothing.
    pub fn build(self, num_nodes: usize, options: &LoadOptions) -> Result<Built> {
        let mut notes = Vec::new();
        if self.zeros > 0 {
            notes.push(format!("{} of the entries are 0: no edges", self.zeros));
        }
        let directed = self.directed && options.directed;
        let edges = Edges { pairs: self.pairs, weights: self.weights };
        let (Edges { pairs, weights }, repeated) = options.repeated_edges.joined(edges, directed);
        if repeated > 0 {
            let edges = if repeated == 1 { "1 edge is".into() } else { format!("{repeated} edges are") };
            notes.push(format!("{edges} named again: {}", options.repeated_edges.in_words()));
        }
        let weights = weights.filter(|weights| tells_apart(weights));
        let (graph, repairs) = Graph::build(num_nodes, &pairs, weights.as_deref(), directed)?;
        Ok((graph, repairs, notes))
    }
}

fn tells_apart(weights: &[f32]) -> bool {
    weights.iter().any(|&weight| weight != 1.0)
}

fn is_symmetric(pairs: &[(u32, u32)], weights: Option<&[f32]>) -> bool {
    let weight = |place: usize| weights.map_or(0, |weights| weights[place].to_bits());
    let mut there: Vec<_> = pairs.iter().enumerate().map(|(place, &(a, b))| (a, b, weight(place))).collect();
    let mut back: Vec<_> = there.iter().map(|&(a, b, weight)| (b, a, weight)).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back
}

/// Refuses more nodes than the entries of a file make believable: each takes memory, and a few bytes can claim billions.
pub(super) fn believable(num_nodes: u64, entries: usize) -> Result<usize> {
    const ALWAYS: u64 = 1 << 20;
    if num_nodes <= ALWAYS.max(64 * entries as u64) && num_nodes < u64::from(u32::MAX) {
        return Ok(num_nodes as usize);
    }
    Err(Error::data(
        format!("{num_nodes} nodes, but only {entries} entries"),
        "check that the file is whole; if so, leave out nodes without edges",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(u32, u32, f32)]) -> Result<EdgeList> {
        let weights = entries.iter().map(|entry| entry.2).collect();
        EdgeList::from_entries(entries.iter().map(|entry| (entry.0, entry.1)).collect(), Some(weights))
    }

    #[test]
    fn symmetric_entries_are_an_undirected_graph() {
        let edges = list(&[(0, 1, 2.0), (1, 0, 2.0), (2, 2, 1.0), (1, 2, 0.0)]).unwrap();
        assert_eq!((edges.pairs.as_slice(), edges.directed, edges.zeros), (&[(0, 1), (2, 2)][..], false, 1));
        assert_eq!(edges.weights.as_deref(), Some(&[2.0, 1.0][..]));
        let (graph, repairs, notes) = edges.build(3, &LoadOptions::directed(true)).unwrap();
        assert!(!graph.is_directed() && repairs.self_loops == 1 && notes.len() == 1);
    }

    #[test]
    fn others_are_directed_if_that_is_asked_for() {
        let edges = || list(&[(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0)]).unwrap();
        let (graph, ..) = edges().build(3, &LoadOptions::directed(true)).unwrap();
        assert_eq!(graph.weighted_edges().collect::<Vec<_>>(), [(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0)]);
        let (graph, _, notes) = edges().build(3, &LoadOptions::default()).unwrap();
        assert_eq!(graph.weighted_edges().collect::<Vec<_>>(), [(0, 1, 5.0), (1, 2, 1.0)]);
        assert_eq!(notes, ["1 edge is named again: weights were added"]);
    }

    #[test]
    fn weights_of_one_are_none_and_others_must_be_positive() {
        let (graph, ..) = list(&[(0, 1, 1.0)]).unwrap().build(2, &LoadOptions::default()).unwrap();
        assert_eq!(graph.weights(), None);
        for wrong in [-1.0, f32::NAN, f32::INFINITY] {
            assert!(list(&[(0, 1, wrong)]).is_err());
        }
    }

    #[test]
    fn nodes_must_be_believable() {
        assert_eq!(believable(1 << 20, 0).unwrap(), 1 << 20);
        assert!(believable(1 << 30, 100).is_err() && believable(u64::MAX, usize::MAX >> 8).is_err());
    }
}
