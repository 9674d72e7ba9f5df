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
        self.machine.queue.push_back(prompt);
        self.changed();
        self.advance();
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
        if self.machine.turn != Turn::None {
            return;
        }
        let Some(at) = self.machine.queue.iter().position(|prompt| !prompt.held) else {
            return self.arm_hibernation();
        };
        match self.machine.process {
            Process::Absent => self.spawn(),
            Process::Ready => {
                let Some(prompt) = self.machine.queue.remove(at) else { return };
                self.push(Effect::Write(wire::user(prompt.id.as_str(), &prompt.text, &prompt.images)));
                self.prompt_state(&prompt.id, PromptState::Sent);
                self.begin(Some(prompt));
                self.push(Effect::Save(None));
            }
            // Their ends lead back here.
            Process::Starting | Process::Stopping { .. } | Process::BackingOff { .. } => {}
        }
    }

    pub(super) fn hold_queue(&mut self) {
        let waiting: Vec<PromptId> = self
            .machine
            .queue
            .iter_mut()
            .filter(|prompt| !prompt.held)
            .map(|prompt| {
                prompt.held = true;
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
        prompt.held = true;
        let id = prompt.id.clone();
        self.prompt_state(&id, PromptState::Held);
        self.push(Effect::Save(None));
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
        self.push(Effect::Save(None));
        self.changed();
    }

    pub(super) fn edit(&mut self, id: &PromptId, text: String) {
        let Some(at) = self.queued(id) else { return };
        if text.trim().is_empty() && self.machine.queue[at].images.is_empty() {
            return self.refuse(ErrorCode::BadCommand, "The prompt is empty. Withdraw it instead.");
        }
        self.machine.queue[at].text.clone_from(&text);
        self.note(Note::PromptEdited { id: id.clone(), text });
        self.push(Effect::Save(None));
        self.changed();
    }

    pub(super) fn resend(&mut self, id: &PromptId) {
        let Some(at) = self.queued(id) else { return };
        self.machine.queue[at].held = false;
        self.prompt_state(id, PromptState::Queued);
        self.push(Effect::Save(None));
        self.changed();
        self.advance();
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
