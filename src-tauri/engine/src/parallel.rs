//! Work on several threads whose results are used in the order of its inputs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Maximum number of threads.
const MOST_THREADS: usize = 4;

/// Inputs that a thread takes at a time. Of fewer than twice as many no thread is started.
const AT_A_TIME: usize = 32;

/// What `make` returns for each input, in order.
pub fn map<T: Sync, R: Send>(inputs: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(inputs.len());
    in_order(inputs, make, |_, result| results.push(result));
    results
}

/// Calls `take` on this thread with each input and what `make` returned for it, in order. Other threads call `make`, and
/// wait when they are far ahead.
pub fn in_order<T: Sync, R: Send>(inputs: &[T], make: impl Fn(&T) -> R + Sync, mut take: impl FnMut(&T, R)) {
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    if n_threads == 1 || inputs.len() < 2 * AT_A_TIME {
        return inputs.iter().for_each(|input| take(input, make(input)));
    }
    let parts: Vec<&[T]> = inputs.chunks(AT_A_TIME).collect();
    let (next, (parts, make)) = (AtomicUsize::new(0), (&parts, &make));
    let work = |made: &mpsc::SyncSender<(usize, Vec<R>)>| {
        loop {
            let nr = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(nr) else { return };
            // Without a receiver `take` has panicked.
            if made.send((nr, part.iter().map(make).collect())).is_err() {
                return;
            }
        }
    };
    let (sender, receiver) = mpsc::sync_channel(2 * n_threads);
    thread::scope(|scope| {
        // If `take` panics, it is dropped before the threads are joined: none waits for it.
        let receiver = receiver;
        let mut n_started = 0;
        for _ in 0..n_threads {
            let (sender, work) = (sender.clone(), &work);
            let begun = thread::Builder::new().spawn_scoped(scope, move || work(&sender));
            n_started += usize::from(begun.is_ok());
        }
        drop(sender);
        if n_started == 0 {
            return inputs.iter().for_each(|input| take(input, make(input)));
        }
        // Parts that are done before an earlier one.
        let (mut early, mut due) = (BTreeMap::new(), 0);
        while let Ok((nr, made)) = receiver.recv() {
            early.insert(nr, made);
            while let Some(made) = early.remove(&due) {
                parts[due].iter().zip(made).for_each(|(input, made)| take(input, made));
                due += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn results_come_in_the_order_of_the_inputs_however_long_each_takes() {
        for n in [0, 1, AT_A_TIME, 2 * AT_A_TIME, 10_000] {
            let inputs: Vec<usize> = (0..n).collect();
            let make = |nr: &usize| {
                if nr.is_multiple_of(97) {
                    thread::yield_now();
                }
                nr * 2
            };
            let mut seen = Vec::new();
            in_order(&inputs, make, |nr, doubled| seen.push((*nr, doubled)));
            assert!(seen.iter().copied().eq(inputs.iter().map(|nr| (*nr, nr * 2))), "{n}");
            assert_eq!(map(&inputs, make), inputs.iter().map(make).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_on_any_thread_ends_all() {
        let inputs: Vec<usize> = (0..100_000).collect();
        let fails = |nr: &usize| assert_ne!(*nr, 5_000);
        assert!(catch_unwind(AssertUnwindSafe(|| map(&inputs, fails))).is_err());
        let in_take = || in_order(&inputs, |nr| *nr, |_, nr| fails(&nr));
        assert!(catch_unwind(AssertUnwindSafe(in_take)).is_err());
    }
}
