//! The rules of a session's life as tables: what happens, and what the machine does about it, a line each.
//!
//! A prompt is saved at once and a process is there at once, as the actor has it; saves and disarmed timers are left out.

mod queue;

use super::*;
use crate::wire::{CanUseTool, ControlRequest, Init, Origin, TurnResult};
use serde_json::json;

/// A machine, and what surrounds it: nothing but the time.
pub(super) struct Life {
    pub machine: Machine,
    now: u64,
}

/// Lives a table: every line is an event and the effects it has.
#[track_caller]
fn live(memory: Memory, table: &[(&str, &str)]) -> Machine {
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

/// Up and ready, with nothing to do.
const UP: [(&str, &str); 2] =
    [("start", "spawn; ask initialize; arm Initialize +60000"), ("answer 1", "arm Hibernate +60000")];

#[track_caller]
fn live_from_ready(table: &[(&str, &str)]) -> Machine {
    live(Memory::default(), &[&UP, table].concat())
}

fn resumable() -> Memory {
    Memory { agent_session_id: Some("s".to_owned()), resumable: true, ..Memory::default() }
}

impl Life {
    pub fn new(memory: Memory) -> Self {
        let limits = Limits { hibernate_ms: 60_000, ..Limits::default() };
        Self { machine: Machine::new(memory, limits), now: 0 }
    }

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
            "stop" => Input::Command(Command::Stop),
            "withdraw" => Input::Command(Command::Withdraw { prompt_id: PromptId(word()) }),
            "resend" => Input::Command(Command::Resend { prompt_id: PromptId(word()) }),
            "edit" => Input::Command(Command::EditQueued { prompt_id: PromptId(word()), text: word() }),
            "mode" => Input::Command(Command::SetMode { mode: word() }),
            "model" => Input::Command(Command::SetModel { model: word() }),
            "allow" => {
                let id = RequestId(word());
                let shown = self.machine.requests().get(&id).map(|request| request.shown.clone());
                decide(id, shown, Decision::AllowOnce { updated_input: None })
            }
            "deny" => {
                let decision = Decision::Deny { message: "no".to_owned(), interrupt: false };
                decide(RequestId(word()), None, decision)
            }
            "broken" => Input::StdinBroken("broken pipe".to_owned()),
            "exit" => exit(word().parse().unwrap(), &word()),
            "timer" => Input::Timer(match word().as_str() {
                "Initialize" => Timer::Initialize,
                "Interrupt" => Timer::Interrupt,
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
                    request: ControlRequest::CanUseTool(Box::new(request)),
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
            // `result a,b aborted`: of these prompts (`?` for those of 2.1.197, which do not say; `-` for none).
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
            Effect::Note(Note::PromptState { id, state }) => format!("{id} {state:?}"),
            Effect::Note(Note::PromptEdited { id, text }) => format!("{id} is {text}"),
            Effect::Note(Note::Notice { level, .. }) => format!("{level:?}"),
            _ => return None,
        })
    }
}

fn prompt(id: &str) -> Prompt {
    // Two that say the same stay two.
    Prompt::new(PromptId::new(id), "same".to_owned(), Vec::new(), Delivery::AfterTurn)
}

fn decide(request_id: RequestId, shown: Option<String>, decision: Decision) -> Input {
    Input::Command(Command::Decide { request_id, shown, decision })
}

fn exit(code: i32, stderr: &str) -> Input {
    Input::Exited(ExitReport { code: Some(code), signal: None, expected: false, stderr: stderr.to_owned() })
}

fn ids(ids: &[PromptId]) -> String {
    ids.iter().map(PromptId::as_str).collect::<Vec<_>>().join(",")
}

fn written(line: &Value) -> String {
    match line["type"].as_str().unwrap() {
        "user" => format!("send {}", line["uuid"].as_str().unwrap()),
        "control_request" => {
            let request = &line["request"];
            let value = request.get("mode").or_else(|| request.get("model")).and_then(Value::as_str);
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

fn status(machine: &Machine) -> Status {
    machine.status("Working")
}

#[test]
fn the_first_prompt_starts_the_agent_and_goes_when_it_is_ready() {
    live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("prompt b", ""),
            ("answer 1", "send a; a Sent; begin [a]"),
            ("running", ""),
            ("init s", ""),
            ("result a", "a Done; end [a] Done; send b; b Sent; begin [b]"),
            ("result b", "b Done; end [b] Done; arm Hibernate +60000"),
        ],
    );
}

#[test]
fn one_prompt_is_in_flight_and_the_others_go_in_order() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("prompt c", ""),
        ("edit c text", "c is text"),
        ("edit a text", "refuse NoSuchPrompt"),
        ("withdraw a", "refuse NoSuchPrompt"),
        ("withdraw b", "b Withdrawn"),
        ("result a", "a Done; end [a] Done; send c; c Sent; begin [c]"),
        ("result c overloaded", "c Failed; end [c] Failed; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_prompt_that_is_not_on_disk_is_not_accepted() {
    let mut machine = Machine::new(Memory::default(), Limits::default());
    let effects = machine.step(0, Input::Prompt(prompt("a")));
    assert_eq!(effects, [Effect::Save(Some(PromptId::new("a")))]);
    assert_eq!(machine.memory().prompts.len(), 1, "it is in what is written");
    let effects = machine.step(0, Input::SaveFailed(PromptId::new("a"), "the disk is full".to_owned()));
    assert!(matches!(&effects[..], [Effect::Refuse(_)]));
    assert_eq!(machine.memory(), Memory::default());
}

#[test]
fn an_interrupt_ends_the_turn_and_keeps_the_agent() {
    live_from_ready(&[
        ("interrupt", ""),
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("interrupt", ""),
        ("cancel r", "r withdrawn"),
        ("answer 2", ""),
        ("result a aborted", "a Done; end [a] Interrupted; send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn an_agent_that_ignores_an_interrupt_is_ended_and_the_queue_goes_on() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("timer Interrupt", "Warning; r withdrawn; close; terminate; arm Stop +2500"),
        ("ask late", ""),
        ("ask-unknown late", ""),
        ("timer Stop", "kill"),
        (
            "exit 137",
            "exited as expected; a Done; end [a] Interrupted; spawn; ask initialize; arm Initialize +60000",
        ),
    ]);
}

#[test]
fn an_interrupt_that_another_turn_took_is_given_again() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("result - unasked-aborted", "ask interrupt"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn an_interrupt_between_a_turn_that_nobody_asked_for_and_what_was_written_into_it_is_given_again() {
    let interrupted = [
        ("init-new", "begin []"),
        ("into a", "send a; a Sent"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 a", ""),
    ];
    // It was over, and said nothing.
    let silent = [
        ("running", ""),
        ("init-new", "ask interrupt"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ];
    live_from_ready(&[&interrupted[..], &silent[..]].concat());
    // It was not over: what was written into it goes on.
    let aborted = [("result - unasked-aborted", "end [] Interrupted; begin [a]"), ("init-new", "")];
    live_from_ready(&[&interrupted[..], &aborted[..]].concat());
}

#[test]
fn an_interrupt_that_came_too_early_is_given_again() {
    let interrupted = [
        ("prompt a", "send a; a Sent; begin [a]"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 a", ""),
    ];
    live_from_ready(
        &[
            &interrupted[..],
            &[
                ("init s", "ask interrupt"),
                ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
            ],
        ]
        .concat(),
    );
    // It is not kept for another turn.
    live_from_ready(
        &[
            &interrupted[..],
            &[
                ("exit 1", "exited; a Held; end [a] Crashed; Error"),
                ("prompt b", "spawn; ask initialize; arm Initialize +60000"),
                ("answer 3", "send b; b Sent; begin [b]"),
                ("init s", ""),
            ],
        ]
        .concat(),
    );
}

#[test]
fn an_interrupt_before_anything_began_holds_the_prompt_that_would_begin() {
    live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("prompt b", ""),
            ("interrupt", "a Held"),
            ("answer 1", "send b; b Sent; begin [b]"),
        ],
    );
}

#[test]
fn a_crash_offers_what_it_cut_off_and_sends_what_waited() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("prompt b", "send b; b Sent; begin [b]"),
        ("prompt c", ""),
        ("ask r", "show r"),
        ("exit 1", "r withdrawn; exited; b Held; end [b] Crashed; Error; arm Restart +1000"),
        ("timer Restart", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("answer 2", "send c; c Sent; begin [c]"),
        ("resend b", "b Queued"),
        ("result c", "c Done; end [c] Done; send b.1; b Sent; begin [b]"),
    ]);
    assert_eq!(ids(&machine.memory().prompts.into_iter().map(|prompt| prompt.id).collect::<Vec<_>>()), "b");
}

#[test]
fn three_crashes_end_the_restarts() {
    let machine = live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; arm Restart +1000"),
            ("wait 1000", ""),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            // That it stops listening first makes no difference.
            ("broken", "Warning; close; terminate; arm Stop +2500"),
            ("exit 1 no", "exited; Error; arm Restart +2000"),
            ("wait 2000", ""),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; a Held"),
            ("wait 1000", ""),
            ("prompt b", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; arm Restart +1000"),
        ],
    );
    assert_eq!(status(&machine), Status::Restarting { attempt: 1, at: 5000 });
}

#[test]
fn crashes_far_apart_do_not_add_up() {
    live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1", "exited; Error; arm Restart +1000"),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            ("wait 300001", ""),
            ("exit 1", "exited; Error; arm Restart +1000"),
        ],
    );
}

#[test]
fn a_restart_with_nothing_left_to_send_comes_to_rest() {
    let mut machine = live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1", "exited; Error; arm Restart +1000"),
            ("withdraw a", "a Withdrawn"),
        ],
    );
    machine.take_changed();
    assert_eq!(machine.step(1000, Input::Timer(Timer::Restart)), []);
    assert!(machine.take_changed() && machine.is_idle());
    assert!(matches!(status(&machine), Status::Failed { .. }));
}

#[test]
fn a_result_of_another_turn_leaves_the_prompt_in_flight() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init s", ""),
        ("result - unasked", ""),
        ("result other", ""),
        ("idle", ""),
        // A turn that nobody asked for may have taken it in.
        ("result a unasked", "a Done; end [a] Done; arm Hibernate +60000"),
        ("prompt b", "send b; b Sent; begin [b]"),
        ("result ? unasked", ""),
        ("result ?", "b Done; end [b] Done; arm Hibernate +60000"),
    ]);
}

#[test]
fn another_conversation_in_the_same_process_is_told() {
    let machine = live(
        resumable(),
        &[
            ("prompt a", "spawn --resume=s; ask initialize; arm Initialize +60000"),
            ("answer 1", "send a; a Sent; begin [a]"),
            // Resuming may give a conversation another id, and takes nothing away from it.
            ("init t", ""),
            ("init t", ""),
            ("init u", "Info"),
        ],
    );
    assert_eq!(machine.memory().agent_session_id.as_deref(), Some("u"));
}

#[test]
fn a_turn_that_nobody_asked_for_is_shown_and_waited_for() {
    live_from_ready(&[
        ("running", ""),
        ("init s", "begin []"),
        ("prompt a", ""),
        ("result - unasked", "end [] Done; send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("init s", "begin []"),
        ("prompt b", ""),
        // It came to nothing: no result will come.
        ("idle", "end [] Done; send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn what_was_meant_for_a_conversation_that_is_gone_is_held() {
    let table = [
        ("prompt a", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("no-conversation", "a Held; Warning"),
        ("prompt late", ""),
        ("exit 1", "exited as expected; late Held"),
    ];
    let machine = live(resumable(), &table);
    assert!(matches!(status(&machine), Status::Failed { message } if message.contains("does not know")));
    // Its stdin may break before it says so.
    let broken = ("broken", "Warning; close; terminate; arm Stop +2500");
    live(resumable(), &[table[0], broken, table[1], table[2], table[3]]);
    // The user knows by now.
    let begun_anew = [
        ("resend a", "a Queued; spawn; ask initialize; arm Initialize +60000"),
        ("answer 2", "send a.1; a Sent; begin [a]"),
    ];
    live(resumable(), &[&table[..], &begun_anew].concat());
}

#[test]
fn an_agent_that_never_answers_is_given_up() {
    live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("timer Initialize", "Error; a Held; close; terminate; arm Stop +2500"),
            ("timer Stop", "kill"),
            ("exit 137", "exited as expected"),
            ("resend a", "a Queued; spawn; ask initialize; arm Initialize +60000"),
            ("answer 2 refused", "send a.1; a Sent; begin [a]"),
        ],
    );
}

#[test]
fn a_stop_walks_the_ladder_and_holds_the_queue() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("stop", "reply r deny; r denied; b Held; close; terminate; arm Stop +2500"),
        ("allow r", "refuse NoSuchRequest"),
        ("timer Stop", "kill"),
        ("timer Stop", ""),
        ("exit 143", "exited as expected; a Held; end [a] Interrupted"),
        ("resend b", "b Queued; spawn; ask initialize; arm Initialize +60000"),
    ]);
    assert_eq!(status(&machine), Status::Starting);
}

#[test]
fn an_exit_code_of_one_at_the_end_of_input_is_no_crash() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a overloaded", "a Failed; end [a] Failed; arm Hibernate +60000"),
        ("stop", "close; arm Stop +1000"),
        ("exit 1", "exited as expected"),
    ]);
    assert_eq!(status(&machine), Status::Stopped);
}

#[test]
fn a_prompt_given_while_the_agent_is_being_stopped_starts_the_next() {
    live_from_ready(&[
        ("stop", "close; arm Stop +1000"),
        ("prompt a", ""),
        ("exit 0", "exited as expected; spawn; ask initialize; arm Initialize +60000"),
        ("answer 2", "send a; a Sent; begin [a]"),
    ]);
}

#[test]
fn an_idle_agent_hibernates_and_wakes_for_a_prompt() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("timer Hibernate", "close; arm Stop +1000"),
        ("exit 0", "exited as expected"),
        ("prompt b", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("answer 3", ""),
        ("answer 2", "send b; b Sent; begin [b]"),
        ("result b", "b Done; end [b] Done; arm Hibernate +60000"),
        ("timer Hibernate", "close; arm Stop +1000"),
        // Just in time to find it going.
        ("prompt c", ""),
        ("exit 0", "exited as expected; spawn --resume=s; ask initialize; arm Initialize +60000"),
    ]);
    assert_eq!(status(&machine), Status::Starting);
}

#[test]
fn an_agent_with_something_to_do_does_not_hibernate() {
    // Armed again when it is free.
    let quiet = "arm Hibernate +60000";
    live_from_ready(&[("ask r", "show r"), ("timer Hibernate", quiet)]);
    // Its conversation could not be found again.
    live_from_ready(&[
        ("init s", "begin []"),
        ("idle", &format!("end [] Done; {quiet}")),
        ("timer Hibernate", quiet),
    ]);
}

#[test]
fn a_request_gets_one_answer() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("ask r", "show r"),
        ("ask q", "show q"),
        ("ask r", ""),
        ("ask-unknown u", "reply u error"),
        ("ask-malformed m", "Warning; reply m deny"),
        ("deny q", "reply q deny; q denied"),
        ("allow q", "refuse NoSuchRequest"),
        ("cancel q", ""),
        ("cancel r", "r withdrawn"),
        ("allow r", "refuse NoSuchRequest"),
    ]);
}

#[test]
fn the_last_wish_for_a_mode_holds() {
    let machine = live_from_ready(&[
        ("mode nonsense", "refuse BadCommand"),
        ("mode plan", "ask set_permission_mode plan"),
        ("mode auto", "ask set_permission_mode auto"),
        ("answer 2 refused", "Warning; failed Refused"),
        ("mode-is auto", ""),
        ("answer 3", ""),
        // The agent leaves it of itself: a plan was allowed.
        ("mode-is default", ""),
        // Nobody chose that.
        ("mode-is bypassPermissions", "Warning; ask set_permission_mode default"),
        ("mode-is default", ""),
        // What it cannot be asked for is shown, and not kept.
        ("mode-is dreaming", ""),
    ]);
    assert_eq!(machine.memory().mode.as_deref(), Some("default"));
    assert_eq!(machine.shown_mode(), Some("default"), "a wish is open");
}

#[test]
fn what_is_chosen_while_it_comes_up_is_asked_for_once_it_is_ready() {
    let memory = Memory { mode: Some("acceptEdits".to_owned()), ..Memory::default() };
    live(
        memory,
        &[
            ("start", "spawn; ask initialize; arm Initialize +60000"),
            ("mode plan", ""),
            ("model opus", ""),
            ("answer 1", "ask set_permission_mode plan; ask set_model opus; arm Hibernate +60000"),
        ],
    );
}

#[test]
fn nothing_goes_by_itself_after_the_app_was_gone() {
    let memory = Memory { prompts: vec![prompt("a"), prompt("b")], ..resumable() };
    live(
        memory,
        &[
            ("start", "spawn --resume=s; ask initialize; arm Initialize +60000"),
            ("answer 1", "arm Hibernate +60000"),
            ("prompt c", "send c; c Sent; begin [c]"),
            ("resend b", "b Queued"),
            ("withdraw a", "a Withdrawn"),
            ("result c", "c Done; end [c] Done; send b.1; b Sent; begin [b]"),
        ],
    );
}
