//! Rules of a session, checked at every step from outside of the machine: its inputs, its effects, the disk, and the
//! model's knowledge of the agent. The machine's own state is read only to compare it.

mod asking;
mod facts;
mod process;
mod prompts;
mod requests;
mod turns;

pub use facts::describe;
pub use process::Phase;

use crate::api::PromptId;
use crate::session::core::Core;
use crate::session::machine::{Effect, Input, Machine, SavedSession, Timeouts, Timer};
use asking::ExpectedAsking;
use facts::ExpectedFacts;
use process::ExpectedProcess;
use prompts::Prompts;
use requests::ExpectedRequests;
use serde_json::Value;
use std::collections::BTreeMap;
use turns::Turns;

/// The kinds of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationRule {
    /// An accepted prompt is in exactly one place, ends once, and is sent only when that is allowed.
    Prompts,
    /// Prompts are sent in queue order, one per turn; only urgent ones are sent into a running turn.
    Order,
    /// A prompt is sent under a new name each time.
    Names,
    /// A prompt for one conversation is never sent to another.
    Conversation,
    /// One save per step covers all changes.
    Saves,
    /// The record on disk is sufficient to recover from a crash.
    Disk,
    /// A request gets at most one answer, and only one that the user gave.
    Answers,
    /// At most one process; nothing is written that it cannot read.
    Process,
    /// A stopped session stays stopped, and every shutdown finishes.
    Stop,
    /// Automatic restarts are limited in number and spaced.
    Restarts,
    /// Turns start and end in pairs, as the agent reports them.
    Turns,
    /// A timer is armed exactly while its event is awaited.
    Timers,
    /// A process runs without asking only if the user chose that for it.
    Asking,
    /// The number of control requests is bounded, whatever the agent answers.
    Budget,
    /// A prompt is sent only after earlier changes are confirmed.
    Switches,
    /// The published session matches the model.
    Facts,
    /// A window and the relay have what the transcript has.
    Windows,
    /// The end of a turn says how long its first line and its first text took.
    Timings,
    /// Nothing waits forever.
    Progress,
    /// The machine keeps nothing beyond what the model knows.
    Bounds,
}

/// A violated rule.
#[derive(Debug)]
pub struct Violation {
    pub rule: SimulationRule,
    pub what: String,
}

pub type RuleResult = Result<(), Violation>;

/// Returns a violation unless the condition holds.
macro_rules! hold {
    ($condition:expr, $rule:ident, $($words:tt)+) => {
        if !$condition {
            return Err($crate::session::simulation::rules::Violation {
                rule: $crate::session::simulation::rules::SimulationRule::$rule,
                what: format!($($words)+),
            });
        }
    };
}
pub(super) use hold;

/// One step: its cause, and what really happened.
pub struct Scene<'a> {
    pub now: u64,
    pub cause: &'a Input,
    /// Prompts that really end with this line.
    pub ended: &'a [PromptId],
    /// The machine ends the process in this step. Not known yet while the input is looked at.
    pub ends_process: bool,
}

pub struct Rules {
    pub prompts: Prompts,
    pub requests: ExpectedRequests,
    pub process: ExpectedProcess,
    pub turns: Turns,
    asking: ExpectedAsking,
    facts: ExpectedFacts,
}

impl Rules {
    pub fn new(timeouts: &Timeouts) -> Self {
        Self {
            prompts: Prompts::default(),
            requests: ExpectedRequests::default(),
            process: ExpectedProcess::new(timeouts),
            turns: Turns::default(),
            asking: ExpectedAsking::default(),
            facts: ExpectedFacts::default(),
        }
    }

    /// Called before the machine receives the input.
    pub fn input(&mut self, scene: &Scene<'_>) -> RuleResult {
        self.process.input(scene);
        self.asking.input(scene);
        self.turns.input(scene, self.process.phase, self.prompts.ends_turn(scene.cause));
        self.prompts.input(scene)?;
        self.requests.input(scene, self.process.phase)
    }

    /// Called before the effect is carried out. `line` is the JSON that it writes.
    pub fn effect(&mut self, scene: &Scene<'_>, effect: &Effect, line: Option<&Value>) -> RuleResult {
        if let Effect::Emit(event) = effect {
            self.facts.publish(event);
        }
        self.process.effect(scene, effect, line)?;
        self.asking.effect(scene, effect, line)?;
        self.prompts.effect(scene, effect, line, &self.turns)?;
        self.requests.effect(scene, effect, line)?;
        self.turns.effect(scene, effect, line, self.process.phase)
    }

    /// Called after all effects of a step are carried out.
    pub fn end_of_step(&mut self, scene: &Scene<'_>, machine: &Machine) -> RuleResult {
        self.process.end_of_step(scene, self.turns.has_ended());
        self.asking.end_of_step();
        if self.process.has_lost_conversation(scene.cause) {
            let next = self.prompts.next();
            hold!(next.is_none(), Conversation, "{next:?} would go into a conversation that it is not for");
        }
        self.prompts.end_of_step(scene, machine)?;
        self.requests.end_of_step(scene, machine)?;
        self.turns.end_of_step(scene, &self.prompts)
    }

    /// Called after an input and everything that followed from it.
    pub fn settled(&mut self, now: u64, machine: &Machine, timers: &BTreeMap<Timer, u64>) -> RuleResult {
        let has_turn = self.turns.running.is_some();
        self.process.settled(now, machine, timers, has_turn, self.turns.interrupting)?;
        let waits = timers.contains_key(&Timer::Switch);
        let is_timed = machine.prompts().any(|prompt| prompt.sends_at.is_some());
        hold!(!is_timed || timers.contains_key(&Timer::Reset), Timers, "Reset is not armed");
        let asks_context = timers.contains_key(&Timer::Context);
        hold!(!asks_context || self.process.is_alive(), Timers, "Context is armed");
        let waits_aside = timers.contains_key(&Timer::Side);
        hold!(!waits_aside || self.process.is_alive(), Timers, "Side is armed");
        hold!(!waits || self.process.phase == Phase::Ready, Timers, "Switch is armed");
        hold!(waits || !self.asking.is_unconfirmed(), Timers, "Switch is not armed");
        if self.process.phase == Phase::Ready && self.turns.takes_prompts() && !waits {
            let urgent = self.prompts.urgent();
            hold!(urgent.is_none(), Progress, "{urgent:?} was to go into the turn");
        }
        if let Some(id) = self.prompts.next() {
            match self.process.phase {
                Phase::Absent => {
                    hold!(
                        timers.contains_key(&Timer::Restart),
                        Progress,
                        "{id} waits, and nothing starts the agent"
                    );
                }
                Phase::Ready => {
                    // Prompts wait for the end of a rewind.
                    let waits = waits || timers.contains_key(&Timer::Rewind);
                    hold!(has_turn || waits, Progress, "{id} waits, and the agent has nothing to do")
                }
                Phase::Starting | Phase::Stopping => {}
            }
        }
        Ok(())
    }

    /// Compares the published session with the model. More expensive than the other checks.
    pub fn shown(&mut self, core: &mut Core) -> RuleResult {
        self.facts.check(core, &self.process, &self.prompts, &self.requests, &self.turns)
    }

    /// Called after a crash of the app, with the record that it restarted from.
    pub fn restarted(&mut self, memory: &SavedSession, is_certain: bool, timeouts: &Timeouts) -> RuleResult {
        self.process = ExpectedProcess::new(timeouts);
        self.process.remember(memory);
        self.requests = ExpectedRequests::default();
        self.turns = Turns::default();
        self.asking = ExpectedAsking::default();
        self.facts = ExpectedFacts::default();
        self.prompts.restarted(memory, is_certain)
    }
}
