//! Model of an agent that speaks ACP, as eight of them were measured, with their faults. It writes and reads lines: the
//! driver of the product is between it and the session.

mod input;
mod speech;

use super::child::{AgentDisk, Ground, Habits, Interruption, Out, prompt_of};
use super::process::SimulatedProcess;
use crate::acp::ChosenAgent;
use crate::agent::driver::{Driver, Output};
use crate::agent::{AgentCommand, AgentEvent};
use crate::api::{ExitReport, PromptId};
use crate::chance::Chance;
use crate::launch::{self, Start};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;

/// Output of the process that was not read yet.
enum Raw {
    /// `ends`: it answers the prompt.
    Line {
        line: String,
        ends: bool,
    },
    StdinBroken,
    Exited(ExitReport),
}

/// A turn of the agent.
struct Turn {
    /// The id of the request that it answers.
    id: Value,
    is_cancelled: bool,
    n_calls: u64,
}

pub struct AcpChild {
    habits: Habits,
    agent: ChosenAgent,
    /// Between us and the agent.
    driver: Box<dyn Driver>,
    stdin: VecDeque<Value>,
    /// Our end of stdin is open.
    stdin_open: bool,
    /// The agent reads its stdin.
    listens: bool,
    break_reported: bool,
    raw: VecDeque<Raw>,
    /// Events that the driver made, and that the session has not read yet.
    heard: VecDeque<Out>,
    /// The prompt that was written and has not ended.
    prompt: Option<PromptId>,
    booted: bool,
    session_id: Option<String>,
    mode: String,
    /// It left the mode that asks by itself.
    has_slipped: bool,
    turn: Option<Turn>,
    /// Its requests that wait for an answer.
    asking: Vec<String>,
    /// Those that were answered.
    answered: Vec<String>,
    n_names: u64,
    busy_until: u64,
    terminated: bool,
    gone: bool,
}

/// The mode of the model's agents that asks, and one that does not.
const ASKS: &str = "default";
const ACTS: &str = "yolo";

/// What the session hears of the driver's events. `ended`: the prompt that really ends with them.
fn outs(events: Vec<AgentEvent>, mut ended: Option<PromptId>) -> impl Iterator<Item = Out> {
    events.into_iter().map(move |inbound| {
        let is_end = matches!(inbound, AgentEvent::TurnEnded(_));
        let ended = if is_end { ended.take() } else { None };
        Out::Line { inbound, ended: ended.into_iter().collect() }
    })
}

impl AcpChild {
    pub fn new(agent: ChosenAgent, start: &Start, habits: Habits, now: u64) -> Self {
        Self {
            driver: launch::driver(Some(&agent), Path::new("/project"), start),
            agent,
            stdin: VecDeque::new(),
            stdin_open: true,
            listens: true,
            break_reported: false,
            raw: VecDeque::new(),
            heard: VecDeque::new(),
            prompt: None,
            booted: false,
            session_id: None,
            // Some begin in a mode that does not ask.
            mode: if habits.is_old { ACTS.to_owned() } else { ASKS.to_owned() },
            has_slipped: false,
            turn: None,
            asking: Vec::new(),
            answered: Vec::new(),
            n_names: 0,
            busy_until: now,
            terminated: false,
            gone: false,
            habits,
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.n_names += 1;
        format!("{kind}-{}", self.n_names)
    }

    fn say(&mut self, message: &Value) {
        self.raw.push_back(Raw::Line { line: message.to_string(), ends: false });
    }

    fn update(&mut self, update: Value) {
        let session = self.session_id.clone().unwrap_or_default();
        let params = json!({"sessionId": session, "update": update});
        self.say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    fn answer(&mut self, id: &Value, outcome: Result<Value, &str>) {
        self.say(&match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(message) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": message}})
            }
        });
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        let id = self.name("request");
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Ends the turn. What still waits for an answer gets one from the driver.
    fn end(&mut self, outcome: Result<Value, &str>, disk: &mut AgentDisk) {
        let Some(turn) = self.turn.take() else { return };
        disk.conversations.extend(self.session_id.clone());
        self.answer(&turn.id, outcome);
        if let Some(Raw::Line { ends, .. }) = self.raw.back_mut() {
            *ends = true;
        }
    }

    fn exit(&mut self, code: Option<i32>, signal: Option<i32>, stderr: &str) {
        self.gone = true;
        self.stdin.clear();
        let stderr = stderr.to_owned();
        self.raw.push_back(Raw::Exited(ExitReport { code, signal, expected: false, stderr }));
    }

    /// At most one action of the turn.
    fn work(&mut self, ground: &mut Ground<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let chance = &mut *ground.chance;
        if turn.is_cancelled && chance.one_in(2) {
            // qwen-code ends such a turn as any other one.
            let reason = if chance.one_in(3) { "end_turn" } else { "cancelled" };
            return self.end(Ok(json!({ "stopReason": reason })), ground.disk);
        }
        let blocked = !self.asking.is_empty();
        match chance.below(24) {
            0..5 if !blocked && !self.habits.hangs => {
                self.end(Ok(json!({"stopReason": "end_turn"})), ground.disk);
            }
            5 if !blocked && !self.habits.hangs && !self.habits.is_calm => {
                let failed = match chance.below(4) {
                    0 => Ok(json!({"stopReason": "max_tokens"})),
                    1 => Ok(json!({"stopReason": "refusal"})),
                    2 => Ok(json!({"stopReason": "brand_new"})),
                    _ => Err("overloaded"),
                };
                self.end(failed, ground.disk);
            }
            6 | 7 if self.asking.len() < 4 && self.stdin_open => {
                for _ in 0..=ground.chance.below(3) {
                    self.ask(ground.chance);
                }
            }
            8 if blocked => {
                let at = ground.chance.below(self.asking.len() as u64) as usize;
                let id = self.asking.remove(at);
                let params = json!({ "requestId": id });
                self.say(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}));
            }
            9 if blocked && ground.chance.one_in(4) => {
                self.end(Ok(json!({"stopReason": "end_turn"})), ground.disk);
            }
            _ if self.habits.is_calm => {}
            10 => {
                let odd = *ground.chance.pick(&["fs/read_text_file", "_vendor/dance"]).unwrap();
                self.request(odd, &json!({"path": "/etc/passwd"}));
            }
            11 => {
                if let Some(id) = ground.chance.pick(&self.asking).cloned() {
                    // The same id again: an answer could go to either.
                    let params = speech::permission(&self.session_id, &id, ground.chance);
                    let method = "session/request_permission";
                    self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
                    self.asking.retain(|known| *known != id);
                }
            }
            22 if self.habits.slips => self.slip(),
            _ => self.chat(ground.chance),
        }
    }

    fn slip(&mut self) {
        self.mode = ACTS.to_owned();
        self.has_slipped = true;
        self.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": ACTS}));
    }

    fn ask(&mut self, chance: &mut Chance) {
        let call = self.name("call");
        let (method, params) = match chance.below(12) {
            0 => ("elicitation/create", speech::form()),
            _ => ("session/request_permission", speech::permission(&self.session_id, &call, chance)),
        };
        let id = self.request(method, &params);
        self.asking.push(id);
    }

    /// Something that ends nothing and asks nothing.
    fn chat(&mut self, chance: &mut Chance) {
        let n_calls = self.turn.as_mut().map_or(0, |turn| {
            turn.n_calls += 1;
            turn.n_calls
        });
        match chance.below(12) {
            0 => self.raw.push_back(Raw::Line { line: "Warning: not JSON".to_owned(), ends: false }),
            1 => self.answer(&json!(7_777), Ok(json!({"stopReason": "end_turn"}))),
            2 => {
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "foreign"}});
                let params = json!({"sessionId": "another", "update": update});
                self.say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
            }
            3 => self.say(&json!({"jsonrpc": "2.0", "method": "_vendor/news", "params": {}})),
            _ => {
                let update = speech::update(n_calls, chance);
                self.update(update);
            }
        }
    }

    /// At most one action between turns.
    fn idle(&mut self, ground: &mut Ground<'_>) {
        if self.habits.is_calm || self.session_id.is_none() {
            return;
        }
        if ground.chance.one_in(20) {
            self.chat(ground.chance);
        } else if ground.chance.one_in(80) && self.stdin_open {
            // A request without a turn.
            self.ask(ground.chance);
        } else if self.habits.slips && ground.chance.one_in(40) {
            self.slip();
        }
    }

    /// Writes what the driver has for the agent.
    fn send(&mut self, lines: Vec<String>) {
        if self.listens && !self.gone {
            self.stdin.extend(lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
    }
}

impl SimulatedProcess for AcpChild {
    fn act(&mut self, ground: &mut Ground<'_>) {
        if self.gone || self.busy_until > ground.now {
            return;
        }
        match self.habits.interruption(self.terminated, ground) {
            Some(Interruption::Exit { code, signal, stderr }) => return self.exit(code, signal, stderr),
            Some(Interruption::Pause { until }) => return self.busy_until = until,
            None => {}
        }
        if !self.booted {
            if self.habits.fails_to_start {
                return self.exit(Some(1), None, "error: unknown option\n");
            }
            self.booted = true;
            return;
        }
        if self.habits.closes_stdin && ground.chance.one_in(40) {
            self.listens = false;
            self.stdin.clear();
        }
        if !self.stdin.is_empty() && !ground.chance.one_in(4) {
            let message = self.stdin.pop_front().unwrap();
            return self.read(&message, ground);
        }
        if !self.stdin_open && self.stdin.is_empty() {
            self.asking.clear();
            // Nothing more can be asked, so a turn ends by itself or not at all.
            if !self.habits.deaf_to_end_of_input && (self.turn.is_none() || !self.habits.hangs) {
                return self.exit(Some(0), None, "");
            }
        }
        match &self.turn {
            Some(_) => self.work(ground),
            None => self.idle(ground),
        }
    }

    fn hear(&mut self) -> Option<Out> {
        if let Some(out) = self.heard.pop_front() {
            return Some(out);
        }
        match self.raw.pop_front()? {
            Raw::Line { line, ends } => {
                let mut output = Output::default();
                self.driver.read(line.as_bytes(), &mut output);
                self.send(output.lines);
                let ended = self.prompt.take_if(|_| ends);
                self.heard.extend(outs(output.events, ended));
                self.heard.pop_front()
            }
            Raw::StdinBroken => Some(Out::StdinBroken("broken pipe".to_owned())),
            Raw::Exited(report) => Some(Out::Exited(report)),
        }
    }

    fn has_words(&self) -> bool {
        !self.heard.is_empty() || !self.raw.is_empty()
    }

    fn write(&mut self, command: &AgentCommand, chance: &mut Chance) -> bool {
        if self.break_reported {
            return false;
        }
        let mut output = Output::default();
        self.driver.write(command, &mut output);
        let is_sent = !output.lines.is_empty();
        if let AgentCommand::Prompt { uuid, .. } = command {
            assert!(self.prompt.is_none(), "a prompt is written into a turn");
            self.prompt = Some(prompt_of(uuid));
        }
        // The driver refused a prompt if it wrote no line for it.
        let is_refused = matches!(command, AgentCommand::Prompt { .. }) && !is_sent;
        let ended = self.prompt.take_if(|_| is_refused);
        self.heard.extend(outs(output.events, ended));
        if self.listens && !self.gone {
            self.send(output.lines);
        } else if is_sent && (!self.gone || chance.one_in(2)) {
            // The write is asynchronous: its failure is reported later, and before the exit if at all.
            self.break_reported = true;
            let place = self.raw.len() - usize::from(self.gone);
            self.raw.insert(place, Raw::StdinBroken);
        }
        true
    }

    fn close_stdin(&mut self) {
        let mut output = Output::default();
        self.driver.close(&mut output);
        self.send(output.lines);
        self.stdin_open = false;
    }

    fn terminate(&mut self) {
        self.terminated = true;
    }

    fn kill(&mut self) {
        if !self.gone {
            self.exit(None, Some(9), "");
        }
    }

    fn habits(&self) -> &Habits {
        &self.habits
    }

    fn become_calm(&mut self) {
        self.habits = self.habits.calm();
        if !self.listens && !self.gone {
            // The process lost some of its input and cannot report that.
            self.exit(Some(1), None, "");
        }
    }

    fn pauses_until(&self, now: u64) -> Option<u64> {
        (!self.gone && self.busy_until > now).then_some(self.busy_until)
    }

    fn is_caught_up(&self, now: u64) -> bool {
        let is_ending = self.turn.as_ref().is_some_and(|turn| turn.is_cancelled);
        self.stdin.is_empty() && !self.has_words() && self.busy_until <= now && self.listens && !is_ending
    }

    fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    fn is_visibly_busy(&self) -> bool {
        self.turn.is_some()
    }

    fn has_work(&self) -> bool {
        let is_leaving = self.terminated || !self.stdin_open;
        !self.gone && (is_leaving || !self.booted || !self.stdin.is_empty() || self.turn.is_some())
    }

    fn reported_mode(&self) -> Option<&str> {
        None
    }

    fn reported_model(&self) -> Option<&str> {
        None
    }

    fn unanswered(&self) -> &[String] {
        &[]
    }
}
