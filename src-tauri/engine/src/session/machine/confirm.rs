//! Confirmation of changes: a prompt sent right after a change of mode, model, effort or thinking waits until the agent
//! has confirmed the change. 2.1.329 starts a prompt before a change that was written ahead of it is in force.
//!
//! The wait is bounded. After it the prompt is not sent with the old setting, but held until the user sends it.

use super::*;

#[derive(Clone, Debug, Default)]
pub(super) struct Confirmation {
    /// The end of the wait, if one is running.
    ends_at: Option<u64>,
    /// Ids of requests that timed out. Prompts no longer wait for them.
    given_up: Vec<String>,
}

impl Machine {
    /// Returns whether a prompt has to wait for the answer to a pending request.
    pub(super) fn is_confirming(&self) -> bool {
        let given_up = |id: &String| self.confirmation.given_up.contains(id);
        self.control.pending().any(|(id, asked)| self.is_waited_for(asked) && !given_up(id))
    }

    /// Returns whether the agent may still answer a request for a mode. A request that timed out says nothing about the
    /// mode in force.
    pub(super) fn awaits_mode(&self) -> bool {
        let is_waited_for = |id: &String| !self.confirmation.given_up.contains(id);
        self.control
            .pending()
            .any(|(id, asked)| matches!(asked, PendingRequest::Mode(_)) && is_waited_for(id))
    }

    fn is_waited_for(&self, asked: &PendingRequest) -> bool {
        match asked {
            PendingRequest::Mode(_)
            | PendingRequest::Model(_)
            | PendingRequest::Effort { .. }
            | PendingRequest::Thinking { .. }
            | PendingRequest::Cost => true,
            // The agent accepts any effort; this answer shows which one is in force.
            PendingRequest::Settings => self.switches.wanted_effort.is_some(),
            PendingRequest::Initialize
            | PendingRequest::Interrupt
            | PendingRequest::CancelPrompt(_)
            | PendingRequest::Rules
            | PendingRequest::SettingsForRules => false,
        }
    }
}

impl Step<'_> {
    /// How long a prompt may wait for the answer, in milliseconds; `None` if it does not wait.
    pub(super) fn waits_for(&self, asked: &PendingRequest) -> Option<u64> {
        let Timeouts { switch_ms, cost_ms, .. } = self.machine.timeouts;
        self.machine.is_waited_for(asked).then_some(if *asked == PendingRequest::Cost {
            cost_ms
        } else {
            switch_ms
        })
    }

    pub(super) fn confirm_within(&mut self, limit_ms: u64) {
        let at = (self.now + limit_ms).max(self.machine.confirmation.ends_at.unwrap_or(0));
        self.machine.confirmation.ends_at = Some(at);
        self.push(Effect::Arm { timer: Timer::Switch, at });
    }

    /// After an answer: sends the prompts that waited, if it was the last one.
    pub(super) fn confirmed(&mut self) {
        if !self.machine.is_confirming() && self.machine.confirmation.ends_at.take().is_some() {
            self.push(Effect::Disarm(Timer::Switch));
            self.join();
            self.advance();
        }
    }

    /// Ends the wait.
    pub(super) fn confirmation_over(&mut self) {
        if self.machine.confirmation.ends_at.take().is_some() {
            self.push(Effect::Disarm(Timer::Switch));
        }
        self.machine.confirmation = Confirmation::default();
    }

    /// The agent did not answer in time.
    pub(super) fn not_confirmed(&mut self) {
        if self.bypasses_unchosen() {
            return self.end_bypass();
        }
        if self.machine.turn.is_some() {
            // It may answer at the end of the turn. Nothing is lost by waiting until then.
            return self.confirm_within(self.machine.timeouts.switch_ms);
        }
        let Machine { control, confirmation, .. } = &mut *self.machine;
        let is_new = |id: &String| !confirmation.given_up.contains(id);
        let change = control.pending().filter(|(id, _)| is_new(id)).find_map(|(_, asked)| changed_by(asked));
        *confirmation =
            Confirmation { ends_at: None, given_up: control.pending().map(|(id, _)| id.clone()).collect() };
        if let Some(change) = change {
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

/// The name of the setting that a request changes, if any.
fn changed_by(asked: &PendingRequest) -> Option<&'static str> {
    match asked {
        PendingRequest::Mode(_) => Some("the permission mode"),
        PendingRequest::Model(_) => Some("the model"),
        PendingRequest::Effort { .. } | PendingRequest::Settings => Some("the effort"),
        PendingRequest::Thinking { .. } => Some("thinking"),
        PendingRequest::Cost
        | PendingRequest::Initialize
        | PendingRequest::Interrupt
        | PendingRequest::CancelPrompt(_)
        | PendingRequest::Rules
        | PendingRequest::SettingsForRules => None,
    }
}
