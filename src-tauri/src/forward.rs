//! Events from a session to the window that shows it: at most one batch per frame, and at most a few batches that the
//! page has not processed yet.

use crate::emit;
use deskbell_engine::api::WindowEvent;
use deskbell_engine::session::Feed;
use std::sync::Arc;
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
    acknowledged: Arc<Acknowledged>,
    task: JoinHandle<()>,
}

/// The batches in flight, by the `seq` that they end with.
struct Acknowledged {
    credit: Semaphore,
    under_way: std::sync::Mutex<std::collections::VecDeque<u64>>,
}

impl Forward {
    pub fn begin(app: AppHandle, label: String, feed: Arc<Feed>) -> Self {
        let acknowledged = Arc::new(Acknowledged {
            credit: Semaphore::new(MAX_BATCHES_IN_FLIGHT),
            under_way: std::sync::Mutex::default(),
        });
        let task = tauri::async_runtime::spawn(forward(app, label, feed.clone(), acknowledged.clone()));
        Self { feed, acknowledged, task }
    }

    pub fn session_id(&self) -> &deskbell_engine::api::SessionId {
        self.feed.session_id()
    }

    pub fn feed(&self) -> Arc<Feed> {
        self.feed.clone()
    }

    /// The page has processed everything up to `seq`.
    pub fn acknowledge(&self, seq: u64) {
        let mut under_way = self.acknowledged.lock();
        while under_way.front().is_some_and(|first| *first <= seq) {
            under_way.pop_front();
            self.acknowledged.credit.add_permits(1);
        }
    }
}

impl Acknowledged {
    fn lock(&self) -> std::sync::MutexGuard<'_, std::collections::VecDeque<u64>> {
        self.under_way.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(app: AppHandle, label: String, feed: Arc<Feed>, acknowledged: Arc<Acknowledged>) {
    let mut not_before = Instant::now();
    loop {
        feed.ready().await;
        // The first event of an idle stream is sent at once; the others wait for their frame, and merge.
        tokio::time::sleep_until(not_before).await;
        match acknowledged.credit.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => return,
        }
        let batch = feed.next().await;
        acknowledged.lock().push_back(batch.seq);
        emit::to_window(&app, &label, WindowEvent::Batch(batch));
        not_before = Instant::now() + FRAME;
    }
}
