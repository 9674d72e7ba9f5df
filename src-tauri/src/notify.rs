//! The bell: one notification when a turn ends, fails or waits for you, unless its window is in front.
//!
//! Each notification has a thread of its own: a daemon that never answers blocks `show` for over a minute (notify-rust
//! 4.19), and some desktops take a notification down when the connection it came by is closed.

use crate::shell::Shell;
use crate::{tell, windows};
use deskbell_engine::api::{RequestId, Session, SessionId, WindowEvent};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tauri::{AppHandle, Manager};

/// Threads that may wait for a daemon or a click; more notifications than that are not shown.
const WAITING: usize = 16;

/// What is shown for each session: a newer notification takes its place.
#[derive(Default)]
pub struct Bell {
    shown: Arc<Mutex<HashMap<SessionId, u32>>>,
    n_waiting: Arc<AtomicUsize>,
}

impl Bell {
    /// Says one line about a session. A click brings its window up, with the session and the request in it.
    pub fn ring(
        &self,
        app: &AppHandle,
        project: &Path,
        session: &Session,
        words: &str,
        request_id: Option<RequestId>,
    ) {
        let shell = app.state::<Shell>();
        let label = shell.windows.label_of(project);
        let window = label.as_ref().and_then(|label| app.get_webview_window(label));
        let in_front = window.is_some_and(|window| window.is_focused().unwrap_or(false));
        if in_front || label.as_ref().is_some_and(|label| shell.asking.is_in_front(label)) {
            return;
        }
        if self.n_waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(words, "too many notifications wait already");
            return;
        }
        let summary = format!("{} · {}", windows::name_of(project), session.title);
        let words = words.to_owned();
        let session_id = session.id.clone();
        let (shown, n_waiting) = (self.shown.clone(), self.n_waiting.clone());
        let app = app.clone();
        let thread = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
            take_down(&shown, &session_id);
            let clicked = show(&shown, &session_id, &summary, &words);
            n_waiting.fetch_sub(1, Ordering::Relaxed);
            match clicked {
                Ok(true) => {
                    if let Some(label) = label {
                        windows::bring_up(&app, &label);
                        tell::tell(&app, &label, WindowEvent::Show { session_id, request_id });
                    }
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the notification could not be shown"),
            }
        });
        if let Err(error) = thread {
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::warn!(%error, "no thread for a notification");
        }
    }

    /// Takes a session's notification down: what it called for has been seen or answered.
    pub fn quiet(&self, session_id: &SessionId) {
        let is_shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner).contains_key(session_id);
        if is_shown {
            let (shown, session_id) = (self.shown.clone(), session_id.clone());
            let thread = std::thread::Builder::new().name("notification".to_owned());
            if let Err(error) = thread.spawn(move || take_down(&shown, &session_id)) {
                tracing::warn!(%error, "no thread to take a notification down");
            }
        }
    }
}

/// Closes a session's notification; the thread that waits for its click ends with it.
fn take_down(shown: &Mutex<HashMap<SessionId, u32>>, session_id: &SessionId) {
    let id = shown.lock().unwrap_or_else(PoisonError::into_inner).remove(session_id);
    let Some(id) = id else { return };
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        const DAEMON: &str = "org.freedesktop.Notifications";
        const PATH: &str = "/org/freedesktop/Notifications";
        // On a thread of its own, as everything that waits for the daemon.
        let closed: zbus::Result<_> = tauri::async_runtime::block_on(async {
            let bus = zbus::Connection::session().await?;
            bus.call_method(Some(DAEMON), PATH, Some(DAEMON), "CloseNotification", &id).await
        });
        if let Err(error) = closed {
            tracing::debug!(%error, "the notification was gone already");
        }
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    let _ = id;
}

/// Shows it and waits until it is clicked or gone. `true`: clicked.
fn show(
    shown: &Mutex<HashMap<SessionId, u32>>,
    session_id: &SessionId,
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
        let handle = notification.show()?;
        let id = handle.id();
        shown.lock().unwrap_or_else(PoisonError::into_inner).insert(session_id.clone(), id);
        let mut clicked = false;
        handle.wait_for_action(|action| clicked = action == "default");
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.get(session_id) == Some(&id) {
            shown.remove(session_id);
        }
        Ok(clicked)
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    {
        let _ = (shown, session_id);
        notification.body(words);
        notification.show()?;
        Ok(false)
    }
}

/// The body is markup where the daemon says so: what the agent wrote must stay text.
#[cfg(all(unix, not(target_os = "macos")))]
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
