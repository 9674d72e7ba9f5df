//! Changes of a running session: its model, effort and other settings. Each is in force when the agent says so.

use super::{AcpDriver, notice, why};
use crate::agents::{AskingHabit, Asks};
use crate::choices::{self, MODE};
use crate::command::{AcpCommand, AcpRefusal, NewValue};
use crate::event::{AcpAction, AcpSession, OptionValue};
use deskbell_agent::driver::Output;
use deskbell_agent::{AgentEvent, Answer, HostRequest, Refused, SettingsReport};
use deskbell_api::{RulesBasis, RulesInForce};

impl AcpDriver {
    /// Sends a change that the user chose, or answers at once that it cannot be made.
    pub(super) fn change(&mut self, request_id: &str, request: &HostRequest, out: &mut Output) {
        let sent = match self.driver.session().cloned() {
            Some(session) => self.send(&session, request_id, request, out),
            None => Err(why(&AcpRefusal::NoSession)),
        };
        if let Err(message) = sent {
            let outcome = Err(Refused { message, is_unknown: false });
            out.events.push(AgentEvent::Response { request_id: request_id.to_owned(), outcome });
        }
    }

    fn send(
        &mut self,
        session: &AcpSession,
        request_id: &str,
        request: &HostRequest,
        out: &mut Output,
    ) -> Result<(), String> {
        let command = self.command_of(session, request)?;
        let (before, mode) = (self.chosen_mode.clone(), mode_of(&command));
        self.chosen_mode = mode.or(self.chosen_mode.take());
        let step = self.driver.command(command).map_err(|refusal| {
            self.chosen_mode = before;
            why(&refusal)
        })?;
        self.changes.extend(self.driver.last_action().map(|action| (action, request_id.to_owned())));
        out.lines.extend(step.lines);
        step.events.into_iter().for_each(|event| self.event(event, out));
        Ok(())
    }

    /// The change in the protocol's terms. The error is for the user.
    fn command_of(&self, session: &AcpSession, request: &HostRequest) -> Result<AcpCommand, String> {
        let lacks = |what: &str| format!("{} does not have {what}.", self.name);
        match request {
            HostRequest::SetModel(id) => {
                let models = choices::of(session, self.row).models;
                let known = models.iter().any(|model| model.name == *id);
                known
                    .then(|| AcpCommand::SetModel { id: id.clone() })
                    .ok_or_else(|| lacks(&format!("the model “{id}”")))
            }
            HostRequest::SetEffort(level) => {
                let option = choices::effort(session).ok_or_else(|| lacks("effort levels"))?;
                // Its own default has this name where there is one: claude-agent-acp 0.100.0.
                let value = NewValue::Choice(level.clone().unwrap_or_else(|| "default".to_owned()));
                Ok(AcpCommand::SetOption { id: option.id.clone(), value })
            }
            HostRequest::SetOption { id, value } => self.option_of(session, id, value),
            _ => Err(lacks("this")),
        }
    }

    /// Only what is offered can be set: an agent may have options and modes that turn off asking.
    fn option_of(&self, session: &AcpSession, id: &str, value: &str) -> Result<AcpCommand, String> {
        let offered = choices::of(session, self.row).options;
        let lacks = || format!("{} does not offer this setting.", self.name);
        offered.iter().find(|option| option.id == id).ok_or_else(lacks)?;
        if id == MODE {
            let offers = choices::is_offered(self.row, value);
            let words = || format!("Deskbell does not know that {} asks in this mode.", self.name);
            return offers.then(|| AcpCommand::SetMode { id: value.to_owned() }).ok_or_else(words);
        }
        let option = session.options.iter().find(|option| option.id == id).ok_or_else(lacks)?;
        let value = match (&option.value, value) {
            (OptionValue::Choice { .. }, value) => NewValue::Choice(value.to_owned()),
            (OptionValue::Switch(_), "true") => NewValue::Switch(true),
            (OptionValue::Switch(_), "false") => NewValue::Switch(false),
            (OptionValue::Switch(_), _) => return Err(why(&AcpRefusal::NoSuchSetting)),
        };
        Ok(AcpCommand::SetOption { id: id.to_owned(), value })
    }

    /// The agent answered a change. What it reports then is in force, which may be another value.
    pub(super) fn change_made(&mut self, action: &AcpAction, out: &mut Output) {
        self.report_choices(out);
        let Some(request_id) = self.take_change(action) else { return };
        let outcome = match self.driver.session().and_then(|session| in_force(session, action)) {
            Some(value) if value != wanted(action) => {
                let message = format!("{} uses “{value}” instead of “{}”.", self.name, wanted(action));
                Err(Refused { message, is_unknown: false })
            }
            _ => Ok(Answer::Done),
        };
        out.events.push(AgentEvent::Response { request_id, outcome });
    }

    /// Returns whether the action was a change that the user chose.
    pub(super) fn change_failed(&mut self, action: &AcpAction, problem: &str, out: &mut Output) -> bool {
        let Some(request_id) = self.take_change(action) else { return false };
        let outcome = Err(Refused { message: problem.to_owned(), is_unknown: false });
        out.events.push(AgentEvent::Response { request_id, outcome });
        true
    }

    fn take_change(&mut self, action: &AcpAction) -> Option<String> {
        let at = self.changes.iter().position(|(known, _)| known == action)?;
        Some(self.changes.remove(at).1)
    }

    /// The settings changed, by the user or by the agent itself.
    pub(super) fn options_changed(&mut self, out: &mut Output) {
        self.report_choices(out);
        let Some(session) = self.driver.session() else { return };
        let AskingHabit::Setting(id, asks) = self.row.asking else { return };
        let does_ask = self.row.asking.of(session) == Asks::Yes;
        if !std::mem::replace(&mut self.warned_of_setting, !does_ask) && !does_ask {
            let words = format!(
                "{} changed its setting “{id}”. It may act without asking; with “{asks}” it asks.",
                self.name
            );
            notice("warning", words, out);
        }
    }

    /// Reports all that can be chosen. A turn of the core begins with the model, so it is kept for the next one.
    pub(super) fn report_choices(&mut self, out: &mut Output) {
        let Some(session) = self.driver.session() else { return };
        let choices = choices::of(session, self.row);
        self.init.model.clone_from(&choices.model);
        out.events.push(AgentEvent::Choices(Box::new(choices)));
    }

    /// What is known of the settings in force: the effort. The protocol has no rules.
    pub(super) fn settings(&self) -> SettingsReport {
        let effort = self.driver.session().and_then(choices::current_effort);
        let rules = RulesInForce { basis: RulesBasis::Settings, rules: Vec::new(), directories: Vec::new() };
        SettingsReport { effort, has_allowing_hooks: false, rules }
    }
}

fn mode_of(command: &AcpCommand) -> Option<String> {
    match command {
        AcpCommand::SetMode { id } => Some(id.clone()),
        _ => None,
    }
}

/// The value that a change asked for.
fn wanted(action: &AcpAction) -> &str {
    match action {
        AcpAction::SetMode { id } | AcpAction::SetModel { id } => id,
        AcpAction::SetOption { value, .. } => value,
        _ => "",
    }
}

/// The value that the agent uses now, after a change; `None` if it does not say.
fn in_force(session: &AcpSession, action: &AcpAction) -> Option<String> {
    match action {
        AcpAction::SetMode { .. } => session.mode.clone(),
        AcpAction::SetModel { .. } => session.model.clone(),
        AcpAction::SetOption { id, .. } => {
            match &session.options.iter().find(|option| option.id == *id)?.value {
                OptionValue::Choice { value, .. } => Some(value.clone()),
                OptionValue::Switch(on) => Some(on.to_string()),
            }
        }
        _ => None,
    }
}
