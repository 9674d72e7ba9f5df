//! Slash commands of a session: before it is usable, after, while a conversation is repeated, and from a hostile agent.

use deskbell_acp::{AcpDriver, AcpSetup, ChosenAgent};
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, AgentEvent, Answer, HostRequest};
use serde_json::{Value, json};

/// One process, and what it reported to the core.
struct Agent {
    driver: AcpDriver,
    /// The commands with which it was ready.
    began_with: Option<Vec<String>>,
    /// The lists that it reported afterwards.
    listed: Vec<Vec<String>>,
}

impl Agent {
    fn new(resume: Option<&str>) -> Self {
        let agent = ChosenAgent::row_of("qwen").unwrap();
        let setup = AcpSetup {
            agent,
            folder: "/project".to_owned(),
            resume: resume.map(str::to_owned),
            wants_past: false,
        };
        let mut agent = Self { driver: AcpDriver::new(setup), began_with: None, listed: Vec::new() };
        let request = HostRequest::Initialize { renews_system_prompt: false };
        agent.write(&AgentCommand::Request { request_id: "1".to_owned(), request });
        agent.answers(0, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
        agent
    }

    fn write(&mut self, command: &AgentCommand) {
        let mut out = Output::default();
        self.driver.write(command, &mut out);
        self.take(out);
    }

    fn says(&mut self, line: Value) {
        let mut out = Output::default();
        self.driver.read(line.to_string().as_bytes(), &mut out);
        self.take(out);
    }

    fn answers(&mut self, id: u64, result: Value) {
        self.says(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// The session begins in a mode that asks.
    fn has_session(&mut self) {
        self.session_in("default");
    }

    fn session_in(&mut self, mode: &str) {
        let modes = json!({"currentModeId": mode, "availableModes": [{"id": "auto", "name": "Auto"},
            {"id": "default", "name": "Default"}]});
        self.answers(1, json!({"sessionId": "s", "modes": modes}));
    }

    fn lists(&mut self, commands: Value) {
        let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
        self.says(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}));
    }

    fn take(&mut self, out: Output) {
        let names = |list: &[deskbell_api::SlashCommand]| list.iter().map(|one| one.name.clone()).collect();
        for event in out.events {
            match event {
                AgentEvent::Commands(commands) => self.listed.push(names(&commands)),
                AgentEvent::Response { outcome: Ok(Answer::Initialized(initialized)), .. } => {
                    self.began_with = Some(names(&initialized.commands));
                }
                _ => {}
            }
        }
    }

    fn began_with(&self) -> &[String] {
        self.began_with.as_deref().unwrap()
    }
}

fn named(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "description": "d"})).collect()
}

#[test]
fn a_list_before_the_session_is_usable_is_reported_with_the_start() {
    let mut agent = Agent::new(None);
    agent.lists(named(&["old"]));
    agent.lists(named(&["review", "/plan"]));
    assert_eq!((&agent.began_with, agent.listed.len()), (&None, 0));
    agent.has_session();
    assert_eq!(agent.began_with(), ["review", "plan"]);
    assert!(agent.listed.is_empty());
}

#[test]
fn a_list_while_the_mode_is_changed_is_reported_with_the_start() {
    let mut agent = Agent::new(None);
    agent.session_in("auto");
    agent.lists(named(&["review"]));
    assert_eq!((&agent.began_with, agent.listed.len()), (&None, 0));
    agent.answers(2, json!({}));
    assert_eq!(agent.began_with(), ["review"]);
}

#[test]
fn a_later_list_replaces_the_one_before_and_can_be_empty() {
    let mut agent = Agent::new(None);
    agent.has_session();
    assert_eq!(agent.began_with(), [""; 0]);
    agent.lists(named(&["one", "two"]));
    agent.lists(json!([]));
    assert_eq!(agent.listed, [vec!["one".to_owned(), "two".to_owned()], vec![]]);
}

#[test]
fn a_list_while_a_conversation_is_repeated_is_kept() {
    let mut agent = Agent::new(Some("s"));
    let said =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "repeated"}});
    agent.says(json!({"method": "session/update", "params": {"sessionId": "s", "update": said}}));
    agent.lists(named(&["during"]));
    agent.has_session();
    assert_eq!(agent.began_with(), ["during"]);
    // Until the next prompt, what is repeated is dropped.
    agent.lists(named(&["after"]));
    assert_eq!(agent.listed, [["after"]]);
}

#[test]
fn a_hostile_list_is_bounded_and_has_only_names_that_can_be_typed() {
    let mut agent = Agent::new(None);
    agent.has_session();
    let long = "x".repeat(1 << 20);
    let mut list: Vec<Value> = ["a\u{1b}[2J", "b\nc", "d e", "\u{202e}f", "", "/", &long, "good", "good"]
        .map(|name| named(&[name])[0].clone())
        .to_vec();
    list.extend([json!(7), json!(null), json!({"name": 1}), json!({"description": "no name"})]);
    list.extend((0..10_000).map(|nr| json!({"name": format!("c{nr}"), "description": long[..100]})));
    agent.lists(list.into());
    let [listed] = &agent.listed[..] else { panic!("{}", agent.listed.len()) };
    assert_eq!(listed.len(), 256);
    assert_eq!(listed[..3], ["good", "good", "c0"]);
    agent.lists(json!("no list"));
    assert_eq!(agent.listed[1], [""; 0]);
}

/// A list between two pieces of an answer does not split it.
#[test]
fn a_list_in_an_answer_does_not_end_the_message() {
    let mut agent = Agent::new(None);
    agent.has_session();
    let prompt =
        AgentCommand::Prompt { uuid: "p".to_owned(), text: "hello".to_owned(), attachments: Vec::new() };
    agent.write(&prompt);
    let mut out = Output::default();
    for update in [
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "one "}}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": named(&["a"])}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "two"}}),
    ] {
        let line = json!({"method": "session/update", "params": {"sessionId": "s", "update": update}});
        agent.driver.read(line.to_string().as_bytes(), &mut out);
    }
    let is_whole = |event: &AgentEvent| matches!(event, AgentEvent::Assistant(_));
    assert!(!out.events.iter().any(is_whole), "{:?}", out.events);
    agent.take(out);
    assert_eq!(agent.listed, [["a"]]);
}
