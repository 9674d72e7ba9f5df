//! The agent's process: its state, how it was started, its crashes, and the stages of its shutdown.

use crate::api::ExitReport;
use crate::excerpt::excerpt;
use crate::launch::Start;
use crate::session::machine::{Effect, Timeouts, Timer};

/// Interval between checks whether an agent that waits for a reload is idle, in milliseconds.
const RELOAD_MS: u64 = 1_000;

/// Number of crashes within `CRASH_SPAN_MS` after which the agent is not restarted.
const CRASHES: usize = 3;
const CRASH_SPAN_MS: u64 = 5 * 60_000;

/// Signals that end a process because another one sent them, as a user or the kernel without memory does: SIGHUP,
/// SIGINT, SIGKILL and SIGTERM. All others are faults of the process itself.
const SENT_BY_OTHERS: [i32; 4] = [1, 2, 9, 15];

#[derive(Debug)]
pub struct OwnProcess {
    state: ProcessState,
    /// The parameters of the current process.
    started: Start,
    /// No turn has begun in this process, so ending it loses nothing.
    is_fresh: bool,
    /// The error that the starting process reported before it exits.
    start_error: Option<String>,
    /// It said that it cannot work, which was shown already.
    cannot_start: Option<String>,
    /// The command that logs in, if it needs a login.
    login: Option<Vec<String>>,
    spawned_at: u64,
    /// Time until the process was ready, in milliseconds; taken by the first turn.
    spawn_ms: Option<u64>,
    /// Times of the recent crashes.
    crashes: Vec<u64>,
    /// Restart the agent as soon as it is idle, because its settings changed.
    reloads: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Absent,
    Starting,
    Ready,
    Stopping { stage: StopStage, after: AfterExit },
    BackingOff { attempt: u32, at: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopStage {
    EndOfInput,
    Terminate,
    Kill,
}

/// The step after the exit of a process that Deskbell stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterExit {
    /// The user stopped it: only the user starts it again.
    Stay,
    Hibernate,
    /// It ignored an interrupt or a change; the next prompt needs a new process.
    Restart,
    /// It exited by itself, or closed its stdin and was stopped.
    Crash,
}

/// What follows when the user stops the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The process has to be shut down.
    ShutDown,
    /// It is being shut down.
    Underway,
    /// There is none, and none is started.
    NoProcess,
}

/// What follows a crash.
#[derive(Clone, Debug, PartialEq)]
pub enum AfterCrash {
    /// The next prompt starts the agent again.
    Stay,
    /// It is started again at this time.
    RestartAt(u64),
    /// It crashed too often.
    GiveUp { n_crashes: usize },
}

impl Default for OwnProcess {
    fn default() -> Self {
        Self {
            state: ProcessState::Absent,
            started: Start::default(),
            is_fresh: true,
            start_error: None,
            cannot_start: None,
            login: None,
            spawned_at: 0,
            spawn_ms: None,
            crashes: Vec::new(),
            reloads: false,
        }
    }
}

impl OwnProcess {
    pub fn state(&self) -> ProcessState {
        self.state
    }

    pub fn is_absent(&self) -> bool {
        self.state == ProcessState::Absent
    }

    pub fn is_starting(&self) -> bool {
        self.state == ProcessState::Starting
    }

    pub fn is_ready(&self) -> bool {
        self.state == ProcessState::Ready
    }

    /// Returns whether the process accepts input.
    pub fn listens(&self) -> bool {
        matches!(self.state, ProcessState::Starting | ProcessState::Ready)
    }

    pub fn is_alive(&self) -> bool {
        self.listens() || matches!(self.state, ProcessState::Stopping { .. })
    }

    /// It is about to be ready.
    pub fn is_coming(&self) -> bool {
        matches!(self.state, ProcessState::Starting | ProcessState::BackingOff { .. })
    }

    /// The parameters of the current process.
    pub fn started(&self) -> &Start {
        &self.started
    }

    /// No turn has begun in it.
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    pub fn on_spawn(&mut self, now: u64, start: Start) {
        let crashes = std::mem::take(&mut self.crashes);
        *self = Self {
            state: ProcessState::Starting,
            started: start,
            spawned_at: now,
            crashes,
            ..Self::default()
        };
    }

    pub fn on_spawn_failed(&mut self) {
        self.state = ProcessState::Absent;
    }

    /// It answered `initialize`. Returns whether it was starting.
    pub fn on_ready(&mut self, now: u64) -> bool {
        let was_starting = self.is_starting();
        if was_starting {
            self.state = ProcessState::Ready;
            self.spawn_ms = Some(now.saturating_sub(self.spawned_at));
        }
        was_starting
    }

    /// A turn begins in it.
    pub fn on_init(&mut self) {
        self.is_fresh = false;
    }

    /// Returns how long the first turn waited for the process to be ready, in milliseconds.
    pub fn take_spawn_ms(&mut self) -> Option<u64> {
        self.spawn_ms.take()
    }

    /// It reported why it cannot start.
    pub fn on_start_error(&mut self, words: String) {
        self.start_error = Some(words);
    }

    /// It cannot work.
    pub fn on_cannot_start(&mut self, words: String, login: Option<Vec<String>>) {
        self.cannot_start = Some(words);
        self.login = login;
    }

    /// The command that logs in, if it could not work without a login.
    pub fn needed_login(&self) -> Option<&[String]> {
        self.login.as_deref()
    }

    /// Why it could not work, if it said so.
    pub fn why_not_started(&self) -> Option<&str> {
        self.cannot_start.as_deref()
    }

    /// The user stops the agent.
    pub fn on_stop(&mut self) -> Stop {
        match &mut self.state {
            ProcessState::Starting | ProcessState::Ready => Stop::ShutDown,
            ProcessState::Stopping { after, .. } => {
                *after = AfterExit::Stay;
                Stop::Underway
            }
            ProcessState::BackingOff { .. } | ProcessState::Absent => {
                self.state = ProcessState::Absent;
                Stop::NoProcess
            }
        }
    }

    /// Begins the shutdown: end of input, SIGTERM, SIGKILL. `is_in_turn`: a turn is running.
    pub fn shut_down(
        &mut self,
        now: u64,
        after: AfterExit,
        is_in_turn: bool,
        timeouts: &Timeouts,
    ) -> Vec<Effect> {
        let mut effects = vec![Effect::CloseStdin];
        // End of input stops an idle agent; a busy one would work on to the end of its turn.
        let (stage, limit) = if is_in_turn || !self.is_ready() {
            effects.push(Effect::Terminate);
            (StopStage::Terminate, timeouts.terminate_ms)
        } else {
            (StopStage::EndOfInput, timeouts.end_of_input_ms)
        };
        effects.push(Effect::Arm { timer: Timer::Stop, at: now + limit });
        self.state = ProcessState::Stopping { stage, after };
        effects
    }

    /// A stage of the shutdown did not end the process.
    pub fn on_stop_timer(&mut self, now: u64, timeouts: &Timeouts) -> Vec<Effect> {
        let ProcessState::Stopping { stage, .. } = &mut self.state else { return Vec::new() };
        match stage {
            StopStage::EndOfInput => {
                *stage = StopStage::Terminate;
                let at = now + timeouts.terminate_ms;
                vec![Effect::Terminate, Effect::Arm { timer: Timer::Stop, at }]
            }
            StopStage::Terminate => {
                *stage = StopStage::Kill;
                vec![Effect::Kill]
            }
            StopStage::Kill => Vec::new(),
        }
    }

    /// The time to start it again after a crash. Returns whether that was still planned.
    pub fn on_restart_timer(&mut self) -> bool {
        let is_planned = matches!(self.state, ProcessState::BackingOff { .. });
        if is_planned {
            self.state = ProcessState::Absent;
        }
        is_planned
    }

    /// It has exited. Returns its last state and what follows.
    pub fn on_exit(&mut self) -> (ProcessState, AfterExit) {
        let before = std::mem::replace(&mut self.state, ProcessState::Absent);
        let after = match before {
            ProcessState::Stopping { after, .. } => after,
            _ => AfterExit::Crash,
        };
        (before, after)
    }

    /// It exited by itself. `waits`: a prompt is to be sent to the next one.
    pub fn on_crash(&mut self, now: u64, waits: bool) -> AfterCrash {
        self.crashes.retain(|at| at + CRASH_SPAN_MS > now);
        self.crashes.push(now);
        let n_crashes = self.crashes.len();
        if !waits {
            AfterCrash::Stay
        } else if n_crashes >= CRASHES {
            self.crashes.clear();
            AfterCrash::GiveUp { n_crashes }
        } else {
            let attempt = n_crashes as u32;
            let at = now + (1000 << (attempt - 1));
            self.state = ProcessState::BackingOff { attempt, at };
            AfterCrash::RestartAt(at)
        }
    }

    /// What to call an exit that Deskbell did not ask for. `was_ready`: the agent had answered before.
    /// `agent`: its name, if it is not Claude Code.
    pub fn exit_words(&self, report: &ExitReport, was_ready: bool, agent: Option<&str>) -> String {
        let how = match (report.code, report.signal) {
            (_, Some(signal)) if SENT_BY_OTHERS.contains(&signal) => format!("was killed (signal {signal})"),
            (_, Some(signal)) => format!("crashed (signal {signal})"),
            (Some(0), None) if !was_ready && self.start_error.is_none() => {
                return match agent {
                    None => {
                        "This program did not answer like Claude Code. Choose another one in the settings"
                            .to_owned()
                    }
                    Some(agent) => format!("{agent} ended before it answered. Does it speak ACP?"),
                };
            }
            (Some(code), None) => format!("stopped unexpectedly (exit code {code})"),
            (None, None) => "stopped unexpectedly".to_owned(),
        };
        let why = self.start_error.clone().or_else(|| {
            let last = report.stderr.lines().rev().find(|line| !line.trim().is_empty());
            last.map(|line| excerpt(line.trim(), 300))
        });
        match why {
            Some(why) => format!("The agent {how}: {why}"),
            None => format!("The agent {how}"),
        }
    }

    /// Restarts the agent at the next idle moment. A stopped agent needs nothing: it reads its settings when it starts.
    /// Returns whether it has to be restarted.
    pub fn on_reload(&mut self) -> bool {
        self.reloads |= self.listens();
        self.listens()
    }

    /// It is to be started again because its settings changed.
    pub fn reloads(&self) -> bool {
        self.reloads
    }

    /// When to check whether the agent is idle enough to be stopped, if ever.
    /// `after_ms`: the idle time until hibernation; 0 means never.
    pub fn hibernates_at(&self, now: u64, after_ms: u64) -> Option<u64> {
        let limit = if self.reloads { RELOAD_MS } else { after_ms };
        (limit > 0 && self.is_ready()).then_some(now + limit)
    }
}
