//! Desktop notifications: one when a turn ends, fails or waits for the user, unless its window is in front.
//!
//! Each notification has its own thread: a daemon that never answers blocks `show` for over a minute (notify-rust
//! 4.19), and some desktops remove a notification when the connection that sent it is closed.

mod shown;

use self::shown::Shown;
use crate::ask::DialogController;
use crate::windows::Windows;
use crate::{emit, windows};
use deskbell_engine::api::{RequestId, Session, SessionId, WindowEvent};
use deskbell_engine::permission::DialogId;
use deskbell_engine::title::one_line;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// Maximum number of threads that wait for a daemon or a click. Further notifications are not shown.
const WAITING: usize = 16;

/// Maximum wait, when the app ends, for notifications to be withdrawn: a daemon may be slow or hang.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Maximum length of a notification's first line, in characters.
const SUMMARY: usize = 200;

/// The notification shown for each session; a newer one replaces it.
#[derive(Default)]
pub struct Bell {
    shown: Arc<Shown>,
    n_waiting: Arc<AtomicUsize>,
}

impl Bell {
    /// Shows one line about a session. A click brings its window up and shows the session and the request.
    pub fn ring(
        &self,
        app: &AppHandle,
        project: &Path,
        session: &Session,
        words: &str,
        request_id: Option<RequestId>,
    ) {
        let asking = app.state::<DialogController>();
        let label = app.state::<Windows>().label_of(project);
        let in_front = label.as_ref().is_some_and(|label| windows::is_focused(app, label));
        if in_front || label.as_ref().is_some_and(|label| asking.is_in_front(label)) {
            return;
        }
        if self.n_waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(words, "too many notifications are waiting already");
            return;
        }
        let summary = one_line(&format!("{} · {}", windows::name_of(project), session.title), SUMMARY);
        let words = words.to_owned();
        let session_id = session.id.clone();
        let (shown, n_waiting) = (self.shown.clone(), self.n_waiting.clone());
        // Before the thread starts, so that a withdrawal from now on finds the notification.
        let number = shown.begin(&session_id);
        let app = app.clone();
        let thread = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
            let clicked = show(&shown, &session_id, number, &summary, &words);
            shown.end_of(&session_id, number);
            n_waiting.fetch_sub(1, Ordering::Relaxed);
            match clicked {
                Ok(true) => {
                    if let Some(request_id) = request_id.clone() {
                        let id = DialogId { session_id: session_id.clone(), request_id };
                        app.state::<DialogController>().reviewed(&id);
                    }
                    if let Some(label) = label {
                        windows::bring_up(&app, &label);
                        emit::to_window(&app, &label, WindowEvent::Show { session_id, request_id });
                    }
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "could not show the notification"),
            }
        });
        if let Err(error) = thread {
            self.shown.end_of(&session.id, number);
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(%error, "could not start a thread for a notification");
        }
    }

    /// Withdraws a session's notification, because the user has seen or answered its cause.
    pub fn quiet(&self, session_id: &SessionId) {
        if let Some(id) = self.shown.withdraw(session_id) {
            self.close(id);
        }
    }

    /// Withdraws a notification, on a separate thread, because the daemon may be slow.
    fn close(&self, id: u32) {
        let call = self.shown.call();
        let thread = std::thread::Builder::new().name("notification".to_owned());
        let started = thread.spawn(move || {
            close(id);
            drop(call);
        });
        if let Err(error) = started {
            tracing::warn!(%error, "could not start a thread to withdraw a notification");
        }
    }

    /// Called when the app ends: withdraws every notification, including those that a daemon is about to show. Takes at
    /// most [`LAST_WORDS`]. No notification is shown afterwards.
    pub fn end(&self) {
        self.shown.end().into_iter().for_each(|id| self.close(id));
        if !self.shown.wait_for_end(LAST_WORDS) {
            tracing::warn!("the notification daemon is slow: a notification may outlive the app");
        }
    }
}

/// Withdraws a notification; the thread that waits for its click then ends.
fn close(id: u32) {
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        const DAEMON: &str = "org.freedesktop.Notifications";
        const PATH: &str = "/org/freedesktop/Notifications";
        // Blocking is allowed: every call to the daemon runs on its own thread.
        let closed: zbus::Result<_> = tauri::async_runtime::block_on(async {
            let bus = zbus::Connection::session().await?;
            bus.call_method(Some(DAEMON), PATH, Some(DAEMON), "CloseNotification", &id).await
        });
        if let Err(error) = closed {
            tracing::debug!(%error, "the notification was gone already");
        }
    }
    // The other systems return no number by which a notification could be withdrawn (notify-rust 4.19).
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    let _ = id;
}

/// Shows it and waits until it is clicked or closed. `true`: clicked.
fn show(
    shown: &Arc<Shown>,
    session_id: &SessionId,
    number: u64,
    summary: &str,
    words: &str,
) -> notify_rust::error::Result<bool> {
    let mut notification = notify_rust::Notification::new();
    notification.appname("Deskbell").summary(summary).action("default", "Show");
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        let has_markup =
            notify_rust::get_capabilities()?.iter().any(|capability| capability == "body-markup");
        notification.body(&if has_markup { escaped(words) } else { words.to_owned() });
        notification.icon("deskbell").hint(notify_rust::Hint::DesktopEntry("Deskbell".to_owned()));
        // A notification that was withdrawn before it is shown is not sent at all.
        let Some((before, call)) = shown.about_to_show(session_id, number) else { return Ok(false) };
        before.into_iter().for_each(close);
        let handle = notification.show()?;
        if shown.appeared(session_id, number, handle.id()) == shown::Outcome::Withdrawn {
            // It was withdrawn while the daemon processed the call.
            close(handle.id());
            return Ok(false);
        }
        drop(call);
        let mut clicked = false;
        handle.wait_for_action(|action| clicked = action == "default");
        Ok(clicked)
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    {
        if shown.about_to_show(session_id, number).is_none() {
            return Ok(false);
        }
        notification.body(words);
        notification.show()?;
        Ok(false)
    }
}

/// Escapes the body, because some daemons interpret it as markup: text from the agent must stay text.
#[cfg(all(unix, not(target_os = "macos")))]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
