//! Which nodes are learned from, which steer early stopping, which are scored.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Labels;
use crate::error::{Error, Result};

/// Training, validation and test nodes: disjoint, each list ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Nodes whose labels the model sees.
    pub train: Vec<u32>,
    /// Nodes whose labels steer early stopping and tuning.
    pub val: Vec<u32>,
    /// Nodes whose labels are used for scoring only.
    pub test: Vec<u32>,
}

impl Split {
    /// A random split of the labelled nodes by shares, each class divided alike; the rest is test.
    pub fn random(labels: &Labels, train: f64, val: f64, test: f64, seed: u64) -> Result<Self> {
        let shares = [train, val, test];
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || shares.iter().sum::<f64>() > 1.0 + 1e-9
        {
            return Err(Error::data(
                format!("split shares {train}, {val}, {test} are not parts of a whole"),
                "give three shares between 0 and 1 that sum to at most 1, such as random:0.6,0.2,0.2",
            ));
        }
        if labels.num_classes() == 0 {
            return Err(Error::data(
                "no node has a label, so there is nothing to split",
                "give the nodes labels: a table labels.csv with the columns node,label",
            ));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut split = Split::default();
        for class in 0..labels.num_classes() as u32 {
            let mut nodes: Vec<u32> =
                (0..labels.len() as u32).filter(|&n| labels.get(n as usize) == Some(class)).collect();
            nodes.shuffle(&mut rng);
            let count = nodes.len() as f64;
            let end_train = (train * count).round() as usize;
            let end_val = ((train + val) * count).round() as usize;
            let end_test = (((train + val + test) * count).round() as usize).min(nodes.len());
            split.train.extend(&nodes[..end_train]);
            split.val.extend(&nodes[end_train..end_val]);
            split.test.extend(&nodes[end_val..end_test]);
        }
        for part in [&mut split.train, &mut split.val, &mut split.test] {
            part.sort_unstable();
        }
        Ok(split)
    }

    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[u32]); 3] {
        [("train", &self.train), ("val", &self.val), ("test", &self.test)]
    }

    /// Checks that the parts are sets of labelled nodes, do not overlap, and that there is something to train on.
    pub fn validate(&self, labels: &Labels) -> Result<()> {
        let mut owner: Vec<Option<&str>> = vec![None; labels.len()];
        for (name, part) in self.parts() {
            if part.is_empty() {
                return Err(Error::data(
                    format!("the {name} part of the split is empty"),
                    "every split needs training, validation and test nodes; draw one, such as `random:0.6,0.2,0.2`",
                ));
            }
            for &node in part {
                let slot = owner.get_mut(node as usize).ok_or_else(|| {
                    Error::data(
                        format!("{name} node {node} out of range (num_nodes = {})", labels.len()),
                        "splits name nodes by their number, starting at 0",
                    )
                })?;
                if let Some(other) = slot.replace(name) {
                    return Err(Error::data(
                        format!("node {node} is in {other} and in {name}"),
                        "the parts of a split must not overlap: a node that is trained on cannot be scored",
                    ));
                }
                if labels.get(node as usize).is_none() {
                    return Err(Error::data(
                        format!("{name} node {node} has no label"),
                        "leave unlabelled nodes out of the split, or label them",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Classes that no training node has; a model can never predict them.
    pub fn classes_without_training(&self, labels: &Labels) -> Vec<u32> {
        let mut seen = vec![false; labels.num_classes()];
        for class in self.train.iter().filter_map(|&n| labels.get(n as usize)) {
            seen[class as usize] = true;
        }
        (0u32..).zip(seen).filter(|(_, seen)| !seen).map(|(class, _)| class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        Labels::new((0..100).map(|i| Some(i % 4)).collect(), (0..4).map(|c| c.to_string()).collect()).unwrap()
    }

    #[test]
    fn a_random_split_divides_each_class_alike() {
        let labels = labels();
        let split = Split::random(&labels, 0.6, 0.2, 0.2, 7).unwrap();
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (60, 20, 20));
        split.validate(&labels).unwrap();
        assert_eq!(split, Split::random(&labels, 0.6, 0.2, 0.2, 7).unwrap());
        assert_ne!(split, Split::random(&labels, 0.6, 0.2, 0.2, 8).unwrap());
        assert!(Split::random(&labels, 0.6, 0.6, 0.2, 0).is_err());
    }

    #[test]
    fn overlap_and_empty_parts_are_refused() {
        let overlap = Split { train: vec![0, 1], val: vec![2], test: vec![1, 3] };
        let error = overlap.validate(&labels()).unwrap_err().to_string();
        assert!(error.starts_with("node 1 is in train and in test"), "{error}");
        let empty = Split { train: vec![0], val: vec![], test: vec![1] };
        assert!(empty.validate(&labels()).unwrap_err().to_string().contains("val part"));
    }
}
