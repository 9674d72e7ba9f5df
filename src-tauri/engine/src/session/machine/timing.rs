//! Turn latency: time to start the process, to the first line, to the first text.

use super::*;
use crate::agent::{ContentBlock, StreamEvent};

impl Machine {
    /// Returns whether the machine has to process this line. Streamed text matters only until the first text of a turn;
    /// most lines are skipped.
    pub fn is_relevant(&self, inbound: &AgentEvent) -> bool {
        let waits = self.turn.as_ref().is_some_and(|turn| !turn.has_text());
        !matches!(inbound, AgentEvent::Stream(_)) || waits && is_text(inbound)
    }
}

impl Step<'_> {
    /// The time for durations: not of the wall clock, which can be set.
    pub(super) fn steady(&self) -> u64 {
        self.machine.steady.unwrap_or(self.now)
    }

    pub(super) fn time(&mut self, inbound: &AgentEvent) {
        // An answer to a control request is no answer to the prompt.
        if matches!(inbound, AgentEvent::Response { .. } | AgentEvent::RequestProgress { .. }) {
            return;
        }
        let steady = self.steady();
        if let Some(turn) = &mut self.machine.turn {
            turn.on_line(steady, is_text(inbound));
        }
    }
}

/// Returns whether a line has text for the user. A subagent's text is for its caller.
fn is_text(inbound: &AgentEvent) -> bool {
    match inbound {
        AgentEvent::Stream(stream) => {
            stream.parent_tool_use_id.is_none() && matches!(stream.event, StreamEvent::TextDelta { .. })
        }
        AgentEvent::Assistant(assistant) => {
            let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text { .. });
            assistant.parent_tool_use_id.is_none() && assistant.message.content.iter().any(is_text)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::life::Life;
    use super::*;
    use crate::agent::Stream;

    fn text(parent: Option<&str>) -> AgentEvent {
        let event = StreamEvent::TextDelta { index: 0, text: "a".to_owned() };
        AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: parent.map(str::to_owned) }))
    }

    #[test]
    fn a_turn_tells_what_it_was_waited_for() {
        let mut life = Life::new(SavedSession::default());
        for event in
            ["start", "wait 300", "answer 1", "wait 9000", "prompt a", "wait 20", "init s", "wait 400"]
        {
            life.happens(event);
        }
        // Text of a subagent is not the answer.
        assert!(!life.machine.is_relevant(&text(Some("toolu"))));
        assert!(life.machine.is_relevant(&text(None)));
        life.step(Input::Line(text(None)));
        assert!(!life.machine.is_relevant(&text(None)), "one is enough");
        let timing = life.machine.turn.as_ref().unwrap().timing();
        let expected = TurnTiming { spawn_ms: Some(300), first_line_ms: Some(20), first_text_ms: Some(420) };
        assert_eq!(timing, expected);
        // The next turn did not wait for a process to start.
        life.happens("result a");
        life.happens("prompt b");
        assert_eq!(life.machine.turn.as_ref().unwrap().timing(), TurnTiming::default());
    }
}
