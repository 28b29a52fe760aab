//! The figures of scored splits as people read them, and the means of them for scripts.

use serde::Serialize;

use super::output::Global;
use lhs::metrics::statistics::{mean, std};
use lhs::metrics::{ClassScores, Metric, Scores};

/// Means over the splits, in percent; null where a figure makes no sense.
#[derive(Serialize)]
pub struct Means {
    pub test_roc_auc_mean: Option<f64>,
    pub test_average_precision_mean: Option<f64>,
    pub test_balanced_accuracy_mean: Option<f64>,
    pub test_macro_f1_mean: Option<f64>,
    pub test_calibration_error_mean: Option<f64>,
    pub majority_accuracy_mean: Option<f64>,
}

impl Means {
    /// Of some splits.
    pub fn of<'a>(scores: impl Iterator<Item = &'a Scores> + Clone) -> Self {
        let column = |of: fn(&Scores) -> Option<f64>| mean_of(scores.clone().map(of));
        Means {
            test_roc_auc_mean: column(|s| s.test_roc_auc),
            test_average_precision_mean: column(|s| s.test_average_precision),
            test_balanced_accuracy_mean: column(|s| s.test_balanced_accuracy),
            test_macro_f1_mean: column(|s| s.test_macro_f1),
            test_calibration_error_mean: column(|s| s.test_calibration_error),
            majority_accuracy_mean: column(|s| s.majority_accuracy),
        }
    }
}

/// The mean of what is known; none of nothing.
pub fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| mean(&known))
}

/// The population standard deviation of what is known; none of fewer than two, which have no spread.
pub fn std_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (known.len() > 1).then(|| std(&known))
}

/// A figure with two decimals, or a dash.
pub fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), |value| format!("{value:.2}"))
}

/// A mean with its spread, where there is one.
pub fn with_spread(mean: Option<f64>, std: Option<f64>) -> String {
    std.map_or_else(|| shown(mean), |std| format!("{} ± {std:.2}", shown(mean)))
}

/// Each class by the means over the splits of what is known of it.
pub fn class_means(splits: &[&[ClassScores]]) -> Vec<ClassScores> {
    let names = splits.first().copied().unwrap_or_default();
    let of_class = |first: &ClassScores| {
        let own: Vec<&ClassScores> =
            splits.iter().flat_map(|split| split.iter().find(|other| other.class == first.class)).collect();
        let column = |of: fn(&ClassScores) -> Option<f64>| mean_of(own.iter().map(|class| of(class)));
        ClassScores {
            class: first.class.clone(),
            precision: column(|class| class.precision),
            recall: column(|class| class.recall),
            f1: column(|class| class.f1),
            support: own.iter().map(|class| class.support).sum(),
            predicted: own.iter().map(|class| class.predicted).sum(),
        }
    };
    names.iter().map(of_class).collect()
}

/// The other figures at the test nodes, in one line.
pub fn say_means(means: &Means, global: &Global) {
    global.say(format_args!(
        "at the test nodes: balanced accuracy {}, macro F1 {}, ROC AUC {}, average precision {}, calibration error {}",
        shown(means.test_balanced_accuracy_mean),
        shown(means.test_macro_f1_mean),
        shown(means.test_roc_auc_mean),
        shown(means.test_average_precision_mean),
        shown(means.test_calibration_error_mean),
    ));
}

/// The accuracy beside what always naming one class would come to.
pub fn say_majority(accuracy: Option<f64>, means: &Means, global: &Global) {
    if let (Some(accuracy), Some(majority)) = (accuracy, means.majority_accuracy_mean) {
        global.say(format_args!(
            "accuracy {accuracy:.2}; always naming the most frequent class of the training nodes: {majority:.2}"
        ));
    }
}

/// Precision and recall of each class.
pub fn say_classes(classes: &[ClassScores], global: &Global) {
    let width = classes.iter().map(|class| class.class.chars().count()).max().unwrap_or(0).max(5);
    global.say(format_args!("{:<width$}  precision   recall       F1    nodes  predicted", "class"));
    for ClassScores { class, precision, recall, f1, support, predicted } in classes {
        let [precision, recall, f1] = [precision, recall, f1].map(|value| shown(*value));
        global.say(format_args!(
            "{class:<width$}  {precision:>9} {recall:>8} {f1:>8} {support:>8} {predicted:>10}"
        ));
    }
}

/// Says when a model is no better than none.
pub fn warn(accuracy: Option<f64>, metric: Metric, means: &Means, classes: &[ClassScores], global: &Global) {
    if let (Some(accuracy), Some(majority)) = (accuracy, means.majority_accuracy_mean)
        && accuracy <= majority
    {
        let instead = match metric {
            Metric::Accuracy => String::new(),
            metric => format!(": go by {metric}"),
        };
        global.note(format_args!(
            "warning: the accuracy ({accuracy:.2} %) does not beat always naming the most frequent class \
             ({majority:.2} %){instead}"
        ));
    }
    for class in classes.iter().filter(|class| class.predicted == 0 && class.support > 0) {
        global.note(format_args!(
            "warning: no node was predicted to be `{}`: try --class-weights auto or --metric average_precision",
            class.class
        ));
    }
}
