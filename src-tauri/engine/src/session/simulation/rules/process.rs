//! Rules for the process: at most one, started for a reason, written to only while it reads, always ended.

use super::{RuleResult, Scene, hold};
use crate::agent::AgentEvent;
use crate::api::*;
use crate::launch::StartMode;
use crate::session::machine::{Effect, Input, Machine, SavedSession, Timeouts, Timer};
use crate::transcript::TranscriptEvent;
use crate::wire;
use serde_json::Value;
use std::collections::BTreeMap;

/// The time window in which restarts are counted, and the most restarts in it.
const SPAN_MS: u64 = 5 * 60_000;
const RESTARTS: usize = 2;
/// How late a timer may fire.
const SLACK_MS: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Absent,
    /// It has not answered `initialize`.
    Starting,
    Ready,
    /// Its stdin is closed.
    Stopping,
}

pub struct ExpectedProcess {
    timeouts: Timeouts,
    pub phase: Phase,
    initialize: Option<String>,
    /// Only the user may start the process.
    stopped: bool,
    /// It was stopped because it ignored an interrupt.
    ignored_interrupt: bool,
    /// The user sent a prompt or a start command after the shutdown began.
    asked_while_stopping: bool,
    /// The exit must be reported as expected.
    is_expected: bool,
    ends_by: u64,
    terminated: bool,
    killed: bool,
    exited_at: u64,
    /// Times of automatic starts since the last one by the user.
    restarts: Vec<u64>,
    conversation: Option<String>,
    resumable: bool,
    resuming: bool,
    cannot_resume: bool,
    /// Requests to suspend rules that the agent has not answered.
    suspensions: Vec<String>,
    /// It did not suspend a rule, so it restarts when it is idle.
    reloads: bool,
}

impl ExpectedProcess {
    pub fn new(timeouts: &Timeouts) -> Self {
        Self {
            timeouts: timeouts.clone(),
            phase: Phase::Absent,
            initialize: None,
            stopped: true,
            ignored_interrupt: false,
            asked_while_stopping: false,
            is_expected: false,
            ends_by: 0,
            terminated: false,
            killed: false,
            exited_at: 0,
            restarts: Vec::new(),
            conversation: None,
            resumable: false,
            resuming: false,
            cannot_resume: false,
            suspensions: Vec::new(),
            reloads: false,
        }
    }

    pub fn remember(&mut self, memory: &SavedSession) {
        self.conversation.clone_from(&memory.agent_session_id);
        self.resumable = memory.resumable;
    }

    /// The waiting prompts belong to a conversation that no longer exists.
    pub fn has_lost_conversation(&self, cause: &Input) -> bool {
        let is_told = match cause {
            Input::Line(AgentEvent::TurnEnded(_)) => true,
            // A request made after the shutdown began is meant for the new conversation.
            Input::Exited(_) => !self.asked_while_stopping,
            _ => false,
        };
        self.cannot_resume && is_told
    }

    pub fn is_alive(&self) -> bool {
        self.phase != Phase::Absent
    }

    pub fn input(&mut self, scene: &Scene<'_>) {
        match scene.cause {
            Input::Start
            | Input::Command(Command::Start)
            | Input::Prompt(_)
            | Input::Command(Command::Resend { .. } | Command::Deliver { .. } | Command::ContinueQueue) => {
                self.stopped = false;
                self.asked_while_stopping = true;
                self.restarts.clear();
            }
            // Refused while a process is alive.
            Input::StartWithoutAsking if !self.is_alive() => {
                self.stopped = false;
                self.restarts.clear();
            }
            // Refused without a text; a process that runs is asked.
            Input::GenerateTitle(text) if !self.is_alive() && !text.trim().is_empty() => {
                self.stopped = false;
                self.restarts.clear();
            }
            Input::Command(Command::AskSide { question, .. }) if !self.is_alive() && !question.is_empty() => {
                self.stopped = false;
                self.restarts.clear();
            }
            // Refused while anything goes on. Without a process the agent is asked for the files.
            Input::Rewind(_) if !self.is_alive() => {
                self.stopped = false;
                self.restarts.clear();
            }
            Input::Command(Command::Stop) => {
                self.stopped = true;
                self.asked_while_stopping = false;
                self.is_expected |= self.is_alive();
            }
            Input::Line(line) => self.line(line),
            Input::Exited(_) => {
                self.phase = Phase::Absent;
                self.exited_at = scene.now;
            }
            Input::SpawnFailed(_) => self.phase = Phase::Absent,
            _ => {}
        }
    }

    fn line(&mut self, line: &AgentEvent) {
        match line {
            AgentEvent::Response { request_id, .. }
                if self.phase == Phase::Starting && self.initialize.as_ref() == Some(request_id) =>
            {
                self.phase = Phase::Ready;
            }
            AgentEvent::Response { request_id, outcome } => {
                if let Some(at) = self.suspensions.iter().position(|id| id == request_id) {
                    self.suspensions.remove(at);
                    self.reloads |= outcome.is_err();
                }
            }
            AgentEvent::Init(init) if self.conversation.as_ref() != Some(&init.session_id) => {
                self.conversation = Some(init.session_id.clone());
                self.resumable = false;
                self.cannot_resume = false;
            }
            AgentEvent::TurnEnded(result)
                if self.resuming && self.phase != Phase::Ready && result.is_conversation_lost =>
            {
                self.cannot_resume = true;
                self.conversation = None;
                self.resumable = false;
            }
            _ => {}
        }
    }

    pub fn effect(&mut self, scene: &Scene<'_>, effect: &Effect, line: Option<&Value>) -> RuleResult {
        match effect {
            Effect::Spawn(start) => {
                hold!(!self.is_alive(), Process, "a second process is started");
                hold!(!self.stopped, Stop, "a stopped session starts by {:?}", scene.cause);
                self.may_start(scene)?;
                let resume = self.conversation.clone().filter(|_| self.resumable);
                hold!(start.resume == resume, Process, "it resumes {:?}, not {resume:?}", start.resume);
                let is_chosen = matches!(scene.cause, Input::StartWithoutAsking);
                let asks = start.mode != Some(StartMode::WithoutAsking);
                hold!(asks != is_chosen, Asking, "started by {:?}, it asks: {asks}", scene.cause);
                self.phase = Phase::Starting;
                self.is_expected = false;
                self.resuming = resume.is_some();
                self.cannot_resume = false;
                self.ignored_interrupt = false;
                self.asked_while_stopping = false;
                self.terminated = false;
                self.killed = false;
                self.initialize = None;
                self.suspensions.clear();
                self.reloads = false;
            }
            Effect::TranscriptEvent(TranscriptEvent::Notice { text, .. })
                if text.starts_with("The agent did not confirm") =>
            {
                self.reloads |= !self.suspensions.is_empty();
            }
            Effect::Write(command) => {
                hold!(self.is_alive(), Process, "written to no process: {command:?}");
                hold!(self.phase != Phase::Stopping, Process, "written behind the end of input: {command:?}");
                let line = line.unwrap_or(&Value::Null);
                let text = wire::line(command);
                hold!(line.is_object() && !text.contains('\n'), Process, "not a line: {text}");
                let known = ["user", "control_request", "control_response", "control_cancel_request"];
                let kind = line["type"].as_str().unwrap_or_default();
                hold!(known.contains(&kind), Process, "the agent does not know {text}");
                if line["request"]["subtype"] == "initialize" {
                    hold!(self.initialize.is_none(), Process, "initialized twice");
                    self.initialize = line["request_id"].as_str().map(str::to_owned);
                }
                if line["request"]["settings"].get("permissions").is_some() {
                    self.suspensions.extend(line["request_id"].as_str().map(str::to_owned));
                }
                if kind == "user" {
                    hold!(self.phase == Phase::Ready, Process, "prompted before it is ready: {text}");
                }
            }
            Effect::CloseStdin => {
                hold!(self.is_alive() && self.phase != Phase::Stopping, Process, "its stdin is not open");
                self.phase = Phase::Stopping;
                self.ignored_interrupt = matches!(scene.cause, Input::Timer(Timer::Interrupt));
                // A rewind ends the process after a step on the disk or the agent's answer; prompts that were accepted
                // meanwhile wait for its end.
                self.asked_while_stopping =
                    matches!(scene.cause, Input::RewindWorked(_) | Input::Line(AgentEvent::Response { .. }));
                self.is_expected = !matches!(scene.cause, Input::StdinBroken(_));
                self.ends_by =
                    scene.now + self.timeouts.end_of_input_ms + self.timeouts.terminate_ms + SLACK_MS;
            }
            Effect::Terminate => {
                hold!(self.phase == Phase::Stopping && !self.terminated, Process, "terminated out of turn");
                self.terminated = true;
            }
            Effect::Emit(Event::AgentExited { report }) => {
                let is_expected = self.is_expected || self.cannot_resume;
                hold!(report.expected == is_expected, Facts, "its end was expected: {is_expected}");
            }
            Effect::Kill => {
                hold!(
                    self.phase == Phase::Stopping && self.terminated && !self.killed,
                    Process,
                    "killed out of turn"
                );
                self.killed = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the start has an allowed cause.
    fn may_start(&mut self, scene: &Scene<'_>) -> RuleResult {
        match scene.cause {
            Input::Start
            | Input::Command(Command::Start)
            | Input::StartWithoutAsking
            | Input::GenerateTitle(_)
            | Input::Saved(_)
            | Input::Command(Command::Resend { .. } | Command::Deliver { .. } | Command::ContinueQueue)
            | Input::Command(Command::AskSide { .. })
            // Prompts wait for the end of a rewind.
            | Input::Rewind(_)
            | Input::RewindWorked(_)
            | Input::Timer(Timer::Rewind | Timer::Reset) => {}
            Input::Timer(Timer::Restart) => {
                self.restarts.retain(|at| at + SPAN_MS > scene.now);
                let n = self.restarts.len();
                hold!(n < RESTARTS, Restarts, "restart {} within five minutes", n + 1);
                let waited = scene.now - self.exited_at;
                hold!(waited >= 1000 << n, Restarts, "restart {} after {waited} ms", n + 1);
                self.restarts.push(scene.now);
            }
            Input::Exited(_) => {
                let is_wanted = self.ignored_interrupt || self.asked_while_stopping || self.reloads;
                hold!(is_wanted, Restarts, "restarted at once")
            }
            cause => hold!(false, Restarts, "started by {cause:?}"),
        }
        Ok(())
    }

    pub fn end_of_step(&mut self, scene: &Scene<'_>, a_turn_ended: bool) {
        if let Input::Line(AgentEvent::TurnEnded(result)) = scene.cause
            && a_turn_ended
            // The driver of ACP names none in the end of a turn that was never begun.
            && result.session_id.is_some()
        {
            self.conversation.clone_from(&result.session_id);
            self.resumable = true;
        }
    }

    pub fn settled(
        &self,
        now: u64,
        machine: &Machine,
        timers: &BTreeMap<Timer, u64>,
        has_turn: bool,
        interrupting: bool,
    ) -> RuleResult {
        hold!(
            machine.is_alive() == self.is_alive(),
            Facts,
            "alive: {} is not {}",
            machine.is_alive(),
            self.is_alive()
        );
        let is_stopping = self.phase == Phase::Stopping;
        hold!(!is_stopping || self.killed || now <= self.ends_by, Stop, "the ladder does not end");
        let hibernates = self.timeouts.hibernate_ms > 0;
        let expected = [
            (Timer::Initialize, self.phase == Phase::Starting),
            (Timer::Interrupt, self.phase == Phase::Ready && interrupting),
            (Timer::Stop, is_stopping && !self.killed),
            (Timer::Hibernate, self.phase == Phase::Ready && !has_turn && (hibernates || self.reloads)),
        ];
        for (timer, is_due) in expected {
            let is_armed = timers.contains_key(&timer);
            hold!(is_armed == is_due, Timers, "{timer:?} is {}armed", if is_armed { "" } else { "not " });
        }
        hold!(
            !timers.contains_key(&Timer::Restart) || (self.phase == Phase::Absent && !self.stopped),
            Timers,
            "Restart is armed"
        );
        Ok(())
    }
}
