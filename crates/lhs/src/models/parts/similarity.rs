//! How alike the features of two nodes are, for pairs given one by one: sparse features stay sparse.

use crate::graph::Features;

/// The non-zero features of every node, ready to be compared.
pub struct Rows(Vec<Vec<(u32, f32)>>);

impl Rows {
    /// Of all nodes.
    pub fn of(features: &Features) -> Self {
        Rows((0..features.num_nodes()).map(|node| features.row_nonzeros(node)).collect())
    }

    /// Whether every row only says which features are there: all its non-zeros are the same number.
    pub fn are_binary(&self) -> bool {
        self.0.iter().all(|row| row.iter().all(|&(_, value)| value == row[0].1))
    }

    /// Shared features over all features that either node has, 0..=1; two nodes without any are alike.
    pub fn jaccard(&self, a: u32, b: u32) -> f32 {
        let (left, right) = (&self.0[a as usize], &self.0[b as usize]);
        let mut shared = 0;
        on_shared(left, right, |_, _| shared += 1);
        let either = left.len() + right.len() - shared;
        if either == 0 { 1.0 } else { shared as f32 / either as f32 }
    }

    /// Cosine of the angle between the features; 0 when a node has none.
    pub fn cosine(&self, a: u32, b: u32) -> f32 {
        let (left, right) = (&self.0[a as usize], &self.0[b as usize]);
        let mut product = 0.0;
        on_shared(left, right, |x, y| product += x * y);
        let lengths = (square(left) * square(right)).sqrt();
        if lengths > 0.0 { product / lengths } else { 0.0 }
    }
}

fn square(row: &[(u32, f32)]) -> f32 {
    row.iter().map(|(_, value)| value * value).sum()
}

/// Calls `meet` with the values of every column that both rows have; columns ascend.
fn on_shared(left: &[(u32, f32)], right: &[(u32, f32)], mut meet: impl FnMut(f32, f32)) {
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let (column, other) = (left[i].0, right[j].0);
        if column == other {
            meet(left[i].1, right[j].1);
        }
        i += usize::from(column <= other);
        j += usize::from(other <= column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    fn rows(values: &[f32]) -> Rows {
        Rows::of(&Features::from_dense(Mat::from_slice(values.len() / 4, 4, values)))
    }

    #[test]
    fn similarities_are_those_worked_out_by_hand() {
        let rows = rows(&[1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rows.jaccard(0, 1), 0.25);
        assert!((rows.cosine(0, 1) - 1.0 / 6f32.sqrt()).abs() < 1e-6);
        assert_eq!((rows.jaccard(0, 2), rows.cosine(0, 2)), (0.0, 0.0));
        assert_eq!((rows.jaccard(2, 2), rows.cosine(2, 2)), (1.0, 0.0));
    }

    #[test]
    fn scaled_rows_are_still_binary() {
        assert!(rows(&[0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).are_binary());
        assert!(!rows(&[0.5, 0.4, 0.0, 0.0]).are_binary());
    }
}
