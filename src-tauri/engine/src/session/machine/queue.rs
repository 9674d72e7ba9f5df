//! The way of a prompt up to the agent: kept, queued, changed, taken back, sent.

use super::*;

impl Step<'_> {
    pub(super) fn prompt(&mut self, prompt: Prompt) {
        if prompt.text.trim().is_empty() && prompt.images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty.");
        }
        let id = prompt.id.clone();
        self.machine.saving.push_back(prompt);
        self.push(Effect::Save(Some(id)));
    }

    pub(super) fn saved(&mut self, id: &PromptId) {
        let Some(at) = self.machine.saving.iter().position(|prompt| prompt.id == *id) else { return };
        let Some(prompt) = self.machine.saving.remove(at) else { return };
        if self.machine.title.is_none() {
            self.machine.title = title_of(&prompt.text);
        }
        self.note(Note::PromptAccepted(prompt.clone()));
        self.changed();
        self.machine.queue.push_back(prompt);
        self.dispatch(self.machine.queue.len() - 1);
    }

    pub(super) fn save_failed(&mut self, id: &PromptId, problem: &str) {
        self.machine.saving.retain(|prompt| prompt.id != *id);
        self.push(Effect::Refuse(CommandError {
            code: ErrorCode::Internal,
            message: "The prompt could not be kept safe on disk, so it was not accepted.".to_owned(),
            detail: Some(problem.to_owned()),
        }));
    }

    /// Sends the next prompt if its turn has come; brings the process up if there is something to send.
    pub(super) fn advance(&mut self) {
        if self.machine.turn.is_some() {
            return;
        }
        let Some(at) = self.machine.queue.iter().position(|prompt| !prompt.held) else {
            return self.arm_hibernation();
        };
        match self.machine.process {
            Process::Absent => self.spawn(),
            Process::Ready => {
                let Some(prompt) = self.send(at) else { return };
                self.begin(vec![prompt]);
            }
            // Their ends lead back here.
            Process::Starting | Process::Stopping { .. } | Process::BackingOff { .. } => {}
        }
    }

    /// Writes a prompt that waits. It is on disk, in its place in the queue.
    fn send(&mut self, at: usize) -> Option<Prompt> {
        let prompt = self.machine.queue.remove(at)?;
        self.push(Effect::Write(wire::user(&prompt.wire_id(), &prompt.text, &prompt.images)));
        self.prompt_state(&prompt.id, PromptState::Sent);
        if at > 0 {
            self.save();
        }
        self.changed();
        Some(prompt)
    }

    /// Does at once what the delivery of a prompt that waits asks for.
    fn dispatch(&mut self, at: usize) {
        if self.machine.queue[at].delivery == Delivery::Now {
            let is_urgent = |prompt: &Prompt| prompt.delivery == Delivery::Now && !prompt.held;
            let Some(prompt) = self.machine.queue.remove(at) else { return };
            // Behind those that were as urgent before.
            let place = self.machine.queue.iter().take_while(|prompt| is_urgent(prompt)).count();
            self.machine.queue.insert(place, prompt);
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

    /// Writes into the turn that runs what shall not wait for its end.
    pub(super) fn join(&mut self) {
        while self.machine.takes_into_turn() {
            let urgent = |prompt: &Prompt| prompt.delivery != Delivery::AfterTurn && !prompt.held;
            let Some(at) = self.machine.queue.iter().position(urgent) else { return };
            let Some(prompt) = self.send(at) else { return };
            if let Some(turn) = &mut self.machine.turn {
                turn.joining.push(prompt);
            }
        }
    }

    pub(super) fn hold_queue(&mut self) {
        let waiting: Vec<PromptId> = self
            .machine
            .queue
            .iter_mut()
            .filter(|prompt| !prompt.held)
            .map(|prompt| {
                prompt.hold();
                prompt.id.clone()
            })
            .collect();
        for id in waiting {
            self.prompt_state(&id, PromptState::Held);
        }
    }

    /// Whoever stops what has not begun means the prompt that would begin it.
    pub(super) fn hold_next(&mut self) {
        let Some(prompt) = self.machine.queue.iter_mut().find(|prompt| !prompt.held) else { return };
        prompt.hold();
        let id = prompt.id.clone();
        self.prompt_state(&id, PromptState::Held);
        self.save();
        self.changed();
    }

    pub(super) fn queued(&mut self, id: &PromptId) -> Option<usize> {
        let at = self.machine.queue.iter().position(|prompt| prompt.id == *id);
        if at.is_none() {
            self.refuse(ErrorCode::NoSuchPrompt, "The prompt is not in the queue any more.");
        }
        at
    }

    pub(super) fn withdraw(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue.remove(at);
        self.prompt_state(id, PromptState::Withdrawn);
        self.save();
        self.changed();
    }

    pub(super) fn edit(&mut self, id: &PromptId, text: String) {
        let Some(at) = self.queued(id) else { return };
        if text.trim().is_empty() && self.machine.queue[at].images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty. Withdraw it instead.");
        }
        self.machine.queue[at].text.clone_from(&text);
        self.note(Note::PromptEdited { id: id.clone(), text });
        self.save();
        self.changed();
    }

    pub(super) fn resend(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.release(at);
        self.advance();
    }

    /// Lets a prompt go that was held.
    fn release(&mut self, at: usize) {
        let prompt = &mut self.machine.queue[at];
        if !prompt.held {
            return;
        }
        prompt.release(self.now);
        let id = prompt.id.clone();
        self.prompt_state(&id, PromptState::Queued);
        // Its new name is on disk before the agent hears of it: after a crash it tells whether the agent did.
        self.push(Effect::Save(None));
        self.changed();
    }

    pub(super) fn deliver(&mut self, id: &PromptId, delivery: Delivery) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue[at].delivery = delivery;
        self.release(at);
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
        let Some(prompt) = self.machine.queue.remove(at) else { return };
        let queue = &mut self.machine.queue;
        let place = before.and_then(|before| queue.iter().position(|prompt| prompt.id == *before));
        queue.insert(place.unwrap_or(queue.len()), prompt);
        self.save();
        self.changed();
    }
}

/// A title from a first prompt: its first line, not too long.
pub(super) fn title_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(60).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}
