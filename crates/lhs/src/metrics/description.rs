//! A graph held against the classes: the figures by which the given and the latent graph are compared.

use serde::Serialize;

use crate::graph::heterophily::mean_heterophily;
use crate::graph::{Dataset, Graph, Split};
use crate::io::export::{Column, Export};
use crate::structure::latent_graph::weighted_homophily;

/// Figures of one graph; shares are 0..=1, and absent where no edge or label says anything.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// `given`, or `round 0` and so on.
    pub name: String,
    /// Number of edges.
    pub edges: usize,
    /// Share of the weight at the training nodes that stays within their class.
    pub homophily_train: Option<f32>,
    /// The same at the validation nodes.
    pub homophily_val: Option<f32>,
    /// The same at the test nodes.
    pub homophily_test: Option<f32>,
    /// Mean node heterophily H at the test nodes, edges counted without their weights.
    pub heterophily_test: Option<f64>,
    /// Mean weight of an edge.
    pub mean_weight: f64,
    /// Mean degree.
    pub mean_degree: f64,
    /// The highest degree.
    pub max_degree: usize,
    /// Share of the nodes without edges.
    pub isolated: f64,
}

/// Describes a graph over the nodes of a dataset.
pub fn describe(name: &str, graph: &Graph, dataset: &Dataset, split: &Split) -> Description {
    let labels = dataset.labels();
    let homophily = |part: &[u32]| weighted_homophily(graph, labels, part.iter().copied());
    let nodes = graph.num_nodes().max(1) as f64;
    let weight: f64 = graph.weighted_edges().map(|(_, _, weight)| f64::from(weight)).sum();
    let degrees = || (0..graph.num_nodes()).map(|node| graph.degree(node));
    Description {
        name: name.to_string(),
        edges: graph.num_edges(),
        homophily_train: homophily(&split.train),
        homophily_val: homophily(&split.val),
        homophily_test: homophily(&split.test),
        heterophily_test: mean_heterophily(graph, labels, &split.test),
        mean_weight: weight / graph.num_edges().max(1) as f64,
        mean_degree: degrees().sum::<usize>() as f64 / nodes,
        max_degree: degrees().max().unwrap_or(0),
        isolated: degrees().filter(|degree| *degree == 0).count() as f64 / nodes,
    }
}

/// A latent graph with what is known of its nodes, for other tools. `predicted` are class numbers of `classes`.
pub fn export<'a>(
    dataset: &'a Dataset,
    latent: &Graph,
    split: &Split,
    classes: &[String],
    predicted: &[u32],
) -> Export<'a> {
    let nodes = 0..dataset.num_nodes();
    let names = dataset.labels().names();
    let class = |node: usize| dataset.labels().get(node).map(|class| names[class as usize].clone());
    let mut part = vec![None; dataset.num_nodes()];
    for (name, of) in [("train", &split.train), ("val", &split.val), ("test", &split.test)] {
        of.iter().for_each(|&node| part[node as usize] = Some(name.to_string()));
    }
    let degree = |graph: &Graph| nodes.clone().map(|node| graph.degree(node) as i64).collect();
    Export {
        name: dataset.name(),
        node_ids: nodes.clone().map(|node| dataset.node_id(node)).collect(),
        columns: vec![
            ("class".into(), Column::Text(nodes.clone().map(class).collect())),
            (
                "prediction".into(),
                Column::Text(predicted.iter().map(|&class| Some(classes[class as usize].clone())).collect()),
            ),
            ("part".into(), Column::Text(part)),
            ("degree".into(), Column::Integer(degree(latent))),
            ("given_degree".into(), Column::Integer(degree(dataset.graph()))),
        ],
        edges: latent.weighted_edges().collect(),
    }
}

/// One neighbour of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// Its id.
    pub id: String,
    /// Its class, where it has one.
    pub class: Option<String>,
    /// The weight of the edge.
    pub weight: f32,
}

/// The neighbours of a node, heaviest first.
pub fn neighbourhood(graph: &Graph, dataset: &Dataset, node: usize) -> Vec<Neighbour> {
    let names = dataset.labels().names();
    let places = graph.adjacency().row_range(node);
    let mut found: Vec<Neighbour> = graph
        .neighbours(node)
        .iter()
        .zip(places)
        .map(|(&other, place)| Neighbour {
            id: dataset.node_id(other as usize),
            class: dataset.labels().get(other as usize).map(|class| names[class as usize].clone()),
            weight: graph.weights().map_or(1.0, |weights| weights[place]),
        })
        .collect();
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    found
}
