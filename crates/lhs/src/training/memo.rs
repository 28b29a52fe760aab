//! Work that several fits on the same dataset share, such as what needs no labels.
//!
//! One memo belongs to one dataset, and a key names everything else that the result depends on. Whoever asks first
//! computes, others who ask meanwhile wait; results are the same with and without a memo.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;

type Held = Arc<dyn Any + Send + Sync>;
type Slot = Arc<Mutex<Option<Held>>>;

/// Results by key, of which the most recently used are kept.
pub struct Memo {
    capacity: usize,
    /// Least recently used first.
    slots: Mutex<Vec<(String, Slot)>>,
}

impl Memo {
    /// Keeps up to `capacity` results.
    pub fn holding(capacity: usize) -> Self {
        Memo { capacity, slots: Mutex::new(Vec::new()) }
    }

    /// The result kept under a key, made now if there is none.
    pub fn get<T: Send + Sync + 'static>(
        &self,
        key: String,
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

    fn slot(&self, key: String) -> Slot {
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

    #[test]
    fn what_was_used_least_recently_is_made_again() {
        let memo = Memo::holding(2);
        let made = Mutex::new(Vec::new());
        let get = |key: &'static str| {
            let result = memo.get(key.into(), || {
                lock(&made).push(key);
                Ok(key.len())
            });
            assert_eq!(*result.unwrap(), key.len());
        };
        ["a", "bb", "a", "ccc", "a", "bb"].into_iter().for_each(get);
        assert_eq!(*lock(&made), ["a", "bb", "ccc", "bb"]);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let memo = Memo::holding(2);
        assert!(memo.get::<u32>("a".into(), || Err(Error::data("no", "yes"))).is_err());
        assert_eq!(*memo.get("a".into(), || Ok(1)).unwrap(), 1);
    }
}
