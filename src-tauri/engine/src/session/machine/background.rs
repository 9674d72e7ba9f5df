//! Stopping commands and subagents that run in the background, and moving running ones there.

use super::{Machine, PendingRequest, Step};
use crate::agent::{Answer, HostRequest, Refused};
use crate::api::*;
use std::path::Path;

impl Machine {
    /// The file that receives the output of a task, as the agent named it.
    pub fn task_output(&self, id: &str) -> Option<&Path> {
        self.background.output(id)
    }
}

impl Step<'_> {
    /// Has the agent stop one of its tasks. The task is shown until the agent reports its end.
    pub(super) fn stop_task(&mut self, id: &str) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running, so nothing runs in its background.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        match self.machine.background.stop(id) {
            Some(true) => {
                self.ask(PendingRequest::StopTask(id.to_owned()), HostRequest::StopTask(id.to_owned()));
                self.changed();
            }
            // It was asked before.
            Some(false) => {}
            None => self.refuse(ErrorCode::BadCommand, "This background task has ended already."),
        }
    }

    /// Has the agent go on without the results of the calls that it waits for. Their results report the move.
    ///
    /// Claude Code moves a command only once it has reported the task, some 3 s after its start (2.1.332), and does nothing
    /// before. It is therefore asked again when it reports one.
    pub(super) fn move_to_background(&mut self) {
        if self.machine.turn.is_none() || !self.machine.process.is_ready() {
            let text = "No turn is running, so nothing can move to the background.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        self.machine.background.want_move();
        self.ask_to_move();
    }

    pub(super) fn ask_to_move(&mut self) {
        self.ask(PendingRequest::MoveToBackground, HostRequest::MoveToBackground);
    }

    pub(super) fn stop_task_answered(&mut self, id: &str, outcome: Result<&Answer, &Refused>) {
        if let Err(problem) = outcome {
            self.machine.background.not_stopped(id);
            self.refused("The agent could not stop the background task.", &problem.message);
        }
    }
}
