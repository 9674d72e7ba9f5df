//! Messages of other sessions: held ones are asked about, and only so many are received without a prompt of the user.

use super::parts::messages::{MOST_IN_A_ROW, MOST_OF_ONE, MessageLimit};
use super::*;
use crate::agent::{Answer, Refused, SessionMessage};

impl Step<'_> {
    /// Whether the running process was started to receive messages.
    pub(super) fn receives_messages(&self) -> bool {
        self.machine.acp.is_none() && self.machine.process.started().options.receives_messages
    }

    pub(super) fn receive_messages(&mut self) {
        if !self.receives_messages() {
            return;
        }
        if self.machine.messages.are_refused() {
            self.set_messages(false);
        }
        self.ask(PendingRequest::HeldMessages, HostRequest::ShowHeldMessages);
    }

    pub(super) fn message_received(&mut self, message: &SessionMessage) {
        if let Some(limit) = self.machine.messages.on_message(message.pid) {
            self.set_messages(false);
            let whose = match limit {
                MessageLimit::OfAll => format!("{MOST_IN_A_ROW} messages of other sessions"),
                MessageLimit::OfOne => format!("{MOST_OF_ONE} messages of one session"),
            };
            let words = format!(
                "{whose} arrived since your last prompt. No more messages are received until you send one."
            );
            let sender = message.name.as_ref().filter(|_| limit == MessageLimit::OfOne);
            self.notice(Level::Warning, words, sender.cloned());
        }
        self.changed();
    }

    /// The user sends a prompt: messages are received again.
    pub(super) fn messages_again(&mut self) {
        if self.machine.messages.on_prompt() && self.machine.process.is_ready() && self.receives_messages() {
            self.set_messages(true);
        }
    }

    fn set_messages(&mut self, are_received: bool) {
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Messages, HostRequest::SetMessages { are_received });
        }
    }

    pub(super) fn held_messages_answered(&mut self, outcome: Result<&Answer, &Refused>) {
        if let Err(problem) = outcome {
            let words = "This version of the agent holds no messages of other sessions for you.";
            self.notice(Level::Info, words, Some(problem.message.clone()));
        }
    }

    pub(super) fn messages_answered(&mut self, outcome: Result<&Answer, &Refused>) {
        if let Err(problem) = outcome {
            self.refused("The agent did not change whether it receives messages.", &problem.message);
        }
    }
}
