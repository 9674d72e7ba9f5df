//! A process of an agent as the world sees it, whatever the agent speaks.

use super::child::{Ground, Habits, Out};
use crate::agent::AgentCommand;
use crate::chance::Chance;

pub trait SimulatedProcess {
    /// Performs at most one action.
    fn act(&mut self, ground: &mut Ground<'_>);

    /// The next output that the session reads.
    fn hear(&mut self) -> Option<Out>;

    fn has_words(&self) -> bool;

    /// Writes a command to stdin. Returns `false` if stdin is closed.
    fn write(&mut self, command: &AgentCommand, chance: &mut Chance) -> bool;

    fn close_stdin(&mut self);

    fn terminate(&mut self);

    fn kill(&mut self);

    fn habits(&self) -> &Habits;

    /// Loses its faults.
    fn become_calm(&mut self);

    /// The end of the current pause, if the process pauses.
    fn pauses_until(&self, now: u64) -> Option<u64>;

    /// All input was read and all output was received.
    fn is_caught_up(&self, now: u64) -> bool;

    fn is_busy(&self) -> bool;

    /// A turn is running, and the agent has reported it.
    fn is_visibly_busy(&self) -> bool;

    /// The process will act as soon as it is scheduled.
    fn has_work(&self) -> bool;

    /// The mode and the model, if the session must show them.
    fn reported_mode(&self) -> Option<&str>;
    fn reported_model(&self) -> Option<&str>;

    /// Control requests that the process received and never answered. A late response to one of these must be ignored.
    fn unanswered(&self) -> &[String];
}
