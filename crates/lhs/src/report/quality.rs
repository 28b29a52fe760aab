//! How good the answers at the test nodes are: who is taken for whom, rankings, trust in probabilities, worst errors.

use super::curves;
use super::figures::Figure;
use super::heat::HeatMap;
use super::svg::{Axis, Plot};
use crate::experiment::table::csv_text;
use crate::graph::Split;
use crate::linalg::Mat;
use crate::metrics::{Confusion, predicted_classes};

/// Errors that the page lists, at most.
const ERRORS: usize = 20;

/// What a model answers, by the numbers that it gives the classes.
pub struct Answers<'a> {
    /// Names of the classes.
    pub classes: &'a [String],
    /// Class probabilities of all nodes.
    pub probabilities: &'a Mat,
    /// The likeliest class of each node.
    pub predicted: Vec<u32>,
    /// The true class of each node, where it is known.
    pub truth: Vec<Option<u32>>,
    /// The parts of the split.
    pub split: &'a Split,
}

impl<'a> Answers<'a> {
    /// From probabilities.
    pub fn new(
        classes: &'a [String],
        probabilities: &'a Mat,
        truth: Vec<Option<u32>>,
        split: &'a Split,
    ) -> Self {
        Answers { classes, probabilities, predicted: predicted_classes(probabilities), truth, split }
    }

    /// Test nodes with their classes.
    fn test(&self) -> impl Iterator<Item = (usize, u32)> {
        self.split.test.iter().filter_map(|&node| Some((node as usize, self.truth[node as usize]?)))
    }

    /// How sure the model is of its answer at a node.
    pub fn confidence(&self, node: usize) -> f64 {
        self.probabilities.row(node).get(self.predicted[node] as usize).map_or(0.0, |p| f64::from(*p))
    }

    /// Who is taken for whom at the test nodes.
    pub fn confusion(&self) -> Confusion {
        Confusion::count(self.classes.len(), self.test().map(|(node, class)| (class, self.predicted[node])))
    }

    /// The most frequent class of the training nodes; of equals, the first.
    pub fn majority(&self) -> Option<usize> {
        let mut sizes = vec![0usize; self.classes.len()];
        let known = self.split.train.iter().filter_map(|&node| self.truth[node as usize]);
        known.for_each(|class| sizes[class as usize] += 1);
        (0..sizes.len()).rev().max_by_key(|&class| sizes[class]).filter(|&class| sizes[class] > 0)
    }

    /// Wrong answers at test nodes, those first that the model is surest of.
    pub fn worst_errors(&self) -> Vec<usize> {
        let mut wrong: Vec<usize> = self
            .test()
            .filter(|&(node, class)| self.predicted[node] != class)
            .map(|(node, _)| node)
            .collect();
        wrong.sort_by(|&a, &b| self.confidence(b).total_cmp(&self.confidence(a)).then(a.cmp(&b)));
        wrong.truncate(ERRORS);
        wrong
    }

    /// All figures; none without labelled test nodes.
    pub fn figures(&self) -> Vec<Figure> {
        if self.test().next().is_none() {
            return Vec::new();
        }
        let mut figures = vec![self.confusion_map()];
        figures.extend(self.rankings());
        figures.push(self.reliability());
        figures
    }

    fn confusion_map(&self) -> Figure {
        let (confusion, count) = (self.confusion(), self.classes.len());
        let places = || (0..count).flat_map(|row| (0..count).map(move |column| (row, column)));
        let rows: Vec<usize> =
            (0..count).map(|row| (0..count).map(|c| confusion.get(row, c)).sum()).collect();
        let share = |(row, column)| confusion.get(row, column) as f64 / rows[row].max(1) as f64;
        let title = "Who is taken for whom, at the test nodes";
        let map = HeatMap {
            x: "predicted class",
            y: "true class",
            classes: self.classes.iter().map(|name| (name.as_str(), 1)).collect(),
            values: places().map(|(row, column)| confusion.get(row, column) as f64).collect(),
            shades: places().map(share).collect(),
            scale: "share of the true class",
            marks: [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0} %", 100.0 * share))).to_vec(),
        };
        let name = |class: usize| self.classes[class].clone();
        let numbers =
            places().map(|(row, column)| [name(row), name(column), confusion.get(row, column).to_string()]);
        Figure {
            title: title.into(),
            svg: map.finish(title),
            csv: csv_text(["true", "predicted", "nodes"], numbers),
        }
    }

    /// Classes to tell from the rest: of two the rarer one, of more all.
    fn asked(&self) -> Vec<usize> {
        let known = || self.truth.iter().flatten();
        let size = |class: usize| known().filter(|own| **own as usize == class).count();
        match self.classes.len() {
            2 => vec![usize::from(size(1) <= size(0))],
            count => (0..count).collect(),
        }
    }

    /// ROC and precision–recall curves.
    fn rankings(&self) -> Vec<Figure> {
        let curves: Vec<Ranked> = self.asked().into_iter().filter_map(|class| self.ranked(class)).collect();
        if curves.is_empty() {
            return Vec::new();
        }
        let rest = match curves.as_slice() {
            [one] if self.classes.len() == 2 => {
                format!("{} against {}", one.name, self.classes[1 - one.class])
            }
            _ => "each class against the rest".into(),
        };
        let roc = ranking(
            &format!("ROC: {rest}"),
            ["false positive rate", "true positive rate"],
            curves.iter().map(|c| (c.name, format!("{}: area {:.3}", c.name, curves::area(&c.roc)), &c.roc)),
            Some(((0.0, 0.0), (1.0, 1.0))),
        );
        let precision = ranking(
            &format!("Precision and recall: {rest}"),
            ["recall", "precision"],
            curves.iter().map(|c| {
                let said =
                    format!("{}: average {:.3}", c.name, curves::average_precision(&c.precision_recall));
                (c.name, said, &c.precision_recall)
            }),
            None,
        );
        vec![roc, precision]
    }

    fn ranked(&self, class: usize) -> Option<Ranked<'_>> {
        let (scores, truth): (Vec<f64>, Vec<bool>) = self
            .test()
            .map(|(node, own)| (f64::from(self.probabilities.row(node)[class]), own as usize == class))
            .unzip();
        let roc = curves::roc(&scores, &truth);
        let precision_recall = curves::precision_recall(&scores, &truth);
        (!roc.is_empty()).then(|| Ranked { class, name: &self.classes[class], roc, precision_recall })
    }

    /// How often the model is right where it says that it is so sure.
    fn reliability(&self) -> Figure {
        let (sure, right): (Vec<f64>, Vec<bool>) =
            self.test().map(|(node, class)| (self.confidence(node), self.predicted[node] == class)).unzip();
        let bins = curves::reliability(&sure, &right);
        let off: f64 = bins.iter().map(|(sure, right, all)| (sure - right).abs() * *all as f64).sum();
        let mut plot = Plot::new(
            Axis::new("probability that the model gives its answer", 0.0, 1.0),
            Axis::new("share of right answers", 0.0, 1.0),
        );
        plot.guide((0.0, 0.0), (1.0, 1.0));
        plot.line(&bins.iter().map(|bin| (bin.0, bin.1)).collect::<Vec<_>>(), 0);
        let title =
            format!("Calibration: off by {:.1} points on average", 100.0 * off / sure.len().max(1) as f64);
        let rows = bins
            .iter()
            .map(|(sure, right, all)| [format!("{sure:.4}"), format!("{right:.4}"), all.to_string()]);
        Figure { svg: plot.finish(&title), title, csv: csv_text(["probability", "right", "nodes"], rows) }
    }
}

/// The curves of a class against the rest.
struct Ranked<'a> {
    class: usize,
    name: &'a str,
    roc: Vec<(f64, f64)>,
    precision_recall: Vec<(f64, f64)>,
}

/// A figure of curves over [0, 1], each with its class and its name in the legend.
fn ranking<'a>(
    title: &str,
    axes: [&str; 2],
    curves: impl Iterator<Item = (&'a str, String, &'a Vec<(f64, f64)>)>,
    guide: Option<((f64, f64), (f64, f64))>,
) -> Figure {
    let [x, y] = axes.map(|label| Axis::new(label, 0.0, 1.0));
    let mut plot = Plot::new(x, y);
    guide.into_iter().for_each(|(from, to)| plot.guide(from, to));
    let mut rows = Vec::new();
    for (series, (class, name, points)) in curves.enumerate() {
        plot.line(&curves::thinned(points), series);
        plot.legend(&name, series);
        rows.extend(points.iter().map(|(x, y)| [class.to_string(), format!("{x:.5}"), format!("{y:.5}")]));
    }
    let csv = csv_text(["class", axes[0], axes[1]], rows);
    Figure { title: title.into(), svg: plot.finish(title), csv }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_mistakes_come_first_and_only_test_nodes_count() {
        let classes = ["<a>".to_string(), "b".to_string()];
        let probabilities = Mat::from_slice(5, 2, &[0.9, 0.1, 0.6, 0.4, 0.2, 0.8, 0.7, 0.3, 0.4, 0.6]);
        let split = Split { train: vec![4], val: vec![], test: vec![0, 1, 2, 3] };
        let truth = vec![Some(1), Some(1), Some(1), None, Some(1)];
        let answers = Answers::new(&classes, &probabilities, truth, &split);
        assert_eq!(answers.worst_errors(), [0, 1]);
        assert_eq!((answers.majority(), answers.confusion().total()), (Some(1), 3));
        let figures = answers.figures();
        assert_eq!(figures.len(), 2, "no ranking of one kind alone");
        assert!(figures.iter().all(|figure| !figure.svg.clone().into_string().contains("<a>")));
    }
}
