//! Independent pieces of work (splits, seeds, trials) on separate cores.
//!
//! An epoch on a small graph does not parallelise, ten splits do: so each piece runs in a rayon pool of
//! its own, whose size is what is left of the threads. When the pieces fill the cores, kernels see one thread.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// Runs `work(0) … work(count - 1)` on up to `threads` threads; results stand in the order of the pieces.
///
/// After an error no further piece is started; of several errors the one of the first piece is returned.
pub fn map<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let workers = threads.clamp(1, count.max(1));
    let pools: Vec<_> = (0..workers).map(|_| pool(threads / workers)).collect::<Result<_>>()?;
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                break;
            }
            let result = work(piece);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((piece, result));
        }
        done
    };
    let mut done: Vec<(usize, Result<T>)> = thread::scope(|scope| {
        let handles: Vec<_> = pools.iter().map(|pool| scope.spawn(|| pool.install(worker))).collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}

fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .map_err(|error| Error::data(format!("cannot start {threads} threads: {error}"), "use one thread"))
}

/// A seed for one piece of work, well apart from those of its neighbours (SplitMix64's finaliser).
pub fn seed_of(seed: u64, piece: u64) -> u64 {
    let mut mixed = seed ^ (piece.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order_and_kernels_share_the_threads() {
        for (threads, count, share) in [(1, 5, 1), (2, 5, 1), (4, 2, 2), (6, 1, 6)] {
            let results = map(count, threads, |piece| Ok((piece, rayon::current_num_threads()))).unwrap();
            assert_eq!(results, (0..count).map(|piece| (piece, share)).collect::<Vec<_>>());
        }
        assert!(map(0, 2, |_| Ok(())).unwrap().is_empty());
    }

    #[test]
    fn the_first_error_is_returned() {
        let result = map(8, 2, |piece| match piece {
            3.. => Err(Error::data(format!("piece {piece}"), "")),
            _ => Ok(()),
        });
        assert_eq!(result.unwrap_err().to_string(), "piece 3");
    }

    #[test]
    fn seeds_differ() {
        let mut seeds: Vec<u64> = (0..50).flat_map(|s| (0..50).map(move |p| seed_of(s, p))).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 2500);
    }
}
