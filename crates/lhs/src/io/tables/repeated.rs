//! Edges that a table names more than once, each with a weight.

use serde::{Deserialize, Serialize};

use super::edges::Edges;

/// What becomes of the weights of an edge that is named more than once (in an undirected graph also as `b,a` after
/// `a,b`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedEdges {
    /// They are added, as payments between two accounts are.
    #[default]
    Sum,
    /// Their mean counts.
    Mean,
    /// The largest counts.
    Max,
    /// The first counts.
    First,
}

impl RepeatedEdges {
    /// Names every edge once; also says how many rows were joined to others. Edges without weights are left alone: that they
    /// are repeated says nothing.
    pub(in crate::io) fn joined(self, edges: Edges, directed: bool) -> (Edges, usize) {
        let Edges { pairs, weights: Some(weights) } = edges else { return (edges, 0) };
        let end = |place: usize| {
            let (a, b) = pairs[place];
            if directed { (a, b) } else { (a.min(b), a.max(b)) }
        };
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        // The first mention stays in front, and sums have one order.
        order.sort_by_key(|&place| (end(place), place));
        let groups = order.chunk_by(|&a, &b| end(a) == end(b));
        let mut joined: Vec<(usize, f32)> =
            groups.map(|group| (group[0], self.of(group, &weights))).collect();
        joined.sort_unstable_by_key(|(place, _)| *place);
        let repeated = pairs.len() - joined.len();
        let edges = Edges {
            pairs: joined.iter().map(|(place, _)| pairs[*place]).collect(),
            weights: Some(joined.into_iter().map(|(_, weight)| weight).collect()),
        };
        (edges, repeated)
    }

    fn of(self, group: &[usize], weights: &[f32]) -> f32 {
        let of_group = || group.iter().map(|&place| f64::from(weights[place]));
        let value = match self {
            RepeatedEdges::Sum => of_group().sum(),
            RepeatedEdges::Mean => of_group().sum::<f64>() / group.len() as f64,
            RepeatedEdges::Max => of_group().fold(f64::NEG_INFINITY, f64::max),
            RepeatedEdges::First => return weights[group[0]],
        };
        value as f32
    }

    /// What was done, for a remark.
    pub(in crate::io) fn in_words(self) -> &'static str {
        match self {
            RepeatedEdges::Sum => "weights were added",
            RepeatedEdges::Mean => "the mean of their weights counts",
            RepeatedEdges::Max => "the largest weight counts",
            RepeatedEdges::First => "the first weight counts",
        }
    }
}
