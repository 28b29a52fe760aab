//! A training run, looked at: its splits, its latent graph, and a node's neighbourhood in both graphs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::figures::{self, Figure};
use super::svg::{Axis, COLOURS, Plot, escaped};
use crate::error::Result;
use crate::eval::experiment::SplitResult;
use crate::eval::metrics;
use crate::graph::heterophily::node_heterophily;
use crate::graph::{Dataset, Features, Graph, Split};
use crate::linalg::Mat;
use crate::models::NodeClassifier;
use crate::structure::Structure;
use crate::structure::latent_graph::latent_graph;
use crate::training::EpochRecord;

/// Neighbours of a node that the page keeps, at most.
const NEIGHBOURS: usize = 48;
/// Nodes that the page keeps, at most: beyond, it would take long to open.
const NODES: usize = 20_000;
/// The affinity matrix is drawn with so many rows and columns.
const BLOCKS: usize = 80;
/// Entries of a dense feature matrix for the neighbours by cosine, at most.
const DENSE: usize = 60_000_000;
/// Bins of the histograms of similarity.
const BINS: usize = 25;

/// What a page shows of a run.
pub struct RunView {
    /// Name of the data.
    pub dataset: String,
    /// Name of the model.
    pub model: String,
    /// The split that is looked at closely.
    pub split: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// What the model decided.
    pub remarks: Vec<String>,
    /// Scores of all splits.
    pub results: Vec<SplitResult>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// What the explorer needs; only of models that learn a structure.
    pub explorer: Option<Value>,
}

/// What a view is made from.
pub struct Looked<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// The split that is looked at closely, and its number.
    pub split: (&'a Split, usize),
    /// The model that was trained on it.
    pub model: &'a dyn NodeClassifier,
    /// Its name.
    pub name: &'a str,
    /// Names of its classes.
    pub classes: &'a [String],
    /// Its training curve.
    pub curve: &'a [EpochRecord],
    /// Scores of all splits.
    pub results: Vec<SplitResult>,
}

impl RunView {
    /// Looks at a run.
    pub fn new(looked: Looked<'_>) -> Result<Self> {
        let (dataset, model) = (looked.dataset, looked.model);
        let structure = model.structure(dataset.graph(), dataset.features())?;
        let mut figures: Vec<Figure> =
            figures::curve("While training", &[(looked.name.to_string(), looked.curve)])
                .into_iter()
                .collect();
        let mut explorer = None;
        if let Some(structure) = &structure {
            let latent = structure.latent();
            figures.extend(affinity(dataset, latent));
            figures.push(similarity("Weight of latent edges", dataset, latent));
            let degree = 2 * latent.num_edges() / latent.num_nodes().max(1);
            if let Some(rows) = unit_rows(dataset.features()) {
                let nearest = latent_graph(&rows, 0.0, Some(degree.max(1)))?;
                figures.push(similarity("Cosine of the nearest by features", dataset, &nearest));
            }
            if dataset.num_nodes() <= NODES {
                explorer = Some(self::explorer(&looked, structure)?);
            }
        }
        Ok(RunView {
            dataset: dataset.name().into(),
            model: looked.name.into(),
            split: looked.split.1,
            classes: looked.classes.to_vec(),
            remarks: model.diagnostics(),
            results: looked.results,
            figures,
            explorer,
        })
    }

    /// What it is called.
    pub fn title(&self) -> String {
        format!("{} on {}, split {}", self.model, self.dataset, self.split)
    }

    /// The scores of all splits as a table.
    pub fn splits_html(&self) -> String {
        let mut html = "<div class=\"scroll\"><table><thead><tr><th>split".to_string();
        for head in ["train", "validation", "test", "macro-F1", "epochs", "seconds"] {
            let _ = write!(html, "<th class=\"number\">{head}");
        }
        html.push_str("<tbody>");
        for result in &self.results {
            let scores = &result.scores;
            let _ = write!(html, "<tr><td>{}", result.split);
            let values =
                [scores.train_accuracy, scores.val_accuracy, scores.test_accuracy, scores.test_macro_f1];
            values.iter().for_each(|value| {
                let _ = write!(html, "<td class=\"number\">{value:.2}");
            });
            let _ = write!(
                html,
                "<td class=\"number\">{}<td class=\"number\">{:.1}",
                result.epochs, result.seconds
            );
        }
        let test: Vec<f64> = self.results.iter().map(|result| result.scores.test_accuracy).collect();
        let mean = format!("{:.2} ± {:.2}", metrics::mean(&test), metrics::std(&test));
        let _ = write!(html, "<tr><th>mean<td><td><td class=\"number\"><b>{}</b>", escaped(&mean));
        html + "</table></div>"
    }
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

/// Where the weight of a graph lies, nodes sorted by class: the blocks on the diagonal are the classes.
fn affinity(dataset: &Dataset, graph: &Graph) -> Option<Figure> {
    let labels = dataset.labels();
    let mut order: Vec<usize> = (0..dataset.num_nodes()).filter(|&n| labels.get(n).is_some()).collect();
    order.sort_by_key(|&node| labels.get(node));
    if order.is_empty() {
        return None;
    }
    let blocks = BLOCKS.min(order.len());
    let mut block_of = vec![None; dataset.num_nodes()];
    order.iter().enumerate().for_each(|(place, &node)| block_of[node] = Some(place * blocks / order.len()));
    let mut sums = vec![0f64; blocks * blocks];
    for (a, b, weight) in graph.weighted_edges() {
        if let (Some(a), Some(b)) = (block_of[a as usize], block_of[b as usize]) {
            sums[a * blocks + b] += f64::from(weight);
            sums[b * blocks + a] += f64::from(weight);
        }
    }
    let most = sums.iter().copied().fold(1e-12, f64::max);
    let side = 320.0 / blocks as f64;
    let title = "Latent affinity, nodes sorted by class";
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 330 330\" role=\"img\" fill=\"{}\"><title>{title}</title>",
        COLOURS[0]
    );
    let mut csv = "row,column,weight\n".to_string();
    for (place, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
        let (row, column) = (place / blocks, place % blocks);
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" fill-opacity=\"{:.2}\"/>",
            5.0 + column as f64 * side,
            5.0 + row as f64 * side,
            (sum / most).sqrt().max(0.03)
        );
        let _ = writeln!(csv, "{row},{column},{sum:.4}");
    }
    svg.push_str(
        "<path d=\"M5 5H325V325H5Z\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.5\"/></svg>",
    );
    Some(Figure { title: title.into(), svg, csv })
}

/// How heavy the edges within classes and between them are.
fn similarity(title: &str, dataset: &Dataset, graph: &Graph) -> Figure {
    let labels = dataset.labels();
    let mut histograms = [vec![0usize; BINS], vec![0usize; BINS]];
    for (a, b, weight) in graph.weighted_edges() {
        if let (Some(a), Some(b)) = (labels.get(a as usize), labels.get(b as usize)) {
            let bin = ((weight.clamp(0.0, 1.0) * BINS as f32) as usize).min(BINS - 1);
            histograms[usize::from(a != b)][bin] += 1;
        }
    }
    let counts = histograms.each_ref().map(|histogram| histogram.iter().sum::<usize>());
    let highest = histograms
        .iter()
        .zip(counts)
        .flat_map(|(histogram, count)| histogram.iter().map(move |&n| n as f64 / count.max(1) as f64))
        .fold(0.0, f64::max);
    let mut plot =
        Plot::new(Axis::new("similarity", 0.0, 1.0), Axis::new("share of the pairs", 0.0, 1.05 * highest));
    let mut csv = "pairs,from,count\n".to_string();
    for (colour, (name, histogram)) in ["same class", "other class"].iter().zip(&histograms).enumerate() {
        plot.steps(histogram, colour);
        plot.legend(&format!("{name}: {}", counts[colour]), colour);
        for (bin, count) in histogram.iter().enumerate() {
            let _ = writeln!(csv, "{name},{:.3},{count}", bin as f64 / BINS as f64);
        }
    }
    let share = 100.0 * counts[0] as f64 / (counts[0] + counts[1]).max(1) as f64;
    let title = format!("{title}: {share:.0} % within a class");
    Figure { svg: plot.finish(&title), title, csv }
}

/// What the page's script needs to show a node.
fn explorer(looked: &Looked<'_>, structure: &Structure) -> Result<Value> {
    let (dataset, latent) = (looked.dataset, structure.latent());
    let graph = dataset.graph();
    let probabilities = looked.model.predict(graph, dataset.features())?;
    let nodes = 0..dataset.num_nodes();
    let mut parts = vec!["in no part"; dataset.num_nodes()];
    for (name, part) in looked.split.0.parts() {
        part.iter().for_each(|&node| parts[node as usize] = name);
    }
    // Classes as the model numbers them, which may not be how the data does.
    let names = dataset.labels().names();
    let number = |class: u32| looked.classes.iter().position(|name| *name == names[class as usize]);
    let truth = |node: usize| dataset.labels().get(node).and_then(number).map_or(-1, |class| class as i64);
    let permille = |row: &[f32]| row.iter().map(|p| (1000.0 * p).round() as i64).collect::<Vec<_>>();
    let shown = |values: Vec<Option<f32>>| {
        values.into_iter().map(|h| h.map(|h| (f64::from(h) * 1000.0).round() / 1000.0)).collect::<Vec<_>>()
    };
    let given = |node: usize| graph.neighbours(node).iter().take(NEIGHBOURS).copied().collect::<Vec<u32>>();
    let heaviest = |node: usize| {
        let weights =
            latent.adjacency().row_range(node).map(|place| latent.weights().map_or(1.0, |w| w[place]));
        let mut found: Vec<(u32, f32)> = latent.neighbours(node).iter().copied().zip(weights).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.truncate(NEIGHBOURS);
        found.into_iter().map(|(other, w)| (other, (100.0 * w).round() as i64)).collect::<Vec<_>>()
    };
    Ok(json!({
        "classes": looked.classes,
        "ids": nodes.clone().map(|node| dataset.node_id(node)).collect::<Vec<_>>(),
        "truth": nodes.clone().map(truth).collect::<Vec<_>>(),
        "parts": parts,
        "probabilities": nodes.clone().map(|node| permille(probabilities.row(node))).collect::<Vec<_>>(),
        "given": nodes.clone().map(given).collect::<Vec<_>>(),
        "degrees": nodes.clone().map(|node| graph.degree(node)).collect::<Vec<_>>(),
        "latent": nodes.clone().map(heaviest).collect::<Vec<_>>(),
        "latent_degrees": nodes.map(|node| latent.degree(node)).collect::<Vec<_>>(),
        "given_h": shown(node_heterophily(graph, dataset.labels())),
        "latent_h": shown(node_heterophily(latent, dataset.labels())),
    }))
}
