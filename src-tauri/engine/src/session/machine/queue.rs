//! The prompt queue: a prompt is saved, queued, edited, withdrawn or sent.

use super::*;

/// Time after the reset of a limit, because the clocks of the service and of this machine can differ.
const AFTER_RESET_MS: u64 = 15_000;

const MINUTE_MS: u64 = 60_000;

impl Step<'_> {
    pub(super) fn prompt(&mut self, prompt: Prompt) {
        if prompt.text.trim().is_empty() && prompt.attachments.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty.");
        }
        if prompt.delivery == Delivery::AtReset && self.reset().is_none() {
            return;
        }
        let id = prompt.id.clone();
        self.machine.queue.save(prompt);
        self.push(Effect::Save(Some(id)));
    }

    pub(super) fn saved(&mut self, id: &PromptId) {
        let Some(prompt) = self.machine.queue.take_saving(id) else { return };
        if self.machine.conversation.on_prompt(&prompt.text) {
            self.machine.naming.on_prompt_title();
        }
        self.note(TranscriptEvent::PromptAccepted(prompt.clone()));
        self.changed();
        let waits = prompt.delivery == Delivery::AtReset;
        let at = self.machine.queue.accept(prompt);
        if waits {
            self.hold_until_reset(at);
        } else {
            self.dispatch(at);
        }
    }

    pub(super) fn save_failed(&mut self, id: &PromptId, problem: &str) {
        self.machine.queue.take_saving(id);
        self.push(Effect::Refuse(CommandError {
            code: ErrorCode::Internal,
            message: "The prompt could not be saved to disk, so it was not sent.".to_owned(),
            detail: Some(problem.to_owned()),
        }));
    }

    /// Sends the next prompt if no turn is running. Starts the process if there is something to send.
    pub(super) fn advance(&mut self) {
        if self.machine.turn.is_some() {
            return;
        }
        if self.machine.rewind.is_busy() {
            // Called again when the rewind is over.
            return self.arm_hibernation();
        }
        let Some(at) = self.machine.queue.next() else {
            return self.arm_hibernation();
        };
        match self.machine.process.state() {
            ProcessState::Absent => self.spawn(),
            // Called again when the change is confirmed or its deadline has passed.
            ProcessState::Ready if self.machine.is_confirming() => self.arm_hibernation(),
            ProcessState::Ready => {
                let Some(prompt) = self.send(at) else { return };
                self.begin(vec![prompt]);
            }
            // Called again when this state ends.
            ProcessState::Starting | ProcessState::Stopping { .. } | ProcessState::BackingOff { .. } => {}
        }
    }

    /// Writes a queued prompt to the agent. The record on disk already has it in the queue.
    fn send(&mut self, at: usize) -> Option<Prompt> {
        let prompt = self.machine.queue.take(at)?;
        let (text, attachments) = (prompt.text.clone(), prompt.attachments.clone());
        self.push(Effect::Write(AgentCommand::Prompt { uuid: prompt.wire_id(), text, attachments }));
        self.prompt_state(&prompt.id, PromptState::Sent);
        if at > 0 {
            self.save();
        }
        self.changed();
        Some(prompt)
    }

    /// The time at which the limit that is reached has reset. Refuses the command if there is none.
    fn reset(&mut self) -> Option<u64> {
        let at = self.machine.limits.resets_at(self.now);
        if at.is_none() {
            self.refuse(ErrorCode::BadCommand, "No limit is reached whose reset is known.");
        }
        at
    }

    /// Holds a prompt until the limit has reset.
    fn hold_until_reset(&mut self, at: usize) {
        // The limit may have reset while the prompt was saved.
        let reset = self.machine.limits.resets_at(self.now).unwrap_or(self.now);
        let id = self.machine.queue.waiting().nth(at).map(|prompt| prompt.id.clone());
        if self.machine.queue.hold_until(at, reset.saturating_add(AFTER_RESET_MS))
            && let Some(id) = id
        {
            self.prompt_state(&id, PromptState::Held);
        }
        self.save();
        self.changed();
        self.arm_reset();
    }

    /// Wakes the session when a prompt is due. It looks at the clock once a minute, because no timer counts the time
    /// that the machine sleeps.
    fn arm_reset(&mut self) {
        match self.machine.queue.sends_at() {
            Some(at) => {
                let at = at.min(self.now + MINUTE_MS);
                self.push(Effect::Arm { timer: Timer::Reset, at });
            }
            None => self.push(Effect::Disarm(Timer::Reset)),
        }
    }

    /// Sends the prompts that are due.
    pub(super) fn reset_timer(&mut self) {
        let now = self.now;
        self.release(|prompt| prompt.sends_at.is_some_and(|at| at <= now));
        self.arm_reset();
        self.advance();
    }

    /// Acts on the delivery of a queued prompt at once.
    fn dispatch(&mut self, at: usize) {
        if let Some(place) = self.machine.queue.promote(at) {
            if place != at {
                self.save();
            }
            if self.machine.turn.is_some() {
                self.interrupt();
            }
        }
        self.join();
        self.advance();
    }

    /// Writes prompts into the current turn if they must not wait for its end.
    pub(super) fn join(&mut self) {
        while self.machine.takes_into_turn() && !self.machine.is_confirming() {
            let Some(at) = self.machine.queue.next_for_turn() else { return };
            let Some(prompt) = self.send(at) else { return };
            if let Some(turn) = &mut self.machine.turn {
                turn.join(prompt);
            }
        }
    }

    pub(super) fn hold_queue(&mut self) {
        for id in self.machine.queue.hold() {
            self.prompt_state(&id, PromptState::Held);
        }
    }

    pub(super) fn queued(&mut self, id: &PromptId) -> Option<usize> {
        let at = self.machine.queue.place(id);
        if at.is_none() {
            self.refuse(ErrorCode::NoSuchPrompt, "The prompt is no longer in the queue.");
        }
        at
    }

    pub(super) fn withdraw(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue.take(at);
        self.prompt_state(id, PromptState::Withdrawn);
        self.save();
        self.changed();
    }

    pub(super) fn edit(&mut self, id: &PromptId, text: String) {
        let Some(at) = self.queued(id) else { return };
        if !self.machine.queue.edit(at, &text) {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty. Remove it instead.");
        }
        self.note(TranscriptEvent::PromptEdited { id: id.clone(), text });
        self.save();
        self.changed();
    }

    pub(super) fn resend(&mut self, id: &PromptId) {
        if self.queued(id).is_none() {
            return;
        }
        self.release(|prompt| prompt.id == *id);
        self.advance();
    }

    /// Sends all held prompts in order, except those that were cut off: the agent may have done part of their work.
    pub(super) fn continue_queue(&mut self) {
        self.release(|prompt| !prompt.cut_off);
        self.advance();
    }

    /// Returns held prompts to the queue.
    fn release(&mut self, is_meant: impl Fn(&Prompt) -> bool) {
        let released = self.machine.queue.release(self.now, is_meant);
        if released.is_empty() {
            return;
        }
        for id in &released {
            self.prompt_state(id, PromptState::Queued);
        }
        // The new wire ids are on disk before the agent reads them: after a crash they show whether it did.
        self.push(Effect::Save(None));
        self.changed();
    }

    pub(super) fn deliver(&mut self, id: &PromptId, delivery: Delivery) {
        let Some(at) = self.queued(id) else { return };
        if delivery == Delivery::AtReset {
            if self.reset().is_some() {
                self.hold_until_reset(at);
            }
            return;
        }
        self.machine.queue.deliver(at, delivery);
        self.release(|prompt| prompt.id == *id);
        self.save();
        self.changed();
        self.dispatch(at);
    }

    pub(super) fn move_prompt(&mut self, id: &PromptId, before: Option<&PromptId>) {
        let Some(at) = self.queued(id) else { return };
        if before == Some(id) {
            return;
        }
        if let Some(before) = before
            && self.queued(before).is_none()
        {
            return;
        }
        self.machine.queue.move_before(at, before);
        self.save();
        self.changed();
    }
}
