//! Node ids as the user wrote them, numbered in the order of their first mention.
//!
//! An edge table mentions every id many times, so a mention must cost neither an allocation nor, for
//! small whole numbers, a hash: those index a plain vector.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// Whole numbers below this are looked up in a vector (at most 128 MiB of it).
const SMALL: usize = 1 << 25;
/// Marks a whole number that has not been seen.
const UNSEEN: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Ids {
    small: Vec<u32>,
    large: HashMap<i64, u32>,
    texts: HashMap<Box<str>, u32>,
    /// The whole number that each id is; unused for texts.
    integers: Vec<i64>,
}

/// The final order of the nodes.
pub(super) struct Order {
    /// The final number of each id, by the number that [`Ids::number`] gave.
    pub rank: Vec<u32>,
    /// The ids in their final order; `None` when they are 0, 1, 2, …
    pub names: Option<Vec<String>>,
}

impl Order {
    /// What the user calls the node with this final number.
    pub fn name(&self, node: u32) -> String {
        self.names.as_ref().map_or_else(|| node.to_string(), |names| names[node as usize].clone())
    }
}

impl Ids {
    pub fn len(&self) -> usize {
        self.integers.len()
    }

    /// The number of an id, new or known.
    pub fn number(&mut self, id: &str) -> Result<u32> {
        let next = self.len() as u32;
        if next == UNSEEN {
            return Err(Error::data("more than 4,294,967,294 nodes", "split the graph"));
        }
        let Some(integer) = canonical_integer(id) else {
            if let Some(&known) = self.texts.get(id) {
                return Ok(known);
            }
            self.texts.insert(id.into(), next);
            self.integers.push(0);
            return Ok(next);
        };
        let number = match usize::try_from(integer) {
            Ok(small) if small < SMALL => {
                if small >= self.small.len() {
                    self.small.resize((small + 1).next_power_of_two(), UNSEEN);
                }
                let slot = &mut self.small[small];
                if *slot == UNSEEN {
                    *slot = next;
                }
                *slot
            }
            _ => *self.large.entry(integer).or_insert(next),
        };
        if number == next {
            self.integers.push(integer);
        }
        Ok(number)
    }

    /// The number of an id that has been seen.
    pub fn get(&self, id: &str) -> Option<u32> {
        let Some(integer) = canonical_integer(id) else { return self.texts.get(id).copied() };
        match usize::try_from(integer) {
            Ok(small) if small < SMALL => self.small.get(small).copied().filter(|&number| number != UNSEEN),
            _ => self.large.get(&integer).copied(),
        }
    }

    /// Whole numbers ascending if all ids are whole numbers, otherwise the order of first mention.
    pub fn into_order(self) -> Order {
        if self.texts.is_empty() { self.by_value() } else { self.by_mention() }
    }

    fn by_value(self) -> Order {
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        sorted.sort_unstable_by_key(|&id| self.integers[id as usize]);
        let mut rank = vec![0u32; self.len()];
        for (place, &id) in sorted.iter().enumerate() {
            rank[id as usize] = place as u32;
        }
        let integers = sorted.iter().map(|&id| self.integers[id as usize]);
        let plain = integers.clone().eq(0..self.len() as i64);
        Order { rank, names: (!plain).then(|| integers.map(|integer| integer.to_string()).collect()) }
    }

    fn by_mention(self) -> Order {
        let mut names: Vec<String> = self.integers.iter().map(i64::to_string).collect();
        // The order of the map does not matter: every text knows its own place.
        for (text, number) in self.texts {
            names[number as usize] = text.into_string();
        }
        Order { rank: (0..names.len() as u32).collect(), names: Some(names) }
    }
}

/// The whole number that a text is, if it is written the way a program would write it: `007` and `+7` are
/// not the node 7.
fn canonical_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let canonical = match digits {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(ids: &[&str]) -> (Vec<u32>, Order) {
        let mut known = Ids::default();
        let numbers = ids.iter().map(|id| known.number(id).unwrap()).collect();
        assert!(ids.iter().all(|id| known.get(id).is_some()));
        assert_eq!(known.get("nobody"), None);
        (numbers, known.into_order())
    }

    #[test]
    fn numbers_from_zero_need_no_names() {
        let (numbers, order) = order(&["2", "0", "2", "1"]);
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!(order.rank, [2, 0, 1]);
        assert_eq!(order.names, None);
    }

    #[test]
    fn other_whole_numbers_are_sorted_by_value() {
        let (_, order) = order(&["10", "9", "123456789012", "-4"]);
        assert_eq!(order.names.unwrap(), ["-4", "9", "10", "123456789012"]);
        assert_eq!(order.rank, [2, 1, 3, 0]);
    }

    #[test]
    fn texts_keep_their_order_and_their_zeros() {
        let (numbers, order) = order(&["b", "7", "a", "007", "b"]);
        assert_eq!(numbers, [0, 1, 2, 3, 0]);
        assert_eq!(order.names.unwrap(), ["b", "7", "a", "007"]);
    }

    #[test]
    fn only_canonical_integers_are_integers() {
        for text in ["", "-", "-0", "+1", "01", "1.0", "99999999999999999999", "1e3"] {
            assert_eq!(canonical_integer(text), None, "{text}");
        }
        assert_eq!(canonical_integer("-12"), Some(-12));
    }
}
