//! The driver of Claude Code.

use crate::answer::Asked;
use crate::wire;
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, AgentEvent, Answer};
use std::collections::HashMap;

/// Reads and writes the lines of one process. It remembers only what it was asked: an answer does not say which request
/// it is for, except by its id.
#[derive(Debug, Default)]
pub struct ClaudeDriver {
    asked: HashMap<String, Asked>,
}

impl ClaudeDriver {
    /// Reads a line, which is always one event.
    pub fn event(&mut self, line: &[u8]) -> AgentEvent {
        wire::read_line(line, &mut |request_id, response| match self.asked.remove(request_id) {
            Some(asked) => asked.read(response, PREFIX),
            None => Answer::Done,
        })
    }

    /// The line of a command.
    pub fn line(&mut self, command: &AgentCommand) -> String {
        if let AgentCommand::Request { request_id, request } = command
            && let Some(asked) = Asked::of(request)
        {
            self.asked.insert(request_id.clone(), asked);
        }
        wire::line(command)
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
