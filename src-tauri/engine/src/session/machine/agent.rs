//! The agent's reports and the control requests to it: mode, model, commands.

use super::*;
use crate::agent::{Answer, Init, Initialized, Refused};
use crate::launch::Launch;

impl Step<'_> {
    pub(super) fn line(&mut self, inbound: &AgentEvent) {
        self.time(inbound);
        match inbound {
            AgentEvent::Assistant(assistant) => {
                let strict = self.is_strict();
                self.machine.audit.on_call(assistant, strict);
                self.machine.schedules.on_reply(assistant);
                if self.machine.acp.is_none() {
                    // Over ACP each request gets an answer.
                    self.machine.requests.on_reply(assistant);
                }
                if let Some(turn) = &mut self.machine.turn {
                    turn.on_reply(assistant);
                }
            }
            AgentEvent::User(user) => {
                self.watch_results(user);
                if self.machine.acp.is_none() {
                    let closed = self.machine.requests.on_results(user);
                    self.resolved(closed);
                }
                let mut has_changed = self.machine.background.called(user, self.now);
                has_changed |= self.machine.schedules.on_result(user);
                self.changed_if(has_changed);
            }
            _ => {}
        }
        match inbound {
            AgentEvent::Init(init) => self.init(init),
            AgentEvent::TurnEnded(result) => self.result(result),
            AgentEvent::Request { request_id, request } => self.control_request(request_id, request),
            AgentEvent::Response { request_id, outcome } => {
                self.control_response(request_id, outcome.as_ref())
            }
            AgentEvent::RequestProgress { request_id, retry } => {
                self.side_in_progress(request_id, retry.as_ref());
            }
            AgentEvent::RequestWithdrawn { request_id } => {
                let closed = self.machine.requests.on_cancel(request_id);
                self.resolved(closed);
            }
            AgentEvent::Message(message) => self.message_received(message),
            AgentEvent::SessionState { state } if state == "idle" => self.end_unasked(),
            AgentEvent::Status { permission_mode: Some(mode), .. } => self.works_in_mode(mode.clone()),
            AgentEvent::Assistant(assistant) if assistant.parent_tool_use_id.is_none() => {
                if let Some(usage) = &assistant.message.usage
                    && usage.context_tokens() > 0
                {
                    self.context_is(usage.context_tokens());
                }
            }
            AgentEvent::Error { words } => self.error_line(words),
            AgentEvent::CannotStart { words, detail, login } => {
                self.cannot_start(words, detail.as_deref(), login.clone());
            }
            AgentEvent::PromptState { uuid, state } => {
                if matches!(state.as_str(), "completed" | "cancelled") {
                    self.machine.schedules.on_prompt_over(uuid);
                }
                self.lifecycle(uuid, state);
            }
            AgentEvent::Woken { by, uuid } => {
                self.machine.schedules.on_woken(*by, uuid, self.now);
                self.changed();
            }
            AgentEvent::BackgroundTasks { tasks } => {
                let has_changed = self.machine.background.listed(tasks, self.now);
                self.changed_if(has_changed);
            }
            AgentEvent::Task(task) => {
                self.machine.requests.on_task(task);
                let has_changed = self.machine.background.reported(task, self.now);
                self.changed_if(has_changed);
                if self.machine.turn.is_some() && self.machine.background.is_to_move(task) {
                    self.ask_to_move();
                }
            }
            AgentEvent::TaskEnded { task_id, .. } => {
                let has_changed = self.machine.background.ended(task_id, self.now);
                self.changed_if(has_changed);
            }
            // A sign of life: subscribers measure the agent's silence by the last event. A hook also changes what the
            // agent is doing.
            AgentEvent::Heartbeat | AgentEvent::Hook(_) => self.changed(),
            AgentEvent::Title { title } => self.named(title),
            AgentEvent::Commands(commands) => {
                self.machine.capabilities.on_commands(commands.clone());
                self.changed();
            }
            AgentEvent::Choices(choices) => {
                self.machine.options.on_choices((**choices).clone());
                self.changed();
            }
            AgentEvent::Past(past) => self.past(past),
            AgentEvent::ContextUsed { tokens, window } => {
                self.machine.spending.on_context_of(*tokens, *window);
                self.changed();
            }
            AgentEvent::ConversationReset => {
                self.machine.spending.on_cleared();
                self.machine.context.on_cleared();
                self.changed();
            }
            AgentEvent::RateLimit(report) => {
                self.machine.limits.on_report(self.now, report);
                self.changed();
            }
            AgentEvent::Compacted { post_tokens, .. } => self.context_is(post_tokens.unwrap_or(0)),
            // The transcript shows these; they do not change the session's state.
            _ => {}
        }
    }

    fn context_is(&mut self, tokens: u64) {
        self.machine.spending.on_context(tokens);
        self.changed();
    }

    pub(super) fn init(&mut self, init: &Init) {
        self.watch_init(init);
        self.machine.capabilities.on_init(init);
        self.machine.configuration.on_plugins(init.plugins.clone());
        let had_one = self.machine.conversation.id().is_some();
        if self.machine.conversation.on_init(&init.session_id) {
            self.past_is_missing("The agent is in another conversation now.");
            if had_one && !self.machine.process.is_fresh() {
                self.context_is(0);
                self.machine.context.on_cleared();
                // 2.1.197 does not report that it cleared the conversation. 2.1.329 does; the transcript drops this
                // second notice.
                self.notice(Level::Info, CLEARED, None);
            }
            self.save();
        }
        self.machine.process.on_init();
        self.machine.options.on_init(init.model.clone());
        if let Some(mode) = init.permission_mode.clone() {
            let requested = self.machine.control.mode();
            self.saves |= self.machine.mode.on_init(mode, requested);
            self.mode_reported();
        }
        self.changed();
        self.begin_unasked();
        self.turn_begun();
    }

    pub(super) fn ready(&mut self, initialized: Initialized) {
        if !self.machine.process.on_ready(self.now) {
            return;
        }
        self.push(Effect::Disarm(Timer::Initialize));
        let started = self.machine.process.started();
        if started.resume.is_some() || started.fork.is_some() {
            self.ask(PendingRequest::Cost, HostRequest::ReadUsage);
        }
        // An agent that speaks ACP takes no model as an argument: the one that it began with is in force.
        let started = match self.machine.acp {
            Some(_) => self.machine.options.model().map(str::to_owned),
            None => self.machine.process.started().model.clone(),
        };
        let model = self.machine.options.on_ready(initialized.models, started.as_deref());
        self.machine.capabilities.on_reported(initialized.capabilities);
        self.machine.capabilities.on_ready(initialized.version, initialized.commands);
        self.machine.configuration.on_ready(initialized.subagents);
        let mode = self.machine.mode.on_ready(initialized.permission_mode);
        self.changed();
        // Choices made while the process was starting.
        if let Some(mode) = mode {
            self.ask(PendingRequest::Mode(mode), HostRequest::SetMode(mode));
        }
        if let Some(model) = model {
            self.ask(PendingRequest::Model(model.clone()), HostRequest::SetModel(model));
        }
        self.mode_reported();
        self.switch_at_start();
        self.receive_messages();
        self.name_at_start();
        self.rewind_at_start();
        self.send_side_questions();
        self.advance();
    }

    /// Applies the mode that the agent reports.
    pub(super) fn works_in_mode(&mut self, mode: String) {
        let requested = self.machine.control.mode();
        if self.machine.acp.is_some() {
            // Its modes are its own: the driver sets the one that asks, and none is wanted from the next process.
            self.machine.mode.is_shown_as(mode);
        } else {
            self.saves |= self.machine.mode.on_report(mode, requested);
        }
        self.mode_reported();
        self.changed();
    }

    pub(super) fn set_mode(&mut self, mode: PermissionMode) {
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Mode(mode), HostRequest::SetMode(mode));
        }
        self.saves |= self.machine.mode.on_chosen(mode);
        self.changed();
    }

    pub(super) fn set_model(&mut self, model: String) {
        if let Some(problem) = Launch::bad_model(&model) {
            return self.refuse(ErrorCode::BadCommand, problem);
        }
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Model(model.clone()), HostRequest::SetModel(model));
        } else {
            self.machine.options.on_model_for_start(model);
            self.save();
        }
        self.changed();
    }

    pub(super) fn control_response(&mut self, id: &str, outcome: Result<&Answer, &Refused>) {
        let Some(asked) = self.machine.control.answered(id) else { return };
        match (asked, outcome) {
            (PendingRequest::Initialize, Ok(Answer::Initialized(initialized))) => {
                self.ready((**initialized).clone());
            }
            // It answered, so it is ready; its models and commands stay unknown.
            (PendingRequest::Initialize, _) => self.ready(Initialized::default()),
            (PendingRequest::Interrupt, Ok(Answer::StillQueued(queued))) => self.interrupt_answered(queued),
            (PendingRequest::Interrupt, Ok(_)) => self.interrupt_answered(&[]),
            // The timer decides.
            (PendingRequest::Interrupt, Err(_)) => {}
            (PendingRequest::CancelPrompt(wire_id), Ok(Answer::Cancelled(true))) => {
                self.taken_back(&wire_id);
            }
            // The agent has accepted it already, or cannot give it back. Its turn is interrupted instead.
            (PendingRequest::CancelPrompt(_), _) => {}
            (PendingRequest::Mode(mode), Ok(_)) => self.works_in_mode(mode.name().to_owned()),
            (PendingRequest::Mode(_), Err(problem)) => {
                let requested = self.machine.control.mode();
                self.saves |= self.machine.mode.on_refused(requested);
                self.refused("The agent refused the permission mode.", &problem.message);
                self.mode_reported();
            }
            (PendingRequest::Model(model), Ok(answer)) => {
                let resolved = match answer {
                    Answer::Model(resolved) => resolved.clone(),
                    _ => model.clone(),
                };
                self.machine.options.on_model_applied(model, resolved);
                self.save();
                self.ask_effort();
                self.changed();
            }
            (PendingRequest::Effort { wish, before }, outcome) => {
                self.effort_answered(&wish, before, outcome)
            }
            (PendingRequest::HeldMessages, outcome) => self.held_messages_answered(outcome),
            (PendingRequest::Messages, outcome) => self.messages_answered(outcome),
            (PendingRequest::SuspendedRules { before }, outcome) => self.rules_suspended(before, outcome),
            (PendingRequest::AgentOption, outcome) => self.agent_option_answered(outcome),
            (PendingRequest::Thinking { on }, outcome) => self.thinking_answered(on, outcome),
            (PendingRequest::Settings, outcome) => self.settings_reported(outcome),
            (PendingRequest::Rules, outcome) => self.rules_reported(outcome),
            (PendingRequest::SettingsForRules, outcome) => self.settings_for_rules(outcome),
            (PendingRequest::Cost, Ok(Answer::Usage(usage))) => {
                self.machine.spending.on_counter(usage);
                self.changed();
            }
            (PendingRequest::StopTask(id), outcome) => self.stop_task_answered(&id, outcome),
            (PendingRequest::MoveToBackground, Ok(_)) => {}
            (PendingRequest::MoveToBackground, Err(problem)) => {
                self.refused("The agent moved nothing to the background.", &problem.message);
            }
            (PendingRequest::Rename(title), outcome) => self.rename_answered(&title, outcome),
            (PendingRequest::GenerateTitle, outcome) => self.title_generated(outcome),
            (PendingRequest::Context { requested_at }, outcome) => {
                self.context_reported(requested_at, outcome)
            }
            (PendingRequest::Side(id), outcome) => self.side_answered(&id, outcome),
            (PendingRequest::Configuration(part), outcome) => self.part_reported(part, outcome),
            (PendingRequest::ConfigurationChange(change), outcome) => {
                self.change_answered(&change, outcome);
            }
            (PendingRequest::RewindFiles { at, is_dry }, outcome) => {
                self.rewind_answered(at, is_dry, outcome);
            }
            // The cost stays unknown.
            (PendingRequest::Cost, _) => {}
            (PendingRequest::Model(_), Err(problem)) => {
                self.refused("The agent refused the model.", &problem.message)
            }
        }
        self.confirmed();
    }

    pub(super) fn refused(&mut self, message: &str, problem: &str) {
        self.notice(Level::Warning, message, Some(problem.to_owned()));
        let error = CommandError {
            code: ErrorCode::Refused,
            message: message.to_owned(),
            detail: Some(problem.to_owned()),
        };
        self.emit(Event::CommandFailed { error });
        self.changed();
    }
}
