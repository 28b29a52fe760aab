//! The graph itself: immutable, without self loops, each edge stored at both of its ends.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::linalg::Pattern;

/// An immutable graph in compressed sparse rows.
///
/// Undirected graphs store each edge at both ends. A directed graph (`directed`) stores it at its
/// source only. Rows are sorted, there are no self loops and no double edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    adjacency: Arc<Pattern>,
    weights: Option<Arc<Vec<f32>>>,
    directed: bool,
}

/// What had to be repaired while a graph was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Edges from a node to itself, dropped.
    pub self_loops: usize,
    /// Edges named more than once (in an undirected graph also as `b,a` after `a,b`), kept once.
    pub duplicates: usize,
}

impl Graph {
    /// Builds an undirected graph from pairs in any order; self loops and duplicates are dropped and counted.
    pub fn from_edges(num_nodes: usize, edges: &[(u32, u32)]) -> Result<(Self, Repairs)> {
        Self::build(num_nodes, edges, None, false)
    }

    /// Builds a graph from pairs, with optional weights (positive and finite) and direction.
    /// Of an edge named more than once, the first weight is kept.
    pub fn build(
        num_nodes: usize,
        edges: &[(u32, u32)],
        weights: Option<&[f32]>,
        directed: bool,
    ) -> Result<(Self, Repairs)> {
        check_ends(num_nodes, edges)?;
        if let Some(weights) = weights {
            check_weights(edges, weights)?;
        }
        let mut repairs = Repairs::default();
        let mut indptr = vec![0usize; num_nodes + 1];
        for &(a, b) in edges {
            if a == b {
                repairs.self_loops += 1;
                continue;
            }
            indptr[a as usize + 1] += 1;
            if !directed {
                indptr[b as usize + 1] += 1;
            }
        }
        for node in 0..num_nodes {
            indptr[node + 1] += indptr[node];
        }
        // (neighbour, index of the edge): sorting by both keeps the first mention in front.
        let mut entries = vec![(0u32, 0u32); indptr[num_nodes]];
        let mut next = indptr.clone();
        let mut put = |from: u32, to: u32, edge: usize| {
            let slot = &mut next[from as usize];
            entries[*slot] = (to, edge as u32);
            *slot += 1;
        };
        for (edge, &(a, b)) in edges.iter().enumerate().filter(|(_, (a, b))| a != b) {
            put(a, b, edge);
            if !directed {
                put(b, a, edge);
            }
        }
        drop(next);
        let mut indices = Vec::with_capacity(entries.len());
        let mut kept_weights = weights.map(|_| Vec::with_capacity(entries.len()));
        let mut bounds = Vec::with_capacity(num_nodes + 1);
        bounds.push(0);
        let mut dropped = 0usize;
        for node in 0..num_nodes {
            let row = &mut entries[indptr[node]..indptr[node + 1]];
            row.sort_unstable();
            let mut last = None;
            for &(neighbour, edge) in row.iter() {
                if last == Some(neighbour) {
                    dropped += 1;
                    continue;
                }
                last = Some(neighbour);
                indices.push(neighbour);
                if let (Some(kept), Some(weights)) = (&mut kept_weights, weights) {
                    kept.push(weights[edge as usize]);
                }
            }
            bounds.push(indices.len());
        }
        repairs.duplicates = if directed { dropped } else { dropped / 2 };
        let adjacency = Arc::new(Pattern::new(num_nodes, num_nodes, bounds, indices));
        Ok((Graph { adjacency, weights: kept_weights.map(Arc::new), directed }, repairs))
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.adjacency.rows()
    }

    /// Number of edges, each undirected pair counted once.
    pub fn num_edges(&self) -> usize {
        if self.directed { self.adjacency.nnz() } else { self.adjacency.nnz() / 2 }
    }

    /// What an edge weighs on average; 1 in a graph without weights.
    pub fn mean_weight(&self) -> f32 {
        match self.weights() {
            Some(weights) if !weights.is_empty() => {
                (weights.iter().map(|&w| f64::from(w)).sum::<f64>() / weights.len() as f64) as f32
            }
            _ => 1.0,
        }
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// The neighbours of a node (its successors, in a directed graph), ascending.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        self.adjacency.row(node)
    }

    /// How many edges leave a node.
    pub fn degree(&self, node: usize) -> usize {
        self.adjacency.row_range(node).len()
    }

    /// Whether there is an edge from `a` to `b`.
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        self.neighbours(a as usize).binary_search(&b).is_ok()
    }

    /// The stored entries: both directions of every undirected edge.
    pub fn adjacency(&self) -> &Arc<Pattern> {
        &self.adjacency
    }

    /// Edge weights in the order of [`Graph::adjacency`]; `None` when every edge weighs 1.
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_ref().map(|w| w.as_slice())
    }

    /// Every edge once: `a < b` in an undirected graph, source and target in a directed one.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.num_nodes() as u32).flat_map(move |a| {
            self.neighbours(a as usize)
                .iter()
                .map(move |&b| (a, b))
                .filter(move |&(a, b)| self.directed || a < b)
        })
    }

    /// Every edge once, with its weight.
    pub fn weighted_edges(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.num_nodes()).flat_map(move |a| {
            self.adjacency
                .row_range(a)
                .map(move |place| {
                    let weight = self.weights.as_ref().map_or(1.0, |w| w[place]);
                    (a as u32, self.adjacency.indices()[place], weight)
                })
                .filter(move |&(a, b, _)| self.directed || a < b)
        })
    }

    /// The graph of some nodes, which are numbered in the order given, and the edges among them.
    pub fn induced(&self, nodes: &[u32]) -> Result<Self> {
        let mut number = vec![None; self.num_nodes()];
        for (new, &old) in nodes.iter().enumerate() {
            number[old as usize] = Some(new as u32);
        }
        let (edges, weights): (Vec<_>, Vec<_>) = self
            .weighted_edges()
            .filter_map(|(a, b, w)| Some(((number[a as usize]?, number[b as usize]?), w)))
            .unzip();
        let weights = self.weights().map(|_| weights.as_slice());
        Ok(Self::build(nodes.len(), &edges, weights, self.directed)?.0)
    }

    /// The same nodes with those edges only whose ends are worth keeping.
    pub fn with_edges_where(&self, keep: impl Fn(u32, u32) -> bool) -> Result<Self> {
        let (edges, weights): (Vec<_>, Vec<_>) =
            self.weighted_edges().filter(|&(a, b, _)| keep(a, b)).map(|(a, b, w)| ((a, b), w)).unzip();
        let weights = self.weights().map(|_| weights.as_slice());
        Ok(Self::build(self.num_nodes(), &edges, weights, self.directed)?.0)
    }

    /// The same edges, each led the other way; the graph itself when it has no direction.
    pub fn reversed(&self) -> Graph {
        if !self.directed {
            return self.clone();
        }
        let (edges, weights): (Vec<_>, Vec<_>) = self.weighted_edges().map(|(a, b, w)| ((b, a), w)).unzip();
        let weights = self.weights.is_some().then_some(weights.as_slice());
        Self::build(self.num_nodes(), &edges, weights, true).expect("the edges of a valid graph are valid").0
    }

    /// The undirected graph with the same edges, which is the graph itself when it has no direction.
    pub fn to_undirected(&self) -> Graph {
        if !self.directed {
            return self.clone();
        }
        let (edges, weights): (Vec<_>, Vec<_>) = self.weighted_edges().map(|(a, b, w)| ((a, b), w)).unzip();
        let weights = self.weights.is_some().then_some(weights.as_slice());
        Self::build(self.num_nodes(), &edges, weights, false).expect("the edges of a valid graph are valid").0
    }
}

fn check_ends(num_nodes: usize, edges: &[(u32, u32)]) -> Result<()> {
    let outside = |node: u32| node as usize >= num_nodes;
    match edges.iter().position(|&(a, b)| outside(a) || outside(b)) {
        None => Ok(()),
        Some(edge) => {
            let (a, b) = edges[edge];
            let node = if outside(a) { a } else { b };
            Err(Error::data(
                format!("edge {edge} ({a}, {b}): node {node} out of range (num_nodes = {num_nodes})"),
                "node numbers start at 0; every end of an edge must be a node",
            ))
        }
    }
}

fn check_weights(edges: &[(u32, u32)], weights: &[f32]) -> Result<()> {
    if weights.len() != edges.len() {
        return Err(Error::data(
            format!("{} edge weights for {} edges", weights.len(), edges.len()),
            "give one weight per edge",
        ));
    }
    match weights.iter().position(|w| !w.is_finite() || *w <= 0.0) {
        None => Ok(()),
        Some(edge) => Err(Error::data(
            format!("edge {edge}: weight {} is not a positive finite number", weights[edge]),
            "remove the edge, or give it a positive weight",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_duplicates_are_dropped_and_counted() {
        let (graph, repairs) = Graph::from_edges(4, &[(0, 1), (1, 0), (2, 2), (3, 1), (0, 1)]).unwrap();
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 3)]);
        assert_eq!(repairs, Repairs { self_loops: 1, duplicates: 2 });
        assert_eq!((graph.num_edges(), graph.degree(1), graph.degree(2)), (2, 2, 0));
    }

    #[test]
    fn direction_and_weights_are_kept() {
        let (graph, repairs) =
            Graph::build(3, &[(0, 1), (1, 0), (2, 1)], Some(&[0.5, 2.0, 3.0]), true).unwrap();
        assert_eq!(repairs, Repairs::default());
        assert!(graph.has_edge(2, 1) && !graph.has_edge(1, 2));
        let reversed: Vec<_> = graph.reversed().weighted_edges().collect();
        assert_eq!(reversed, [(0, 1, 2.0), (1, 0, 0.5), (1, 2, 3.0)]);
        let undirected = graph.to_undirected();
        let edges: Vec<_> = undirected.weighted_edges().collect();
        assert_eq!(edges, [(0, 1, 0.5), (1, 2, 3.0)]);
    }

    #[test]
    fn a_node_out_of_range_is_named() {
        let error = Graph::from_edges(3, &[(0, 1), (1, 3)]).unwrap_err().to_string();
        assert!(error.contains("edge 1 (1, 3): node 3 out of range (num_nodes = 3)"), "{error}");
    }
}
