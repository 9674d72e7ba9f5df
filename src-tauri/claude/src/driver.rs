//! The driver of Claude Code.

use crate::answer::Asked;
use crate::wire::{self, peer};
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, AgentEvent, AgentRequest, Answer, HELD_MESSAGE};
use std::collections::{HashMap, HashSet};

/// Reads and writes the lines of one process. It remembers only what it was asked: an answer does not say which request
/// it is for, except by its id.
#[derive(Debug, Default)]
pub struct ClaudeDriver {
    asked: HashMap<String, Asked>,
    /// The open dialogs of the agent. Their answers have another form than those of a server's forms.
    dialogs: HashSet<String>,
    /// The open requests to let in a message of another session. They are answered by a request of ours.
    held: HashSet<String>,
}

impl ClaudeDriver {
    /// Reads a line, which is always one event.
    pub fn event(&mut self, line: &[u8]) -> AgentEvent {
        let mut undelivered = None;
        let event = wire::read_line(line, &mut |request_id, response| match self.asked.remove(request_id) {
            Some(asked) => asked.read(response, PREFIX),
            None => {
                undelivered = peer::undelivered(request_id, response);
                Answer::Done
            }
        });
        if let Some(text) = undelivered {
            return AgentEvent::Informational { level: "warning".to_owned(), text };
        }
        match &event {
            AgentEvent::Request { request_id, request: AgentRequest::Tool(request) }
                if request.tool_name == wire::DIALOG =>
            {
                self.dialogs.insert(request_id.clone());
            }
            AgentEvent::Request { request_id, request: AgentRequest::Tool(request) }
                if request.tool_name == HELD_MESSAGE =>
            {
                self.held.insert(request_id.clone());
            }
            AgentEvent::RequestWithdrawn { request_id } => {
                self.dialogs.remove(request_id);
                self.held.remove(request_id);
            }
            _ => {}
        }
        event
    }

    /// The line of a command.
    pub fn line(&mut self, command: &AgentCommand) -> String {
        if let AgentCommand::Request { request_id, request } = command
            && let Some(asked) = Asked::of(request)
        {
            self.asked.insert(request_id.clone(), asked);
        }
        match command {
            // 2.1.197 does not answer it.
            AgentCommand::CancelRequest { request_id } => {
                self.asked.remove(request_id);
                wire::line(command)
            }
            AgentCommand::Fill { request_id, values } if self.dialogs.remove(request_id) => {
                wire::dialog_answer(request_id, values.as_ref())
            }
            AgentCommand::Allow { request_id, .. } if self.held.remove(request_id) => {
                peer::decision(request_id, true)
            }
            AgentCommand::Deny { request_id, .. } if self.held.remove(request_id) => {
                peer::decision(request_id, false)
            }
            _ => wire::line(command),
        }
    }
}

impl Driver for ClaudeDriver {
    fn read(&mut self, line: &[u8], out: &mut Output) {
        out.events.push(self.event(line));
    }

    fn write(&mut self, command: &AgentCommand, out: &mut Output) {
        out.lines.push(self.line(command));
    }
}

/// The prefix of the name of a skill or a command that the CLI loads from the copy of a folder's settings.
const PREFIX: &str = "project:";

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_agent::{HostRequest, Refused};
    use serde_json::{Value, json};

    fn answer(driver: &mut ClaudeDriver, response: &Value) -> Result<Answer, Refused> {
        let line = json!({"type": "control_response", "response": response}).to_string();
        match driver.event(line.as_bytes()) {
            AgentEvent::Response { request_id, outcome } if request_id == "r" => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_is_read_by_what_was_asked() {
        let mut driver = ClaudeDriver::default();
        let response =
            json!({"subtype": "success", "request_id": "r", "response": {"model": "opus", "title": "T"}});
        assert_eq!(answer(&mut driver, &response), Ok(Answer::Done), "nothing was asked");
        let asks = |request: HostRequest| AgentCommand::Request { request_id: "r".to_owned(), request };
        driver.line(&asks(HostRequest::SetModel("opus".to_owned())));
        assert_eq!(answer(&mut driver, &response), Ok(Answer::Model("opus".to_owned())));
        assert_eq!(answer(&mut driver, &response), Ok(Answer::Done), "it is answered once");
        driver.line(&asks(HostRequest::GenerateTitle("text".to_owned())));
        assert_eq!(answer(&mut driver, &response), Ok(Answer::Title("T".to_owned())));
        driver.line(&asks(HostRequest::Rename("U".to_owned())));
        assert_eq!(answer(&mut driver, &response), Ok(Answer::Done));
    }

    #[test]
    fn a_dialog_and_a_form_are_answered_each_in_its_own_way() {
        let mut driver = ClaudeDriver::default();
        let payload = json!({"originalModel": "a", "fallbackModel": "b"});
        let dialog = json!({"subtype": "request_user_dialog", "dialog_kind": "refusal_fallback_prompt",
            "payload": payload});
        let mut ask = |id: &str| {
            let line = json!({"type": "control_request", "request_id": id, "request": dialog}).to_string();
            let event = driver.event(line.as_bytes());
            assert!(matches!(event, AgentEvent::Request { request: AgentRequest::Tool(_), .. }), "{event:?}");
        };
        ask("d");
        ask("gone");
        let withdrawn = json!({"type": "control_cancel_request", "request_id": "gone"}).to_string();
        driver.event(withdrawn.as_bytes());
        let values = json!({"choice": "edit_prompt"}).as_object().cloned();
        let mut fill = |id: &str| {
            let line = driver.line(&AgentCommand::Fill { request_id: id.to_owned(), values: values.clone() });
            let line: Value = serde_json::from_str(&line).unwrap();
            line["response"]["response"].clone()
        };
        assert_eq!(fill("d"), json!({"behavior": "completed", "result": "edit_prompt"}));
        let form = json!({"action": "accept", "content": {"choice": "edit_prompt"}});
        assert_eq!((fill("d"), fill("gone"), fill("form")), (form.clone(), form.clone(), form));
    }

    #[test]
    fn a_request_that_the_agent_does_not_know_is_told_from_one_that_it_refuses() {
        let mut driver = ClaudeDriver::default();
        for (error, is_unknown) in [("Unsupported control request subtype: get_usage", true), ("no", false)] {
            let response = json!({"subtype": "error", "request_id": "r", "error": error});
            assert_eq!(
                answer(&mut driver, &response),
                Err(Refused { message: error.to_owned(), is_unknown })
            );
        }
    }
}
