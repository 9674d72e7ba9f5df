//! Commands that the agent of a session does not have: they are refused before anything changes.

use super::{Input, Machine, Step};
use crate::api::*;

impl Machine {
    /// What an agent that speaks ACP says that it can do. Its models and effort levels can change while it runs.
    pub(super) fn reported_capabilities(&self) -> AgentCapabilities {
        let reported = self.capabilities.reported().cloned();
        AgentCapabilities {
            models: !self.options.models().is_empty(),
            effort: self.options.reports_effort(),
            ..reported.unwrap_or_else(deskbell_acp::AcpDriver::capabilities)
        }
    }

    /// What the command asks for, if an agent that speaks ACP does not have it.
    fn lacks(&self, input: &Input) -> Option<&'static str> {
        self.acp.as_ref()?;
        let can = self.reported_capabilities();
        let (what, has) = match input {
            Input::StartWithoutAsking => ("start without asking", can.without_asking),
            Input::GenerateTitle(_) => ("generated titles", false),
            Input::Rewind(_) | Input::Command(Command::UndoRewind { .. }) => ("rewind", can.rewind),
            Input::Command(Command::SetMode { mode }) => ("this permission mode", can.modes.contains(mode)),
            Input::Command(Command::SetModel { .. }) => ("a choice of models", can.models),
            Input::Command(Command::SetOptions { .. }) => ("these options", false),
            Input::Command(Command::SetEffort { .. }) => ("effort levels", can.effort),
            Input::Command(Command::SetThinking { .. }) => ("a switch for thinking", can.thinking),
            Input::Command(Command::StopTask { .. } | Command::MoveToBackground) => {
                ("background tasks", can.background_tasks)
            }
            Input::Command(Command::ListRules) => {
                ("permission rules that it reports", can.rules != RulesScope::None)
            }
            Input::Command(Command::SuspendRules { .. }) => {
                ("permission rules that can be taken back", false)
            }
            Input::Command(Command::AskSide { .. }) => ("side questions", can.side_questions),
            Input::Command(Command::ReadContext) => ("a report of its context", can.context),
            _ => return None,
        };
        (!has).then_some(what)
    }
}

impl Step<'_> {
    /// Refuses a command that the agent does not have. Returns whether it was refused.
    pub(super) fn refuse_missing(&mut self, input: &Input) -> bool {
        let (Some(what), Some(agent)) = (self.machine.lacks(input), &self.machine.acp) else { return false };
        let message = format!("{} does not have {what}.", agent.name());
        self.refuse(ErrorCode::BadCommand, message);
        true
    }

    /// The agent cannot work. It is stopped; prompts wait for the user.
    pub(super) fn cannot_start(&mut self, words: &str, detail: Option<&str>, login: Option<Vec<String>>) {
        if !self.listens() {
            return;
        }
        self.hold_queue();
        // A conversation that is gone was reported already.
        let is_lost =
            self.machine.process.started().resume.is_some() && self.machine.conversation.id().is_none();
        if !is_lost {
            let detail = detail.map(str::to_owned);
            self.machine.process.on_cannot_start(words.to_owned(), login);
            let error = CommandError {
                code: ErrorCode::SpawnFailed,
                message: words.to_owned(),
                detail: detail.clone(),
            };
            self.notice(Level::Error, words, detail);
            self.emit(Event::CommandFailed { error });
        }
        self.save();
        self.advance_shutdown(super::AfterExit::Crash);
    }
}
