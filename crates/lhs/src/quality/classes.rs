//! Each class by itself, and what knowing nothing would come to.

use serde::{Deserialize, Serialize};

use super::confusion::Confusion;

/// How one class comes out, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassScores {
    /// Its name.
    pub class: String,
    /// Of the nodes taken for it, the share that is; none if there are none.
    pub precision: Option<f64>,
    /// Of its nodes, the share that is found; none if it has none.
    pub recall: Option<f64>,
    /// The harmonic mean of the two; none if it neither occurs nor was predicted.
    pub f1: Option<f64>,
    /// How many nodes it has.
    pub support: usize,
    /// How many nodes were taken for it.
    pub predicted: usize,
}

/// The classes of a confusion, by their names.
pub fn per_class(confusion: &Confusion, names: &[String]) -> Vec<ClassScores> {
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let of = |(class, name): (usize, &String)| ClassScores {
        class: name.clone(),
        precision: percent(confusion.precision(class)),
        recall: percent(confusion.recall(class)),
        f1: percent(confusion.f1(class)),
        support: confusion.actual(class),
        predicted: confusion.predicted(class),
    };
    names.iter().enumerate().map(of).collect()
}

/// The most frequent of some classes; of equals, the first. `None` of nothing.
pub fn majority(classes: &[u32]) -> Option<u32> {
    let mut counts = vec![0usize; classes.iter().max().map_or(0, |most| *most as usize + 1)];
    classes.iter().for_each(|&class| counts[class as usize] += 1);
    let best =
        (0..counts.len()).reduce(|best, class| if counts[class] > counts[best] { class } else { best });
    best.map(|class| class as u32)
}

/// The share of some nodes that would be right if all were taken for the most frequent class of the training nodes, 0..=1.
pub fn majority_accuracy(train: &[u32], scored: &[u32]) -> Option<f64> {
    let majority = majority(train).filter(|_| !scored.is_empty())?;
    Some(scored.iter().filter(|class| **class == majority).count() as f64 / scored.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_by_name_and_in_percent() {
        let confusion = Confusion::count(3, [(0, 0), (0, 1), (1, 1), (1, 1)]);
        let names = ["ok", "fraud", "odd"].map(String::from);
        let found = per_class(&confusion, &names);
        assert_eq!((found[0].precision, found[0].recall, found[0].support), (Some(100.0), Some(50.0), 2));
        assert_eq!((found[1].class.as_str(), found[1].f1, found[1].predicted), ("fraud", Some(80.0), 3));
        assert_eq!((found[2].precision, found[2].recall, found[2].f1), (None, None, None));
    }

    #[test]
    fn the_majority_is_that_of_the_training_nodes() {
        assert_eq!((majority(&[2, 1, 2, 1, 0]), majority(&[])), (Some(1), None));
        assert_eq!(majority_accuracy(&[0, 1, 1], &[0, 0, 0, 1]), Some(0.25));
        assert_eq!((majority_accuracy(&[0], &[]), majority_accuracy(&[], &[0])), (None, None));
    }
}
