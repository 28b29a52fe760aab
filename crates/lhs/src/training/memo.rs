//! Work that several fits share, such as what needs no labels.
//!
//! A [`MemoKey`] holds everything that a result depends on, the data by its content. Whoever asks first computes, others
//! who ask meanwhile wait; results are the same with and without a memo.

use std::any::Any;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::graph::{Features, Graph, Labelled};
use crate::linalg::random::derive;

type Held = Arc<dyn Any + Send + Sync>;
type Slot = Arc<Mutex<Option<Held>>>;

/// Everything that a result depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoKey(String);

impl MemoKey {
    /// Begins with what the result is.
    pub fn new(what: &str) -> Self {
        MemoKey(what.to_string())
    }

    /// It depends on a graph: its edges, their direction and their weights.
    pub fn graph(self, graph: &Graph) -> Self {
        let adjacency = graph.adjacency();
        let hash =
            content(u64::from(graph.is_directed()), adjacency.indptr().iter().map(|&bound| bound as u64));
        let hash = content(hash, adjacency.indices().iter().map(|&node| u64::from(node)));
        let weights = graph.weights().unwrap_or_default();
        self.add(format_args!(
            "graph {:x}",
            content(hash, weights.iter().map(|weight| u64::from(weight.to_bits())))
        ))
    }

    /// It depends on features.
    pub fn features(self, features: &Features) -> Self {
        let mut hash = content(features.num_nodes() as u64, [features.dim() as u64].into_iter());
        if let Features::Sparse(mat) = features {
            hash = content(hash, mat.pattern.indptr().iter().map(|&bound| bound as u64));
            hash = content(hash, mat.pattern.indices().iter().map(|&column| u64::from(column)));
        }
        let values = features.values().iter().map(|value| u64::from(value.to_bits()));
        self.add(format_args!("features {:x}", content(hash, values)))
    }

    /// It depends on labels.
    pub fn labels(self, labelled: &Labelled) -> Self {
        let hash = content(labelled.nodes.len() as u64, labelled.nodes.iter().map(|&node| u64::from(node)));
        let classes = labelled.classes.iter().map(|&class| u64::from(class));
        self.add(format_args!("labels {:x}", content(hash, classes)))
    }

    /// It depends on a setting, or on several.
    pub fn setting(self, value: impl Debug) -> Self {
        self.add(format_args!("{value:?}"))
    }

    fn add(mut self, part: std::fmt::Arguments<'_>) -> Self {
        // Writing to a string does not fail.
        let _ = write!(self.0, ", {part}");
        self
    }
}

/// A hash of numbers in their order, which goes on from another.
fn content(start: u64, numbers: impl Iterator<Item = u64>) -> u64 {
    let mixed = numbers
        .fold(start, |hash, number| (hash.rotate_left(23) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    derive(start, &[mixed])
}

/// Results by key, of which the most recently used are kept.
pub struct Memo {
    capacity: usize,
    /// Least recently used first.
    slots: Mutex<Vec<(MemoKey, Slot)>>,
}

impl Memo {
    /// Keeps up to `capacity` results.
    pub fn holding(capacity: usize) -> Self {
        Memo { capacity, slots: Mutex::new(Vec::new()) }
    }

    /// The result kept under a key, made now if there is none.
    pub fn get<T: Send + Sync + 'static>(
        &self,
        key: MemoKey,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let slot = self.slot(key);
        let mut slot = lock(&slot);
        if let Some(Ok(held)) = slot.clone().map(|held| held.downcast::<T>()) {
            return Ok(held);
        }
        let made = Arc::new(make()?);
        *slot = Some(made.clone());
        Ok(made)
    }

    fn slot(&self, key: MemoKey) -> Slot {
        let mut slots = lock(&self.slots);
        let used = match slots.iter().position(|(other, _)| *other == key) {
            Some(place) => slots.remove(place),
            None => (key, Slot::default()),
        };
        let slot = used.1.clone();
        slots.push(used);
        let surplus = slots.len().saturating_sub(self.capacity);
        slots.drain(..surplus);
        slot
    }
}

/// Locks, whoever panicked before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::linalg::Mat;

    #[test]
    fn what_was_used_least_recently_is_made_again() {
        let memo = Memo::holding(2);
        let made = Mutex::new(Vec::new());
        let get = |key: &'static str| {
            let result = memo.get(MemoKey::new(key), || {
                lock(&made).push(key);
                Ok(key.len())
            });
            assert_eq!(*result.unwrap(), key.len());
        };
        ["a", "bb", "a", "ccc", "a", "bb"].into_iter().for_each(get);
        assert_eq!(*lock(&made), ["a", "bb", "ccc", "bb"]);
    }

    #[test]
    fn keys_differ_in_whatever_a_result_depends_on() {
        let graph = |edges: &[(u32, u32)]| Graph::from_edges(4, edges).unwrap().0;
        let features = |value| Features::Dense(Mat::full(4, 2, value));
        let labels = |class| Labelled { nodes: vec![0, 1], classes: vec![0, class] };
        let key = |edges: &[(u32, u32)], value, class, setting: f32| {
            let data = MemoKey::new("a").graph(&graph(edges)).features(&features(value));
            data.labels(&labels(class)).setting(setting)
        };
        let first = key(&[(0, 1)], 1.0, 1, 0.5);
        assert_eq!(first, key(&[(0, 1)], 1.0, 1, 0.5));
        for other in [
            key(&[(0, 2)], 1.0, 1, 0.5),
            key(&[(0, 1)], 2.0, 1, 0.5),
            key(&[(0, 1)], 1.0, 2, 0.5),
            key(&[(0, 1)], 1.0, 1, 0.25),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn a_failure_is_not_kept() {
        let memo = Memo::holding(2);
        assert!(memo.get::<u32>(MemoKey::new("a"), || Err(Error::data("no", "yes"))).is_err());
        assert_eq!(*memo.get(MemoKey::new("a"), || Ok(1)).unwrap(), 1);
    }
}
