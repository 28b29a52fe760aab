//! Deals the pairs of a graph into buckets, by nothing but the two ids and a seed.
//!
//! `bucket(u, v) = mix(seed, min(h(u), h(v)), max(h(u), h(v))) mod T`, `h` the FNV-1a hash of an id's text (Fowler, Noll and Vo),
//! `mix` the finaliser of SplitMix64. So a pair lies in the same bucket on any machine, in whatever order nodes and edges come, and
//! however many others there are: an edge that somebody adds or removes moves no other edge, and both directions of it are in one
//! bucket. Cost: `O(T edges)`.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::random::derive;

/// Which bucket each pair of some nodes is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    count: usize,
    seed: u64,
    /// The hashes of the nodes' ids.
    nodes: Vec<u64>,
}

impl Buckets {
    /// `count` buckets, 2 or more, for nodes that are called so.
    pub fn new(count: usize, seed: u64, ids: &[String]) -> Result<Self> {
        if count < 2 {
            return Err(Error::setting(
                "buckets",
                format!("{count} cannot vote: one edge could change the only vote there is"),
                "choose 3 or more, such as 11",
            ));
        }
        Ok(Buckets { count, seed, nodes: ids.iter().map(|id| fnv1a(id.as_bytes())).collect() })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The seed that they were dealt with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The bucket of a pair of nodes, given by their numbers in any order.
    pub fn of(&self, a: u32, b: u32) -> usize {
        let (a, b) = (self.nodes[a as usize], self.nodes[b as usize]);
        (derive(self.seed, &[a.min(b), a.max(b)]) % self.count as u64) as usize
    }

    /// The graph of each bucket: all nodes, and the edges of the bucket with their weights and directions.
    pub fn graphs(&self, graph: &Graph) -> Result<Vec<Graph>> {
        self.same_nodes(&self.nodes, graph.num_nodes())?;
        (0..self.count).map(|bucket| graph.with_edges_where(|a, b| self.of(a, b) == bucket)).collect()
    }

    /// Refuses as many buckets as would leave some without any edge.
    pub fn check_edges(&self, graph: &Graph) -> Result<()> {
        if self.count <= graph.num_edges() {
            return Ok(());
        }
        Err(Error::setting(
            "buckets",
            format!("{} are more than the {} edges", self.count, graph.num_edges()),
            "choose fewer buckets, such as 5",
        ))
    }

    /// Refuses nodes that are not those for which the buckets were made: an edge under other ids lies in another bucket.
    pub fn check_ids(&self, ids: &[String]) -> Result<()> {
        let nodes: Vec<u64> = ids.iter().map(|id| fnv1a(id.as_bytes())).collect();
        self.same_nodes(&nodes, ids.len())
    }

    fn same_nodes(&self, nodes: &[u64], count: usize) -> Result<()> {
        if nodes == self.nodes && count == nodes.len() {
            return Ok(());
        }
        let problem = match nodes.iter().zip(&self.nodes).position(|(new, old)| new != old) {
            Some(node) if count == self.nodes.len() => format!("node {node} has another id than in training"),
            _ => format!("{count} nodes instead of the {} of training, or others", self.nodes.len()),
        };
        Err(Error::data(
            problem,
            "edges are dealt into buckets by the ids of their nodes: give the nodes of training, with their ids and in their order",
        ))
    }
}

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::synth::SynthConfig;

    fn ids(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_hash_is_that_of_its_authors() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn a_pair_is_in_the_same_bucket_for_ever() {
        let names = ids(&["0", "1", "2", "ann", "bob", "zoë"]);
        let of = |count: usize, seed: u64| {
            let buckets = Buckets::new(count, seed, &names).unwrap();
            [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)].map(|(a, b)| buckets.of(a, b))
        };
        assert_eq!(of(11, 0), [4, 1, 6, 7, 1, 9]);
        assert_eq!(of(11, 1), [3, 7, 1, 0, 4, 8]);
        assert_eq!(of(5, 0), [0, 4, 3, 1, 3, 0]);
    }

    #[test]
    fn order_and_company_move_no_pair() {
        let (few, many) = (ids(&["ann", "bob", "eve"]), ids(&["eve", "new", "bob", "other", "ann"]));
        let (few, many) = (Buckets::new(7, 3, &few).unwrap(), Buckets::new(7, 3, &many).unwrap());
        for ((a, b), (c, d)) in [((0, 1), (4, 2)), ((0, 2), (4, 0)), ((1, 2), (2, 0))] {
            assert_eq!(few.of(a, b), many.of(c, d));
            assert_eq!(few.of(a, b), few.of(b, a));
        }
    }

    #[test]
    fn every_edge_is_in_one_bucket_and_buckets_are_alike() {
        let dataset = SynthConfig { nodes: 400, ..SynthConfig::default() }.generate(0).unwrap();
        let names: Vec<String> = (0..400).map(|node| dataset.node_id(node)).collect();
        let graph = dataset.graph();
        let graphs = Buckets::new(5, 0, &names).unwrap().graphs(graph).unwrap();
        let mut edges: Vec<(u32, u32)> =
            graphs.iter().flat_map(|graph| graph.edges().collect::<Vec<_>>()).collect();
        edges.sort_unstable();
        assert_eq!(edges, graph.edges().collect::<Vec<_>>());
        let even = graph.num_edges() as f64 / 5.0;
        assert!(graphs.iter().all(|graph| (graph.num_edges() as f64 / even - 1.0).abs() < 0.25));
        let arrows: Vec<(u32, u32)> = graph.edges().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let arrows = Graph::build(400, &arrows, None, true).unwrap().0;
        for bucket in Buckets::new(5, 0, &names).unwrap().graphs(&arrows).unwrap() {
            assert!(bucket.edges().all(|(a, b)| bucket.has_edge(b, a)), "both directions together");
        }
    }

    #[test]
    fn what_cannot_be_dealt_is_refused() {
        let names = ids(&["a", "b", "c"]);
        let graph = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap().0;
        assert!(Buckets::new(1, 0, &names).unwrap_err().to_string().contains("cannot vote"));
        let said = Buckets::new(3, 0, &names).unwrap().check_edges(&graph).unwrap_err().to_string();
        assert!(said.contains("3 are more than the 2 edges"), "{said}");
        let buckets = Buckets::new(2, 0, &names).unwrap();
        assert!(buckets.check_ids(&names).is_ok());
        let said = buckets.check_ids(&ids(&["a", "x", "c"])).unwrap_err().to_string();
        assert!(said.contains("node 1 has another id"), "{said}");
        assert!(
            buckets
                .check_ids(&ids(&["a", "b"]))
                .unwrap_err()
                .to_string()
                .contains("2 nodes instead of the 3")
        );
    }
}
