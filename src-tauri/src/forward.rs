//! Events from a session to the window that shows it: at most one batch per frame, and at most a few batches that the
//! page has not processed yet.

use crate::emit;
use deskbell_engine::api::{Batch, WindowEvent};
use deskbell_engine::session::Feed;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tauri::AppHandle;
use tauri::async_runtime::JoinHandle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// One frame at 60 Hz.
const FRAME: Duration = Duration::from_millis(16);
/// Maximum number of batches in flight. Further events wait in the feed, where they merge.
const MAX_BATCHES_IN_FLIGHT: usize = 4;

/// Forwards one session to one window, until it is dropped.
pub struct Forward {
    feed: Arc<Feed>,
    credits: Arc<Credits>,
    task: JoinHandle<()>,
}

impl Forward {
    pub fn begin(app: AppHandle, label: String, feed: Arc<Feed>) -> Self {
        let credits = Arc::new(Credits::new());
        let task = tauri::async_runtime::spawn({
            let (feed, credits) = (feed.clone(), credits.clone());
            async move {
                let send = |batch| emit::to_window(&app, &label, WindowEvent::Batch(batch));
                forward(&*feed, &credits, send).await;
            }
        });
        Self { feed, credits, task }
    }

    pub fn session_id(&self) -> &deskbell_engine::api::SessionId {
        self.feed.session_id()
    }

    pub fn feed(&self) -> Arc<Feed> {
        self.feed.clone()
    }

    /// The page has processed everything up to `seq`.
    pub fn acknowledge(&self, seq: u64) {
        self.credits.acknowledge(seq);
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The batches in flight. Each forward has its own: a page that subscribes again begins with all credits, whatever it
/// did not acknowledge before.
struct Credits {
    free: Semaphore,
    /// The `seq` with which each batch in flight ends, in order.
    in_flight: Mutex<VecDeque<u64>>,
}

impl Credits {
    fn new() -> Self {
        Self { free: Semaphore::new(MAX_BATCHES_IN_FLIGHT), in_flight: Mutex::default() }
    }

    /// Waits until another batch may be sent.
    async fn take(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.free.acquire().await {
            permit.forget();
        }
    }

    /// A batch that ends with `seq` is about to be sent, for a credit that was taken.
    fn spend(&self, seq: u64) {
        self.lock().push_back(seq);
    }

    fn acknowledge(&self, seq: u64) {
        let mut in_flight = self.lock();
        while in_flight.front().is_some_and(|first| *first <= seq) {
            in_flight.pop_front();
            self.free.add_permits(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where batches come from: a feed, or a double of one in tests.
trait Batches {
    /// Waits until a batch is ready.
    async fn ready(&self);
    /// Takes the batch, with everything that was merged into it in the meantime.
    async fn next(&self) -> Batch;
}

impl Batches for Feed {
    async fn ready(&self) {
        Feed::ready(self).await;
    }

    async fn next(&self) -> Batch {
        Feed::next(self).await
    }
}

async fn forward(feed: &impl Batches, credits: &Credits, send: impl Fn(Batch)) {
    let mut not_before = Instant::now();
    loop {
        feed.ready().await;
        // The first event of an idle stream is sent at once; the others wait for their frame, and merge.
        tokio::time::sleep_until(not_before).await;
        credits.take().await;
        let batch = feed.next().await;
        credits.spend(batch.seq);
        send(batch);
        not_before = Instant::now() + FRAME;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{RowRange, SessionId};
    use tokio::sync::{mpsc, watch};

    /// A session whose events merge into one batch, as those of a feed do.
    struct Session {
        seq: watch::Sender<u64>,
        sent: Mutex<u64>,
    }

    impl Session {
        fn new() -> Self {
            Self { seq: watch::Sender::new(0), sent: Mutex::new(0) }
        }

        fn emit(&self) {
            self.seq.send_modify(|seq| *seq += 1);
        }
    }

    impl Batches for Session {
        async fn ready(&self) {
            let sent = *self.sent.lock().unwrap();
            self.seq.subscribe().wait_for(|seq| *seq > sent).await.unwrap();
        }

        async fn next(&self) -> Batch {
            let mut sent = self.sent.lock().unwrap();
            let (after, seq) = (*sent, *self.seq.borrow());
            *sent = seq;
            Batch {
                session_id: SessionId::new("s"),
                after,
                seq,
                rows: RowRange::default(),
                events: Vec::new(),
            }
        }
    }

    /// Runs `play` beside a forward. It gets the events of the session and what its window received.
    async fn with_window(play: impl AsyncFnOnce(&Session, &Credits, &mut mpsc::UnboundedReceiver<Batch>)) {
        let (session, credits) = (Session::new(), Credits::new());
        let (send, mut received) = mpsc::unbounded_channel();
        tokio::select! {
            () = forward(&session, &credits, |batch| send.send(batch).unwrap()) => unreachable!("it never ends"),
            () = play(&session, &credits, &mut received) => {}
        }
    }

    /// Emits one event after the other, until a window that acknowledges nothing has all batches that it may have.
    async fn fill(session: &Session, received: &mut mpsc::UnboundedReceiver<Batch>) -> u64 {
        let mut last = 0;
        for _ in 0..MAX_BATCHES_IN_FLIGHT {
            session.emit();
            last = received.recv().await.unwrap().seq;
        }
        last
    }

    async fn is_silent(received: &mut mpsc::UnboundedReceiver<Batch>) -> bool {
        tokio::time::timeout(FRAME * 4, received.recv()).await.is_err()
    }

    #[tokio::test]
    async fn a_window_that_acknowledges_nothing_gets_no_more_than_its_credits() {
        with_window(async |session, _, received| {
            assert_eq!(fill(session, received).await, 4);
            session.emit();
            assert!(is_silent(received).await, "a fifth batch was sent");
        })
        .await;
    }

    #[tokio::test]
    async fn what_waited_for_a_slow_window_comes_with_its_acknowledgement_and_without_a_gap() {
        with_window(async |session, credits, received| {
            let last = fill(session, received).await;
            (0..100).for_each(|_| session.emit());
            assert!(is_silent(received).await);
            // Two batches in one acknowledgement: two more may be sent.
            credits.acknowledge(last - 2);
            let batch = received.recv().await.unwrap();
            assert_eq!((batch.after, batch.seq), (last, last + 100));
            session.emit();
            assert_eq!(received.recv().await.unwrap().seq, last + 101);
            session.emit();
            assert!(is_silent(received).await, "two credits were returned, not more");
        })
        .await;
    }

    #[tokio::test]
    async fn an_acknowledgement_is_counted_once_and_one_of_an_earlier_subscription_not_at_all() {
        with_window(async |session, credits, received| {
            // The page acknowledges what an earlier forward of this session sent to it.
            credits.acknowledge(0);
            let last = fill(session, received).await;
            for _ in 0..3 {
                credits.acknowledge(last);
            }
            assert_eq!(credits.free.available_permits(), MAX_BATCHES_IN_FLIGHT);
            assert!(credits.lock().is_empty());
            fill(session, received).await;
            session.emit();
            assert!(is_silent(received).await, "there are never more credits than at first");
        })
        .await;
    }
}
