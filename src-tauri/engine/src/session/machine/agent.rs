//! The agent's reports and the control requests to it: mode, model, commands.

use super::*;
use crate::claude::answer::{self, Initialized};
use crate::trust::snapshot::PREFIX;

impl Step<'_> {
    pub(super) fn line(&mut self, inbound: &Inbound) {
        self.time(inbound);
        match inbound {
            Inbound::Assistant(assistant) => {
                let strict = self.is_strict();
                self.machine.audit.on_call(assistant, strict);
                if let Some(turn) = &mut self.machine.turn {
                    turn.on_reply(assistant);
                }
            }
            Inbound::User(user) => {
                self.watch_results(user);
                let has_changed = self.machine.background.called(user, self.now);
                self.changed_if(has_changed);
            }
            _ => {}
        }
        match inbound {
            Inbound::Init(init) => self.init(init),
            Inbound::Result(result) => self.result(result),
            Inbound::ControlRequest { request_id, request } => self.control_request(request_id, request),
            Inbound::ControlResponse { request_id, outcome } => {
                self.control_response(request_id, outcome.as_ref())
            }
            Inbound::ControlCancel { request_id } => {
                let closed = self.machine.requests.on_cancel(request_id);
                self.resolved(closed);
            }
            Inbound::SessionState { state } if state == "idle" => self.end_unasked(),
            Inbound::Status { permission_mode: Some(mode), .. } => self.works_in_mode(mode.clone()),
            Inbound::Assistant(assistant) if assistant.parent_tool_use_id.is_none() => {
                if let Some(usage) = &assistant.message.usage
                    && usage.context_tokens() > 0
                {
                    self.context_is(usage.context_tokens());
                }
            }
            Inbound::Error { words } => self.error_line(words),
            Inbound::Lifecycle { uuid, state } => self.lifecycle(uuid, state),
            Inbound::BackgroundTasks { tasks } => {
                let has_changed = self.machine.background.listed(tasks, self.now);
                self.changed_if(has_changed);
            }
            Inbound::Task(task) => {
                self.machine.requests.on_task(task);
                let has_changed = self.machine.background.reported(task, self.now);
                self.changed_if(has_changed);
            }
            Inbound::TaskEnded { task_id, .. } => {
                let has_changed = self.machine.background.ended(task_id);
                self.changed_if(has_changed);
            }
            // A sign of life: subscribers measure the agent's silence by the last event.
            Inbound::Heartbeat => self.changed(),
            Inbound::Title { title } => self.named(title),
            Inbound::ConversationReset => {
                self.machine.spending.on_cleared();
                self.machine.context.on_cleared();
                self.changed();
            }
            Inbound::RateLimit(report) => {
                self.machine.limits.on_report(self.now, report);
                self.changed();
            }
            Inbound::CompactBoundary { post_tokens, .. } => self.context_is(post_tokens.unwrap_or(0)),
            // The transcript shows these; they do not change the session's state.
            _ => {}
        }
    }

    fn context_is(&mut self, tokens: u64) {
        self.machine.spending.on_context(tokens);
        self.changed();
    }

    pub(super) fn init(&mut self, init: &wire::Init) {
        self.watch_init(init);
        self.machine.capabilities.on_init(init);
        let had_one = self.machine.conversation.id().is_some();
        if self.machine.conversation.on_init(&init.session_id) {
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

    pub(super) fn ready(&mut self, response: &Value) {
        if !self.machine.process.on_ready(self.now) {
            return;
        }
        self.push(Effect::Disarm(Timer::Initialize));
        let started = self.machine.process.started();
        if started.resume.is_some() || started.fork.is_some() {
            self.ask(PendingRequest::Cost, wire::get_usage());
        }
        let initialized = Initialized::read(response, PREFIX);
        let started = self.machine.process.started().model.as_deref();
        let model = self.machine.options.on_ready(initialized.models, started);
        self.machine.capabilities.on_ready(initialized.version, initialized.commands);
        let mode = self.machine.mode.on_ready(initialized.permission_mode);
        self.changed();
        // Choices made while the process was starting.
        if let Some(mode) = mode {
            self.ask(PendingRequest::Mode(mode), wire::set_permission_mode(mode));
        }
        if let Some(model) = model {
            self.ask(PendingRequest::Model(model.clone()), wire::set_model(&model));
        }
        self.mode_reported();
        self.switch_at_start();
        self.name_at_start();
        self.advance();
    }

    /// Applies the mode that the agent reports.
    pub(super) fn works_in_mode(&mut self, mode: String) {
        let requested = self.machine.control.mode();
        self.saves |= self.machine.mode.on_report(mode, requested);
        self.mode_reported();
        self.changed();
    }

    pub(super) fn set_mode(&mut self, mode: PermissionMode) {
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Mode(mode), wire::set_permission_mode(mode));
        }
        self.saves |= self.machine.mode.on_chosen(mode);
        self.changed();
    }

    pub(super) fn set_model(&mut self, model: String) {
        if let Some(problem) = bad_model(&model) {
            return self.refuse(ErrorCode::BadCommand, problem);
        }
        if self.machine.process.is_ready() {
            self.ask(PendingRequest::Model(model.clone()), wire::set_model(&model));
        } else {
            self.machine.options.on_model_for_start(model);
            self.save();
        }
        self.changed();
    }

    pub(super) fn control_response(&mut self, id: &str, outcome: Result<&Value, &String>) {
        let Some(asked) = self.machine.control.answered(id) else { return };
        match (asked, outcome) {
            (PendingRequest::Initialize, Ok(response)) => self.ready(response),
            // It answered, so it is ready; its models and commands stay unknown.
            (PendingRequest::Initialize, Err(_)) => self.ready(&Value::Null),
            (PendingRequest::Interrupt, Ok(response)) => self.interrupt_answered(response),
            // The timer decides.
            (PendingRequest::Interrupt, Err(_)) => {}
            (PendingRequest::CancelPrompt(wire_id), Ok(response)) if answer::is_cancelled(response) => {
                self.taken_back(&wire_id);
            }
            // The agent has accepted it already, or cannot give it back. Its turn is interrupted instead.
            (PendingRequest::CancelPrompt(_), _) => {}
            (PendingRequest::Mode(mode), Ok(_)) => self.works_in_mode(mode.name().to_owned()),
            (PendingRequest::Mode(_), Err(problem)) => {
                let requested = self.machine.control.mode();
                self.saves |= self.machine.mode.on_refused(requested);
                self.refused("The agent refused the permission mode.", problem);
                self.mode_reported();
            }
            (PendingRequest::Model(model), Ok(response)) => {
                let resolved = answer::resolved_model(response).unwrap_or(&model).to_owned();
                self.machine.options.on_model_applied(model, resolved);
                self.save();
                self.ask_effort();
                self.changed();
            }
            (PendingRequest::Effort { wish, before }, outcome) => {
                self.effort_answered(&wish, before, outcome)
            }
            (PendingRequest::Thinking { on }, outcome) => self.thinking_answered(on, outcome),
            (PendingRequest::Settings, outcome) => self.settings_reported(outcome),
            (PendingRequest::Rules, outcome) => self.rules_reported(outcome),
            (PendingRequest::SettingsForRules, outcome) => self.settings_for_rules(outcome),
            (PendingRequest::Cost, Ok(usage)) => {
                self.machine.spending.on_counter(usage);
                self.changed();
            }
            (PendingRequest::StopTask(id), outcome) => self.stop_task_answered(&id, outcome),
            (PendingRequest::Rename(title), outcome) => self.rename_answered(&title, outcome),
            (PendingRequest::GenerateTitle, outcome) => self.title_generated(outcome),
            (PendingRequest::Context { requested_at }, outcome) => {
                self.context_reported(requested_at, outcome)
            }
            // The cost stays unknown.
            (PendingRequest::Cost, Err(_)) => {}
            (PendingRequest::Model(_), Err(problem)) => self.refused("The agent refused the model.", problem),
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
