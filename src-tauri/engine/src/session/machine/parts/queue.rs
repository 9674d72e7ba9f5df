//! The prompts that wait to be sent.

use crate::api::{Delivery, PromptId};
use crate::prompt::Prompt;
use std::collections::VecDeque;

/// The prompts that the agent does not have yet, in the order in which they are sent.
#[derive(Debug, Default)]
pub struct PromptQueue {
    /// Received but not yet on disk, so not accepted.
    saving: VecDeque<Prompt>,
    waiting: VecDeque<Prompt>,
}

impl PromptQueue {
    /// Restores saved prompts. They are held: the user has to send them.
    pub fn restore(mut prompts: Vec<Prompt>) -> Self {
        prompts.iter_mut().for_each(Prompt::hold);
        Self { saving: VecDeque::new(), waiting: prompts.into() }
    }

    /// The accepted prompts.
    pub fn waiting(&self) -> impl Iterator<Item = &Prompt> {
        self.waiting.iter()
    }

    /// All prompts, in the order of the record on disk.
    pub fn all(&self) -> impl Iterator<Item = &Prompt> {
        self.waiting.iter().chain(&self.saving)
    }

    /// The first prompt that is being saved.
    pub fn first_saving(&self) -> Option<&Prompt> {
        self.saving.front()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// No accepted prompt is to be sent before the user says so.
    pub fn is_held(&self) -> bool {
        self.waiting.iter().all(|prompt| prompt.held)
    }

    /// Nothing of it is sent before the user acts, and nothing is being saved.
    pub fn is_idle(&self) -> bool {
        self.saving.is_empty() && self.is_held()
    }

    pub fn save(&mut self, prompt: Prompt) {
        self.saving.push_back(prompt);
    }

    pub fn take_saving(&mut self, id: &PromptId) -> Option<Prompt> {
        let at = self.saving.iter().position(|prompt| prompt.id == *id)?;
        self.saving.remove(at)
    }

    /// Accepts a prompt. Returns its place.
    pub fn accept(&mut self, prompt: Prompt) -> usize {
        self.waiting.push_back(prompt);
        self.waiting.len() - 1
    }

    pub fn place(&self, id: &PromptId) -> Option<usize> {
        self.waiting.iter().position(|prompt| prompt.id == *id)
    }

    /// The place of the next prompt to send.
    pub fn next(&self) -> Option<usize> {
        self.waiting.iter().position(|prompt| !prompt.held)
    }

    /// The place of the next prompt that must not wait for the end of the turn.
    pub fn next_for_turn(&self) -> Option<usize> {
        let is_urgent = |prompt: &Prompt| prompt.delivery != Delivery::AfterTurn && !prompt.held;
        self.waiting.iter().position(is_urgent)
    }

    pub fn take(&mut self, at: usize) -> Option<Prompt> {
        self.waiting.remove(at)
    }

    /// Moves a prompt that goes now to the front, after those that go now already. Returns its place; `None` if it goes
    /// at another time.
    pub fn promote(&mut self, at: usize) -> Option<usize> {
        let is_urgent = |prompt: &Prompt| prompt.delivery == Delivery::Now && !prompt.held;
        self.waiting.get(at).filter(|prompt| prompt.delivery == Delivery::Now)?;
        let prompt = self.waiting.remove(at)?;
        let place = self.waiting.iter().take_while(|prompt| is_urgent(prompt)).count();
        self.waiting.insert(place, prompt);
        Some(place)
    }

    /// Puts prompts back at the front, held. `cut_off`: their turn was.
    pub fn put_back(&mut self, prompts: Vec<Prompt>, cut_off: bool) {
        for mut prompt in prompts.into_iter().rev() {
            prompt.hold();
            prompt.cut_off |= cut_off;
            self.waiting.push_front(prompt);
        }
    }

    /// Holds a prompt until a time. Returns whether it was not held before.
    pub fn hold_until(&mut self, at: usize, time: u64) -> bool {
        let Some(prompt) = self.waiting.get_mut(at) else { return false };
        let was_held = prompt.held;
        prompt.hold_until(time);
        !was_held
    }

    /// The time at which the next prompt is sent that is held until a time.
    pub fn sends_at(&self) -> Option<u64> {
        self.waiting.iter().filter_map(|prompt| prompt.sends_at).min()
    }

    /// Holds all prompts until the user sends them. Returns those that were not held before.
    pub fn hold(&mut self) -> Vec<PromptId> {
        self.waiting.iter_mut().for_each(|prompt| prompt.sends_at = None);
        let hold = |prompt: &mut Prompt| {
            prompt.hold();
            prompt.id.clone()
        };
        self.waiting.iter_mut().filter(|prompt| !prompt.held).map(hold).collect()
    }

    /// Releases the held prompts that are meant. Returns them.
    pub fn release(&mut self, now: u64, is_meant: impl Fn(&Prompt) -> bool) -> Vec<PromptId> {
        let release = |prompt: &mut Prompt| {
            prompt.release(now);
            prompt.id.clone()
        };
        self.waiting.iter_mut().filter(|prompt| prompt.held && is_meant(prompt)).map(release).collect()
    }

    /// Replaces the text of a prompt. `false`: nothing would be left of it.
    pub fn edit(&mut self, at: usize, text: &str) -> bool {
        let prompt = self.waiting.get_mut(at);
        let prompt = prompt.filter(|prompt| !(text.trim().is_empty() && prompt.attachments.is_empty()));
        prompt.map(|prompt| prompt.text = text.to_owned()).is_some()
    }

    pub fn deliver(&mut self, at: usize, delivery: Delivery) {
        if let Some(prompt) = self.waiting.get_mut(at) {
            prompt.delivery = delivery;
        }
    }

    /// Moves a prompt in front of another one, or to the end.
    pub fn move_before(&mut self, at: usize, before: Option<&PromptId>) {
        let Some(prompt) = self.waiting.remove(at) else { return };
        let place = before.and_then(|before| self.place(before));
        self.waiting.insert(place.unwrap_or(self.waiting.len()), prompt);
    }

    /// The turn that prompts were meant for is over: they are sent in order. Returns whether there were any.
    pub fn turn_ended(&mut self) -> bool {
        let mut has_changed = false;
        for prompt in self.waiting.iter_mut().filter(|prompt| prompt.delivery == Delivery::IntoTurn) {
            prompt.delivery = Delivery::AfterTurn;
            has_changed = true;
        }
        has_changed
    }

    /// Marks a prompt as cut off.
    pub fn found_cut_off(&mut self, id: &PromptId) {
        self.waiting.iter_mut().filter(|prompt| prompt.id == *id).for_each(|prompt| prompt.cut_off = true);
    }
}
