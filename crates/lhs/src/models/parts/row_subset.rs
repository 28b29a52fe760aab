//! A part of a sparse matrix: what a network needs that computes some nodes alone.

use std::sync::Arc;

use crate::linalg::Pattern;

/// Some rows of a pattern, in this order, and where their entries stood.
pub fn row_subset(pattern: &Arc<Pattern>, rows: &[u32]) -> (Arc<Pattern>, Vec<u32>) {
    let (mut bounds, mut entries) = (vec![0], Vec::new());
    for &row in rows {
        entries.extend(pattern.row_range(row as usize).map(|entry| entry as u32));
        bounds.push(entries.len());
    }
    if rows.len() == pattern.rows() && entries.is_sorted() {
        return (Arc::clone(pattern), entries); // all of them: it knows its transpose already
    }
    let indices = entries.iter().map(|&entry| pattern.indices()[entry as usize]).collect();
    (Arc::new(Pattern::new(rows.len(), pattern.cols(), bounds, indices)), entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_the_order_asked_for() {
        let pattern = Arc::new(Pattern::new(3, 4, vec![0, 2, 3, 5], vec![0, 3, 1, 0, 2]));
        let (some, entries) = row_subset(&pattern, &[2, 0]);
        assert_eq!((some.row(0), some.row(1)), (&[0, 2][..], &[0, 3][..]));
        assert_eq!(entries, [3, 4, 0, 1]);
        assert!(Arc::ptr_eq(&row_subset(&pattern, &[0, 1, 2]).0, &pattern));
    }
}
