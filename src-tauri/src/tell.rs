//! How a window is told of something: by a Tauri event, and what is large by one that says where it waits.
//!
//! Tauri (2.12.5) hands an event to a page as the text of a script. WebKit reads 600 KB of such a text in 85 ms, and the same
//! as the answer to a command in 3.

use crate::shell::Shell;
use deskbell_engine::api::{Told, WindowEvent};
use std::collections::BTreeMap;
use tauri::{AppHandle, Emitter, EventTarget, Manager};

/// From so many bytes on, to fetch an event costs less than to hear it.
const LARGE: usize = 32 * 1024;

/// Events that wait until their page fetches them, as JSON. There are few: batches come on credit.
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

    /// The event of that number, once.
    pub fn take(&mut self, nr: u32) -> Option<String> {
        self.by_nr.remove(&nr)
    }
}

/// Tells a window. One that has not asked for anything yet is told nothing: when it asks, it gets the whole.
pub fn tell(app: &AppHandle, label: &str, event: WindowEvent) {
    if let Err(error) = try_tell(app, label, event) {
        tracing::warn!(%error, "a window could not be told");
    }
}

fn try_tell(app: &AppHandle, label: &str, event: WindowEvent) -> Result<(), tauri::Error> {
    let json = serde_json::to_string(&event)?;
    let told = app.state::<Shell>().windows.with(label, |window| {
        if window.event.is_empty() {
            return Ok(None);
        }
        let told = if json.len() < LARGE {
            told(&json)
        } else {
            serde_json::to_string(&Told::Waits { nr: window.waiting.keep(json) })?
        };
        Ok::<_, tauri::Error>(Some((window.event.clone(), told)))
    });
    match told {
        Ok(told) => match told? {
            Some((name, told)) => app.emit_str_to(EventTarget::webview_window(label), &name, told),
            // It has not begun.
            None => Ok(()),
        },
        // It is gone.
        Err(_) => Ok(()),
    }
}

/// `Told::Event` of an event that is written already: each is written once on its way to a frame.
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
        assert_eq!(written, serde_json::to_string(&Told::Event { event: Box::new(event) }).unwrap());
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
