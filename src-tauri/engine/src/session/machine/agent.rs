//! What the agent says of itself, and what is asked of it: its mode, its model, its commands.

use super::*;
use crate::launch::{BYPASS, MODES};

impl Step<'_> {
    pub(super) fn line(&mut self, inbound: Inbound) {
        self.time(&inbound);
        match &inbound {
            Inbound::Assistant(assistant) => self.watch_call(assistant),
            Inbound::User(user) => self.watch_results(user),
            _ => {}
        }
        match inbound {
            Inbound::Init(init) => self.init(*init),
            Inbound::Result(result) => self.result(&result),
            Inbound::ControlRequest { request_id, request } => self.control_request(request_id, request),
            Inbound::ControlResponse { request_id, outcome } => self.control_response(&request_id, outcome),
            Inbound::ControlCancel { request_id } => {
                let id = RequestId::new(request_id);
                let closed = self.machine.requests.withdraw(&id, "The agent took the request back.");
                self.resolved(closed);
            }
            Inbound::SessionState { state } if state == "idle" => self.end_unasked(),
            Inbound::Status { permission_mode: Some(mode), .. } => self.works_in_mode(mode),
            Inbound::Assistant(assistant) if assistant.parent_tool_use_id.is_none() => {
                if let Some(turn) = &mut self.machine.turn
                    && assistant.error.is_some()
                {
                    turn.reply_error = assistant.error;
                }
                if let Some(usage) = assistant.message.usage
                    && usage.context_tokens() > 0
                {
                    self.machine.usage.context_tokens = usage.context_tokens();
                    self.changed();
                }
            }
            Inbound::Lifecycle { uuid, state } => self.lifecycle(&uuid, &state),
            Inbound::BackgroundTasks { n } => self.machine.n_background_tasks = n,
            Inbound::Title { title } if !title.trim().is_empty() => {
                self.machine.title = Some(title);
                self.save();
                self.changed();
            }
            // The transcript shows these; they change nothing in the session's life.
            _ => {}
        }
    }

    pub(super) fn init(&mut self, init: wire::Init) {
        self.watch_init(&init);
        self.machine.tells_prompts = init.tells_prompts();
        if self.machine.agent_session_id.as_deref() != Some(init.session_id.as_str())
            && !init.session_id.is_empty()
        {
            if self.machine.agent_session_id.is_some() && !self.machine.fresh {
                // 2.1.197 does not say that it cleared the conversation. Of 2.1.329 this is a repetition, which the
                // transcript leaves out.
                self.notice(Level::Info, CLEARED, None);
            }
            self.machine.agent_session_id = Some(init.session_id);
            self.machine.resumable = false;
            self.save();
        }
        self.machine.fresh = false;
        self.machine.model = init.model.or(self.machine.model.take());
        if let Some(mode) = init.permission_mode {
            if self.machine.wanted_mode.is_some() {
                self.works_in_mode(mode);
            } else {
                self.machine.mode = Some(mode);
                self.bypass_told();
            }
        }
        self.machine.version = init.claude_code_version.or(self.machine.version.take());
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
        self.machine.models = read_models(response);
        self.machine.commands = read_commands(response);
        let string = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_owned);
        self.machine.version = string("claude_code_version").or(self.machine.version.take());
        self.machine.mode = string("current_permission_mode").or(self.machine.mode.take());
        self.changed();
        // What was chosen while it was coming up.
        if let Some(mode) = self.machine.wanted_mode.clone()
            && self.machine.mode.as_ref() != Some(&mode)
        {
            self.ask(Asked::Mode(mode.clone()), wire::set_permission_mode(&mode));
        }
        if let Some(model) = self.machine.wanted_model.clone()
            && self.machine.started.model.as_ref() != Some(&model)
        {
            self.ask(Asked::Model(model.clone()), wire::set_model(&model));
        }
        self.bypass_told();
        self.switch_at_start();
        self.advance();
    }

    /// What the agent says of its mode holds from now on, but for a wish that it has yet to answer.
    pub(super) fn works_in_mode(&mut self, mode: String) {
        let wanted = self.machine.asked_mode().unwrap_or(&mode).to_owned();
        self.machine.mode = Some(mode);
        // It may be in a mode of its own that cannot be asked for.
        if MODES.contains(&wanted.as_str()) {
            self.want_mode(Some(wanted));
        }
        self.bypass_told();
        self.changed();
    }

    pub(super) fn want_mode(&mut self, mode: Option<String>) {
        if self.machine.wanted_mode != mode {
            self.machine.wanted_mode = mode;
            self.save();
        }
    }

    pub(super) fn set_mode(&mut self, mode: String) {
        if mode == BYPASS {
            let words = "To run without asking is chosen before the agent starts, and not later.";
            return self.refuse(ErrorCode::BadCommand, words);
        }
        // 2.1.197 takes any string and then works in a mode that does not exist.
        if !MODES.contains(&mode.as_str()) {
            let known = MODES.join(", ");
            return self
                .refuse(ErrorCode::BadCommand, format!("There is no mode “{mode}”; there are {known}."));
        }
        if self.machine.process == Process::Ready {
            self.ask(Asked::Mode(mode.clone()), wire::set_permission_mode(&mode));
        }
        self.want_mode(Some(mode));
        self.changed();
    }

    pub(super) fn set_model(&mut self, model: String) {
        if model.trim().is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The model has no name.");
        }
        if self.machine.process == Process::Ready {
            self.ask(Asked::Model(model.clone()), wire::set_model(&model));
        } else {
            self.machine.model = None;
            self.machine.wanted_model = Some(model);
            self.save();
        }
        self.changed();
    }

    pub(super) fn control_response(&mut self, id: &str, outcome: Result<Value, String>) {
        let Some(at) = self.machine.asked.iter().position(|(known, _)| known == id) else { return };
        let (_, asked) = self.machine.asked.remove(at);
        match (asked, outcome) {
            (Asked::Initialize, Ok(response)) => self.ready(&response),
            // It answered, so it is ready; what it offers stays unknown.
            (Asked::Initialize, Err(_)) => self.ready(&Value::Null),
            (Asked::Interrupt, Ok(response)) => self.interrupt_answered(&response),
            // The timer decides.
            (Asked::Interrupt, Err(_)) => {}
            (Asked::Mode(mode), Ok(_)) => self.works_in_mode(mode),
            (Asked::Mode(_), Err(problem)) => {
                let wanted =
                    self.machine.asked_mode().map(str::to_owned).or_else(|| self.machine.mode.clone());
                self.want_mode(wanted.filter(|mode| MODES.contains(&mode.as_str())));
                self.refused("The agent refused the mode.", problem);
            }
            (Asked::Model(model), Ok(response)) => {
                let resolved = response.get("model").and_then(Value::as_str).unwrap_or(&model).to_owned();
                self.machine.model = Some(resolved);
                self.machine.wanted_model = Some(model);
                self.save();
                self.ask_effort();
                self.changed();
            }
            (Asked::Effort { wish, before }, outcome) => self.effort_answered(&wish, before, outcome),
            (Asked::Thinking { on }, outcome) => self.thinking_answered(on, outcome),
            (Asked::Settings, outcome) => self.settings_told(outcome),
            (Asked::Rules, outcome) => self.rules_told(outcome),
            (Asked::SettingsForRules, outcome) => self.settings_for_rules(outcome),
            (Asked::Model(_), Err(problem)) => self.refused("The agent refused the model.", problem),
        }
    }

    pub(super) fn refused(&mut self, message: &str, problem: String) {
        self.notice(Level::Warning, message, Some(problem.clone()));
        let error =
            CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: Some(problem) };
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

fn read_commands(response: &Value) -> Vec<SlashCommand> {
    let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let commands = response.get("commands").and_then(Value::as_array);
    commands
        .into_iter()
        .flatten()
        .map(|command| SlashCommand {
            name: string(command, "name"),
            description: string(command, "description"),
            argument_hint: string(command, "argumentHint"),
        })
        .filter(|command| !command.name.is_empty())
        .collect()
}
