//! Earlier messages that only the agent has: a notice in their place, until it repeats them or cannot.

use super::{Transcript, TranscriptEvent};
use crate::agent::{PastConversation, PastPart};
use crate::api::Level;

/// The notice where there are none to show.
pub(crate) const MISSING: &str = "Earlier messages of this conversation cannot be shown";

impl Transcript {
    pub fn awaits_past(&self) -> bool {
        self.awaits_past.is_some()
    }

    pub(super) fn past_awaited(&mut self, now: u64, agent: &str) {
        let text = format!("Earlier messages are shown when {agent} has started");
        let detail = "Deskbell has no copy of them, so it asks the agent. Your next prompt starts it and continues the \
                      conversation.";
        self.notice(now, Level::Info, text, Some(detail.to_owned()));
        self.awaits_past = self.items.last().map(|item| item.head().id.clone());
    }

    pub(super) fn past_missing(&mut self, now: u64, reason: String) {
        if let Some(notice) = self.awaits_past.take() {
            self.remove(&notice);
        }
        self.notice(now, Level::Warning, MISSING.to_owned(), Some(reason));
    }

    /// Shows the repeated messages, if they are awaited. They have no times, and nothing of them goes on.
    pub(super) fn past(&mut self, past: PastConversation) {
        let Some(notice) = self.awaits_past.take() else { return };
        self.remove(&notice);
        if let Some((text, detail)) = left_out(&past) {
            self.notice(0, Level::Warning, text, Some(detail));
        }
        for part in past.parts {
            match part {
                PastPart::Prompt { id, prompt } => self.past_prompt(0, &id, prompt),
                PastPart::Event(event) => self.line(0, event),
            }
        }
        self.apply(0, TranscriptEvent::ProcessEnded);
    }
}

/// The notice before a conversation whose beginning was not kept.
pub(crate) fn left_out(past: &PastConversation) -> Option<(String, String)> {
    let text = "The beginning of this conversation is not shown".to_owned();
    let n_left_out = past.n_left_out;
    let detail =
        format!("The agent repeated more than Deskbell keeps: {n_left_out} of its messages are left out.");
    (n_left_out > 0).then_some((text, detail))
}
