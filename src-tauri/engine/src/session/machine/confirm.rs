//! Confirmation of changes: a prompt sent right after a change of mode, model, effort or thinking waits until the agent
//! has confirmed the change. 2.1.329 starts a prompt before a change that was written ahead of it is in force.
//!
//! The wait is bounded. After it the prompt is not sent with the old setting, but held until the user sends it.

use super::*;

impl Machine {
    /// Returns whether a prompt has to wait for the answer to a pending request.
    pub(super) fn is_confirming(&self) -> bool {
        self.control.is_confirming(self.options.wanted_effort().is_some())
    }
}

impl Step<'_> {
    /// How long a prompt may wait for the answer, in milliseconds; `None` if it does not wait.
    pub(super) fn waits_for(&self, asked: &PendingRequest) -> Option<u64> {
        let Timeouts { switch_ms, cost_ms, .. } = self.machine.timeouts;
        let wants_effort = self.machine.options.wanted_effort().is_some();
        let limit = if *asked == PendingRequest::Cost { cost_ms } else { switch_ms };
        asked.is_waited_for(wants_effort).then_some(limit)
    }

    pub(super) fn confirm_within(&mut self, limit_ms: u64) {
        let at = self.machine.control.wait_until(self.now + limit_ms);
        self.push(Effect::Arm { timer: Timer::Switch, at });
    }

    /// After an answer: sends the prompts that waited, if it was the last one.
    pub(super) fn confirmed(&mut self) {
        let wants_effort = self.machine.options.wanted_effort().is_some();
        if self.machine.control.end_wait_if_confirmed(wants_effort) {
            self.push(Effect::Disarm(Timer::Switch));
            self.join();
            self.advance();
        }
    }

    /// Ends the wait.
    pub(super) fn confirmation_over(&mut self) {
        if self.machine.control.end_wait() {
            self.push(Effect::Disarm(Timer::Switch));
        }
    }

    /// The agent did not answer in time.
    pub(super) fn not_confirmed(&mut self) {
        if self.machine.mode.is_bypass_unchosen() {
            return self.end_bypass();
        }
        if self.machine.turn.is_some() {
            // It may answer at the end of the turn. Nothing is lost by waiting until then.
            return self.confirm_within(self.machine.timeouts.switch_ms);
        }
        let is_rule = |asked: &PendingRequest| matches!(asked, PendingRequest::SuspendedRules { .. });
        if self.machine.control.has(is_rule) {
            // Its next process reads the files.
            self.reload();
        }
        if let Some(change) = self.machine.control.on_wait_over() {
            let seconds = self.machine.timeouts.switch_ms / 1000;
            let waits = !self.machine.queue.is_held();
            let held =
                if waits { " Queued prompts were not sent. Send them to continue anyway." } else { "" };
            let text = format!("The agent did not confirm the change of {change} within {seconds} s.{held}");
            self.notice(Level::Warning, text, None);
            self.hold_queue();
            self.save();
        }
        self.changed();
        self.advance();
    }
}
