//! Events to a window. Small events are sent as Tauri events; large ones are stored, and the page fetches them.
//!
//! Tauri (2.12.5) sends an event to a page as the text of a script. WebKit reads 600 KB of such a text in 85 ms, but
//! the answer to a command of the same size in 3 ms.

use deskbell_engine::api::{WindowEvent, WindowMessage};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Emitter, EventTarget, Manager};

/// From this size in bytes, fetching an event is cheaper than receiving it as a Tauri event.
const LARGE: usize = 32 * 1024;

/// The channels of the windows, by their label. A window has one as soon as its page has connected.
#[derive(Default)]
pub struct Channels(Mutex<HashMap<String, Channel>>);

struct Channel {
    /// The name of its events, random and sent only to it: a Tauri event can be received by any window that knows its
    /// name (2.12.5).
    event: String,
    waiting: Waiting,
}

impl Channels {
    /// Gives a window a new name for its events, and returns it. Events under the old name are no longer received.
    pub fn open(&self, label: &str) -> String {
        let event = format!("deskbell-{}", uuid::Uuid::new_v4());
        let channel = Channel { event: event.clone(), waiting: Waiting::default() };
        self.lock().insert(label.to_owned(), channel);
        event
    }

    pub fn close(&self, label: &str) {
        self.lock().remove(label);
    }

    /// Removes and returns a large event of a window.
    pub fn take(&self, label: &str, nr: u32) -> Option<String> {
        self.lock().get_mut(label)?.waiting.take(nr)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Channel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events that wait until their page fetches them, as JSON. There are few: only a long list of sessions, search results
/// or a full board or start page is so large.
#[derive(Default)]
struct Waiting {
    by_nr: BTreeMap<u32, String>,
    last_nr: u32,
}

impl Waiting {
    fn keep(&mut self, event: String) -> u32 {
        self.last_nr = self.last_nr.wrapping_add(1);
        self.by_nr.insert(self.last_nr, event);
        self.last_nr
    }

    /// Removes and returns the event with that number.
    fn take(&mut self, nr: u32) -> Option<String> {
        self.by_nr.remove(&nr)
    }
}

/// Sends an event to a window. A window that has not connected yet gets no event; it gets the whole state when it
/// connects.
pub fn to_window(app: &AppHandle, label: &str, event: WindowEvent) {
    if let Err(error) = try_to_window(app, label, event) {
        tracing::warn!(%error, "could not send an event to the window");
    }
}

fn try_to_window(app: &AppHandle, label: &str, event: WindowEvent) -> Result<(), tauri::Error> {
    let json = serde_json::to_string(&event)?;
    let (name, message) = {
        let channels = app.state::<Channels>();
        let mut channels = channels.lock();
        // A window without a channel has not connected yet, or is closed.
        let Some(channel) = channels.get_mut(label) else { return Ok(()) };
        let message = if json.len() < LARGE {
            told(&json)
        } else {
            serde_json::to_string(&WindowMessage::Deferred { nr: channel.waiting.keep(json) })?
        };
        (channel.event.clone(), message)
    };
    app.emit_str_to(EventTarget::webview_window(label), &name, message)
}

/// Builds `WindowMessage::Event` from an event that is already serialized, so that each event is serialized only once.
fn told(event: &str) -> String {
    format!(r#"{{"type":"event","event":{event}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_once_is_what_would_be_written() {
        let event = WindowEvent::Dragging { at: None };
        let written = told(&serde_json::to_string(&event).unwrap());
        assert_eq!(written, serde_json::to_string(&WindowMessage::Event { event: Box::new(event) }).unwrap());
    }

    #[test]
    fn a_new_channel_has_another_name_and_nothing_of_the_old_one() {
        let channels = Channels::default();
        let first = channels.open("project-1");
        let nr = channels.lock().get_mut("project-1").unwrap().waiting.keep("one".to_owned());
        assert_ne!(channels.open("project-1"), first);
        assert_eq!(channels.take("project-1", nr), None);
        channels.close("project-1");
        assert_eq!(channels.take("project-1", nr), None);
    }

    #[test]
    fn what_waits_is_fetched_once() {
        let mut waiting = Waiting::default();
        let [first, second] = ["one", "two"].map(|event| waiting.keep(event.to_owned()));
        assert_ne!(first, second);
        assert_eq!(waiting.take(second).as_deref(), Some("two"));
        assert_eq!(waiting.take(first).as_deref(), Some("one"));
        assert_eq!(waiting.take(first), None);
    }
}
