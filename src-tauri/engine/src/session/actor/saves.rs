//! The order of a session's saves.
//!
//! A save that misses its deadline still runs when the disk responds again. It must not overwrite a newer state of the
//! session with an older one.

use crate::store::StoreError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Default)]
pub(super) struct Saves(Arc<Shared>);

#[derive(Default)]
struct Shared {
    n_begun: AtomicU64,
    /// The number of the last save that was written.
    written: Mutex<u64>,
}

impl Saves {
    /// Wraps a save. Saves run one at a time, and none runs after a later one.
    pub fn next(
        &self,
        save: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
    ) -> impl FnOnce() -> Result<(), StoreError> + Send + 'static {
        let shared = self.0.clone();
        let nr = shared.n_begun.fetch_add(1, Ordering::Relaxed) + 1;
        move || {
            let mut written = shared.written.lock().unwrap_or_else(PoisonError::into_inner);
            if *written < nr {
                save()?;
                *written = nr;
            }
            // A later save contains everything that this one would have written.
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_save_does_not_undo_a_later_one() {
        let (saves, order) = (Saves::default(), Arc::new(Mutex::new(Vec::new())));
        let save = |nr: u32| {
            let order = order.clone();
            saves.next(move || {
                order.lock().unwrap().push(nr);
                Ok(())
            })
        };
        let (first, second, third) = (save(1), save(2), save(3));
        second().unwrap();
        first().unwrap();
        third().unwrap();
        assert_eq!(*order.lock().unwrap(), [2, 3]);
    }
}
