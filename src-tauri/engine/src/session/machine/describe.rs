//! The description of a session for subscribers.

use super::*;
use crate::permission;

impl Machine {
    /// Fills in the fields that the machine knows.
    pub fn describe(&self, session: &mut Session, activity: &str) {
        session.agent_session_id = self.agent_session_id.clone();
        if let Some(title) = &self.title {
            session.title = title.as_str().to_owned();
        }
        session.is_empty = self.title.is_none()
            && self.agent_session_id.is_none()
            && self.queue.is_empty()
            && self.turn.is_none();
        session.alive = self.is_alive();
        session.agent_version = self.version.clone();
        session.model = self.model.clone().or_else(|| self.wanted_model.clone());
        session.mode = self.shown_mode().unwrap_or("default").to_owned();
        session.effort = self.shown_effort();
        session.thinking = self.shown_thinking();
        session.rules = self.audit.rules.clone();
        session.missed_prompt = self.audit.fault.clone();
        session.models = self.models.clone();
        session.commands = self.commands.clone();
        session.queue = self
            .queue
            .waiting()
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
        session.turn_started_at = self.turn.as_ref().map(Turn::since);
        session.n_background = self.background.count() as u32;
        session.status = self.status(activity);
    }

    /// The mode in force, as the agent reported it. Before the process is ready, the mode that it will be asked for. A
    /// mode that was requested and not confirmed is not in force.
    pub(super) fn shown_mode(&self) -> Option<&str> {
        let told = self.mode.as_deref().filter(|_| self.process == Process::Ready);
        told.or(self.wanted_mode.map(PermissionMode::name)).or(self.mode.as_deref())
    }

    pub(super) fn status(&self, activity: &str) -> Status {
        if let Some(request) = self.requests.iter().next() {
            return Status::NeedsInput { what: permission::wants(request) };
        }
        match (&self.process, &self.turn) {
            (Process::Stopping { after: AfterExit::Hibernate, .. }, _) => self.rest(),
            (Process::Stopping { .. }, _) => Status::Stopping,
            (Process::BackingOff { attempt, at }, _) => Status::Restarting { attempt: *attempt, at: *at },
            (_, Some(turn)) if turn.is_interrupting() => Status::Interrupting,
            (_, Some(_)) => Status::Working { activity: activity.to_owned() },
            (Process::Starting, None) => Status::Starting,
            (Process::Absent | Process::Ready, None) => self.rest(),
        }
    }

    /// Returns whether a prompt written now would join the current turn, and the agent would report that.
    pub(super) fn takes_into_turn(&self) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.takes_prompts());
        self.process == Process::Ready && self.reports_prompts && turn.is_some()
    }

    pub(super) fn rest(&self) -> Status {
        match &self.last_result {
            LastResult::None => Status::Idle,
            LastResult::Completed => Status::Completed,
            LastResult::Failed(message) => Status::Failed { message: message.clone() },
            LastResult::Stopped => Status::Stopped,
        }
    }
}
