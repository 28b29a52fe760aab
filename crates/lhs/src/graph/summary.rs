//! What one wants to know of a graph before training on it.

use std::fmt;

use serde::Serialize;

use super::components::Components;
use super::content::content_sha256;
use super::{Dataset, Features, Graph, Origin, heterophily};

/// Bins of the heterophily histogram.
const BINS: usize = 10;
/// Classes that are listed one by one in the text; the rest is counted.
const LISTED: usize = 12;

/// A dataset at a glance: printed as text for people, serialised for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How the data is called.
    pub name: String,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges, each undirected pair counted once.
    pub edges: usize,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Edges per node.
    pub degree: DegreeSummary,
    /// Nodes without any edge.
    pub isolated_nodes: usize,
    /// Connected components, direction ignored; an isolated node is one.
    pub components: usize,
    /// Nodes in the largest component.
    pub largest_component: usize,
    /// The features.
    pub features: FeatureSummary,
    /// Classes with their sizes.
    pub classes: Vec<ClassSummary>,
    /// Nodes of unknown class.
    pub unlabelled: usize,
    /// Share of the edges that join two nodes of one class.
    pub edge_homophily: Option<f32>,
    /// Mean over the nodes of the share of their edges that stay within their class.
    pub node_homophily: Option<f32>,
    /// Nodes by their heterophily H, in ten equal bins over 0..=1.
    pub heterophily_histogram: Vec<usize>,
    /// Nodes that the graph cannot tell apart.
    pub duplicates: DuplicateSummary,
    /// Nodes per part of each split.
    pub splits: Vec<SplitSummary>,
    /// SHA-256 of graph, features and classes: what settings are found for.
    pub content_sha256: String,
    /// What it is a copy of, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What was repaired or looks odd.
    pub warnings: Vec<String>,
}

/// Edges per node; in a directed graph those that leave and those that arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DegreeSummary {
    /// Fewest.
    pub min: usize,
    /// The middle one; the lower of two.
    pub median: usize,
    /// Average.
    pub mean: f64,
    /// Most.
    pub max: usize,
}

/// Feature columns and how full they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FeatureSummary {
    /// Number of columns.
    pub columns: usize,
    /// Share of the entries that are not 0.
    pub density: f64,
    /// Whether only the non-zeros are kept in memory.
    pub sparse: bool,
    /// Nodes whose features are all 0.
    pub empty_nodes: usize,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassSummary {
    /// Its name.
    pub name: String,
    /// Nodes in it.
    pub nodes: usize,
}

/// Groups of nodes with the same neighbours (at least one). If one of a group is trained on and another
/// is tested, the test measures memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DuplicateSummary {
    /// Number of groups.
    pub groups: usize,
    /// Nodes in them.
    pub nodes: usize,
    /// Those of them that share their features as well with another node of their group.
    pub nodes_with_equal_features: usize,
}

/// Sizes of the parts of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SplitSummary {
    /// Training nodes.
    pub train: usize,
    /// Validation nodes.
    pub val: usize,
    /// Test nodes.
    pub test: usize,
}

impl Summary {
    /// Looks at everything once; the cost is linear in nodes, edges and features, but for sorting the nodes.
    pub fn of(dataset: &Dataset) -> Self {
        let (graph, labels) = (dataset.graph(), dataset.labels());
        let degrees = degrees(graph);
        let components = Components::of(graph).sizes;
        let heterophily = heterophily::node_heterophily(graph, labels);
        let sizes = labels.class_sizes();
        let classes = labels.names().iter().zip(sizes);
        let splits = dataset.splits().iter();
        Summary {
            name: dataset.name().to_string(),
            nodes: graph.num_nodes(),
            edges: graph.num_edges(),
            directed: graph.is_directed(),
            weighted: graph.weights().is_some(),
            isolated_nodes: degrees.iter().filter(|&&degree| degree == 0).count(),
            degree: degree_summary(degrees),
            components: components.len(),
            largest_component: components.into_iter().max().unwrap_or(0),
            features: feature_summary(dataset.features()),
            classes: classes.map(|(name, nodes)| ClassSummary { name: name.clone(), nodes }).collect(),
            unlabelled: labels.num_unknown(),
            edge_homophily: heterophily::edge_homophily(graph, labels),
            node_homophily: heterophily::node_homophily(graph, labels),
            heterophily_histogram: heterophily::histogram(&heterophily, BINS),
            duplicates: duplicates(graph, dataset.features()),
            splits: splits
                .map(|s| SplitSummary { train: s.train.len(), val: s.val.len(), test: s.test.len() })
                .collect(),
            content_sha256: content_sha256(dataset),
            origin: dataset.origin().cloned(),
            warnings: dataset.warnings().to_vec(),
        }
    }
}

fn degrees(graph: &Graph) -> Vec<u32> {
    let mut degrees: Vec<u32> = (0..graph.num_nodes()).map(|node| graph.degree(node) as u32).collect();
    if graph.is_directed() {
        for (_, target) in graph.edges() {
            degrees[target as usize] += 1;
        }
    }
    degrees
}

fn degree_summary(mut degrees: Vec<u32>) -> DegreeSummary {
    if degrees.is_empty() {
        return DegreeSummary::default();
    }
    let sum: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    let mean = sum as f64 / degrees.len() as f64;
    degrees.sort_unstable();
    let at = |place: usize| degrees[place] as usize;
    DegreeSummary { min: at(0), median: at((degrees.len() - 1) / 2), mean, max: at(degrees.len() - 1) }
}

fn feature_summary(features: &Features) -> FeatureSummary {
    let entries = features.num_nodes() * features.dim();
    let empty = match features {
        _ if features.dim() == 0 => 0,
        Features::Dense(mat) => (0..mat.rows()).filter(|&n| mat.row(n).iter().all(|v| *v == 0.0)).count(),
        Features::Sparse(mat) => (0..mat.rows()).filter(|&n| mat.row(n).all(|(_, v)| v == 0.0)).count(),
    };
    FeatureSummary {
        columns: features.dim(),
        density: if entries == 0 { 0.0 } else { features.nonzeros() as f64 / entries as f64 },
        sparse: matches!(features, Features::Sparse(_)),
        empty_nodes: empty,
    }
}

fn duplicates(graph: &Graph, features: &Features) -> DuplicateSummary {
    let connected = (0..graph.num_nodes() as u32).filter(|&node| graph.degree(node as usize) > 0).collect();
    let row = |node: u32| graph.neighbours(node as usize);
    let groups = equals(connected, |node| hash(row(node).iter().copied()), |a, b| row(a) == row(b));
    let mut summary = DuplicateSummary { groups: groups.len(), ..Default::default() };
    for group in groups {
        summary.nodes += group.len();
        if features.dim() > 0 {
            let row = |node: u32| features.row_nonzeros(node as usize);
            let bits =
                |node: u32| row(node).into_iter().flat_map(|(column, value)| [column, value.to_bits()]);
            let twins = equals(group, |node| hash(bits(node)), |a, b| row(a) == row(b));
            summary.nodes_with_equal_features += twins.iter().map(Vec::len).sum::<usize>();
        }
    }
    summary
}

/// Groups of at least two equal nodes. Only nodes of the same hash are compared, each with the first.
fn equals(nodes: Vec<u32>, hash: impl Fn(u32) -> u64, equal: impl Fn(u32, u32) -> bool) -> Vec<Vec<u32>> {
    let mut hashed: Vec<(u64, u32)> = nodes.into_iter().map(|node| (hash(node), node)).collect();
    hashed.sort_unstable();
    let mut groups = Vec::new();
    for run in hashed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        let mut rest: Vec<u32> = run.iter().map(|&(_, node)| node).collect();
        while let Some(&first) = rest.first() {
            let (group, others): (Vec<u32>, Vec<u32>) =
                rest.into_iter().partition(|&node| equal(first, node));
            rest = others;
            if group.len() > 1 {
                groups.push(group);
            }
        }
    }
    groups
}

/// A fast hash for lists of numbers: equality is checked afterwards.
fn hash(words: impl Iterator<Item = u32>) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    words.fold(ODD, |hash, word| (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(ODD))
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        self.write_graph(f)?;
        self.write_features(f)?;
        self.write_classes(f)?;
        self.write_splits(f)?;
        self.write_heterophily(f)
    }
}

impl Summary {
    fn write_graph(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.directed { "directed" } else { "undirected" };
        let weights = if self.weighted { ", weighted" } else { "" };
        line(f, "nodes", grouped(self.nodes))?;
        line(f, "edges", format!("{} ({direction}{weights})", grouped(self.edges)))?;
        let DegreeSummary { min, median, mean, max } = self.degree;
        line(f, "degree", format!("min {min}, median {median}, mean {mean:.1}, max {}", grouped(max)))?;
        line(
            f,
            "components",
            format!(
                "{}, the largest has {} nodes ({})",
                grouped(self.components),
                grouped(self.largest_component),
                percent(self.largest_component, self.nodes)
            ),
        )?;
        line(f, "isolated", counted(self.isolated_nodes, "node"))?;
        let DuplicateSummary { groups, nodes, nodes_with_equal_features } = self.duplicates;
        let mut duplicates = format!(
            "{} ({}) in {}",
            counted(nodes, "node"),
            percent(nodes, self.nodes),
            counted(groups, "group")
        );
        duplicates.push_str(" with the same neighbours");
        if self.features.columns > 0 {
            duplicates
                .push_str(&format!("; {} share their features too", grouped(nodes_with_equal_features)));
        }
        line(f, "duplicates", duplicates)
    }

    fn write_features(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FeatureSummary { columns, density, sparse, empty_nodes } = self.features;
        if columns == 0 {
            return line(f, "features", "none");
        }
        let form = if sparse { "sparse" } else { "dense" };
        let empty = match empty_nodes {
            0 => String::new(),
            some => format!(", all 0 at {}", counted(some, "node")),
        };
        line(
            f,
            "features",
            format!("{}, {:.2} % non-zero ({form}){empty}", counted(columns, "column"), 100.0 * density),
        )
    }

    fn write_classes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.classes.is_empty() {
            return line(f, "classes", "none: no node has a label");
        }
        line(f, "classes", grouped(self.classes.len()))?;
        let width = self.classes.iter().take(LISTED).map(|c| c.name.chars().count()).max().unwrap_or(0);
        let most = self.classes.iter().map(|class| class.nodes).max().unwrap_or(0);
        for class in self.classes.iter().take(LISTED) {
            writeln!(f, "    {:width$}  {}", class.name, bar(class.nodes, most, self.nodes))?;
        }
        if self.classes.len() > LISTED {
            writeln!(f, "    … and {} more", grouped(self.classes.len() - LISTED))?;
        }
        if self.unlabelled > 0 {
            let share = percent(self.unlabelled, self.nodes);
            line(f, "unlabelled", format!("{} ({share})", counted(self.unlabelled, "node")))?;
        }
        Ok(())
    }

    fn write_splits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.splits.first() else {
            return line(f, "splits", "none; a random one can be drawn, such as random:0.6,0.2,0.2");
        };
        let alike = self.splits.iter().all(|split| split == first);
        let how_many = match self.splits.len() {
            1 => "1".to_string(),
            many if alike => format!("{many}, each"),
            many => format!("{many}, the first"),
        };
        let SplitSummary { train, val, test } = *first;
        let shares = [train, val, test].map(|part| percent(part, self.nodes)).join(" / ");
        let [train, val, test] = [train, val, test].map(grouped);
        line(f, "splits", format!("{how_many} {train} train, {val} val, {test} test ({shares})"))
    }

    fn write_heterophily(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(edge), Some(node)) = (self.edge_homophily, self.node_homophily) else { return Ok(()) };
        line(f, "homophily", format!("edges {edge:.3}, nodes {node:.3} (1 = neighbours share the class)"))?;
        let total: usize = self.heterophily_histogram.iter().sum();
        let most = self.heterophily_histogram.iter().copied().max().unwrap_or(0);
        line(
            f,
            "heterophily",
            format!("share of a node's edges to other classes, {}", counted(total, "node")),
        )?;
        for (bin, &count) in self.heterophily_histogram.iter().enumerate() {
            let from = bin as f64 / BINS as f64;
            writeln!(f, "    {from:.1}–{:.1}  {}", from + 1.0 / BINS as f64, bar(count, most, total))?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, what: &str, text: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {what:<12} {text}")
}

/// A bar of at most 30 signs, with the count and its share; whatever is there shows.
fn bar(count: usize, most: usize, total: usize) -> String {
    let length = if count == 0 { 0 } else { (30 * count).div_ceil(most) };
    format!("{:<30}  {} ({})", "█".repeat(length), grouped(count), percent(count, total))
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn counted(count: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A number with its thousands set apart: 1,234,567.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{DatasetParts, Labels, Split};
    use super::*;
    use crate::linalg::Mat;

    /// Two triangles' worth of twins: 0 and 1 hang on 2 alike, 3 stands alone.
    fn dataset(directed: bool) -> Dataset {
        let (graph, repairs) = Graph::build(5, &[(0, 2), (1, 2), (2, 4)], None, directed).unwrap();
        Dataset::new(DatasetParts {
            name: "toy".into(),
            graph,
            repairs,
            features: Features::Dense(Mat::from_slice(
                5,
                2,
                &[1.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 3.0, 1.0],
            )),
            labels: Labels::from_numbers(&[0, 0, 1, -1, 1]).unwrap(),
            node_ids: None,
            splits: vec![Split { train: vec![0, 2], val: vec![1], test: vec![4] }],
            details: Default::default(),
        })
        .unwrap()
    }

    #[test]
    fn a_small_graph_is_summed_up() {
        let summary = Summary::of(&dataset(false));
        assert_eq!((summary.nodes, summary.edges, summary.isolated_nodes), (5, 3, 1));
        assert_eq!(summary.degree, DegreeSummary { min: 0, median: 1, mean: 1.2, max: 3 });
        assert_eq!((summary.components, summary.largest_component), (2, 4));
        assert_eq!((summary.features.density, summary.features.empty_nodes), (0.6, 1));
        assert_eq!(summary.edge_homophily, Some(1.0 / 3.0));
        // 0, 1 and 4 all hang on 2 and nothing else; 4 has features of its own.
        let duplicates = DuplicateSummary { groups: 1, nodes: 3, nodes_with_equal_features: 2 };
        assert_eq!(summary.duplicates, duplicates);
        assert_eq!(summary.unlabelled, 1);
    }

    #[test]
    fn in_a_directed_graph_arriving_edges_count() {
        let summary = Summary::of(&dataset(true));
        assert_eq!(summary.degree, DegreeSummary { min: 0, median: 1, mean: 1.2, max: 3 });
        assert_eq!((summary.isolated_nodes, summary.duplicates.nodes), (1, 2));
    }

    #[test]
    fn the_text_holds_what_matters() {
        let text = Summary::of(&dataset(false)).to_string();
        for part in ["nodes        5", "3 (undirected)", "1 2 train, 1 val, 1 test", "edges 0.333", "0.9–1.0"]
        {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert_eq!(grouped(1234567), "1,234,567");
    }

    #[test]
    fn equal_hashes_do_not_make_equals() {
        let groups = equals(vec![1, 2, 3, 4, 5], |_| 7, |a, b| a % 2 == b % 2);
        assert_eq!(groups, [vec![1, 3, 5], vec![2, 4]]);
    }
}
