//! Nodes sorted by a learned score, in a way that follows any renumbering of the nodes.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::autograd::Var;
use crate::linalg::Mat;

/// All nodes in ascending order of a score. Nodes that are equal in all that is known of them share one place, on
/// which they are averaged: nothing but their numbers could tell them apart.
pub struct Order {
    /// The node at each position.
    nodes: Rc<[u32]>,
    /// The place of the node at each position, of which equals have one.
    place_of_position: Rc<[u32]>,
    /// The place of each node.
    place_of_node: Rc<[u32]>,
    /// One over the number of nodes at each place, `[places, 1]`.
    share: Var,
}

impl Order {
    /// Sorts by `scores [n, 1]`, equal scores by the entries of `rows [n, d]`.
    pub fn by(scores: &Mat, rows: &Mat) -> Self {
        let compare = |&a: &u32, &b: &u32| {
            let (a, b) = (a as usize, b as usize);
            scores.get(a, 0).total_cmp(&scores.get(b, 0)).then_with(|| by_entries(rows.row(a), rows.row(b)))
        };
        let mut nodes: Vec<u32> = (0..scores.rows() as u32).collect();
        nodes.sort_by(compare);
        let mut sizes: Vec<f32> = Vec::new();
        let mut place_of_position = Vec::with_capacity(nodes.len());
        let mut place_of_node = vec![0; nodes.len()];
        for (position, node) in nodes.iter().enumerate() {
            if position == 0 || compare(&nodes[position - 1], node).is_ne() {
                sizes.push(0.0);
            }
            let place = sizes.len() - 1;
            sizes[place] += 1.0;
            place_of_position.push(place as u32);
            place_of_node[*node as usize] = place as u32;
        }
        let shares: Vec<f32> = sizes.into_iter().map(|size| 1.0 / size).collect();
        Order {
            nodes: nodes.into(),
            place_of_position: place_of_position.into(),
            place_of_node: place_of_node.into(),
            share: Var::constant(Mat::column(&shares)),
        }
    }

    /// Rows of nodes, put in order.
    pub fn sorted(&self, of_nodes: &Var) -> Var {
        of_nodes.gather_rows(&self.nodes)
    }

    /// Rows in order, given back to the nodes.
    pub fn unsorted(&self, in_order: &Var) -> Var {
        let places = in_order.scatter_rows(&self.place_of_position, self.share.rows());
        places.mul_col(&self.share).gather_rows(&self.place_of_node)
    }
}

/// Compares two rows by their first entries that differ.
pub fn by_entries(a: &[f32], b: &[f32]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sorted_comes_back_and_equals_are_averaged() {
        let scores = Mat::column(&[2.0, 1.0, 2.0, 2.0]);
        let rows = Mat::column(&[5.0, 0.0, 5.0, 4.0]);
        let order = Order::by(&scores, &rows);
        assert_eq!(*order.nodes, [1, 3, 0, 2]);
        let x = Var::constant(Mat::column(&[0.0, 1.0, 2.0, 3.0]));
        let positions = order.unsorted(&x);
        assert_eq!(positions.value().as_slice(), [2.5, 0.0, 2.5, 1.0]);
        let distinct = Order::by(&Mat::column(&[3.0, 1.0, 2.0, 0.0]), &rows);
        assert_eq!(distinct.unsorted(&distinct.sorted(&x)).value(), x.value());
    }
}
