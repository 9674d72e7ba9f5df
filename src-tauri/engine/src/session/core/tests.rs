//! What all drivers of the core rely on: order, timings, and the end of a session.

use super::*;
use crate::agent::{
    AgentRequest, Answer, Assistant, AssistantMessage, ContentBlock, Init, Stream, StreamEvent, ToolRequest,
};
use std::path::Path;
use std::sync::Arc;

/// A core whose process starts at once and whose disk always works.
struct Driver {
    core: Core,
    now: u64,
}

impl Driver {
    fn new() -> Self {
        let transcript = Transcript::new(Path::new("/project"));
        Self { core: Core::new(SavedSession::default(), Timeouts::default(), transcript, 0), now: 0 }
    }

    /// Ready, with the prompt `a` in flight.
    fn at_work() -> Self {
        let mut driver = Self::new();
        driver.step(Input::Start);
        driver.line(AgentEvent::Response { request_id: "deskbell-1".to_owned(), outcome: Ok(Answer::Done) });
        driver.prompt();
        driver
    }

    /// Makes a step and returns what it published and wrote, in order.
    fn step(&mut self, input: Input) -> Vec<String> {
        let mut done = Vec::new();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            self.core.step(self.now, input);
            while let Some(action) = self.core.next_action() {
                match action {
                    Action::Spawn(_) => inputs.push_back(Input::Spawned),
                    Action::Save(Some(id)) => inputs.push_back(Input::Saved(id)),
                    Action::Publish(change) => done.extend(change.into_patch().iter().map(name)),
                    Action::CloseStdin => done.push("closeStdin".to_owned()),
                    _ => {}
                }
            }
        }
        done
    }

    fn line(&mut self, inbound: AgentEvent) -> Vec<String> {
        self.step(Input::Line(inbound))
    }

    fn prompt(&mut self) {
        let (text, attachments) = ("fix it".to_owned(), Vec::new());
        let command = Command::Prompt { text, attachments, delivery: Delivery::AfterTurn };
        let input = self.core.accept(command, || PromptId::new("a")).unwrap();
        self.step(input);
    }

    fn ends_turn(&mut self) -> Vec<String> {
        self.line(AgentEvent::TurnEnded(Box::default()))
    }

    fn exits(&mut self) {
        self.step(Input::Exited(ExitReport {
            code: Some(0),
            signal: None,
            expected: false,
            stderr: String::new(),
        }));
    }

    /// Runs what the end of the session calls for.
    fn follow_up(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        while let Some(input) = self.core.follow_up() {
            done.extend(self.step(input));
        }
        done
    }

    fn timing(&self) -> TurnTiming {
        let last = self.core.transcript().items().last().map(|item| &item.body);
        let Some(Body::TurnEnd(turn)) = last else { panic!("the turn has not ended: {last:?}") };
        turn.timing
    }
}

fn name(event: &Event) -> String {
    serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned()
}

fn reply(text: &str) -> AgentEvent {
    let content = vec![ContentBlock::Text { text: text.to_owned() }];
    let message = AssistantMessage { id: "m".to_owned(), content, ..AssistantMessage::default() };
    AgentEvent::Assistant(Box::new(Assistant { message, ..Assistant::default() }))
}

fn request() -> AgentEvent {
    let request = ToolRequest { tool_name: "Bash".to_owned(), ..ToolRequest::default() };
    let request = crate::claude::request::read(request, Vec::new());
    AgentEvent::Request { request_id: "r".to_owned(), request: AgentRequest::Tool(Arc::new(request)) }
}

/// The machine has to read the text of a message before the transcript takes it.
#[test]
fn a_turn_has_its_timings_streamed_or_not() {
    let stream = |event| AgentEvent::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
    let block = ContentBlock::Text { text: String::new() };
    let streamed = vec![
        stream(StreamEvent::MessageStart { message_id: "m".to_owned() }),
        stream(StreamEvent::BlockStart { index: 0, block }),
        stream(StreamEvent::TextDelta { index: 0, text: "done".to_owned() }),
    ];
    for lines in [vec![reply("done")], streamed] {
        let mut driver = Driver::at_work();
        driver.now = 20;
        driver.line(AgentEvent::Init(Box::default()));
        driver.now = 420;
        lines.into_iter().for_each(|line| drop(driver.line(line)));
        driver.now = 500;
        driver.ends_turn();
        let expected = TurnTiming { spawn_ms: Some(0), first_line_ms: Some(20), first_text_ms: Some(420) };
        assert_eq!(driver.timing(), expected);
    }
}

/// The last changes of a turn are published before its end.
#[test]
fn changes_are_published_before_the_event_that_follows_them() {
    let mut driver = Driver::at_work();
    assert_eq!(driver.line(reply("done")), [""; 0], "a batch of lines is published at its end");
    let published = driver.ends_turn();
    // The text, the prompt's state and the end of the turn as items; then the event.
    assert_eq!(published, ["itemAdded", "itemChanged", "itemAdded", "turnEnded"]);
    assert!(driver.core.drain_changes().is_empty());
}

#[test]
fn a_session_that_finishes_denies_requests_and_ends_once_it_is_idle() {
    let mut driver = Driver::at_work();
    driver.line(AgentEvent::Init(Box::new(Init { session_id: "s".to_owned(), ..Init::default() })));
    driver.line(request());
    assert_eq!(driver.follow_up(), [""; 0], "nothing ends");
    driver.core.finish();
    assert_eq!(driver.follow_up(), ["permissionResolved"]);
    assert!(!driver.core.is_ending() && !driver.core.take_ended(), "its turn runs");
    driver.line(request());
    assert_eq!(driver.follow_up(), ["permissionResolved"], "no user is left for a later one either");
    driver.ends_turn();
    assert_eq!(driver.follow_up(), ["closeStdin"]);
    assert!(driver.core.is_ending() && !driver.core.take_ended(), "the process has not exited");
    driver.exits();
    assert_eq!(driver.follow_up(), [""; 0]);
    assert!(driver.core.take_ended() && !driver.core.take_ended(), "the end is reported once");
}

#[test]
fn a_session_that_closes_takes_nothing_but_prompts_for_later() {
    let mut driver = Driver::at_work();
    driver.core.close();
    assert_eq!(driver.follow_up(), ["closeStdin"]);
    let refused = driver.core.accept(Command::Interrupt, || PromptId::new("b")).unwrap_err();
    assert_eq!(refused.code, ErrorCode::NoSuchSession);
    let late = Command::Prompt { text: "late".to_owned(), attachments: Vec::new(), delivery: Delivery::Now };
    let Ok(Input::Prompt(prompt)) = driver.core.accept(late, || PromptId::new("b")) else {
        panic!("not kept")
    };
    assert!(prompt.held);
    driver.exits();
    assert!(driver.core.take_ended());
}

#[test]
fn closing_an_idle_session_changes_nothing() {
    let mut driver = Driver::new();
    driver.core.take_changed();
    driver.core.close();
    assert_eq!(driver.follow_up(), [""; 0]);
    assert!(driver.core.take_ended() && !driver.core.take_changed());
}

/// Without a handle, a process is stopped. A session without one is left as it is: its prompts stay on disk.
#[test]
fn an_abandoned_session_stops_its_process() {
    let mut driver = Driver::at_work();
    driver.core.abandon();
    assert_eq!(driver.follow_up(), ["closeStdin"]);
    let mut driver = Driver::new();
    driver.core.abandon();
    assert_eq!(driver.follow_up(), [""; 0]);
}
