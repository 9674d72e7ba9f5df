//! The agent's reports and the control requests to it: mode, model, commands.

use super::*;
use crate::trust::snapshot::PREFIX;

impl Step<'_> {
    pub(super) fn line(&mut self, inbound: &Inbound) {
        self.time(inbound);
        match inbound {
            Inbound::Assistant(assistant) => {
                self.watch_call(assistant);
                if let Some(turn) = &mut self.machine.turn {
                    turn.reply(assistant);
                }
            }
            Inbound::User(user) => {
                self.watch_results(user);
                if self.machine.background.called(user) {
                    self.changed();
                }
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
                let id = RequestId::new(request_id);
                let closed = self.machine.requests.withdraw(&id, "The agent withdrew the request.");
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
            Inbound::BackgroundTasks { ids } => {
                let has_changed = self.machine.background.listed(ids);
                self.changed_if(has_changed);
            }
            Inbound::TaskEnded { task_id, .. } => {
                let has_changed = self.machine.background.ended(task_id);
                self.changed_if(has_changed);
            }
            Inbound::Title { title } => {
                if let Some(title) = Title::new(title) {
                    self.machine.title = Some(title);
                    self.save();
                    self.changed();
                }
            }
            Inbound::ConversationReset => {
                self.machine.cost.cleared();
                self.context_is(0);
            }
            Inbound::CompactBoundary { post_tokens, .. } => self.context_is(post_tokens.unwrap_or(0)),
            // The transcript shows these; they do not change the session's state.
            _ => {}
        }
    }

    fn context_is(&mut self, tokens: u64) {
        self.machine.usage.context_tokens = tokens;
        self.changed();
    }

    pub(super) fn init(&mut self, init: &wire::Init) {
        self.watch_init(init);
        self.machine.reports_prompts = init.reports_prompts();
        if self.machine.agent_session_id.as_deref() != Some(init.session_id.as_str())
            && is_conversation_id(&init.session_id)
        {
            if self.machine.agent_session_id.is_some() && !self.machine.fresh {
                self.context_is(0);
                // 2.1.197 does not report that it cleared the conversation. 2.1.329 does; the transcript drops this
                // second notice.
                self.notice(Level::Info, CLEARED, None);
            }
            self.machine.agent_session_id = Some(init.session_id.clone());
            self.machine.resumable = false;
            self.save();
        }
        self.machine.fresh = false;
        self.machine.model = init.model.clone().or(self.machine.model.take());
        if let Some(mode) = init.permission_mode.clone() {
            if self.machine.wanted_mode.is_some() {
                self.works_in_mode(mode);
            } else {
                self.machine.mode = Some(mode);
                self.mode_reported();
            }
        }
        self.machine.version = init.claude_code_version.clone().or(self.machine.version.take());
        self.machine.commands.retain(|command| !init.terminal_slash_commands.contains(&command.name));
        self.changed();
        self.begin_unasked();
        self.turn_begun();
    }

    pub(super) fn ready(&mut self, response: &Value) {
        if self.machine.process != Process::Starting {
            return;
        }
        self.push(Effect::Disarm(Timer::Initialize));
        self.machine.process = Process::Ready;
        self.time_spawn();
        if self.machine.started.resume.is_some() {
            self.ask(PendingRequest::Cost, wire::get_usage());
        }
        self.machine.models = read_models(response);
        self.machine.commands = read_commands(response);
        let string = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_owned);
        self.machine.version = string("claude_code_version").or(self.machine.version.take());
        self.machine.mode = string("current_permission_mode").or(self.machine.mode.take());
        self.changed();
        // Choices made while the process was starting.
        if let Some(mode) = self.machine.wanted_mode
            && self.machine.mode.as_deref() != Some(mode.name())
        {
            self.ask(PendingRequest::Mode(mode), wire::set_permission_mode(mode));
        }
        if let Some(model) = self.machine.wanted_model.clone()
            && self.machine.started.model.as_ref() != Some(&model)
        {
            self.ask(PendingRequest::Model(model.clone()), wire::set_model(&model));
        }
        self.mode_reported();
        self.switch_at_start();
        self.advance();
    }

    /// Applies the mode that the agent reports. A mode that was requested and not answered yet stays wanted.
    pub(super) fn works_in_mode(&mut self, mode: String) {
        // The agent may report a mode that cannot be requested.
        let wanted = self.machine.control.mode().or_else(|| mode.parse().ok());
        self.machine.mode = Some(mode);
        if wanted.is_some() {
            self.want_mode(wanted);
        }
        self.mode_reported();
        self.changed();
    }

    pub(super) fn want_mode(&mut self, mode: Option<PermissionMode>) {
        if self.machine.wanted_mode != mode {
            self.machine.wanted_mode = mode;
            self.save();
        }
    }

    pub(super) fn set_mode(&mut self, mode: PermissionMode) {
        if self.machine.process == Process::Ready {
            self.ask(PendingRequest::Mode(mode), wire::set_permission_mode(mode));
        }
        self.want_mode(Some(mode));
        self.changed();
    }

    pub(super) fn set_model(&mut self, model: String) {
        if let Some(problem) = bad_model(&model) {
            return self.refuse(ErrorCode::BadCommand, problem);
        }
        if self.machine.process == Process::Ready {
            self.ask(PendingRequest::Model(model.clone()), wire::set_model(&model));
        } else {
            self.machine.model = None;
            self.machine.wanted_model = Some(model);
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
            (PendingRequest::CancelPrompt(wire_id), Ok(response)) if response["cancelled"] == true => {
                self.taken_back(&wire_id);
            }
            // The agent has accepted it already, or cannot give it back. Its turn is interrupted instead.
            (PendingRequest::CancelPrompt(_), _) => {}
            (PendingRequest::Mode(mode), Ok(_)) => self.works_in_mode(mode.name().to_owned()),
            (PendingRequest::Mode(_), Err(problem)) => {
                let told = self.machine.mode.as_deref().and_then(|mode| mode.parse().ok());
                self.want_mode(self.machine.control.mode().or(told));
                self.refused("The agent refused the permission mode.", problem);
                self.mode_reported();
            }
            (PendingRequest::Model(model), Ok(response)) => {
                let resolved = response.get("model").and_then(Value::as_str).unwrap_or(&model).to_owned();
                self.machine.model = Some(resolved);
                self.machine.wanted_model = Some(model);
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
                self.machine.cost.resumed_at(usage);
                self.cost_changed();
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

fn read_models(response: &Value) -> Vec<Model> {
    let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let flag = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
    let levels = |model: &Value| {
        let levels = model.get("supportedEffortLevels").and_then(Value::as_array);
        levels.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let models = response.get("models").and_then(Value::as_array);
    models
        .into_iter()
        .flatten()
        .map(|model| Model {
            name: string(model, "value"),
            label: string(model, "displayName"),
            description: string(model, "description"),
            resolved: model.get("resolvedModel").and_then(Value::as_str).map(str::to_owned),
            effort_levels: levels(model),
            can_stop_thinking: flag(model, "supportsThinkingOff"),
            can_decide: flag(model, "supportsAutoMode"),
        })
        .filter(|model| !model.name.is_empty())
        .collect()
}

/// The name of a command without the prefix of the folder's copy. 2.1.329 lists these commands as `project:name`, and
/// runs them by `name` as well.
fn own_name(command: &Value, name: String) -> String {
    let aliases = command.get("aliases").and_then(Value::as_array);
    let own = name.strip_prefix(PREFIX);
    let own = own.filter(|own| aliases.into_iter().flatten().any(|alias| alias == *own));
    own.map(str::to_owned).unwrap_or(name)
}

fn read_commands(response: &Value) -> Vec<SlashCommand> {
    let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let commands = response.get("commands").and_then(Value::as_array);
    commands
        .into_iter()
        .flatten()
        .map(|command| SlashCommand {
            name: own_name(command, string(command, "name")),
            description: string(command, "description"),
            argument_hint: string(command, "argumentHint"),
        })
        .filter(|command| !command.name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_of_the_folders_copy_has_its_own_name() {
        let response = json!({"commands": [
            {"name": "project:ship", "aliases": ["ship"]},
            {"name": "project:db:reset"},
            {"name": "project:x", "aliases": ["y"]},
            {"name": "other:z", "aliases": ["z"]},
        ]});
        let names: Vec<String> = read_commands(&response).into_iter().map(|command| command.name).collect();
        assert_eq!(names, ["ship", "project:db:reset", "project:x", "other:z"]);
    }
}
