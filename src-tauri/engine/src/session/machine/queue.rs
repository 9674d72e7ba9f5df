//! The prompt queue: a prompt is saved, queued, edited, withdrawn or sent.

use super::*;
use std::collections::VecDeque;

/// The prompts that the agent does not have yet, in the order in which they are sent.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    /// Received but not yet on disk, so not accepted.
    saving: VecDeque<Prompt>,
    waiting: VecDeque<Prompt>,
}

impl PromptQueue {
    /// Restores saved prompts. They are held: the user has to send them.
    pub(super) fn restore(mut prompts: Vec<Prompt>) -> Self {
        prompts.iter_mut().for_each(Prompt::hold);
        Self { saving: VecDeque::new(), waiting: prompts.into() }
    }

    /// The accepted prompts.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Prompt> {
        self.waiting.iter()
    }

    /// All prompts, in the order of the record on disk.
    pub(super) fn all(&self) -> impl Iterator<Item = &Prompt> {
        self.waiting.iter().chain(&self.saving)
    }

    /// The first prompt that is being saved.
    pub(super) fn first_saving(&self) -> Option<&Prompt> {
        self.saving.front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// No accepted prompt is to be sent before the user says so.
    pub(super) fn is_held(&self) -> bool {
        self.waiting.iter().all(|prompt| prompt.held)
    }

    /// Nothing of it is sent before the user acts, and nothing is being saved.
    pub(super) fn is_idle(&self) -> bool {
        self.saving.is_empty() && self.is_held()
    }

    fn save(&mut self, prompt: Prompt) {
        self.saving.push_back(prompt);
    }

    fn take_saving(&mut self, id: &PromptId) -> Option<Prompt> {
        let at = self.saving.iter().position(|prompt| prompt.id == *id)?;
        self.saving.remove(at)
    }

    /// Accepts a prompt. Returns its place.
    fn accept(&mut self, prompt: Prompt) -> usize {
        self.waiting.push_back(prompt);
        self.waiting.len() - 1
    }

    fn place(&self, id: &PromptId) -> Option<usize> {
        self.waiting.iter().position(|prompt| prompt.id == *id)
    }

    /// The place of the next prompt to send.
    fn next(&self) -> Option<usize> {
        self.waiting.iter().position(|prompt| !prompt.held)
    }

    /// The place of the next prompt that must not wait for the end of the turn.
    fn next_for_turn(&self) -> Option<usize> {
        let is_urgent = |prompt: &Prompt| prompt.delivery != Delivery::AfterTurn && !prompt.held;
        self.waiting.iter().position(is_urgent)
    }

    fn take(&mut self, at: usize) -> Option<Prompt> {
        self.waiting.remove(at)
    }

    /// Moves a prompt that goes now to the front, after those that go now already. Returns its place; `None` if it goes
    /// at another time.
    fn promote(&mut self, at: usize) -> Option<usize> {
        let is_urgent = |prompt: &Prompt| prompt.delivery == Delivery::Now && !prompt.held;
        self.waiting.get(at).filter(|prompt| prompt.delivery == Delivery::Now)?;
        let prompt = self.waiting.remove(at)?;
        let place = self.waiting.iter().take_while(|prompt| is_urgent(prompt)).count();
        self.waiting.insert(place, prompt);
        Some(place)
    }

    /// Puts prompts back at the front, held. `cut_off`: their turn was.
    pub(super) fn put_back(&mut self, prompts: Vec<Prompt>, cut_off: bool) {
        for mut prompt in prompts.into_iter().rev() {
            prompt.hold();
            prompt.cut_off |= cut_off;
            self.waiting.push_front(prompt);
        }
    }

    /// Holds all prompts. Returns those that were not held before.
    fn hold(&mut self) -> Vec<PromptId> {
        let hold = |prompt: &mut Prompt| {
            prompt.hold();
            prompt.id.clone()
        };
        self.waiting.iter_mut().filter(|prompt| !prompt.held).map(hold).collect()
    }

    /// Releases the held prompts that are meant. Returns them.
    fn release(&mut self, now: u64, is_meant: impl Fn(&Prompt) -> bool) -> Vec<PromptId> {
        let release = |prompt: &mut Prompt| {
            prompt.release(now);
            prompt.id.clone()
        };
        self.waiting.iter_mut().filter(|prompt| prompt.held && is_meant(prompt)).map(release).collect()
    }

    /// Replaces the text of a prompt. `false`: nothing would be left of it.
    fn edit(&mut self, at: usize, text: &str) -> bool {
        let prompt = self.waiting.get_mut(at);
        let prompt = prompt.filter(|prompt| !(text.trim().is_empty() && prompt.images.is_empty()));
        prompt.map(|prompt| prompt.text = text.to_owned()).is_some()
    }

    fn deliver(&mut self, at: usize, delivery: Delivery) {
        if let Some(prompt) = self.waiting.get_mut(at) {
            prompt.delivery = delivery;
        }
    }

    /// Moves a prompt in front of another one, or to the end.
    fn move_before(&mut self, at: usize, before: Option<&PromptId>) {
        let Some(prompt) = self.waiting.remove(at) else { return };
        let place = before.and_then(|before| self.place(before));
        self.waiting.insert(place.unwrap_or(self.waiting.len()), prompt);
    }

    /// The turn that prompts were meant for is over: they are sent in order. Returns whether there were any.
    pub(super) fn turn_ended(&mut self) -> bool {
        let mut has_changed = false;
        for prompt in self.waiting.iter_mut().filter(|prompt| prompt.delivery == Delivery::IntoTurn) {
            prompt.delivery = Delivery::AfterTurn;
            has_changed = true;
        }
        has_changed
    }

    /// Marks a prompt as cut off.
    pub(super) fn found_cut_off(&mut self, id: &PromptId) {
        self.waiting.iter_mut().filter(|prompt| prompt.id == *id).for_each(|prompt| prompt.cut_off = true);
    }
}

impl Step<'_> {
    pub(super) fn prompt(&mut self, prompt: Prompt) {
        if prompt.text.trim().is_empty() && prompt.images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty.");
        }
        let id = prompt.id.clone();
        self.machine.queue.save(prompt);
        self.push(Effect::Save(Some(id)));
    }

    pub(super) fn saved(&mut self, id: &PromptId) {
        let Some(prompt) = self.machine.queue.take_saving(id) else { return };
        if self.machine.title.is_none() {
            self.machine.title = Title::of_prompt(&prompt.text);
        }
        self.note(TranscriptEvent::PromptAccepted(prompt.clone()));
        self.changed();
        let at = self.machine.queue.accept(prompt);
        self.dispatch(at);
    }

    pub(super) fn save_failed(&mut self, id: &PromptId, problem: &str) {
        self.machine.queue.take_saving(id);
        self.push(Effect::Refuse(CommandError {
            code: ErrorCode::Internal,
            message: "The prompt could not be saved to disk, so it was not accepted.".to_owned(),
            detail: Some(problem.to_owned()),
        }));
    }

    /// Sends the next prompt if no turn is running. Starts the process if there is something to send.
    pub(super) fn advance(&mut self) {
        if self.machine.turn.is_some() {
            return;
        }
        let Some(at) = self.machine.queue.next() else {
            return self.arm_hibernation();
        };
        match self.machine.process {
            Process::Absent => self.spawn(),
            // Called again when the change is confirmed or its deadline has passed.
            Process::Ready if self.machine.is_confirming() => self.arm_hibernation(),
            Process::Ready => {
                let Some(prompt) = self.send(at) else { return };
                self.begin(vec![prompt]);
            }
            // Called again when this state ends.
            Process::Starting | Process::Stopping { .. } | Process::BackingOff { .. } => {}
        }
    }

    /// Writes a queued prompt to the agent. The record on disk already has it in the queue.
    fn send(&mut self, at: usize) -> Option<Prompt> {
        let prompt = self.machine.queue.take(at)?;
        self.push(Effect::Write(wire::user(&prompt.wire_id(), &prompt.text, &prompt.images)));
        self.prompt_state(&prompt.id, PromptState::Sent);
        if at > 0 {
            self.save();
        }
        self.changed();
        Some(prompt)
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
