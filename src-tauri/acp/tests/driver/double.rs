//! A session of one process, driven by hand: what the agent answers, what is written to it, and what the core learns.

use deskbell_acp::{AcpDriver, AcpSetup, ChosenAgent};
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, AgentEvent, Answer, Choices, HostRequest, Refused};
use serde_json::{Value, json};

pub struct Agent {
    pub driver: AcpDriver,
    /// Lines to the agent since the last look.
    pub written: Vec<Value>,
    pub events: Vec<AgentEvent>,
}

impl Agent {
    /// A process of this row that was initialized, with the conversation that it continues.
    pub fn begun(row: &str, resume: Option<&str>) -> Self {
        let agent = ChosenAgent::row_of(row).unwrap();
        let setup = AcpSetup {
            agent,
            folder: "/project".to_owned(),
            resume: resume.map(str::to_owned),
            wants_past: false,
        };
        let mut agent = Self { driver: AcpDriver::new(setup), written: Vec::new(), events: Vec::new() };
        agent.asks(HostRequest::Initialize { renews_system_prompt: false });
        agent.answers(0, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
        agent
    }

    /// A process that continues a conversation. Deskbell has no copy of it. `offers` are capabilities in addition to
    /// `session/load`.
    pub fn without_past(row: &str, offers: Value) -> Self {
        let agent = ChosenAgent::row_of(row).unwrap();
        let resume = Some("s".to_owned());
        let setup = AcpSetup { agent, folder: "/project".to_owned(), resume, wants_past: true };
        let mut agent = Self { driver: AcpDriver::new(setup), written: Vec::new(), events: Vec::new() };
        agent.asks(HostRequest::Initialize { renews_system_prompt: false });
        let mut capabilities = json!({"loadSession": true});
        capabilities.as_object_mut().unwrap().extend(offers.as_object().unwrap().clone());
        agent.answers(0, json!({"protocolVersion": 1, "agentCapabilities": capabilities}));
        agent
    }

    /// A session of an agent that asks before it acts, and has a list of its stored sessions.
    pub fn with_list() -> Self {
        let agent = ChosenAgent::row_of("qwen").unwrap();
        let setup = AcpSetup { agent, folder: "/project".to_owned(), resume: None, wants_past: false };
        let mut agent = Self { driver: AcpDriver::new(setup), written: Vec::new(), events: Vec::new() };
        agent.asks(HostRequest::Initialize { renews_system_prompt: false });
        let offers = json!({"sessionCapabilities": {"list": {}}});
        agent.answers(0, json!({"protocolVersion": 1, "agentCapabilities": offers}));
        let modes =
            json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]});
        agent.answers(1, json!({"sessionId": "s", "modes": modes}));
        agent
    }

    /// A session of this row that is ready, with these fields in the answer to `session/new`.
    pub fn with(row: &str, session: Value) -> Self {
        let mut agent = Self::begun(row, None);
        let mut result = json!({"sessionId": "s"});
        result.as_object_mut().unwrap().extend(session.as_object().unwrap().clone());
        agent.answers(1, result);
        agent
    }

    pub fn asks(&mut self, request: HostRequest) {
        let mut out = Output::default();
        let request_id = "core".to_owned();
        self.driver.write(&AgentCommand::Request { request_id, request }, &mut out);
        self.take(out);
    }

    pub fn says(&mut self, line: Value) {
        let mut out = Output::default();
        self.driver.read(line.to_string().as_bytes(), &mut out);
        self.take(out);
    }

    pub fn answers(&mut self, id: u64, result: Value) {
        self.says(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub fn take(&mut self, out: Output) {
        self.written.extend(out.lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        self.events.extend(out.events);
    }

    /// The method and the parameters of the last line.
    pub fn sent(&self) -> (&str, &Value) {
        let line = self.written.last().unwrap();
        (line["method"].as_str().unwrap(), &line["params"])
    }

    pub fn choices(&self) -> &Choices {
        let choices = self.events.iter().rev().find_map(|event| match event {
            AgentEvent::Choices(choices) => Some(&**choices),
            _ => None,
        });
        choices.unwrap()
    }

    /// The last answer to a request of the core.
    pub fn outcome(&self) -> &Result<Answer, Refused> {
        let outcome = self.events.iter().rev().find_map(|event| match event {
            AgentEvent::Response { outcome, .. } => Some(outcome),
            _ => None,
        });
        outcome.unwrap()
    }

    pub fn n_warnings(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, AgentEvent::Informational { .. })).count()
    }
}
