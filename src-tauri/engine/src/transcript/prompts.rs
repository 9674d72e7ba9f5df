//! Prompts in a transcript. A prompt becomes an item when it is sent.

use super::Transcript;
use super::changes::ChangeKind;
use crate::agent::SessionMessage;
use crate::api::*;
use crate::misleading::written_out;
use crate::prompt::Prompt;
use deskbell_agent::PastPrompt;

impl Transcript {
    pub(super) fn prompt_state(&mut self, now: u64, id: &PromptId, state: PromptState) {
        let item_id = ItemId::new(id.as_str());
        if let Some(Body::Prompt { state: known, .. }) = self.body(&item_id) {
            *known = state;
            self.touch(&item_id, ChangeKind::Changed);
            if state == PromptState::Sent
                // Sent again: its id on disk is the new one.
                && let Some(prompt) = self.waiting.remove(id)
            {
                self.names.insert(item_id, ItemId::new(prompt.wire_id()));
            }
            return;
        }
        match state {
            PromptState::Sent => {
                let Some(prompt) = self.waiting.remove(id) else { return };
                let (n_images, n_documents) = prompt.n_attachments();
                let name = ItemId::new(prompt.wire_id());
                if name != item_id {
                    self.names.insert(item_id.clone(), name);
                }
                self.add(
                    item_id,
                    None,
                    now,
                    Body::Prompt { text: prompt.text, n_images, n_documents, state },
                );
            }
            PromptState::Withdrawn => {
                self.waiting.remove(id);
            }
            // Not sent yet: shown in the session's queue.
            PromptState::Queued | PromptState::Held | PromptState::Done | PromptState::Failed => {}
        }
    }

    /// A prompt that was accepted and not sent yet, or is to be sent again.
    pub fn waiting(&self, id: &PromptId) -> Option<&Prompt> {
        self.waiting.get(id)
    }

    /// The id that a prompt has on disk, and its text; `None` if the item is no prompt.
    pub fn stored_prompt(&self, id: &ItemId) -> Option<(String, String)> {
        let Body::Prompt { text, .. } = &self.head(id)?.body else { return None };
        let stored = self.names.get(id).unwrap_or(id);
        Some((stored.as_str().to_owned(), text.clone()))
    }

    /// The id of the last prompt in the agent's transcript.
    pub fn last_prompt(&self) -> Option<String> {
        let mut heads = self.items.iter().map(|item| item.head()).rev();
        let last = heads.find(|item| matches!(item.body, Body::Prompt { .. }))?;
        self.stored_prompt(&last.id).map(|(id, _)| id)
    }

    /// Adds a message of another session.
    pub(super) fn session_message(&mut self, at: u64, message: SessionMessage) {
        let one_line = |text: &str| written_out(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        let sender = Sender {
            name: message.name.as_deref().map(one_line).unwrap_or_default(),
            agent_session_id: message.conversation,
            folder: message.folder.as_deref().map(one_line),
        };
        let id = message.uuid.map_or_else(|| self.notice_id(), ItemId::new);
        self.add(id, None, at, Body::Message { sender, text: message.text });
    }

    /// Adds a prompt from a transcript on disk.
    pub fn past_prompt(&mut self, at: u64, id: &str, prompt: impl Into<PastPrompt>) {
        let PastPrompt { text, n_images, n_documents } = prompt.into();
        self.add(
            ItemId::new(id),
            None,
            at,
            Body::Prompt { text, n_images, n_documents, state: PromptState::Done },
        );
    }
}
