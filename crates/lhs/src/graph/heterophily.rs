//! Node heterophily: the share of a node's edges that lead to another class.
//!
//! `H(i) = |{j in N(i): y_j != y_i}| / |{j in N(i)}|` over the neighbours whose class is known;
//! undefined, not 0, for a node without such neighbours. Cost: one pass over the edges.

use super::{Graph, Labels};

/// `H` of every node; `None` for nodes of unknown class or without labelled neighbours.
pub fn node_heterophily(graph: &Graph, labels: &Labels) -> Vec<Option<f32>> {
    (0..graph.num_nodes()).map(|node| of_node(graph, labels, node)).collect()
}

/// Mean of `H` over those of some nodes that have one.
pub fn mean_heterophily(graph: &Graph, labels: &Labels, nodes: &[u32]) -> Option<f64> {
    let defined: Vec<f64> =
        nodes.iter().filter_map(|&node| of_node(graph, labels, node as usize)).map(f64::from).collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}

fn of_node(graph: &Graph, labels: &Labels, node: usize) -> Option<f32> {
    let own = labels.get(node)?;
    let (mut other, mut all) = (0u32, 0u32);
    for class in graph.neighbours(node).iter().filter_map(|&n| labels.get(n as usize)) {
        all += 1;
        other += u32::from(class != own);
    }
    (all > 0).then(|| other as f32 / all as f32)
}

/// Share of the weight of a node's edges that leads to another class; undefined where `H` is.
pub fn weighted_heterophily(graph: &Graph, labels: &Labels, node: usize) -> Option<f64> {
    let own = labels.get(node)?;
    let (mut other, mut all) = (0f64, 0f64);
    for (&neighbour, place) in graph.neighbours(node).iter().zip(graph.adjacency().row_range(node)) {
        let Some(class) = labels.get(neighbour as usize) else { continue };
        let weight = graph.weights().map_or(1.0, |weights| f64::from(weights[place]));
        all += weight;
        other += if class == own { 0.0 } else { weight };
    }
    (all > 0.0).then(|| other / all)
}

/// Mean of `1 - H` over the nodes that have one.
pub fn node_homophily(graph: &Graph, labels: &Labels) -> Option<f32> {
    let defined: Vec<f32> = node_heterophily(graph, labels).into_iter().flatten().collect();
    let sum: f64 = defined.iter().map(|&h| 1.0 - f64::from(h)).sum();
    (!defined.is_empty()).then(|| (sum / defined.len() as f64) as f32)
}

/// Share of the edges between labelled nodes that join two nodes of one class.
pub fn edge_homophily(graph: &Graph, labels: &Labels) -> Option<f32> {
    let (mut same, mut all) = (0u64, 0u64);
    for (a, b) in graph.edges() {
        if let (Some(a), Some(b)) = (labels.get(a as usize), labels.get(b as usize)) {
            all += 1;
            same += u64::from(a == b);
        }
    }
    (all > 0).then(|| (same as f64 / all as f64) as f32)
}

/// Counts of the defined values of `H` in equal bins over [0, 1]; 1 falls into the last.
pub fn histogram(values: &[Option<f32>], bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for h in values.iter().flatten() {
        counts[((h * bins as f32) as usize).min(bins - 1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heterophily_counts_other_classes_and_stays_undefined_without_edges() {
        let (graph, _) = Graph::from_edges(5, &[(0, 1), (0, 2), (0, 3)]).unwrap();
        let labels = Labels::from_numbers(&[0, 0, 1, -1, 1]).unwrap();
        let h = node_heterophily(&graph, &labels);
        assert_eq!(h, [Some(0.5), Some(0.0), Some(1.0), None, None]);
        assert_eq!(edge_homophily(&graph, &labels), Some(0.5));
        assert_eq!(node_homophily(&graph, &labels), Some(0.5));
        assert_eq!(mean_heterophily(&graph, &labels, &[0, 1, 3, 4]), Some(0.25));
        assert_eq!(mean_heterophily(&graph, &labels, &[3, 4]), None);
        let (weighted, _) =
            Graph::build(5, &[(0, 1), (0, 2), (0, 3)], Some(&[0.75, 0.25, 8.0]), false).unwrap();
        assert_eq!(weighted_heterophily(&weighted, &labels, 0), Some(0.25), "node 3 has no class");
        assert_eq!(weighted_heterophily(&graph, &labels, 0), Some(0.5));
        assert_eq!([3, 4].map(|node| weighted_heterophily(&weighted, &labels, node)), [None, None]);
        assert_eq!(histogram(&h, 10), [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    }
}
