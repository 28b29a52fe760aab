//! How good the answers at the test nodes are: who is taken for whom, rankings, trust in probabilities, worst errors.

use super::figures::Figure;
use super::heat::HeatMap;
use super::svg::{Axis, Plot};
use crate::experiment::table::csv_text;
use crate::graph::Split;
use crate::linalg::Mat;
use crate::metrics::ranking::{self, Scored};
use crate::metrics::{Confusion, calibration, predicted_classes};

/// A ranking is drawn with so many points at most.
const DRAWN: usize = 150;
/// Errors that the page lists, at most.
const ERRORS: usize = 20;

/// What a model answers, by the numbers that it gives the classes.
pub struct ShownAnswers<'a> {
    /// Names of the classes.
    pub classes: &'a [String],
    /// Class probabilities of all nodes.
    pub probabilities: &'a Mat,
    /// The class that each node is taken for.
    pub predicted: Vec<u32>,
    /// The class that is looked for, if there is one.
    positive: Option<u32>,
    /// The true class of each node, where it is known.
    pub truth: Vec<Option<u32>>,
    /// The parts of the split.
    pub split: &'a Split,
}

impl<'a> ShownAnswers<'a> {
    /// From probabilities; the likeliest class counts.
    pub fn new(
        classes: &'a [String],
        probabilities: &'a Mat,
        truth: Vec<Option<u32>>,
        split: &'a Split,
    ) -> Self {
        let predicted = predicted_classes(probabilities);
        ShownAnswers { classes, probabilities, predicted, positive: None, truth, split }
    }

    /// The same about a class that is looked for; of two, a node is taken for it from a probability on.
    pub fn decided(mut self, positive: Option<u32>, threshold: Option<f64>) -> Self {
        self.positive = positive;
        if let (Some(positive), Some(threshold), 2) = (positive, threshold, self.classes.len()) {
            let decide = |node: usize| {
                let found = f64::from(self.probabilities.row(node)[positive as usize]) >= threshold;
                if found { positive } else { 1 - positive }
            };
            self.predicted = (0..self.probabilities.rows()).map(decide).collect();
        }
        self
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

    /// Classes to tell from the rest: the one that is looked for, or all.
    fn asked(&self) -> Vec<usize> {
        match (self.positive, self.classes.len()) {
            (Some(class), _) => vec![class as usize],
            (None, 2) => vec![1],
            (None, count) => (0..count).collect(),
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
            curves.iter().map(|c| (c.name, format!("{}: area {:.3}", c.name, c.roc_auc), &c.roc)),
            Some(((0.0, 0.0), (1.0, 1.0))),
        );
        let precision = ranking(
            &format!("Precision and recall: {rest}"),
            ["recall", "precision"],
            curves.iter().map(|c| {
                let said = format!("{}: average {:.3}", c.name, c.average_precision);
                (c.name, said, &c.precision_recall)
            }),
            None,
        );
        vec![roc, precision]
    }

    fn ranked(&self, class: usize) -> Option<Ranked<'_>> {
        let scored: Vec<Scored> = self
            .test()
            .map(|(node, own)| (self.probabilities.row(node)[class], own as usize == class))
            .collect();
        let roc = ranking::roc_curve(&scored).into_iter();
        let precision_recall = ranking::precision_recall_curve(&scored).into_iter();
        Some(Ranked {
            class,
            name: &self.classes[class],
            roc_auc: ranking::roc_auc(&scored)?,
            average_precision: ranking::average_precision(&scored)?,
            roc: roc.map(|point| (point.false_positive_rate, point.true_positive_rate)).collect(),
            precision_recall: precision_recall.map(|point| (point.recall, point.precision)).collect(),
        })
    }

    /// How often the model is right where it says that it is so sure.
    fn reliability(&self) -> Figure {
        let sure = |node: usize| self.probabilities.row(node).iter().copied().fold(0.0, f32::max);
        let likeliest = predicted_classes(self.probabilities);
        let answers = self.test().map(|(node, class)| (sure(node), likeliest[node] == class));
        let bins = calibration::bins(answers);
        let off = calibration::expected_error(&bins).unwrap_or(0.0);
        let bins: Vec<calibration::Bin> = bins.into_iter().filter(|bin| bin.count > 0).collect();
        let mut plot = Plot::new(
            Axis::new("probability that the model gives its answer", 0.0, 1.0),
            Axis::new("share of right answers", 0.0, 1.0),
        );
        plot.guide((0.0, 0.0), (1.0, 1.0));
        plot.line(&bins.iter().map(|bin| (bin.confidence, bin.accuracy)).collect::<Vec<_>>(), 0);
        let title = format!("Calibration: off by {:.1} points on average", 100.0 * off);
        let rows = bins.iter().map(|bin| {
            [format!("{:.4}", bin.confidence), format!("{:.4}", bin.accuracy), bin.count.to_string()]
        });
        Figure { svg: plot.finish(&title), title, csv: csv_text(["probability", "right", "nodes"], rows) }
    }
}

/// The curves of a class against the rest.
struct Ranked<'a> {
    class: usize,
    name: &'a str,
    roc_auc: f64,
    average_precision: f64,
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
        plot.line(&thinned(points), series);
        plot.legend(&name, series);
        rows.extend(points.iter().map(|(x, y)| [class.to_string(), format!("{x:.5}"), format!("{y:.5}")]));
    }
    let csv = csv_text(["class", axes[0], axes[1]], rows);
    Figure { title: title.into(), svg: plot.finish(title), csv }
}

/// Few enough points of a curve to draw, its ends among them.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= DRAWN {
        return points.to_vec();
    }
    (0..DRAWN).map(|place| points[place * (points.len() - 1) / (DRAWN - 1)]).collect()
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
        let answers = ShownAnswers::new(&classes, &probabilities, truth, &split);
        assert_eq!(answers.worst_errors(), [0, 1]);
        assert_eq!((answers.majority(), answers.confusion().total()), (Some(1), 3));
        let figures = answers.figures();
        assert_eq!(figures.len(), 2, "no ranking of one kind alone");
        assert!(figures.iter().all(|figure| !figure.svg.clone().into_string().contains("<a>")));
    }

    #[test]
    fn thinning_keeps_the_ends() {
        let curve: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), 0.0)).collect();
        let few = thinned(&curve);
        assert_eq!((few.len(), few[0].0, few[DRAWN - 1].0), (DRAWN, 0.0, 999.0));
    }
}
