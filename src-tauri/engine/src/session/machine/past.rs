//! The earlier messages of a conversation that only the agent has: they are requested with the next start, and come or
//! are missing.

use super::{Step, TranscriptEvent};
use crate::agent::Past;
use crate::api::AgentKind;
use crate::launch::agent_name;

impl Step<'_> {
    /// Deskbell has no copy of them.
    pub(super) fn lacks_past(&mut self) {
        if self.machine.conversation.on_past_lacking() {
            let agent = agent_name(AgentKind::Acp, self.machine.acp.as_ref());
            self.note(TranscriptEvent::PastAwaited { agent });
        }
    }

    /// The transcript shows what was received.
    pub(super) fn past(&mut self, past: &Past) {
        match past {
            Past::Requested => self.machine.conversation.on_past_requested(),
            Past::Whole(_) => {
                self.machine.conversation.on_past_over();
            }
            Past::Missing { reason } => self.past_is_missing(reason),
        }
    }

    /// They are not requested again.
    pub(super) fn past_is_missing(&mut self, reason: &str) {
        if self.machine.conversation.on_past_over() {
            self.note(TranscriptEvent::PastMissing { reason: reason.to_owned() });
        }
    }

    /// The process ended. One that ended by itself in the middle of them would do so again.
    pub(super) fn past_process_ended(&mut self, was_stopped: bool) {
        if self.machine.conversation.on_past_interrupted() && !was_stopped {
            self.past_is_missing("The agent ended before it had repeated them.");
        }
    }
}
