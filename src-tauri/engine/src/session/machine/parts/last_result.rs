//! The result of the last turn, or of the process: what a session without a turn shows.

use crate::api::Status;

#[derive(Debug, Default)]
pub struct LastResult(Kept);

#[derive(Debug, Default)]
enum Kept {
    #[default]
    None,
    Completed,
    Failed(String),
    Stopped,
}

impl LastResult {
    /// A process was started: nothing has happened in it.
    pub fn on_spawn(&mut self) {
        self.0 = Kept::None;
    }

    pub fn completed(&mut self) {
        self.0 = Kept::Completed;
    }

    /// `words` are shown with the session.
    pub fn failed(&mut self, words: &str) {
        self.0 = Kept::Failed(words.to_owned());
    }

    /// The user stopped the agent.
    pub fn stopped(&mut self) {
        self.0 = Kept::Stopped;
    }

    /// The status of a session without a turn.
    pub fn status(&self, has_background_work: bool) -> Status {
        match &self.0 {
            Kept::None => Status::Idle,
            Kept::Completed if has_background_work => Status::Background,
            Kept::Completed => Status::Completed,
            Kept::Failed(message) => Status::Failed { message: message.clone() },
            Kept::Stopped => Status::Stopped,
        }
    }
}
