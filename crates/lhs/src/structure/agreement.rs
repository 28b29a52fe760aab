//! How well a structure fits the classes, told by the training labels alone.
//!
//! Every training node asks its nearest training nodes: do they share its class (agreement), and would their
//! weighted vote have found it (the vote)? The node itself never votes, so this is an estimate of how the
//! structure serves nodes whose class is not known. It chooses views, neighbours per node and threshold.
//! Cost: one all-pairs search among the training nodes, or among so many of them that what is measured is off by half a percent.

use serde::Serialize;

use crate::graph::{Graph, Labelled};
use crate::linalg::{Likeness, Mat, SparseMat, neighbours, neighbours_among, neighbours_of};

/// Labelled nodes that ask or are asked, at most.
const MOST_ASKED: usize = 20_000;
/// How many neighbours per node are considered.
const TOP_K: [usize; 5] = [3, 5, 8, 12, 20];
/// Which thresholds are considered, the strictest last.
const THRESHOLDS: [f32; 4] = [0.0, 0.5, 0.8, 0.9];
/// The neighbours whose agreement is reported.
const NEAREST: usize = 5;

/// How the training nodes agree with their nearest, and the settings under which their vote is best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Share of the five nearest that share the class, 0..=1.
    pub nearest: f32,
    /// Share of the training nodes that the vote gets right, 0..=1.
    pub vote: f32,
    /// Neighbours per node at which it is so.
    pub top_k: usize,
    /// Threshold at which it is so.
    pub threshold: f32,
}

/// What is given, and so not searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    /// Neighbours per node.
    pub top_k: Option<usize>,
    /// Threshold.
    pub threshold: Option<f32>,
}

/// Measures directions `[n,r]` at the training nodes.
pub fn agreement(directions: &Mat, train: &Labelled, num_classes: usize, given: Given) -> Agreement {
    let train = train.at_most(MOST_ASKED).into_owned();
    let rows = directions.select_rows(&train.nodes);
    let found = neighbours(&rows, f32::MIN_POSITIVE, Some(given.most()));
    let ranked: Vec<_> = (0..rows.rows()).map(|node| ranked(&found, node, &train)).collect();
    best(&ranked, &train.classes, num_classes, given)
}

/// The same where the training nodes of each part ask in the directions of their part, `parts [n,r]`.
pub fn agreement_in_parts(
    parts: &[Likeness],
    part_of: &[Option<u32>],
    train: &Labelled,
    num_classes: usize,
    given: Given,
) -> Agreement {
    let train = train.at_most(MOST_ASKED).into_owned();
    let mut lists = vec![Vec::new(); train.nodes.len()];
    for (part, likeness) in (0u32..).zip(parts) {
        let rows = likeness.select(&train.nodes);
        let own = |node: u32| part_of[node as usize].unwrap_or(0) == part;
        let places: Vec<u32> =
            (0..).zip(&train.nodes).filter(|(_, node)| own(**node)).map(|(place, _)| place).collect();
        let found = neighbours_of(&places, &rows, f32::MIN_POSITIVE, Some(given.most()));
        for (query, &place) in places.iter().enumerate() {
            lists[place as usize] = ranked(&found, query, &train);
        }
    }
    best(&lists, &train.classes, num_classes, given)
}

/// Share of the `asked` nodes whose class the vote of their nearest `known` ones finds, in the mean of some directions `[n,r]`,
/// under given settings; without a cap all that reach the threshold vote.
pub fn vote_at(
    parts: &[Likeness],
    known: &Labelled,
    asked: &Labelled,
    num_classes: usize,
    top_k: Option<usize>,
    threshold: f32,
) -> f32 {
    let (known, asked) = (known.at_most(MOST_ASKED), asked.at_most(MOST_ASKED));
    let all = Likeness::mean(parts);
    let least = threshold.max(f32::MIN_POSITIVE);
    let found = neighbours_among(&all.select(&asked.nodes), &all.select(&known.nodes), least, top_k);
    let ranked: Vec<_> = (0..asked.nodes.len()).map(|query| ranked(&found, query, &known)).collect();
    vote(&ranked, &asked.classes, num_classes, top_k.unwrap_or(known.nodes.len()), threshold)
}

impl Given {
    fn most(&self) -> usize {
        TOP_K[TOP_K.len() - 1].max(self.top_k.unwrap_or(0))
    }
}

/// Classes and weights of what a query found among the training nodes, nearest first.
fn ranked(found: &SparseMat, query: usize, train: &Labelled) -> Vec<(u32, f32)> {
    let mut row: Vec<(u32, f32)> =
        found.row(query).map(|(other, weight)| (train.classes[other as usize], weight)).collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1));
    row
}

/// The settings under which the vote is best.
fn best(ranked: &[Vec<(u32, f32)>], classes: &[u32], num_classes: usize, given: Given) -> Agreement {
    let (given_k, given_threshold) = (given.top_k.map(|k| [k]), given.threshold.map(|t| [t]));
    let mut best =
        Agreement { nearest: nearest_share(ranked, classes), vote: -1.0, top_k: 0, threshold: 0.0 };
    for &top_k in given_k.as_ref().map_or(&TOP_K[..], |k| &k[..]) {
        for &threshold in given_threshold.as_ref().map_or(&THRESHOLDS[..], |t| &t[..]) {
            let vote = vote(ranked, classes, num_classes, top_k, threshold);
            // Of equals the stricter threshold: it keeps fewer edges.
            if vote >= best.vote && (vote > best.vote || top_k == best.top_k) {
                best = Agreement { vote, top_k, threshold, ..best };
            }
        }
    }
    best
}

fn nearest_share(ranked: &[Vec<(u32, f32)>], classes: &[u32]) -> f32 {
    let (mut same, mut all) = (0usize, 0usize);
    for (row, class) in ranked.iter().zip(classes) {
        let nearest = &row[..row.len().min(NEAREST)];
        all += nearest.len();
        same += nearest.iter().filter(|(other, _)| other == class).count();
    }
    same as f32 / all.max(1) as f32
}

/// Share of the nodes whose neighbours vote for their class. Who has no neighbours is got wrong.
fn vote(
    ranked: &[Vec<(u32, f32)>],
    classes: &[u32],
    num_classes: usize,
    top_k: usize,
    threshold: f32,
) -> f32 {
    let mut right = 0usize;
    let mut votes = vec![0f32; num_classes];
    for (row, &class) in ranked.iter().zip(classes) {
        votes.fill(0.0);
        for (other, weight) in row.iter().take(top_k).take_while(|(_, weight)| *weight >= threshold) {
            votes[*other as usize] += weight;
        }
        let winner = (0..num_classes).fold(0, |best, c| if votes[c] > votes[best] { c } else { best });
        right += usize::from(votes[winner] > 0.0 && winner as u32 == class);
    }
    right as f32 / classes.len().max(1) as f32
}

/// How much more often than by chance an edge between training nodes joins one class: 0 (chance or below)
/// to 1 (always). 0 without such edges.
pub fn advantage(graph: &Graph, train: &Labelled, num_classes: usize) -> f32 {
    let mut class_of = vec![None; graph.num_nodes()];
    let mut sizes = vec![0f64; num_classes];
    for (&node, &class) in train.nodes.iter().zip(&train.classes) {
        class_of[node as usize] = Some(class);
        sizes[class as usize] += 1.0 / train.nodes.len() as f64;
    }
    let (mut same, mut all) = (0f64, 0f64);
    for (a, b, weight) in graph.weighted_edges() {
        if let (Some(a), Some(b)) = (class_of[a as usize], class_of[b as usize]) {
            all += f64::from(weight);
            same += if a == b { f64::from(weight) } else { 0.0 };
        }
    }
    let chance: f64 = sizes.iter().map(|size| size * size).sum();
    if all == 0.0 || chance >= 1.0 {
        return 0.0;
    }
    ((same / all - chance) / (1.0 - chance)).max(0.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(classes: &[u32]) -> Labelled {
        Labelled { nodes: (0..classes.len() as u32).collect(), classes: classes.to_vec() }
    }

    #[test]
    fn rows_that_follow_the_classes_agree() {
        let train = labelled(&[0, 1, 0, 1, 0, 1, 0, 1]);
        let follow = Mat::from_fn(8, 2, |row, col| f32::from(u8::from(row % 2 == col)));
        let found = agreement(&follow, &train, 2, Given::default());
        assert_eq!((found.nearest, found.vote, found.threshold), (1.0, 1.0, 0.9));
        let against = Mat::from_fn(8, 2, |row, col| f32::from(u8::from((row / 2) % 2 == col)));
        assert!(agreement(&against, &train, 2, Given::default()).nearest < 0.5);
        let none = agreement(&Mat::zeros(8, 2), &train, 2, Given { top_k: Some(4), threshold: None });
        assert_eq!((none.nearest, none.vote, none.top_k), (0.0, 0.0, 4));
    }

    #[test]
    fn advantage_is_measured_against_chance() {
        let (graph, _) = Graph::from_edges(4, &[(0, 2), (1, 3)]).unwrap();
        assert_eq!(advantage(&graph, &labelled(&[0, 1, 0, 1]), 2), 1.0);
        assert_eq!(advantage(&graph, &labelled(&[0, 0, 1, 1]), 2), 0.0);
        assert_eq!(advantage(&graph, &labelled(&[0]), 2), 0.0);
    }
}
