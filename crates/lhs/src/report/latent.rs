//! Figures of a latent graph: where its weight lies, and how heavy edges within and between classes are.

use super::figures::Figure;
use super::heat::HeatMap;
use super::svg::{Axis, Plot};
use crate::error::Result;
use crate::experiment::table::csv_text;
use crate::graph::{Dataset, Features, Graph};
use crate::linalg::Mat;
use crate::structure::latent_graph::latent_graph;

/// The affinity matrix is drawn with about so many rows and columns.
const BLOCKS: usize = 72;
/// Entries of a dense feature matrix for the neighbours by cosine, at most.
const DENSE: usize = 60_000_000;
/// Bins of the histograms of similarity.
const BINS: usize = 25;

/// All figures of a latent graph, and for comparison one of the graph of nearest features.
pub fn figures(dataset: &Dataset, latent: &Graph) -> Result<Vec<Figure>> {
    let mut figures: Vec<Figure> = affinity(dataset, latent).into_iter().collect();
    figures.push(similarity("Weight of latent edges", dataset, latent));
    let degree = 2 * latent.num_edges() / latent.num_nodes().max(1);
    if let Some(rows) = unit_rows(dataset.features()) {
        let nearest = latent_graph(&rows, 0.0, Some(degree.max(1)))?;
        figures.push(similarity("Cosine of the nearest by features", dataset, &nearest));
    }
    Ok(figures)
}

/// Rows of length 1, where they fit into memory.
fn unit_rows(features: &Features) -> Option<Mat> {
    let (nodes, columns) = (features.num_nodes(), features.dim());
    if columns == 0 || nodes * columns > DENSE {
        return None;
    }
    let mut rows = Mat::zeros(nodes, columns);
    for node in 0..nodes {
        let entries = features.row_nonzeros(node);
        let length = entries.iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
        entries.iter().for_each(|&(column, value)| rows.row_mut(node)[column as usize] = value / length);
    }
    Some(rows)
}

/// Sums of weights between blocks of nodes.
struct BlockSums {
    /// Blocks of each class that has labelled nodes, by its number.
    classes: Vec<(u32, usize)>,
    blocks: usize,
    sums: Vec<f64>,
}

impl BlockSums {
    /// Blocks of nodes sorted by class, of about equal size and of one class each; none without labels.
    fn of(dataset: &Dataset, graph: &Graph) -> Option<Self> {
        let labels = dataset.labels();
        let mut order: Vec<usize> = (0..dataset.num_nodes()).filter(|&n| labels.get(n).is_some()).collect();
        if order.is_empty() {
            return None;
        }
        order.sort_by_key(|&node| labels.get(node));
        let (mut classes, mut blocks) = (Vec::new(), 0);
        let mut block_of = vec![None; dataset.num_nodes()];
        for own in order.chunk_by(|&a, &b| labels.get(a) == labels.get(b)) {
            let count = (own.len() * BLOCKS / order.len()).clamp(1, own.len());
            own.iter()
                .enumerate()
                .for_each(|(place, &node)| block_of[node] = Some(blocks + place * count / own.len()));
            classes.extend(labels.get(own[0]).map(|class| (class, count)));
            blocks += count;
        }
        let mut sums = vec![0f64; blocks * blocks];
        for (a, b, weight) in graph.weighted_edges() {
            if let (Some(a), Some(b)) = (block_of[a as usize], block_of[b as usize]) {
                sums[a * blocks + b] += f64::from(weight);
                sums[b * blocks + a] += f64::from(weight);
            }
        }
        Some(BlockSums { classes, blocks, sums })
    }

    /// Row, column and sum, where there is any weight.
    fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let found = self.sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0);
        found.map(|(place, &sum)| (place / self.blocks, place % self.blocks, sum))
    }
}

/// Where the weight of a graph lies, nodes sorted by class: the squares on the diagonal are the classes.
fn affinity(dataset: &Dataset, graph: &Graph) -> Option<Figure> {
    let weight = BlockSums::of(dataset, graph)?;
    let most = weight.sums.iter().copied().fold(1e-12, f64::max);
    let title = "Latent affinity, nodes sorted by class";
    let names = dataset.labels().names();
    let map = HeatMap {
        x: "nodes of class",
        y: "nodes of class",
        classes: weight.classes.iter().map(|&(class, rows)| (names[class as usize].as_str(), rows)).collect(),
        // Roots make the light fields visible.
        shades: weight.sums.iter().map(|sum| (sum / most).sqrt()).collect(),
        values: weight.sums.clone(),
        scale: "sum of weights",
        marks: [0.0f64, 0.5, 1.0].map(|shade| (shade, format!("{:.1}", most * shade * shade))).to_vec(),
    };
    let rows =
        weight.entries().map(|(row, column, sum)| [row.to_string(), column.to_string(), format!("{sum:.4}")]);
    Some(Figure {
        title: title.into(),
        svg: map.finish(title),
        csv: csv_text(["row", "column", "weight"], rows),
    })
}

/// How heavy the edges within classes and between them are.
fn similarity(title: &str, dataset: &Dataset, graph: &Graph) -> Figure {
    let histograms = weights_by_class(dataset, graph);
    let counts = histograms.each_ref().map(|histogram| histogram.iter().sum::<usize>());
    let shares = histograms
        .iter()
        .zip(counts)
        .flat_map(|(histogram, count)| histogram.iter().map(move |&n| n as f64 / count.max(1) as f64));
    let y = Axis::new("share of the pairs", 0.0, 1.05 * shares.fold(0.0, f64::max));
    let mut plot = Plot::new(Axis::new("similarity of the pair", 0.0, 1.0), y);
    let mut rows = Vec::new();
    for (colour, (name, histogram)) in ["same class", "other class"].iter().zip(&histograms).enumerate() {
        plot.steps(histogram, colour);
        plot.legend(&format!("{name}: {}", counts[colour]), colour);
        rows.extend(histogram.iter().enumerate().map(|(bin, count)| {
            [name.to_string(), format!("{:.3}", bin as f64 / BINS as f64), count.to_string()]
        }));
    }
    let share = 100.0 * counts[0] as f64 / (counts[0] + counts[1]).max(1) as f64;
    let title = format!("{title}: {share:.0} % within a class");
    Figure { svg: plot.finish(&title), title, csv: csv_text(["pairs", "from", "count"], rows) }
}

/// Histograms of the weights over [0, 1]: of edges within a class, and between two.
fn weights_by_class(dataset: &Dataset, graph: &Graph) -> [Vec<usize>; 2] {
    let labels = dataset.labels();
    let mut histograms = [vec![0usize; BINS], vec![0usize; BINS]];
    for (a, b, weight) in graph.weighted_edges() {
        if let (Some(a), Some(b)) = (labels.get(a as usize), labels.get(b as usize)) {
            let bin = ((weight.clamp(0.0, 1.0) * BINS as f32) as usize).min(BINS - 1);
            histograms[usize::from(a != b)][bin] += 1;
        }
    }
    histograms
}
