//! How hard many points push one away, summed over a tree of squares: far squares count as one heavy point.

use super::Point;

/// A square of this share of its distance, or less, counts as one point.
const FAR: f64 = 0.9;
/// So few points are not divided further.
const FEW: usize = 6;
/// Squares are halved so often at most: points in one place stay together.
const DEPTH: u32 = 20;

/// A square with points in it.
struct Square {
    side: f64,
    mass: f64,
    centre: Point,
    /// Its points, in the order of the tree.
    points: std::ops::Range<usize>,
    /// Its quarters that have points; none where it is not divided.
    quarters: Vec<usize>,
}

/// All points.
pub struct Tree {
    squares: Vec<Square>,
    /// Places and masses, those of a square side by side.
    points: Vec<(Point, f64)>,
}

impl Tree {
    /// Sorts points with their masses into squares.
    pub fn new(points: &[Point], masses: &[f64]) -> Self {
        let mut sorted: Vec<(Point, f64)> = points.iter().copied().zip(masses.iter().copied()).collect();
        let bound = |way: usize, pick: fn(f64, f64) -> f64, start: f64| {
            points.iter().map(|point| point[way]).fold(start, pick)
        };
        let low = [0, 1].map(|way| bound(way, f64::min, f64::INFINITY));
        let side = [0, 1].map(|way| bound(way, f64::max, f64::NEG_INFINITY) - low[way]);
        let mut tree = Tree { squares: Vec::new(), points: Vec::new() };
        if !points.is_empty() {
            tree.divide(&mut sorted, 0, low, side[0].max(side[1]).max(1e-9), DEPTH);
        }
        tree.points = sorted;
        tree
    }

    /// Adds the square of some points, which begin at `first` of all, and returns its place.
    fn divide(
        &mut self,
        points: &mut [(Point, f64)],
        first: usize,
        low: Point,
        side: f64,
        depth: u32,
    ) -> usize {
        let mass: f64 = points.iter().map(|(_, mass)| mass).sum();
        let centre = [0, 1].map(|way| points.iter().map(|(p, mass)| mass * p[way]).sum::<f64>() / mass);
        let place = self.squares.len();
        let range = first..first + points.len();
        self.squares.push(Square { side, mass, centre, points: range, quarters: Vec::new() });
        if points.len() > FEW && depth > 0 {
            let half = side / 2.0;
            let middle = low.map(|low| low + half);
            let quarter =
                |point: &Point| 2 * usize::from(point[1] >= middle[1]) + usize::from(point[0] >= middle[0]);
            // The sort is stable, and the order of the points their own: so are all sums.
            points.sort_by_key(|(point, _)| quarter(point));
            let mut start = 0;
            for own in points.chunk_by_mut(|a, b| quarter(&a.0) == quarter(&b.0)) {
                let which = quarter(&own[0].0);
                let corner = [low[0] + half * (which % 2) as f64, low[1] + half * (which / 2) as f64];
                let child = self.divide(own, first + start, corner, half, depth - 1);
                self.squares[place].quarters.push(child);
                start += own.len();
            }
        }
        place
    }

    /// The push of all points at a place, each `mass / distance`; a point does not push itself.
    pub fn push(&self, at: Point) -> Point {
        let mut sum = [0.0, 0.0];
        let mut add = |[x, y]: Point, mass: f64| {
            let (x, y) = (at[0] - x, at[1] - y);
            let square = x * x + y * y;
            if square > 1e-18 {
                sum = [sum[0] + mass * x / square, sum[1] + mass * y / square];
            }
        };
        let mut stack: Vec<usize> = if self.squares.is_empty() { Vec::new() } else { vec![0] };
        while let Some(place) = stack.pop() {
            let square = &self.squares[place];
            let distance = (at[0] - square.centre[0]).hypot(at[1] - square.centre[1]);
            if square.side < FAR * distance {
                add(square.centre, square.mass);
            } else if square.quarters.is_empty() {
                self.points[square.points.clone()].iter().for_each(|&(point, mass)| add(point, mass));
            } else {
                stack.extend(&square.quarters);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_near_that_over_all_pairs() {
        let points: Vec<Point> =
            (0..500).map(|i| [f64::from(i * 37 % 101), f64::from(i * 61 % 97)]).collect();
        let masses: Vec<f64> = (0..500).map(|i| 1.0 + f64::from(i % 5)).collect();
        let tree = Tree::new(&points, &masses);
        for &at in points.iter().step_by(50) {
            let mut exact = [0.0, 0.0];
            for (point, mass) in points.iter().zip(&masses) {
                let (x, y) = (at[0] - point[0], at[1] - point[1]);
                let square = x * x + y * y;
                if square > 0.0 {
                    exact = [exact[0] + mass * x / square, exact[1] + mass * y / square];
                }
            }
            let found = tree.push(at);
            let wrong = (found[0] - exact[0]).hypot(found[1] - exact[1]);
            assert!(wrong < 0.05 * masses.iter().sum::<f64>() / 50.0, "{found:?}, not {exact:?}");
        }
    }

    #[test]
    fn points_in_one_place_end_the_division() {
        let tree = Tree::new(&vec![[1.0, 1.0]; 100], &vec![1.0; 100]);
        assert_eq!(tree.push([1.0, 1.0]), [0.0, 0.0]);
        assert!((tree.push([3.0, 1.0])[0] - 50.0).abs() < 1e-9);
        assert_eq!(Tree::new(&[], &[]).push([0.0, 0.0]), [0.0, 0.0]);
    }
}
