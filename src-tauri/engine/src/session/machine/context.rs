//! Requests for a breakdown of the context window.

use super::*;
use crate::agent::{Answer, Refused};

const UNKNOWN: &str = "This version of the agent does not report what fills its context.";

impl Step<'_> {
    pub(super) fn read_context(&mut self) {
        if !self.machine.process.is_ready() {
            let text = "The agent is not running. It reports what fills its context while it runs.";
            return self.refuse(ErrorCode::BadCommand, text);
        }
        if !self.machine.context.is_reported() {
            return self.refuse(ErrorCode::BadCommand, UNKNOWN);
        }
        if self.machine.context.on_request() {
            let requested_at = self.now;
            self.ask(PendingRequest::Context { requested_at }, HostRequest::ReadContext);
            let at = self.now + self.machine.timeouts.context_ms;
            self.push(Effect::Arm { timer: Timer::Context, at });
        }
        self.changed();
    }

    pub(super) fn context_reported(&mut self, requested_at: u64, outcome: Result<&Answer, &Refused>) {
        match outcome {
            Ok(Answer::Context(report)) => {
                self.machine.context.on_report(ContextReport { requested_at, ..report.clone() });
            }
            Ok(_) => {
                let text = "The agent answered without saying what fills its context.";
                self.machine.context.on_failure(text.to_owned());
            }
            Err(problem) if problem.is_unknown => {
                self.machine.context.on_unknown(UNKNOWN.to_owned());
            }
            Err(problem) => {
                let text = format!("The agent could not report what fills its context: {}", problem.message);
                self.machine.context.on_failure(text);
            }
        }
        self.push(Effect::Disarm(Timer::Context));
        self.changed();
    }

    /// A later answer still counts.
    pub(super) fn context_timed_out(&mut self) {
        let seconds = self.machine.timeouts.context_ms / 1000;
        let text = format!("The agent did not answer within {seconds} s.");
        self.machine.context.on_failure(text);
        self.changed();
    }

    /// The process ended, and its answer will not come.
    pub(super) fn context_process_ended(&mut self) {
        if self.machine.context.usage().is_pending {
            self.machine.context.on_failure("The agent stopped before it answered.".to_owned());
            self.push(Effect::Disarm(Timer::Context));
        }
    }
}
