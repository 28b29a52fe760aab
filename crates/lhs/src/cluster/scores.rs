//! Clusters held against classes: accuracy under the best matching, mutual information, adjusted Rand index.

use serde::{Deserialize, Serialize};

/// How well clusters fit classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterScores {
    /// Percent of the nodes that are right when each cluster stands for one class, matched as well as possible.
    pub accuracy: f64,
    /// Mutual information over the mean of both entropies, 0..=1.
    pub nmi: f64,
    /// Pairs that are together in both or in neither, corrected for chance; 1 is perfect, 0 is chance.
    pub ari: f64,
}

impl ClusterScores {
    /// Scores pairs of class and cluster; `None` of nothing.
    pub fn of(pairs: &[(u32, u32)]) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let side = 1 + pairs.iter().map(|&(class, cluster)| class.max(cluster)).max()? as usize;
        let mut table = vec![vec![0f64; side]; side];
        pairs.iter().for_each(|&(class, cluster)| table[class as usize][cluster as usize] += 1.0);
        let matched: f64 =
            best_matching(&table).iter().enumerate().map(|(row, &column)| table[row][column]).sum();
        let total = pairs.len() as f64;
        Some(ClusterScores {
            accuracy: 100.0 * matched / total,
            nmi: mutual_information(&table, total),
            ari: adjusted_rand(&table, total),
        })
    }
}

fn margins(table: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let rows = table.iter().map(|row| row.iter().sum()).collect();
    let columns = (0..table.len()).map(|column| table.iter().map(|row| row[column]).sum()).collect();
    (rows, columns)
}

fn mutual_information(table: &[Vec<f64>], total: f64) -> f64 {
    let (rows, columns) = margins(table);
    let entropy = |counts: &[f64]| -> f64 {
        counts.iter().filter(|count| **count > 0.0).map(|count| -count / total * (count / total).ln()).sum()
    };
    let mut shared = 0.0;
    for (row, of_row) in table.iter().zip(&rows) {
        for (count, of_column) in row.iter().zip(&columns).filter(|(count, _)| **count > 0.0) {
            shared += count / total * (count * total / (of_row * of_column)).ln();
        }
    }
    let mean = 0.5 * (entropy(&rows) + entropy(&columns));
    // One class and one cluster: they say the same.
    if mean > 0.0 { (shared / mean).clamp(0.0, 1.0) } else { 1.0 }
}

fn adjusted_rand(table: &[Vec<f64>], total: f64) -> f64 {
    let (rows, columns) = margins(table);
    let pairs = |count: &f64| count * (count - 1.0) / 2.0;
    let together: f64 = table.iter().flatten().map(pairs).sum();
    let (of_rows, of_columns): (f64, f64) = (rows.iter().map(pairs).sum(), columns.iter().map(pairs).sum());
    let expected = of_rows * of_columns / pairs(&total).max(1.0);
    let most = 0.5 * (of_rows + of_columns);
    if most > expected { (together - expected) / (most - expected) } else { 1.0 }
}

/// The column for each row of a square table so that the sum is largest (the Hungarian method, `O(n³)`).
fn best_matching(table: &[Vec<f64>]) -> Vec<usize> {
    let n = table.len();
    // Shortest augmenting paths on costs = -table; rows and columns are counted from 1, 0 is nobody.
    let (mut of_row, mut of_column) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_of = vec![0usize; n + 1];
    for row in 1..=n {
        row_of[0] = row;
        let mut column = 0;
        let (mut least, mut before, mut used) =
            (vec![f64::INFINITY; n + 1], vec![0; n + 1], vec![false; n + 1]);
        while row_of[column] != 0 {
            used[column] = true;
            let here = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for other in (1..=n).filter(|&other| !used[other]) {
                let reduced = -table[here - 1][other - 1] - of_row[here] - of_column[other];
                if reduced < least[other] {
                    (least[other], before[other]) = (reduced, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=n {
                if used[other] {
                    of_row[row_of[other]] += step;
                    of_column[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut matching = vec![0; n];
    (1..=n).for_each(|column| matching[row_of[column] - 1] = column - 1);
    matching
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_clusters_do_not_matter() {
        let perfect = ClusterScores::of(&[(0, 2), (0, 2), (1, 0), (2, 1)]).unwrap();
        assert_eq!((perfect.accuracy, perfect.ari), (100.0, 1.0));
        assert!((perfect.nmi - 1.0).abs() < 1e-12);
        assert_eq!(ClusterScores::of(&[]), None);
        let single = ClusterScores::of(&[(0, 0), (1, 0)]).unwrap();
        assert_eq!((single.accuracy, single.nmi, single.ari), (50.0, 0.0, 0.0));
    }

    #[test]
    fn by_hand() {
        // Classes 0 0 0 1 1 1, clusters 0 0 1 1 1 1: 5 of 6 right; Rand by pairs: 4 together in both, 6 and 7 in each.
        let scores = ClusterScores::of(&[(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 1)]).unwrap();
        assert!((scores.accuracy - 500.0 / 6.0).abs() < 1e-9);
        let expected = 6.0 * 7.0 / 15.0;
        assert!((scores.ari - (4.0 - expected) / (6.5 - expected)).abs() < 1e-12, "{scores:?}");
    }

    proptest! {
        #[test]
        fn no_other_matching_is_better(values in prop::collection::vec(0u8..20, 16)) {
            let table: Vec<Vec<f64>> = values.chunks(4).map(|row| row.iter().map(|v| f64::from(*v)).collect()).collect();
            let sum = |matching: &[usize]| matching.iter().enumerate().map(|(r, &c)| table[r][c]).sum::<f64>();
            let found = sum(&best_matching(&table));
            for a in 0..4 { for b in 0..4 { for c in 0..4 { for d in 0..4 {
                let distinct = a != b && a != c && a != d && b != c && b != d && c != d;
                prop_assert!(!distinct || sum(&[a, b, c, d]) <= found + 1e-9);
            }}}}
        }
    }
}
