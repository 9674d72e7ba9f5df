//! Events from a session to the window that shows it. The page takes them, a batch in each of its frames; what it has
//! not taken waits in the feed, where it merges.

use crate::emit;
use deskbell_engine::api::{Batch, SessionId, WindowEvent};
use deskbell_engine::session::Feed;
use std::sync::Arc;
use tauri::AppHandle;
use tauri::async_runtime::JoinHandle;
use tokio::sync::watch;

/// Forwards one session to one window, until it is dropped.
pub struct Forward {
    feed: Arc<Feed>,
    page: Arc<watch::Sender<Page>>,
    task: JoinHandle<()>,
}

/// What the page does after the last event that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// It waits: the next event is announced.
    Waits,
    /// It was notified, or took a batch, and will ask for the next one.
    Asks,
}

impl Forward {
    pub fn begin(app: AppHandle, label: String, feed: Arc<Feed>) -> Self {
        let page = Arc::new(watch::Sender::new(Page::Waits));
        let task = tauri::async_runtime::spawn({
            let (feed, page) = (feed.clone(), page.clone());
            async move {
                let announce = || {
                    let session_id = feed.session_id().clone();
                    emit::to_window(&app, &label, WindowEvent::BatchReady { session_id });
                };
                announce_each(&page, &*feed, announce).await;
            }
        });
        Self { feed, page, task }
    }

    pub fn session_id(&self) -> &SessionId {
        self.feed.session_id()
    }

    pub fn feed(&self) -> Arc<Feed> {
        self.feed.clone()
    }

    /// Returns what waits for the page, which has everything up to event `after`. After `None` the next event is
    /// announced.
    pub fn take(&self, after: u64) -> Option<Batch> {
        let batch = self.feed.take_after(after);
        answered(&self.page, batch.is_some());
        batch
    }
}

/// The page asked for a batch.
fn answered(page: &watch::Sender<Page>, has_batch: bool) {
    page.send_replace(if has_batch { Page::Asks } else { Page::Waits });
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Where events come from: a feed, or a double of one in tests.
trait Events {
    /// Waits until there are some.
    async fn ready(&self);
}

impl Events for Feed {
    async fn ready(&self) {
        Feed::ready(self).await;
    }
}

/// Announces that events are ready, once for each time that the page waits for them. Never ends.
async fn announce_each(page: &watch::Sender<Page>, events: &impl Events, announce: impl Fn()) {
    let mut waits = page.subscribe();
    loop {
        // The sender is here, so the wait does not fail.
        if waits.wait_for(|page| *page == Page::Waits).await.is_err() {
            return;
        }
        events.ready().await;
        // It may have taken a batch meanwhile, without being notified: after a snapshot, for example.
        let is_due = page.send_if_modified(|page| std::mem::replace(page, Page::Asks) == Page::Waits);
        if is_due {
            announce();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A forward with a session whose events are counted, driven by hand.
    struct Stage {
        page: watch::Sender<Page>,
        n_waiting: watch::Sender<u32>,
        n_announced: Cell<u32>,
    }

    impl Stage {
        fn new() -> Self {
            Self {
                page: watch::Sender::new(Page::Waits),
                n_waiting: watch::Sender::new(0),
                n_announced: Cell::new(0),
            }
        }

        fn emit(&self) {
            self.n_waiting.send_modify(|n| *n += 1);
        }

        /// The page asks for a batch. Returns whether it got one.
        fn take(&self) -> bool {
            let has_batch = self.n_waiting.send_replace(0) > 0;
            answered(&self.page, has_batch);
            has_batch
        }

        async fn forward(&self) {
            announce_each(&self.page, self, || self.n_announced.set(self.n_announced.get() + 1)).await;
        }
    }

    impl Events for Stage {
        async fn ready(&self) {
            self.n_waiting.subscribe().wait_for(|n| *n > 0).await.unwrap();
        }
    }

    fn with_stage(play: impl FnOnce(&Stage, &mut dyn FnMut() -> u32)) {
        let stage = Stage::new();
        let mut forward = pin!(stage.forward());
        let mut announced = || {
            assert_eq!(forward.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
            stage.n_announced.get()
        };
        play(&stage, &mut announced);
    }

    #[test]
    fn the_first_event_is_announced_and_the_next_ones_only_after_the_page_found_nothing() {
        with_stage(|stage, announced| {
            assert_eq!(announced(), 0);
            stage.emit();
            assert_eq!(announced(), 1);
            stage.emit();
            assert_eq!(announced(), 1, "the page was notified already");
            assert!(stage.take());
            stage.emit();
            assert_eq!(announced(), 1, "the page asks in its next frame");
            assert!(stage.take());
            assert!(!stage.take());
            assert_eq!(announced(), 1);
            stage.emit();
            assert_eq!(announced(), 2);
        });
    }

    #[test]
    fn what_came_between_the_answer_and_the_wait_is_announced() {
        with_stage(|stage, announced| {
            stage.emit();
            assert_eq!(announced(), 1);
            assert!(stage.take());
            assert!(!stage.take());
            stage.emit();
            assert_eq!(announced(), 2);
        });
    }

    #[test]
    fn a_page_that_takes_without_being_notified_is_notified_of_the_next_event_all_the_same() {
        with_stage(|stage, announced| {
            assert_eq!(announced(), 0);
            // It asks after its snapshot.
            assert!(!stage.take());
            stage.emit();
            assert!(stage.take());
            assert_eq!(announced(), 0, "it has what waited");
            assert!(!stage.take());
            stage.emit();
            assert_eq!(announced(), 1);
        });
    }
}
