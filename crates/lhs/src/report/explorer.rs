//! Both graphs of a run for the reader to walk through: a map of all nodes, and each node with its neighbours.

use maud::{Markup, html};
use serde::Serialize;

use super::embed::embedded;
use super::layout::layout;
use super::quality::ShownAnswers;
use super::svg::COLOURS;
use crate::error::Result;
use crate::graph::heterophily::node_heterophily;
use crate::graph::{Dataset, Graph, Split};
use crate::linalg::Mat;
use crate::linalg::random::derive;

/// Nodes that the page keeps, at most: beyond, it would take long to open.
const NODES: usize = 20_000;
/// Neighbours of a node that the page keeps, at least and at most; and of all nodes together, about.
const NEIGHBOURS: (usize, usize, usize) = (12, 48, 200_000);
/// Likely classes of a node that the page keeps.
const CLASSES: usize = 6;
/// Parts of a split, as the page numbers them.
const PARTS: [&str; 4] = ["in no part", "train", "val", "test"];

/// What the page's script needs to show nodes; lists have an entry per node that is kept.
#[derive(Debug, Default, Serialize)]
pub struct Explorer {
    /// Names of the classes, as the model numbers them.
    pub classes: Vec<String>,
    /// A colour for each class.
    pub colours: Vec<String>,
    /// Names of the parts of a split.
    pub part_names: Vec<&'static str>,
    /// How many nodes the graph has; more than are kept where it is large.
    pub nodes: usize,
    /// What the user calls the nodes.
    pub ids: Vec<String>,
    /// True classes; -1 where unknown.
    pub truth: Vec<i64>,
    /// Parts of the split, by number.
    pub parts: Vec<usize>,
    /// The likeliest classes, with probabilities in thousandths.
    pub chances: Vec<Vec<(usize, i64)>>,
    /// What channels added to the score of the likeliest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// The graph that was given.
    pub given: Neighbourhoods,
    /// The latent graph, of models that learn one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latent: Option<Neighbourhoods>,
}

/// A graph, for the page.
#[derive(Debug, Default, Serialize)]
pub struct Neighbourhoods {
    /// Some neighbours of each node, the heaviest, with weights in hundredths.
    pub neighbours: Vec<Vec<(u32, i64)>>,
    /// How many there are.
    pub degrees: Vec<usize>,
    /// Heterophily; none without labelled neighbours.
    pub h: Vec<Option<f64>>,
    /// Where the nodes stand on the map: two numbers of 16 bits each, as base64.
    pub places: String,
}

/// What the channels of a model say about its answers.
#[derive(Debug, Default, Serialize)]
pub struct Channels {
    /// Their names.
    pub names: Vec<String>,
    /// By how much each raised the score of the answer over the mean of the other classes, in hundredths.
    pub shares: Vec<Vec<i64>>,
}

/// What an explorer is made from.
pub struct ExplorerInput<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// What the model answers.
    pub answers: &'a ShownAnswers<'a>,
    /// The latent graph, of models that learn one.
    pub latent: Option<&'a Graph>,
    /// What each channel adds to the class scores, of models that can tell.
    pub channels: Option<Vec<(String, Mat)>>,
    /// Nodes that must be kept.
    pub wanted: &'a [usize],
}

impl Explorer {
    /// Gathers what a run says about every node, or in a large graph about some.
    pub fn new(input: ExplorerInput<'_>) -> Result<Self> {
        let ExplorerInput { dataset, answers, .. } = input;
        let kept = kept(dataset.num_nodes(), input.wanted);
        let parts = parts(dataset.num_nodes(), answers.split);
        Ok(Explorer {
            classes: answers.classes.to_vec(),
            colours: (0..answers.classes.len()).map(class_colour).collect(),
            part_names: PARTS.to_vec(),
            nodes: dataset.num_nodes(),
            ids: kept.iter().map(|&node| dataset.node_id(node as usize)).collect(),
            truth: kept.iter().map(|&node| answers.truth[node as usize].map_or(-1, i64::from)).collect(),
            parts: kept.iter().map(|&node| parts[node as usize]).collect(),
            chances: kept.iter().map(|&node| likeliest(answers.probabilities.row(node as usize))).collect(),
            channels: input.channels.map(|channels| Channels::new(channels, answers, &kept)),
            given: Neighbourhoods::new(dataset, dataset.graph(), &kept)?,
            latent: input.latent.map(|latent| Neighbourhoods::new(dataset, latent, &kept)).transpose()?,
        })
    }

    /// The part of the page that shows it.
    pub fn html(&self) -> Markup {
        let graphs = if self.latent.is_some() { &["given", "latent"][..] } else { &["given"] };
        html! {
            div.explorer {
                (self.map(graphs))
                h3 { "Walk through the graph" }
                p { "Type a node, or click on a neighbour or on the map. The address of the page follows the node." }
                form { input aria-label="node" placeholder="node"; " " button { "show" } }
                p.found { output {} }
                div.channels {}
                div.pair {
                    @for graph in graphs {
                        figure { figcaption { "neighbours in the " (graph) " graph" } svg.near viewBox="0 0 360 360" {} }
                    }
                }
                (embedded("explorer", self))
            }
        }
    }

    fn map(&self, graphs: &[&str]) -> Markup {
        html! {
            h3 { "Map of the graph" }
            p {
                "Nodes that edges join stand together. Wheel or two fingers zoom, dragging moves, a click opens the node below."
                @if self.nodes > self.ids.len() {
                    " The map shows a sample: " (self.ids.len()) " of " (self.nodes) " nodes, and edges between them."
                }
            }
            p.choice {
                "coloured by "
                @for (value, text) in [("class", "class"), ("prediction", "prediction"), ("h", "heterophily H"), ("error", "error")] {
                    button type="button" data-colours=(value) aria-pressed=(value == "class") { (text) } " "
                }
            }
            p.key {}
            div.pair {
                @for graph in graphs {
                    figure {
                        figcaption { (graph) " graph" }
                        canvas.map data-graph=(graph) tabindex="0" aria-label={ "map of the " (graph) " graph" } {}
                        span.tools {
                            @for (tool, text) in [("in", "+"), ("out", "−"), ("all", "all")] {
                                button type="button" data-zoom=(tool) aria-label={ "zoom " (tool) } { (text) } " "
                            }
                        }
                        small.drawn {}
                    }
                }
            }
        }
    }
}

impl Neighbourhoods {
    fn new(dataset: &Dataset, graph: &Graph, kept: &[u32]) -> Result<Self> {
        let mut places = vec![None; graph.num_nodes()];
        kept.iter().enumerate().for_each(|(place, &node)| places[node as usize] = Some(place as u32));
        let (least, most, all) = NEIGHBOURS;
        let count = (all / kept.len().max(1)).clamp(least, most);
        let h = node_heterophily(graph, dataset.labels());
        let rounded = |h: f32| (f64::from(h) * 1000.0).round() / 1000.0;
        let on_the_map =
            if kept.len() == graph.num_nodes() { layout(graph) } else { layout(&graph.induced(kept)?) };
        Ok(Neighbourhoods {
            neighbours: kept.iter().map(|&node| heaviest(graph, node as usize, &places, count)).collect(),
            degrees: kept.iter().map(|&node| graph.degree(node as usize)).collect(),
            h: kept.iter().map(|&node| h[node as usize].map(rounded)).collect(),
            places: base64(&on_the_map.concat().into_iter().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
        })
    }
}

impl Channels {
    fn new(channels: Vec<(String, Mat)>, answers: &ShownAnswers<'_>, kept: &[u32]) -> Self {
        let shares = kept.iter().map(|&node| {
            let node = node as usize;
            let answer = answers.predicted[node] as usize;
            channels.iter().map(|(_, scores)| raised(scores.row(node), answer)).collect()
        });
        let shares = shares.collect();
        Channels { names: channels.into_iter().map(|(name, _)| name).collect(), shares }
    }
}

/// By how much scores favour a class over the mean of the others, in hundredths: what is added to all alike decides
/// nothing.
fn raised(scores: &[f32], class: usize) -> i64 {
    let Some(&own) = scores.get(class) else { return 0 };
    let others = (scores.iter().sum::<f32>() - own) / (scores.len() - 1).max(1) as f32;
    (100.0 * (own - others)).round() as i64
}

/// The nodes of the page: all, or in a large graph those that are wanted and some that a hash of their number picks.
fn kept(num_nodes: usize, wanted: &[usize]) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..num_nodes as u32).collect();
    if num_nodes > NODES {
        nodes.sort_by_cached_key(|&node| {
            (!wanted.contains(&(node as usize)), derive(0, &[u64::from(node)]), node)
        });
        nodes.truncate(NODES);
        nodes.sort_unstable();
    }
    nodes
}

/// Classes as the model numbers them, which may not be how the data does.
pub fn truth(dataset: &Dataset, classes: &[String]) -> Vec<Option<u32>> {
    let labels = dataset.labels();
    let numbers: Vec<Option<u32>> = labels
        .names()
        .iter()
        .map(|name| classes.iter().position(|class| class == name).map(|number| number as u32))
        .collect();
    (0..dataset.num_nodes()).map(|node| labels.get(node).and_then(|class| numbers[class as usize])).collect()
}

fn parts(num_nodes: usize, split: &Split) -> Vec<usize> {
    let mut parts = vec![0; num_nodes];
    for (name, part) in split.parts() {
        let number = PARTS.iter().position(|known| *known == name).unwrap_or(0);
        part.iter().for_each(|&node| parts[node as usize] = number);
    }
    parts
}

fn likeliest(row: &[f32]) -> Vec<(usize, i64)> {
    let mut chances: Vec<(usize, f32)> = row.iter().copied().enumerate().collect();
    chances.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    chances.truncate(CLASSES);
    chances.into_iter().map(|(class, p)| (class, (1000.0 * p).round() as i64)).collect()
}

/// The heaviest neighbours that are kept, by their places among those.
fn heaviest(graph: &Graph, node: usize, places: &[Option<u32>], count: usize) -> Vec<(u32, i64)> {
    let weights = graph.adjacency().row_range(node).map(|place| graph.weights().map_or(1.0, |w| w[place]));
    let mut found: Vec<(u32, f32)> = graph
        .neighbours(node)
        .iter()
        .zip(weights)
        .filter_map(|(&other, weight)| Some((places[other as usize]?, weight)))
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(count);
    found.into_iter().map(|(other, weight)| (other, (100.0 * weight).round() as i64)).collect()
}

/// The colour of a class: those of the figures, and then around the circle of hues by the golden angle, now lighter, now
/// darker.
fn class_colour(class: usize) -> String {
    COLOURS.get(class).map_or_else(
        || {
            let hue = (class as f64 * 137.508) % 360.0;
            format!("hsl({hue:.0} {} {}%)", ["65%", "45%"][class % 2], [38, 52, 66][class % 3])
        },
        |colour| colour.to_string(),
    )
}

/// Bytes as text (RFC 4648), three to four characters.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * place) & 63) as usize] as char;
            text.push(if place <= three.len() { sign } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_the_text_that_browsers_expect() {
        let found = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(found, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn large_graphs_are_sampled_and_wanted_nodes_stay() {
        let nodes = kept(NODES + 500, &[3, NODES + 499]);
        assert!(nodes.len() == NODES && nodes.contains(&3) && nodes.contains(&(NODES as u32 + 499)));
        assert!(nodes.is_sorted());
        assert_eq!(kept(4, &[]), [0, 1, 2, 3]);
    }

    #[test]
    fn colours_of_classes_do_not_repeat() {
        let colours: std::collections::BTreeSet<String> = (0..100).map(class_colour).collect();
        assert_eq!(colours.len(), 100);
    }

    #[test]
    fn what_a_channel_adds_to_all_classes_decides_nothing() {
        assert_eq!(
            (raised(&[2.0, 2.0, 2.0], 1), raised(&[3.0, 1.0, 1.0], 0), raised(&[1.0], 0)),
            (0, 200, 100)
        );
    }
}
