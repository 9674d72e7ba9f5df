//! What is shown of a session.

use super::*;
use crate::permission;

impl Machine {
    /// Fills in what the machine knows of a session.
    pub fn describe(&self, session: &mut Session, activity: &str) {
        session.agent_session_id = self.agent_session_id.clone();
        if let Some(title) = &self.title {
            session.title = title.clone();
        }
        session.alive = self.is_alive();
        session.agent_version = self.version.clone();
        session.model = self.model.clone().or_else(|| self.wanted_model.clone());
        session.mode = self.shown_mode().unwrap_or("default").to_owned();
        session.effort = self.shown_effort();
        session.thinking = self.shown_thinking();
        session.rules = self.watch.rules.clone();
        session.channel_fault = self.watch.fault.clone();
        session.models = self.models.clone();
        session.commands = self.commands.clone();
        session.queue = self
            .queue
            .iter()
            .map(|prompt| QueuedPrompt {
                id: prompt.id.clone(),
                text: prompt.text.clone(),
                n_images: prompt.images.len() as u32,
                held: prompt.held,
                cut_off: prompt.cut_off,
                delivery: prompt.delivery,
            })
            .collect();
        session.takes_into_turn = self.takes_into_turn();
        session.requests = self.requests.iter().cloned().collect();
        session.usage = self.usage.clone();
        session.turn_started_at = self.turn.as_ref().map(|turn| turn.since);
        session.status = self.status(activity);
    }

    /// The mode that it says it works in, but for a wish that it has yet to answer.
    pub(super) fn shown_mode(&self) -> Option<&str> {
        let is_told = self.process == Process::Ready && self.asked_mode().is_none();
        let told = self.mode.as_deref().filter(|_| is_told);
        told.or(self.wanted_mode.as_deref()).or(self.mode.as_deref())
    }

    /// The last mode that was asked for and not answered.
    pub(super) fn asked_mode(&self) -> Option<&str> {
        self.asked.iter().rev().find_map(|(_, asked)| match asked {
            Asked::Mode(mode) => Some(mode.as_str()),
            _ => None,
        })
    }

    pub(super) fn status(&self, activity: &str) -> Status {
        if let Some(request) = self.requests.iter().next() {
            return Status::NeedsInput { what: permission::wants(request) };
        }
        match (&self.process, &self.turn) {
            (Process::Stopping { then: Then::Hibernate, .. }, _) => self.rest(),
            (Process::Stopping { .. }, _) => Status::Stopping,
            (Process::BackingOff { attempt, at }, _) => Status::Restarting { attempt: *attempt, at: *at },
            (_, Some(turn)) if turn.interrupting => Status::Interrupting,
            (_, Some(_)) => Status::Working { activity: activity.to_owned() },
            (Process::Starting, None) => Status::Starting,
            (Process::Absent | Process::Ready, None) => self.rest(),
        }
    }

    /// Would a prompt that is written now become part of the turn that runs, and is that told?
    pub(super) fn takes_into_turn(&self) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.has_begun && !turn.interrupting);
        self.process == Process::Ready && self.tells_prompts && turn.is_some()
    }

    pub(super) fn rest(&self) -> Status {
        match &self.verdict {
            Verdict::None => Status::Idle,
            Verdict::Completed => Status::Completed,
            Verdict::Failed(message) => Status::Failed { message: message.clone() },
            Verdict::Stopped => Status::Stopped,
        }
    }
}
