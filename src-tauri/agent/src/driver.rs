//! The seam: lines in and events out, commands in and lines out.

use crate::command::AgentCommand;
use crate::event::AgentEvent;

/// Speaks the protocol of one agent's process. It can remember what it was asked and has no other effect, so that a
/// replay that makes the same calls gets the same events.
pub trait Driver: Send + Sync {
    /// Reads one line of the agent's output. Never fails: a line that cannot be read is an event too, and so is one that
    /// means nothing to the core: `Unknown`.
    fn read(&mut self, line: &[u8], out: &mut Output);

    /// Writes a command. One that the agent has no words for is answered at once, with an event.
    fn write(&mut self, command: &AgentCommand, out: &mut Output);

    /// Writes what the agent has to read before the end of its input, if anything.
    fn close(&mut self, _out: &mut Output) {}
}

/// What a driver makes of a line or of a command.
#[derive(Debug, Default)]
pub struct Output {
    /// For the core, in order.
    pub events: Vec<AgentEvent>,
    /// For the agent's stdin, in order: each a complete line without its newline.
    pub lines: Vec<String>,
}
