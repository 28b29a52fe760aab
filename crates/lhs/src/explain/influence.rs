//! Which of many things decide, found by leaving them out: each by itself where they are few; otherwise in groups first, and
//! then each of those groups that matter most.

use serde::Serialize;

use crate::error::Result;

/// The things that matter most, and how many were looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Influence<T> {
    /// The one that matters most first.
    pub most: Vec<Weighed<T>>,
    /// How many there are, and how many were looked at.
    #[serde(flatten)]
    pub looked: Looked,
}

/// A thing, and what it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weighed<T> {
    /// The thing.
    #[serde(flatten)]
    pub what: T,
    /// How much the probability of the predicted class falls without it; below 0, it rises.
    pub fall: f32,
}

/// How thoroughly was looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Looked {
    /// How many there are.
    pub all: usize,
    /// How many were left out, each by itself.
    pub singly: usize,
}

impl<T> Influence<T> {
    pub(super) fn new<K: Copy>(
        falls: Vec<(K, f32)>,
        looked: Looked,
        top: usize,
        describe: impl Fn(K) -> T,
    ) -> Self {
        let weighed = |(key, fall): (K, f32)| Weighed { what: describe(key), fall };
        Influence { most: falls.into_iter().take(top).map(weighed).collect(), looked }
    }

    /// Whether there are some that were not looked at by themselves.
    pub fn is_partial(&self) -> bool {
        self.looked.singly < self.looked.all
    }
}

/// How many tries [`of`] takes.
pub(super) fn tries(all: usize, budget: usize) -> usize {
    all.min(budget)
}

/// Leaves things out, `budget` times at most; what `fall` says decides. Those that were left out by themselves, the one
/// that matters most first; of equals the earlier.
pub(super) fn of<K: Copy>(
    all: &[K],
    budget: usize,
    mut fall: impl FnMut(&[K]) -> Result<f32>,
) -> Result<(Vec<(K, f32)>, Looked)> {
    let chosen: Vec<K> = if all.len() <= budget {
        all.to_vec()
    } else {
        let groups = (budget / 2).max(1);
        let size = all.len().div_ceil(groups);
        let mut weighed = Vec::new();
        for group in all.chunks(size) {
            weighed.push((group, fall(group)?));
        }
        by_size(&mut weighed);
        let used = weighed.len();
        weighed
            .into_iter()
            .flat_map(|(group, _)| group.iter().copied())
            .take(budget - used.min(budget))
            .collect()
    };
    let mut found = Vec::new();
    for key in &chosen {
        found.push((*key, fall(std::slice::from_ref(key))?));
    }
    by_size(&mut found);
    Ok((found, Looked { all: all.len(), singly: chosen.len() }))
}

fn by_size<K>(found: &mut [(K, f32)]) {
    found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_left_out_and_of_many_the_group_that_matters() {
        let weight = |key: u32| if key == 637 { 0.5 } else { 0.0001 };
        for (count, budget) in [(700u32, 60), (700, 700), (638, 10)] {
            let all: Vec<u32> = (0..count).collect();
            let mut tried = 0;
            let (found, looked) = of(&all, budget, |keys| {
                tried += 1;
                Ok(keys.iter().map(|key| weight(*key)).sum())
            })
            .unwrap();
            assert!(tried <= budget && tried <= tries(all.len(), budget), "{tried} tries of {budget}");
            assert_eq!(looked.singly, found.len());
            if budget >= 60 {
                assert_eq!(found[0].0, 637);
            }
            assert_eq!(looked.singly == looked.all, budget >= all.len());
        }
    }
}
