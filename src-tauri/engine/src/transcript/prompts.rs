//! The prompts of a transcript: each is in it from when it was sent.

use super::Transcript;
use super::news::Dirty;
use crate::api::*;

impl Transcript {
    pub(super) fn prompt_state(&mut self, now: u64, id: &PromptId, state: PromptState) {
        let item_id = ItemId::new(id.as_str());
        if let Some(Body::Prompt { state: known, .. }) = self.body(&item_id) {
            *known = state;
            self.touch(&item_id, Dirty::Changed);
            if state == PromptState::Sent {
                // Sent again: it belongs where the conversation goes on.
                self.waiting.remove(id);
            }
            return;
        }
        match state {
            PromptState::Sent => {
                let Some(prompt) = self.waiting.remove(id) else { return };
                let n_images = prompt.images.len() as u32;
                self.add(item_id, None, now, Body::Prompt { text: prompt.text, n_images, state });
            }
            PromptState::Withdrawn => {
                self.waiting.remove(id);
            }
            // Not sent yet: the session's queue shows it.
            PromptState::Queued | PromptState::Held | PromptState::Done | PromptState::Failed => {}
        }
    }

    /// A prompt that stands in a transcript on disk.
    pub fn past_prompt(&mut self, at: u64, id: &str, text: String, n_images: u32) {
        self.add(ItemId::new(id), None, at, Body::Prompt { text, n_images, state: PromptState::Done });
    }
}
