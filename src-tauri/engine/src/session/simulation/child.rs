//! Model of Claude Code's process, as measured on the real one, with all of its faults.

mod habits;
mod input;
mod speech;
mod turn;

use super::process::SimulatedProcess;
pub use habits::{Habits, Initialize, Interruption};
use turn::ChildTurn;

use crate::agent::{AgentCommand, AgentEvent, AgentRequest};
use crate::api::{ExitReport, PromptId};
use crate::chance::Chance;
use crate::claude::ClaudeDriver;
use crate::launch::Start;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};

/// State that the agent keeps outside of any process.
#[derive(Default)]
pub struct AgentDisk {
    /// Names of the prompts that the agent knows. It ignores a repeated name silently.
    heard: BTreeSet<String>,
    /// Conversations that can be resumed.
    pub conversations: BTreeSet<String>,
    n_names: u64,
}

impl AgentDisk {
    pub fn name(&mut self, kind: &str) -> String {
        self.n_names += 1;
        format!("{kind}-{}", self.n_names)
    }
}

/// Inputs of the child's behaviour: randomness, the time, and the agent's own state.
pub struct Ground<'a> {
    pub chance: &'a mut Chance,
    pub now: u64,
    pub disk: &'a mut AgentDisk,
}

/// Output of a process.
pub enum Out {
    /// A line, and the prompts that really end with it, independently of its content.
    Line {
        inbound: AgentEvent,
        ended: Vec<PromptId>,
    },
    StdinBroken(String),
    Exited(ExitReport),
}

pub struct SimulatedChild {
    habits: Habits,
    /// Between us and the agent. It writes what the agent reads, and reads the agent's answers.
    driver: ClaudeDriver,
    stdin: VecDeque<Value>,
    /// Our end of stdin is open.
    stdin_open: bool,
    /// The agent reads its stdin.
    listens: bool,
    break_reported: bool,
    out: VecDeque<Out>,
    resume: Option<String>,
    booted: bool,
    session_id: String,
    mode: String,
    model: String,
    effort: Option<String>,
    /// The agent has reported its mode; its model.
    mode_reported: bool,
    model_reported: bool,
    turn: Option<ChildTurn>,
    /// Prompts read during a turn.
    waiting: Vec<String>,
    /// Open permission requests.
    asking: Vec<(String, AgentRequest)>,
    /// Closed requests.
    closed: Vec<String>,
    /// Control requests that the agent received and did not answer.
    unanswered: Vec<String>,
    /// The same for the previous process. A late response to one of these must be ignored.
    ghosts: Vec<String>,
    last_failed: bool,
    cost_usd: f64,
    n_tasks: usize,
    busy_until: u64,
    terminated: bool,
    gone: bool,
}

/// The prompt id that belongs to a name on the wire.
pub fn prompt_of(name: &str) -> PromptId {
    PromptId::new(name.split_once('.').map_or(name, |(id, _)| id))
}

/// The model that a short name resolves to.
pub fn resolved(model: &str) -> String {
    if model.starts_with("claude-") { model.to_owned() } else { format!("claude-{model}") }
}

impl SimulatedChild {
    pub fn new(start: &Start, habits: Habits, ghosts: Vec<String>, ground: &mut Ground<'_>) -> Self {
        let session_id = start.resume.clone().unwrap_or_else(|| ground.disk.name("conversation"));
        // The agent silently replaces an unsupported mode with the default one.
        let mode = start.mode.map(|mode| mode.name().to_owned()).filter(|mode| habits.has_mode(mode));
        Self {
            driver: ClaudeDriver::default(),
            stdin: VecDeque::new(),
            stdin_open: true,
            listens: true,
            break_reported: false,
            out: VecDeque::new(),
            resume: start.resume.clone(),
            booted: false,
            session_id,
            mode: mode.unwrap_or_else(|| "default".to_owned()),
            model: resolved(start.model.as_deref().unwrap_or("sonnet")),
            effort: None,
            mode_reported: false,
            model_reported: false,
            turn: None,
            waiting: Vec::new(),
            asking: Vec::new(),
            closed: Vec::new(),
            unanswered: Vec::new(),
            ghosts,
            last_failed: false,
            cost_usd: 0.0,
            n_tasks: 0,
            busy_until: ground.now,
            terminated: false,
            gone: false,
            habits,
        }
    }

    fn boot(&mut self, ground: &mut Ground<'_>) {
        if self.habits.fails_to_start {
            return self.exit(Some(1), None, "error: unknown option\n");
        }
        if let Some(id) = &self.resume
            && !ground.disk.conversations.contains(id)
        {
            let words = format!("The conversation {id} is gone");
            self.resume = None;
            self.say(speech::conversation_lost(&words));
            if !self.habits.lingers {
                return self.exit(Some(1), None, &words);
            }
            self.session_id = ground.disk.name("conversation");
        }
        self.booted = true;
    }

    fn exit(&mut self, code: Option<i32>, signal: Option<i32>, stderr: &str) {
        self.gone = true;
        self.stdin.clear();
        self.out.push_back(Out::Exited(ExitReport {
            code,
            signal,
            expected: false,
            stderr: stderr.to_owned(),
        }));
    }

    fn say(&mut self, inbound: AgentEvent) {
        self.out.push_back(Out::Line { inbound, ended: Vec::new() });
    }

    fn take_back(&mut self, request_id: String) {
        self.closed.push(request_id.clone());
        self.say(AgentEvent::RequestWithdrawn { request_id });
    }

    fn state(&mut self, state: &str) {
        if self.habits.reports_state {
            self.say(AgentEvent::SessionState { state: state.to_owned() });
        }
    }
}

impl SimulatedProcess for SimulatedChild {
    fn write(&mut self, command: &AgentCommand, chance: &mut Chance) -> bool {
        if let AgentCommand::Request { request_id, .. } = command {
            self.unanswered.push(request_id.clone());
        }
        let line = serde_json::from_str(&self.driver.line(command)).unwrap();
        if self.listens && !self.gone {
            self.stdin.push_back(line);
            return true;
        }
        if self.break_reported {
            return false;
        }
        // The write is asynchronous: its failure is reported later, and before the exit if at all.
        if !self.gone || chance.one_in(2) {
            self.break_reported = true;
            let behind = usize::from(self.gone);
            let place = self.out.len() - behind;
            self.out.insert(place, Out::StdinBroken("broken pipe".to_owned()));
        }
        true
    }

    fn close_stdin(&mut self) {
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

    fn pauses_until(&self, now: u64) -> Option<u64> {
        (!self.gone && self.busy_until > now).then_some(self.busy_until)
    }

    fn is_caught_up(&self, now: u64) -> bool {
        self.stdin.is_empty() && self.out.is_empty() && self.busy_until <= now && self.listens
    }

    fn is_visibly_busy(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.begun)
    }

    fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    fn has_work(&self) -> bool {
        let is_leaving = self.terminated || !self.stdin_open;
        !self.gone && (is_leaving || !self.booted || !self.stdin.is_empty() || self.turn.is_some())
    }

    fn become_calm(&mut self) {
        self.habits = self.habits.calm();
        if !self.listens && !self.gone {
            // The process lost some of its input and cannot report that.
            return self.exit(Some(1), None, "");
        }
        self.n_tasks = 0;
        self.say(AgentEvent::BackgroundTasks { tasks: Vec::new() });
    }

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
            return self.boot(ground);
        }
        if self.habits.closes_stdin && ground.chance.one_in(40) {
            self.listens = false;
            self.stdin.clear();
        }
        if !self.stdin.is_empty() && !ground.chance.one_in(4) {
            let line = self.stdin.pop_front().unwrap();
            return self.read(&line, ground);
        }
        if !self.stdin_open && self.stdin.is_empty() {
            // The agent treats the end of input as a denial of all open requests.
            self.asking.clear();
            if self.turn.is_none() && !self.habits.deaf_to_end_of_input {
                return self.exit(Some(i32::from(self.last_failed)), None, "");
            }
        }
        match &self.turn {
            Some(_) => self.work(ground),
            None => self.idle(ground),
        }
    }

    fn hear(&mut self) -> Option<Out> {
        self.out.pop_front()
    }

    fn has_words(&self) -> bool {
        !self.out.is_empty()
    }

    fn habits(&self) -> &Habits {
        &self.habits
    }

    fn reported_mode(&self) -> Option<&str> {
        self.mode_reported.then_some(&self.mode)
    }

    fn reported_model(&self) -> Option<&str> {
        self.model_reported.then_some(&self.model)
    }

    fn unanswered(&self) -> &[String] {
        &self.unanswered
    }
}
