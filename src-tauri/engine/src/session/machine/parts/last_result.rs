//! The result of the last turn, or of the process: the status of a session without a turn.

use crate::api::{Status, TurnEnd};

#[derive(Debug)]
pub struct LastResult(Status);

impl Default for LastResult {
    fn default() -> Self {
        Self(Status::Idle)
    }
}

impl LastResult {
    /// A process was started: nothing has happened in it.
    pub fn on_spawn(&mut self) {
        self.0 = Status::Idle;
    }

    pub fn on_turn_ended(&mut self, turn: &TurnEnd) {
        if let Some(status) = turn.status() {
            self.0 = status;
        }
    }

    /// The process failed; `words` are shown with the session.
    pub fn failed(&mut self, words: &str) {
        self.0 = Status::Failed { message: words.to_owned() };
    }

    /// The user stopped the agent.
    pub fn stopped(&mut self) {
        self.0 = Status::Stopped;
    }

    /// The status of a session without a turn.
    pub fn status(&self, has_background_work: bool) -> Status {
        match &self.0 {
            Status::Idle | Status::Completed | Status::Interrupted if has_background_work => {
                Status::Background
            }
            status => status.clone(),
        }
    }
}
