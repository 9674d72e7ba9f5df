//! Events to a window. Small events are sent as Tauri events; large ones are stored, and the page fetches them.
//!
//! Tauri (2.12.5) sends an event to a page as the text of a script. WebKit reads 600 KB of such a text in 85 ms, but
//! the answer to a command of the same size in 3 ms.

use crate::shell::Shell;
use deskbell_engine::api::{WindowEvent, WindowMessage};
use std::collections::BTreeMap;
use tauri::{AppHandle, Emitter, EventTarget, Manager};

/// From this size in bytes, fetching an event is cheaper than receiving it as a Tauri event.
const LARGE: usize = 32 * 1024;

/// Events that wait until their page fetches them, as JSON. There are few, because the number of batches in flight is
/// limited.
#[derive(Default)]
pub struct Waiting {
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
    pub fn take(&mut self, nr: u32) -> Option<String> {
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
    let told = app.state::<Shell>().windows.with(label, |window| {
        if window.event.is_empty() {
            return Ok(None);
        }
        let told = if json.len() < LARGE {
            told(&json)
        } else {
            serde_json::to_string(&WindowMessage::Deferred { nr: window.waiting.keep(json) })?
        };
        Ok::<_, tauri::Error>(Some((window.event.clone(), told)))
    });
    match told {
        Ok(told) => match told? {
            Some((name, told)) => app.emit_str_to(EventTarget::webview_window(label), &name, told),
            // It has not connected yet.
            None => Ok(()),
        },
        // It is closed.
        Err(_) => Ok(()),
    }
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
        let event = WindowEvent::Dragging { over: true };
        let written = told(&serde_json::to_string(&event).unwrap());
        assert_eq!(written, serde_json::to_string(&WindowMessage::Event { event: Box::new(event) }).unwrap());
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
