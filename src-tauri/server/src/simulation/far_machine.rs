//! The machine that is far away, as a model: its server, the session there with its processes, and what is on its disk.

use super::{new_hub, session};
use crate::hub::{Effect, Hub, Input, line};
use deskbell_api::{Command, CommandError, ErrorCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A fault of the code under test, planted to show that the checks find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Planted {
    /// An event disappears, and the link stays up.
    LoseEvent,
    /// A window applies each event twice.
    DoubleEvent,
    /// A command is carried out for each time it is received.
    CountEach,
    /// The session takes a second answer to the same request.
    AnswerTwice,
    /// The session accepts an answer and does nothing.
    ForgetAnswer,
    /// The second window does not show that a request was answered.
    HideAnswer,
    /// A stop leaves a child of the agent.
    LeaveChild,
    /// The agent goes on when its server is killed.
    LeaveAgent,
    /// A client that lost its link never tries again.
    NeverAgain,
    /// A client does not see that its computer slept, nor that its network changed.
    StayAsleep,
}

/// What a window shows of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    pub items: Vec<String>,
    pub requests: BTreeSet<String>,
    /// Prompts that were cut off, and wait for the user.
    pub held: BTreeSet<String>,
    pub is_alive: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "change", content = "of", rename_all = "camelCase")]
pub enum MachineChange {
    Added(String),
    Asked(String),
    Resolved(String),
    Released(String),
    Alive(bool),
}

impl MachineState {
    pub fn apply(&mut self, change: MachineChange) {
        match change {
            MachineChange::Added(item) => self.items.push(item),
            MachineChange::Asked(request) => drop(self.requests.insert(request)),
            MachineChange::Resolved(request) => drop(self.requests.remove(&request)),
            MachineChange::Released(prompt) => drop(self.held.remove(&prompt)),
            MachineChange::Alive(is_alive) => self.is_alive = is_alive,
        }
    }
}

/// The sleep of a computer, during which its monotonic clock stands still.
#[derive(Debug, Default)]
pub struct Pause {
    until: u64,
    stands_at: u64,
    slept: u64,
}

impl Pause {
    pub fn begin(&mut self, now: u64, until: u64) {
        self.stands_at = self.clock(now);
        self.until = until;
        self.slept = until - self.stands_at;
    }

    pub fn is_on(&self, now: u64) -> bool {
        now < self.until
    }

    pub fn until(&self) -> u64 {
        self.until
    }

    pub fn clock(&self, now: u64) -> u64 {
        if self.is_on(now) { self.stands_at } else { now - self.slept }
    }

    /// The time at which the clock shows this.
    pub fn time_of(&self, clock: u64) -> u64 {
        clock.saturating_add(self.slept)
    }
}

/// The last line of a turn.
pub fn end_of(prompt: &str) -> String {
    format!("{prompt} is done")
}

/// The prompt whose turn ends only by a stop.
pub const ENDLESS: &str = "endless";

/// The machine.
pub struct SimulatedMachine {
    pub hub: Hub,
    pub run: u64,
    /// Effects of the hub that were not carried out yet.
    pub jobs: VecDeque<Effect>,
    pub pause: Pause,
    /// It sleeps during the pause; otherwise it does not run.
    pub does_sleep: bool,
    planted: Option<Planted>,
    /// What the windows should show, and what they should have shown after each event of this run.
    pub state: MachineState,
    pub states: Vec<MachineState>,
    /// What the agent will still do in this turn.
    plan: VecDeque<MachineChange>,
    /// The running processes: the prompt that they work for and the run of the server that started them.
    pub processes: Vec<(String, u64)>,
    // These are on disk.
    journal: BTreeSet<String>,
    /// How often each command was carried out, and each request was answered.
    pub executed: BTreeMap<String, u32>,
    pub answered: BTreeMap<String, u32>,
}

impl SimulatedMachine {
    pub fn new(planted: Option<Planted>) -> Self {
        Self {
            hub: new_hub(0, 0),
            run: 0,
            jobs: VecDeque::new(),
            pause: Pause::default(),
            does_sleep: false,
            planted,
            state: MachineState::default(),
            states: vec![MachineState::default()],
            plan: VecDeque::new(),
            processes: Vec::new(),
            journal: BTreeSet::new(),
            executed: BTreeMap::new(),
            answered: BTreeMap::new(),
        }
    }

    /// Gives the hub an input; returns the effects that are about clients.
    pub fn input(&mut self, now: u64, input: Input) -> Vec<Effect> {
        let effects = self.hub.step(self.pause.clock(now), input);
        let is_job = |effect: &Effect| matches!(effect, Effect::Execute { .. } | Effect::MakeSnapshot { .. });
        let (jobs, others): (Vec<Effect>, Vec<Effect>) = effects.into_iter().partition(is_job);
        self.jobs.extend(jobs);
        others
    }

    /// Whether the agent would do something now.
    pub fn has_work(&self) -> bool {
        !self.plan.is_empty() && self.state.requests.is_empty()
    }

    /// The agent's next act.
    pub fn work(&mut self, now: u64) -> Vec<Effect> {
        let Some(next) = self.plan.pop_front() else { return Vec::new() };
        if let MachineChange::Added(text) = &next {
            self.journal.retain(|prompt| *text != end_of(prompt));
        }
        self.change(now, next)
    }

    fn change(&mut self, now: u64, change: MachineChange) -> Vec<Effect> {
        let mut text = json!({"type": "changed", "sessionId": "s", "seq": self.states.len()});
        text["change"] = serde_json::to_value(&change).expect("a change is JSON");
        let seq = self.states.len() as u64;
        self.state.apply(change);
        self.states.push(self.state.clone());
        self.input(now, Input::Event { session_id: session(), seq, line: line(&text), summary: None })
    }

    pub fn carry_out_job(&mut self, now: u64) -> Vec<Effect> {
        match self.jobs.pop_front() {
            Some(Effect::Execute { id, command, .. }) => {
                let (mut effects, result) = self.execute(now, &id, command);
                effects.extend(self.input(now, Input::Executed { id, result: result.map(|()| session()) }));
                effects
            }
            Some(Effect::MakeSnapshot { client, session_id }) => {
                let seq = self.states.len() as u64 - 1;
                let snapshot = json!({"seq": seq, "state": self.state});
                let made = line(&json!({"type": "snapshot", "sessionId": "s", "snapshot": snapshot}));
                self.input(now, Input::Snapshot { client, session_id, made: Some((seq, made)) })
            }
            _ => Vec::new(),
        }
    }

    fn execute(&mut self, now: u64, id: &str, command: Command) -> (Vec<Effect>, Result<(), CommandError>) {
        *self.executed.entry(id.to_owned()).or_default() += 1;
        let mut effects = Vec::new();
        match command {
            Command::Prompt { text, .. } => self.begin_turn(&text),
            Command::Resend { prompt_id } => {
                if !self.state.held.contains(prompt_id.as_str()) {
                    return (effects, Err(refused("There is no such prompt.")));
                }
                effects.extend(self.change(now, MachineChange::Released(prompt_id.0.clone())));
                self.begin_turn(prompt_id.as_str());
            }
            Command::Decide { request_id, .. } => {
                let takes_all = self.planted == Some(Planted::AnswerTwice);
                if !self.state.requests.contains(request_id.as_str()) && !takes_all {
                    return (effects, Err(refused("It was answered already.")));
                }
                if self.planted != Some(Planted::ForgetAnswer) {
                    *self.answered.entry(request_id.0.clone()).or_default() += 1;
                    effects.extend(self.change(now, MachineChange::Resolved(request_id.0)));
                }
            }
            Command::Stop => {
                self.plan.clear();
                self.journal.clear();
                let keeps = usize::from(self.planted == Some(Planted::LeaveChild));
                self.processes.truncate(keeps);
                for request in std::mem::take(&mut self.state.requests) {
                    effects.extend(self.change(now, MachineChange::Resolved(request)));
                }
                effects.extend(self.change(now, MachineChange::Alive(false)));
            }
            _ => return (effects, Err(refused("This session has no such command."))),
        }
        (effects, Ok(()))
    }

    /// Starts the agent with a child, if it does not run, and plans its turn: two lines, a question, a line, the end.
    fn begin_turn(&mut self, prompt: &str) {
        self.journal.insert(prompt.to_owned());
        self.processes.retain(|(_, run)| *run == self.run || self.planted == Some(Planted::LeaveAgent));
        if self.processes.is_empty() {
            self.processes.extend(vec![(prompt.to_owned(), self.run); 2]);
        }
        let line = |nr: u32| MachineChange::Added(format!("{prompt} {nr}"));
        self.plan.extend([MachineChange::Alive(true), MachineChange::Added(prompt.to_owned()), line(1)]);
        if prompt != ENDLESS {
            let end = MachineChange::Added(end_of(prompt));
            self.plan.extend([line(2), MachineChange::Asked(format!("{prompt}?{}", self.run)), line(3), end]);
        }
    }

    /// The server is killed, and its agents with it. Some jobs were done, and their answers were not sent.
    pub fn kill_server(&mut self, now: u64, n_done: u64) {
        for _ in 0..n_done {
            drop(self.carry_out_job(now));
        }
        self.run += 1;
        self.jobs.clear();
        self.plan.clear();
        if self.planted != Some(Planted::LeaveAgent) {
            self.processes.clear();
        }
        self.state.requests.clear();
        self.state.is_alive = false;
        self.state.held.extend(std::mem::take(&mut self.journal));
        self.states = vec![self.state.clone()];
        self.hub = new_hub(self.run, self.pause.clock(now));
    }
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}
