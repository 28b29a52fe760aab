//! Which nodes are learned from, which steer early stopping, which are scored.

use std::collections::BTreeMap;

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

    /// Whole groups of the labelled nodes dealt into parts of about these shares: nobody of a group is learned from while
    /// another is scored. A node without a group is one by itself.
    pub fn grouped(labels: &Labels, groups: &[String], shares: [f64; 3], seed: u64) -> Result<Self> {
        let mut members: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let mut alone = Vec::new();
        for node in (0..labels.len() as u32).filter(|&node| labels.get(node as usize).is_some()) {
            match groups[node as usize].as_str() {
                "" => alone.push(vec![node]),
                group => members.entry(group).or_default().push(node),
            }
        }
        let mut groups: Vec<Vec<u32>> = members.into_values().chain(alone).collect();
        groups.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        // The large ones first: the small ones even out what they leave.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let total: usize = groups.iter().map(Vec::len).sum();
        let mut parts: [Vec<u32>; 3] = Default::default();
        for group in groups {
            let lacking = |part: usize| shares[part] * total as f64 - parts[part].len() as f64;
            let most = (0..3)
                .filter(|&part| shares[part] > 0.0)
                .reduce(|best, part| if lacking(part) > lacking(best) { part } else { best });
            parts[most.unwrap_or(0)].extend(group);
        }
        parts.iter_mut().for_each(|part| part.sort_unstable());
        let [train, val, test] = parts;
        Ok(Split { train, val, test })
    }

    /// The labelled nodes before a time, from then to a later one, and from then on; nodes without a time are in no part.
    pub fn by_time(labels: &Labels, times: &[Option<f64>], train_until: f64, val_until: f64) -> Self {
        let mut split = Split::default();
        for node in (0..labels.len() as u32).filter(|&node| labels.get(node as usize).is_some()) {
            match times[node as usize] {
                Some(time) if time < train_until => split.train.push(node),
                Some(time) if time < val_until => split.val.push(node),
                Some(_) => split.test.push(node),
                None => {}
            }
        }
        split
    }

    /// All labelled nodes to learn from, and none to judge by.
    pub fn all_for_training(labels: &Labels) -> Self {
        let train = (0..labels.len() as u32).filter(|&node| labels.get(node as usize).is_some()).collect();
        Split { train, ..Split::default() }
    }

    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[u32]); 3] {
        [("train", &self.train), ("val", &self.val), ("test", &self.test)]
    }

    /// Checks that the parts are sets of labelled nodes, do not overlap, and that there is something to train on.
    pub fn validate(&self, labels: &Labels) -> Result<()> {
        let mut owner: Vec<Option<&str>> = vec![None; labels.len()];
        for (name, part) in self.parts() {
            // Nothing need be scored, and a last training on all labels has nobody to judge by.
            let may_be_empty = name == "test" || (name == "val" && self.test.is_empty());
            if part.is_empty() && !may_be_empty {
                return Err(Error::data(
                    format!("the {name} part of the split is empty"),
                    "every split needs training and validation nodes; draw one, such as `random:0.6,0.2,0.2`",
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
        assert!(Split::default().validate(&labels()).unwrap_err().to_string().contains("train part"));
        Split { train: vec![0], val: vec![1], test: vec![] }.validate(&labels()).unwrap();
        Split::all_for_training(&labels()).validate(&labels()).unwrap();
    }

    #[test]
    fn groups_stay_together_and_shares_are_kept() {
        let labels = labels();
        let groups: Vec<String> =
            (0..100).map(|n| if n < 90 { format!("g{}", n / 7) } else { String::new() }).collect();
        let split = Split::grouped(&labels, &groups, [0.6, 0.2, 0.2], 3).unwrap();
        split.validate(&labels).unwrap();
        assert_eq!(split.train.len() + split.val.len() + split.test.len(), 100);
        assert!((55..=65).contains(&split.train.len()) && (15..=25).contains(&split.val.len()), "{split:?}");
        let part = |node: u32| split.parts().iter().position(|(_, part)| part.contains(&node)).unwrap();
        assert!((0..90).all(|node: u32| part(node) == part(node / 7 * 7)));
        assert_ne!(split, Split::grouped(&labels, &groups, [0.6, 0.2, 0.2], 4).unwrap());
    }

    #[test]
    fn times_divide_the_nodes_and_unknown_ones_stay_out() {
        let times: Vec<Option<f64>> = (0..100).map(|n| (n != 5).then_some(f64::from(n))).collect();
        let split = Split::by_time(&labels(), &times, 50.0, 80.0);
        assert_eq!((split.train.len(), split.val.len(), split.test.len()), (49, 30, 20));
        assert!(split.train.iter().all(|&n| n < 50) && split.test.iter().all(|&n| n >= 80));
    }
}
