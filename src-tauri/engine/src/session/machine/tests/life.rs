//! A machine driven by words: an event is a word or two, its effects are one line.
//!
//! A prompt is saved at once and a process starts at once, as with the actor. Saves and disarmed timers are left out.

use super::super::*;
use crate::wire::{CanUseTool, ControlRequest, Init, Origin, TurnResult};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Arc;

/// A machine and its clock.
pub struct Life {
    pub machine: Machine,
    pub now: u64,
}

impl Life {
    pub fn new(memory: SavedSession) -> Self {
        let timeouts = Timeouts { hibernate_ms: 60_000, ..Timeouts::default() };
        Self { machine: Machine::new(memory, timeouts), now: 0 }
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
            "into" => Input::Prompt(Prompt { delivery: Delivery::IntoTurn, ..prompt(&word()) }),
            "deliver-now" => {
                Input::Command(Command::Deliver { prompt_id: PromptId(word()), delivery: Delivery::Now })
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
                "Stop" => Timer::Stop,
                "Restart" => Timer::Restart,
                "Hibernate" => Timer::Hibernate,
                other => panic!("{other}"),
            }),
            line => Input::Line(self.line(line, &mut word)),
        };
        self.step(input)
    }

    fn line(&self, kind: &str, word: &mut impl FnMut() -> String) -> Inbound {
        match kind {
            "init" => Inbound::Init(Box::new(Init { session_id: word(), ..Init::default() })),
            "init-new" => Inbound::Init(Box::new(Init {
                session_id: "s".to_owned(),
                capabilities: Some(vec![json!("msg_lifecycle_v1")]),
                ..Init::default()
            })),
            "started" | "completed" | "cancelled" => {
                Inbound::Lifecycle { uuid: word(), state: kind.to_owned() }
            }
            "running" | "idle" => Inbound::SessionState { state: kind.to_owned() },
            "answer" => {
                let request_id = format!("deskbell-{}", word());
                let refusal = word();
                let outcome = if refusal.is_empty() { Ok(json!({})) } else { Err(refusal) };
                Inbound::ControlResponse { request_id, outcome }
            }
            "named" => Inbound::Title { title: word() },
            "titled" => {
                let (n, title) = (word(), word());
                let outcome = Ok(json!({ "title": title }));
                Inbound::ControlResponse { request_id: format!("deskbell-{n}"), outcome }
            }
            "given-back" => {
                let outcome = Ok(json!({"cancelled": true}));
                Inbound::ControlResponse { request_id: format!("deskbell-{}", word()), outcome }
            }
            "missed" => {
                let (n, id) = (word(), word());
                let outcome = Ok(json!({"still_queued": [id]}));
                Inbound::ControlResponse { request_id: format!("deskbell-{n}"), outcome }
            }
            "ask" => {
                let request = CanUseTool {
                    tool_name: "Bash".to_owned(),
                    input: json!({"command": "true"}).into(),
                    ..CanUseTool::default()
                };
                Inbound::ControlRequest {
                    request_id: word(),
                    request: ControlRequest::CanUseTool(Arc::new(request)),
                }
            }
            "ask-malformed" => Inbound::ControlRequest {
                request_id: word(),
                request: ControlRequest::MalformedCanUseTool { error: "no input".to_owned() },
            },
            "ask-unknown" => Inbound::ControlRequest {
                request_id: word(),
                request: ControlRequest::Unknown { subtype: "dance".to_owned() },
            },
            "cancel" => Inbound::ControlCancel { request_id: word() },
            "mode-is" => Inbound::Status { status: None, permission_mode: Some(word()) },
            // `result a,b aborted`: the result of these prompts (`?` for 2.1.197, which does not name them; `-` for
            // none).
            "result" => {
                let (of, how) = (word(), word());
                let ids = of.split(',').filter(|id| *id != "-").map(str::to_owned).collect();
                let is_error = !matches!(how.as_str(), "" | "unasked");
                let is_aborted = how.ends_with("aborted");
                Inbound::Result(Box::new(TurnResult {
                    subtype: if is_aborted { "error_during_execution" } else { "success" }.to_owned(),
                    is_error,
                    result: (!is_aborted).then(|| how.clone()),
                    terminal_reason: is_aborted.then(|| "aborted_streaming".to_owned()),
                    session_id: Some("s".to_owned()),
                    user_message_uuids: (of != "?").then_some(ids),
                    origin: how
                        .starts_with("unasked")
                        .then(|| Origin { kind: Some("task-notification".to_owned()) }),
                    ..TurnResult::default()
                }))
            }
            "no-conversation" => Inbound::Result(Box::new(TurnResult {
                subtype: "error_during_execution".to_owned(),
                is_error: true,
                errors: vec!["No conversation found with session ID: s".to_owned()],
                ..TurnResult::default()
            })),
            other => panic!("{other}"),
        }
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
                    _ => {}
                }
                words.extend(self.words(effect));
            }
        }
        words
    }

    fn words(&self, effect: Effect) -> Option<String> {
        Some(match effect {
            Effect::Spawn(Start { resume: Some(id), .. }) => format!("spawn --resume={id}"),
            Effect::Spawn(Start { fork: Some(fork), .. }) => format!("spawn a fork of {}", fork.of),
            Effect::Spawn(_) => "spawn".to_owned(),
            Effect::Write(line) => written(&serde_json::from_str(&line).unwrap()),
            Effect::CloseStdin => "close".to_owned(),
            Effect::Terminate => "terminate".to_owned(),
            Effect::Kill => "kill".to_owned(),
            Effect::Arm { timer, at } => format!("arm {timer:?} +{}", at - self.now),
            Effect::Refuse(error) => format!("refuse {:?}", error.code),
            Effect::Emit(Event::TurnStarted { prompt_ids }) => format!("begin [{}]", ids(&prompt_ids)),
            Effect::Emit(Event::TurnEnded { turn }) => {
                format!("end [{}] {:?}", ids(&turn.prompt_ids), turn.outcome)
            }
            Effect::Emit(Event::PermissionRequested { request }) => format!("show {}", request.id),
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
            let value = ["mode", "model", "message_uuid", "title", "description", "task_id"]
                .iter()
                .find_map(|key| request.get(key)?.as_str());
            let words = ["ask", request["subtype"].as_str().unwrap(), value.unwrap_or_default()];
            words.join(" ").trim_end().to_owned()
        }
        _ => {
            let response = &line["response"];
            let how = response["response"]["behavior"].as_str().unwrap_or("error");
            format!("reply {} {how}", response["request_id"].as_str().unwrap())
        }
    }
}
