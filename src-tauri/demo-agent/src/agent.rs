//! The state that the threads share: the session, the queue of prompts, the open requests, and a condition variable for
//! changes.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use uuid::Uuid;

use crate::call::AllowRule;
use crate::environment::DemoEnvironment;
use crate::options::RunOptions;
use crate::output::LineWriter;
use crate::store::TranscriptFile;
use crate::usage::ByModel;
use crate::wire;

/// A prompt as the host wrote it.
#[derive(Clone, Debug)]
pub struct ReceivedPrompt {
    /// The id under which it is stored: the host's own, or one that the agent generated.
    pub uuid: String,
    /// Whether the host gave the uuid; only then `command_lifecycle` reports its states.
    pub named: bool,
    /// Its text.
    pub text: String,
    /// The content as it was received.
    pub content: Value,
    /// Whether the user wrote it, according to the host.
    pub human: bool,
    /// Whether the agent must answer it, or only remember it.
    pub query: bool,
}

/// The reason why a turn ends early.
#[derive(Debug)]
pub enum Cut {
    /// By the host's `interrupt`.
    Interrupted,
    /// By a denial that interrupts; the refused call already has its result.
    Refused,
    /// By an error of the service.
    Failed { status: Option<u16>, kind: String, text: String },
    /// By `--max-turns`.
    OutOfTurns(u32),
}

/// The agent's reaction to an interrupt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hearing {
    /// Ends the turn.
    Normal,
    /// Acknowledges it, and continues.
    Stubborn,
    /// Does not even acknowledge it.
    Deaf,
}

/// A control request of this agent that the host has not answered, or has just answered.
pub struct OpenRequest {
    pub id: String,
    /// The whole `response` object once it arrives, and the number of answers that arrived before it.
    pub answer: Option<(u64, Value)>,
}

/// The mutable state.
pub struct DemoState {
    pub session_id: String,
    pub mode: String,
    pub model: String,
    /// Servers that the host turned off.
    pub servers_off: Vec<String>,
    pub title: Option<String>,
    pub usage: ByModel,
    /// Tokens in the context.
    pub context: u64,
    pub rules: Vec<AllowRule>,
    /// Rules that the host has it ask about.
    pub suspended: Vec<String>,
    /// The level set by the host; `None` is the model's own.
    pub effort: Option<String>,
    pub results: u64,
    pub store: TranscriptFile,
    pub queue: VecDeque<ReceivedPrompt>,
    /// Turns that the agent begins without a prompt.
    pub unasked: VecDeque<Unasked>,
    pub open: Vec<OpenRequest>,
    /// The number of answers so far.
    pub answers: u64,
    /// Whether a turn is running.
    pub running: bool,
    /// Whether to interrupt the running turn, or else the next one.
    pub interrupted: bool,
    pub hearing: Hearing,
    /// Whether the standard input is closed.
    pub closed: bool,
    /// Whether the host requested the end of the session.
    pub ended: bool,
}

/// The agent, shared by its threads.
pub struct DemoAgent {
    pub options: RunOptions,
    pub environment: DemoEnvironment,
    pub output: LineWriter,
    state: Mutex<DemoState>,
    changed: Condvar,
}

/// A turn that the agent begins without a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Unasked {
    /// The agent's text in it.
    pub text: String,
    pub reason: Reason,
}

/// Why the agent begins a turn without a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    TaskEnded,
    /// A monitor that runs reports an event.
    Monitor,
    /// The time of a scheduled turn has come. This names its kind.
    Scheduled(String),
}

/// The next thing to do.
pub enum NextTask {
    Prompts(Vec<ReceivedPrompt>),
    Unasked(Unasked),
    End,
}

impl DemoState {
    /// Whether a turn is running or about to run.
    pub fn busy(&self) -> bool {
        self.running || !self.queue.is_empty() || !self.unasked.is_empty()
    }

    /// The number of queued prompts in the next turn: all, merged, except for the first turn, which has only one.
    pub fn next_count(&self) -> usize {
        if self.results == 0 { self.queue.len().min(1) } else { mergeable(&self.queue) }
    }

    /// Records that the turn has ended, or will not run.
    pub fn turn_over(&mut self) {
        self.running = false;
        self.interrupted = false;
        self.hearing = Hearing::Normal;
    }
}

impl DemoAgent {
    /// An agent at the start of its session.
    pub fn new(
        options: RunOptions,
        environment: DemoEnvironment,
        output: LineWriter,
        state: DemoState,
    ) -> Self {
        Self { options, environment, output, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Locks the state. Lines written under the lock keep their order among the threads.
    pub fn lock(&self) -> MutexGuard<'_, DemoState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the threads that wait for a change.
    pub fn change<T>(&self, change: impl FnOnce(&mut DemoState) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Whether to behave as the old version did.
    pub fn old(&self) -> bool {
        self.environment.old()
    }

    /// Writes a line that carries a `session_id` and its own `uuid`.
    pub fn send(&self, line: Value) {
        self.send_in(&self.lock(), line);
    }

    /// Reports the state of the session, if the host requested it.
    pub fn tell_state(&self, state: &str) {
        self.tell_state_in(&self.lock(), state);
    }

    /// Reports the state of a prompt.
    pub fn tell_life(&self, uuid: &str, state: &str) {
        self.tell_life_in(&self.lock(), uuid, state);
    }

    /// As [`Agent::send`], under the lock.
    pub fn send_in(&self, state: &DemoState, mut line: Value) {
        wire::stamp(&mut line, &state.session_id);
        self.output.line(&line);
    }

    /// As [`Agent::tell_state`], under the lock.
    pub fn tell_state_in(&self, state: &DemoState, told: &str) {
        if self.environment.state_events {
            self.send_in(state, wire::state_changed(told));
        }
    }

    /// As [`Agent::tell_life`], under the lock.
    pub fn tell_life_in(&self, state: &DemoState, uuid: &str, told: &str) {
        if !self.old() {
            self.send_in(state, wire::lifecycle(uuid, told));
        }
    }

    /// Waits for work.
    pub fn next_work(&self) -> NextTask {
        let mut state = self.lock();
        loop {
            if state.ended {
                return NextTask::End;
            }
            if let Some(unasked) = state.unasked.pop_front() {
                state.running = true;
                return NextTask::Unasked(unasked);
            }
            let count = state.next_count();
            if count > 0 {
                state.running = true;
                return NextTask::Prompts(state.queue.drain(..count).collect());
            }
            if state.closed && !self.environment.has("ignore-eof") {
                return NextTask::End;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the prompts that arrived during the turn.
    pub fn take_queued(&self) -> Vec<ReceivedPrompt> {
        let mut state = self.lock();
        let count = mergeable(&state.queue);
        state.queue.drain(..count).collect()
    }

    /// Returns after the pause, or at once when the turn is interrupted.
    pub fn pause(&self, pause: Duration) -> Result<(), Cut> {
        let until = Instant::now() + pause;
        let mut state = self.lock();
        loop {
            if state.interrupted {
                return Err(Cut::Interrupted);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes a control request to the host and remembers that it is open.
    pub fn request(&self, request: Value) -> String {
        let id = Uuid::new_v4().to_string();
        let mut state = self.lock();
        state.open.push(OpenRequest { id: id.clone(), answer: None });
        self.output.line(&wire::control_request(&id, request));
        id
    }

    /// Waits until one of the requests is answered, and returns the answer that arrived first. `None` if the host has
    /// closed the standard input.
    pub fn answer(&self, ids: &[String]) -> Result<Option<(String, Value)>, Cut> {
        let mut state = self.lock();
        loop {
            if state.interrupted {
                return Err(Cut::Interrupted);
            }
            let arrival = |open: &OpenRequest| open.answer.as_ref().map(|(arrival, _)| *arrival);
            let places = (0..state.open.len()).filter(|place| ids.contains(&state.open[*place].id));
            let earliest = places.filter_map(|place| Some((arrival(&state.open[place])?, place))).min();
            if let Some((_, place)) = earliest {
                let open = state.open.remove(place);
                return Ok(open.answer.map(|(_, answer)| (open.id, answer)));
            }
            if state.closed {
                state.open.retain(|open| !ids.contains(&open.id));
                return Ok(None);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Withdraws an open request.
    pub fn withdraw(&self, id: &str) {
        let mut state = self.lock();
        state.open.retain(|open| open.id != id);
        self.output.line(&wire::cancel_request(id));
    }

    /// Flushes the output and exits the process at once.
    pub fn exit(&self, code: i32) -> ! {
        self.output.flush();
        std::process::exit(code);
    }

    /// Ends the session and returns the exit code of the process.
    pub fn leave(&self, failed: bool) -> ExitCode {
        self.lock().store.close();
        self.output.flush();
        if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// The number of prompts at the front that make one turn. A prompt that is only remembered has its own turn.
fn mergeable(queue: &VecDeque<ReceivedPrompt>) -> usize {
    match queue.front() {
        Some(first) if !first.query => 1,
        _ => queue.iter().take_while(|prompt| prompt.query).count(),
    }
}
