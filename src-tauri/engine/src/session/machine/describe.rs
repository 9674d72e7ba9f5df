//! The description of a session for subscribers.

use super::*;
use crate::permission;

impl Machine {
    /// Fills in the fields that the machine knows, without the open requests. The capabilities are those of the kind of agent
    /// without those that its process lacks.
    pub fn describe(&self, session: &mut Session, activity: &str) {
        session.agent_session_id = self.conversation.id().map(str::to_owned);
        if let Some(title) = self.conversation.title() {
            session.title = title.as_str().to_owned();
        }
        session.is_empty = self.conversation.title().is_none()
            && self.conversation.id().is_none()
            && self.queue.is_empty()
            && self.turn.is_none();
        session.has_prompt_title = self.naming.is_of_prompt();
        session.alive = self.is_alive();
        session.agent_version = self.capabilities.version().map(str::to_owned);
        // An agent that speaks ACP says itself what it can do. What the process of another one lacks is taken away.
        match &self.acp {
            Some(_) => session.capabilities = self.reported_capabilities(),
            None => {
                session.capabilities.prompts_into_turn &= self.capabilities.reports_prompts();
                session.capabilities.context &= self.context.is_reported();
                session.capabilities.rewind &= self.rewind.is_known();
                session.capabilities.side_questions &= self.side.is_known();
            }
        }
        session.model = self.options.shown_model().map(str::to_owned);
        session.mode = self.shown_mode().unwrap_or("default").to_owned();
        session.effort = self.shown_effort();
        session.thinking = self.options.shown_thinking();
        session.options = self.options.all();
        session.options_wait = self.options_wait();
        session.rules = self.audit.rules().cloned();
        session.missed_prompt = self.audit.fault().cloned();
        session.models = self.options.models().to_vec();
        if self.process.is_ready() {
            session.agent_options = self.options.agent_options().to_vec();
        }
        session.commands = self.capabilities.commands().to_vec();
        session.queue = self
            .queue
            .waiting()
            .map(|prompt| (prompt, prompt.n_attachments()))
            .map(|(prompt, (n_images, n_documents))| QueuedPrompt {
                id: prompt.id.clone(),
                text: prompt.text.clone(),
                n_images,
                n_documents,
                held: prompt.held,
                cut_off: prompt.cut_off,
                delivery: prompt.delivery,
                sends_at: prompt.sends_at,
            })
            .collect();
        session.takes_into_turn = self.takes_into_turn();
        session.usage = self.spending.usage();
        session.context = self.context.usage().clone();
        session.configuration = self.configuration.view().clone();
        session.rewind = self.rewind.state();
        session.side_questions = self.side.all().to_vec();
        session.limits = self.limits.limits().clone();
        session.turn_started_at = self.turn.as_ref().map(RunningTurn::since);
        session.n_background = self.background.count() as u32;
        session.background = self.background.tasks();
        session.scheduled = self.schedules.planned();
        if let Some(words) = self.process.needed_login() {
            session.login = Some(AgentLogin { words: words.to_vec(), needed: true });
        }
        session.status = self.status(activity);
    }

    pub(super) fn shown_mode(&self) -> Option<&str> {
        self.mode.shown(self.process.is_ready())
    }

    pub(super) fn shown_effort(&self) -> Option<String> {
        let is_asking = self.control.has(|asked| matches!(asked, PendingRequest::Effort { .. }));
        self.options.shown_effort(self.process.is_ready() && !is_asking)
    }

    pub(super) fn status(&self, activity: &str) -> Status {
        if let Some(request) = self.requests.open().iter().next() {
            return Status::NeedsInput { what: permission::wants(request) };
        }
        match (self.process.state(), &self.turn) {
            (ProcessState::Stopping { after: AfterExit::Hibernate, .. }, _) => self.rest(),
            (ProcessState::Stopping { .. }, _) => Status::Stopping,
            (ProcessState::BackingOff { attempt, at }, _) => Status::Restarting { attempt, at },
            (_, Some(turn)) if turn.is_interrupting() => Status::Interrupting,
            (_, Some(_)) => Status::Working { activity: activity.to_owned() },
            (ProcessState::Starting, None) => Status::Starting,
            (ProcessState::Absent | ProcessState::Ready, None) => self.rest(),
        }
    }

    /// Returns whether a prompt written now would join the current turn, and the agent would report that.
    pub(super) fn takes_into_turn(&self) -> bool {
        let turn = self.turn.as_ref().filter(|turn| turn.takes_prompts());
        self.process.is_ready() && self.capabilities.reports_prompts() && turn.is_some()
    }

    pub(super) fn rest(&self) -> Status {
        self.last_result.status(self.background.count() > 0)
    }
}
