//! Connected components, direction ignored.

use super::Graph;

/// Connected components.
pub struct Components {
    /// The component of each node, numbered in the order of their first node.
    pub of_node: Vec<u32>,
    /// Number of nodes in each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Union-find over the edges: linear but for the inverse Ackermann factor.
    pub fn of(graph: &Graph) -> Self {
        let num_nodes = graph.num_nodes();
        let mut parent: Vec<u32> = (0..num_nodes as u32).collect();
        for (a, b) in graph.edges() {
            let (a, b) = (find(&mut parent, a), find(&mut parent, b));
            // The smaller root wins, so a root is the first node of its component.
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut of_node = vec![0u32; num_nodes];
        let mut sizes = Vec::new();
        for node in 0..num_nodes as u32 {
            let root = find(&mut parent, node);
            if root == node {
                of_node[node as usize] = sizes.len() as u32;
                sizes.push(0);
            } else {
                of_node[node as usize] = of_node[root as usize];
            }
            sizes[of_node[node as usize] as usize] += 1;
        }
        Components { of_node, sizes }
    }

    /// The nodes of the largest component (of equals, the first), ascending.
    pub fn largest(&self) -> Vec<u32> {
        let Some(&most) = self.sizes.iter().max() else { return Vec::new() };
        let largest = self.sizes.iter().position(|&size| size == most).unwrap_or(0) as u32;
        (0u32..).zip(&self.of_node).filter(|(_, c)| **c == largest).map(|(node, _)| node).collect()
    }
}

fn find(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let grandparent = parent[parent[node as usize] as usize];
        parent[node as usize] = grandparent;
        node = grandparent;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_by_their_first_node() {
        let (graph, _) = Graph::from_edges(6, &[(4, 5), (1, 3), (3, 5)]).unwrap();
        let components = Components::of(&graph);
        assert_eq!(components.of_node, [0, 1, 2, 1, 1, 1]);
        assert_eq!(components.sizes, [1, 4, 1]);
        assert_eq!(components.largest(), [1, 3, 4, 5]);
    }
}
