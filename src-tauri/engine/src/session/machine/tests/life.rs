//! A machine driven by words: an event is a word or two, its effects are one line.
//!
//! A prompt is saved at once and a process starts at once, as with the actor. Saves and disarmed timers are left out.

use super::super::*;
use crate::agent::{AgentRequest, EndReason, Init, ToolRequest, TurnResult};
use crate::claude::ClaudeDriver;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// A machine and its clock.
pub struct Life {
    pub machine: Machine,
    pub now: u64,
    driver: ClaudeDriver,
}

impl Life {
    pub fn new(memory: SavedSession) -> Self {
        let timeouts = Timeouts { hibernate_ms: 60_000, ..Timeouts::default() };
        Self { machine: Machine::new(memory, timeouts), now: 0, driver: ClaudeDriver::default() }
    }

    /// Runs an event and returns the effects, both in words.
    pub fn happens(&mut self, event: &str) -> Vec<String> {
        let mut words = event.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        let input = match word().as_str() {
            "wait" => {
                self.now += word().parse::<u64>().unwrap();
                return Vec::new();
            }
            "start" => Input::Start,
            "prompt" => Input::Prompt(prompt(&word())),
            "now" => Input::Prompt(Prompt { delivery: Delivery::Now, ..prompt(&word()) }),
            "at-reset" => Input::Prompt(Prompt { delivery: Delivery::AtReset, ..prompt(&word()) }),
            "into" => Input::Prompt(Prompt { delivery: Delivery::IntoTurn, ..prompt(&word()) }),
            "deliver-now" => {
                Input::Command(Command::Deliver { prompt_id: PromptId(word()), delivery: Delivery::Now })
            }
            "deliver-at-reset" => {
                Input::Command(Command::Deliver { prompt_id: PromptId(word()), delivery: Delivery::AtReset })
            }
            "deliver-into" => {
                Input::Command(Command::Deliver { prompt_id: PromptId(word()), delivery: Delivery::IntoTurn })
            }
            "move" => {
                let (prompt_id, before) = (PromptId(word()), word());
                let before = Some(before).filter(|id| !id.is_empty()).map(PromptId);
                Input::Command(Command::Move { prompt_id, before })
            }
            "interrupt" => Input::Command(Command::Interrupt),
            "interrupt-and-continue" => Input::Command(Command::InterruptAndContinue),
            "continue" => Input::Command(Command::ContinueQueue),
            "rename" => Input::Command(Command::Rename { title: word() }),
            "generate-title" => Input::GenerateTitle(word()),
            "reload" => Input::Command(Command::Reload),
            "stop" => Input::Command(Command::Stop),
            "withdraw" => Input::Command(Command::Withdraw { prompt_id: PromptId(word()) }),
            "resend" => Input::Command(Command::Resend { prompt_id: PromptId(word()) }),
            "edit" => Input::Command(Command::EditQueued { prompt_id: PromptId(word()), text: word() }),
            "mode" => Input::Command(Command::SetMode { mode: word().parse().unwrap() }),
            "model" => Input::Command(Command::SetModel { model: word() }),
            "allow" => {
                let id = RequestId(word());
                let shown = self.machine.requests().get(&id).map(|request| request.shown.clone());
                decide(id, shown, Decision::AllowOnce { updated_input: None })
            }
            denial @ ("deny" | "deny-and-stop") => {
                let interrupt = denial != "deny";
                let decision = Decision::Deny { message: "no".to_owned(), interrupt };
                decide(RequestId(word()), None, decision)
            }
            "hibernate-after" => Input::HibernateAfter(word().parse().unwrap()),
            "broken" => Input::StdinBroken("broken pipe".to_owned()),
            "exit" => exit(word().parse().unwrap(), &word()),
            "timer" => Input::Timer(match word().as_str() {
                "Initialize" => Timer::Initialize,
                "Interrupt" => Timer::Interrupt,
                "Switch" => Timer::Switch,
                "Context" => Timer::Context,
                "Configuration" => Timer::Configuration,
                "Side" => Timer::Side,
                "ConfigurationChange" => Timer::ConfigurationChange,
                "Rewind" => Timer::Rewind,
                "Stop" => Timer::Stop,
                "Restart" => Timer::Restart,
                "Hibernate" => Timer::Hibernate,
                "Reset" => Timer::Reset,
                other => panic!("{other}"),
            }),
            line => Input::Line(self.line(line, &mut word)),
        };
        self.step(input)
    }

    fn line(&mut self, kind: &str, word: &mut impl FnMut() -> String) -> AgentEvent {
        match kind {
            "init" => AgentEvent::Init(Box::new(Init { session_id: word(), ..Init::default() })),
            "init-new" => AgentEvent::Init(Box::new(Init {
                session_id: "s".to_owned(),
                reports_prompts: true,
                ..Init::default()
            })),
            "started" | "completed" | "cancelled" => {
                AgentEvent::PromptState { uuid: word(), state: kind.to_owned() }
            }
            "running" | "idle" => AgentEvent::SessionState { state: kind.to_owned() },
            "answer" => {
                let request_id = format!("deskbell-{}", word());
                let refusal = word();
                let outcome = if refusal.is_empty() { Ok(json!({})) } else { Err(refusal) };
                self.answer(&request_id, outcome)
            }
            // `limit 100`: the five-hour limit is reached until 100 s after 1970.
            "limit" => AgentEvent::RateLimit(crate::claude::limits::read(&json!({
                "status": "rejected", "rateLimitType": "five_hour", "resetsAt": word().parse::<u64>().ok(),
            }))),
            "named" => AgentEvent::Title { title: word() },
            "titled" => {
                let (n, title) = (word(), word());
                self.answer(&format!("deskbell-{n}"), Ok(json!({ "title": title })))
            }
            "given-back" => self.answer(&format!("deskbell-{}", word()), Ok(json!({"cancelled": true}))),
            "missed" => {
                let (n, id) = (word(), word());
                self.answer(&format!("deskbell-{n}"), Ok(json!({"still_queued": [id]})))
            }
            "ask" | "ask-other" => {
                let command = if kind == "ask" { "true" } else { "false" };
                let request = ToolRequest {
                    tool_name: "Bash".to_owned(),
                    input: json!({ "command": command }).into(),
                    ..ToolRequest::default()
                };
                let request = crate::claude::request::read(request, Vec::new());
                AgentEvent::Request { request_id: word(), request: AgentRequest::Tool(Arc::new(request)) }
            }
            "ask-malformed" => AgentEvent::Request {
                request_id: word(),
                request: AgentRequest::Malformed { error: "no input".to_owned() },
            },
            "ask-unknown" => AgentEvent::Request {
                request_id: word(),
                request: AgentRequest::Unknown { name: "dance".to_owned() },
            },
            "cancel" => AgentEvent::RequestWithdrawn { request_id: word() },
            "mode-is" => AgentEvent::Status { status: None, permission_mode: Some(word()) },
            // `result a,b aborted`: the result of these prompts (`?` for 2.1.197, which does not name them; `-` for
            // none).
            "result" => {
                let (of, how) = (word(), word());
                let ids = of.split(',').filter(|id| *id != "-").map(str::to_owned).collect();
                let is_error = !matches!(how.as_str(), "" | "unasked");
                let is_aborted = how.ends_with("aborted");
                AgentEvent::TurnEnded(Box::new(TurnResult {
                    is_error,
                    api_error_status: (how == "limited").then_some(429),
                    broke_off: is_aborted,
                    words: (!is_aborted && !how.is_empty()).then(|| how.clone()),
                    reason: is_aborted.then_some(EndReason::Interrupted),
                    session_id: Some("s".to_owned()),
                    prompts: (of != "?").then_some(ids),
                    is_unasked: how.starts_with("unasked"),
                    ..TurnResult::default()
                }))
            }
            "no-conversation" => AgentEvent::TurnEnded(Box::new(TurnResult {
                is_error: true,
                broke_off: true,
                words: Some("It is gone".to_owned()),
                is_conversation_lost: true,
                ..TurnResult::default()
            })),
            other => panic!("{other}"),
        }
    }

    /// The answer to a request, as the agent gives it.
    fn answer(&mut self, request_id: &str, outcome: Result<Value, String>) -> AgentEvent {
        self.driver.event(crate::session::tests::response(request_id, outcome).as_bytes())
    }

    /// Like `happens`, for a line of the agent.
    pub fn hears(&mut self, line: &Value) -> Vec<String> {
        let event = self.driver.event(line.to_string().as_bytes());
        self.step(Input::Line(event))
    }

    /// Like `happens`, for an input value.
    pub fn step(&mut self, input: Input) -> Vec<String> {
        let mut words = Vec::new();
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.machine.step(self.now, input) {
                match &effect {
                    Effect::Spawn(_) => inputs.push_back(Input::Spawned),
                    Effect::Save(Some(id)) => inputs.push_back(Input::Saved(id.clone())),
                    Effect::Write(command) => drop(self.driver.line(command)),
                    _ => {}
                }
                words.extend(self.words(effect));
            }
        }
        words
    }

    fn words(&self, effect: Effect) -> Option<String> {
        Some(match effect {
            Effect::Spawn(Start { resume: Some(id), resume_at: Some(at), .. }) => {
                format!("spawn --resume={id} at {at}")
            }
            Effect::Spawn(Start { resume: Some(id), .. }) => format!("spawn --resume={id}"),
            Effect::Spawn(Start { fork: Some(fork), .. }) => format!("spawn a fork of {}", fork.of),
            Effect::Spawn(_) => "spawn".to_owned(),
            Effect::Rewind(work) => {
                let work = format!("{work:?}");
                format!("disk {}", work.split([' ', '{']).next().unwrap_or_default())
            }
            Effect::Emit(Event::Rewound { text, .. }) => format!("rewound {}", text.unwrap_or_default()),
            Effect::Write(command) => written(&serde_json::from_str(&crate::wire::line(&command)).unwrap()),
            Effect::CloseStdin => "close".to_owned(),
            Effect::Terminate => "terminate".to_owned(),
            Effect::Kill => "kill".to_owned(),
            Effect::Arm { timer, at } => format!("arm {timer:?} +{}", at - self.now),
            Effect::Refuse(error) => format!("refuse {:?}", error.code),
            Effect::Emit(Event::TurnStarted { prompt_ids }) => format!("begin [{}]", ids(&prompt_ids)),
            Effect::Emit(Event::TurnEnded { turn }) => {
                format!("end [{}] {:?}", ids(&turn.prompt_ids), turn.outcome)
            }
            Effect::Emit(Event::PermissionRequested { request, .. }) => format!("show {}", request.id),
            Effect::Emit(Event::PermissionResolved { request_id, resolution }) => {
                let how = match resolution {
                    Resolution::Allowed { .. } => "allowed",
                    Resolution::Denied { .. } => "denied",
                    Resolution::Answered => "answered",
                    Resolution::Withdrawn { .. } => "withdrawn",
                };
                format!("{request_id} {how}")
            }
            Effect::Emit(Event::AgentExited { report }) if report.expected => "exited as expected".to_owned(),
            Effect::Emit(Event::AgentExited { .. }) => "exited".to_owned(),
            Effect::Emit(Event::CommandFailed { error }) => format!("failed {:?}", error.code),
            Effect::TranscriptEvent(TranscriptEvent::PromptState { id, state }) => format!("{id} {state:?}"),
            Effect::TranscriptEvent(TranscriptEvent::PromptEdited { id, text }) => format!("{id} is {text}"),
            Effect::TranscriptEvent(TranscriptEvent::Notice { level, .. }) => format!("{level:?}"),
            _ => return None,
        })
    }
}

/// Runs a table: every line is an event and its effects.
#[track_caller]
pub(super) fn live(memory: SavedSession, table: &[(&str, &str)]) -> Machine {
    let mut life = Life::new(memory);
    let mut lived = String::new();
    let mut expected = String::new();
    for (event, effects) in table {
        lived += &format!("{event:<24} {}\n", life.happens(event).join("; "));
        expected += &format!("{event:<24} {effects}\n");
    }
    assert!(lived == expected, "\nlived:\n{lived}\nexpected:\n{expected}");
    life.machine
}

/// Ready, with nothing to do.
pub(super) const UP: [(&str, &str); 2] =
    [("start", "spawn; ask initialize; arm Initialize +60000"), ("answer 1", "arm Hibernate +60000")];

/// The effects when a resumed process is ready. A prompt waits for the answer.
pub(super) const ASKS_COST: &str = "ask get_usage; arm Switch +2000; arm Hibernate +60000";

#[track_caller]
pub(super) fn live_from_ready(table: &[(&str, &str)]) -> Machine {
    live(SavedSession::default(), &[&UP, table].concat())
}

pub(super) fn resumable() -> SavedSession {
    SavedSession { agent_session_id: Some("s".to_owned()), resumable: true, ..SavedSession::default() }
}

pub(super) fn prompt(id: &str) -> Prompt {
    // Two prompts with the same text stay separate.
    Prompt::new(PromptId::new(id), "same".to_owned(), Vec::new(), Delivery::AfterTurn)
}

pub(super) fn status(machine: &Machine) -> Status {
    machine.status("Working")
}

fn decide(request_id: RequestId, shown: Option<String>, decision: Decision) -> Input {
    Input::Command(Command::Decide { request_id, shown, decision })
}

fn exit(code: i32, stderr: &str) -> Input {
    Input::Exited(ExitReport { code: Some(code), signal: None, expected: false, stderr: stderr.to_owned() })
}

pub(super) fn ids(ids: &[PromptId]) -> String {
    ids.iter().map(PromptId::as_str).collect::<Vec<_>>().join(",")
}

fn written(line: &Value) -> String {
    match line["type"].as_str().unwrap() {
        "user" => format!("send {}", line["uuid"].as_str().unwrap()),
        "control_request" => {
            let request = &line["request"];
            let value = ["mode", "model", "message_uuid", "title", "description", "task_id", "question"]
                .iter()
                .find_map(|key| request.get(key)?.as_str());
            let words = ["ask", request["subtype"].as_str().unwrap(), value.unwrap_or_default()];
            words.join(" ").trim_end().to_owned()
        }
        "control_cancel_request" => format!("cancel {}", line["request_id"].as_str().unwrap()),
        _ => {
            let response = &line["response"];
            let how = response["response"]["behavior"].as_str().unwrap_or("error");
            format!("reply {} {how}", response["request_id"].as_str().unwrap())
        }
    }
}
