//! Threads for file access, with a deadline.
//!
//! A thread that waits for a dead mount cannot be ended. It stays blocked and counts against two limits:
//! [`MOST_PER_PLACE`] for one place, so that a dead mount does not delay access to other places, and [`MOST`] in all.
//! These are separate threads, not the runtime's pool, because a runtime waits for its own threads when it shuts down.

use deskbell_api::{CommandError, ErrorCode};
use std::any::Any;
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};

/// Enough for a disk that spins up, or a slow network.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Maximum number of threads at work for one place. Further work waits for them until its own deadline.
const MOST_PER_PLACE: usize = 4;

/// Maximum number of threads at work in all.
const MOST: usize = 64;

/// File access that did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    #[error("{} did not respond within {} s; the disk or network that it is on may be gone", place.display(), deadline.as_secs_f32())]
    TimedOut { place: PathBuf, deadline: Duration },
    #[error("no thread could be started to read {}: {source}", place.display())]
    NoThread { place: PathBuf, source: io::Error },
}

impl From<Unfinished> for io::Error {
    fn from(error: Unfinished) -> Self {
        match error {
            Unfinished::TimedOut { .. } => Self::new(io::ErrorKind::TimedOut, error),
            Unfinished::NoThread { source, .. } => source,
        }
    }
}

impl From<Unfinished> for CommandError {
    fn from(error: Unfinished) -> Self {
        Self {
            code: ErrorCode::Internal,
            message: "A disk or a network folder does not respond.".to_owned(),
            detail: Some(error.to_string()),
        }
    }
}

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(MOST, MOST_PER_PLACE));

/// File access, and its result. Some two hundred callers have a type of their own each; with them in [`Pool`], its code would
/// be compiled for each of them.
type Access = Box<dyn FnOnce() -> Done + Send>;
type Done = Box<dyn Any + Send>;

/// Runs file access on a separate thread. `place` is the folder that it depends on: a project or Deskbell's own data.
///
/// At the deadline this returns, but the access continues in the background until the system call returns. An access
/// with side effects must tolerate taking effect late.
pub async fn run<T: Send + 'static>(
    place: &Path,
    deadline: Duration,
    access: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unfinished> {
    POOL.run(place, deadline, access).await
}

struct Pool {
    all: Arc<Semaphore>,
    per_place: usize,
    places: Mutex<HashMap<PathBuf, Weak<Semaphore>>>,
}

impl Pool {
    fn new(most: usize, per_place: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(most)), per_place, places: Mutex::default() }
    }

    async fn run<T: Send + 'static>(
        &self,
        place: &Path,
        deadline: Duration,
        access: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unfinished> {
        let done = self.work(place, deadline, Box::new(move || Box::new(access()))).await?;
        Ok(*done.downcast().unwrap_or_else(|_| unreachable!("the access returned this type")))
    }

    async fn work(&self, place: &Path, deadline: Duration, access: Access) -> Result<Done, Unfinished> {
        let timed_out = || Unfinished::TimedOut { place: place.to_owned(), deadline };
        let until = Instant::now() + deadline;
        let permits = timeout_at(until, self.permits(place)).await.map_err(|_| timed_out())?;
        let (sender, done) = oneshot::channel();
        let thread = std::thread::Builder::new().name("disk".to_owned());
        let started = thread.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(access));
            drop(permits);
            // After the deadline the receiver is gone.
            drop(sender.send(result));
        });
        started.map_err(|source| Unfinished::NoThread { place: place.to_owned(), source })?;
        match timeout_at(until, done).await {
            Ok(Ok(Ok(done))) => Ok(done),
            Ok(Ok(Err(panic))) => resume_unwind(panic),
            // The thread always sends; a closed channel is treated like a timeout.
            Ok(Err(_)) | Err(_) => Err(timed_out()),
        }
    }

    /// The thread keeps both permits while it works. The permit of the place is acquired first, so that waiting for one
    /// place does not delay another.
    async fn permits(&self, place: &Path) -> Option<[OwnedSemaphorePermit; 2]> {
        let of_place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.retain(|_, semaphore| semaphore.strong_count() > 0);
            places.get(place).and_then(Weak::upgrade).unwrap_or_else(|| {
                let semaphore = Arc::new(Semaphore::new(self.per_place));
                places.insert(place.to_owned(), Arc::downgrade(&semaphore));
                semaphore
            })
        };
        // An error means that the semaphore was closed; these are never closed.
        let of_place = of_place.acquire_owned().await.ok()?;
        let of_all = self.all.clone().acquire_owned().await.ok()?;
        Some([of_place, of_all])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const SOON: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    /// An access that blocks until the sender is dropped.
    fn stuck() -> (mpsc::Sender<()>, impl FnOnce() + Send + 'static) {
        let (sender, receiver) = mpsc::channel::<()>();
        (sender, move || receiver.recv().unwrap_or_default())
    }

    #[tokio::test]
    async fn access_that_never_ends_returns_at_its_deadline() {
        let (_end, access) = stuck();
        let error = run(Path::new("/mnt/gone"), SOON, access).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "/mnt/gone did not respond within 0.05 s; the disk or network that it is on may be gone"
        );
    }

    #[tokio::test]
    async fn a_dead_place_holds_up_no_other_and_costs_few_threads() {
        let pool = Pool::new(MOST, MOST_PER_PLACE);
        let mut ends = Vec::new();
        for _ in 0..3 * MOST_PER_PLACE {
            let (end, access) = stuck();
            ends.push(end);
            assert!(pool.run(Path::new("/mnt/gone"), SOON, access).await.is_err());
        }
        assert_eq!(pool.all.available_permits(), MOST - MOST_PER_PLACE);
        assert_eq!(pool.run(Path::new("/home"), LONG, || 7).await.unwrap(), 7);
        // The place responds again: waiting accesses continue.
        drop(ends);
        assert_eq!(pool.run(Path::new("/mnt/gone"), LONG, || 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn many_dead_places_are_bounded_together() {
        let pool = Pool::new(3, 1);
        let mut ends = Vec::new();
        for n in 0..5 {
            let (end, access) = stuck();
            ends.push(end);
            assert!(pool.run(Path::new(&format!("/mnt/{n}")), SOON, access).await.is_err());
        }
        assert_eq!(pool.all.available_permits(), 0);
        assert!(pool.places.lock().unwrap().len() <= 4);
    }

    #[tokio::test]
    async fn a_runtime_ends_while_access_is_stuck() {
        let (_end, access) = stuck();
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(run(Path::new("/mnt/never"), SOON, access)).unwrap_err();
        });
        let done = tokio::task::spawn_blocking(move || ended.join().unwrap());
        tokio::time::timeout(LONG, done).await.unwrap().unwrap();
    }

    #[tokio::test]
    #[should_panic(expected = "planted")]
    async fn a_panic_reaches_the_caller() {
        run(Path::new("/"), LONG, || panic!("planted")).await.unwrap();
    }
}
