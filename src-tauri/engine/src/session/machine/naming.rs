//! The title of a session and the agent's name of the conversation: the user's reaches the agent, the agent's is shown.

use super::parts::process::ProcessState;
use super::{PendingRequest, Step};
use crate::agent::{Answer, HostRequest, Refused};
use crate::api::*;
use crate::title::Title;

impl Step<'_> {
    pub(super) fn rename(&mut self, title: &str) {
        let Some(title) = Title::new(title) else {
            return self.refuse(ErrorCode::BadCommand, "The title is empty.");
        };
        self.machine.conversation.on_title(title);
        self.machine.naming.on_named();
        if self.machine.acp.is_none() {
            self.machine.naming.on_rename();
        }
        if self.machine.naming.is_outdated() && self.machine.process.is_ready() {
            self.send_title();
        }
        self.save();
        self.changed();
    }

    /// Asks the agent for a title. Starts its process if necessary.
    pub(super) fn generate_title(&mut self, text: String) {
        if text.trim().is_empty() {
            return self.refuse(ErrorCode::BadCommand, "There is no prompt yet that a title could describe.");
        }
        if !matches!(
            self.machine.process.state(),
            ProcessState::Absent | ProcessState::Starting | ProcessState::Ready
        ) {
            let text = "The agent is being stopped or restarted. Try again when that is done.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        self.machine.naming.on_wanted(text);
        self.changed();
        if self.machine.process.is_ready() {
            self.ask_for_title();
        } else {
            self.start();
        }
    }

    /// Sends what waited for the process.
    pub(super) fn name_at_start(&mut self) {
        if self.machine.naming.is_outdated() {
            self.send_title();
        }
        self.ask_for_title();
    }

    fn send_title(&mut self) {
        if let Some(title) = self.machine.conversation.title().cloned() {
            let title = title.as_str().to_owned();
            let request = HostRequest::Rename(title.clone());
            self.ask(PendingRequest::Rename(title), request);
        }
    }

    fn ask_for_title(&mut self) {
        if let Some(text) = self.machine.naming.take_wanted() {
            self.ask(PendingRequest::GenerateTitle, HostRequest::GenerateTitle(text));
        }
    }

    /// The agent reports the name of the conversation: at its start, and after each change.
    pub(super) fn named(&mut self, title: &str) {
        let Some(title) = Title::new(title).filter(|_| !self.machine.naming.is_outdated()) else { return };
        self.machine.conversation.on_title(title);
        self.machine.naming.on_named();
        self.save();
        self.changed();
    }

    pub(super) fn rename_answered(&mut self, title: &str, outcome: Result<&Answer, &Refused>) {
        // A later title has a request of its own.
        if self.machine.conversation.title().is_some_and(|current| current.as_str() == title) {
            self.machine.naming.on_taken();
            self.save();
        }
        if let Err(problem) = outcome {
            let text = "The agent did not take the title. Deskbell shows it, and a terminal does not.";
            self.notice(Level::Warning, text, Some(problem.message.clone()));
        }
    }

    pub(super) fn title_generated(&mut self, outcome: Result<&Answer, &Refused>) {
        if self.machine.naming.is_overtaken() {
            return;
        }
        let title = outcome.map(|answer| match answer {
            Answer::Title(title) => Title::new(title),
            _ => None,
        });
        match title {
            Ok(Some(title)) => {
                self.machine.conversation.on_title(title);
                self.machine.naming.on_taken();
                self.save();
                self.changed();
            }
            Ok(None) => self.refused("The agent generated no title.", "Its answer has none."),
            Err(problem) => self.refused("The agent generated no title.", &problem.message),
        }
    }
}
