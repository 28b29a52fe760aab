//! Search by cosine in inverted lists, for sets that are too large for all pairs.
//!
//! Nodes are dealt to the nearest of some centres (spherical k-means on a sample), and those of one list look for neighbours
//! in the lists whose centres are nearest to their own, `reach` nodes in all. So the nodes of a list share what they
//! look at, and the search is the exact one on small sets: a few products of matrices. How much it misses is measured: a sample of nodes
//! asks everybody, and `reach` is doubled until enough of what they find is found in the lists, too.
//! Source: Jégou, Douze and Schmid 2011 (inverted files), without their coding of vectors. Nothing depends on the order in which
//! threads finish: the same bits on any number of them.
//! Cost: `2 N reach r` flops and `O(reach r)` memory a thread, beside `O(N r k)` for `k` lists.

use std::sync::Arc;

use rayon::prelude::*;

use super::random::{derive, hash};
use super::search::{Best, Likeness, STRIP, neighbours_among, neighbours_of, search_strip};
use super::{Mat, Pattern, SparseMat};

/// Nodes in a list, on average.
const LIST: usize = 512;
/// Lists there are at most.
const MOST_LISTS: usize = 8192;
/// Nodes from which a centre is learned.
const LEARNED_FROM: usize = 64;
/// Rounds of k-means.
const ROUNDS: usize = 6;
/// A list of more than so many times the average is cut: its nodes look the same to the centres.
const LONGEST: usize = 8;
/// Lists that a list knows as near.
const NEAR: usize = 1024;
/// Nodes that ask everybody.
const ASKED: usize = 256;
/// The share of what these find that lists should find.
const ENOUGH: f32 = 0.97;
/// Nodes that a list looks at in the first attempt, and in the last.
const REACH: (usize, usize) = (8192, 65_536);

/// Nodes in lists.
pub struct Lists {
    /// List after list, ascending in each. Nodes that point nowhere are in none.
    members: Vec<u32>,
    /// Where each list begins, and the end.
    bounds: Vec<usize>,
    /// For each list those nearest to it, itself first.
    near: Vec<Vec<u32>>,
}

/// What was found, and how much of what there is.
pub struct Found {
    /// `[N,N]`, a row for each node that asked.
    pub neighbours: SparseMat,
    /// Share of the neighbours that all pairs would give, at a sample of nodes, 0..=1.
    pub recall: f32,
    /// Nodes that each node was compared with.
    pub reach: usize,
}

impl Lists {
    /// Deals nodes by what they point at.
    pub fn new(nodes: &Likeness, seed: u64) -> Self {
        let rows = nodes.leading();
        let pointing: Vec<u32> = (0..rows.rows() as u32)
            .filter(|&node| rows.row(node as usize).iter().any(|v| *v != 0.0))
            .collect();
        let count = (pointing.len() / LIST).clamp(1, MOST_LISTS);
        let centres = centres(&rows, &pointing, count, seed);
        let base = Likeness::from(centres);
        let mut of_list = vec![Vec::new(); count];
        for some in pointing.chunks(1 << 16) {
            let nearest = neighbours_among(&rows.select_rows(some).into(), &base, f32::NEG_INFINITY, Some(1));
            for (place, &node) in some.iter().enumerate() {
                // A row with a NaN is near to nobody.
                if let Some((list, _)) = nearest.row(place).next() {
                    of_list[list as usize].push(node);
                }
            }
        }
        let all = neighbours_among(&base, &base, f32::NEG_INFINITY, Some(NEAR.min(count)));
        let ranked = |list: usize| {
            let mut row: Vec<(u32, f32)> = all.row(list).collect();
            row.sort_by(|a, b| (b.0 == list as u32).cmp(&(a.0 == list as u32)).then(b.1.total_cmp(&a.1)));
            row.into_iter().map(|(other, _)| other).collect::<Vec<u32>>()
        };
        Self::cut(of_list, (0..count).map(ranked).collect())
    }

    /// Cuts long lists into several, which are near to each other.
    fn cut(of_list: Vec<Vec<u32>>, near: Vec<Vec<u32>>) -> Self {
        let mut lists = Lists { members: Vec::new(), bounds: vec![0], near: Vec::new() };
        let mut pieces: Vec<Vec<u32>> = Vec::with_capacity(of_list.len());
        for members in &of_list {
            let mut own = Vec::new();
            for piece in members.chunks(LONGEST * LIST) {
                own.push((lists.bounds.len() - 1) as u32);
                lists.members.extend_from_slice(piece);
                lists.bounds.push(lists.members.len());
            }
            pieces.push(own);
        }
        for (list, own) in pieces.iter().enumerate() {
            let all: Vec<u32> = near[list].iter().flat_map(|&other| pieces[other as usize].clone()).collect();
            for &piece in own {
                let others = all.iter().copied().filter(|&other| other != piece);
                lists.near.push(std::iter::once(piece).chain(others).collect());
            }
        }
        lists
    }

    fn members(&self, list: usize) -> &[u32] {
        &self.members[self.bounds[list]..self.bounds[list + 1]]
    }

    /// The nodes that a list looks at, ascending.
    fn looked_at(&self, list: usize, reach: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for &other in &self.near[list] {
            if found.len() >= reach {
                break;
            }
            // As many for every list: buffers of one size are used again.
            let members = self.members(other as usize);
            found.extend_from_slice(&members[..members.len().min(reach - found.len())]);
        }
        found.sort_unstable();
        found
    }

    /// What the nodes that ask find, being compared with `reach` nodes.
    fn search(
        &self,
        nodes: &Likeness,
        asks: &(impl Fn(u32) -> bool + Sync),
        reach: usize,
        threshold: f32,
        top_k: Option<usize>,
    ) -> SparseMat {
        let of_list = |list: usize| {
            let mut found = OfList::default();
            let asking: Vec<u32> = self.members(list).iter().copied().filter(|&node| asks(node)).collect();
            if asking.is_empty() {
                return found;
            }
            let others = self.looked_at(list, reach);
            let base = nodes.select(&others);
            for strip in asking.chunks(STRIP) {
                let queries = nodes.select(strip);
                let place = |node: &u32| others.binary_search(node).ok().map(|place| place as u32);
                let mut best: Vec<Best> =
                    strip.iter().map(|node| Best::new(threshold, top_k, place(node))).collect();
                search_strip(&queries.factors(), 0, &base.factors(), others.len(), &mut best);
                for (&node, best) in strip.iter().zip(best) {
                    let before = found.neighbours.len();
                    let named =
                        best.finish().into_iter().map(|(place, value)| (others[place as usize], value));
                    found.neighbours.extend(named);
                    found.nodes.push((node, found.neighbours.len() - before));
                }
            }
            found.neighbours.shrink_to_fit();
            found
        };
        let found: Vec<OfList> = (0..self.near.len()).into_par_iter().map(of_list).collect();
        assembled(nodes.len(), found)
    }
}

/// For every node that asks, the others whose likeness is at least `threshold`, up to `top_k` of them, as far as lists find them.
pub fn neighbours_in_lists(
    nodes: &Likeness,
    asks: impl Fn(u32) -> bool + Sync,
    threshold: f32,
    top_k: Option<usize>,
    seed: u64,
) -> Found {
    let lists = Lists::new(nodes, derive(seed, &[0]));
    let mut drawn: Vec<u32> = lists.members.iter().copied().filter(|&node| asks(node)).collect();
    drawn.sort_by_key(|&node| (hash(derive(seed, &[1]), node), node));
    drawn.truncate(ASKED);
    drawn.sort_unstable();
    let exact = neighbours_of(&drawn, nodes, threshold, top_k);
    let sampled = |node: u32| drawn.binary_search(&node).is_ok();
    let mut reach = REACH.0;
    loop {
        let found = lists.search(nodes, &sampled, reach, threshold, top_k);
        let recall = recall(&exact, &found, &drawn);
        if recall >= ENOUGH || reach >= REACH.1.min(nodes.len() / 4) {
            return Found { neighbours: lists.search(nodes, &asks, reach, threshold, top_k), recall, reach };
        }
        reach *= 2;
    }
}

/// Share of what exact search finds; another node that is as near counts as much.
fn recall(exact: &SparseMat, found: &SparseMat, drawn: &[u32]) -> f32 {
    let (mut all, mut there) = (0usize, 0usize);
    for (query, &node) in drawn.iter().enumerate() {
        let worst = exact.row(query).map(|(_, value)| value).fold(f32::INFINITY, f32::min);
        let near = found.row(node as usize).filter(|(_, value)| *value >= worst - 1e-6).count();
        all += exact.row(query).len();
        there += near.min(exact.row(query).len());
    }
    if all == 0 { 1.0 } else { there as f32 / all as f32 }
}

/// What the nodes of a list found.
#[derive(Default)]
struct OfList {
    /// Each with how many it found.
    nodes: Vec<(u32, usize)>,
    /// All that they found, one after the other.
    neighbours: Vec<(u32, f32)>,
}

fn assembled(count: usize, found: Vec<OfList>) -> SparseMat {
    let mut indptr = vec![0usize; count + 1];
    for (node, len) in found.iter().flat_map(|list| &list.nodes) {
        indptr[*node as usize + 1] = *len;
    }
    (0..count).for_each(|node| indptr[node + 1] += indptr[node]);
    let (mut indices, mut values) = (vec![0u32; indptr[count]], vec![0f32; indptr[count]]);
    for OfList { nodes, neighbours } in found {
        let mut next = neighbours.into_iter();
        for (node, len) in nodes {
            let places = indptr[node as usize]..;
            for (place, (other, value)) in places.zip(next.by_ref().take(len)) {
                (indices[place], values[place]) = (other, value);
            }
        }
    }
    SparseMat::new(Arc::new(Pattern::new(count, count, indptr, indices)), values)
}

/// Unit centres `[k,r]`, learned on a sample of the nodes.
fn centres(rows: &Mat, nodes: &[u32], count: usize, seed: u64) -> Mat {
    let mut drawn: Vec<u32> = nodes.to_vec();
    drawn.sort_by_key(|&node| (hash(seed, node), node));
    drawn.truncate(LEARNED_FROM * count);
    let sample: Likeness = rows.select_rows(&drawn).into();
    let points = sample.leading();
    let first: Vec<u32> = (0..count.min(drawn.len()) as u32).collect();
    let mut centres = points.select_rows(&first);
    for _ in 0..ROUNDS {
        let nearest = neighbours_among(&sample, &centres.clone().into(), f32::NEG_INFINITY, Some(1));
        let mut sums = vec![0f64; centres.len()];
        for place in 0..points.rows() {
            for (list, _) in nearest.row(place) {
                let sum = &mut sums[list as usize * centres.cols()..][..centres.cols()];
                sum.iter_mut().zip(points.row(place)).for_each(|(sum, value)| *sum += f64::from(*value));
            }
        }
        for list in 0..centres.rows() {
            let sum = &sums[list * centres.cols()..][..centres.cols()];
            let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt();
            // A centre that nobody is near to stays where it is.
            if length > 0.0 {
                centres.row_mut(list).iter_mut().zip(sum).for_each(|(to, sum)| *to = (sum / length) as f32);
            }
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::neighbours;
    use crate::linalg::random::{generator, glorot};

    /// Unit rows about so many points.
    fn rows(count: usize, groups: usize, spread: f32) -> Mat {
        let middles = glorot(&mut generator(1, 0), groups, 12);
        let noise = glorot(&mut generator(2, 0), count, 12);
        let mut rows = Mat::from_fn(count, 12, |row, col| {
            middles.get(row % groups, col) + spread * (count as f32).sqrt() * noise.get(row, col)
        });
        for row in 0..count {
            let length = rows.row(row).iter().map(|v| v * v).sum::<f32>().sqrt();
            rows.row_mut(row).iter_mut().for_each(|v| *v /= length);
        }
        rows
    }

    #[test]
    fn lists_hold_everybody_once_and_find_nearly_all() {
        let rows = rows(6000, 40, 0.02);
        let nodes = Likeness::from(rows.clone());
        let lists = Lists::new(&nodes, 3);
        let mut members = lists.members.clone();
        members.sort_unstable();
        assert_eq!(members, (0..6000).collect::<Vec<u32>>());
        let found = lists.search(&nodes, &|_| true, 1500, 0.1, Some(5));
        let exact = neighbours(&rows, 0.1, Some(5));
        let everybody: Vec<u32> = (0..6000).collect();
        let recall = recall(&exact, &found, &everybody);
        assert!((0.9..1.0).contains(&recall), "{recall}");
        for node in 0..6000 {
            assert!(found.row(node).all(|(other, value)| {
                let dot: f32 = rows.row(node).iter().zip(rows.row(other as usize)).map(|(a, b)| a * b).sum();
                other as usize != node && (dot - value).abs() < 1e-5
            }));
        }
    }

    #[test]
    fn who_looks_at_all_lists_finds_what_exact_search_finds() {
        let rows = rows(3000, 7, 0.05);
        let nodes = Likeness::product(rows.clone(), Mat::full(3000, 1, 1.0));
        let found = neighbours_in_lists(&nodes, |node| node % 3 == 0, 0.3, Some(4), 9);
        assert_eq!((found.recall, found.reach), (1.0, REACH.0));
        let exact = neighbours(&rows, 0.3, Some(4));
        for node in 0..3000usize {
            let same = found.neighbours.pattern.row(node) == exact.pattern.row(node);
            let none = found.neighbours.row(node).len() == 0;
            assert!(if node % 3 == 0 { same } else { none }, "{node}");
        }
    }

    #[test]
    fn twins_by_the_thousand_do_not_make_one_endless_list_and_who_points_nowhere_is_in_none() {
        let rows = Mat::from_fn(12_000, 3, |row, col| match row {
            0..=9 => 0.0,
            _ if row < 11_000 => [0.0, 0.6, 0.8][col],
            _ => [1.0, 0.0, 0.0][col],
        });
        let nodes = Likeness::from(rows);
        let lists = Lists::new(&nodes, 1);
        assert_eq!(lists.members.len(), 11_990);
        let longest = lists.bounds.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest <= Some(LONGEST * LIST), "{longest:?}");
        let found = neighbours_in_lists(&nodes, |_| true, 0.5, Some(3), 1);
        assert_eq!(found.recall, 1.0);
        assert!((0..10).all(|node| found.neighbours.row(node).len() == 0));
        assert!((10..12_000).all(|node| found.neighbours.row(node).len() == 3));
    }

    #[test]
    fn same_bits_on_one_and_two_threads() {
        let nodes = Likeness::from(rows(4000, 30, 0.05));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| neighbours_in_lists(&nodes, |_| true, 0.2, Some(6), 4).neighbours)
        };
        assert_eq!(run(1), run(2));
    }
}
