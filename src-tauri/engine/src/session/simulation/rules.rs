//! What is promised, checked at every step from what can be seen outside of the machine: its inputs, its effects, the
//! disk, and the truth about the agent. Nothing in here asks the machine what it thinks, except to compare.

mod facts;
mod process;
mod prompts;
mod requests;
mod turns;

pub use facts::describe;
pub use process::Phase;

use crate::api::PromptId;
use crate::session::machine::{Effect, Input, Limits, Machine, Memory, Timer};
use facts::Facts;
use process::Process;
use prompts::Prompts;
use requests::Requests;
use serde_json::Value;
use std::collections::BTreeMap;
use turns::Turns;

/// The kinds of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An accepted prompt is in exactly one place, ends once, and is sent only when that is allowed.
    Prompts,
    /// Prompts go in the order of the queue, one at a time.
    Order,
    /// Each time a prompt is sent it has a name that the agent does not know.
    Names,
    /// What is meant for one conversation goes into no other.
    Conversation,
    /// The disk is written once for all that changed.
    Saves,
    /// What is on disk is what would be needed after a crash.
    Disk,
    /// A request gets one answer, which somebody gave, or none.
    Answers,
    /// One process, to which nothing is written that cannot be read.
    Process,
    /// A stopped session stays stopped, and the ladder ends.
    Stop,
    /// Restarts are few and spaced.
    Restarts,
    /// Turns begin and end in pairs, and truly.
    Turns,
    /// A timer is armed exactly while it is waited for.
    Timers,
    /// Only the process that a person chose that for runs without asking.
    Asking,
    /// What is shown is what is.
    Facts,
    /// Nothing waits for ever.
    Progress,
    /// Nothing is kept that nobody put in.
    Bounds,
}

/// A broken promise.
#[derive(Debug)]
pub struct Violation {
    pub rule: Rule,
    pub what: String,
}

pub type Checked = Result<(), Violation>;

/// Breaks a promise unless the condition holds.
macro_rules! hold {
    ($condition:expr, $rule:ident, $($words:tt)+) => {
        if !$condition {
            return Err($crate::session::simulation::rules::Violation {
                rule: $crate::session::simulation::rules::Rule::$rule,
                what: format!($($words)+),
            });
        }
    };
}
pub(super) use hold;

/// A step: what caused it, and the truth about it.
pub struct Scene<'a> {
    pub now: u64,
    pub cause: &'a Input,
    /// The prompts that are over with this line.
    pub ended: &'a [PromptId],
}

pub struct Rules {
    pub prompts: Prompts,
    pub requests: Requests,
    pub process: Process,
    pub turns: Turns,
    facts: Facts,
}

impl Rules {
    pub fn new(limits: &Limits) -> Self {
        Self {
            prompts: Prompts::default(),
            requests: Requests::default(),
            process: Process::new(limits),
            turns: Turns::default(),
            facts: Facts::default(),
        }
    }

    /// Before the machine takes the input.
    pub fn input(&mut self, scene: &Scene<'_>) -> Checked {
        self.process.input(scene);
        self.turns.input(scene, self.process.phase, self.prompts.ends_turn(scene.cause));
        self.prompts.input(scene)?;
        self.requests.input(scene, self.process.phase)
    }

    /// Before the effect is carried out. `line` is what it writes.
    pub fn effect(&mut self, scene: &Scene<'_>, effect: &Effect, line: Option<&Value>) -> Checked {
        self.process.effect(scene, effect, line)?;
        self.prompts.effect(scene, effect, line, &self.turns)?;
        self.requests.effect(scene, effect, line)?;
        self.turns.effect(scene, effect, line, self.process.phase)
    }

    /// Once all effects of a step are carried out.
    pub fn end_of_step(&mut self, scene: &Scene<'_>, machine: &Machine) -> Checked {
        self.process.end_of_step(scene, self.turns.has_ended());
        if self.process.has_lost_conversation(scene.cause) {
            let next = self.prompts.next();
            hold!(next.is_none(), Conversation, "{next:?} would go into a conversation that it is not for");
        }
        self.prompts.end_of_step(scene, machine)?;
        self.requests.end_of_step(scene, machine)?;
        self.turns.end_of_step(scene, &self.prompts)
    }

    /// Once everything that followed from an input is done.
    pub fn settled(&mut self, now: u64, machine: &Machine, timers: &BTreeMap<Timer, u64>) -> Checked {
        let has_turn = self.turns.running.is_some();
        self.process.settled(now, machine, timers, has_turn, self.turns.interrupting)?;
        if self.process.phase == Phase::Ready && self.turns.takes_prompts() {
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
                Phase::Ready => hold!(has_turn, Progress, "{id} waits, and the agent has nothing to do"),
                Phase::Starting | Phase::Stopping => {}
            }
        }
        Ok(())
    }

    /// Compares what is shown with what is. It costs more than the rest.
    pub fn shown(&mut self, machine: &mut Machine) -> Checked {
        self.facts.check(machine, &self.process, &self.prompts, &self.requests, &self.turns)
    }

    /// The app crashed, and came back with what was on disk.
    pub fn restarted(&mut self, memory: &Memory, is_certain: bool, limits: &Limits) -> Checked {
        self.process = Process::new(limits);
        self.process.remember(memory);
        self.requests = Requests::default();
        self.turns = Turns::default();
        self.facts = Facts::default();
        self.prompts.restarted(memory, is_certain)
    }
}
