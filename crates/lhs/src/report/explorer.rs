//! Both graphs of a run for the reader to walk through, node by node.

use maud::{Markup, html};
use serde::Serialize;

use super::embed::embedded;
use super::svg::COLOURS;
use super::view::RunViewInput;
use crate::error::Result;
use crate::graph::heterophily::node_heterophily;
use crate::graph::{Dataset, Graph, Split};
use crate::structure::Structure;

/// Neighbours of a node that the page keeps, at most.
const NEIGHBOURS: usize = 48;

/// What the page's script needs to show a node; lists have an entry per node.
#[derive(Debug, Serialize)]
pub struct Explorer {
    /// Names of the classes, as the model numbers them.
    pub classes: Vec<String>,
    /// A colour for each class, used over again where there are more classes.
    pub colours: &'static [&'static str],
    /// What the user calls the nodes.
    pub ids: Vec<String>,
    /// True classes; -1 where unknown.
    pub truth: Vec<i64>,
    /// Parts of the split.
    pub parts: Vec<&'static str>,
    /// Probabilities of the classes, in thousandths.
    pub probabilities: Vec<Vec<i64>>,
    /// Some neighbours in the given graph.
    pub given: Vec<Vec<u32>>,
    /// How many there are.
    pub degrees: Vec<usize>,
    /// The heaviest neighbours in the latent graph, with weights in hundredths.
    pub latent: Vec<Vec<(u32, i64)>>,
    /// How many there are.
    pub latent_degrees: Vec<usize>,
    /// Heterophily in the given graph; none without labelled neighbours.
    pub given_h: Vec<Option<f64>>,
    /// Heterophily in the latent graph.
    pub latent_h: Vec<Option<f64>>,
}

impl Explorer {
    /// Gathers what a run says about every node.
    pub fn new(input: &RunViewInput<'_>, structure: &Structure) -> Result<Self> {
        let (dataset, latent) = (input.dataset, structure.latent());
        let graph = dataset.graph();
        let probabilities = input.model.predict(graph, dataset.features())?;
        let nodes = 0..dataset.num_nodes();
        Ok(Explorer {
            classes: input.classes.to_vec(),
            colours: &COLOURS,
            ids: nodes.clone().map(|node| dataset.node_id(node)).collect(),
            truth: truth(dataset, input.classes),
            parts: parts(dataset.num_nodes(), input.split.0),
            probabilities: nodes.clone().map(|node| thousandths(probabilities.row(node))).collect(),
            given: nodes.clone().map(|node| first(graph, node)).collect(),
            degrees: nodes.clone().map(|node| graph.degree(node)).collect(),
            latent: nodes.clone().map(|node| heaviest(latent, node)).collect(),
            latent_degrees: nodes.map(|node| latent.degree(node)).collect(),
            given_h: rounded(node_heterophily(graph, dataset.labels())),
            latent_h: rounded(node_heterophily(latent, dataset.labels())),
        })
    }

    /// The part of the page that shows it.
    pub fn html(&self) -> Markup {
        html! {
            div.explorer {
                h3 { "Walk through the graphs" }
                p {
                    "Type a node, or click on a neighbour: left the given graph, right the latent one, coloured by class."
                }
                form { input aria-label="node"; " " button { "show" } }
                p { output {} }
                p.key {
                    @for (class, colour) in self.classes.iter().zip(self.colours.iter().cycle()) {
                        span { i style={ "background:" (colour) } {} (class) }
                    }
                }
                div.pair {
                    @for graph in ["given", "latent"] {
                        figure { figcaption { (graph) } svg viewBox="0 0 320 320" {} }
                    }
                }
                (embedded("explorer", self))
            }
        }
    }
}

/// Classes as the model numbers them, which may not be how the data does.
fn truth(dataset: &Dataset, classes: &[String]) -> Vec<i64> {
    let labels = dataset.labels();
    let numbers: Vec<Option<usize>> =
        labels.names().iter().map(|name| classes.iter().position(|class| class == name)).collect();
    let own = |node: usize| labels.get(node).and_then(|class| numbers[class as usize]);
    (0..dataset.num_nodes()).map(|node| own(node).map_or(-1, |class| class as i64)).collect()
}

fn parts(num_nodes: usize, split: &Split) -> Vec<&'static str> {
    let mut parts = vec!["in no part"; num_nodes];
    for (name, part) in split.parts() {
        part.iter().for_each(|&node| parts[node as usize] = name);
    }
    parts
}

fn thousandths(row: &[f32]) -> Vec<i64> {
    row.iter().map(|p| (1000.0 * p).round() as i64).collect()
}

fn rounded(values: Vec<Option<f32>>) -> Vec<Option<f64>> {
    values.into_iter().map(|h| h.map(|h| (f64::from(h) * 1000.0).round() / 1000.0)).collect()
}

fn first(graph: &Graph, node: usize) -> Vec<u32> {
    graph.neighbours(node).iter().take(NEIGHBOURS).copied().collect()
}

fn heaviest(graph: &Graph, node: usize) -> Vec<(u32, i64)> {
    let weights = graph.adjacency().row_range(node).map(|place| graph.weights().map_or(1.0, |w| w[place]));
    let mut found: Vec<(u32, f32)> = graph.neighbours(node).iter().copied().zip(weights).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(NEIGHBOURS);
    found.into_iter().map(|(other, weight)| (other, (100.0 * weight).round() as i64)).collect()
}
