//! What follows from votes of which an attacker can change a few.
//!
//! Of `n_A` votes for the winner `A` and `n_B` for another class, `A` stands while `r ≤ ⌊(n_A - n_B - [B before A]) / 2⌋` for every
//! `B`, since each changed vote takes one from `A` and gives one to `B`; of equals the class that comes first wins (Levine and
//! Feizi 2021, deep partition aggregation). For a set of nodes the attacker must choose the same `r` voters for all of them, so more
//! nodes stand than one by one: the least over all sets of `r` voters is found by trying them, as long as they are few.

use rayon::prelude::*;

/// Sets of voters times nodes times classes that are tried at most for a collective bound.
const TRIED: u64 = 400_000_000;
/// Voters whose sets can be counted in one word.
const WORD: usize = 64;

/// The class that each voter gives each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Votes {
    num_classes: usize,
    voters: Vec<Vec<u32>>,
}

/// How many nodes of a set stand, whichever voters are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// At least so many.
    pub nodes: usize,
    /// Whether that is the exact number that the votes warrant, or the sum of what holds for each node alone.
    pub exact: bool,
}

impl Votes {
    /// One list of classes, node by node, for each voter.
    pub fn new(num_classes: usize, voters: Vec<Vec<u32>>) -> Self {
        Votes { num_classes, voters }
    }

    /// How many vote.
    pub fn num_voters(&self) -> usize {
        self.voters.len()
    }

    /// How many nodes are voted on.
    pub fn num_nodes(&self) -> usize {
        self.voters.first().map_or(0, Vec::len)
    }

    /// What each voter says, node by node.
    pub fn voters(&self) -> &[Vec<u32>] {
        &self.voters
    }

    /// Votes for each class at a node.
    pub fn counts(&self, node: usize) -> Vec<usize> {
        let mut counts = vec![0; self.num_classes];
        self.voters.iter().for_each(|voter| counts[voter[node] as usize] += 1);
        counts
    }

    /// The class with the most votes; of equals, the first.
    pub fn winner(&self, node: usize) -> u32 {
        winner(&self.counts(node)) as u32
    }

    /// So many voters may change their minds, in whatever way, and the winner is the same.
    pub fn radius(&self, node: usize) -> usize {
        radius(&self.counts(node))
    }

    /// Beyond this radius no node can stand.
    pub fn largest_radius(&self) -> usize {
        self.num_voters() / 2
    }

    /// How many of these nodes are right, and stay so whichever `radius` voters change for each of them.
    pub fn certified(&self, nodes: &[(u32, u32)], radius: usize) -> usize {
        let right = |&&(node, class): &&(u32, u32)| {
            self.winner(node as usize) == class && self.radius(node as usize) >= radius
        };
        nodes.iter().filter(right).count()
    }

    /// How many of these nodes, `(node, class)`, stay right whichever `changed` voters change, the same for all nodes.
    pub fn collective(&self, nodes: &[(u32, u32)], changed: usize) -> Stand {
        let alone = self.certified(nodes, changed);
        let voters = self.num_voters();
        // Those that stand alone stand in any case, and those that are wrong are not counted.
        let open: Vec<Seats> = nodes
            .iter()
            .filter(|(node, class)| self.winner(*node as usize) == *class)
            .filter(|(node, _)| self.radius(*node as usize) < changed)
            .map(|(node, class)| self.seats(*node as usize, *class as usize))
            .collect();
        if open.is_empty() || changed >= voters {
            return Stand { nodes: alone, exact: true };
        }
        let work = subsets(voters, changed)
            .and_then(|sets| sets.checked_mul((open.len() * self.num_classes) as u64))
            .filter(|work| voters < WORD && *work <= TRIED);
        if work.is_none() {
            return Stand { nodes: alone, exact: false };
        }
        // Sets by their lowest voter, side by side; a minimum is the same in any order.
        let least = (0..voters)
            .into_par_iter()
            .filter_map(|lowest| {
                let rest = sets_above(lowest, voters, changed);
                rest.map(|set| open.iter().filter(|seats| seats.stand(set)).count()).min()
            })
            .min();
        Stand { nodes: alone + least.unwrap_or(0), exact: true }
    }

    fn seats(&self, node: usize, winner: usize) -> Seats {
        let mut of_class = vec![0u64; self.num_classes];
        for (place, voter) in self.voters.iter().enumerate().filter(|(place, _)| *place < WORD) {
            of_class[voter[node] as usize] |= 1 << place;
        }
        let own = of_class.remove(winner);
        let others = of_class.iter().enumerate().map(|(class, seats)| {
            // Whether it wins of equals: the winner was taken out, so classes before it kept their numbers.
            (*seats, u32::from(class < winner))
        });
        Seats { own, others: others.collect() }
    }
}

/// Who votes for what at one node, as sets of voters.
struct Seats {
    own: u64,
    /// Of the other classes, and 1 for those that win of equals.
    others: Vec<(u64, u32)>,
}

impl Seats {
    /// Whether the winner wins even if all of a set vote for the same other class.
    fn stand(&self, set: u64) -> bool {
        let own = (self.own & !set).count_ones();
        self.others.iter().all(|(seats, first)| own >= (seats | set).count_ones() + first)
    }
}

/// All sets of `size` voters whose lowest is this one.
fn sets_above(lowest: usize, voters: usize, size: usize) -> impl Iterator<Item = u64> {
    // The others are drawn from the voters above it, in ascending order of the word (Gosper's hack).
    let (above, others) = (voters - lowest - 1, size - 1);
    let first = if others > above { None } else { Some((1u64 << others) - 1) };
    std::iter::successors(first, move |&set| {
        if set == 0 {
            return None;
        }
        let low = set & set.wrapping_neg();
        let carried = set + low;
        let next = (((carried ^ set) >> 2) / low) | carried;
        (next < 1 << above).then_some(next)
    })
    .map(move |set| (set << (lowest + 1)) | (1 << lowest))
}

/// How many sets of `size` there are; none where they cannot be counted.
fn subsets(voters: usize, size: usize) -> Option<u64> {
    (0..size as u64).try_fold(1u64, |count, k| Some(count.checked_mul(voters as u64 - k)? / (k + 1)))
}

fn winner(counts: &[usize]) -> usize {
    (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0)
}

fn radius(counts: &[usize]) -> usize {
    let first = winner(counts);
    let others = (0..counts.len()).filter(|&class| class != first);
    // The winner has more votes than a class before it, so this is never below 0.
    let room = |class: usize| (counts[first] - counts[class] - usize::from(class < first)) / 2;
    others.map(room).min().unwrap_or(counts[first])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way in which at most `changed` voters can vote otherwise, at one node after the other.
    fn stands_by_trying(votes: &[u32], classes: u32, changed: usize) -> bool {
        let of = |votes: &[u32]| {
            let mut counts = vec![0; classes as usize];
            votes.iter().for_each(|class| counts[*class as usize] += 1);
            winner(&counts)
        };
        let before = of(votes);
        let all = (classes as usize).pow(votes.len() as u32);
        (0..all).all(|mut number| {
            let other: Vec<u32> = votes
                .iter()
                .map(|_| {
                    let class = number % classes as usize;
                    number /= classes as usize;
                    class as u32
                })
                .collect();
            let differ = other.iter().zip(votes).filter(|(a, b)| a != b).count();
            differ > changed || of(&other) == before
        })
    }

    fn drawn(voters: usize, nodes: usize, classes: u32, seed: u64) -> Votes {
        let draw = |voter: usize, node: usize| {
            let mixed = crate::linalg::random::derive(seed, &[voter as u64, node as u64]);
            // Uneven, so that some nodes are unanimous.
            if !mixed.is_multiple_of(3) { (node as u32) % classes } else { (mixed >> 8) as u32 % classes }
        };
        let voters = (0..voters).map(|voter| (0..nodes).map(|node| draw(voter, node)).collect());
        Votes::new(classes as usize, voters.collect())
    }

    #[test]
    fn the_radius_is_what_trying_every_change_finds() {
        for (voters, classes) in [(2, 2), (5, 3), (6, 2), (7, 3)] {
            let votes = drawn(voters, 30, classes, 1);
            for node in 0..30 {
                let said: Vec<u32> = votes.voters().iter().map(|voter| voter[node]).collect();
                let radius = votes.radius(node);
                assert!(stands_by_trying(&said, classes, radius), "{said:?}: {radius}");
                assert!(!stands_by_trying(&said, classes, radius + 1), "{said:?}: {radius} is too careful");
            }
        }
    }

    #[test]
    fn of_equals_the_first_class_wins() {
        let of = |votes: &[u32]| Votes::new(3, votes.iter().map(|class| vec![*class]).collect());
        assert_eq!((of(&[2, 1, 1, 2]).winner(0), of(&[2, 1, 1, 2]).radius(0)), (1, 0));
        assert_eq!(
            (of(&[2, 2, 2, 0]).winner(0), of(&[2, 2, 2, 0]).radius(0)),
            (2, 0),
            "one vote makes it a tie"
        );
        assert_eq!(of(&[0, 0, 0, 2]).radius(0), 1, "and the tie is won");
        assert_eq!(of(&[0; 11]).radius(0), 5);
        assert_eq!(of(&[2; 10]).radius(0), 4);
    }

    #[test]
    fn the_collective_bound_is_what_trying_every_set_finds() {
        let (voters, classes, nodes) = (5, 3, 12);
        for seed in 0..4 {
            let votes = drawn(voters, nodes, classes, seed);
            let asked: Vec<(u32, u32)> = (0..nodes as u32).map(|node| (node, node % classes)).collect();
            for changed in 0..=voters {
                let found = votes.collective(&asked, changed);
                // Within a set of voters, every node has its own worst change: all of the set say the same other class.
                let worst = (0u32..1 << voters)
                    .filter(|set| set.count_ones() as usize == changed)
                    .map(|set| {
                        let right = |&&(node, class): &&(u32, u32)| {
                            (0..classes).all(|all_say| {
                                let said = |place: usize, voter: &Vec<u32>| {
                                    if set >> place & 1 == 1 { all_say } else { voter[node as usize] }
                                };
                                let mut counts = vec![0; classes as usize];
                                votes
                                    .voters()
                                    .iter()
                                    .enumerate()
                                    .for_each(|(p, v)| counts[said(p, v) as usize] += 1);
                                winner(&counts) as u32 == class
                            })
                        };
                        asked.iter().filter(right).count()
                    })
                    .min();
                assert_eq!((Some(found.nodes), found.exact), (worst, true), "seed {seed}, {changed} changed");
                assert!(found.nodes >= votes.certified(&asked, changed));
            }
        }
    }

    #[test]
    fn where_sets_are_too_many_the_sum_of_the_single_ones_is_given_and_said() {
        let votes = drawn(63, 200, 4, 0);
        let asked: Vec<(u32, u32)> = (0..200).map(|node| (node, node % 4)).collect();
        assert_eq!(votes.collective(&asked, 25), Stand { nodes: votes.certified(&asked, 25), exact: false });
        assert_eq!(subsets(21, 10), Some(352_716));
        assert_eq!(sets_above(2, 6, 3).count(), 3);
    }
}
